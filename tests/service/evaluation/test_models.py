"""References and batches."""

from __future__ import annotations

import json

import numpy as np
import pytest
from django.db import connection

from evaluation.metrics import registry
from evaluation.metrics.aggregation import summarise
from evaluation.metrics.result import SampleScores
from evaluation.models import EvaluationBatch, Part, PhaseMetric, Reference, Score
from submissions.entry_states import Reason, Why
from submissions.models import Phase, Status, Submission
from tests.support.factories import METRICS, PhaseFactory, archive, gables, give_reference, perturbed, received


def test_items_of_a_group_stand_together_whatever_their_names(phase):
    reference = Reference.add(phase, gables(4), groups={"house_01": "z", "house_03": "a", "house_04": "z"})
    assert list(zip(reference.item_ids, reference.groups, strict=True)) == [
        ("house_03", "a"),
        ("house_02", "house_02"),
        ("house_01", "z"),
        ("house_04", "z"),
    ]


def test_a_unit_that_is_edited_during_scoring_does_not_mix_two_units(phase, people, references):
    from evaluation.work import worker

    entry = received(phase, people.team, archive(references))
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    phase.unit_scale = 0.01
    phase.save(update_fields=["unit_scale"])
    part = Part.objects.waiting("cpu").select_related("evaluation__submission__phase", "evaluation__batch__reference").first()
    assert worker._scoring_job(part, part.evaluation)["unit_scale"] == 1.0
    assert EvaluationBatch.start(phase).unit_scale == 0.01
    assert entry.pk


@pytest.mark.django_db
def test_phases_of_tests_have_the_rows_that_a_new_batch_stores():
    metrics = (*METRICS, {"slug": "close_f1", "key": "corner_f1", "params": {"tau": 0.1}})
    given, served = (PhaseFactory(slug="phase", missing="worst", unit_scale=0.5, challenge__title="Roofs") for _ in range(2))
    give_reference(given, metrics=metrics)
    PhaseMetric.objects.bulk_create(PhaseMetric(phase=served, position=position, **metric) for position, metric in enumerate(metrics))
    EvaluationBatch.start(served, reference=Reference.add(served, gables()))
    own = {"_state", "id", "challenge_id", "phase_id", "reference_id", "opens_at", "closes_at", "created_at", "switched_at", "at", "key"}

    def rows(phase: Phase) -> list[dict]:
        """Rows of it, without keys and times, and with its challenge under one name."""
        phase.refresh_from_db()
        batch, (audit,) = phase.batches.get(), phase.challenge.audit.all()
        assert batch.switched_at is not None and audit.detail.pop("batch") == batch.pk
        stored = [vars(row) for row in (phase, batch, batch.reference, audit)]
        kept = [{name: value for name, value in row.items() if name not in own} for row in stored]
        return json.loads(json.dumps(kept, default=str).replace(phase.challenge.slug, "roofs"))

    assert rows(given) == rows(served)


@pytest.mark.own_parts
def test_every_score_says_what_an_item_cost_here(scored):
    entry = scored(0.1)
    scores = Score.objects.filter(evaluation__submission=entry)
    assert scores.count() == 3 and [score for score in scores if not 0 < score.cost_ms < 10_000] == []
    spent = sum(seconds for part in Part.objects.filter(evaluation__submission=entry) for seconds in part.seconds.values())
    assert sum(score.cost_ms for score in scores) * 4 / 1000 == pytest.approx(spent)


def test_entries_of_tests_have_the_values_that_the_child_computes_for_them(scored, phase, people, references):
    """Entries whose scores are kept from an earlier one with the same bytes included."""
    from evaluation.work import worker

    def values(entry: Submission) -> list[tuple[str, bytes]]:
        return [(score.slug, bytes(score.vector)) for score in Score.objects.filter(evaluation__submission=entry).order_by("slug")]

    kept = [values(scored(scale)) for scale in (0.1, 0.3, 0.1)]
    sent = [received(phase, people.team, archive(perturbed(references, scale))) for scale in (0.1, 0.3)]
    worker.drain()
    own = [values(entry) for entry in sent]
    assert kept == [*own, own[0]] and own[0] != own[1]


def test_the_typical_cost_is_the_median_of_the_scores_that_were_timed(scored):
    assert Score.typical_cost(key="hss") is None
    entries = [scored(0.1, seed=seed) for seed in range(3)]
    for entry, cost in zip(entries, (5.0, None, 9.0), strict=True):
        Score.objects.filter(evaluation__submission=entry, key="hss").update(cost_ms=cost)
    assert Score.typical_cost(key="hss") == 7.0
    assert Score.typical_cost(fingerprint="0" * 64) is None


def test_parts_are_kept_whatever_a_program_calls_them(scored):
    score = Score.objects.filter(evaluation__submission=scored(0.1), slug="hss").select_related("evaluation__batch__reference").get()
    ids = score.evaluation.batch.reference.item_ids
    parts = {"file": 1.0, "allow_pickle": 2.0, "Fläche (m)": 3.0, "test/AP@[.5:.95]": 4.0}
    samples = SampleScores("hss", tuple(ids), (0.5,) * len(ids), ("ok",) * len(ids), (parts, *[{}] * (len(ids) - 1)), ((),) * len(ids))
    summary = summarise(registry.get("hss"), samples.values, samples.statuses, samples.parts, ids)
    score.delete()
    Score.write(score.evaluation.pk, score.evaluation.batch.columns, {"hss": (samples, summary)})
    kept = Score.objects.get(evaluation=score.evaluation, slug="hss").parts
    assert {name: vector[0] for name, vector in kept.items()} == parts
    assert {key: vector for key, vector in kept.items() if not np.isnan(vector[1:]).all()} == {}


def act_names(act):
    return act.__name__


def finish(part):
    assert part.finish({})


def give_up(part):
    part.give_up_or_retry(Why(Reason.ERROR), "", final=True)


def close(part):
    part.evaluation.close_if_complete()


def drop(part):
    part.evaluation.drop()


def fail(part):
    part.evaluation.fail(Why(Reason.ERROR), "")


def cancel_batch(part):
    EvaluationBatch.start(part.evaluation.batch.phase, reason="again").cancel()


def switch(part):
    part.evaluation.batch.switch_if_complete()


@pytest.mark.parametrize("act", [finish, give_up, close, drop, fail, cancel_batch, switch], ids=act_names)
def test_whatever_ends_a_scoring_locks_the_phase_before_it_writes(phase, people, references, monkeypatch, act):
    """In another order two of them, each with a row that the other needs, would wait for each other on PostgreSQL."""
    from evaluation.work import worker

    received(phase, people.team, archive(references))
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    part = Part.objects.waiting("cpu").claim("a")
    Part.objects.exclude(pk=part.pk).update(state=Part.State.DONE, result={})
    monkeypatch.setattr("evaluation.metrics.scoring.finish", lambda *_: {})
    monkeypatch.setattr(Score, "write", lambda *_: None)
    seen, lock = [], Phase.lock
    monkeypatch.setattr(Phase, "lock", lambda self: (seen.append("lock"), lock(self)))

    def watch(execute, sql, params, many, context):
        if sql.startswith(("UPDATE", "INSERT", "DELETE")):
            seen.append(sql)
        return execute(sql, params, many, context)

    if act is close:
        Part.objects.update(state=Part.State.DONE, result={})
    with connection.execute_wrapper(watch):
        act(part)
    assert seen[0] == "lock"
    assert len(seen) > 1 or act is switch, "nothing was written, so this shows nothing"


def test_a_result_for_an_evaluation_that_is_gone_is_dropped(phase, people, references):
    from evaluation.work import worker

    received(phase, people.team, archive(references))
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    part = Part.objects.waiting("cpu").claim("a")
    part.evaluation.delete()
    assert Part.objects.filter(pk=part.pk).count() == 0
    assert not part.finish({"corner_f1": {}})

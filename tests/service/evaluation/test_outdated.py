"""After an upgrade: values of two versions of a metric never share a column, and no code writes under another's fingerprint."""

from __future__ import annotations

import pytest

from evaluation.metrics import registry
from evaluation.models import Evaluation, EvaluationBatch, Part, PhaseMetric, Score, SuiteRun
from evaluation.work import missing_weights, suites, worker
from evaluation.work.sandbox import JobFailed, job_folder, sandbox
from evaluation.work.sweep import sweep
from submissions.models import Status, Submission
from tests.support.factories import archive, perturbed, received
from tests.support.versions import set_version

RAISED = "edge_f1"  # any metric of the phase would do


@pytest.fixture(autouse=True)
def nothing_is_left_to_others(monkeypatch):
    """Forget what the worker has left to others: the process remembers it, and tests share one."""
    monkeypatch.setattr(missing_weights, "_left", {})


def slugs(entry: Submission) -> set[str]:
    return set(Score.objects.filter(evaluation__submission=entry, evaluation__batch__state="current").values_list("slug", flat=True))


def value_of(entry: Submission) -> float:
    return Score.objects.get(evaluation__submission=entry, slug=RAISED, evaluation__batch__state="current").value


def fingerprints(**where: object) -> set[str]:
    return set(Score.objects.filter(slug=RAISED, **where).values_list("fingerprint", flat=True))


def uploaded(phase, people, references, scale: float = 0.2) -> Submission:
    """An entry that was checked and cut into parts, none of which is done."""
    entry = received(phase, people.team, archive(perturbed(references, scale)), user=people.owner)
    worker.check(Submission.objects.to_validate().claim("a", status=Status.CLAIMED))
    return entry


class TestANewEntry:
    def test_has_its_other_columns_and_no_value_in_the_outdated_one(self, phase, scored, monkeypatch):
        before = scored(0.1)
        set_version(monkeypatch, RAISED)
        after = scored(0.2)
        assert after.status == Status.SCORED and slugs(after) == {"corner_f1", "hss"}
        assert slugs(before) == {"corner_f1", RAISED, "hss"} and len(fingerprints()) == 1

    def test_is_scored_with_the_earlier_version_while_its_code_is_kept(self, phase, scored, monkeypatch):
        before = scored(0.1)
        set_version(monkeypatch, RAISED, corrected="short edges")
        after = scored(0.1)
        batch = EvaluationBatch.current(phase)
        assert slugs(after) == slugs(before) == {"corner_f1", RAISED, "hss"} and len(fingerprints()) == 1
        assert value_of(after) == value_of(before) and not batch.not_computed()
        (said,) = [column.sentence for column in batch.outdated()]
        new = registry.get(RAISED).version
        assert said == f"Values of {RAISED} version {new - 1}; version {new} corrects short edges."
        again = EvaluationBatch.start(phase)
        worker.drain()
        assert EvaluationBatch.current(phase) == again and not again.outdated() and value_of(after) == value_of(before)
        assert value_of(after) == Score.objects.get(evaluation__submission=after, slug=RAISED, evaluation__batch=batch).value / 2

    def test_is_scored_whole_with_the_others_once_the_phase_is_re_evaluated(self, phase, scored, monkeypatch):
        before = scored(0.1)
        set_version(monkeypatch, RAISED)
        after = scored(0.2)
        batch = EvaluationBatch.start(phase)
        assert not batch.outdated() and EvaluationBatch.current(phase) != batch
        worker.drain()
        assert EvaluationBatch.current(phase) == batch
        assert slugs(before) == slugs(after) == {"corner_f1", RAISED, "hss"}
        assert fingerprints(evaluation__batch=batch) == {PhaseMetric.objects.get(slug=RAISED).fingerprint}
        assert len(fingerprints()) == 2, "the earlier values stay, under their own fingerprint"

    def test_that_comes_during_the_re_evaluation_is_on_both_boards(self, phase, scored, people, references, monkeypatch):
        scored(0.1)
        set_version(monkeypatch, RAISED)
        batch = EvaluationBatch.start(phase)
        after = uploaded(phase, people, references)
        for part in Part.objects.filter(evaluation__submission=after, evaluation__batch__state="current"):
            worker.score(Part.objects.filter(pk=part.pk).claim("a"))
        assert slugs(after) == {"corner_f1", "hss"} and EvaluationBatch.current(phase) != batch
        worker.drain()
        assert EvaluationBatch.current(phase) == batch and slugs(after) == {"corner_f1", RAISED, "hss"}
        assert len(fingerprints(evaluation__submission=after)) == 1

    def test_is_scored_under_the_new_version_alone_where_the_board_switches_before(self, phase, scored, people, references, monkeypatch):
        scored(0.1)
        set_version(monkeypatch, RAISED)
        batch = EvaluationBatch.start(phase)
        after = uploaded(phase, people, references)
        for part in Part.objects.filter(evaluation__batch=batch):
            worker.score(Part.objects.filter(pk=part.pk).claim("a"))
        assert EvaluationBatch.current(phase) == batch
        worker.drain()
        assert slugs(after) == {"corner_f1", RAISED, "hss"}
        assert Evaluation.objects.get(submission=after, batch__state="retired").state == Evaluation.State.CANCELLED
        assert sweep()["unclosed"] == 0

    def test_is_scored_though_every_column_is_outdated(self, phase, scored, monkeypatch):
        for key in ("corner_f1", RAISED, "hss"):
            set_version(monkeypatch, key)
        after = scored(0.2)
        assert after.status == Status.SCORED and slugs(after) == set(), "it waits, and does not hold up what its team sends next"
        EvaluationBatch.start(phase)
        worker.drain()
        assert len(slugs(after)) == 3


class TestPartsInFlight:
    def half_done(self, phase, people, references) -> Submission:
        entry = uploaded(phase, people, references)
        assert Part.objects.count() > 1
        worker.score(Part.objects.waiting("cpu").claim("of before"))
        return entry

    def test_of_an_entry_begun_before_the_upgrade_leave_the_column_out(self, phase, people, references, monkeypatch):
        entry = self.half_done(phase, people, references)
        set_version(monkeypatch, RAISED)
        worker.drain()
        entry.refresh_from_db()
        assert entry.status == Status.SCORED and slugs(entry) == {"corner_f1", "hss"}

    def test_that_are_all_done_are_not_put_together_by_newer_code(self, phase, people, references, monkeypatch):
        entry = uploaded(phase, people, references)
        monkeypatch.setattr(Evaluation, "close_if_complete", lambda self: False)
        worker.drain()  # killed before the last line
        monkeypatch.undo()
        set_version(monkeypatch, RAISED)
        assert sweep()["unclosed"] == 1
        assert slugs(entry) == {"corner_f1", "hss"}

    def test_finished_by_a_worker_of_before_count_under_the_old_version(self, phase, people, references):
        entry = self.half_done(phase, people, references)
        worker.drain()
        assert slugs(entry) == {"corner_f1", RAISED, "hss"}
        assert fingerprints() == {EvaluationBatch.current(phase).metrics[1]["fingerprint"]}


class TestABatchThatWasBeingBuilt:
    @pytest.fixture
    def building(self, phase, scored) -> EvaluationBatch:
        scored(0.1), scored(0.2)
        batch = EvaluationBatch.start(phase, reason="before the upgrade")
        worker.score(Part.objects.waiting("cpu").claim("of before"))
        return batch

    def test_is_not_completed_by_newer_code_and_never_shown_with_holes(self, building, monkeypatch):
        set_version(monkeypatch, RAISED)
        worker.drain()
        sweep()
        building.refresh_from_db()
        assert building.state == EvaluationBatch.State.BUILDING and building.progress()["done"] == 0
        left = Part.objects.filter(evaluation__batch=building, state=Part.State.WAITING)
        assert left.count() > 1 and set(left.values_list("attempts", flat=True)) == {0}
        assert EvaluationBatch.all_outdated() == [building]

    def test_is_replaced_by_the_next_one(self, phase, building, monkeypatch):
        set_version(monkeypatch, RAISED)
        new = EvaluationBatch.start(phase)
        worker.drain()
        building.refresh_from_db()
        assert building.state == EvaluationBatch.State.CANCELLED and EvaluationBatch.current(phase) == new
        assert not EvaluationBatch.all_outdated()

    def test_of_newer_code_is_left_alone_by_older_code(self, phase, scored, monkeypatch):
        """The other direction: a worker that was not replaced yet, or code that was taken back."""
        scored(0.1)
        with monkeypatch.context() as newer:
            set_version(newer, RAISED)
            batch = EvaluationBatch.start(phase)
        assert worker.drain() > 0
        assert batch.progress() == {"done": 0, "failed": 0, "total": 1} and EvaluationBatch.current(phase) != batch
        assert {(part.attempts, part.result) for part in Part.objects.filter(evaluation__batch=batch)} == {(0, None)}
        assert [column.version for column in batch.outdated()] == [None]
        set_version(monkeypatch, RAISED)
        monkeypatch.setattr(missing_weights, "_left", {})
        Part.objects.update(lease_until=None)
        worker.drain()
        assert EvaluationBatch.current(phase) == batch


def test_the_scoring_process_itself_refuses_what_its_code_does_not_compute(phase, people, references):
    """It may have been started later than the worker, from other files."""
    uploaded(phase, people, references)
    part = Part.objects.waiting("cpu").select_related("evaluation__submission__phase", "evaluation__batch__reference").first()
    job = worker._scoring_job(part, part.evaluation)
    with job_folder() as folder:
        assert set(sandbox.run(folder, job, lambda: True)["scores"]) == {"corner_f1", RAISED, "hss"}
    job["requests"][1]["fingerprint"] = "0" * 64
    for kind in ("score", "prepare"):
        with job_folder() as folder, pytest.raises(JobFailed) as failed:
            sandbox.run(folder, job | {"kind": kind}, lambda: True)
        assert failed.value.end == "definition" and RAISED in failed.value.sentence
        assert not (folder / "prepared").exists()


def test_what_was_prepared_for_a_part_is_that_of_the_columns_it_scores(phase, people, references, monkeypatch):
    uploaded(phase, people, references)
    batch, part = EvaluationBatch.current(phase), Part.objects.first()
    whole = batch.cache_key(part.slugs, part.start, part.stop)
    set_version(monkeypatch, RAISED)
    assert whole != batch.cache_key(part.slugs, part.start, part.stop)
    rest = [slug for slug in part.slugs if slug != RAISED]
    assert batch.cache_key(part.slugs, part.start, part.stop) == batch.cache_key(rest, part.start, part.stop)


def test_properties_are_not_measured_on_by_code_of_another_version(phase, monkeypatch):
    """Values measured so far are of the old version; nobody adds to them, and the next sweep asks for the new one."""
    phase.metrics.all().delete()
    column = PhaseMetric.objects.create(phase=phase, slug="tight", key="corner_f1", params={"tau": 0.21})
    sweep()
    run = SuiteRun.objects.get()
    set_version(monkeypatch, "corner_f1")
    suites.sanity_tests_once("newer")
    run.refresh_from_db()
    assert (run.rows, run.attempts, run.state) == ([], 0, SuiteRun.State.WAITING) and "another version" in run.failure
    SuiteRun.objects.update(lease_until=None, lease_token=None)
    sweep()
    assert set(SuiteRun.objects.values_list("fingerprint", flat=True)) == {column.fingerprint} != {run.fingerprint}


def test_the_table_of_columns_says_what_stands_and_what_is_current(phase, monkeypatch):
    batch, old = EvaluationBatch.current(phase), registry.get(RAISED).version
    assert batch.outdated() == []
    new = set_version(monkeypatch, RAISED)
    (column,) = batch.outdated()
    assert column.sentence == f"Values of {RAISED} version {old}; version {new} is current."

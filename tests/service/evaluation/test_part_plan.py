"""Cutting of an entry into parts, and how long each of them may take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.metrics import registry
from evaluation.metrics.spec import Effort
from evaluation.models import Evaluation, EvaluationBatch, Part, PhaseMetric, Reference, part_plan
from evaluation.models.part_plan import item_seconds_allowed, plan_parts, seconds_allowed, slices
from evaluation.work.sandbox import sandbox
from evaluation.work.worker import check, drain
from submissions.entry_states import Reason
from submissions.models import Phase, Status, Submission
from tests.support.evaluation import programs
from tests.support.factories import ChallengeFactory, PhaseFactory, archive, boxes, gables, give_reference, received


def test_slices_cover_everything_once_and_never_split_a_group():
    groups = list("aaabbcddddde")
    cuts = slices(groups, 3)
    assert [k for start, stop in cuts for k in range(start, stop)] == list(range(12))
    for start, _ in cuts[1:]:
        assert groups[start] != groups[start - 1]
    assert slices([], 3) == []


def test_small_entries_are_cut_so_that_several_workers_can_share_them():
    assert [stop - start for start, stop in slices([str(n) for n in range(24)], 25)] == [6, 6, 6, 6]
    assert len(slices([str(n) for n in range(1000)], 25)) == 40
    assert slices(["only"], 25) == [(0, 1)]


def test_what_is_heavy_stands_alone_and_what_is_light_stays_together():
    ids = [str(n) for n in range(8)]
    assert slices(ids, 25, [1, 1, 1, 1, 1, 1, 1, 1], 100) == [(0, 2), (2, 4), (4, 6), (6, 8)]
    assert slices(ids, 25, [1, 300, 1, 1, 60, 60, 60, 1], 120) == [(0, 1), (1, 2), (2, 4), (4, 6), (6, 8)]
    assert slices(list("aabbccdd"), 25, [300] * 8, 120) == [(0, 2), (2, 4), (4, 6), (6, 8)], "a group is never split"
    assert slices(list("aabb"), 25, [50, 50, 10, 10], 120) == [(0, 2), (2, 4)]


def test_effort_grows_with_the_size_that_counts_up_to_what_models_are_brought_down_to():
    effort = Effort(120.0, 10_000, power=3.0, most="max_vertices")
    assert effort.of((10_000, 1), {"max_vertices": 12_000}) == 120.0
    assert effort.of((5_000, 9_999_999), {"max_vertices": 12_000}) == pytest.approx(15.0)
    assert effort.of((2_000_000, 1), {"max_vertices": 12_000}) == pytest.approx(120 * 1.2**3)
    tubes = Effort(0.6, 30, power=2.0, by=1, only=("method", "exact"))
    assert tubes.of((1, 60), {"method": "exact"}) == pytest.approx(2.4) and tubes.of((1, 60), {"method": "sampling"}) == 0.0
    volume = Effort(5.0, 200_000, power=1.0, by=1, least=True)
    assert [volume.of((0, faces), {}) for faces in (12, 200_000, 400_000)] == [5.0, 5.0, 10.0]


EFFORTS = (
    (
        Effort(120.0, 10_000, power=3.0, most="max_vertices"),
        "mesh",
        {"max_vertices": 12_000},
        "120 s of one core for a model of 10,000 vertices; it grows with the cube of their number, up to 12,000, which larger models are "
        "brought down to.",
    ),
    (
        Effort(0.6, 30, power=2.0, by=1, only=("method", "exact")),
        "wireframe",
        {"method": "sampling"},
        "with method = exact, 0.6 s of one core for a model of 30 edges; it grows with the square of their number.",
    ),
    (
        Effort(5.0, 200_000, power=1.0, by=1, least=True),
        "mesh",
        {},
        "5 s of one core at most for a model of up to 200,000 faces; above, it grows with their number.",
    ),
    (Effort(6.0, 30, power=0.0), "wireframe", {}, "6 s of one core for a model of any size."),
)


@pytest.mark.parametrize(("effort", "kind", "params", "words"), EFFORTS)
def test_a_declared_effort_in_words(effort, kind, params, words):
    assert effort.words(kind, params) == f"Declared effort: {words}"


def test_every_declared_effort_names_parameters_that_there_are():
    declared = [spec for spec in registry.REGISTRY.values() if spec.effort]
    assert {spec.key for spec in declared} >= {"saucd", "hss_exact", "jaccard_distance"}
    for spec in declared:
        params = registry.resolve_params(spec.key, {})
        assert spec.effort.of((1000, 1000), params) >= 0.0
        if spec.effort.only:
            name, choice = spec.effort.only
            assert choice in spec.param(name).choices


@pytest.fixture
def meshes(db) -> Phase:
    """Eleven meshes, as large as `sizes` says, scored by SAUCD and a quick metric."""
    phase = PhaseFactory(challenge=ChallengeFactory(family="mesh"))
    give_reference(phase, boxes(n=11), metrics=({"slug": "uhd", "key": "uhd", "is_primary": True}, {"slug": "saucd", "key": "saucd"}))
    return phase


def sized(phase: Phase, vertices: list[int]) -> EvaluationBatch:
    Reference.objects.filter(phase=phase).update(bounds=[[n, 2 * n] for n in vertices])
    return EvaluationBatch.current(phase)


@pytest.mark.django_db
class TestPieces:
    def test_three_meshes_of_minutes_are_three_parts(self, meshes):
        batch = sized(meshes, [10_000, 10_000, 10_000] + [500] * 8)
        assert [(start, stop) for _, _, start, stop in plan_parts(batch)] == [(0, 1), (1, 2), (2, 3), (3, 6), (6, 9), (9, 11)]

    def test_small_meshes_are_cut_by_their_number_as_ever(self, meshes):
        assert [(start, stop) for _, _, start, stop in plan_parts(sized(meshes, [500] * 11))] == [(0, 3), (3, 6), (6, 9), (9, 11)]

    def test_a_part_gets_the_time_that_its_metrics_declare_for_the_largest_entry(self, meshes, settings):
        batch = sized(meshes, [10_000, 10_000, 10_000] + [100] * 8)
        declared = 120 + 120 * 1.2**3  # the reference, and an entry as large as SAUCD takes
        assert seconds_allowed(batch, ["uhd", "saucd"], 0, 1) == round(5 * declared)
        assert seconds_allowed(batch, ["uhd"], 0, 1) == settings.CHILD_SECONDS
        assert seconds_allowed(batch, ["uhd", "saucd"], 0, 11) == 12 * settings.CHILD_SECONDS, "and never more than that"

    def test_an_item_may_take_its_share_of_a_part_or_what_its_metrics_declare(self, meshes, settings):
        batch = sized(meshes, [10_000, 500, 500] + [100] * 8)
        assert item_seconds_allowed(batch, ["uhd"], 0, 11) == settings.CHILD_SECONDS / 11
        assert item_seconds_allowed(batch, ["uhd", "saucd"], 0, 3) == pytest.approx(5 * (120 + 120 * 1.2**3)), "the heaviest of them"
        for start, stop in ((0, 1), (0, 3), (0, 11)):
            assert item_seconds_allowed(batch, ["uhd", "saucd"], start, stop) <= seconds_allowed(batch, ["uhd", "saucd"], start, stop)

    def test_items_of_a_part_with_a_metric_program_may_take_all_of_its_time(self, phase, challenge, tmp_path):
        PhaseMetric.objects.create(phase=phase, slug="own", key=programs.ready(challenge, tmp_path).full_key, position=9)
        batch = EvaluationBatch.start(phase, reference=phase.references.get(), reason="a program")
        shipped = next(metric["slug"] for metric in batch.metrics if metric["slug"] != "own")
        assert item_seconds_allowed(batch, [shipped], 0, 2) == seconds_allowed(batch, [shipped], 0, 2) / 2
        assert item_seconds_allowed(batch, [shipped, "own"], 0, 2) == seconds_allowed(batch, [shipped, "own"], 0, 2)

    def test_a_small_reference_leaves_time_for_a_large_entry(self, meshes, settings):
        batch = sized(meshes, [2_000] * 11)
        assert seconds_allowed(batch, ["saucd"], 0, 1) > 5 * 120 * 1.2**3

    def test_a_scene_that_is_one_part_however_large_gets_the_time_of_many(self, meshes, settings):
        batch = sized(meshes, [500] * 11)
        settings.PART_SAMPLES = 5
        assert [seconds_allowed(batch, ["uhd"], 0, stop) / settings.CHILD_SECONDS for stop in (1, 5, 6, 11)] == [1, 1, 2, 3]

    def test_parts_are_what_the_pieces_are(self, phase, people, references):
        entry = received(phase, people.team, archive(references))
        drain()
        parts = Part.objects.filter(evaluation__submission=entry)
        assert sorted((p.device, p.slugs, p.start, p.stop) for p in parts) == sorted(plan_parts(EvaluationBatch.current(phase)))


@pytest.mark.django_db(transaction=True)
class TestTime:
    """Two slow columns, which take any machine more than a second, under a limit of one second."""

    @pytest.fixture
    def slow(self, phase, people, settings, monkeypatch):
        def send(effort: Effort | None):
            spec = replace(registry.get("jaccard_distance"), effort=effort)
            monkeypatch.setattr(registry, "REGISTRY", {**registry.REGISTRY, "jaccard_distance": spec})
            for k in range(2):
                params = {"n_samples": 1_000_000, "primitive": "capsule", "radius": 0.5 + k / 10}
                PhaseMetric.objects.create(phase=phase, slug=f"slow_{k}", key="jaccard_distance", position=9 + k, params=params)
            EvaluationBatch.start(phase, reference=Reference.add(phase, gables(), groups=dict.fromkeys(gables(), "all")))
            phase.refresh_from_db()
            entry = received(phase, people.team, archive(gables()))
            check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
            settings.CHILD_SECONDS, settings.MAX_ATTEMPTS = 1, 1
            drain()
            entry.refresh_from_db()
            return entry

        yield send
        sandbox.stop()

    def test_without_a_declaration_the_part_is_stopped(self, slow):
        entry = slow(None)
        assert entry.status == Status.FAILED
        row = Evaluation.objects.get(submission=entry, state="failed")
        assert (row.reason, row.numbers["seconds"]) == (Reason.TIME, 1)

    def test_with_one_it_has_its_time(self, slow, monkeypatch):
        monkeypatch.setattr(part_plan, "LONGEST", 10_000)
        assert slow(Effort(1000.0, 10, power=0.0)).status == Status.SCORED

"""Trials of columns: made where one is wanted, done by workers under a lease, and what a board makes of them."""

from __future__ import annotations

import re
import uuid
from dataclasses import asdict, replace

import numpy as np
import pytest
from django.urls import reverse

from evaluation.models import Evaluation, EvaluationBatch, Reference, Score, SuiteRun
from evaluation.models.acceptance_test import request_missing, standings
from evaluation.properties.gate.acceptance_test import verdict
from evaluation.properties.gate.design import CLEAN, PICTURE_DAMAGES, Row, Untried
from evaluation.properties.suite import Progress
from evaluation.work import suites
from evaluation.work.sandbox import sandbox
from leaderboard.boards import build, scorecard, snapshots
from leaderboard.models import Study
from leaderboard.records.board import Board, ColumnAcceptanceTest, NoOverallRank
from leaderboard.stats.ranking import NoOrder
from leaderboard.studies.analysis import metric_scores
from leaderboard.wording.items import flags
from leaderboard.wording.items import flags as flag_words
from submissions.formats.render.views import CleanViews, View, render
from submissions.models import Phase, Submission
from submissions.storage import stored_files
from tests.support import pictures
from tests.support.evaluation.retired import add_column
from tests.support.evaluation.solids import SQUARE, box
from tests.support.evaluation.warm_child import warm_child
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, give_reference
from tests.support.leaderboard.scores import entry, samples

__all__ = ["warm_child"]  # the fixture
pytestmark = [pytest.mark.django_db, pytest.mark.acceptance_tests]
PSNR = {"slug": "psnr", "key": "psnr", "is_primary": True}
PIECES = {"slug": "pieces", "key": "puzzlesim_pieces", "params": {"features": "dictionary"}}
DISTANCE = {"slug": "distance", "key": "piece_distance"}
SCENES = ("attic", "garden", "hall")


def phase_of(*metrics: dict, scenes: tuple[str, ...] = SCENES, **values: object) -> Phase:
    """A phase of renders with two views of each scene, and three entries."""
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"), **values)
    give_reference(phase, {item: view for scene in scenes for item, view in pictures.views(2, scene).items()}, metrics=metrics)
    n = 2 * len(scenes)
    for number in range(3):
        scores = {metric["slug"]: [20.0 + number + 0.1 * place for place in range(n)] for metric in metrics}
        entry(phase, TeamFactory(challenge=phase.challenge), scores)
    return phase


def judge(acceptance_test: SuiteRun, failing: tuple[str, ...] = ()) -> None:
    """Give an acceptance test the rows of a metric that orders everything right, but in some scenes."""
    worth = {"mild": 0.6, "local": 0.6, "stronger": 0.4, "foreign": 0.1, "empty": 0.0}
    right = {CLEAN: 0.9} | {damage.name: worth[damage.group] - 0.001 * place for place, damage in enumerate(PICTURE_DAMAGES)}
    right |= {"halfblack": 0.05, "black": 0.0, "crop40": 0.3, "blur4": 0.3}
    sign = 1 if acceptance_test.spec.higher_is_better else -1
    rows = [
        Row(scene, number, name, sign * (-value if scene in failing else value))
        for scene in acceptance_test.scene_names
        for number in range(6)
        for name, value in right.items()
    ]
    scenes = [
        verdict(acceptance_test.spec, acceptance_test.params, name, [row for row in rows if row.scene == name])
        for name in acceptance_test.scene_names
    ]
    assert acceptance_test.take_over(rows, scenes)


def test_kept_scores_take_the_place_of_what_a_worker_has_begun_but_not_of_a_verdict():
    phase_of(PSNR, DISTANCE)
    request_missing()
    held = SuiteRun.objects.waiting().claim("a worker")
    acceptance_test = SuiteRun.objects.get()
    judge(acceptance_test)
    assert not held.under_lease().exists() and not acceptance_test.take_over([], [])


def with_bands(phase: Phase, means: list[tuple[str, float | None]]) -> Submission:
    """An entry whose pieces column knows what clean views of these scenes score, as the metric leaves it among the parts; None where
    it sent no view of the scene."""
    slugs = [metric["slug"] for metric in EvaluationBatch.current(phase).metrics]
    items = EvaluationBatch.current(phase).item_ids
    submission = entry(phase, TeamFactory(challenge=phase.challenge), {slug: [0.3] * len(items) for slug in slugs})
    evaluation = Evaluation.objects.get(submission=submission)
    scores, summary = samples(evaluation.batch, "pieces", [0.3] * len(items))
    of_scene = {
        scene: {"share": 0.7, "clean_mean": mean, "clean_least": mean - 0.1, "clean_greatest": mean + 0.1} for scene, mean in means if mean
    }
    parts = tuple(of_scene.get(item.partition("/")[0], {}) for item in items)
    evaluation.scores.filter(slug="pieces").delete()
    Score.write(evaluation.pk, evaluation.batch.columns, {"pieces": (replace(scores, parts=parts), summary)})
    return submission


def column(phase: Phase, slug: str) -> dict:
    return next(metric for metric in build.build(phase, build.PUBLIC).metrics if metric.slug == slug)


class TestRequests:
    def test_each_column_that_needs_one_gets_one_and_no_other(self):
        phase = phase_of(PSNR, PIECES, DISTANCE)
        assert request_missing() == 2 and request_missing() == 0
        assert {(one.key, one.reference.phase_id) for one in SuiteRun.objects.all()} == {
            ("puzzlesim_pieces", phase.pk),
            ("piece_distance", phase.pk),
        }

    def test_what_nothing_asks_for_goes_and_what_an_older_gate_tried_is_tried_again(self):
        phase = phase_of(PSNR, DISTANCE)
        request_missing()
        judge(SuiteRun.objects.get())
        SuiteRun.objects.update(version="gate/0", state=SuiteRun.State.DONE)
        assert request_missing() == 1 and SuiteRun.objects.get().judged_at is None
        EvaluationBatch.objects.filter(phase=phase).update(state=EvaluationBatch.State.RETIRED)
        request_missing()
        assert not SuiteRun.objects.exists()


class TestBoards:
    def test_before_its_acceptance_test_a_column_has_values_and_neither_rank_nor_interval(self):
        phase = phase_of(PSNR, DISTANCE)
        found = column(phase, "distance")
        assert found.acceptance_test.state == "waiting" and not found.in_ranking and None not in found.value
        assert set(found.rank) == set(found.ci_low) == set(found.group) == {None}
        assert column(phase, "psnr").acceptance_test is None and None not in column(phase, "psnr").rank

    def test_a_column_that_passed_ranks(self):
        phase = phase_of(PSNR, DISTANCE)
        request_missing()
        judge(SuiteRun.objects.get())
        found = column(phase, "distance")
        assert found.rank == [1, 2, 3] and found.in_ranking
        assert found.acceptance_test == ColumnAcceptanceTest(state="passed", id=SuiteRun.objects.get().pk)

    def test_a_column_ranks_by_the_scenes_that_passed_and_its_values_are_of_these(self):
        phase = phase_of(PSNR, DISTANCE)
        request_missing()
        judge(SuiteRun.objects.get(), failing=("hall",))
        found = column(phase, "distance")
        assert found.acceptance_test.scenes == ["attic", "garden"] and found.n == [2, 2, 2]
        assert found.value == pytest.approx([20.15, 21.15, 22.15])  # the mean over items 0 to 3 of 20 + 0.1 k, and so on

    def test_of_each_team_the_entry_counts_that_is_best_on_the_scenes_that_passed(self):
        phase = phase_of({**DISTANCE, "is_primary": True}, {**PSNR, "is_primary": False}, ranking="primary", entries="best")
        team, psnr = TeamFactory(challenge=phase.challenge), [30.0] * 6
        entry(phase, team, {"distance": [1.0] * 4 + [90.0] * 2, "psnr": psnr}, method_name="counts")
        entry(phase, team, {"distance": [5.0] * 6, "psnr": psnr}, method_name="all")
        request_missing()
        judge(SuiteRun.objects.get(), failing=("hall",))
        board = build.build(phase, build.PUBLIC)
        assert board.entries[board.overall.order[0]].name == "counts"
        assert "all" not in [one.name for one in board.entries]

    def test_an_entrys_page_gives_the_value_that_the_board_ranks_by(self, client):
        phase = phase_of({**DISTANCE, "is_primary": True}, {**PSNR, "is_primary": False})
        team = TeamFactory(challenge=phase.challenge)
        best = entry(phase, team, {"distance": [1.0] * 4 + [90.0] * 2, "psnr": [30.0] * 6})
        request_missing()
        judge(SuiteRun.objects.get(), failing=("hall",))
        snapshots.make(phase, "public")
        page = client.get(reverse("entry", args=[best.pk])).content.decode()
        row = page.partition('aria-label="Scores"')[2].partition("Piece distance")[2].partition("</tr>")[0]
        assert "<b>1.000</b>" in row and "30.67" not in row

    def test_its_page_has_the_challenges_own_word_for_a_scene(self, client):
        phase = phase_of(PSNR, DISTANCE)
        phase.challenge.unit_noun = "room"
        phase.challenge.save()
        request_missing()
        judge(SuiteRun.objects.get(), failing=("hall",))
        page = client.get(reverse("acceptance_test", args=[SuiteRun.objects.get().pk])).content.decode()
        assert "2 of 3 rooms" in page and "these rooms only" in page

    def test_people_are_compared_with_the_scenes_that_passed_and_two_entries_too(self, client):
        phase = phase_of({**DISTANCE, "is_primary": True}, {**PSNR, "is_primary": False})
        psnr = [30.0] * 6
        wild = entry(phase, TeamFactory(challenge=phase.challenge), {"distance": [1.0] * 4 + [90.0] * 2, "psnr": psnr})
        tame = entry(phase, TeamFactory(challenge=phase.challenge), {"distance": [5.0] * 6, "psnr": psnr})
        study = Study.objects.create(phase=phase, slug="asked", title="Asked", question="Which?", is_public=True)
        for label, one in (("a", wild), ("b", tame)):
            study.entries.create(label=label, submission=one)
        batch = EvaluationBatch.current(phase)
        before = study.stamp
        request_missing()
        judge(SuiteRun.objects.get(), failing=("hall",))
        assert Study.objects.get().stamp != before, "so that the study is analysed anew"
        samples = sorted(set(batch.groups))
        found = {one.key: one for one in metric_scores(study, batch, samples, ["a", "b"])}
        hall = samples.index("hall")
        assert np.isnan(found["distance"].values[hall]).all() and np.isfinite(found["psnr"].values).all()
        assert np.isfinite(np.delete(found["distance"].values, hall, axis=0)).all()
        results = {result.slug: result for result in scorecard.results(Evaluation.objects.get(submission=wild, batch=batch), None)}
        assert results["distance"].value == pytest.approx(1.0) and np.isnan(results["distance"].vector).sum() == 2
        address = reverse("compare", args=[phase.challenge.slug, phase.slug])
        page = client.get(f"{address}?a={wild.pk}&b={tame.pk}").content.decode()
        assert page.count("30.67") == 0

    def test_what_an_entrys_page_tests_is_tested_on_the_scenes_that_passed(self, client):
        scenes = tuple(f"scene{n}" for n in range(8))
        phase = phase_of({**DISTANCE, "is_primary": True}, {**PSNR, "is_primary": False}, scenes=scenes)
        psnr = [30.0 + number for number in range(16)]
        wild, tame = (
            entry(phase, TeamFactory(challenge=phase.challenge), {"distance": values, "psnr": psnr})
            for values in ([1.0 + 0.01 * n for n in range(14)] + [900.0] * 2, [5.0 + 0.02 * n for n in range(16)])
        )
        request_missing()
        judge(SuiteRun.objects.get(), failing=scenes[7:])
        board = snapshots.make(phase, "public").board
        assert build.alone(board, board.column("distance"), board.index_of(wild.pk)) == (1, 1)
        page = client.get(reverse("entry", args=[tame.pk])).content.decode()
        above = " ".join(page.partition('aria-labelledby="above"')[2].partition("</section>")[0].split())
        assert re.search(r"\b0 groups, .* 0, .* 7\b", above), above

    def test_the_board_says_what_clean_views_score_in_each_scene_that_passed_and_no_other_column_does(self, client):
        phase = phase_of(PSNR, PIECES, DISTANCE)
        request_missing()
        with_bands(phase, [("attic", 0.5), ("garden", None)])
        with_bands(phase, [("attic", 0.7), ("garden", 0.4), ("hall", 0.6)])
        assert "clean" not in column(phase, "pieces"), "before its acceptance test"
        judge(SuiteRun.objects.get(key="puzzlesim_pieces"), failing=("hall",))
        judge(SuiteRun.objects.get(key="piece_distance"))
        assert column(phase, "pieces").clean == [("attic", 0.5, 0.4, 0.6), ("garden", 0.4, 0.3, 0.5)]
        assert "clean" not in column(phase, "distance")
        snapshots.make(phase, "public")
        page = " ".join(client.get(reverse("board", args=[phase.challenge.slug, phase.slug])).content.decode().split())
        assert "clean views 0.30–0.60</button>" in page and "<li>garden <b>0.40</b> (0.30–0.50)</li>" in page
        assert page.count('class="clean"') == 1 and "<li>hall " not in page

    def test_where_fewer_than_half_of_the_scenes_pass_it_does_not_rank(self):
        phase = phase_of(PSNR, DISTANCE)
        request_missing()
        judge(SuiteRun.objects.get(), failing=("attic", "hall"))
        found = column(phase, "distance")
        assert set(found.rank) == {None} and found.acceptance_test.state == "refused"
        refusal = found.acceptance_test.refusal
        assert (refusal.scene, refusal.passed, refusal.of, refusal.untried) == ("attic", 1, 3, None)
        assert refusal.failure.wrong and Board.from_json(build.build(phase, build.PUBLIC).to_json()).column("distance") == found

    def test_a_primary_metric_that_may_not_rank_leaves_the_board_without_an_order_and_says_why(self):
        phase = phase_of({**DISTANCE, "is_primary": True}, {**PSNR, "is_primary": False}, ranking="primary")
        overall = build.build(phase, build.PUBLIC).overall
        assert set(overall.rank) == {None} and overall.problem == NoOverallRank(reason=NoOrder.MAY_NOT_RANK, title="Piece distance")

    def test_a_mean_rank_is_made_without_it(self):
        phase = phase_of(PSNR, DISTANCE, ranking="mean_rank")
        assert build.build(phase, build.PUBLIC).overall.metrics == ["psnr"]
        request_missing()
        judge(SuiteRun.objects.get())
        assert build.build(phase, build.PUBLIC).overall.metrics == ["psnr", "distance"]

    def test_weights_whose_card_says_that_they_must_not_rank_are_not_even_tried(self):
        phase = PhaseFactory(challenge=ChallengeFactory(family="mesh"))
        give_reference(
            phase,
            {"box": box(), "plate": SQUARE},
            metrics=({"slug": "chamfer", "key": "chamfer_l1", "is_primary": True}, {"slug": "locase", "key": "locase"}),
        )
        entry(phase, TeamFactory(challenge=phase.challenge), {"chamfer": [0.1, 0.2], "locase": [4.0, 4.5]})
        found = column(phase, "locase")
        assert found.value == [4.25] and found.rank == [None] and request_missing() == 0
        assert found.acceptance_test == ColumnAcceptanceTest(state="weights")


class TestOtherCleanViews:
    """A value belongs to the clean views it was found with: these are part of the reference. No board, acceptance test or file has values
    of two references."""

    @pytest.fixture
    def batches(self) -> tuple[EvaluationBatch, EvaluationBatch]:
        """Three entries scored, a column that passed its acceptance test, then a reference that differs in one pixel of a clean view."""
        phase = phase_of(PIECES, scenes=("garden",))
        request_missing()
        judge(SuiteRun.objects.get())
        Submission.objects.update(artifact_key="artifacts/kept")  # so that they are scored anew
        views = pictures.views(2, "garden")
        first, *others = (image.pixels() for image in views["garden/view_1"].clean.images)
        spoilt = first.copy()
        spoilt[0, 0] ^= 1
        clean = CleanViews.of(map(render, (spoilt, *others)))
        old = EvaluationBatch.current(phase)
        other = Reference.add(phase, {item: replace(view, clean=clean) for item, view in views.items()})
        return old, EvaluationBatch.start(phase, reference=other)

    def test_the_fingerprint_of_the_metric_is_the_same_and_that_of_the_reference_is_not(self, batches):
        old, new = batches
        assert old.metrics[0]["fingerprint"] == new.metrics[0]["fingerprint"] and old.item_ids == new.item_ids
        assert old.pk != new.pk and old.reference.sha256 != new.reference.sha256
        assert old.cache_key(["pieces"], 0, 2) != new.cache_key(["pieces"], 0, 2)

    def test_the_board_has_values_of_one_of_them_alone(self, batches):
        old, new = batches
        before = column(old.phase, "pieces").value
        scored = Evaluation.objects.filter(batch=new).order_by("submission_id")
        for place, evaluation in enumerate(scored):
            assert column(old.phase, "pieces").value == before, "until the last entry is scored anew"
            evaluation.batch = new
            Score.write(evaluation.pk, evaluation.batch.columns, {"pieces": samples(new, "pieces", [0.1 * place, 0.1 * place])})
            Evaluation.objects.filter(pk=evaluation.pk).update(state="done")
        assert len(scored) == 3 and new.switch_if_complete()
        assert column(old.phase, "pieces").value == pytest.approx([0.0, 0.1, 0.2])
        assert set(Score.objects.filter(evaluation__batch=old).values_list("value", flat=True)) == set(before)

    def test_what_passed_on_the_old_ones_is_tried_anew_on_the_others(self, batches):
        old, new = batches
        assert standings(old)["pieces"].ranks and standings(new)["pieces"].state == "waiting"
        assert request_missing() == 1 and SuiteRun.objects.get(judged_at=None).reference == new.reference


class TestViews:
    @pytest.fixture
    def scored(self) -> Submission:
        return with_bands(phase_of(PSNR, PIECES, scenes=("garden",), reference_access="public"), [("garden", 0.46)])

    def test_a_value_stands_beside_those_of_the_scenes_clean_views(self, client, scored):
        page = " ".join(client.get(reverse("entry_item", args=[scored.pk, "garden/view_1"])).content.decode().split())
        assert page.count(": 0.46 (0.36–0.56)") == 1 and "share 0.700" in page and "clean_mean" not in page

    def test_who_may_see_the_values_and_not_the_reference_sees_them_without_the_parts(self, client, scored):
        Phase.objects.update(reference_access="hidden")
        page = client.get(reverse("entry_item", args=[scored.pk, "garden/view_1"]))
        assert page.status_code == 200
        assert "0.46 (0.36–0.56)" in page.content.decode() and "share 0.700" not in page.content.decode()

    def test_who_may_not_see_the_items_sees_neither(self, client, scored):
        Phase.objects.update(withhold_items=True)
        assert client.get(reverse("entry_item", args=[scored.pk, "garden/view_1"])).status_code == 403


class TestFlags:
    """A render that copies a clean view counts 0, and the reader sees why."""

    @pytest.fixture
    def scored(self) -> Submission:
        submission = with_bands(phase_of(PSNR, PIECES, scenes=("garden",), reference_access="hidden"), [("garden", 0.46)])
        evaluation = Evaluation.objects.get(submission=submission)
        scores, summary = samples(evaluation.batch, "pieces", [0.0, 0.3])
        flags = (("above_clean", "copied_reference", "resized"), ())
        evaluation.scores.filter(slug="pieces").delete()
        parts = ({"measured": 0.998}, {})
        Score.write(evaluation.pk, evaluation.batch.columns, {"pieces": (replace(scores, parts=parts, flags=flags), summary)})
        return submission

    def test_the_item_shows_what_was_measured_and_the_entry_how_many_are_copies(self, client, scored):
        first = EvaluationBatch.current(scored.phase).item_ids[0]
        item = " ".join(client.get(reverse("entry_item", args=[scored.pk, first])).content.decode().split())
        assert re.search(r"measured 0\.998\d*, counts as 0", item), item[item.find("copies a clean") :][:200]
        page = client.get(reverse("entry", args=[scored.pk])).content.decode()
        assert flags({"copied_reference": 1}, scored.phase.challenge.item_noun) in page

    def test_the_board_marks_the_value(self, scored):
        found = column(scored.phase, "pieces")
        index = found.value.index(min(found.value))
        assert found.flags(index) == {"copied_reference": 1} and found.flagged == [(index, "copied_reference", 1)]
        assert flag_words(found.flags(index), "item").endswith(": 1 item") and not found.flags(1 - index)
        assert "flagged" not in column(scored.phase, "psnr").model_dump()
        assert found.redacted([index]).flagged is None

    def test_the_api_says_it_of_items_and_entries(self, client, scored):
        items = client.get(f"/api/v1/submissions/{scored.pk}/items?metric=pieces").json()["items"]
        assert [one["flags"] for one in items] == [["above_clean", "copied_reference"], []], "and not what tells of the reference"
        found = client.get(f"/api/v1/submissions/{scored.pk}").json()
        assert found["scores"]["pieces"]["flags"] == {"copied_reference": 1} and found["scores"]["psnr"]["flags"] == {}


class TestWorkers:
    @pytest.fixture
    def jobs(self, monkeypatch) -> list[dict]:
        """The jobs that the limited process is given."""
        seen: list[dict] = []
        run = sandbox.run
        monkeypatch.setattr(sandbox, "run", lambda folder, job, *rest: seen.append(job) or run(folder, job, *rest))
        return seen

    def test_a_scene_with_too_few_clean_views_is_refused_and_its_page_says_why(self, client, warm_child):
        phase = phase_of(PSNR, PIECES, scenes=("garden",))
        request_missing()
        while suites.acceptance_test_once("somebody"):
            continue
        acceptance_test = SuiteRun.objects.get()
        assert acceptance_test.state == SuiteRun.State.DONE and acceptance_test.judged_at and acceptance_test.attempts == 0
        found = column(phase, "pieces").acceptance_test
        assert found.state == "refused" and found.refusal.untried == Untried.CLEAN_VIEWS and found.refusal.failure is None
        page = client.get(reverse("acceptance_test", args=[acceptance_test.pk])).content.decode()
        assert "fewer than 4" in page and "not ranked" in page

    def test_an_acceptance_test_with_a_reference_goes_slice_by_slice_to_its_verdict_and_pictures(
        self, client, warm_child, monkeypatch, jobs, local_files
    ):
        monkeypatch.setattr(suites, "SLICE_SECONDS", 0.0)
        phase = PhaseFactory(challenge=ChallengeFactory(family="render"), reference_access="public")
        views = pictures.views(2, "garden", clean=False)
        give_reference(phase, {name: larger(view) for name, view in views.items()}, metrics=(PSNR, DISTANCE))
        request_missing()
        assert suites.acceptance_test_once("somebody")
        half = SuiteRun.objects.get()
        assert half.at == [0, 1] and half.done == 35 == len(half.rows) and half.total == 70 and half.judged_at is None
        (kept,) = stored_files.store().keys(f"prepared/{phase.pk}")
        assert suites.acceptance_test_once("somebody") and SuiteRun.objects.get().judged_at
        assert jobs[-1]["prepared"].endswith(kept[0].rpartition("/")[2]) and list(stored_files.store().keys(f"prepared/{phase.pk}")) == []
        while suites.acceptance_test_once("somebody"):
            continue
        acceptance_test = SuiteRun.objects.get()
        assert acceptance_test.state == SuiteRun.State.DONE and acceptance_test.done == 70 and len(acceptance_test.pictures["garden"]) == 35
        picture = client.get(reverse("acceptance_test_picture", args=[acceptance_test.pk, 0, "holes1"]))
        assert picture.status_code == 200 and picture.content[8:12] == b"WEBP"
        page = client.get(reverse("acceptance_test", args=[acceptance_test.pk])).content.decode()
        assert "black holes on 4 %" in page and page.count("<img") == 35

    def test_a_slice_whose_lease_was_lost_changes_nothing(self):
        phase_of(PSNR, DISTANCE)
        request_missing()
        acceptance_test = SuiteRun.objects.waiting().claim("somebody")
        SuiteRun.objects.update(lease_token=uuid.uuid4())  # another worker has it by now
        assert not acceptance_test.keep(asdict(Progress([asdict(Row("attic", 0, CLEAN, 1.0))], [0, 1], done=1, total=2)), 1.0)
        assert SuiteRun.objects.get().rows == [] and SuiteRun.objects.get().at == []

    def test_one_that_got_nothing_for_a_minute_is_overdue(self):
        phase_of(PSNR, DISTANCE)
        request_missing()
        assert not SuiteRun.objects.overdue(60.0).exists() and SuiteRun.objects.overdue(-1.0).exists()


class TestRetired:
    @pytest.fixture(params=["puzzlesim", "lpips_plumbline_small", "lpips_plumbline_small@mask", "lpips_plumbline_small@bbox"])
    def phase(self, request) -> Phase:
        phase = PhaseFactory(challenge=ChallengeFactory(family="render"))
        give_reference(phase, pictures.views(2), metrics=(PSNR,))
        add_column(phase, "map", request.param)
        entry(phase, TeamFactory(challenge=phase.challenge), {"psnr": [20.0, 21.0], "map": [0.4, 0.6]})
        return phase

    def test_old_values_stay_unranked_and_nothing_waits_for_new_ones(self, phase):
        batch = EvaluationBatch.current(phase)
        assert batch.retired() == ["map"] and batch.outdated() == []
        newer = entry(phase, TeamFactory(challenge=phase.challenge), {"psnr": [25.0, 26.0]})
        assert Evaluation.objects.get(submission=newer).waiting() == []
        found = column(phase, "map")
        assert found.acceptance_test == ColumnAcceptanceTest(state="retired")
        assert found.value == [0.5, None] and set(found.rank) == {None}
        assert column(phase, "psnr").rank == [2, 1] and request_missing() == 0

    def test_a_batch_that_is_started_anew_leaves_it_out(self, phase):
        batch = EvaluationBatch.start(phase, reason="without the retired")
        assert [metric["slug"] for metric in batch.metrics] == ["psnr"]


def larger(view: View) -> View:
    """The view at twice the size, for metrics that need cells."""
    pixels = np.kron(view.image.pixels(), np.ones((2, 2, 1), np.uint8))
    return replace(view, image=render(pixels), width=pixels.shape[1], height=pixels.shape[0], rois=())

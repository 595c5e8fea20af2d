"""Verdicts by hand-made scores, the area under a map's curve by hand and by a peer, and trials of one small room."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import prepared, registry
from evaluation.metrics.render.pieces import distance, metric
from evaluation.metrics.render.pieces.features import Features
from evaluation.metrics.render.puzzlesim.metric import MapScorer
from evaluation.properties.gate import acceptance_test, damages, design
from evaluation.properties.gate.design import CLEAN, LADDERS, PICTURE_DAMAGES, Row
from evaluation.synthetic.rooms import room, walk
from submissions.formats.render.views import CleanViews, View, render
from tests.support.evaluation.networks import random_weights

PIECES = registry.get("puzzlesim_pieces")
DICTIONARY = registry.resolve_params("puzzlesim_pieces", {"features": "dictionary"})
WORTH = {"mild": 0.6, "local": 0.6, "stronger": 0.4, "foreign": 0.1, "empty": 0.0}


def scores(**changed: float) -> dict[str, float]:
    """Values that a metric gives one view if it gets everything right, but for what is changed."""
    found = {CLEAN: 0.9} | {damage.name: WORTH[damage.group] for damage in PICTURE_DAMAGES}
    for ladder in LADDERS:
        for step, name in enumerate(ladder):
            found[name] = min(found[name], 0.7 - 0.05 * step)
    found |= {"blur16": 0.1, "black": 0.0, "blur4": 0.3, "halfblack": 0.3, "crop40": 0.3}
    return found | changed


def rows(*views: dict[str, float], area: float = 0.9) -> list[Row]:
    masked = {damage.name for damage in PICTURE_DAMAGES if damage.has_mask}
    return [
        Row("room", number, name, value, area if name in masked else None)
        for number, view in enumerate(views)
        for name, value in view.items()
    ]


def judged(table: list[Row], key: str = "puzzlesim_pieces") -> design.SceneVerdict:
    spec = registry.get(key)
    return acceptance_test.verdict(spec, registry.resolve_params(key, {}), "room", table)


def held(verdict: design.SceneVerdict) -> dict[str, bool]:
    return {condition.key: condition.held for condition in verdict.conditions}


class TestVerdict:
    def test_what_orders_everything_right_passes(self):
        found = judged(rows(*[scores()] * 6))
        assert found.passed and held(found) == dict.fromkeys(("A", "B", "B2", "C", "E", "D"), True)
        counts = {condition.key: (condition.right, condition.of) for condition in found.conditions}
        assert counts == {"A": (204, 204), "B": (192, 192), "B2": (240, 240), "C": (132, 132), "E": (126, 126), "D": (90, 100)}
        assert found.band == (pytest.approx(0.9), 0.9, 0.9) and found.views == 6

    def test_a_damage_that_beats_clean_in_two_views_fails_a_though_the_share_holds(self):
        found = judged(rows(*[scores(colour_blobs=0.95)] * 2, *[scores()] * 4))
        condition = found.conditions[0]
        assert condition.right == 202 >= 0.97 * condition.of and not condition.held and condition.fails == (("colour_blobs", 2, 6),)
        assert judged(rows(scores(colour_blobs=0.95), *[scores()] * 5)).passed

    def test_grey_above_one_mild_damage_in_each_view_fails_b(self):
        found = judged(rows(*[scores(grey=0.65, gamma1=0.62)] * 6))
        assert not held(found)["B"] and held(found)["A"] and not found.passed
        broken = next(one for one in found.conditions if one.key == "B").failure
        assert (broken.condition, broken.damage) == ("B", "grey") and 0 < broken.wrong <= broken.of and broken.held < 1

    def test_an_empty_picture_above_clean_in_one_view_fails_b_whatever_the_share(self):
        assert not held(judged(rows(scores(white=0.95), *[scores()] * 30)))["B"]

    def test_severe_damage_above_mild_damage_of_another_kind_is_counted_and_refuses_nothing(self):
        found = judged(rows(*[scores(halfblack=0.5, noise8=0.45, gamma1=0.45)] * 2, *[scores()] * 4))
        condition = next(one for one in found.conditions if one.key == "E")
        assert found.passed and (condition.right, condition.of, condition.held) == (122, 126, True)
        assert condition.fails == (("halfblack:noise8", 2, 6), ("halfblack:gamma1", 2, 6))  # halfblack against holes of 4 % is not asked

    def test_equal_scores_are_not_in_order(self):
        flat = judged(rows(*[dict.fromkeys(scores(), 0.5)] * 6))
        assert not flat.passed and [condition for condition in flat.conditions if condition.key != "D" and condition.right != 0] == []

    def test_a_stronger_damage_above_the_weaker_fails_c(self):
        found = judged(rows(*[scores(blur2=0.75, blur4=0.8)] * 6))
        assert not held(found)["C"] and held(found)["A"]

    def test_a_map_that_points_elsewhere_fails_d_and_a_metric_without_one_is_not_asked(self):
        assert not held(judged(rows(scores(), area=0.7)))["D"]
        assert "D" not in held(judged([row for row in rows(scores()) if row.area is None]))

    def test_lower_is_better_is_turned_round(self):
        table = [Row("room", row.number, row.damage, 1 - row.value) for row in rows(*[scores()] * 3)]
        found = judged(table, "lpips_squeeze")
        assert found.passed and "A" not in held(found) and dict(found.means)["clean"] == pytest.approx(0.1)

    def test_without_values_there_is_a_reason_and_no_condition(self):
        found = judged([Row("room", 0, CLEAN, None)])
        assert not found.passed and not found.conditions and found.untried is design.Untried.NO_VALUE

    def test_meshes_are_held_against_weak_damage_another_and_nothing(self):
        good = {"mono_noise:weak": 4.0, "mono_noise:strong": 2.0, "unrelated": 1.5, "empty": 1.0}
        table = [Row("", number, name, value) for number in range(6) for name, value in good.items()]
        assert judged(table, "locase").passed
        bad = [Row("", row.number, row.damage, 4.5 if row.damage == "unrelated" else row.value) for row in table]
        assert held(judged(bad, "locase")) == {"C": True, "B": False}

    def test_it_comes_back_from_json(self):
        found = judged(rows(*[scores(grey=0.95)] * 2))
        assert design.SceneVerdict.from_dict(found.to_dict()) == found


class TestArea:
    def test_by_hand(self):
        mask = np.zeros((16, 64), bool)
        mask[:, :16] = True  # one cell of four
        assert acceptance_test.area(np.array([[0.1, 0.5, 0.6, 0.7]]), mask) == 1.0
        assert acceptance_test.area(np.array([[0.6, 0.5, 0.6, 0.7]]), mask) == pytest.approx(0.5)  # above one, equal to one, below one
        assert acceptance_test.area(np.array([[0.9, 0.5, 0.6, 0.7]]), mask) == 0.0
        assert acceptance_test.area(np.array([[0.9, 0.5, 0.6, 0.7]]), np.ones((16, 64), bool)) is None

    def test_it_is_the_u_statistic_of_a_peer(self):
        rng = np.random.default_rng(0)
        mask = rng.random((160, 160)) < 0.1
        mask = np.kron(mask[::16, ::16], np.ones((16, 16))).astype(bool)
        values = np.round(rng.random((10, 10)), 1)
        inside = mask[::16, ::16]
        peer = stats.mannwhitneyu(values[~inside], values[inside]).statistic / (inside.sum() * (~inside).sum())
        assert acceptance_test.area(values, mask) == pytest.approx(peer)

    def test_a_map_by_pixels_is_read_by_cells(self):
        values = np.random.default_rng(1).random((10, 10))
        mask = np.kron(np.eye(10), np.ones((16, 16))).astype(bool)
        assert acceptance_test.area(np.kron(values, np.ones((16, 16))), mask) == pytest.approx(acceptance_test.area(values, mask))


class TestDesign:
    @pytest.mark.parametrize(
        ("key", "kind"),
        [
            ("puzzlesim", "cross"),
            ("puzzlesim_pieces", "cross"),
            ("lpips_alex", "full"),
            ("osim", "full"),
            ("psnr@bbox", "full"),
            ("fid", "set"),
            ("locase", "model"),
            ("wf_learned", "model"),
            ("psnr", ""),
            ("ssim@mask", ""),
            ("chamfer_l1", ""),
            ("hss", ""),
            ("saucd", ""),
        ],
    )
    def test_what_each_metric_is_tried_on(self, key, kind):
        spec = registry.get(key)
        assert design.kind_of(spec, {param.name: param.default for param in spec.params}) == kind

    def test_six_views_are_spread_evenly(self):
        assert (
            design.spread(36) == [2, 8, 14, 20, 26, 32] and design.spread(8) == [0, 2, 3, 4, 6, 7] and design.spread(5) == [0, 1, 2, 3, 4]
        )

    def test_a_cross_reference_metric_looks_at_one_item_of_its_scene_and_one_of_two_others(self):
        ids = ["a/1", "a/2", "b/1", "b/2", "c/1", "d/1"]
        assert design.scenes_of(PIECES, DICTIONARY, ids) == ["a", "b", "c", "d"]
        assert design.items_of(PIECES, DICTIONARY, "b", ids) == ["b/1", "a/1", "c/1"]


@pytest.fixture(scope="module")
def small() -> dict[str, View]:
    """One room of eight clean views, with too few pixels for anything but a test."""
    drawn = [render(one.image) for one in walk(room("demo:5"), 8, 160, 120, samples=1)]
    return {"room/0": View(drawn[0], 160, 120, clean=CleanViews.of(drawn))}


@pytest.fixture
def random_squeezenet(monkeypatch, tmp_path) -> None:
    random_weights.shelf(monkeypatch, tmp_path)
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))


def forget(monkeypatch) -> None:
    """Forget the scenes of earlier processes, as a new process has."""
    for owner, name in ((acceptance_test, "_scorers"), (metric, "_scenes"), (distance, "_fitted")):
        monkeypatch.setattr(owner, name, {})


def tried(spec, params, references, views: int) -> design.SceneVerdict:
    subjects = acceptance_test.subjects_of(spec, params, references, "room")[:views]
    counted: list[int] = []
    table = [row for subject in subjects for row in acceptance_test.scored(spec, params, references, subject, 1.0, counted.append)]
    assert len(table) == len(counted) == views * design.scores_per_subject(spec, params)
    return acceptance_test.verdict(spec, params, "room", table)


class TestOneRoom:
    def test_pieces_put_clean_first_and_empty_pictures_last(self, small):
        found = tried(PIECES, DICTIONARY, small, 3)
        assert held(found)["B"] and next(one for one in found.conditions if one.key == "A").right >= 97  # of 102
        means = dict(found.means)
        assert max(means[name] for name in ("grey", "black", "white", "meancolour")) < 0.1 * means[CLEAN]

    @pytest.mark.parametrize("key", ["puzzlesim_pieces", "piece_distance"])
    def test_what_was_fitted_for_one_subject_serves_the_next_whoever_scores_it(self, small, monkeypatch, key):
        spec, params, fits = registry.get(key), DICTIONARY if key == PIECES.key else registry.resolve_params(key, {}), []
        images = small["room/0"].clean.images[:2]
        references = small if key == "puzzlesim_pieces" else {f"room/{n}": View(one, 160, 120) for n, one in enumerate(images)}
        subjects = acceptance_test.subjects_of(spec, params, references, "room")[:2]
        fit = Features.fit.__func__
        monkeypatch.setattr(damages, "PICTURE_DAMAGES", PICTURE_DAMAGES[::12])  # each is scored ten times here
        monkeypatch.setattr(Features, "fit", classmethod(lambda cls, *given: fits.append(1) or fit(cls, *given)))
        forget(monkeypatch)
        anew = [acceptance_test.scored(spec, params, references, subject, 1.0, lambda n: None) for subject in subjects]
        forget(monkeypatch)
        fits.clear()
        known = acceptance_test.prepare(spec, params, references, subjects, 1.0)
        kept = prepared.pack(known)
        assert fits
        fits.clear()
        # the slice that fitted goes on with what it has in hand
        assert acceptance_test.scored(spec, params, references, subjects[0], 1.0, lambda n: None, known) == anew[0]
        for subject, rows_anew in zip(subjects, anew, strict=True):
            forget(monkeypatch)
            known = prepared.unpack(kept)
            assert acceptance_test.scored(spec, params, references, subject, 1.0, lambda n: None, known) == rows_anew
        assert not fits

    def test_the_slice_that_prepared_a_full_reference_scores_with_values(self, small, monkeypatch):
        monkeypatch.setattr(damages, "PICTURE_DAMAGES", PICTURE_DAMAGES[::6])  # each is scored twice here
        spec = registry.get("lite0_distance")
        params = registry.resolve_params(spec.key, {})
        subjects = acceptance_test.subjects_of(spec, params, small, "room")[:1]
        known = acceptance_test.prepare(spec, params, small, subjects, 1.0)
        with_known = acceptance_test.scored(spec, params, small, subjects[0], 1.0, lambda n: None, known)
        assert with_known == acceptance_test.scored(spec, params, small, subjects[0], 1.0, lambda n: None)
        assert max(row.value for row in with_known) > 0

    def test_the_mean_of_best_cosines_of_random_features_is_refused(self, small, random_squeezenet):
        spec = registry.get("puzzlesim")
        assert not tried(spec, registry.resolve_params("puzzlesim", {}), small, 2).passed

    def test_a_metric_with_a_reference_is_tried_on_it(self, small):
        spec = registry.get("lite0_distance")
        found = tried(spec, registry.resolve_params(spec.key, {}), small, 1)
        assert found.views == 1 and set(held(found)) == {"B", "B2", "C", "E"} and dict(found.means)[CLEAN] == 0.0

    def test_with_three_clean_views_there_is_nothing_to_try(self, small):
        few = {"room/0": View(None, 0, 0, clean=CleanViews.of(small["room/0"].clean.images[:3]))}
        assert acceptance_test.subjects_of(PIECES, DICTIONARY, few, "room") == []
        assert design.unfit(PIECES, DICTIONARY, "room").untried is design.Untried.CLEAN_VIEWS

    def test_a_scorer_keeps_the_view_out_of_what_it_is_held_against(self, small, random_squeezenet):
        clean = small["room/0"].clean
        scorer = MapScorer(clean, "squeezenet-imagenet")
        assert scorer.score(clean.images[0].pixels(), None)[0] > scorer.score(clean.images[0].pixels(), 0)[0]

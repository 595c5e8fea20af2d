"""The values in the boxes of objects, with objects put where the test wants them."""

import numpy as np
import pytest

from evaluation.metrics import registry
from evaluation.metrics.render import lpips, variants
from evaluation.metrics.render.detections import Detections, Letterbox
from evaluation.metrics.render.psnr import ratio
from evaluation.metrics.render.ssim import similarity
from evaluation.metrics.result import ItemPartial, Status
from evaluation.metrics.scoring import MetricRequest, finish, score_items
from submissions.formats.render.views import View, render
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.examples import noisy, pair
from tests.support.evaluation.metrics.render.pictures import blobs

lpips_alex_bbox = with_defaults("lpips_alex@bbox")
lpips_vgg_bbox = with_defaults("lpips_vgg@bbox")
psnr_bbox = with_defaults("psnr@bbox")
ssim_bbox = with_defaults("ssim@bbox")

LOOKING = {"detector": "yolox-x", "conf": 0.35, "nms": 0.65, "class_agnostic": False}
PICTURE = blobs(80, 100)
SPOILT = noisy(PICTURE, 15)
BOXES = [(10.2, 20.0, 40.5, 60.9), (50.0, 5.0, 58.0, 70.0)]  # the second is 8 px wide


@pytest.fixture
def found(monkeypatch):
    """Puts objects into every reference: boxes in the image's own pixels."""

    def put(boxes):
        def detections(pair, looking):
            letterbox = Letterbox.of(pair.ref.shape[1], pair.ref.shape[0])
            given = np.array(boxes, dtype=np.float64).reshape(-1, 4)
            return Detections(letterbox.boxes(given), np.ones(len(given)), ("thing",) * len(given), letterbox)

        monkeypatch.setattr(variants, "detections", detections)

    return put


def test_each_box_counts_by_itself_in_whole_pixels_around_it(found):
    found(BOXES)
    result = psnr_bbox(pair(SPOILT, PICTURE), **LOOKING)
    crops = [np.s_[20:61, 10:41], np.s_[5:70, 50:58]]
    assert result.partial["values"] == [ratio(SPOILT[crop], PICTURE[crop])[0] for crop in crops]
    assert result.parts == {"objects": 2.0, "mean_of_view": pytest.approx(np.mean(result.partial["values"]))}


def test_boxes_too_small_for_the_window_are_left_out(found):
    found(BOXES)
    result = ssim_bbox(pair(SPOILT, PICTURE), **LOOKING)
    assert result.partial["values"] == [pytest.approx(similarity(SPOILT[20:61, 10:41] / 255, PICTURE[20:61, 10:41] / 255).mean())]


def test_boxes_too_small_for_the_network_are_enlarged(found, monkeypatch):
    found(BOXES)
    seen = []
    monkeypatch.setattr(lpips, "distance", lambda one, other, *names: seen.append((one.shape, other.shape)) or np.float32(0.25))
    result = lpips_alex_bbox(pair(SPOILT, PICTURE), weights="v0.1", **LOOKING)
    assert result.partial["values"] == [0.25, 0.25]
    assert seen == [((64, 64, 3), (64, 64, 3)), ((65, 64, 3), (65, 64, 3))]


def test_a_missing_render_gives_every_object_the_worst(found):
    found(BOXES)
    for pred, status in ((None, Status.MISSING_PRED), (SPOILT[:-1], Status.SIZE_MISMATCH)):
        result = psnr_bbox(pair(pred, PICTURE), **LOOKING)
        assert (result.partial["values"], result.status) == ([0.0, 0.0], status)
        assert lpips_vgg_bbox(pair(pred, PICTURE), weights="v0.1", **LOOKING).partial["values"] == [1.0, 1.0]


def item(name, values, status=Status.OK):
    from evaluation.metrics.result import MetricResult

    return ItemPartial(name, "room", MetricResult(None, status, partial=None if values is None else {"values": values}))


def test_the_scenes_value_is_the_mean_over_its_objects_not_over_its_views():
    results = variants.mean_of_crops([item("a", [10.0, 20.0, 30.0]), item("b", [60.0]), item("c", []), item("d", None)], {})
    assert [result.value for result in results] == [30.0] * 4


def test_a_scene_without_objects_has_no_value():
    results = variants.mean_of_crops([item("a", []), item("b", None)], {})
    assert [(result.value, result.status) for result in results] == [(None, Status.NO_OBJECT)] * 2


def test_from_entry_to_score(found):
    found(BOXES[:1])
    views = {"room/1": PICTURE, "room/2": blobs(80, 100, 1), "hall/1": blobs(80, 100, 2)}
    references = {name: View(render(pixels), 100, 80) for name, pixels in views.items()}
    predictions = {name: render(noisy(pixels, 20)) for name, pixels in views.items()} | {"room/2": None}
    requests = [MetricRequest("p", "psnr@bbox", {})]
    names, groups = list(views), ["room", "room", "hall"]
    parts = [
        score_items(predictions, references, requests, item_ids=names[:2]),
        score_items(predictions, references, requests, item_ids=names[2:]),
    ]
    scores, summary = finish(requests, parts, names, groups)["p"]
    crop = np.s_[20:61, 10:41]
    one, other = (ratio(noisy(views[name], 20)[crop], views[name][crop])[0] for name in ("room/1", "hall/1"))
    assert scores.values == pytest.approx((one / 2, one / 2, other))
    assert summary.value == pytest.approx((one / 2 + other) / 2) and summary.n_missing == 1


@pytest.mark.parametrize("key", [key for key in registry.REGISTRY if key.endswith("@bbox")])
def test_every_variant_says_which_detector_it_needs(key):
    spec = registry.get(key)
    assert (spec.level, spec.networks[-1]) == ("group", ("yolox", "detector")) and spec.finish is variants.mean_of_crops
    assert registry.fingerprint(key, {"detector": "yolox-s"}) != registry.fingerprint(key, {})

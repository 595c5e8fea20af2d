"""OSIM: the worked examples, cells and cosines by hand, missing views, and whole scenes through a detector."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from evaluation.metrics.render import detections, osim
from evaluation.metrics.render.detections import letterboxed
from evaluation.metrics.render.osim import SeenObject
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.result import ItemPartial, MetricResult, Status
from evaluation.networks import load
from submissions.formats.render.views import CleanViews, Roi, View, render
from tests.pure.evaluation.networks.test_yolox import official_network, scramble
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render import pictures
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.networks.full_card import full_card

of_view = with_defaults("osim")

PARAMS = {"weights": "yolox-nano", "conf": 0.9}


def seen(label: str, r: float, s: float, box: tuple[float, float, float, float] = (0, 0, 10, 10)) -> SeenObject:
    return SeenObject(label, *box, 0.9, r, s)


WORKED = [seen("a", 0.9, 0.5), seen("a", 0.7, 0.3), seen("b", 0.5, 0.2)]


@pytest.fixture(scope="module")
def detector(tmp_path_factory):
    """yolox-nano with random weights where the published ones would lie."""
    network = official_network("yolox-nano")
    seen_before = [letterboxed(pictures.blobs(height, 200, seed)) for height, seed in ((140, 1), (300, 2), (140, 3))]
    scramble(network, torch.from_numpy(np.stack(seen_before)))
    with pytest.MonkeyPatch.context() as patch:
        random_weights.shelf(patch, tmp_path_factory.mktemp("weights"))
        random_weights.put(patch, "yolox-nano", {"model": network.state_dict()})
        yield
    load.forget()


def item(name: str, result: MetricResult) -> ItemPartial:
    return ItemPartial(name, name.partition("/")[0], result)


def worsened(image: np.ndarray, strength: float) -> np.ndarray:
    noise = np.random.default_rng(5).normal(0, strength, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)


# --- numbers by hand -----------------------------------------------------------------------


def test_the_worked_example():
    found = osim.scene(WORKED)
    assert found.value == pytest.approx(0.7, abs=1e-12)
    a, b = found.classes
    assert (a.label, a.count, b.label, b.count) == ("a", 2, "b", 1)
    assert (a.o, a.s, b.o, b.s) == pytest.approx((0.8, 0.4, 0.5, 0.2))
    assert (a.weight, b.weight) == pytest.approx((2 / 3, 1 / 3))
    assert osim.low_quality(WORKED, 0.7) == [WORKED[2]], "r = 0.7 is not below 0.7"


def test_without_saliency_classes_count_alike():
    assert osim.scene([seen("a", 0.9, 0), seen("a", 0.7, 0), seen("b", 0.5, 0)]).value == pytest.approx(0.65)
    assert osim.scene([seen("a", 1.0, 1e-13), seen("b", 0.0, 5e-13)]).value == pytest.approx(0.5)


def test_the_value_stays_within_its_bounds():
    assert osim.scene([seen("a", -0.4, 1.0)]).value == 0
    with pytest.raises(ValueError, match="without objects"):
        osim.scene([])


@pytest.mark.parametrize(
    ("box", "cells"),
    [
        ((100.5, 40, 260, 200), (3, 1, 8, 6)),
        ((64, 64, 96, 96), (2, 2, 3, 3)),
        ((0, 0, 639.9, 359.9), (0, 0, 19, 11)),
        ((600, 8, 640, 640), (18, 0, 19, 19)),
    ],
)
def test_cells_of_a_box(box, cells):
    assert tuple(osim.cells_of(np.array([box]), 32)[0]) == cells


def test_cells_of_a_smaller_square():
    assert osim.cells_of(np.array([[31.0, 64.0, 256.0, 250.0]]), 32, 256).tolist() == [[0, 2, 7, 7]]


def test_cosines_by_hand():
    a = np.array([[3, 0], [1, 1], [0, 0], [0, 0], [1, 0]], dtype=np.float32)
    b = np.array([[5, 0], [1, 0], [0, 0], [2, 0], [-1, 0]], dtype=np.float32)
    np.testing.assert_allclose(osim.cosines(a, b), [1, math.sqrt(0.5), 1, 0, -1])


def test_saliency_is_averaged_over_whole_pixels_both_ends_included():
    values = np.arange(12.0).reshape(3, 4)
    assert osim.mean_within(values, np.array([[1, 0, 2, 1], [0, 2, 0, 2]])).tolist() == [(1 + 2 + 5 + 6) / 4, 8]


def test_the_mask_is_red_over_the_box_and_laid_on_once():
    image = np.full((6, 8, 3), 100, dtype=np.uint8)
    found = osim.masked(image, [seen("a", 0, 0, (1.5, 0.0, 4.2, 3.0)), seen("a", 0, 0, (3.0, 2.0, 99.0, 4.0))])
    assert found[0, 1].tolist() == found[2, 4].tolist() == found[3, 7].tolist() == [162, 60, 60]  # 0.6 · 100 + 0.4 · 255
    assert (found[:, 0] == 100).all() and (found[4:] == 100).all() and (found[0, 5:] == 100).all()
    assert (image == 100).all(), "the picture itself is left alone"
    assert (osim.masked(image, []) == image).all()


def test_objects_survive_as_parts():
    objects = [seen("potted plant", 0.1, 0.25, (1.5, 2.5, 3.5, 4.5)), seen("a_b", 1.0, 0.0)]
    parts = osim.as_parts(objects)
    assert {key: value for key, value in parts.items() if not isinstance(value, float)} == {}
    others = {"object_02_x1": math.nan, "object_00_is_chair": math.nan, "uncapped": 0.3}  # vectors are over all items
    assert osim.objects_of({**parts, **others}) == tuple(objects)
    assert osim.objects_of(osim.as_parts([])) == ()


def test_many_objects_are_cut_and_said_to_be():
    rows = [["a", 0.0, 0.0, 1.0, 1.0, 0.5, 1.0, 0.1]] * 101
    (result,) = osim.finish([item("s/1", MetricResult(None, partial={"objects": rows}))], {})
    assert result.flags == ("objects_cut",) and result.parts["objects"] == 101 and len(osim.objects_of(result.parts)) == 100


def test_the_report_is_plain_json():
    found = json.loads(json.dumps(osim.report({"v1": WORKED[:2], "v2": WORKED[2:]})))
    assert found["osim"] == pytest.approx(0.7)
    assert [(row["view"], row["class"], row["low_quality"]) for row in found["objects"]] == [
        ("v1", "a", False),
        ("v1", "a", False),
        ("v2", "b", True),
    ]
    assert found["classes"][0]["weight"] == pytest.approx(2 / 3)


# --- views together ------------------------------------------------------------------------


def partial(*objects: SeenObject) -> MetricResult:
    rows = [[one.label, *one.box, one.confidence, one.r, one.s] for one in objects]
    return MetricResult(0.123, partial={"objects": rows})


def test_classes_are_averaged_over_the_whole_scene_and_each_view_gets_its_value():
    results = osim.finish([item("s/1", partial(WORKED[0])), item("s/2", partial(*WORKED[1:])), item("s/3", partial())], {})
    assert [result.value for result in results] == pytest.approx([0.7] * 3)
    assert [len(osim.objects_of(result.parts)) for result in results] == [1, 2, 0]
    assert osim.objects_of(results[1].parts)[1].weight == pytest.approx(1 / 3)
    assert results[0].parts["r"] == 0.9 and results[1].parts["r"] == pytest.approx(0.6)


def test_a_scene_without_objects_or_without_reference_views_has_no_value():
    nothing = osim.finish([item("s/1", partial()), item("s/2", partial())], {})
    assert [(result.value, result.status, result.parts) for result in nothing] == [(None, Status.NO_OBJECT, {"objects": 0.0})] * 2
    blind = osim.finish([item("s/1", MetricResult(None, Status.NOT_APPLICABLE))], {})
    assert (blind[0].value, blind[0].status) == (None, Status.NOT_APPLICABLE)


# --- through a detector --------------------------------------------------------------------


def test_a_render_that_is_the_reference_has_one_and_noise_costs(detector):
    image = pictures.blobs(140, 200, 1)
    view = View(render(image), 200, 140)
    values = []
    for strength in (0, 25, 90):
        result = of_view(RenderPair.of(render(worsened(image, strength)), view), **PARAMS)
        values.append(osim.finish([item("s/1", result)], PARAMS)[0].value)
    assert values[0] == pytest.approx(1, abs=1e-9)
    assert values[0] > values[1] > values[2] >= 0


def test_an_object_is_as_alike_as_its_cells(detector, monkeypatch):
    """The whole way once more, written plainly, from the detector's own features and boxes."""
    image = pictures.blobs(300, 200, 2)
    shown = worsened(image, 40)
    pair = RenderPair.of(render(shown), View(render(image), 200, 300))
    rows = of_view(pair, **PARAMS).partial["objects"]
    found = detections.detections(pair, detections.Looking("yolox-nano", conf=0.9, nms=0.65, class_agnostic=False))
    reference, _ = detections.looked_at("yolox-nano", image, "dark5", detect=True)
    own, _ = detections.looked_at("yolox-nano", shown, "dark5", detect=False)
    saliency = osim.gbvs.saliency(found.letterbox.scaled(image))
    assert len(rows) == len(found) > 3
    for row, box in zip(rows, found.boxes, strict=True):
        x1, y1, x2, y2 = (int(value // 32) for value in box)
        cosines = [
            float(np.dot(reference[:, y, x], own[:, y, x]) / np.linalg.norm(reference[:, y, x]) / np.linalg.norm(own[:, y, x]))
            for y in range(y1, y2 + 1)
            for x in range(x1, x2 + 1)
        ]
        assert row[6] == pytest.approx(np.mean(cosines), abs=1e-6)
        assert row[7] == pytest.approx(saliency[int(box[1]) : int(box[3]) + 1, int(box[0]) : int(box[2]) + 1].mean())
        np.testing.assert_allclose(row[1:5], box * 300 / 640, rtol=1e-12)


def test_a_missing_or_misshapen_view_is_alike_nowhere(detector):
    image = pictures.blobs(140, 200, 3)
    view = View(render(image), 200, 140)
    whole = of_view(RenderPair.of(render(image), view), **PARAMS)
    for prediction in (None, render(image[:, :100])):
        result = of_view(RenderPair.of(prediction, view), **PARAMS)
        assert [row[:6] + row[7:] for row in result.partial["objects"]] == [row[:6] + row[7:] for row in whole.partial["objects"]]
        assert [row for row in result.partial["objects"] if row[6] != 0] == []
        assert osim.finish([item("s/1", result)], PARAMS)[0].value == 0
        together = osim.finish([item("s/1", result), item("s/2", whole)], PARAMS)
        assert 0 < together[0].value == together[1].value < 1


def test_marked_regions_join_what_is_found(detector):
    image = pictures.blobs(140, 200, 4)
    marked = (Roi(20, 30, 90, 100, "teapot"), Roi(300, 300, 400, 400, "outside"))
    params = {"weights": "yolox-nano", "conf": 1.0}  # nothing is found
    pair = RenderPair.of(render(image), View(render(image), 200, 140, rois=marked))
    (row,) = of_view(pair, **params).partial["objects"]
    assert row[0] == "teapot" and row[5] == 1 and row[6] == pytest.approx(1)
    np.testing.assert_allclose(row[1:5], [20, 30, 90, 100])
    alone = of_view(RenderPair.of(render(image), View(render(image), 200, 140)), **params)
    assert (alone.value, alone.status, alone.partial) == (None, Status.NO_OBJECT, {"objects": []})


def test_views_without_a_reference_image_are_not_looked_at():
    view = View(None, clean=CleanViews((render(pictures.blobs(20, 30)),), "00" * 32))
    assert of_view(RenderPair.of(render(pictures.blobs(20, 30)), view), weights="yolox-nano").status == Status.NOT_APPLICABLE


def test_what_belongs_to_the_reference_is_computed_once(detector, monkeypatch):
    image = pictures.blobs(140, 200, 5)
    view, kept = View(render(image), 200, 140), {}
    first = of_view(RenderPair.of(render(worsened(image, 30)), view, prepared=kept), **PARAMS)
    looks = []
    look = detections.looked_at
    monkeypatch.setattr(osim, "looked_at", lambda *args, **named: looks.append(named["detect"]) or look(*args, **named))
    monkeypatch.setattr(detections, "looked_at", lambda *args, **named: pytest.fail("the reference was looked at again"))
    monkeypatch.setattr(osim.gbvs, "saliency", lambda *args: pytest.fail("the saliency was found again"))
    second = of_view(RenderPair.of(render(worsened(image, 30)), view, prepared=kept), **PARAMS)
    assert second == first and looks == [False]


@pytest.mark.parametrize("level", ["dark3", "p4"])
def test_other_levels_and_no_saliency(detector, level):
    image = pictures.blobs(140, 200, 6)
    result = of_view(
        RenderPair.of(render(image), View(render(image), 200, 140)), **PARAMS, feature=level, saliency="none", gabor_compat=True
    )
    assert [row for row in result.partial["objects"] if not (row[6] == pytest.approx(1) and row[7] == 0)] == []
    assert result.value == pytest.approx(1)


def test_a_picture_for_which_a_card_has_no_room_is_looked_at_without_it(detector, monkeypatch):
    picture = pictures.blobs(140, 200, 1)
    plain = detections.looked_at("yolox-nano", picture, "dark5", detect=True)
    with full_card(monkeypatch) as refused:
        found = detections.looked_at("yolox-nano", picture, "dark5", detect=True)
    assert refused == [1] and [(one, other) for one, other in zip(found, plain, strict=True) if not np.array_equal(one, other)] == []

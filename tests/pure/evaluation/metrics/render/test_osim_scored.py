"""OSIM as a column: slices joined into scenes, views missing, references prepared, all through `scoring`."""

from __future__ import annotations

import json

import pytest

from evaluation.metrics import prepared, scoring
from evaluation.metrics.render import osim
from evaluation.metrics.result import SampleScores
from evaluation.metrics.scoring import MetricRequest
from evaluation.networks.weights import refusal
from submissions.formats.render.views import Roi, View, render
from tests.pure.evaluation.metrics.render.test_osim import PARAMS, detector, worsened
from tests.support.evaluation.metrics.render import pictures

__all__ = ["detector"]  # the fixture

REQUEST = MetricRequest("osim", "osim", PARAMS)
IMAGES = {name: pictures.blobs(60, 80, seed) for seed, name in enumerate(("a/1", "a/2", "b/1", "b/2"))}
MARKED = (Roi(10, 10, 50, 40, "teapot"),)
REFERENCES = {name: View(render(image), 80, 60, rois=MARKED if name == "a/1" else ()) for name, image in IMAGES.items()}
ENTRY = {name: render(worsened(image, 40)) for name, image in IMAGES.items() if name != "a/2"}
GROUPS = [name[0] for name in IMAGES]


def through_json(scores: dict[str, SampleScores]) -> dict[str, SampleScores]:
    return {slug: SampleScores.from_dict(json.loads(json.dumps(one.to_dict()))) for slug, one in scores.items()}


@pytest.fixture(scope="module")
def finished(detector):
    scores = scoring.score_items(ENTRY, REFERENCES, [REQUEST])
    return scoring.finish([REQUEST], [scores], list(IMAGES), GROUPS)["osim"]


@pytest.fixture(scope="module")
def kept(detector):
    """Detections of the references, which are made before an entry comes."""
    return prepared.unpack(prepared.pack(prepared.prepare(REFERENCES, [REQUEST], 1.0, list(IMAGES))))


def test_each_view_gets_its_scenes_value_and_the_score_is_their_mean(finished):
    scores, summary = finished
    assert scores.values[0] == scores.values[1] and scores.values[2] == scores.values[3]
    assert 0 < scores.values[0] < scores.values[2] < 1, "a view of the first scene is missing"
    assert summary.value == pytest.approx((scores.values[0] + scores.values[2]) / 2) and summary.n == 2
    assert [str(status) for status in scores.statuses] == ["ok", "missing_pred", "ok", "ok"] and summary.n_missing == 1
    assert scores.partials == ()


def test_the_value_follows_from_the_objects_kept_as_parts(finished):
    scores, _ = finished
    seen = [osim.objects_of(parts) for parts in scores.parts]
    assert osim.scene([*seen[0], *seen[1]]).value == pytest.approx(scores.values[0])
    assert osim.scene([*seen[2], *seen[3]]).value == pytest.approx(scores.values[2])
    assert any(one.label == "teapot" and one.box == (10, 10, 50, 40) for one in seen[0])
    assert [one for one in seen[1] if one.r != 0] == []
    weights = {one.label: one.weight for objects in seen[:2] for one in objects}
    assert sum(weights.values()) == pytest.approx(1)


def test_slices_give_the_same_as_one_pass(finished, kept):
    one, other = (
        scoring.score_items(ENTRY, REFERENCES, [REQUEST], item_ids=ids, prepared=kept) for ids in (["b/1", "b/2"], ["a/1", "a/2"])
    )
    slices = [through_json(one), through_json(other)]
    scores, summary = scoring.finish([REQUEST], slices, list(IMAGES), GROUPS)["osim"]
    assert (scores, summary) == finished


def test_what_was_prepared_changes_nothing(finished, kept):
    assert {key: arrays for key, arrays in kept.items() if len(arrays) != 2} == {}, "the objects, and what OSIM needs of them"
    scores = scoring.score_items(ENTRY, REFERENCES, [REQUEST], prepared=kept)
    assert scoring.finish([REQUEST], [scores], list(IMAGES), GROUPS)["osim"] == finished


def test_a_scene_without_objects_is_left_out_of_the_mean(detector):
    request = MetricRequest("osim", "osim", {**PARAMS, "conf": 1.0})
    scores, summary = scoring.finish([request], [scoring.score_items(ENTRY, REFERENCES, [request])], list(IMAGES), GROUPS)["osim"]
    assert scores.values[2:] == (None, None) and scores.statuses[2:] == ("no_object", "no_object")
    assert summary.value == scores.values[0] and summary.n == 1 and summary.n_null == 2
    seen = osim.objects_of(scores.parts[0])
    assert [one.label for one in seen] == ["teapot"] and scores.values[0] == pytest.approx(seen[0].r)


def test_the_column_needs_weights_and_says_how_to_get_them(detector):
    spec = scoring.registry.get("osim")
    assert "yolox-x" in refusal(spec, scoring.registry.resolve_params("osim", {})) and spec.level == "group"

"""Whole acceptance tests: of pieces on a captured scene and on two procedural rooms, and that the mean of best cosines of random features
is refused there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluation.metrics import registry
from evaluation.properties.gate import acceptance_test, design
from evaluation.synthetic.rooms import room, walk
from submissions.formats.render.views import CleanViews, View, render
from tests.support.evaluation.networks import random_weights


def room_views(seed: str) -> CleanViews:
    return CleanViews.of(render(one.image) for one in walk(room(seed), 8, 320, 240))


def garden_views() -> CleanViews:
    folder = Path(os.environ.get("PLUMBLINE_DATA", "")) / "renders" / "garden" / "prior"
    if "PLUMBLINE_DATA" not in os.environ:
        pytest.skip("PLUMBLINE_DATA does not name the folder with the real test data")
    return CleanViews.of(render(np.array(Image.open(path).convert("RGB"))) for path in sorted(folder.glob("*.png")))


def tried(key: str, clean: CleanViews, most: int = design.MAX_VIEWS, **given: str) -> design.SceneVerdict:
    spec, params = registry.get(key), registry.resolve_params(key, given)
    views = {"scene/0": View(None, 0, 0, clean=clean)}
    subjects = acceptance_test.subjects_of(spec, params, views, "scene")[:most]
    rows = [row for subject in subjects for row in acceptance_test.scored(spec, params, views, subject, 1.0, lambda n: None)]
    return acceptance_test.verdict(spec, params, "scene", rows)


@pytest.mark.parametrize("seed", ["demo:5", "demo:2"])
def test_pieces_may_rank_in_a_room_that_was_walked_through(seed):
    found = tried("puzzlesim_pieces", room_views(seed))
    assert found.passed and found.views == 6, [condition for condition in found.conditions if not condition.held]


def test_pieces_may_rank_on_the_garden_as_the_definition_says():
    found = tried("puzzlesim_pieces", garden_views())
    shares = {condition.key: condition.right / condition.of for condition in found.conditions}
    assert found.passed and shares["A"] == shares["B"] == shares["C"] == 1.0 and shares["B2"] >= 0.89 and shares["D"] >= 0.9
    assert dict(found.means)["grey"] < 0.01 < 0.4 < found.band[0]


@pytest.mark.parametrize("views", [room_views, None], ids=["room", "garden"])
def test_the_mean_of_best_cosines_of_random_features_is_refused(views, monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    assert not tried("puzzlesim", views("demo:2") if views else garden_views(), 1).passed

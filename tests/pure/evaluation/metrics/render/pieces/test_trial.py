"""Scores without one of the clean views: what of it is left out, and that of PuzzleSim's map too."""

import numpy as np
import pytest

from evaluation.metrics import registry
from evaluation.metrics.render.pieces import metric
from tests.support.evaluation.metrics.render.pieces import rooms


@pytest.fixture(scope="module")
def pictures():
    return rooms.views(5)


@pytest.mark.parametrize(("key", "params"), [("puzzlesim_pieces", {}), ("puzzlesim", {"weights": "plumbline-small"})])
def test_a_picture_is_scored_with_and_without_its_own_view(pictures, key, params):
    scorer = registry.get(key).load_trial()(rooms.clean(pictures), registry.resolve_params(key, params))
    copied, left = scorer.score(pictures[1], None), scorer.score(pictures[1], 1)
    assert scorer.views == 5 and copied[0] > 0.99 > left[0] > 0
    assert left[0] == pytest.approx(float(np.mean(left[1], dtype=np.float64)), abs=1e-6)
    assert left[1].shape in (pictures[1].shape[:2], (8, 10)) and np.array_equal(scorer.score(pictures[1], 1)[1], left[1])
    assert scorer.score(pictures[1], 2)[0] == pytest.approx(copied[0], abs=1e-2)


def test_with_all_views_it_is_the_metric(pictures):
    from evaluation.metrics.render.pair import RenderPair
    from submissions.formats.render import View, render

    clean = rooms.clean(pictures[:4])
    scorer = registry.get("puzzlesim_pieces").load_trial()(clean, {"features": "dictionary"})
    pair = RenderPair.of(render(pictures[4]), View(None, rooms.WIDTH, rooms.HEIGHT, clean=clean))
    assert scorer.score(pictures[4], None)[0] == metric.puzzlesim_pieces(pair).value


def test_too_few_clean_views_are_refused(pictures):
    for key, count in (("puzzlesim_pieces", 2), ("puzzlesim", 1)):
        with pytest.raises(ValueError, match="held against"):
            registry.get(key).load_trial()(rooms.clean(pictures[:count]), registry.resolve_params(key, {}))

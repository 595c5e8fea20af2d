"""The distance of a render from its reference, and that the whole scene is learnt from however it is cut."""

import numpy as np
import pytest

from evaluation.metrics import prepared, scoring
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.render.pieces import distance
from evaluation.metrics.render.pieces.features import Features, Views
from evaluation.metrics.result import Status
from evaluation.metrics.scoring import MetricRequest
from evaluation.synthetic.pictures import blurred, noisy
from submissions.formats.render import render_files
from submissions.formats.render.views import View, render, with_scenes
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.pieces import rooms

piece_distance = with_defaults("piece_distance")

REQUEST = MetricRequest("distance", "piece_distance", {})


@pytest.fixture(scope="module")
def pictures():
    return rooms.views(4)


@pytest.fixture(scope="module")
def references(pictures):
    return with_scenes({f"wall/{n}": View(render(picture), rooms.WIDTH, rooms.HEIGHT) for n, picture in enumerate(pictures)})


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(distance, "_fitted", {})


def score(pixels, reference):
    return piece_distance(RenderPair.of(None if pixels is None else render(pixels), reference))


def test_alike_is_nothing_and_more_damage_is_farther(pictures, references):
    reference, noise = references["wall/1"], np.random.default_rng(0).normal(size=pictures[1].shape)
    assert score(pictures[1], reference).value == 0
    for steps in ([noisy(pictures[1], noise, level) for level in (2, 8, 32)], [blurred(pictures[1], sigma) for sigma in (0.5, 2, 8)]):
        values = [score(one, reference).value for one in steps]
        assert 0 < values[0] < values[1] < values[2]
    found = score(rooms.empty(pictures[1])["grey"], reference)
    assert found.value > values[1] and found.parts["beyond_step"] > 0.9


def test_is_the_length_of_what_differs_in_units_of_a_step(pictures, references):
    features, _ = Features.fit(Views(references["wall/0"].scene), "dictionary")
    apart = np.linalg.norm(features(pictures[2]).astype(float) - features(pictures[3]), axis=1) / features.whitening.step
    assert score(pictures[3], references["wall/2"]).value == pytest.approx(apart.mean())


def test_what_has_no_value_and_what_the_worst(pictures, references):
    assert score(pictures[0], View(None, rooms.WIDTH, rooms.HEIGHT)).value is None
    small = render(pictures[0][:95])
    assert score(pictures[0][:95], View(small, rooms.WIDTH, 95)).flags == ("too_small",)
    flat = rooms.empty(pictures[0])["grey"]
    assert score(pictures[0], View(render(flat), rooms.WIDTH, rooms.HEIGHT)).flags == ("flat_references",)
    assert score(None, references["wall/0"]).status == Status.MISSING_PRED
    assert score(pictures[0][:-1], references["wall/0"]).status == Status.SIZE_MISMATCH
    entry = {"wall/0": render(np.zeros_like(pictures[0]))}
    values = scoring.score_items(entry, dict(list(references.items())[:2]), [REQUEST])["distance"].values
    assert 0 < values[0] <= 10 and values[1] == 10


def test_how_slices_are_cut_changes_nothing(pictures, references, tmp_path):
    render_files.save(references, tmp_path / "stored")
    entry = {name: render(rooms.spoilt(picture)) for name, picture in zip(references, pictures, strict=True)}
    whole = scoring.score_items(entry, references, [REQUEST])["distance"].values
    assert len(set(whole)) == 4
    for only in (["wall/0", "wall/2"], ["wall/3"], list(references)):
        distance._fitted.clear()
        loaded = render_files.load(tmp_path / "stored", only)
        assert scoring.score_items(entry, loaded, [REQUEST])["distance"].values == tuple(whole[int(name[-1])] for name in only)
    alone = scoring.score_items(entry, {"wall/3": View(references["wall/3"].image, rooms.WIDTH, rooms.HEIGHT)}, [REQUEST])
    assert alone["distance"].values[0] != whole[3], "what is learnt from one image is another"


def test_a_scene_is_fitted_once_and_kept_between_entries(pictures, references, monkeypatch):
    fits, fit = [], Features.fit
    monkeypatch.setattr(Features, "fit", lambda *given: fits.append(1) or fit(*given))
    made = prepared.prepare(references, [REQUEST], 1.0, list(references))
    written = prepared.pack(made)
    assert len(fits) == 1 and len(written) < 1.1 * sum(array.nbytes for arrays in made["wall/0"].values() for array in arrays)
    first = score(pictures[1], references["wall/2"])
    distance._fitted.clear()
    entry = {"wall/2": render(pictures[1])}
    again = scoring.score_items(entry, {"wall/2": references["wall/2"]}, [REQUEST], prepared=prepared.unpack(written))
    assert again["distance"].values == (first.value,) and len(fits) == 1


def test_images_of_other_sizes_are_learnt_from_at_their_own(pictures):
    sizes = (pictures[0], pictures[1][:100, :120], pictures[2][:40])
    views = with_scenes({f"wall/{n}": View(render(one), one.shape[1], one.shape[0]) for n, one in enumerate(sizes)})
    values = [score(rooms.spoilt(one), view).value for one, view in zip(sizes, views.values(), strict=True)]
    assert values[0] > 0 and values[1] > 0 and values[2] is None

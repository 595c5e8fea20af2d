"""Looks of meshes: alike, turned inside out, damaged, of another size; and the places that count."""

import numpy as np
import pytest

from evaluation.metrics import registry
from evaluation.metrics.mesh import looks as module
from evaluation.metrics.mesh.looks import VIEWS
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.result import Status
from evaluation.synthetic.distortions import distort
from evaluation.synthetic.meshes import mesh
from submissions.formats.arrays import Mesh
from tests.support.evaluation.metrics.defaults import with_defaults

mesh_looks = with_defaults("mesh_looks")


@pytest.fixture(scope="module")
def mug():
    return distort(mesh("mug", 2026), "decimation", 2)


@pytest.fixture(autouse=True)
def few_views(monkeypatch):
    """Two of the twelve views, one of each height."""
    monkeypatch.setattr(module, "VIEWS", VIEWS[::6])


def score(model, reference, **given):
    return mesh_looks(MeshPair.of(model, reference), **given)


def test_the_twelve_views():
    above, below = [(30 + 60 * n, 35) for n in range(6)], [(60 * n, -20) for n in range(6)]
    assert [(view.azimuth, view.elevation) for view in VIEWS] == above + below


def test_alike_is_nothing_even_inside_out_and_more_damage_is_farther(mug):
    assert score(mug, mug).value == 0 and score(Mesh(mug.vertices, mug.faces[:, ::-1]), mug).value == pytest.approx(0, abs=1e-5)
    for kind in ("noise", "holes"):
        values = [score(distort(mug, kind, level), mug).value for level in (1, 3, 4)]
        assert 0 < values[0] < values[1] < values[2] < score(mesh("plane", 1), mug).value < 2


def test_size_and_place_count_and_the_frame_is_the_references(mug):
    moved = Mesh(mug.vertices + 0.2, mug.faces)
    smaller = Mesh(mug.vertices * 0.8, mug.faces)
    assert min(score(moved, mug).value, score(smaller, mug).value) > 0.05
    both = [Mesh(5 + 30 * one.vertices, one.faces) for one in (smaller, mug)]
    assert score(*both).value == pytest.approx(score(smaller, mug).value, rel=0.02)  # pixels at edges fall anew


def test_the_axis_that_points_up_is_turned_with_the_mesh(mug):
    """A mesh with y up, drawn so, is the mesh with z up."""
    coarse = distort(mug, "decimation", 3)
    turned = [Mesh(one.vertices[:, [0, 2, 1]] * [1, 1, -1], one.faces) for one in (coarse, mug)]
    assert score(*turned, up="y").value == pytest.approx(score(coarse, mug).value, rel=1e-3)


def test_places_count_where_either_mesh_is_seen(mug):
    pair = MeshPair.of(distort(mug, "noise", 3), mug)
    ours, theirs = (
        module.looks(pair, one, "z", "imagenet") for one in ((pair.ref_vertices, pair.ref_faces), (pair.pred_vertices, pair.pred_faces))
    )
    assert [part.shape for part in ours] == [(2, 40, 28, 28), (2, 28, 28), (2, 112, 14, 14), (2, 14, 14)]
    assert 0.1 < ours[1].mean() < 0.9 and not ours[1][:, 0, 0].any()
    means = []
    for place in (0, 2):
        shown = ours[place + 1] | theirs[place + 1]
        cosines = (ours[place] * theirs[place]).sum(axis=1)
        means.append(np.mean([1 - cosines[view, row, column] for view, row, column in np.argwhere(shown)]))
    found = mesh_looks(pair)
    assert found.value == pytest.approx(np.mean(means), rel=1e-4)
    assert [found.parts["stride_8"], found.parts["stride_16"]] == pytest.approx(means, rel=1e-4)


def test_nothing_is_the_worst_and_the_reference_is_drawn_once(mug, monkeypatch):
    assert score(None, mug).value == 2.0 and score(None, mug).status == Status.EMPTY_PRED
    kept: dict = {}
    first = mesh_looks(MeshPair.of(distort(mug, "holes", 2), mug, prepared=kept))
    drawn = []
    looks = module.looks
    monkeypatch.setattr(module, "looks", lambda *given: drawn.append(1) or looks(*given))
    assert mesh_looks(MeshPair.of(distort(mug, "holes", 2), mug, prepared=kept)) == first and len(drawn) == 1


def test_it_is_tried_before_it_ranks():
    from evaluation.properties.gate import design

    spec = registry.get("mesh_looks")
    assert design.kind_of(spec, registry.resolve_params("mesh_looks", {})) == design.MODEL

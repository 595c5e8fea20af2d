"""The procedures on meshes: each damage only grows, and the suite measures mesh metrics by them."""

from itertools import pairwise

import numpy as np
import pytest

from evaluation.properties import measure, suite
from evaluation.properties.mesh_trials import GROWING_HOLES, GROWING_NOISE, GROWING_PASSES, all_trials, prepared, size
from evaluation.properties.suite import Dataset
from evaluation.synthetic.distortions import diagonal, face_areas, soup
from evaluation.synthetic.meshes import meshes
from submissions.formats.arrays import Mesh

MESHES = prepared(meshes(3))
X = MESHES["mesh_01"]
TRIALS = all_trials("mesh_01", MESHES)


def found(test):
    (trial,) = [trial for trial in TRIALS if test in trial.tests]
    return trial


def damaged(test):
    pairs = found(test).pairs
    assert pairs[0] == (X, X) and [reference for _, reference in pairs if reference is not X] == []
    return [prediction for prediction, _ in pairs[1:]]


def test_the_trials_answer_the_mesh_tests_in_their_order():
    assert [test for trial in TRIALS for test in trial.tests] == [test.id for test in suite.tests_of("mesh")]


def test_meshes_are_welded_and_put_in_the_middle():
    far = Mesh(soup(X).vertices + np.array([538_000, 6_584_000, 40]), soup(X).faces)
    ready = prepared({"a": far})["a"]
    assert len(ready.faces) == len(X.faces) and len(ready.vertices) <= len(X.vertices)
    assert ready.vertices.min(axis=0) == pytest.approx(-ready.vertices.max(axis=0), abs=1e-9)
    assert size(ready) == pytest.approx(diagonal(X))


def test_noise_is_one_field_that_grows():
    steps = [mesh.vertices - X.vertices for mesh in damaged("mono_noise")]
    for sigma, offset in zip(GROWING_NOISE, steps, strict=True):
        assert offset == pytest.approx(steps[0] * (sigma / GROWING_NOISE[0]), abs=1e-12)
        assert offset.std() == pytest.approx(sigma * size(X), rel=0.1)


def test_holes_widen_and_never_close():
    left = [{frozenset(map(tuple, face)) for face in mesh.vertices[mesh.faces].tolist()} for mesh in [X, *damaged("mono_holes")]]
    for before, after in pairwise(left):
        assert after < before
    shares = [1 - face_areas(mesh).sum() / face_areas(X).sum() for mesh in damaged("mono_holes")]
    assert shares == pytest.approx(GROWING_HOLES, abs=0.02)


def test_smoothing_takes_more_passes_each_time():
    shrunk = [diagonal(mesh) for mesh in [X, *damaged("mono_smoothing")]]
    assert shrunk == sorted(shrunk, reverse=True) and len(shrunk) == len(GROWING_PASSES) + 1


def test_symmetry_and_triangles_use_noise_of_half_a_percent():
    noisy, shifted = found("symmetry_0mean").pairs[0][0], found("symmetry_shift").pairs[0][0]
    offset = noisy.vertices - X.vertices
    assert offset.mean(axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    assert 0.4 * 0.005 * size(X) < offset.std() < 0.8 * 0.005 * size(X)
    shift = shifted.vertices - noisy.vertices
    assert np.linalg.norm(shift[0]) == pytest.approx(0.1 * size(X)) and np.ptp(shift, axis=0) == pytest.approx([0, 0, 0], abs=1e-12)
    (twice, x), (twice_again, once), (once_again, x_again) = found("triangle_add_noise").pairs
    assert x is x_again is X and twice is twice_again and once is once_again
    assert (once.vertices - x.vertices).std() == pytest.approx((twice.vertices - once.vertices).std(), rel=0.1)
    (start, end), (_, over), _ = found("triangle_rand_other").pairs
    assert start is X and {id(end), id(over)} == {id(MESHES["mesh_02"]), id(MESHES["mesh_03"])}


def test_a_mesh_metric_is_measured_on_them():
    few = {name: MESHES[name] for name in ("mesh_01", "mesh_02")}
    table = measure.run("chamfer_l1", {"n": 500}, few, Dataset("two", "two meshes", 2, True))
    assert list(table.tests) == [test.id for test in suite.tests_of("mesh")]
    rates = {name: rate.rate for name, rate in table.tests.items()}
    assert rates["identity"] == rates["near_identity"] == rates["mono_noise"] == 1.0
    assert rates["triangle_rand_other"] is None and table.tests["triangle_rand_other"].skipped == 2
    assert (table.of, table.ms_per_sample > 0) == (10, True)


def test_damage_does_not_depend_on_the_metric_that_looks():
    again = all_trials("mesh_01", MESHES)
    for trial, other in zip(TRIALS, again, strict=True):
        for (a, b), (c, d) in zip(trial.pairs, other.pairs, strict=True):
            assert np.array_equal(a.vertices, c.vertices) and np.array_equal(b.faces, d.faces)
    assert measure.outcomes_of([("p2s", {"n": 300}, None)], "mesh_03", MESHES)[0]["identity"].official

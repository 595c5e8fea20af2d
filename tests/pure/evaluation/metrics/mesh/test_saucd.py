import json
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from evaluation.metrics.mesh import saucd as module
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.mesh.saucd import bins, laplacian, spectrum
from evaluation.metrics.mesh.surface import surface
from evaluation.networks import weights as stored
from evaluation.synthetic import meshes
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import (
    FAR,
    NO_SURFACE,
    OCTAHEDRON,
    TETRAHEDRON,
    Mesh,
    mesh,
    moved,
    noisy,
    pair,
    random_soup,
    rounded,
    scaled,
    shuffled,
    sphere,
    turned,
    value,
)
from tests.support.examples import examples

saucd = with_defaults("saucd")
saucd_w = with_defaults("saucd_w")

STRETCHED = scaled(OCTAHEDRON, (1, 1, 1.25))


def by_plain_loops(shape: Mesh) -> tuple[list[float], list[float]]:
    """Eigenvalues and spectrum, each formula written out for one corner at a time."""
    vertices, n = shape.vertices, len(shape.vertices)
    weight, area = np.zeros((n, n)), np.zeros(n)
    for face in shape.faces:
        a, b, c = (math.dist(vertices[face[(k + 1) % 3]], vertices[face[(k + 2) % 3]]) for k in range(3))
        cosines = [(b * b + c * c - a * a) / (2 * b * c), (c * c + a * a - b * b) / (2 * c * a), (a * a + b * b - c * c) / (2 * a * b)]
        half = (a + b + c) / 2
        size = math.sqrt(half * (half - a) * (half - b) * (half - c))
        radius = a * b * c / (4 * size)
        twice = [math.sin(2 * math.acos(cosine)) for cosine in cosines]
        for k in range(3):
            i, j = face[(k + 1) % 3], face[(k + 2) % 3]
            cotangent = min(max(abs(cosines[k] / (math.sqrt(1 - cosines[k] ** 2) + 1e-10)), 0), 1000)
            weight[i, j] += cotangent
            weight[j, i] += cotangent
            if min(twice) < 0:
                area[face[k]] += size / 2 if twice[k] < 0 else size / 4
            else:
                area[face[k]] += (size - twice[k] * radius**2 / 2) / 2
    matrix = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                matrix[i, j] = weight[i, j] / (2 * math.sqrt(area[i] * area[j] + 1e-10))
        matrix[i, i] = -matrix[i].sum()
    eigenvalues, vectors = np.linalg.eigh(matrix)
    centred = vertices - vertices.mean(axis=0)
    weights = [math.sqrt(sum(sum(vectors[v, i] * centred[v, axis] for v in range(n)) ** 2 for axis in range(3))) for i in range(n)]
    return eigenvalues.tolist(), weights


def difference_by_plain_loops(first: Mesh, second: Mesh) -> float:
    curves = []
    for shape in (first, second):
        eigenvalues, weights = by_plain_loops(shape)
        start = math.floor(0.001 * len(eigenvalues))
        eigenvalues, weights = eigenvalues[start:], weights[start:]
        area = sum((weights[i] + weights[i + 1]) / 2 * (eigenvalues[i + 1] - eigenvalues[i]) for i in range(len(weights) - 1))
        curves.append(([value / area**2 for value in eigenvalues], [value * area for value in weights]))

    def at(curve, x):
        xs, ys = curve
        if not xs[0] <= x <= xs[-1]:
            return 0.0
        k = max(i for i in range(len(xs)) if xs[i] <= x)
        return ys[k] if k == len(xs) - 1 else ys[k] + (x - xs[k]) / (xs[k + 1] - xs[k]) * (ys[k + 1] - ys[k])

    grid = sorted(curves[0][0] + curves[1][0])
    gaps = [at(curves[0], x) - at(curves[1], x) for x in grid]
    total = 0.0
    for k in range(len(grid) - 1):
        d1, d2, step = gaps[k], gaps[k + 1], grid[k + 1] - grid[k]
        total += (d1 * d1 + d2 * d2) * step / (2 * abs(d2 - d1) + 1e-10) if d1 * d2 < 0 else (abs(d1) + abs(d2)) / 2 * step
    return min(max(total, 0.0), 2.0)


def test_worked_spectrum_of_the_octahedron():
    eigenvalues, weights = spectrum(OCTAHEDRON.vertices, OCTAHEDRON.faces)
    assert eigenvalues == pytest.approx([-3.04208, -2.65290, -1.976788, -1.710197, -1.61138, 0], abs=1e-5)
    assert weights == pytest.approx([0.213246, 0.221264, 1.337244, 1.563021, 1.578284, 0], abs=1e-6)


def test_the_spectrum_is_that_of_eigh_and_holds_few_matrices_at_once():
    """Eigenvectors of a mesh at the limit (12,000 vertices) must fit in what one job may use; each matrix is 1.2 GB there."""
    made = meshes.mesh("rock", 1)
    found = surface(made.vertices, made.faces, 0.0)
    eigenvalues, vectors = np.linalg.eigh(laplacian(found.points, found.faces))
    weights = np.linalg.norm(vectors.T @ (found.points - found.points.mean(axis=0)), axis=1)
    tracemalloc.start()
    got = spectrum(found.points, found.faces)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * 8 * len(found.points) ** 2
    np.testing.assert_allclose(got[0], eigenvalues, rtol=0, atol=1e-12 * abs(eigenvalues).max())
    np.testing.assert_allclose(got[1], weights, rtol=0, atol=1e-10)


def test_where_eigenvalues_coincide_each_has_the_root_mean_square():
    """A regular tetrahedron has one eigenvalue three times; its coordinates, 12 in squares, lie in that space alone."""
    eigenvalues, weights = spectrum(TETRAHEDRON.vertices, TETRAHEDRON.faces)
    assert eigenvalues == pytest.approx([-2 / 3] * 3 + [0], abs=1e-9) and weights == pytest.approx([2, 2, 2, 0], abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_symmetric_mesh_has_one_spectrum_whatever_basis_rounding_chooses(seed):
    rng = np.random.default_rng(seed)
    plain = sphere(8)
    shaken = plain.vertices * (1 + 1e-14 * rng.standard_normal(plain.vertices.shape))
    (_, one), (_, other) = spectrum(plain.vertices, plain.faces), spectrum(shaken, plain.faces)
    assert np.abs(one - other).max() < 1e-6 * one.max()


def test_worked_laplacian_of_the_regular_tetrahedron():
    matrix = laplacian(TETRAHEDRON.vertices, TETRAHEDRON.faces)
    assert matrix == pytest.approx(np.full((4, 4), 1 / 6) - np.eye(4) * 2 / 3, abs=1e-9)
    assert np.linalg.eigvalsh(matrix) == pytest.approx([-2 / 3, -2 / 3, -2 / 3, 0], abs=1e-9)


def test_worked_difference_of_the_stretched_octahedron():
    assert value(saucd, STRETCHED, OCTAHEDRON) == pytest.approx(0.4972958240, abs=1e-10)
    assert value(saucd, scaled(OCTAHEDRON, 3), OCTAHEDRON) == pytest.approx(0, abs=1e-10)
    assert value(saucd, turned(OCTAHEDRON, 0), OCTAHEDRON) == pytest.approx(0, abs=1e-12)


@examples(8)
@given(st.integers(0, 100_000), st.sampled_from([0.05, 0.3]))
def test_values_are_those_of_plain_loops(seed, sigma):
    reference = noisy(sphere(4, radius=2.0), 0.1, seed)
    prediction = noisy(reference, sigma, seed + 1)
    expected = difference_by_plain_loops(prediction, reference)
    assert value(saucd, prediction, reference) == pytest.approx(expected, abs=1e-8)


@examples(8)
@given(st.integers(0, 100_000), st.sampled_from([1e-3, 0.5, 7.0, 1e3]))
def test_place_rotation_scale_and_order_do_not_count(seed, scale):
    shape = noisy(sphere(5), 0.1, seed)
    again = moved(scaled(turned(shuffled(shape, seed), seed), scale), (3, -2, 1))
    other = noisy(shape, 0.2, seed + 1)
    assert value(saucd, scaled(shape, scale), shape) == pytest.approx(0, abs=1e-9)
    assert value(saucd, scaled(again, 1 / scale), shape) == pytest.approx(0, abs=1e-9)
    both = (value(saucd, moved(scaled(thing, scale), (3, -2, 1)), scaled(shape, scale)) for thing in (other, shuffled(other, 1)))
    assert list(both) == pytest.approx([value(saucd, other, shape)] * 2, abs=1e-9)


def test_equal_meshes_are_exactly_zero_whatever_the_order_of_the_file_and_wherever_they_are():
    for shape in (OCTAHEDRON, moved(noisy(sphere(6), 0.05, 0), FAR), random_soup(1)):
        assert value(saucd, shuffled(shape, 2), shape) == 0.0


def test_a_shift_of_millions_changes_nothing_above_a_millionth():
    reference = rounded(noisy(sphere(6), 0.05, 0))
    prediction = rounded(noisy(reference, 0.05, 1))
    here = value(saucd, prediction, reference)
    assert value(saucd, moved(prediction, FAR), moved(reference, FAR)) == pytest.approx(here, rel=1e-6)


def test_doubled_faces_and_split_vertices_do_not_count():
    doubled = mesh(OCTAHEDRON.vertices, [*OCTAHEDRON.faces, *OCTAHEDRON.faces[:3, ::-1]])
    split = mesh(OCTAHEDRON.vertices[OCTAHEDRON.faces].reshape(-1, 3), np.arange(24).reshape(-1, 3))
    stray = mesh([*OCTAHEDRON.vertices, (7, 7, 7)], OCTAHEDRON.faces)
    for shape in (doubled, split, stray):
        assert value(saucd, shape, OCTAHEDRON) == 0.0


@pytest.mark.parametrize("prediction", NO_SURFACE)
def test_without_faces(prediction):
    result = saucd(pair(prediction, OCTAHEDRON))
    assert (result.value, str(result.status)) == (2.0, "empty_pred")


def test_a_large_mesh_is_decimated_and_flagged():
    reference = noisy(sphere(8), 0.02, 0)
    assert not saucd(pair(reference, reference), max_vertices=200).flags
    result = saucd(pair(noisy(sphere(12), 0.02, 0), reference), max_vertices=200)
    assert result.flags == ("decimated",)
    assert 100 < result.parts["n_pred"] <= 200 * 10 / 12 and result.parts["n_gt"] == len(reference.vertices)
    assert saucd(pair(reference, sphere(12)), max_vertices=200).flags == ("gt_decimated",)
    large = noisy(sphere(12), 0.02, 1)
    assert value(saucd, shuffled(large, 0), large, max_vertices=200) == 0.0


def test_the_references_spectrum_is_kept_between_predictions(monkeypatch):
    kept, reference, calls = {}, noisy(sphere(5), 0.05, 0), []
    solve = module.spectrum
    monkeypatch.setattr(module, "spectrum", lambda *given: calls.append(1) or solve(*given))
    first = saucd(MeshPair.of(noisy(reference, 0.1, 1), reference, prepared=kept))
    stored_arrays = {key: tuple(array.copy() for array in arrays) for key, arrays in kept.items()}
    assert saucd(MeshPair.of(noisy(reference, 0.1, 1), reference, prepared=stored_arrays)) == first
    assert len(calls) == 3


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """Puts a file of weights, with its card, where saucd_w looks for it."""
    monkeypatch.setitem(stored._FOLDERS, "saucd_w", tmp_path)

    def put(values) -> None:
        data = values if isinstance(values, bytes) else save({"weights": np.asarray(values, dtype=np.float64)})
        (tmp_path / "shape_grading.safetensors").write_bytes(data)
        card = {"sha256": module.stored.hashlib.sha256(data).hexdigest()}
        (tmp_path / "shape_grading.json").write_text(json.dumps(card))

    return put


def test_without_weights_nothing_is_computed(weights):
    with pytest.raises(stored.WeightsError, match="There are no weights 'shape_grading' of saucd_w"):
        saucd_w(pair(STRETCHED, OCTAHEDRON))
    with pytest.raises(stored.WeightsError, match="There are no weights 'shape_grading' of saucd_w"):
        stored.get("saucd_w", "shape_grading")


def test_worked_examples_with_constant_weights(weights):
    weights(np.full(20, 0.5))
    assert value(saucd_w, STRETCHED, OCTAHEDRON) == pytest.approx(0.2486479120, abs=1e-10)
    weights(-np.ones(20))
    assert value(saucd_w, STRETCHED, OCTAHEDRON) == value(saucd, STRETCHED, OCTAHEDRON)


def test_each_weight_counts_in_its_own_band(weights):
    total = 0.0
    reference = noisy(sphere(6), 0.1, 0)
    for band in range(20):
        weights(np.eye(20)[band])
        total += value(saucd_w, noisy(reference, 0.1, 1), reference)
    assert total == pytest.approx(value(saucd, noisy(reference, 0.1, 1), reference), abs=1e-12)


def test_bands_by_hand():
    step = 0.05 / 19
    eigenvalues = np.array([-1.0, -0.05, -0.05 + 0.5 * step, -0.05 + 1.5 * step, -2.5 * step, -0.5 * step, 0.0, 1e-15])
    assert bins(eigenvalues).tolist() == [0, 0, 0, 1, 16, 18, 18, 18]


@pytest.mark.parametrize(
    "content", [b"nothing", save({"other": np.ones(20)}), save({"weights": np.ones(19)}), save({"weights": np.full(20, np.nan)})]
)
def test_a_wrong_file_of_weights_is_one_sentence(weights, content):
    weights(content)
    with pytest.raises(stored.WeightsError, match="weights of saucd_w"):
        saucd_w(pair(STRETCHED, OCTAHEDRON))

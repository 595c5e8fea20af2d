import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from evaluation.metrics.result import Status
from evaluation.metrics.wireframe.canon import Graph, canon
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.spectral import spectrum, wasserstein
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.official import optimal_transport
from tests.support.evaluation.shapes import EMPTY, SPLIT, SQ, moved, noisy, random_wireframe, segment, shuffled, turned, value, wireframe
from tests.support.examples import examples

spectral_l1 = with_defaults("spectral_l1")
spectral_l2 = with_defaults("spectral_l2")

EDGE_3 = segment((0, 0, 0), (3, 0, 0))
PATH = wireframe([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1), (1, 2)])
TRIANGLE = wireframe([(0, 0, 0), (1, 0, 0), (0.5, np.sqrt(3) / 2, 0)], [(0, 1), (1, 2), (2, 0)])
DIAGONAL = wireframe(SQ.vertices, [*SQ.edges, (0, 2)])
BOTH = (spectral_l1, spectral_l2)


def eigenvalues(frame, unit_scale=1.0):
    return spectrum(Graph(*canon(frame.vertices, frame.edges)), unit_scale)


def both(prediction, reference, **params):
    return [value(metric, prediction, reference, **params) for metric in BOTH]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (EDGE_3, (0, 6)),
        (PATH, (0, 1, 3)),
        (TRIANGLE, (0, 3, 3)),
        (SQ, (0, 6, 8, 14)),
        (DIAGONAL, (0, 6.900980, 14, 17.099020)),
        (EMPTY, (0,)),
        (wireframe([(0, 0, 0)]), (0,)),
        (wireframe([*EDGE_3.vertices, (9, 9, 9)], EDGE_3.edges), (0, 0, 6)),
        (wireframe([(0, 0, 0), (0, 0, 0)], [(0, 1)]), (0, 0)),
    ],
)
def test_worked_spectra(frame, expected):
    assert eigenvalues(frame) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        (PATH, TRIANGLE, (0.6666667, 1.1547005)),
        (EDGE_3, PATH, (2.0, 2.7080128)),
        (DIAGONAL, SQ, (2.5, 3.4064530)),
        (SPLIT, SQ, (1.8898979, 2.4539003)),
        (EMPTY, SQ, (7.0, 8.6023253)),
        (SQ, SQ, (0.0, 0.0)),
        (EMPTY, EMPTY, (0.0, 0.0)),
        (SQ, EMPTY, (7.0, 8.6023253)),
    ],
)
def test_worked_distances(prediction, reference, expected):
    assert both(prediction, reference) == pytest.approx(expected, abs=1e-6)


def test_only_a_prediction_without_vertices_is_empty():
    assert spectral_l1(Pair.of(EMPTY, SQ)).status is Status.EMPTY_PRED
    assert spectral_l1(Pair.of(wireframe(SQ.vertices), SQ)).status is Status.OK


def test_a_tiny_eigenvalue_is_exactly_zero():
    values = eigenvalues(random_wireframe(1, 20, 60))
    assert values[0] == 0.0 and values[1] > 0.1


def test_parts_that_do_not_hang_together_are_solved_apart():
    two = wireframe([*SQ.vertices, *(TRIANGLE.vertices + 50)], [*SQ.edges, *(TRIANGLE.edges + 4)])
    assert eigenvalues(two) == pytest.approx(np.sort([0, 6, 8, 14, 0, 3, 3]), abs=1e-9)


@examples(40)
@given(st.integers(0, 1_000_000))
def test_spectra_are_those_of_the_whole_matrix(seed):
    rng = np.random.default_rng(seed)
    frame = random_wireframe(seed, int(rng.integers(2, 20)), int(rng.integers(0, 20)))
    matrix = np.zeros((len(frame.vertices),) * 2)
    for a, b in frame.edges:
        matrix[a, b] = matrix[b, a] = np.linalg.norm(frame.vertices[a] - frame.vertices[b])
    laplacian = np.diag(matrix.sum(axis=1)) - matrix
    assert eigenvalues(frame) == pytest.approx(np.linalg.eigvalsh(laplacian), abs=1e-9)


@examples(80)
@given(st.integers(0, 1_000_000))
def test_distances_are_those_of_scipy_and_pot(seed):
    rng = np.random.default_rng(seed)
    pred = random_wireframe(seed, int(rng.integers(2, 15)), int(rng.integers(1, 20)))
    ref = random_wireframe(seed + 1, int(rng.integers(2, 15)), int(rng.integers(1, 20)))
    first, second = eigenvalues(pred), eigenvalues(ref)
    assert value(spectral_l1, pred, ref) == pytest.approx(wasserstein_distance(first, second), abs=1e-9)
    assert value(spectral_l2, pred, ref) == pytest.approx(np.sqrt(optimal_transport().wasserstein_1d(first, second, p=2)), abs=1e-9)


@examples(40)
@given(st.lists(st.floats(0, 1e7), min_size=1, max_size=7), st.lists(st.floats(0, 1e7), min_size=1, max_size=7), st.sampled_from([1, 2]))
def test_the_quantile_integral_is_that_of_samples_repeated_to_one_size(a, b, p):
    a, b = np.sort(a), np.sort(b)
    gaps = np.abs(np.repeat(a, len(b)) - np.repeat(b, len(a)))
    assert wasserstein(a, b, p) == pytest.approx((gaps**p).mean() ** (1 / p), rel=1e-9, abs=1e-12)
    assert wasserstein(a, b, p) == wasserstein(b, a, p)


@examples(40)
@given(st.integers(0, 1_000_000))
def test_added_edges_cost_twice_their_length_over_the_number_of_vertices(seed):
    whole = random_wireframe(seed, 10, 16)
    vertices, edges = canon(whole.vertices, whole.edges)
    kept = wireframe(vertices, edges[::2])
    added = np.linalg.norm(np.diff(vertices[edges[1::2]], axis=1), axis=2).sum()
    assert value(spectral_l1, whole, kept) == pytest.approx(2 * added / 10, rel=1e-9)


@examples(30)
@given(st.integers(0, 1_000_000))
def test_place_and_turn_do_not_matter_and_sides_can_be_exchanged(seed):
    reference = random_wireframe(seed)
    prediction = noisy(reference, 0.5, seed)
    known = both(prediction, reference)
    assert both(turned(moved(prediction, (3, -2, 1)), 33), reference) == pytest.approx(known, rel=1e-9)
    assert both(reference, prediction) == pytest.approx(known, rel=1e-9)
    assert both(shuffled(prediction, seed), shuffled(reference, seed)) == known


def test_shorter_spectra_can_be_padded_with_zeros_at_the_low_end():
    assert both(EDGE_3, PATH, size_mode="pad") == pytest.approx([(1 + 3) / 3, np.sqrt((1 + 9) / 3)])
    assert both(PATH, EDGE_3, size_mode="pad") == pytest.approx([(1 + 3) / 3, np.sqrt((1 + 9) / 3)])
    assert both(DIAGONAL, SQ, size_mode="pad") == both(DIAGONAL, SQ)


def test_distances_are_metres_and_can_be_divided_by_the_diameter():
    scaled = [wireframe(frame.vertices * 100, frame.edges) for frame in (SPLIT, SQ)]
    assert both(*scaled, unit_scale=0.01) == pytest.approx(both(SPLIT, SQ))
    assert both(SPLIT, SQ, normalize="diam") == pytest.approx([found / 5 for found in both(SPLIT, SQ)])
    assert both(*scaled, unit_scale=0.01, normalize="diam") == pytest.approx(both(SPLIT, SQ, normalize="diam"))


def test_without_a_diameter_there_is_nothing_to_divide_by():
    result = spectral_l1(Pair.of(SQ, wireframe([(1, 1, 1), (1, 1, 1)])), normalize="diam")
    assert (result.value, result.status, result.flags) == (None, Status.NOT_APPLICABLE, ("degenerate_gt",))


def test_isolated_vertices_count_unless_they_are_dropped_and_near_ones_merge_on_request():
    stray = wireframe([*SQ.vertices, (9, 9, 9)], SQ.edges)
    assert value(spectral_l1, stray, SQ) > 0.1
    assert value(spectral_l1, stray, SQ, drop_isolated=True) == 0.0
    broken = wireframe([*SQ.vertices, (0.001, 0, 0)], [(0, 1), (1, 2), (2, 3), (3, 4)])
    assert value(spectral_l1, broken, SQ) > 0.5
    assert value(spectral_l1, broken, SQ, merge_tol=0.01) == pytest.approx(0.0, abs=0.01)


def test_the_references_spectrum_can_be_prepared():
    prepared = {}
    known = spectral_l1(Pair.of(SPLIT, SQ, prepared=prepared)).value
    assert [len(arrays) for arrays in prepared.values()] == [1]
    prepared.update({key: (np.zeros(4),) for key in prepared})
    assert spectral_l1(Pair.of(SPLIT, SQ, prepared=prepared)).value == pytest.approx(eigenvalues(SPLIT).mean()) != known

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.seeds import generator
from evaluation.metrics.wireframe import jaccard
from evaluation.metrics.wireframe.canon import segments
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.tubes import orthonormal
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.shapes import (
    EMPTY,
    SPLIT,
    SQ,
    TRI,
    moved,
    noisy,
    random_wireframe,
    segment,
    shuffled,
    turned,
    value,
    wireframe,
    without_last_edge,
)
from tests.support.examples import examples

jaccard_distance = with_defaults("jaccard_distance")

ALONG = segment((1, 0, 0), (3, 0, 0)), segment((0, 0, 0), (2, 0, 0))
ASIDE = segment((0, 0.5, 0), (2, 0.5, 0)), segment((0, 0, 0), (2, 0, 0))
EXACT = {
    "half overlapping": (*ALONG, 0.6666667),
    "beside": (*ASIDE, 0.7569959),
    "last edge missing": (without_last_edge(SQ), SQ, 0.1958446),
    "turned": (turned(without_last_edge(SQ), 33), turned(SQ, 33), 0.1958446),
    "triangle": (TRI, SQ, 0.5487645),
    "itself": (SQ, SQ, 0.0),
    "apart": (moved(SQ, (0, 5, 0)), segment((0, 0, 0), (2, 0, 0)), 1.0),
}


@pytest.mark.parametrize("name", EXACT)
def test_worked_exact_examples(name):
    prediction, reference, expected = EXACT[name]
    assert value(jaccard_distance, prediction, reference, method="exact") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("primitive", ["cylinder", "capsule"])
@pytest.mark.parametrize("name", EXACT)
def test_the_estimate_is_within_a_hundredth_of_exact(name, primitive):
    prediction, reference, _ = EXACT[name]
    exact = value(jaccard_distance, prediction, reference, method="exact", primitive=primitive)
    assert value(jaccard_distance, prediction, reference, primitive=primitive) == pytest.approx(exact, abs=0.01)


def test_copies_with_equal_edges_share_their_solids_bit_for_bit(monkeypatch):
    """An edge that is parted from its corner, and stays where it was, changes no solid."""
    parted = wireframe([*SQ.vertices, SQ.vertices[0]], [(0, 1), (1, 2), (2, 3), (3, 4)])
    other = noisy(SQ, 0.01, 0)
    alone = [jaccard.exact_overlap(Pair.of(frame, TRI), 0.5) for frame in (SQ, parted, other)]
    measured = []
    overlap = jaccard.overlap
    monkeypatch.setattr(jaccard, "overlap", lambda *solids: measured.append(1) or overlap(*solids))
    repeats, found = {}, []
    for frame in (SQ, parted, other):
        pair = Pair.of(frame, TRI)
        pair.repeats = repeats
        found.append(jaccard.exact_overlap(pair, 0.5))
    assert found == alone and found[0] == found[1] != found[2] and len(measured) == 2


def test_the_estimate_has_no_bias_over_eight_seeds():
    exact = value(jaccard_distance, TRI, SQ, method="exact")
    found = [value(jaccard_distance, TRI, SQ, seed0=seed) for seed in range(8)]
    assert np.mean(found) == pytest.approx(exact, abs=0.002)
    assert 0.0 < np.std(found) < 0.004


def test_round_ends_are_exact_too():
    """Two balls on a stick against the same stick half as long, by the formula for capsules."""
    long, short = segment((0, 0, 0), (4, 0, 0)), segment((0, 0, 0), (2, 0, 0))
    volumes = [np.pi * 0.25 * length + 4 / 3 * np.pi * 0.125 for length in (2, 4)]
    exact = value(jaccard_distance, short, long, method="exact", primitive="capsule")
    assert exact == pytest.approx(1 - volumes[0] / volumes[1], abs=1e-3)
    assert value(jaccard_distance, short, long, primitive="capsule") == pytest.approx(1 - volumes[0] / volumes[1], abs=0.01)


@pytest.mark.parametrize("method", ["sampling", "exact"])
@pytest.mark.parametrize(
    ("prediction", "reference", "expected", "status"),
    [
        (EMPTY, EMPTY, 0.0, "empty_pred"),
        (wireframe(SQ.vertices), wireframe(SQ.vertices, [(0, 0)]), 0.0, "empty_pred"),
        (EMPTY, SQ, 1.0, "empty_pred"),
        (SQ, EMPTY, 1.0, "ok"),
    ],
)
def test_sides_without_edges(method, prediction, reference, expected, status):
    result = jaccard_distance(Pair.of(prediction, reference), method=method)
    assert (result.value, str(result.status)) == (expected, status)


@pytest.mark.parametrize("primitive", ["cylinder", "capsule"])
@pytest.mark.parametrize("seed", [0, 1])
def test_equal_geometry_is_exactly_zero_whatever_the_order_of_the_file(primitive, seed):
    frame = moved(random_wireframe(seed, 8, 10), (538_000.123, 6_584_000.456, 40.7))
    assert value(jaccard_distance, frame, shuffled(frame, seed), n_samples=20_000, primitive=primitive) == 0.0
    assert value(jaccard_distance, frame, shuffled(frame, seed), method="exact", primitive=primitive) == 0.0


def test_a_split_edge_changes_nothing():
    assert value(jaccard_distance, SPLIT, SQ, n_samples=20_000) == 0.0
    assert value(jaccard_distance, SPLIT, SQ, method="exact") == pytest.approx(0.0, abs=1e-9)


def test_isolated_vertices_and_repeated_or_degenerate_edges_change_nothing():
    frame = wireframe([*SQ.vertices, (50, 50, 50), (0, 0, 1e-10)], [*SQ.edges, (1, 0), (0, 5)])
    assert value(jaccard_distance, frame, SQ, n_samples=20_000) == 0.0
    assert value(jaccard_distance, frame, SQ, method="exact") == 0.0


def test_what_is_equal_after_merging_is_at_distance_exactly_zero():
    parted = wireframe([*SQ.vertices, SQ.vertices[0] + [1e-4, 0, 0]], [*SQ.edges[:-1], (SQ.edges[-1][0], 4)])
    assert value(jaccard_distance, parted, SQ, method="exact") > 0.0
    assert value(jaccard_distance, parted, SQ, method="exact", merge_tol=1e-3) == 0.0


def test_the_radius_is_a_parameter_in_metres():
    exact = value(jaccard_distance, *ASIDE, method="exact", radius=0.25)
    assert exact == pytest.approx(1.0, abs=1e-5)
    scaled = [wireframe(frame.vertices * 100, frame.edges) for frame in ASIDE]
    assert value(jaccard_distance, *scaled, unit_scale=0.01, method="exact") == pytest.approx(0.7569959, abs=1e-6)


def test_near_vertices_merge_on_request():
    prediction = wireframe([(0, 0, 0), (2, 0, 0), (2.001, 0, 0), (2.001, 0.004, 0)], [(0, 1), (2, 3)])
    assert value(jaccard_distance, prediction, ALONG[1], n_samples=5000, merge_tol=0.01) == 0.0
    assert value(jaccard_distance, prediction, ALONG[1], n_samples=5000) > 0.0


def plain_points(tubes, n, seed0):
    """Points and the tube each was drawn from, as the definition says, one by one."""
    start, axis, length, radius, rounded = tubes
    volume = length + (4 * radius / 3 if rounded else 0)
    reached = np.cumsum(volume)
    points, sources = [], []
    for pick, along, out, turn, polar in generator("jaccard_distance", seed0).random((n, 5)):
        tube = int(np.searchsorted(reached, pick * reached[-1], side="right"))
        place, away = along * volume[tube], radius * np.sqrt(out)
        if rounded and place >= length[tube]:
            distance, height = radius * np.cbrt(out), 2 * polar - 1
            away = distance * np.sqrt(1 - height**2)
            place = distance * height + (length[tube] if height > 0 else 0)
        first, second = orthonormal(axis[tube][None])[0]
        turned_out = np.cos(2 * np.pi * turn) * first + np.sin(2 * np.pi * turn) * second
        points.append(start[tube] + place * axis[tube] + away * turned_out)
        sources.append(tube)
    return points, sources


def plain_estimate(prediction, reference, n, seed0=0, radius=0.5, rounded=False):
    """The estimator as the definition has it: every point against every tube."""
    centre = (reference.vertices.max(axis=0) + reference.vertices.min(axis=0)) / 2
    sides = [segments(frame.vertices - centre, frame.edges).ends for frame in (prediction, reference)]
    rows = sorted((*ends.ravel(), owner) for owner, side in enumerate(sides) for ends in side)
    ends = np.array([row[:6] for row in rows]).reshape(-1, 2, 3)
    predicted = np.array([row[6] == 0 for row in rows])
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    start, axis = ends[:, 0], (ends[:, 1] - ends[:, 0]) / length[:, None]
    above = below = 0.0
    for point, source in zip(*plain_points((start, axis, length, radius, rounded), n, seed0), strict=True):
        offset = point - start
        along = (offset * axis).sum(axis=1)
        foot = np.clip(along, 0, length) if rounded else along
        inside = np.linalg.norm(offset - foot[:, None] * axis, axis=1) <= radius * (1 + 1e-9)
        if not rounded:
            inside &= (along >= -1e-9 * length) & (along <= length * (1 + 1e-9))
        inside[source] = True
        weight = 1 / inside.sum()
        below += weight
        above += weight * (inside[predicted].any() and inside[~predicted].any())
    return 1 - above / below


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_is_that_of_the_plain_definition(seed, rounded):
    reference = random_wireframe(seed, 12, 16, size=4.0 + 4 * (seed % 3))
    prediction = noisy(reference, 0.2 + 0.3 * (seed % 2), seed)
    expected = plain_estimate(prediction, reference, 2000, seed, rounded=rounded)
    primitive = "capsule" if rounded else "cylinder"
    found = value(jaccard_distance, prediction, reference, n_samples=2000, seed0=seed, primitive=primitive)
    assert found == pytest.approx(expected, abs=1e-12)


def everything(tubes, wanted):
    """All pairs of tubes, and no end to where they may meet."""
    some = np.flatnonzero(wanted)
    row, other = np.nonzero(~np.eye(len(tubes), dtype=bool)[some])
    return jaccard.Neighbours(some[row], other, np.full(len(row), -np.inf), np.full(len(row), np.inf))


@pytest.mark.parametrize("primitive", ["cylinder", "capsule"])
@pytest.mark.parametrize("size", [1.0, 4.0, 15.0, 1e6])
def test_leaving_out_tubes_that_cannot_meet_changes_nothing(monkeypatch, primitive, size):
    pairs = []
    for seed in range(4):
        reference = random_wireframe(seed, 14, 18, size)
        pairs.append((noisy(reference, 0.05 * size, seed), reference))
    found = [value(jaccard_distance, *pair, n_samples=4000, primitive=primitive) for pair in pairs]
    monkeypatch.setattr(jaccard, "_neighbours", everything)
    assert found == [value(jaccard_distance, *pair, n_samples=4000, primitive=primitive) for pair in pairs]


def test_tubes_beside_one_another_and_end_to_end_are_not_left_out(monkeypatch):
    lattice = [(x, y, 0.0) for x in (0, 0.999, 1.998) for y in (0, 0.999, 5)]
    prediction = wireframe(lattice, [(0, 1), (1, 2), (3, 4), (6, 8), (0, 6)])
    reference = moved(prediction, (0.5, 0.5, 0.5))
    found = value(jaccard_distance, prediction, reference, n_samples=4000)
    monkeypatch.setattr(jaccard, "_neighbours", everything)
    assert found == value(jaccard_distance, prediction, reference, n_samples=4000)


def test_the_estimate_does_not_depend_on_the_size_of_the_blocks(monkeypatch):
    known = value(jaccard_distance, TRI, SQ, n_samples=3000)
    monkeypatch.setattr(jaccard, "BLOCK", 50)
    monkeypatch.setattr(jaccard, "SLICES", 3)
    monkeypatch.setattr(jaccard, "CELLS", 1)
    assert value(jaccard_distance, TRI, SQ, n_samples=3000) == known


@examples(10)
@given(st.integers(0, 100_000))
def test_the_distance_is_symmetric_bit_for_bit(seed):
    a, b = random_wireframe(seed), random_wireframe(seed + 1)
    assert value(jaccard_distance, a, b, n_samples=3000) == value(jaccard_distance, b, a, n_samples=3000)


def test_the_seed_is_a_parameter():
    assert value(jaccard_distance, TRI, SQ, n_samples=2000, seed0=1) != value(jaccard_distance, TRI, SQ, n_samples=2000)

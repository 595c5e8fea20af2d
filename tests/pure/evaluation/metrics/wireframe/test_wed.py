from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.result import Status
from evaluation.metrics.wireframe.canon import canon
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.wed import DegenerateReference
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.shapes import EMPTY, SPLIT, SQ, TRI, moved, noisy, random_wireframe, segment, shuffled, value, wireframe
from tests.support.examples import examples

wed_ap = with_defaults("wed_ap")
wed_hungarian = with_defaults("wed_hungarian")
wed_mnn = with_defaults("wed_mnn")
wed_nearest = with_defaults("wed_nearest")
wed_prereg = with_defaults("wed_prereg")

WITH_VERTEX_COSTS = (wed_prereg, wed_mnn, wed_nearest, wed_hungarian)
ALL = (*WITH_VERTEX_COSTS, wed_ap)
SHIFTED = moved(SQ, (0.3, 0.4, 0))
PARTS = {"T", "n_del", "n_ins", "len_del", "len_ins", "L", "diam"}


def scaled(frame, *factors):
    return wireframe(frame.vertices * np.array(factors), frame.edges)


@pytest.mark.parametrize(
    ("metric", "prediction", "expected"),
    [
        (wed_prereg, SPLIT, 0.4750396991400839),
        (wed_prereg, TRI, 1.2339735942216328),
        (wed_prereg, SHIFTED, 0.0),
        (wed_mnn, SPLIT, (1.25 + 4 + 4) / 14),
        (wed_mnn, TRI, (2.5 + 5 + 7) / 14),
        (wed_mnn, SHIFTED, 2 / 14),
        (wed_nearest, SPLIT, 2 / 14),
        (wed_nearest, TRI, 1.0357142857),
        (wed_nearest, SHIFTED, 2 / 14),
        (wed_hungarian, SPLIT, 0.6607142857),
        (wed_hungarian, SHIFTED, 2 / 14),
        (wed_ap, SPLIT, (0 + 4 + 4) / 14),
        (wed_ap, TRI, (0 + 5 + 7) / 14),
        (wed_ap, SHIFTED, 2 / 14),
    ],
)
def test_worked_examples(metric, prediction, expected):
    assert value(metric, prediction, SQ) == pytest.approx(expected, abs=1e-10)


def test_registration_forgives_scaling_but_for_the_flat_axis_which_counts_as_one_wide():
    assert value(wed_prereg, scaled(SQ, 2, 2, 2), SQ) == pytest.approx(0.0400841, abs=1e-7)
    assert value(wed_prereg, scaled(SQ, 2, 1, 1), SQ) == pytest.approx(0.2104608, abs=1e-7)


def test_a_scale_for_each_axis_forgives_stretching_too():
    assert value(wed_prereg, scaled(SQ, 2, 1, 1), SQ, single_scale=False) == pytest.approx(0.0, abs=1e-12)
    solid = random_wireframe(4)
    assert value(wed_prereg, scaled(solid, 3, 3, 3), solid) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("by", [0.0, 0.1, 1e-9, 6.5e6])
def test_an_axis_is_flat_wherever_the_model_stands(by):
    """0.1 has no exact mean of three, so a deviation of exactly 0 would be a matter of luck."""
    upright = wireframe([(0, 0.1, 0), (2, 0.1, 0), (0, 0.1, 1)], [(0, 1), (1, 2)])
    lowered = wireframe(upright.vertices * [1, 0, 1], upright.edges)
    reference = random_wireframe(2, 5, 6)
    expected = value(wed_prereg, lowered, reference)
    assert value(wed_prereg, moved(upright, (0, by, 0)), moved(reference, (0, by, 0))) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("metric", WITH_VERTEX_COSTS)
def test_the_empty_prediction_inserts_everything(metric):
    result = metric(Pair.of(EMPTY, SQ))
    assert result.value == pytest.approx(1.7142857142857142) and result.status is Status.EMPTY_PRED
    assert dict(result.parts) == {"T": 0, "n_del": 0, "n_ins": 4, "len_del": 0, "len_ins": 14, "L": 14, "diam": 5}


@pytest.mark.parametrize("metric", WITH_VERTEX_COSTS)
def test_vertices_without_edges_cost_exactly_the_edges(metric):
    result = metric(Pair.of(wireframe(SQ.vertices), SQ))
    assert result.value == pytest.approx(1.0, abs=1e-12) and result.status is Status.OK
    assert metric is wed_prereg or result.value == 1.0


def test_without_predicted_edges_the_matched_edges_variant_is_exactly_one():
    for prediction in (EMPTY, wireframe(SQ.vertices), wireframe(SQ.vertices, [(1, 1)])):
        for reference in (SQ, random_wireframe(3)):
            result = wed_ap(Pair.of(prediction, reference))
            assert result.value == 1.0 and result.status is Status.EMPTY_PRED


@pytest.mark.parametrize("metric", ALL)
def test_parts_are_counts_and_lengths_in_metres(metric):
    in_centimetres = scaled(SPLIT, 100, 100, 100), scaled(SQ, 100, 100, 100)
    if metric is not wed_prereg:
        assert value(metric, *in_centimetres, unit_scale=0.01) == pytest.approx(value(metric, SPLIT, SQ), abs=1e-12)
    parts = metric(Pair.of(*in_centimetres, 0.01)).parts
    assert set(parts) == PARTS
    assert (parts["L"], parts["diam"]) == (pytest.approx(14.0), pytest.approx(5.0))


def test_the_parts_of_the_split_square_are_worked_by_hand():
    parts = wed_mnn(Pair.of(SPLIT, SQ)).parts
    assert dict(parts) == {"T": 0, "n_del": 1, "n_ins": 0, "len_del": 4, "len_ins": 4, "L": 14, "diam": 5}


def test_vertex_costs_are_metres_from_0_up_and_multiples_of_the_diameter_below():
    assert value(wed_mnn, SPLIT, SQ, cv_del=3.0) == pytest.approx((3 + 4 + 4) / 14)
    assert value(wed_mnn, SPLIT, SQ, cv_del=0.0) == pytest.approx((4 + 4) / 14)
    assert value(wed_mnn, SPLIT, SQ, cv_del=-1.0) == pytest.approx((5 + 4 + 4) / 14)
    assert value(wed_mnn, TRI, SQ, cv_ins=2.0) == pytest.approx((2 + 5 + 7) / 14)
    in_centimetres = scaled(SPLIT, 100, 100, 100), scaled(SQ, 100, 100, 100)
    assert value(wed_mnn, *in_centimetres, unit_scale=0.01, cv_del=3.0) == pytest.approx((3 + 4 + 4) / 14)


def test_edge_costs_normalisation_and_the_limit_are_parameters():
    assert value(wed_mnn, SPLIT, SQ, ce=0.5) == pytest.approx((1.25 + 4) / 14)
    assert value(wed_mnn, SPLIT, SQ, normalized=False) == pytest.approx(1.25 + 4 + 4)
    assert value(wed_mnn, scaled(SPLIT, 100, 100, 100), scaled(SQ, 100, 100, 100), unit_scale=0.01, normalized=False) == pytest.approx(9.25)
    far = moved(SQ, (100, 0, 0))
    assert value(wed_hungarian, far, SQ) > 20
    assert value(wed_hungarian, far, SQ, clip_to_empty=True) == pytest.approx(24 / 14)
    assert value(wed_hungarian, far, SQ, clip_to_empty=True, normalized=False, ce=0.5) == pytest.approx(17)


def test_several_vertices_on_one_may_cost_something():
    assert value(wed_nearest, SPLIT, SQ, merge_cost=3.0) == pytest.approx((2 + 3) / 14)
    assert value(wed_nearest, SPLIT, SQ, merge_cost=-0.2) == pytest.approx((2 + 1) / 14)


def test_isolated_vertices_count_unless_they_are_dropped_and_near_ones_merge_on_request():
    stray = wireframe([*SQ.vertices, (4, 3, 5)], SQ.edges)
    assert value(wed_mnn, stray, SQ) == pytest.approx(1.25 / 14)
    assert value(wed_mnn, stray, SQ, drop_isolated=True) == 0.0
    broken = wireframe([*SQ.vertices, (0.001, 0, 0)], [(0, 1), (1, 2), (2, 3), (3, 4)])
    assert value(wed_mnn, broken, SQ) > 0.3
    for metric in (wed_mnn, wed_nearest, wed_hungarian, wed_ap):
        assert value(metric, broken, SQ, merge_tol=0.01) == pytest.approx(0.0, abs=1e-3)


def test_dropped_vertices_are_left_out_of_the_diameter():
    far = wireframe([*SQ.vertices, (40, 0, 0)], SQ.edges)
    assert wed_mnn(Pair.of(SQ, far)).parts["diam"] == pytest.approx(np.hypot(40, 3))
    assert wed_mnn(Pair.of(SQ, far), drop_isolated=True).parts["diam"] == 5.0


def test_an_edge_at_a_deleted_vertex_is_paid_where_its_matched_end_has_gone():
    """The end at the origin is moved to (0, 1, 0) first, so the dangling edge is 5 long, not 4."""
    reference = wireframe([(0, 1, 0), (0, 9, 0)], [(0, 1)])
    prediction = wireframe([(0, 0, 0), (0, 9, 0), (4, -2, 0)], [(0, 1), (0, 2)])
    parts = wed_mnn(Pair.of(prediction, reference)).parts
    assert (parts["T"], parts["n_del"], parts["len_del"], parts["len_ins"]) == (1.0, 1.0, 5.0, 0.0)
    assert wed_hungarian(Pair.of(prediction, reference)).parts == parts


def test_an_edge_that_collapses_is_free_and_one_that_comes_twice_is_paid_once_at_the_references_length():
    reference = wireframe([(0, 0, 0), (10, 0, 0), (0, 10, 0)], [(0, 1)])
    prediction = wireframe([(0, 0, 0), (1, 0, 0), (0, 10, 0), (0, 9, 0)], [(0, 1), (0, 2), (1, 3)])
    parts = wed_nearest(Pair.of(prediction, reference)).parts
    assert (parts["T"], parts["n_ins"], parts["len_del"], parts["len_ins"]) == (2.0, 1.0, 10.0, 10.0)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("prediction", [SQ, EMPTY])
@pytest.mark.parametrize("reference", [EMPTY, wireframe(SQ.vertices), wireframe([(1, 1, 1), (1, 1, 1)], [(0, 1)])])
def test_a_reference_without_length_is_an_error_of_who_gave_it(metric, prediction, reference):
    with pytest.raises(DegenerateReference, match="degenerate_gt"):
        metric(Pair.of(prediction, reference))


def test_without_normalisation_only_a_reference_without_vertices_is_one():
    assert value(wed_mnn, SQ, wireframe(SQ.vertices), normalized=False) == pytest.approx(14.0)
    with pytest.raises(DegenerateReference):
        value(wed_mnn, SQ, EMPTY, normalized=False)


@pytest.mark.parametrize("metric", ALL)
def test_where_merging_leaves_the_reference_no_length_the_metric_does_not_apply(metric):
    for prediction in (SQ, EMPTY):
        result = metric(Pair.of(prediction, SQ), merge_tol=100.0)
        assert (result.value, result.status, result.flags) == (None, Status.NOT_APPLICABLE, ("degenerate_gt",))


def test_vertices_as_near_as_the_nearest_but_for_rounding_are_equally_near():
    """The middle of an edge goes to the first end, at any coordinates."""
    for by in (0.0, 0.1, 538_000.3, 6_584_321.7):
        a, b = (0.1 + by, 0.7, 0), (3.4 + by, 0.7, 0)
        middle = ((a[0] + b[0]) / 2, 0.7, 0)
        prediction, reference = wireframe([a, middle, b], [(0, 1), (1, 2)]), wireframe([a, b], [(0, 1)])
        assert value(wed_nearest, prediction, reference) == pytest.approx(0.5, rel=1e-6)
        # a tenth nearer to the second end: that one takes it
        tipped = wireframe([a, (middle[0] + 0.1, 0.7, 0)], [(0, 1)])
        assert value(wed_nearest, tipped, reference) == pytest.approx(1.55 / 3.3, rel=1e-6)


# An edit distance as the definition has it: plain loops over dictionaries and sets.


def gap(a, b):
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)))


def plain_edit(pred, ref, partner, measured=None, dangling_free=False, cv_ins=-0.5, cv_del=-0.25):
    """WED of the assignment `partner` {predicted vertex: reference vertex}."""
    (pv, pe), (gv, ge) = (canon(frame.vertices, frame.edges) for frame in (pred, ref))
    diameter = max(gap(a, b) for a in gv for b in gv)
    measured = measured or {g: gv[g] for g in range(len(gv))}
    place = {p: gv[partner[p]] if p in partner else pv[p] for p in range(len(pv))}
    wanted = {frozenset(edge) for edge in ge.tolist()}
    became, dangling = set(), 0.0
    for a, b in pe.tolist():
        if a in partner and b in partner:
            became |= {frozenset((partner[a], partner[b]))}
        elif not dangling_free:
            dangling += gap(place[a], place[b])
    became = {edge for edge in became if len(edge) == 2}
    deleted = sum(gap(measured[min(edge)], measured[max(edge)]) for edge in became - wanted)
    inserted = sum(gap(gv[min(edge)], gv[max(edge)]) for edge in wanted - became)
    moves = sum(gap(pv[p], gv[g]) for p, g in partner.items())
    vertices = -cv_del * diameter * (len(pv) - len(partner)) - cv_ins * diameter * (len(gv) - len(set(partner.values())))
    return (moves + vertices + deleted + dangling + inserted) / sum(gap(gv[a], gv[b]) for a, b in ge.tolist())


def cheapest(cost):
    """{row: column} of the one-to-one assignment of least total cost, by enumeration of all."""
    n, m = cost.shape
    if n <= m:
        found = min(permutations(range(m), n), key=lambda columns: sum(cost[k, c] for k, c in enumerate(columns)))
        return dict(enumerate(found))
    return {row: column for column, row in cheapest(cost.T).items()}


def all_cheapest(cost):
    """Every one-to-one assignment whose total is the least there is, up to rounding: edges can tie."""
    n, m = cost.shape
    if n > m:
        return [{row: column for column, row in found.items()} for found in all_cheapest(cost.T)]
    totals = {columns: sum(cost[k, c] for k, c in enumerate(columns)) for columns in permutations(range(m), n)}
    least = min(totals.values())
    return [dict(enumerate(columns)) for columns, total in totals.items() if total <= least + 1e-9]


def small(seed):
    """A pair of up to six vertices each, near one another or not."""
    rng = np.random.default_rng(seed)
    n_pred, n_ref = rng.integers(2, 7, 2)
    reference = random_wireframe(seed, int(n_ref), int(rng.integers(1, 8)), 5.0)
    if rng.random() < 0.5:
        extra = rng.uniform(0, 5, (6, 3))
        vertices = np.concatenate([reference.vertices, extra])[:n_pred] + rng.normal(0, 0.4, (n_pred, 3))
    else:
        vertices = rng.uniform(0, 5, (n_pred, 3))
    edges = [rng.choice(n_pred, 2, replace=False) for _ in range(rng.integers(0, 9))]
    return wireframe(vertices, edges), reference


def distances(pred, ref):
    return np.linalg.norm(pred.vertices[:, None] - ref.vertices[None], axis=-1)


def plainly_registered(pred, ref, single_scale=True):
    result = []
    for frame in (pred, ref):
        mean, spread = frame.vertices.mean(axis=0), frame.vertices.std(axis=0)
        spread = np.where(spread == 0, 1.0, spread)
        result.append((mean, np.sqrt((spread**2).sum()) if single_scale else spread))
    (mean_p, spread_p), (mean_g, spread_g) = result
    return wireframe((pred.vertices - mean_p) / spread_p * spread_g + mean_g, pred.edges)


@examples(150)
@given(st.integers(0, 1_000_000))
def test_the_matching_variants_are_the_best_of_all_assignments(seed):
    pred, ref = small(seed)
    assert value(wed_hungarian, pred, ref) == pytest.approx(plain_edit(pred, ref, cheapest(distances(pred, ref))), abs=1e-9)
    for single_scale in (True, False):
        moved_over = plainly_registered(pred, ref, single_scale)
        partner = cheapest(distances(moved_over, ref))
        measured = {g: moved_over.vertices[p] for p, g in partner.items()}
        expected = plain_edit(moved_over, ref, partner, measured, dangling_free=True)
        assert value(wed_prereg, pred, ref, single_scale=single_scale) == pytest.approx(expected, abs=1e-9)


@examples(100)
@given(st.integers(0, 1_000_000))
def test_the_nearest_variants_are_those_of_plain_loops(seed):
    pred, ref = small(seed)
    gaps = distances(pred, ref)
    there = {p: min(range(gaps.shape[1]), key=lambda g, p=p: gaps[p, g]) for p in range(gaps.shape[0])}
    back = {g: min(range(gaps.shape[0]), key=lambda p, g=g: gaps[p, g]) for g in range(gaps.shape[1])}
    mutual = {p: g for p, g in there.items() if back[g] == p}
    assert value(wed_nearest, pred, ref, cv_ins=-0.3) == pytest.approx(plain_edit(pred, ref, there, cv_ins=-0.3), abs=1e-9)
    assert value(wed_mnn, pred, ref, cv_ins=-0.3, cv_del=-0.7) == pytest.approx(
        plain_edit(pred, ref, mutual, cv_ins=-0.3, cv_del=-0.7), abs=1e-9
    )


@examples(150)
@given(st.integers(0, 1_000_000))
def test_the_official_codes_wrong_index_can_be_repeated(seed):
    """With more predicted than reference vertices it measures at the place in the matching, not at the vertex."""
    pred, ref = small(seed)
    moved_over = plainly_registered(pred, ref)
    partner = cheapest(distances(moved_over, ref))
    measured = {g: moved_over.vertices[place] for place, (_, g) in enumerate(sorted(partner.items()))}
    expected = plain_edit(moved_over, ref, partner, measured, dangling_free=True)
    assert value(wed_prereg, pred, ref, compat_index=True) == pytest.approx(expected, abs=1e-9)
    if len(pred.vertices) <= len(ref.vertices):
        assert value(wed_prereg, pred, ref, compat_index=True) == pytest.approx(value(wed_prereg, pred, ref), abs=1e-9)


def test_the_wrong_index_makes_a_difference():
    found = [(value(wed_prereg, p, g), value(wed_prereg, p, g, compat_index=True)) for p, g in map(small, range(120))]
    assert sum(abs(a - b) > 1e-6 for a, b in found) > 5


def to_segment(point, a, b):
    along = b - a
    share = min(max(float((point - a) @ along / (along @ along)), 0.0), 1.0)
    return gap(point, a + share * along)


def plain_hausdorff(s, t):
    return max(to_segment(s[0], *t), to_segment(s[1], *t), to_segment(t[0], *s), to_segment(t[1], *s))


@examples(100)
@given(st.integers(0, 1_000_000), st.sampled_from([0.1, 0.5, 1.5]))
def test_the_matched_edges_variant_is_the_best_of_all_assignments(seed, tau):
    pred, ref = small(seed)
    (pv, pe), (gv, ge) = (canon(frame.vertices, frame.edges[:5]) for frame in (pred, ref))
    pred, ref = wireframe(pv, pe), wireframe(gv, ge)
    cost = np.array([[plain_hausdorff(pv[a], gv[b]) for b in ge] for a in pe]).reshape(len(pe), len(ge))
    length = sum(gap(*gv[edge]) for edge in ge)
    expected = []
    for assigned in all_cheapest(cost):
        kept = {p: g for p, g in assigned.items() if cost[p, g] <= tau}
        ours, theirs = {v for p in kept for v in pe[p]}, {v for g in kept.values() for v in ge[g]}
        moves = sum(min(gap(pv[p], gv[g]) for g in theirs) for p in ours)
        deleted = sum(gap(*pv[pe[k]]) for k in range(len(pe)) if k not in kept)
        inserted = sum(gap(*gv[ge[k]]) for k in range(len(ge)) if k not in kept.values())
        expected.append((moves + deleted + inserted) / length)
    found = value(wed_ap, pred, ref, tau_edge=tau)
    assert min(abs(found - one) for one in expected) <= 1e-9


@pytest.mark.parametrize("metric", ALL)
def test_no_value_depends_on_the_order_of_the_file(metric):
    for seed in range(20):
        reference = random_wireframe(seed)
        prediction = noisy(reference, 0.4, seed)
        known = value(metric, prediction, reference)
        assert value(metric, shuffled(prediction, seed), shuffled(reference, seed + 1)) == known


def test_double_vertices_are_told_apart_by_their_edges():
    """Two corners at one place, one of them with an edge: whichever comes first in the file, it is matched with its like."""
    reference = wireframe([(0, 0, 0), (0, 0, 0), (3, 0, 0), (0, 5, 0)], [(0, 2), (1, 3)])
    for seed in range(10):
        assert value(wed_hungarian, shuffled(reference, seed), reference) == 0.0


def test_a_segment_the_other_way_round_is_the_same():
    assert value(wed_hungarian, wireframe([(1, 0, 0), (0, 0, 0)], [(0, 1)]), segment((0, 0, 0), (1, 0, 0))) == 0.0
    far = [(k, 0, 0) for k in range(9)]
    assert value(wed_prereg, wireframe(far, [(8, 0)]), wireframe(far, [(0, 8)])) == pytest.approx(0.0, abs=1e-12)

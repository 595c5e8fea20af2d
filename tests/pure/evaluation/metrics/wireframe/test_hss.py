import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.wireframe import hss as module
from evaluation.metrics.wireframe import jaccard
from evaluation.metrics.wireframe.hss import sheared_axes
from evaluation.metrics.wireframe.pair import Pair
from evaluation.metrics.wireframe.tubes import prisms, solids
from evaluation.properties.corruptions import KINDS, LEVELS, corrupt
from evaluation.synthetic.houses import houses
from submissions.formats.wireframe.wireframe_files import Wireframe, load_folder
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.official import metric_helper
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

hss = with_defaults("hss")
hss_exact = with_defaults("hss_exact")
jaccard_distance = with_defaults("jaccard_distance")

# hss, f1, iou as the official scorer gives them
EXAMPLES = {
    "itself": (SQ, SQ, (1, 1, 1)),
    "split edge": (SPLIT, SQ, (0.94117647, 0.888888888888889, 0.9999999999)),
    "last edge missing": (without_last_edge(SQ), SQ, (0.890250785, 1, 0.802208979)),
    "triangle": (TRI, SQ, (0.600232251, 0.857142857, 0.461813381)),
    "half overlapping": (segment((1, 0, 0), (3, 0, 0)), segment((0, 0, 0), (2, 0, 0)), (0, 0, 1 / 3)),
    "raised": (moved(SQ, (0, 0, 0.4)), SQ, (0.466352416, 1, 0.304080560)),
    "empty": (EMPTY, SQ, (0, 0, 0)),
}


def three(prediction: Wireframe, reference: Wireframe, **params):
    result = hss(Pair.of(prediction, reference), **params)
    return result.value, result.parts["hss_f1"], result.parts["hss_iou"]


def official(prediction: Wireframe, reference: Wireframe):
    """The official scorer's numbers, given centred coordinates."""
    centre = (reference.vertices.max(axis=0) + reference.vertices.min(axis=0)) / 2
    return tuple(metric_helper().hss(prediction.vertices - centre, prediction.edges, reference.vertices - centre, reference.edges))


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples(name):
    prediction, reference, expected = EXAMPLES[name]
    assert three(prediction, reference) == pytest.approx(expected, abs=1e-7)


def test_the_score_depends_on_orientation_as_the_official_one_does():
    angle = np.degrees(np.arctan2(3, 4))
    found = three(turned(without_last_edge(SQ), angle), turned(SQ, angle))
    assert found[2] == pytest.approx(0.798759430, abs=1e-7)


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 2, 3), (-3, 2, -1), (2, 3, 0)])
def test_a_tube_has_the_sheared_volume(direction):
    d = np.array(direction) / np.linalg.norm(direction)
    k = d[0] if abs(d[0]) < abs(d[1]) else d[1]
    ends = np.array([[np.zeros(3), 5 * d]])
    (solid,) = solids(prisms(ends, sheared_axes(d[None]), 0.5, 6))
    assert solid.volume() == pytest.approx(1.5 * np.sqrt(3) * 0.25 * 5 * (1 - k * k), rel=1e-9)


@pytest.mark.parametrize("prediction", [EMPTY, wireframe(SQ.vertices), wireframe(SQ.vertices, [(0, 0)]), moved(SQ, (50, 0, 0))])
def test_without_usable_tubes_or_far_apart_the_iou_is_zero(prediction):
    assert three(prediction, SQ)[2] == 0.0
    assert three(SQ, prediction)[2] == 0.0


def test_f1_is_zero_where_either_side_has_no_vertex_even_both():
    assert three(EMPTY, EMPTY) == (0, 0, 0)
    assert three(SQ, EMPTY) == (0, 0, 0)
    assert str(hss(Pair.of(EMPTY, SQ)).status) == "empty_pred"
    assert str(hss(Pair.of(wireframe(SQ.vertices), SQ)).status) == "ok"


def test_edges_shorter_than_a_micrometre_are_skipped_and_repeats_are_harmless():
    frame = wireframe([*SQ.vertices, (0, 0, 0.9e-6)], [*SQ.edges, (0, 4), (1, 0), (2, 2)])
    assert three(frame, SQ)[2] == 1.0


@pytest.mark.parametrize("unit_scale", [1e-3, 1.0, 1e3])
def test_the_shortest_edge_that_gets_a_tube_has_a_micrometre_whatever_the_unit_of_the_files(unit_scale):
    """An edge of 0.0009 is too short in a model in millimetres, and one of 5e-9 is long enough in kilometres."""
    for metres, iou in ((0.9e-6, 0.0), (5e-6, 1.0)):
        speck = wireframe(np.array([(0, 0, 0), (0, 0, metres)]) / unit_scale, [(0, 1)])
        assert hss(Pair.of(speck, speck, unit_scale)).parts["hss_iou"] == iou


@pytest.mark.parametrize("metric", [hss, hss_exact])
def test_equal_geometry_has_exactly_the_perfect_value_whatever_the_order_of_the_file(metric):
    """The boolean engine alone gives an IoU of 0.99999... for one model in five or more."""
    for seed, frame in enumerate(houses(3, seed=7).values()):
        result = metric(Pair.of(shuffled(frame, seed), frame))
        assert (result.value, result.parts["hss_iou"], result.flags) == (1.0, 1.0, ())
    doubled = wireframe([*SQ.vertices, *SQ.vertices], [*SQ.edges, (5, 4), (6, 5)])
    assert metric(Pair.of(doubled, SQ)).parts["hss_iou"] == 1.0


@pytest.mark.parametrize("metric", [hss, hss_exact])
def test_a_reference_set_against_itself_prepares_the_solid_that_entries_are_held_against(metric):
    prepared, alone = {}, metric(Pair.of(noisy(SQ, 0.1, 0), SQ))
    metric(Pair.of(SQ, SQ, 1.0, prepared))
    known = set(prepared)
    assert len(known) == 1 and metric(Pair.of(noisy(SQ, 0.1, 0), SQ, 1.0, prepared)) == alone
    assert set(prepared) == known


def test_the_corner_threshold_is_the_raw_one():
    assert three(segment((0.5, 0, 0), (9, 9, 9)), segment((0, 0, 0), (3, 0, 0)))[1] == 0.5
    assert three(segment((0.5 + 1e-12, 0, 0), (9, 9, 9)), segment((0, 0, 0), (3, 0, 0)))[1] == 0.0


def test_thresholds_are_parameters_in_metres():
    up = moved(SQ, (0, 0, 0.4))
    assert three(up, SQ, vert_thresh=0.3)[1] == 0.0
    assert three(up, SQ, edge_thresh=1.0)[2] > 0.5 > three(up, SQ)[2]
    assert three(up, SQ, sections=32)[2] != three(up, SQ)[2]
    scaled = Pair(up.vertices * 100, up.edges, SQ.vertices * 100, SQ.edges, unit_scale=0.01)
    assert hss(scaled).value == pytest.approx(0.466352416, abs=1e-7)


@examples(8)
@given(st.integers(0, 100_000))
def test_on_generic_input_the_order_of_the_file_does_not_matter(seed):
    reference = random_wireframe(seed)
    prediction = noisy(reference, 0.2, seed)
    known = value(hss, prediction, reference)
    assert value(hss, shuffled(prediction, seed), shuffled(reference, seed)) == pytest.approx(known, abs=1e-9)


def test_the_same_pair_scores_the_same_bit_for_bit():
    frame = random_wireframe(4)
    assert {value(hss, noisy(frame, 0.3, 1), frame) for _ in range(3)} == {value(hss, noisy(frame, 0.3, 1), frame)}


def test_tubes_that_cannot_meet_cost_no_boolean(monkeypatch):
    monkeypatch.setattr(module, "overlap", None)
    assert three(moved(SQ, (50, 0, 0)), SQ)[2] == 0.0


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_are_the_official_scorers(name):
    prediction, reference, _ = EXAMPLES[name]
    assert three(prediction, reference) == pytest.approx(official(prediction, reference), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_houses_score_as_by_the_official_scorer(kind):
    for level, (name, frame) in zip(LEVELS, houses(3, seed=7).items(), strict=True):
        damaged = corrupt(frame, kind, level, sample_id=name)
        assert three(damaged, frame) == pytest.approx(official(damaged, frame), abs=1e-6)


def compare_with_official(roofs):
    """As they are, and centred."""
    for number, roof in enumerate(roofs):
        centre = (roof.vertices.max(axis=0) + roof.vertices.min(axis=0)) / 2
        prediction = noisy(roof, 0.1 + 0.1 * (number % 4), number)
        expected = official(prediction, roof)
        assert three(prediction, roof) == pytest.approx(expected, abs=1e-6)
        assert three(moved(prediction, -centre), moved(roof, -centre)) == pytest.approx(expected, abs=1e-6)


def test_real_roofs_score_as_by_the_official_scorer_centred_and_as_they_are(data_folder):
    compare_with_official(list(load_folder(data_folder / "building3d").values())[::5])


@pytest.mark.parametrize("degrees", [0, 36.87, 45])
@pytest.mark.parametrize(
    ("prediction", "reference", "f1", "distance"),
    [
        (SQ, SQ, 1, 0),
        (without_last_edge(SQ), SQ, 1, 0.1958446),
        (TRI, SQ, 6 / 7, 0.5487645),
        (segment((1, 0, 0), (3, 0, 0)), segment((0, 0, 0), (2, 0, 0)), 0, 2 / 3),
    ],
)
def test_with_true_tubes_the_iou_is_that_of_the_exact_jaccard_distance_whatever_the_orientation(
    prediction, reference, f1, distance, degrees
):
    result = hss_exact(Pair.of(turned(prediction, degrees), turned(reference, degrees)))
    assert (result.parts["hss_f1"], result.parts["hss_iou"]) == pytest.approx((f1, 1 - distance), abs=1e-6)
    assert result.value == pytest.approx(2 * f1 * (1 - distance) / (f1 + 1 - distance) if f1 else 0.0, abs=1e-6)


def test_true_tubes_have_the_same_edge_cases_and_parameters():
    assert (hss_exact(Pair.of(EMPTY, SQ)).value, str(hss_exact(Pair.of(EMPTY, SQ)).status)) == (0.0, "empty_pred")
    assert value(hss_exact, wireframe(SQ.vertices), SQ) == value(hss_exact, SQ, EMPTY) == value(hss_exact, EMPTY, EMPTY) == 0.0
    raised = moved(SQ, (0, 0, 0.4))
    assert value(hss_exact, raised, SQ, vert_thresh=0.3) == 0.0
    wide, narrow = (hss_exact(Pair.of(raised, SQ), edge_thresh=radius).parts["hss_iou"] for radius in (2.0, 0.5))
    assert wide > narrow == pytest.approx(1 - value(jaccard_distance, raised, SQ, method="exact"), abs=1e-12)
    scaled = [wireframe(frame.vertices * 100, frame.edges) for frame in (raised, SQ)]
    assert value(hss_exact, *scaled, unit_scale=0.01) == pytest.approx(value(hss_exact, raised, SQ), abs=1e-9)


def test_true_tubes_are_solved_once_for_both_metrics(monkeypatch):
    calls = []
    measure = jaccard.overlap
    monkeypatch.setattr(jaccard, "overlap", lambda *given: calls.append(1) or measure(*given))
    pair = Pair.of(noisy(SQ, 0.1, 0), SQ)
    hss_exact(pair)
    jaccard_distance(pair, method="exact")
    assert len(calls) == 1

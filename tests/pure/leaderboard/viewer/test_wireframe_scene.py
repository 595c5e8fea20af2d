"""Data of the 3D view: the right class for every edge and vertex, and coordinates that lose nothing."""

from __future__ import annotations

import numpy as np

from evaluation.metrics.wireframe.pair import Pair
from leaderboard.viewer.wireframe_scene import scene, thresholds
from submissions.formats.wireframe.wireframe_files import Wireframe
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.factories import gable, perturbed

edge_f1 = with_defaults("edge_f1")

METRICS = [("edge_f1", {"tau_edge": 0.5}), ("corner_f1", {"tau": 0.5})]


def frame(vertices, edges) -> Wireframe:
    return Wireframe(vertices=np.array(vertices, float), edges=np.array(edges, np.int64).reshape(-1, 2), edge_score=None)


SQUARE = frame([(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)])


def models(reference, *predictions, metrics=METRICS):
    named = [(f"entry {n}", prediction) for n, prediction in enumerate(predictions)]
    return scene(reference, named, metrics)["models"]


def test_an_exact_copy_is_all_matched():
    for model in models(SQUARE, SQUARE):
        assert set(model["edge_class"]) == set(model["vertex_class"]) == {"matched"}


def test_missed_and_extra_edges_and_vertices_keep_their_place_in_the_file():
    # One side is left out, a diagonal and a far corner with its edge are added, in another order.
    prediction = frame([(4, 4, 0), (9, 9, 9), (0, 0, 0), (4, 0, 0), (0, 4, 0)], [(0, 2), (2, 3), (1, 0), (4, 0), (2, 4)])
    reference, found = models(SQUARE, prediction)
    assert found["edge_class"] == ["extra", "matched", "extra", "matched", "matched"]
    assert found["vertex_class"] == ["matched", "extra", "matched", "matched", "matched"]
    assert reference["edge_class"] == ["matched", "missed", "matched", "matched"]
    assert reference["vertex_class"] == ["matched"] * 4


def test_doubled_edges_and_edges_of_no_length_have_no_class():
    prediction = frame([*SQUARE.vertices, (0, 0, 0)], [(0, 1), (1, 0), (2, 2), (0, 4), (1, 2)])
    found = models(SQUARE, prediction)[1]
    assert found["edge_class"] == ["matched", None, None, None, "matched"]


def test_the_thresholds_are_the_phases_own():
    moved = frame(SQUARE.vertices + np.array([0, 0, 0.3]), SQUARE.edges)
    assert set(models(SQUARE, moved)[1]["edge_class"]) == {"matched"}
    tight = [("edge_recall", {"tau_edge": 0.1}), ("corner_f1", {"tau": 0.2})]
    found = models(SQUARE, moved, metrics=tight)[1]
    assert set(found["edge_class"]) == set(found["vertex_class"]) == {"extra"}
    assert thresholds([])[0]["tau_edge"] == 0.5


def test_counts_of_matched_edges_are_those_the_metric_counts():
    reference = gable()
    prediction = perturbed({"x": reference}, 0.35, seed=3)["x"]
    found = models(reference, prediction)[1]
    assert found["edge_class"].count("matched") == edge_f1(Pair.of(prediction, reference)).parts["tp"]


def test_projected_coordinates_come_back_to_the_last_bits_of_a_float64():
    offset = np.array([6_543_210.123, 1_234_567.891, 345.678])
    reference = frame(gable().vertices + offset, gable().edges)
    data = scene(reference, [("x", reference)], METRICS)
    sent = np.array(data["models"][0]["vertices"])
    assert np.abs(sent).max() < 20
    assert np.abs(sent + data["origin"] - reference.vertices).max() <= 2 * np.spacing(offset.max())
    # What a graphics card makes of it is off by micrometres, not by half a metre.
    assert np.abs(sent.astype(np.float32) - sent).max() < 1e-5


def test_a_missing_item_shows_the_reference_alone_all_missed():
    (only,) = models(SQUARE, None)
    assert set(only["edge_class"]) == {"missed"}


def test_two_entries_stand_over_one_reference_in_roles_of_their_own():
    assert [m["role"] for m in models(SQUARE, SQUARE, gable())] == ["reference", "prediction", "prediction_b"]

"""Drawings: where points land, and that everything stays in the frame."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.viewer.svg import HEIGHT, MARGIN, WIDTH, draw
from submissions.formats.arrays import Mesh, Wireframe
from tests.support.examples import examples
from tests.support.factories import gable


def frame(vertices, edges) -> Wireframe:
    return Wireframe(np.array(vertices, float).reshape(-1, 3), np.array(edges, np.int64).reshape(-1, 2), None)


def numbers(path: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.\d", path)]


def test_a_flat_model_is_seen_from_above_with_y_upwards():
    square = frame([(0, 0, 5), (2, 0, 5), (2, 1, 5), (0, 1, 5)], [(0, 1), (2, 3)])
    drawn = draw(square, frame([(0, 0, 5)], []))
    left, right = MARGIN, WIDTH - MARGIN  # the wider side fills the frame
    half = (WIDTH - 2 * MARGIN) / 4
    low, high = HEIGHT / 2 + half, HEIGHT / 2 - half
    assert drawn.reference == f"M{left:.1f} {low:.1f}L{right:.1f} {low:.1f}M{right:.1f} {high:.1f}L{left:.1f} {high:.1f}"
    assert drawn.prediction == "" and drawn.corners == ((left, low),)


def test_up_is_up_and_a_vertical_line_is_vertical():
    drawn = draw(gable(), frame([(0, 0, 0), (0, 0, 3)], [(0, 1)]))
    x1, y1, x2, y2 = numbers(drawn.prediction)
    assert x1 == x2 and y2 < y1


def test_each_edge_of_a_mesh_is_drawn_once():
    mesh = Mesh(np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 1)], float), np.array([(0, 1, 2), (0, 2, 3)]), None)
    assert draw(mesh, None).reference.count("M") == 5


def test_nothing_at_all_is_drawn_as_nothing():
    drawn = draw(None, frame([], []))
    assert (drawn.reference, drawn.prediction, drawn.corners) == ("", "", ())


@examples(60)
@given(st.lists(st.tuples(*[st.floats(-1e7, 1e7)] * 3), min_size=2, max_size=6), st.floats(-1e6, 1e6))
def test_everything_stays_in_the_frame(points, shift):
    model = frame(points, [(k, k + 1) for k in range(len(points) - 1)])
    drawn = draw(model, frame(np.array(points) + shift, model.edges))
    for path in (drawn.reference, drawn.prediction):
        at = np.array(numbers(path)).reshape(-1, 2)
        assert (at >= MARGIN - 0.2).all() and (at[:, 0] <= WIDTH - MARGIN + 0.2).all() and (at[:, 1] <= HEIGHT - MARGIN + 0.2).all()

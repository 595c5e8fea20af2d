"""Drawings: where points land, and that everything stays in the frame."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.viewer.svg import HEIGHT, MARGIN, WIDTH, draw, draw_classed, draw_shaded
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


class TestClassed:
    def test_lines_are_told_apart_and_counted(self):
        square = frame([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1), (1, 2), (2, 3)])
        drawn = draw_classed(square, square, [False, True, True], [False, False, True])
        assert [one.count("M") for one in (drawn.reference, drawn.matched, drawn.missed, drawn.extra)] == [3, 2, 2, 1]
        assert (drawn.n_missed, drawn.n_extra, drawn.is_fine) == (2, 1, False)

    def test_without_a_reference_there_is_only_the_entry(self):
        line = frame([(0, 0, 0), (1, 0, 1)], [(0, 1)])
        drawn = draw_classed(None, line, [], [False])
        assert drawn.matched and not drawn.reference and not drawn.missed and not drawn.extra


class TestShaded:
    def test_the_nearest_face_is_drawn_last_and_each_once(self):
        # Two triangles facing the viewer, one behind the other along the line of sight from the front.
        vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 9, 0], [1, 9, 0], [0, 9, 1]], float)
        far_first, near_first = (
            draw_shaded(Mesh(vertices, np.array(faces), None)) for faces in ([[3, 4, 5], [0, 1, 2]], [[0, 1, 2], [3, 4, 5]])
        )
        assert far_first == near_first and sum(path.count("Z") for _, path in far_first.paths) == 2

    def test_faces_of_no_area_are_left_out_and_the_frame_is_shared(self):
        vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [2, 0, 0]], float)
        drawn = draw_shaded(Mesh(vertices, np.array([[0, 1, 2], [0, 1, 3]]), None))
        assert sum(path.count("Z") for _, path in drawn.paths) == 1
        large = Mesh(vertices * 10, np.array([[0, 1, 2]]), None)
        assert draw_shaded(Mesh(vertices, np.array([[0, 1, 2]]), None), large) != draw_shaded(Mesh(vertices, np.array([[0, 1, 2]]), None))

import numpy as np
import pytest

from submissions.formats.arrays import Mesh, Wireframe
from submissions.formats.degenerate import mesh, wireframe

FAR = np.array([6_500_000.0, 5_300_000.0, 400.0])
SQUARE = np.array([[0, 0, 0], [4, 0, 0], [4, 3, 0], [0, 3, 0]], float)


def frame(vertices, edges) -> Wireframe:
    return Wireframe(np.array(vertices, float).reshape(-1, 3), np.array(edges, np.int64).reshape(-1, 2))


def surface(vertices, faces) -> Mesh:
    return Mesh(np.array(vertices, float).reshape(-1, 3), np.array(faces, np.int64).reshape(-1, 3))


@pytest.mark.parametrize(("edges", "degenerate"), [([], True), ([(1, 1)], True), ([(0, 1)], False), ([(2, 2), (0, 3)], False)])
def test_a_wireframe_needs_an_edge_with_a_length(edges, degenerate) -> None:
    assert wireframe(frame(SQUARE, edges)) is degenerate


def test_an_edge_between_two_vertices_at_one_place_has_no_length() -> None:
    assert wireframe(frame([[1, 1, 1], [1, 1, 1 + 1e-10]], [(0, 1)]))
    assert wireframe(frame([], []))


@pytest.mark.parametrize(
    ("faces", "degenerate"),
    [([], True), ([(0, 1, 1)], True), ([(0, 1, 2)], False), ([(3, 3, 3), (0, 2, 3)], False)],
)
def test_a_mesh_needs_a_face_with_an_area(faces, degenerate) -> None:
    assert mesh(surface(SQUARE, faces)) is degenerate


def test_three_corners_on_a_line_have_no_area() -> None:
    assert mesh(surface([[0, 0, 0], [1, 1, 1], [3, 3, 3]], [(0, 1, 2)]))
    assert mesh(surface([[2, 2, 2]] * 3, [(0, 1, 2)]))
    assert mesh(surface([], []))


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_small_and_far_away_is_not_degenerate(size) -> None:
    assert not mesh(surface(SQUARE * size, [(0, 1, 2)]))
    assert not mesh(surface(SQUARE * max(size, 1e-3) + FAR, [(0, 1, 2)]))

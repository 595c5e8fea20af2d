import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.mesh.surface import ORDER_TOLERANCE, Surface, surface
from tests.support.evaluation.solids import FAR, box, mesh, moved, noisy, random_soup, rounded, shuffled, sphere
from tests.support.examples import examples


def of(shape, min_area=0.0) -> Surface:
    return surface(shape.vertices, shape.faces, min_area)


def same(a: Surface, b: Surface) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("points", "faces", "sign", "areas"))


def test_repeated_corners_and_faces_without_an_area_are_dropped_and_so_are_stray_vertices():
    shape = mesh(
        [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (9, 9, 9)],
        [(0, 1, 3), (0, 0, 3), (0, 1, 2), (3, 3, 3)],
    )
    found = of(shape)
    assert found.points.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert found.faces.tolist() == [[0, 1, 2]]
    assert found.areas.tolist() == [0.5]
    assert len(of(shape, min_area=0.5)) == 0


def test_equal_positions_are_one_point():
    seam = mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2), (3, 5, 4)])
    assert len(of(seam).points) == 4
    negative_zero = mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, -0.0, 0), (-0.0, 1, 0), (1, 1, 0)], [(0, 1, 2), (3, 5, 4)])
    assert same(of(negative_zero), of(seam))


def test_the_direction_of_a_face_is_kept():
    shape = box()
    found = of(shape)
    centres = found.points[found.oriented].mean(axis=1) - 0.5
    a, b, c = (found.points[found.oriented[:, corner]] for corner in range(3))
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), centres) > 0).all()
    assert {tuple(np.abs(normal)) for normal in found.normals().round(12)} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}


@examples(50)
@given(st.integers(0, 100_000))
def test_no_order_of_a_file_shows(seed):
    shape = random_soup(seed)
    assert same(of(shape), of(shuffled(shape, seed)))
    assert same(of(sphere(6)), of(shuffled(sphere(6), seed)))


def test_the_order_of_faces_bears_the_rounding_of_far_off_coordinates():
    for shape in (sphere(12), noisy(box(), 1e-12, 0), rounded(noisy(sphere(8), 0.01, 1))):
        far = moved(moved(shape, FAR), np.negative(FAR))
        here, there = of(shape), of(far)
        assert np.array_equal(here.faces, there.faces)
        assert np.array_equal(here.sign, there.sign)
        assert here.points == pytest.approx(there.points, abs=ORDER_TOLERANCE / 10)

import numpy as np
import point_cloud_utils
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import box, mesh, noisy, pair, random_soup, scaled, sphere, value
from tests.support.examples import examples

uhd = with_defaults("uhd")


def test_worked_example_of_a_place_between_the_corners():
    """The middle of a square is a quarter from its four walls' feet; no vertex is further than 0 from them."""
    frame = [(0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)]
    square = mesh(frame, [(0, 1, 2), (0, 2, 3)])
    walls = mesh(
        [*frame, *((x, y, 1) for x, y, _ in frame)],
        [face for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)) for face in ((a, b, b + 4), (a, b + 4, a + 4))],
    )
    result = uhd(pair(walls, square), n=10)
    assert result.value == pytest.approx(2 / 4, rel=0.01), "2 of a side of 4, which is 1 in the reference's frame"
    assert result.parts["uhd_pred2gt"] == pytest.approx(1 / 4, abs=1e-12)


def test_a_missing_mast_counts_by_its_tip():
    mast = box((0.4, 0.4, 1), (0.42, 0.42, 3))
    joined = mesh([*box().vertices, *mast.vertices], [*box().faces, *(mast.faces + 8)])
    assert value(uhd, box(), joined, n=10) == pytest.approx(2 / 3, abs=1e-12)
    assert value(uhd, joined, box(), n=10) == 0.0


def test_the_other_way_is_the_part():
    one, other = noisy(sphere(8), 0.1, 0), scaled(sphere(8), (1.0, 1.2, 0.9))
    there, back = (uhd(pair(*sides), n=500, normalize="none") for sides in ((one, other), (other, one)))
    assert there.value == pytest.approx(back.parts["uhd_pred2gt"], rel=0.02)
    assert back.value == pytest.approx(there.parts["uhd_pred2gt"], rel=0.02)


def to_triangles(points: np.ndarray, surface) -> np.ndarray:
    """The distance of each point to each triangle, and the least of them."""
    triangles = surface.points[surface.faces]
    pairs = np.repeat(points, len(triangles), axis=0)
    found = trimesh.triangles.closest_point(np.tile(triangles, (len(points), 1, 1)), pairs)
    return np.linalg.norm(found - pairs, axis=1).reshape(len(points), -1).min(axis=1)


@examples(10)
@given(st.integers(0, 100_000))
def test_no_sample_and_no_vertex_is_further_and_the_value_is_a_distance_that_there_is(seed):
    """No less than the largest of all distances of samples and vertices to all triangles, no more than the exact one."""
    reference = random_soup(seed)
    found = pair(noisy(reference, 0.2, seed), reference)
    one, other = found.prediction(), found.reference
    result = uhd(found, n=300)
    for largest, cloud, side, target in (
        (result.value, found.reference_cloud(300), other, one),
        (result.parts["uhd_pred2gt"], found.prediction_cloud(300), one, other),
    ):
        assert largest >= to_triangles(np.concatenate([cloud.points, side.points]), target).max() - 1e-12
        assert largest <= 1.006 * exactly(side, target)


def exactly(reference, prediction) -> float:
    """The largest distance of any point of one surface to another to within half a percent, by branch and bound.

    No point of a triangle is further from the other surface than its middle by more than its radius. The distances are
    point-cloud-utils'.
    """
    corners, faces = np.ascontiguousarray(prediction.points), prediction.faces.astype(np.int32)

    def distance(points):
        return point_cloud_utils.closest_points_on_mesh(np.ascontiguousarray(points), corners, faces)[0]

    largest, left = float(distance(reference.points).max()), reference.points[reference.faces]
    while len(left):
        middles = left.mean(axis=1)
        apart = distance(middles)
        largest = max(largest, float(apart.max()))
        radii = np.linalg.norm(left - middles[:, None], axis=2).max(axis=1)
        a, b, c = np.moveaxis(left[apart + radii > 1.005 * largest], 1, 0)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        left = np.concatenate([np.stack(part, axis=1) for part in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return largest


def compare_with_exact(path):
    """A scan with noise against the scan."""
    scan = trimesh.load(path, force="mesh")
    reference = mesh(scan.vertices, scan.faces)
    found = pair(noisy(reference, 0.005 * float(np.ptp(scan.vertices, axis=0).max()), 1), reference)
    there, back = exactly(found.reference, found.prediction()), exactly(found.prediction(), found.reference)
    for seed0 in (0, 1):
        result = uhd(found, seed0=seed0)
        assert (result.value, result.parts["uhd_pred2gt"]) == pytest.approx((there, back), rel=0.02)


@pytest.mark.parametrize("name", ["suzanne.ply", "teapot.stl", "Duck.glb"])
def test_the_largest_distance_is_within_two_percent_of_the_exact_one_whatever_the_seed(data_folder, name):
    compare_with_exact(data_folder / "meshes" / name)

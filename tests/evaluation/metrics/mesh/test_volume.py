import igl
import numpy as np
import pytest
import trimesh
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluation.metrics.mesh import occupancy, winding
from evaluation.metrics.mesh.occupancy import closed, grid_around
from evaluation.metrics.mesh.volume import inside, volume_iou
from evaluation.metrics.mesh.winding import boundary_fans, inside_by_winding
from tests.evaluation.solids import (
    FAR,
    NO_SURFACE,
    SQUARE,
    Mesh,
    box,
    mesh,
    moved,
    noisy,
    pair,
    random_soup,
    rounded,
    scaled,
    shuffled,
    sphere,
    turned,
    value,
)  # fmt: skip


def surface_of(shape: Mesh):
    return pair(SQUARE, shape).reference


def centres(grid) -> np.ndarray:
    return np.stack(np.meshgrid(*[grid.centres(axis) for axis in range(3)], indexing="ij"), axis=-1).reshape(-1, 3)


def union(*shapes: Mesh) -> Mesh:
    starts = np.cumsum([0, *(len(shape.vertices) for shape in shapes)])
    return mesh(
        np.concatenate([shape.vertices for shape in shapes]),
        np.concatenate([shape.faces + start for shape, start in zip(shapes, starts[:-1], strict=True)]),
    )


@pytest.mark.parametrize(("resolution", "expected"), [(32, 0.625), (64, 0.59375), (128, 0.59375), (256, 0.6015625)])
def test_worked_example_of_a_cube_moved_by_a_quarter(resolution, expected):
    result = volume_iou(pair(moved(box(), (0.25, 0, 0)), box()), resolution=resolution)
    assert (result.value, result.flags) == (expected, ())
    assert result.value == pytest.approx(0.6, abs=1 / resolution * 6)


def test_worked_example_of_a_cube_within_a_larger_one():
    inner, outer = box((-0.5,) * 3, (0.5,) * 3), box((-0.6,) * 3, (0.6,) * 3)
    result = volume_iou(pair(outer, inner))
    assert result.value == pytest.approx(0.5841460, abs=5e-8)
    assert result.value == pytest.approx(0.5787037, abs=0.02)
    assert result.parts == {"volume_pred": 1.0, "volume_gt": result.value, "volume_both": result.value}


def test_analytic_volumes_of_spheres():
    small, large = sphere(48), sphere(48, radius=1.25)
    assert value(volume_iou, small, large, resolution=128) == pytest.approx(1.25**-3, abs=0.005)
    lens = 2 * np.pi * (1 - 0.5) ** 2 * (3 - (1 - 0.5)) / 3  # two unit spheres one apart share two caps of the height 1/2
    shared = lens / (2 * 4 * np.pi / 3 - lens)
    assert value(volume_iou, moved(small, (1, 0, 0)), small, resolution=128) == pytest.approx(shared, abs=0.005)


def test_equal_meshes_are_one_and_apart_ones_are_zero():
    for shape in (box(), sphere(8), moved(noisy(sphere(8), 0.05, 0), FAR), turned(box(), 1)):
        assert value(volume_iou, shuffled(shape, 0), shape, resolution=40) == 1.0
        assert value(volume_iou, moved(shape, (5, 0, 0)), shape, resolution=40) == 0.0


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 100_000))
@example(735)  # where trimesh is wrong
def test_closed_meshes_are_filled_as_trimesh_fills_them(seed):
    surface = surface_of(turned(noisy(sphere(5), 0.05, seed), seed))
    grid = grid_around(surface.points, n=12)
    solid = trimesh.Trimesh(surface.points, surface.oriented, process=False)
    assert solid.is_watertight and closed(surface.faces)
    found, by_rays = inside(surface, grid, 1e-12).ravel(), solid.contains(centres(grid))
    assert np.count_nonzero(found != by_rays) <= 1, "a ray of trimesh's that grazes an edge may miss a face"
    assert np.array_equal(found, igl.winding_number(surface.points, surface.oriented, centres(grid)) > 0.5)


def on_either_side(surface, grid, threshold: float = 0.5):
    """(winding number by all faces just above each centre, whether it is too near the threshold to tell)."""
    value = igl.winding_number(surface.points, surface.oriented, centres(grid) + winding.ABOVE * grid.h)
    return value >= threshold, np.abs(value - threshold) < 1e-9


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 100_000), st.booleans())
@example(98, False)  # a fan crosses within a hundred thousandth of a cell above a centre
@example(276, False)
def test_open_meshes_are_filled_by_the_winding_number_of_all_their_faces(seed, loose):
    surface = surface_of(random_soup(seed, 14, 20))
    grid = grid_around(surface.points, n=17)
    expected, doubtful = on_either_side(surface, grid)
    most = winding.MOST_EDGES
    try:
        winding.MOST_EDGES = 0 if loose else most
        found = inside_by_winding(surface, grid).ravel()
    finally:
        winding.MOST_EDGES = most
    assert np.array_equal(found[~doubtful], expected[~doubtful])


def test_loose_triangles_many_deep_are_filled_as_by_all_their_faces():
    """Where the winding number has a wide range, a block is decided by one value only if none of its centres differs."""
    rng = np.random.default_rng(1)
    corners = rng.normal(0, 1, (1200, 1, 3)) + rng.normal(0, 0.4, (1200, 3, 3))
    surface = surface_of(mesh(corners.reshape(-1, 3), np.arange(3600).reshape(-1, 3)))
    grid = grid_around(surface.points, n=30)
    expected, doubtful = on_either_side(surface, grid)
    assert len(boundary_fans(surface)[1]) > winding.MOST_EDGES and 100 < expected.sum() < 26_000
    assert np.array_equal(inside_by_winding(surface, grid).ravel()[~doubtful], expected[~doubtful])


@pytest.mark.parametrize(("n", "size"), [(3000, 0.02), (3000, 0.4), (1200, 1.0), (300, 0.3)])
def test_the_tree_is_as_near_as_it_is_taken_to_be(n, size):
    """Three times as near: its errors are measured, not proved."""
    rng = np.random.default_rng(n)
    shells = rng.normal(size=(n, 1, 3))
    shells /= np.linalg.norm(shells, axis=2, keepdims=True)
    for middles in (rng.normal(0, 1, (n, 1, 3)), shells):
        corners = middles + rng.normal(0, size, (n, 3, 3))
        surface = surface_of(mesh(corners.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3)))
        points = surface.points[rng.integers(len(surface.points), size=1500)] + rng.normal(0, 0.1, (1500, 3))
        exact = igl.winding_number(surface.points, surface.oriented, points)
        for accuracy, error in winding.APPROXIMATE.items():
            found = winding.LooseField(surface)._tree.winding_number(points, accuracy)
            assert np.abs(found - exact).max() <= error / 3, accuracy


def test_doubt_is_settled_by_the_faces_themselves(monkeypatch):
    """The same cells however far the tree is trusted; as far as it is, few cells are asked of all faces."""
    rng = np.random.default_rng(5)
    corners = rng.normal(0, 1, (800, 1, 3)) + rng.normal(0, 0.4, (800, 3, 3))
    surface = surface_of(mesh(corners.reshape(-1, 3), np.arange(2400).reshape(-1, 3)))
    grid = grid_around(surface.points, n=24)
    exactly, asked = igl.winding_number, []
    value = exactly(surface.points, surface.oriented, centres(grid) + winding.ABOVE * grid.h)
    monkeypatch.setattr(winding.igl, "winding_number", lambda points, faces, at: asked.append(len(at)) or exactly(points, faces, at))
    for errors, most_asked in ((winding.APPROXIMATE.values(), 0.01), ((0.4, 0.2, 0.1), 0.2), ((50.0, 50.0, 50.0), 1.0)):
        asked.clear()
        monkeypatch.setattr(winding, "APPROXIMATE", dict(zip(winding.APPROXIMATE, errors, strict=True)))
        assert np.array_equal(inside_by_winding(surface, grid).ravel(), value >= 0.5)
        assert 0 < sum(asked) <= most_asked * len(value)


def test_drift_is_the_most_that_poissons_kernel_allows():
    cosines = (np.arange(200_000) + 0.5) / 100_000 - 1
    for share in (0.01, 0.1, 0.3, 0.5, 0.9):
        kernel = (1 - share**2) / (1 + share**2 - 2 * share * cosines) ** 1.5
        assert winding.drift(np.array(share)) == pytest.approx(np.maximum(kernel - 1, 0).mean(), rel=1e-3)
    shares = np.linspace(0, 1, 400)
    assert (np.diff(winding.drift(shares)) >= 0).all() and winding.drift(np.array([1.0, 5.0])).tolist() == [1.0, 1.0]
    assert (winding.drift(shares) >= 0.75 * shares - 1e-12).all(), "the sharp slope at the middle: 3/2 for values within 1 of nothing"


@pytest.mark.parametrize("missing", [[0, 1], [0], [4, 5, 6, 7], list(range(2, 12))])
def test_a_box_without_some_faces(missing):
    shape = noisy(turned(box((0, 0, 0), (3, 2, 1)), 2), 0.02, 1)
    surface = surface_of(mesh(shape.vertices, np.delete(shape.faces, missing, axis=0)))
    grid = grid_around(surface.points, n=33)
    expected, doubtful = on_either_side(surface, grid)
    assert not closed(surface.faces)
    assert np.array_equal(inside_by_winding(surface, grid).ravel()[~doubtful], expected[~doubtful])


def test_an_open_box_along_the_axes_is_full():
    opened = mesh(box().vertices, box().faces[2:])
    result = volume_iou(pair(opened, box()), resolution=64)
    assert (result.value, result.flags) == (1.0, ("pred_not_watertight",))
    assert volume_iou(pair(box(), opened), resolution=64).flags == ("gt_not_watertight",)


def test_fans_close_whatever_they_are_given():
    for seed in range(20):
        surface = surface_of(random_soup(seed))
        _, fans, ends = boundary_fans(surface)
        directed = np.concatenate([surface.oriented, fans])[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        edges, which = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True)
        net = np.bincount(which.ravel(), np.where(directed[:, 0] < directed[:, 1], 1, -1), minlength=len(edges))
        assert not net.any() and len(fans) == len(ends)
    assert len(boundary_fans(surface_of(sphere(6)))[1]) == 0


def test_a_closed_mesh_is_filled_whichever_way_it_is_turned_and_an_open_one_by_its_direction():
    inwards = mesh(box().vertices, box().faces[:, ::-1])
    assert value(volume_iou, inwards, box(), resolution=16) == 1.0
    assert value(volume_iou, mesh(inwards.vertices, inwards.faces[2:]), box(), resolution=16) < 0.5


def test_a_hollow_is_empty_and_doubled_faces_stay_full():
    hollow = union(box((0, 0, 0), (4, 4, 4)), box((1, 1, 1), (3, 3, 3)))
    full = box((0, 0, 0), (4, 4, 4))
    assert value(volume_iou, hollow, full, resolution=64) == pytest.approx(1 - 1 / 8, abs=0.05)
    doubled = volume_iou(pair(union(full, full), full), resolution=16)
    assert (doubled.value, doubled.flags) == (1.0, ("pred_not_watertight",))


def test_centres_on_the_surface_count_as_inside():
    # Centres lie at odd eighths: the thin slab holds one layer of them on its upper side, the tilted square those on it.
    reference = box((0, 0, 0), (1, 1, 1))
    slab = box((0, 0, 0.3), (1, 1, 0.3125))
    assert volume_iou(pair(slab, reference), resolution=8).parts["volume_pred"] == 1 / 8
    for axes in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        diagonal = mesh([(0, 0, 0), (1, 0, 0), (1, 1, 1), (0, 1, 1)], [(0, 1, 2), (0, 2, 3)])
        diagonal = mesh(diagonal.vertices[:, axes], diagonal.faces)
        assert volume_iou(pair(diagonal, reference), resolution=8).parts["volume_pred"] >= 1 / 8


@pytest.mark.parametrize("prediction", NO_SURFACE)
def test_without_faces(prediction):
    result = volume_iou(pair(prediction, box()))
    assert (result.value, str(result.status)) == (0.0, "empty_pred")


def test_nothing_in_either_is_zero_with_a_flag():
    flat = scaled(SQUARE, (1, 1, 1))
    result = volume_iou(pair(flat, flat), resolution=8)
    assert result.value == 0.0 and "both_empty" in result.flags


def test_a_shift_of_millions_changes_nothing():
    for shape in (box(), sphere(6), mesh(sphere(6).vertices, sphere(6).faces[4:])):
        reference, prediction = rounded(shape), rounded(noisy(shape, 0.03, 0))
        here = value(volume_iou, prediction, reference, resolution=40)
        assert value(volume_iou, moved(prediction, FAR), moved(reference, FAR), resolution=40) == pytest.approx(here, rel=1e-6)


def test_little_at_a_time_gives_the_same(monkeypatch):
    shapes = pair(mesh(sphere(6).vertices, sphere(6).faces[5:]), box((-1, -1, -1), (1, 1, 0.3)))
    whole = volume_iou(shapes, resolution=24)
    monkeypatch.setattr(occupancy, "CHUNK", 7)
    monkeypatch.setattr(winding, "CHUNK", 100)
    assert volume_iou(shapes, resolution=24) == whole

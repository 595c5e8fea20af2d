import igl
import numpy as np
import pytest
import trimesh
from hypothesis import example, given
from hypothesis import strategies as st

from evaluation.metrics.mesh import occupancy
from evaluation.metrics.mesh.occupancy import affordable, closed, grid_around, inside_by_winding, stratified
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.mesh.volume_by_centres import _sample, encloses, occupied
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import (
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
    union,
    value,
)
from tests.support.examples import examples

volume_iou = with_defaults("volume_iou", version=3)


def surface_of(shape: Mesh):
    return pair(SQUARE, shape).reference


def centres(grid) -> np.ndarray:
    return np.stack(np.meshgrid(*[grid.centres(axis) for axis in range(3)], indexing="ij"), axis=-1).reshape(-1, 3)


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
    assert result.parts == {"volume_pred": 1.0, "volume_gt": result.value, "volume_both": result.value, "standard_error": 0.0}


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


@examples(5)
@given(st.integers(0, 100_000))
@example(735)  # where trimesh is wrong
def test_closed_meshes_are_filled_as_trimesh_fills_them(seed):
    surface = surface_of(turned(noisy(sphere(5), 0.05, seed), seed))
    grid = grid_around(surface.points, n=12)
    solid = trimesh.Trimesh(surface.points, surface.oriented, process=False)
    assert solid.is_watertight and closed(surface.faces)
    found, by_rays = occupied(surface, grid, 1e-12).ravel(), solid.contains(centres(grid))
    assert np.count_nonzero(found != by_rays) <= 1, "a ray of trimesh's that grazes an edge may miss a face"
    assert np.array_equal(found, igl.winding_number(surface.points, surface.oriented, centres(grid)) > 0.5)


def winding_numbers(surface, places) -> tuple[np.ndarray, np.ndarray]:
    """(whether the solid angle of all faces, one by one, is at least half the sphere; whether that is too near to tell)."""
    value = igl.winding_number(surface.points, surface.oriented, places)
    return value >= 0.5, np.abs(value - 0.5) < 0.01


@examples(10)
@given(st.integers(0, 100_000))
def test_open_meshes_are_filled_by_the_winding_number_of_all_their_faces(seed):
    surface = surface_of(random_soup(seed, 14, 20))
    places = centres(grid_around(surface.points, n=17))
    expected, doubtful = winding_numbers(surface, places)
    assert np.array_equal(inside_by_winding(surface, places)[~doubtful], expected[~doubtful])


@pytest.mark.parametrize(("n", "size"), [(3000, 0.02), (3000, 0.4), (1200, 1.0), (300, 0.3)])
def test_the_tree_is_as_near_as_it_is_taken_to_be(n, size):
    rng = np.random.default_rng(n)
    shells = rng.normal(size=(n, 1, 3))
    shells /= np.linalg.norm(shells, axis=2, keepdims=True)
    for middles in (rng.normal(0, 1, (n, 1, 3)), shells):
        corners = middles + rng.normal(0, size, (n, 3, 3))
        surface = surface_of(mesh(corners.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3)))
        places = surface.points[rng.integers(len(surface.points), size=800)] + rng.normal(0, 0.1, (800, 3))
        exact = igl.winding_number(surface.points, surface.oriented, places)
        tree = igl.FastWindingNumberBVH()
        tree.init(surface.points, surface.oriented, 2)
        for accuracy, error in ((occupancy.ROUGHLY, occupancy.DOUBT / 3), (occupancy.FINELY, 0.01)):
            assert np.abs(tree.winding_number(places, accuracy) - exact).max() <= error, accuracy


def test_meshes_of_large_faces_are_asked_at_fewer_places():
    """The tree spares nothing where every face counts at every place, and a mesh may not hold everybody up for that."""

    def soup(n, size):
        rng = np.random.default_rng(n)
        corners = rng.normal(0, 1, (n, 1, 3)) + rng.normal(0, size, (n, 3, 3))
        return surface_of(mesh(corners.reshape(-1, 3), np.arange(3 * n).reshape(-1, 3)))

    few, more = affordable(soup(20_000, 0.4)), affordable(soup(5_000, 0.4))
    assert occupancy.MIN_PLACES < few < more < occupancy.MAX_PLACES == affordable(soup(20_000, 0.02)) == affordable(surface_of(sphere(24)))
    opened = mesh(sphere(24).vertices, sphere(24).faces[1:])
    wild = soup(20_000, 0.4)
    assert len(_sample(grid_around(wild.points, n=256), surface_of(opened), wild).cells) <= few + 7


@examples(40)
@given(
    st.integers(1, 40),
    st.tuples(*[st.integers(0, 40)] * 3),
    st.tuples(*[st.integers(0, 40)] * 3),
    st.integers(1, 3000),
    st.integers(0, 99),
)
def test_the_blocks_of_a_sample_fill_the_grid(n, one, other, most, seed):
    low, high = np.minimum(np.minimum(one, other), n), np.minimum(np.maximum(one, other), n)
    sample = stratified(n, low, high, most, np.random.default_rng(seed))
    assert sample.stands_for.sum() == n**3 and len(np.unique(sample.cells, axis=0)) == len(sample.cells)
    assert sample.cells.min() >= 0 and sample.cells.max() < n
    assert len(sample.cells) <= max(most, 7)
    if most >= 2 * n**3:
        assert len(sample.cells) == n**3 and sample.error(np.arange(n**3) % 2) == 0.0
    within = ((sample.cells >= low) & (sample.cells < high)).all(axis=1)
    assert sample.stands_for[within].sum() == np.prod(high - low), "no block reaches over the edge of the cuboid"


def test_the_standard_error_is_that_of_many_samples_or_somewhat_more():
    """Two balls, half in one another, in a grid of 48 cells a side, of which about 4,000 are asked."""
    n, found, told = 48, [], []
    for seed in range(150):
        sample = stratified(n, np.zeros(3, np.int64), np.full(3, n), 4000, np.random.default_rng(seed))
        place = (sample.cells + 0.5) / n
        one, other = (np.linalg.norm(place - middle, axis=1) < 0.3 for middle in ((0.4, 0.5, 0.5), (0.6, 0.5, 0.5)))
        both, either = sample.sum(one & other), sample.sum(one | other)
        found.append(both / either)
        told.append(sample.error((one & other) - both / either * (one | other)) / either)
    assert np.std(found) < np.mean(told) < 2 * np.std(found)
    height = 0.3 - 0.1  # of the two caps that the balls share
    shared = 2 * np.pi * height**2 * (3 * 0.3 - height) / 3
    assert np.mean(found) == pytest.approx(shared / (2 * 4 / 3 * np.pi * 0.3**3 - shared), abs=0.003)


def test_an_open_sphere_measures_nearly_what_the_closed_one_does():
    closed_one, other = sphere(24), moved(sphere(24), (0.3, 0.2, 0.1))
    opened = mesh(closed_one.vertices, closed_one.faces[1:])
    exact = volume_iou(pair(closed_one, other))
    found = volume_iou(pair(opened, other))
    assert 0.0005 < found.parts["standard_error"] < 0.004 and exact.parts["standard_error"] == 0.0
    assert found.value == pytest.approx(exact.value, abs=4 * found.parts["standard_error"])
    for name in ("volume_pred", "volume_gt", "volume_both"):
        assert found.parts[name] == pytest.approx(exact.parts[name], rel=0.01)
    assert value(volume_iou, other, opened) == value(volume_iou, opened, other) == found.value, "whichever is the reference"


def test_a_speck_far_away_does_not_blur_the_rest():
    """Half of the cells are asked where both meshes are, however large the grid around them is."""
    opened = mesh(sphere(24).vertices, sphere(24).faces[1:])
    speck = moved(box((0, 0, 0), (0.01, 0.01, 0.01)), (12, 0, 0))
    found = volume_iou(pair(union(opened, speck), sphere(24, 0.9)))
    assert found.value == pytest.approx(0.9**3, abs=0.05) and found.parts["standard_error"] < 0.01


def test_a_real_open_mesh(data_folder):
    """968 faces around two holes for the eyes, which took minutes when every cell was decided for certain."""
    found = trimesh.load(data_folder / "meshes" / "suzanne.ply")
    shape = mesh(found.vertices, found.faces)
    result = volume_iou(pair(shuffled(shape, 0), shape))
    assert (result.value, result.flags) == (1.0, ("pred_not_watertight", "gt_not_watertight"))
    sides = pair(scaled(shape, 1.05), shape)
    larger = volume_iou(sides)
    low, high = sides.prediction().points.min(axis=0), sides.prediction().points.max(axis=0)
    places = low + np.random.default_rng(0).random((8000, 3)) * (high - low)
    one, other = (winding_numbers(side, places)[0] for side in (sides.prediction(), sides.reference))
    assert larger.value == pytest.approx((one & other).sum() / (one | other).sum(), abs=0.04)
    assert larger.parts["standard_error"] < 0.003


@pytest.mark.parametrize("missing", [[0, 1], [0], [4, 5, 6, 7], list(range(2, 12))])
def test_a_box_without_some_faces(missing):
    shape = noisy(turned(box((0, 0, 0), (3, 2, 1)), 2), 0.02, 1)
    surface = surface_of(mesh(shape.vertices, np.delete(shape.faces, missing, axis=0)))
    places = centres(grid_around(surface.points, n=33))
    expected, doubtful = winding_numbers(surface, places)
    assert not closed(surface.faces)
    assert np.array_equal(inside_by_winding(surface, places)[~doubtful], expected[~doubtful])


def test_an_open_box_along_the_axes_is_full():
    opened = mesh(box().vertices, box().faces[2:])
    result = volume_iou(pair(opened, box()), resolution=64)
    assert (result.value, result.flags) == (1.0, ("pred_not_watertight",))
    assert volume_iou(pair(box(), opened), resolution=64).flags == ("gt_not_watertight",)


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


OPEN_BOX = mesh(box().vertices, box().faces[2:])
INWARDS = mesh(OPEN_BOX.vertices, OPEN_BOX.faces[:, ::-1])
DOUBLE = mesh(SQUARE.vertices, [*SQUARE.faces, *SQUARE.faces[:, ::-1]])


@pytest.mark.parametrize("resolution", [8, 9, 64])
@pytest.mark.parametrize("reference", [SQUARE, turned(SQUARE, 1), DOUBLE, INWARDS], ids=["flat", "flat and turned", "two sides", "inwards"])
def test_against_a_reference_that_encloses_nothing_there_is_no_value(reference, resolution):
    for prediction in (reference, box(), None):
        result = volume_iou(pair(prediction, reference), resolution=resolution)
        assert (result.value, str(result.status), result.flags) == (None, "not_applicable", ("gt_encloses_nothing",))


def test_a_prediction_that_encloses_nothing_has_the_worst_value():
    for prediction in (SQUARE, INWARDS, DOUBLE):
        result = volume_iou(pair(moved(prediction, (0, 0, 1e-3)), box()), resolution=16)
        assert (result.value, str(result.status)) == (0.0, "ok")


def test_a_sheet_too_thin_for_the_cells_encloses_nothing_and_one_that_only_this_grid_misses_does():
    sheet = box((0, 0, 0.3), (1, 1, 0.3125))
    for resolution, seen in ((8, False), (9, True)):  # whose own grid has a layer of centres in its middle, or none
        assert encloses(pair(None, sheet), resolution) == seen
        assert value(volume_iou, sheet, sheet, resolution=resolution) == (1.0 if seen else None)
    upright = mesh([(0.5, 0, 0), (0.5, 1, 0), (0.5, 1, 1.0), (0.5, 0, 1)], [(0, 1, 2), (0, 2, 3)])
    result = volume_iou(pair(moved(upright, (0.01, 0, 0)), sheet), resolution=9)
    assert (result.value, str(result.status)) == (0.0, "ok") and "both_empty" in result.flags


def test_whether_a_reference_encloses_anything_is_kept_with_it():
    kept = {}
    volume_iou(MeshPair.of(SQUARE, SQUARE, prepared=kept), resolution=8)
    assert [key for key in kept if key.startswith("encloses")] == ["encloses resolution=8"]


def test_a_shift_of_millions_changes_nothing():
    for shape in (box(), sphere(6), mesh(sphere(6).vertices, sphere(6).faces[4:])):
        reference, prediction = rounded(shape), rounded(noisy(shape, 0.03, 0))
        here = value(volume_iou, prediction, reference, resolution=40)
        assert value(volume_iou, moved(prediction, FAR), moved(reference, FAR), resolution=40) == pytest.approx(here, rel=1e-6)


def test_little_at_a_time_gives_the_same(monkeypatch):
    shapes = pair(mesh(sphere(6).vertices, sphere(6).faces[5:]), box((-1, -1, -1), (1, 1, 0.3)))
    whole = volume_iou(shapes, resolution=24)
    monkeypatch.setattr(occupancy, "CHUNK", 7)
    assert volume_iou(shapes, resolution=24) == whole

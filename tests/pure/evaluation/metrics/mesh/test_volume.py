import igl
import numpy as np
import pytest
import trimesh

from evaluation.metrics.mesh import volume
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.mesh.solid import Rays, inside_lengths, shells
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
    rounded,
    scaled,
    shuffled,
    sphere,
    turned,
    union,
    value,
)

volume_iou = with_defaults("volume_iou")
TRAY = box((0, 0, 0), (0.2, 0.1, 0.003))
TORUS = trimesh.creation.torus(1.0, 0.3, major_sections=48, minor_sections=24)


def inwards(shape: Mesh) -> Mesh:
    return mesh(shape.vertices, shape.faces[:, ::-1])


def opened(shape: Mesh) -> Mesh:
    return mesh(shape.vertices, shape.faces[1:])


def spiked(shape: Mesh) -> Mesh:
    """With a face of no volume on each side of one edge, which makes it closed and no manifold."""
    a, b, _ = shape.faces[0]
    tip = len(shape.vertices)
    spike = shape.vertices[a] * 1.01 + shape.vertices[b] * 0.01
    return mesh([*shape.vertices, spike], [*shape.faces, (a, b, tip), (b, a, tip)])


@pytest.fixture
def rays_alone(monkeypatch):
    """No booleans, as for meshes with too many faces."""
    monkeypatch.setattr(volume, "MOST_FACES", 0)


@pytest.mark.parametrize(
    ("prediction", "reference", "exact"),
    [
        pytest.param(moved(TRAY, (0, 0, 0.0005)), TRAY, 2.5 / 3.5, id="a tray moved by a sixth of its thickness"),
        pytest.param(moved(TRAY, (0.0005, 0, 0)), TRAY, 199.5 / 200.5, id="along its length"),
        pytest.param(moved(box(), (0.25, 0, 0)), box(), 0.6, id="a cube moved by a quarter"),
        pytest.param(box((-0.5,) * 3, (0.5,) * 3), box((-0.6,) * 3, (0.6,) * 3), 1.2**-3, id="a cube in a larger one"),
        pytest.param(
            mesh(TORUS.vertices, TORUS.faces), scaled(mesh(TORUS.vertices, TORUS.faces), (1, 1, 2)), 0.5, id="a torus and a tall one"
        ),
        pytest.param(turned(box(), 3), turned(box((0, 0, 0), (1, 1, 2)), 3), 0.5, id="turned boxes"),
        pytest.param(union(box(), moved(box(), (0.5, 0, 0))), box(), 1 / 1.5, id="two boxes half in one another"),
        pytest.param(union(box(), moved(box(), (3, 0, 0))), moved(box(), (3, 0, 0)), 0.5, id="two boxes apart"),
        pytest.param(union(box((0, 0, 0), (4, 4, 4)), inwards(box((1, 1, 1), (3, 3, 3)))), box((0, 0, 0), (4, 4, 4)), 7 / 8, id="a hollow"),
        pytest.param(union(box((0, 0, 0), (4, 4, 4)), box((1, 1, 1), (3, 3, 3))), box((0, 0, 0), (4, 4, 4)), 1.0, id="a shell in a shell"),
        pytest.param(inwards(box()), box(), 1.0, id="inside out"),
        pytest.param(union(box(), inwards(moved(box(), (3, 0, 0)))), moved(box(), (3, 0, 0)), 0.5, id="one of two inside out"),
    ],
)
@pytest.mark.parametrize("resolution", [64, 32])
def test_closed_manifolds_have_their_exact_value(prediction, reference, exact, resolution, monkeypatch):
    result = volume_iou(pair(prediction, reference), resolution=resolution)
    assert result.value == pytest.approx(exact, abs=1e-9) and result.parts["standard_error"] == 0.0
    assert value(volume_iou, reference, prediction, resolution=resolution) == pytest.approx(exact, abs=1e-9)
    monkeypatch.setattr(volume, "MOST_FACES", 0)
    by_rays = volume_iou(pair(prediction, reference), resolution=resolution)
    assert abs(by_rays.value - exact) <= 3 * by_rays.parts["standard_error"] + 1e-9


def test_a_cube_in_one_two_percent_larger(data_folder):
    """Written by trimesh, both turned outwards: filled by parity they were a wall without the cube, and shared nothing with it."""
    cube, both = (trimesh.load(data_folder / "cases" / f"{name}.ply", process=False) for name in ("box", "box_in_box"))
    cube, both = mesh(cube.vertices, cube.faces), mesh(both.vertices, both.faces)
    for result in (volume_iou(pair(both, cube), resolution=64), volume_iou(pair(cube, both), resolution=64)):
        assert result.value == pytest.approx(1.02**-3, abs=1e-6) and result.parts["standard_error"] == 0.0
    assert value(volume_iou, both, both) == 1.0  # at the default resolution, as files come


def test_equal_meshes_are_one_and_apart_ones_are_zero():
    for shape in (box(), sphere(8), moved(noisy(sphere(8), 0.05, 0), FAR), turned(box(), 1), opened(sphere(8)), spiked(box())):
        assert value(volume_iou, shuffled(shape, 0), shape, resolution=40) == 1.0
        assert value(volume_iou, moved(shape, (5, 0, 0)), shape, resolution=40) == 0.0


def test_parts_are_shares_of_the_cube_around_both():
    parts = volume_iou(pair(moved(box(), (1, 0, 0)), box((0, 0, 0), (2, 1, 1)))).parts
    assert parts == pytest.approx({"volume_pred": 1 / 8, "volume_gt": 2 / 8, "volume_both": 1 / 8, "standard_error": 0.0})


def test_faces_that_disagree_with_their_neighbours_are_turned_as_these_are():
    cube = box()
    some = mesh(cube.vertices, [face[::-1] if number % 3 else face for number, face in enumerate(cube.faces)])
    result = volume_iou(pair(some, moved(cube, (0.25, 0, 0))))
    assert (result.value, result.parts["standard_error"]) == (pytest.approx(0.6), 0.0) and "pred_not_watertight" not in result.flags


def test_a_mesh_that_is_no_manifold_or_cuts_itself_is_met_by_rays():
    doubled = union(box(), box())
    cut = noisy(sphere(24), 0.08, 0)
    for shape, other, exact in (
        (spiked(box()), moved(box(), (0.25, 0, 0)), 0.6),
        (doubled, moved(box(), (0.25, 0, 0)), 0.6),
        (cut, cut, 1.0),
    ):
        result = volume_iou(pair(shape, other), resolution=96)
        assert abs(result.value - exact) <= 3 * result.parts["standard_error"] + 1e-9 and "pred_not_watertight" not in result.flags
    other = turned(sphere(24), 1)
    result, sides = volume_iou(pair(cut, other)), pair(cut, other)
    places = np.random.default_rng(0).uniform(-0.6, 0.6, (60_000, 3))
    one, two = (igl.winding_number(side.points, side.oriented, places) >= 0.5 for side in (sides.prediction(), sides.reference))
    drawn = (one & two).sum() / (one | two).sum()
    assert 0 < result.parts["standard_error"] < 0.001 and result.value == pytest.approx(drawn, abs=0.008)


def errors(shapes, exact: float, resolution: int) -> np.ndarray:
    """(value - exact) / standard error of two shapes turned together in many ways."""
    found = []
    for seed in range(60):
        result = volume_iou(pair(*(turned(shape, seed) for shape in shapes)), resolution=resolution)
        found.append((result.value - exact) / result.parts["standard_error"])
    return np.array(found)


@pytest.mark.usefixtures("rays_alone")
def test_the_standard_error_along_rays_is_a_true_one():
    found = errors((moved(box(), (0.25, 0.1, 0)), box()), 0.675 / 1.325, 40)
    assert 0.7 < np.sqrt(np.mean(found**2)) < 1.4 and abs(found).max() < 4


def test_the_standard_error_of_an_open_mesh_is_a_true_one():
    """A box without the lid between two of its walls that lies where the other box ends: nothing is lost or gained by that."""
    wide, tall = box((0, 0, 0), (1, 1, 1)), box((0, 0, 0), (1, 1, 2))
    found = errors((mesh(wide.vertices, wide.faces), mesh(tall.vertices, [*tall.faces, *SQUARE_INSIDE])), 0.5, 20)
    assert 0.7 < np.sqrt(np.mean(found**2)) < 1.4 and abs(found).max() < 4


SQUARE_INSIDE = [(0, 1, 3)]  # one face twice: three at its edges, so no solid, and no less inside


def test_thin_is_what_has_more_than_two_hundredths_of_its_volume_in_a_layer_of_cells():
    cube = box()  # 6 / 320 of it; a plate of a tenth: 2.4 / 320 / 0.1
    assert "thin" not in volume_iou(pair(cube, cube), resolution=320).flags
    assert "thin" in volume_iou(pair(box((0, 0, 0), (1, 1, 0.1)), cube), resolution=320).flags
    assert "thin" in volume_iou(pair(TRAY, TRAY)).flags


@pytest.mark.parametrize("prediction", NO_SURFACE)
def test_without_faces(prediction):
    result = volume_iou(pair(prediction, box()))
    assert (result.value, str(result.status)) == (0.0, "empty_pred")


OPEN_BOX = mesh(box().vertices, box().faces[2:])
DOUBLE = mesh(SQUARE.vertices, [*SQUARE.faces, *SQUARE.faces[:, ::-1]])


def test_an_open_box_along_the_axes_is_full():
    result = volume_iou(pair(OPEN_BOX, box()), resolution=64)
    assert result.value == 1.0 and "pred_not_watertight" in result.flags
    assert "gt_not_watertight" in volume_iou(pair(box(), OPEN_BOX), resolution=64).flags


@pytest.mark.parametrize("resolution", [8, 9, 64])
@pytest.mark.parametrize(
    "reference",
    [SQUARE, turned(SQUARE, 1), DOUBLE, turned(DOUBLE, 1), inwards(OPEN_BOX)],
    ids=["flat", "flat, turned", "two sides", "two sides, turned", "inwards"],
)
def test_against_a_reference_that_encloses_nothing_there_is_no_value(reference, resolution):
    for prediction in (reference, box(), None):
        result = volume_iou(pair(prediction, reference), resolution=resolution)
        assert (result.value, str(result.status), result.flags) == (None, "not_applicable", ("gt_encloses_nothing",))


def test_a_prediction_that_encloses_nothing_has_the_worst_value():
    for prediction in (SQUARE, inwards(OPEN_BOX), DOUBLE):
        result = volume_iou(pair(moved(prediction, (0, 0, 1e-3)), box()), resolution=16)
        assert (result.value, str(result.status)) == (0.0, "ok")


def test_whether_a_reference_encloses_anything_is_kept_apart_from_what_version_3_kept():
    kept = {}
    volume_iou(MeshPair.of(SQUARE, SQUARE, prepared=kept), resolution=8)
    with_defaults("volume_iou", version=3)(MeshPair.of(SQUARE, SQUARE, prepared=kept), resolution=8)
    assert len([key for key in kept if key.startswith("encloses")]) == 2


@pytest.mark.parametrize("shape", [box(), sphere(6), mesh(sphere(6).vertices, sphere(6).faces[4:])])
def test_a_shift_of_millions_changes_nothing(shape):
    reference, prediction = rounded(shape), rounded(noisy(shape, 0.03, 0))
    here = value(volume_iou, prediction, reference, resolution=40)
    assert value(volume_iou, moved(prediction, FAR), moved(reference, FAR), resolution=40) == pytest.approx(here, rel=1e-6)


def test_rays_are_fewer_where_large_faces_lie_over_each_other(monkeypatch):
    sides = [shells(pair(SQUARE, union(*(moved(box(), (0, 0, step / 1000)) for step in range(40)))).reference)]
    assert Rays.through(sides, 64, np.random.default_rng(0)).base.shape[-1] == 64
    monkeypatch.setattr("evaluation.metrics.mesh.solid.MOST_CELLS", 100_000)
    rays = Rays.through(sides, 64, np.random.default_rng(0))
    assert 8 <= rays.base.shape[-1] < 64
    lengths, _ = inside_lengths(sides, rays, 1e-9)
    assert lengths[0].sum() / 2 * rays.area == pytest.approx(1.039 / 1.039**3, rel=0.01)

import numpy as np
import point_cloud_utils
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from evaluation.metrics.mesh import closest, distances
from evaluation.metrics.mesh.distances import nearest
from evaluation.metrics.mesh.pair import Cloud, MeshPair
from submissions.formats.arrays import Mesh
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import (
    EMPTY,
    FAR,
    NO_SURFACE,
    SQUARE,
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
    value,
)
from tests.support.examples import examples

chamfer_l1 = with_defaults("chamfer_l1")
chamfer_l2 = with_defaults("chamfer_l2")
mesh_fscore = with_defaults("mesh_fscore")
uhd = with_defaults("uhd")

ALL = (chamfer_l1, chamfer_l2, mesh_fscore, uhd)
TOY = np.array([(0, 0, 0), (1, 0, 0)], dtype=float), np.array([(0, 0, 0), (1, 0.3, 0), (3, 0, 0)], dtype=float)


@pytest.fixture
def toy(monkeypatch):
    """A pair whose samples are the points of the worked examples."""
    clouds = [Cloud(points, np.zeros(len(points), np.int32)) for points in TOY]
    found = pair(SQUARE, SQUARE)
    monkeypatch.setattr(found, "prediction_cloud", lambda *given: clouds[0])
    monkeypatch.setattr(found, "reference_cloud", lambda *given: clouds[1])
    nothing = pair(EMPTY, SQUARE).prediction()  # no surface and no vertex
    monkeypatch.setattr(found, "prediction", lambda *given: nothing)
    monkeypatch.setattr(found, "reference", nothing)
    return found


def test_worked_example_of_points(toy):
    first = chamfer_l1(toy)
    assert first.value == pytest.approx(0.4583333, abs=1e-7)
    assert dict(first.parts) == pytest.approx({"accuracy": 0.15, "completeness": 2.3 / 3, "mean_a2": 0.045, "mean_b2": 4.09 / 3}, abs=1e-12)
    assert chamfer_l2(toy).value == pytest.approx(1.4083333, abs=1e-7)
    found = distances.gaps(toy, 100, 0, "none")
    assert (found.b.max(), found.a.max()) == pytest.approx((2.0, 0.3), abs=1e-12)


@pytest.mark.parametrize(("threshold", "precision", "recall", "f"), [(0.3, 1.0, 2 / 3, 0.8), (0.05, 0.5, 1 / 3, 0.4)])
def test_worked_example_of_the_fscore(toy, threshold, precision, recall, f):
    result = mesh_fscore(toy, threshold=threshold)
    assert result.value == pytest.approx(f, abs=1e-12)
    assert dict(result.parts) == pytest.approx({"precision": precision, "recall": recall}, abs=1e-12)


def test_worked_example_of_parallel_squares():
    above = moved(SQUARE, (0, 0, 0.2))
    assert value(chamfer_l1, above, SQUARE, n=2000) == pytest.approx(0.2, abs=1e-12)
    assert value(chamfer_l2, above, SQUARE, n=2000) == pytest.approx(0.08, abs=1e-12)
    assert value(uhd, above, SQUARE, n=2000) == pytest.approx(0.2, abs=1e-12)
    assert value(mesh_fscore, above, SQUARE, n=2000, threshold=0.2) == 1.0
    assert value(mesh_fscore, above, SQUARE, n=2000, threshold=0.1999) == 0.0


@pytest.mark.parametrize("shape", [SQUARE, sphere(8), moved(noisy(sphere(8), 0.05, 0), FAR), random_soup(0)])
def test_equal_surfaces_are_exactly_zero_whatever_the_order_of_the_file(shape):
    for metric in ALL:
        expected = 1.0 if metric is mesh_fscore else 0.0
        assert value(metric, shuffled(shape, 1), shape, n=2000) == expected
        assert value(metric, shape, shape, n=2000, seed0=5) == expected


@examples(15)
@given(st.integers(0, 100_000))
def test_values_are_those_of_all_distances(seed):
    reference = random_soup(seed)
    found = pair(noisy(reference, 0.2, seed), reference)
    a, b = found.prediction_cloud(300).points, found.reference_cloud(300).points
    everything = cdist(a, b)
    there, back = everything.min(axis=1), everything.min(axis=0)
    assert chamfer_l1(found, n=300).value == pytest.approx((there.mean() + back.mean()) / 2, abs=1e-12)
    assert chamfer_l2(found, n=300).value == pytest.approx((there**2).mean() + (back**2).mean(), abs=1e-12)
    precision, recall = (there <= 0.05).mean(), (back <= 0.05).mean()
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert mesh_fscore(found, n=300).value == pytest.approx(expected, abs=1e-12)


def test_lengths_in_metres_on_request():
    above = scaled(moved(SQUARE, (0, 0, 0.2)), 500)
    reference = scaled(SQUARE, 500)
    assert value(chamfer_l1, above, reference, 0.01, n=2000) == pytest.approx(0.2, abs=1e-12)
    assert value(chamfer_l1, above, reference, 0.01, n=2000, normalize="none") == pytest.approx(1.0, abs=1e-12)
    assert value(chamfer_l2, above, reference, 0.01, n=2000, normalize="none") == pytest.approx(2.0, abs=1e-12)
    assert value(uhd, above, reference, 0.01, n=2000, normalize="none") == pytest.approx(1.0, abs=1e-12)
    assert value(mesh_fscore, above, reference, 0.01, n=2000, normalize="none", threshold=1.0) == 1.0
    assert value(mesh_fscore, above, reference, 0.01, n=2000, normalize="none", threshold=0.99) == 0.0


@pytest.mark.parametrize("prediction", [None, EMPTY, mesh([], [])])
@pytest.mark.parametrize(("normalize", "diagonal"), [("gt_unit", np.sqrt(3)), ("none", 2 * np.sqrt(3))])
def test_a_prediction_without_vertices_gets_the_worst_value(prediction, normalize, diagonal):
    worst = {chamfer_l1: diagonal, chamfer_l2: diagonal**2, uhd: diagonal, mesh_fscore: 0.0}
    for metric, expected in worst.items():
        result = metric(pair(prediction, scaled(box(), 2)), normalize=normalize)
        assert (result.value, str(result.status)) == (pytest.approx(expected), "empty_pred")


def test_points_without_faces_stand_for_themselves():
    above = mesh([(0.5, 0.5, 0.25), (0.5, 0.5, 0.75)])
    result = chamfer_l1(pair(above, SQUARE))
    assert result.flags == ("points_only",)
    assert str(result.status) == "ok"
    assert result.parts["accuracy"] == pytest.approx(0.5, abs=0.005)
    largest = uhd(pair(above, SQUARE))
    assert largest.value == pytest.approx(np.sqrt(0.5 + 0.25**2), abs=1e-12), "from a corner of the square"
    assert largest.parts["uhd_pred2gt"] == pytest.approx(0.75, abs=1e-12)
    assert value(chamfer_l1, mesh(above.vertices[::-1]), SQUARE) == result.value


def test_a_shift_of_millions_changes_nothing_above_a_millionth():
    for seed, shape in enumerate((sphere(10), box(), random_soup(4), scaled(sphere(6), (9.0, 4.0, 3.0)))):
        reference, prediction = rounded(shape), rounded(noisy(shape, 0.05, seed))
        for metric in ALL:
            here = value(metric, prediction, reference, n=2000)
            assert value(metric, moved(prediction, FAR), moved(reference, FAR), n=2000) == pytest.approx(here, rel=1e-6)


def test_aligning_undoes_a_similarity():
    reference = noisy(scaled(sphere(10), (3.0, 2.0, 1.0)), 0.02, 0)
    angle = np.radians(8)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    prediction = mesh(1.07 * reference.vertices @ turn.T + (0.2, -0.1, 0.1), reference.faces)
    plain, aligned = (chamfer_l1(pair(prediction, reference), n=3000, align=align) for align in ("none", "similarity_icp"))
    assert aligned.value < plain.value / 5
    assert aligned.parts["align_scale"] == pytest.approx(1 / 1.07, rel=5e-3)
    assert aligned.parts["align_r01"] == pytest.approx(np.sin(angle), abs=5e-3)
    assert [name for name in plain.parts if name.startswith("align")] == []


def test_the_four_metrics_share_one_search(monkeypatch):
    calls = []
    search = distances.nearest
    monkeypatch.setattr(distances, "nearest", lambda points, others: calls.append(len(points)) or search(points, others))
    found = pair(noisy(sphere(6), 0.1, 0), sphere(6))
    for metric in ALL:
        metric(found)
        metric(found, normalize="none")
    assert calls.count(100_000) == 2  # there and back; `uhd` asks for few of its own


normal_difference = with_defaults("normal_difference")
p2s = with_defaults("p2s")


def tilted(degrees: float):
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return mesh(SQUARE.vertices @ np.array([[1, 0, 0], [0, cos, sin], [0, -sin, cos]]), SQUARE.faces)


def test_worked_example_of_a_square_over_a_square():
    result = p2s(pair(moved(SQUARE, (0, 0, 0.2)), SQUARE))
    assert result.value == pytest.approx(0.2, abs=1e-12)
    assert dict(result.parts) == pytest.approx({"p2s_max": 0.2}, abs=1e-12)
    larger = scaled(SQUARE, (3, 3, 1))
    assert value(p2s, moved(SQUARE, (1, 1, 0.2)), larger) == pytest.approx(0.2 / 3, abs=1e-12)
    assert value(p2s, moved(SQUARE, (1, 1, 0.2)), larger, normalize="none", unit_scale=0.01) == pytest.approx(0.002, abs=1e-12)


@pytest.mark.parametrize("degrees", [0, 30, 60, 90, 150])
def test_worked_example_of_a_tilted_square(degrees):
    expected = 1 - abs(np.cos(np.radians(degrees)))
    result = normal_difference(pair(tilted(degrees), SQUARE), n=2000)
    assert result.value == pytest.approx(expected, abs=1e-12)
    assert dict(result.parts) == pytest.approx({"pred2gt": expected, "gt2pred": expected}, abs=1e-12)


def test_the_worked_number_for_thirty_degrees():
    assert value(normal_difference, tilted(30), SQUARE, n=2000) == pytest.approx(0.1339746, abs=1e-7)


def test_equal_surfaces_are_exactly_zero_and_inside_out_does_not_count():
    for shape in (sphere(8), moved(noisy(sphere(6), 0.05, 0), FAR), random_soup(3)):
        for metric in (p2s, normal_difference):
            assert value(metric, shuffled(shape, 1), shape, n=3000) == 0.0
            assert value(metric, mesh(shape.vertices, shape.faces[:, ::-1]), shape, n=3000) == 0.0


def test_a_part_of_the_reference_is_no_distance_from_it():
    half = mesh(sphere(8).vertices, sphere(8).faces[::2])
    assert value(p2s, half, sphere(8)) == 0.0
    assert value(chamfer_l1, half, sphere(8)) > 0.004, "the other half is missed"


@examples(10)
@given(st.integers(0, 100_000))
def test_distances_to_triangles_are_those_of_trimesh_to_each_triangle(seed):
    reference = pair(SQUARE, random_soup(seed)).reference
    points = np.random.default_rng(seed).normal(0, 1, (40, 3))
    triangles = reference.points[reference.faces]
    found = [trimesh.triangles.closest_point(triangles, np.repeat(point[None], len(triangles), axis=0)) for point in points]
    expected = [np.linalg.norm(each - point, axis=1).min() for each, point in zip(found, points, strict=True)]
    assert closest.distances(points, reference.points, reference.faces) == pytest.approx(np.array(expected), abs=1e-12)


def test_parity_with_trimesh_proximity():
    reference = noisy(sphere(10), 0.03, 0)
    found = pair(noisy(reference, 0.1, 1), reference)
    surface = found.reference
    _, expected, _ = trimesh.proximity.closest_point(
        trimesh.Trimesh(surface.points, surface.faces, process=False), found.prediction_cloud(2000).points
    )
    assert p2s(found, n=2000).value == pytest.approx(expected.mean(), abs=1e-6)


def test_parity_with_point_cloud_utils():
    found = pair(noisy(sphere(10), 0.1, 1), sphere(10))
    a, b = found.prediction_cloud(3000), found.reference_cloud(3000)
    assert nearest(a.points, b)[0] == pytest.approx(point_cloud_utils.k_nearest_neighbors(a.points, b.points, 1)[0], abs=1e-9)
    both = point_cloud_utils.chamfer_distance(a.points, b.points)  # the sum of the two means
    assert chamfer_l1(found, n=3000).value == pytest.approx(both / 2, abs=1e-9)
    clouds = [Mesh(points, np.empty((0, 3), np.int64)) for points in (a.points, b.points)]
    assert chamfer_l1(MeshPair.of_points(*clouds), normalize="none").value == pytest.approx(both / 2, abs=1e-9)


@pytest.mark.parametrize("prediction", NO_SURFACE)
def test_without_faces(prediction):
    directions = normal_difference(pair(prediction, box()))
    assert (directions.value, str(directions.status)) == (1.0, "empty_pred")
    distance = p2s(pair(prediction, box()))
    if prediction is None or not len(prediction.vertices):
        assert (distance.value, str(distance.status)) == (pytest.approx(np.sqrt(3)), "empty_pred")
    else:
        assert (distance.value, distance.flags) == (p2s(pair(prediction, box()), n=1).value, ("points_only",))


def test_a_shift_of_millions_changes_nothing_of_triangles_above_a_millionth():
    for seed, shape in enumerate((sphere(8), box(), random_soup(5))):
        reference, prediction = rounded(shape), rounded(noisy(shape, 0.05, seed))
        for metric in (p2s, normal_difference):
            here = value(metric, prediction, reference, n=5000)
            assert value(metric, moved(prediction, FAR), moved(reference, FAR), n=5000) == pytest.approx(here, rel=1e-6)


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


@pytest.mark.parametrize("width", [1e-3, 1.0, 30.0])
def test_a_needle_is_no_way_from_itself_and_as_far_as_it_is_from_another(width):
    """Twenty million long: the figure of a triangle so thin would be wrong by 0.4 % of its length."""
    needles = mesh([(0, 0, -1e7), (0, width, 0), (0, 0, 0), (0, 0, 1e7)], [(0, 1, 2), (0, 1, 3)])
    for seed in range(4):
        assert value(uhd, shuffled(needles, seed), needles) == 0.0
    assert value(uhd, moved(needles, (4e6, 0, 0)), needles) == pytest.approx(0.2, rel=1e-6)


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


def test_bounds_of_pieces_hold_whatever_their_triangles():
    """No corner is further from the triangle than it is told to be, needles and points for triangles included."""
    rng = np.random.default_rng(0)
    pieces, triangles = rng.normal(size=(2, 400, 3, 3))
    triangles[:100, 2] = triangles[:100, 1] + rng.normal(scale=1e-9, size=(100, 3))
    triangles[100:120] = triangles[100:120, :1]
    places = triangles.mean(axis=1)
    found = distances._reach(pieces, places, triangles)
    for piece, triangle, told in zip(pieces, triangles, found, strict=True):
        exact = closest.distances(piece, triangle, np.array([[0, 1, 2]]))
        assert (told >= exact - 1e-9).all() and (told <= np.linalg.norm(piece - triangle.mean(axis=0), axis=1) + 1e-12).all()


def test_few_places_are_measured_where_two_meshes_are_nearly_one(monkeypatch):
    """A copy with rough vertices: nearly every face lies within reach of the triangle that is nearest to its middle."""
    asked, search = [], closest.to_triangles

    def counted(*mesh):
        there = search(*mesh)
        return lambda points: asked.append(len(points)) or there(points)

    monkeypatch.setattr(closest, "to_triangles", counted)
    reference = sphere(40)
    found = pair(noisy(reference, 0.002, 0), reference)
    result = uhd(found, n=50_000)
    assert sum(asked) < 6 * len(reference.faces)
    pred, ref = found.prediction(), found.reference
    drawn = np.concatenate([found.reference_cloud(1_000_000).points, ref.points])
    greatest = float(closest.distances(drawn, pred.points, pred.faces).max())  # of what was drawn: between it lies more
    assert greatest <= result.value <= 1.05 * greatest

"""Images that a judge is shown: which views, where they stand, and wireframes over their reference."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from evaluation.rendering.cameras import around, turntable
from leaderboard.studies.judge.images import BLUE, SIDE, Look, mesh_looks, png, side_by_side, turn_of, view_numbers, wireframes
from leaderboard.studies.judge.instructions import Row
from submissions.formats.arrays import Wireframe
from tests.support.factories import boxes, gable

S = SIDE


def flat(grey: int, side: int = SIDE) -> np.ndarray:
    return np.full((side, side, 3), grey, dtype=np.uint8)


def looks(first: int, n: int) -> list[Look]:
    """Views whose colour is first, first + 1, … and whose normals are 100 more."""
    return [Look(flat(first + k), flat(first + k + 100)) for k in range(n)]


def greys(image: np.ndarray) -> list[list[int]]:
    """The grey in the middle of each cell."""
    return image[S // 2 :: S, S // 2 :: S, 0].tolist()


def test_the_views_of_the_protocol():
    assert view_numbers(120, 1) == [0]
    assert view_numbers(120, 4) == [0, 30, 60, 90]
    assert view_numbers(120, 9) == [0, 13, 26, 39, 52, 65, 78, 91, 104]
    assert view_numbers(4, 4) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="there are 3 views and 4 are shown"):
        view_numbers(3, 4)


def test_a_generated_object_is_one_seed_in_the_order_of_the_turn():
    items = ["7/1-0", "7/0-10", "7/0-2", "7/0-0", "7/1-1"]
    assert turn_of(items) == ["7/0-0", "7/0-2", "7/0-10"]
    assert turn_of(["garden/b", "garden/a"]) == ["garden/a", "garden/b"] and turn_of([]) == []


@pytest.mark.parametrize("views", [1, 4, 9])
def test_grids_stand_row_by_row_colour_above_normals_object_1_on_the_left(views):
    side = int(views**0.5)
    image = side_by_side(looks(1, views), looks(51, views), Row(views, True, True, (0,), 1))
    assert image.shape == (2 * side * S, 2 * side * S, 3)
    grid = [[1 + r * side + c for c in range(side)] for r in range(side)]
    expected = [row + [n + 50 for n in row] for row in grid]
    assert greys(image) == expected + [[n + 100 for n in row] for row in expected]


def test_one_modality_alone_and_the_other_way_up():
    row = Row(4, True, True, (0,), 1)
    assert side_by_side(looks(1, 4), looks(51, 4), replace(row, normal=False)).shape == (2 * S, 4 * S, 3)
    assert greys(side_by_side(looks(1, 4), looks(51, 4), replace(row, rgb=False)))[0] == [101, 102, 151, 152]
    turned = greys(side_by_side(looks(1, 4), looks(51, 4), replace(row, normals_first=True)))
    assert turned[0] == [101, 102, 151, 152] and turned[2] == [1, 2, 51, 52]


def test_words_are_written_over_each_half_and_nowhere_else():
    row = Row(1, True, False, (0,), 1, watermark=True)
    image = side_by_side(looks(128, 1), looks(128, 1), row)
    left, right = image[: S // 4, :S], image[: S // 4, S:]
    assert (left != 128).any() and (right != 128).any() and not np.array_equal(left, right)
    assert (image[S // 4 :] == 128).all()


def test_other_sizes_are_fitted_into_the_square():
    wide = np.zeros((100, 200, 3), dtype=np.uint8)
    cell = side_by_side([Look(wide, None)], looks(0, 1), Row(1, True, False, (0,), 1))[:, :S]
    assert (cell[: S // 4 - 2] == 255).all() and (cell[S // 4 + 2 : 3 * S // 4 - 2] == 0).all()


def test_what_is_not_there_is_said():
    with pytest.raises(ValueError, match="no normals of these views"):
        side_by_side([Look(flat(1), None)], looks(1, 1), Row(1, True, True, (0,), 1))
    with pytest.raises(ValueError, match="1 views are given and 4 are shown"):
        side_by_side(looks(1, 1), looks(1, 4), Row(4, True, False, (0,), 1))


@pytest.mark.parametrize(
    ("number", "point", "normal"),
    [(0, (4, 1, 0.5), (255, 128, 128)), (30, (2, 2, 0.5), (128, 255, 128)), (0, (3.9, 1, 1), (128, 128, 255))],
    ids=["from +x", "a quarter of a turn on, from +y", "the lid"],
)
def test_a_meshs_normals_are_the_worlds(number, point, normal):
    (look,) = mesh_looks(boxes(n=1)["box_1"], [number])
    camera = around(turntable(120, 15.0)[number], np.array([2.0, 1.0, 0.5]), np.linalg.norm([4, 2, 1]) / 2)
    column, row = camera.projected(np.array(point, dtype=float), S, S).astype(int)
    assert np.abs(look.normals[row, column].astype(int) - normal).max() <= 2
    assert (look.normals[0, 0] == 255).all() and (look.colour[0, 0] == 255).all()


def blue(image: np.ndarray) -> int:
    return int((np.abs(image.astype(int) - BLUE).max(axis=2) < 40).sum())


def black(image: np.ndarray) -> int:
    return int((image.max(axis=2) < 60).sum())


def test_wireframes_are_blue_over_the_same_black_reference():
    house = gable()
    half = Wireframe(house.vertices, house.edges[:8])
    image = wireframes(house, house, half, 256)
    assert image.shape == (256, 512, 3)
    left, right = image[:, :256], image[:, 256:]
    assert blue(left) > 1.5 * blue(right) > 0 and black(right) > 3 * black(left)
    nothing = wireframes(house, None, house, 256)
    assert blue(nothing[:, :256]) == 0 and black(nothing[:, :256]) > 500 and blue(nothing[:, 256:]) == blue(left)
    empty = Wireframe(np.zeros((0, 3)), np.zeros((0, 2), dtype=np.int64))
    assert np.array_equal(wireframes(house, empty, house, 256), nothing)


def test_what_lies_far_away_does_not_make_the_reference_small():
    house = gable()
    far = Wireframe(np.concatenate([house.vertices, [[1e6, 1e6, 1e6]]]), np.concatenate([house.edges, [[0, 10]]]))
    plain, beside = (black(wireframes(house, None, other, 256)[:, :256]) for other in (house, far))
    assert beside > plain / 4


def test_the_image_is_the_same_bytes_each_time():
    image = side_by_side(looks(1, 4), looks(2, 4), Row(4, True, True, (0,), 1))
    assert png(image) == png(image)
    with Image.open(io.BytesIO(png(image))) as found:
        assert np.array_equal(np.asarray(found), image)

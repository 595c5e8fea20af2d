"""Procedural rooms: repeatable, cluttered without touching, and boxes that are those of what is seen."""

import numpy as np
import pytest

from evaluation.synthetic import rooms, textures
from evaluation.synthetic.distortions import generator
from evaluation.synthetic.objects import KINDS, item
from evaluation.synthetic.shapes import Builder

MAKERS = list(dict.fromkeys([*textures.SURFACES, *textures.WALLS, *textures.FLOORS, textures.spines, textures.painting, textures.leaves]))


@pytest.fixture(scope="module")
def some():
    return [rooms.room(f"test:{number}") for number in range(3)]


def test_a_room_and_its_views_follow_from_their_seeds(some):
    again = rooms.room("test:0")
    assert np.array_equal(again.scene.corners, some[0].scene.corners) and again.items == some[0].items
    one, two, other = rooms.view(some[0], 1, 64, 48), rooms.view(again, 1, 64, 48), rooms.view(again, 2, 64, 48)
    assert one.image.shape == (48, 64, 3) and np.array_equal(one.image, two.image) and one.boxes == two.boxes
    assert not np.array_equal(one.image, other.image)


def test_rooms_hold_several_objects_inside_their_walls_that_do_not_go_through_each_other(some):
    for room in some:
        assert len(room.items) >= 4 and set(room.items) <= set(KINDS)
        assert (np.abs(room.boxes[..., :2]) <= room.size[:2] / 2 + 1e-9).all() and (room.boxes[:, 0, 2] > -1e-9).all()
        standing = room.boxes[room.boxes[:, 0, 2] < 0.01]
        for n, a in enumerate(standing):
            for b in standing[n + 1 :]:
                assert (a[0, :2] > b[1, :2]).any() or (b[0, :2] > a[1, :2]).any()


def test_boxes_are_the_extents_of_the_visible_pixels(some):
    seen = [rooms.view(room, number, 96, 96, samples=1) for room in some for number in range(3)]
    assert sum(len(view.boxes) for view in seen) > 15
    for view in seen:
        for box in view.boxes:
            rows, columns = np.nonzero(view.items == box.item)
            assert (box.x1, box.y1, box.x2, box.y2) == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
            assert len(rows) >= rooms.MIN_PIXELS * 96 * 96 and rooms.MIN_SHOWN <= box.shown <= 1


def test_an_item_that_fills_the_view_hides_what_is_behind_it(some):
    views = [rooms.view(room, number, 64, 64) for room in some for number in range(4)]
    named = {box.item for view in views for box in view.boxes}
    assert named and any(len(set(np.unique(view.items)) - {0}) > len(view.boxes) for view in views)  # some are seen too little


@pytest.mark.parametrize("kind", KINDS)
def test_every_class_has_objects_of_a_sensible_size_that_differ_and_stand_on_the_floor(kind):
    first, again, other = item(kind, 1), item(kind, 1), item(kind, 2)
    assert np.array_equal(first.triangles.corners, again.triangles.corners)
    assert first.triangles.corners.shape != other.triangles.corners.shape or not np.allclose(first.size, other.size)
    for one in (first, other):
        corners, normals = one.triangles.corners, one.triangles.normals
        assert corners[..., 2].min() == pytest.approx(0) and 0.05 < one.size.max() < 2.5 and len(corners) < 1_500
        assert np.allclose(np.linalg.norm(normals, axis=2), 1) and one.triangles.materials.max() < len(one.textures)
        own = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        assert ((own[:, None] * normals).sum(axis=2) > 0).all()  # normals on the side from which corners turn anticlockwise


def test_there_are_at_least_eight_classes_and_no_other_is_taken():
    assert len(KINDS) >= 8
    with pytest.raises(ValueError, match="no object of class 'cat'; there are chair"):
        item("cat", 0)


@pytest.mark.parametrize("make", MAKERS)
def test_textures_are_light_and_follow_from_their_generator(make):
    one, again = (make(generator(f"texture {make.__name__}")) for _ in range(2))
    assert one.shape == (textures.SIZE, textures.SIZE, 3) and np.array_equal(one, again)
    assert one.min() >= 0 and one.max() <= 1 and one.std() > 1e-4


def test_blocks_enclose_their_volume():
    """By the divergence theorem, which also says that faces turn outwards: Σ a · (b × c) / 6."""
    builder = Builder()
    grey = builder.material(np.full((4, 4, 3), 0.5))

    def volume(add) -> float:
        builder._parts.clear()
        add()
        a, b, c = builder.whole().corners.transpose(1, 0, 2)
        return float((a * np.cross(b, c)).sum() / 6)

    assert volume(lambda: builder.box((0, 0, 0), (1, 2, 3), grey, about_z=0.7)) == pytest.approx(6)
    assert volume(lambda: builder.ball(1.0, grey, (1, 2, 3), around=64)) == pytest.approx(4 / 3 * np.pi, rel=0.01)
    assert volume(lambda: builder.rod((0, 0, 0), (1, 2, 2), 0.5, grey, sides=64)) == pytest.approx(3 * np.pi / 4, rel=0.01)
    assert volume(lambda: builder.lathe([(0, 0), (1, 0), (1, 2), (0, 2)], grey, around=64)) == pytest.approx(2 * np.pi, rel=0.01)

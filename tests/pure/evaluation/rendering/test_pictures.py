"""Pictures: colours worked by hand, textures in perspective, averages over pixels, items."""

import numpy as np
import pytest

from evaluation.rendering.cameras import looking
from evaluation.rendering.pictures import Light, Lighting, encoded, linear, picture
from evaluation.rendering.triangles import Atlas, Triangles, flat_normals, joined

FLAT = Lighting(above=(1.0, 1.0, 1.0), below=(1.0, 1.0, 1.0))  # every surface shows its own colour
CAMERA = looking(np.array([0.0, -2.0, 0.0]), np.zeros(3), 90)  # at depth 2 sees 4 × 4


def wall(y: float = 0.0, left: float = -9.0, right: float = 9.0, item: int = 1, material: int = 0) -> Triangles:
    """A rectangle that faces the camera, from z = −9 to 9, whose texture coordinates are x and −z."""
    corners = np.array([[[left, y, -9], [right, y, -9], [right, y, 9]], [[left, y, -9], [right, y, 9], [left, y, 9]]])
    uv = corners[..., [0, 2]] * [1, -1]
    return Triangles(corners, flat_normals(corners), uv, np.full(2, material), np.full(2, item))


def plain(*colours) -> Atlas:
    return Atlas(np.array(colours, dtype=float)[:, None, None, :])


def test_srgb_and_linear_light_are_each_others_inverse():
    values = np.arange(256)
    assert np.array_equal(encoded(linear(values / 255)), values)
    assert encoded(np.array([0.5])).item() == 188  # 1.055 · 0.5^(1/2.4) − 0.055 = 0.7354


def test_a_wall_has_its_colour_and_its_normal_points_at_the_viewer():
    drawn = picture(wall(), plain((0.5, 0.25, 0)), CAMERA, 8, 6, FLAT)
    assert (drawn.colour == [188, 137, 0]).all() and np.allclose(drawn.normals, [0, 0, 1])
    assert drawn.items.shape == (12, 16) and (drawn.items == 1).all()


def test_a_pixel_half_covered_is_the_mean_in_linear_light():
    drawn = picture(wall(left=0.5), plain((0, 0, 0)), CAMERA, 4, 4, FLAT, background=(1, 1, 1))
    # columns are 1 wide: the wall covers the right half of the third (0 to 1) and the fourth
    assert (drawn.colour[:, :, 0] == [255, 255, 188, 0]).all()
    assert (drawn.items == [-1] * 5 + [1] * 3).all()


def test_the_nearer_wall_hides_the_other():
    scene = joined([wall(y=1.0, item=1, material=0), wall(y=0.0, right=0.0, item=2, material=1)])
    drawn = picture(scene, plain((1, 0, 0), (0, 1, 0)), CAMERA, 4, 4, FLAT, samples=1)
    assert (drawn.items == [2, 2, 1, 1]).all() and (drawn.colour[:, 3] == [255, 0, 0]).all() and (drawn.colour[:, 0] == [0, 255, 0]).all()


def test_lamps_shine_by_angle_and_distance():
    dark = Lighting((Light((0.0, -1.0, 0.0), (1.0, 1.0, 1.0), reach=1.0),), (0, 0, 0), (0, 0, 0))
    drawn = picture(wall(), plain((1, 1, 1)), CAMERA, 5, 5, dark, samples=1)
    # in the middle: facing, at distance 1: 1/2; 0.8 to the side: cos = 1/√1.64, 1/(1 + 1.64)
    assert drawn.colour[2, 2, 0] == encoded(np.array([0.5])).item()
    assert drawn.colour[2, 3, 0] == encoded(np.array([1 / np.sqrt(1.64) / 2.64])).item()


def test_backs_are_left_out_or_lit_like_fronts():
    turned = wall()
    turned = Triangles(turned.corners[:, ::-1], -turned.normals, turned.uv, turned.materials, turned.items)
    assert (picture(turned, plain((1, 0, 0)), CAMERA, 4, 4, FLAT).items == -1).all()
    drawn = picture(turned, plain((1, 0, 0)), CAMERA, 4, 4, FLAT, back_faces=True)
    assert (drawn.colour == [255, 0, 0]).all() and np.allclose(drawn.normals, [0, 0, 1])


def test_a_texture_on_a_floor_is_in_perspective():
    corners = np.array([[[-40.0, -2, -1], [40, -2, -1], [40, 60, -1]], [[-40.0, -2, -1], [40, 60, -1], [-40, 60, -1]]])
    floor = Triangles(corners, flat_normals(corners), corners[..., :2] / 64, np.zeros(2, dtype=int), np.ones(2, dtype=int))
    stripes = np.zeros((64, 64, 3))
    stripes[:, ::2] = 1.0  # by x, 1 wide
    drawn = picture(floor, Atlas([stripes]), CAMERA, 256, 256, FLAT, samples=1)
    row = drawn.colour[250, :, 0] > 188  # half the light
    x = (np.arange(256) + 0.5 - 128) / 128 * 128 / (250.5 - 128)  # at height −1 a row r lies at depth 128 / (r + .5 − 128)
    inside = np.abs(x % 1 - 0.5) < 0.4
    assert np.array_equal(row[inside], (np.floor(x) % 2 == 0)[inside])


def test_far_textures_show_their_mean():
    checks = np.indices((64, 64)).sum(axis=0)[..., None] % 2 * np.ones(3)
    scene = wall()
    scene = Triangles(scene.corners, scene.normals, scene.uv * 8, scene.materials, scene.items)
    drawn = picture(scene, Atlas([checks]), CAMERA, 16, 16, FLAT)
    assert (drawn.colour == 188).all()


def test_textures_must_be_square_with_a_power_of_two():
    with pytest.raises(ValueError, match="power of two"):
        Atlas(np.zeros((1, 12, 12, 3)))

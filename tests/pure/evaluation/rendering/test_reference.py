"""Reference views of a mesh, and the command that writes them."""

import json

import numpy as np
import pytest
from PIL import Image

from evaluation.__main__ import main
from evaluation.rendering.cameras import View, turntable
from evaluation.rendering.reference import mesh_views
from evaluation.synthetic import meshes
from submissions.formats.arrays import Mesh
from submissions.formats.mesh.obj import write_obj

SQUARE = Mesh(np.array([[-1.0, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]]), np.array([[0, 1, 2], [0, 2, 3]]), np.uint8([[255, 0, 0]] * 2))


def test_a_square_seen_from_the_front_back_and_side():
    front, back, side = mesh_views(SQUARE, [View("f", -90, 0), View("b", 90, 0), View("s", 0, 0)], 64)
    for drawn in (front, back):
        # the ball around it has the radius √2, so at the distance of its middle the image shows 2 · 1.05 √2 / cos 20° = 3.1605
        assert drawn.mask.mean() == pytest.approx((2 / 3.1605) ** 2, abs=0.04)
        assert (drawn.normals[32, 32] == [128, 128, 255]).all() and (drawn.normals[0, 0] == 255).all()
        red, green, blue = drawn.colour[32, 32].astype(int)
        assert red > 150 and green == blue == 0 and (drawn.colour[0, 0] == 255).all()
    assert not side.mask.any() and (side.colour == 255).all()


def test_y_up_is_turned_to_z_up():
    y_up = Mesh(SQUARE.vertices[:, [0, 2, 1]] * [1, 1, -1], SQUARE.faces, SQUARE.face_colours)
    a, b = (next(mesh_views(mesh, [View("", -60, 30)], 48, up)) for mesh, up in ((SQUARE, "z"), (y_up, "y")))
    assert a.mask.any() and np.array_equal(a.colour, b.colour) and np.array_equal(a.normals, b.normals)
    with pytest.raises(ValueError, match="points up"):
        next(mesh_views(SQUARE, [View("", 0, 0)], 48, "x"))


def test_the_same_mesh_gives_the_same_bytes_wherever_it_lies_and_however_large_it_is():
    mesh = meshes.mesh("vase", 3)
    moved = Mesh(mesh.vertices * 4 + [8, -16, 32], mesh.faces)
    for one, two, other in zip(*(mesh_views(each, turntable(3, 20), 64) for each in (mesh, mesh, moved)), strict=True):
        assert np.array_equal(one.colour, two.colour) and np.array_equal(one.normals, two.normals)
        assert np.abs(one.colour.astype(int) - other.colour).mean() < 0.05


def test_a_mesh_without_area_is_refused():
    with pytest.raises(ValueError, match="nothing to draw"):
        next(mesh_views(Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]])), [View("", 0, 0)]))


def test_the_command_writes_pictures_and_cameras(tmp_path, capsys):
    (tmp_path / "square.obj").write_bytes(write_obj(SQUARE))
    assert main(["render", str(tmp_path / "square.obj"), str(tmp_path / "out"), "--views", "turntable", "--size", "32"]) == 0
    cameras = json.loads((tmp_path / "out" / "cameras.json").read_text())
    assert len(cameras) == 24 and cameras[6] == {"view": "6", "azimuth": 90.0, "elevation": 0.0}
    for kind in ("rgb", "normal"):
        assert Image.open(tmp_path / "out" / f"{kind}_23.png").size == (32, 32)
    assert len(list((tmp_path / "out").iterdir())) == 49


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("v 0 0 0\n", [], "cannot be drawn"),
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", [], "nothing to draw"),
        ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", ["--size", "9000"], "16 to 2048"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(tmp_path, capsys, content, options, sentence):
    (tmp_path / "mesh.obj").write_text(content)
    assert main(["render", str(tmp_path / "mesh.obj"), str(tmp_path / "out"), *options]) == 2
    assert sentence in capsys.readouterr().err

"""The readers against trimesh's own: the same triangles of real files, and of whatever trimesh writes."""

import io
import logging
from pathlib import Path

import numpy as np
import pytest
import trimesh

from submissions.formats.mesh.mesh_files import Mesh, load_folder, pack, read_mesh, unpack, write_obj, write_ply

FLOAT32 = 6e-8  # of a coordinate, where a format or the peer keeps 32 bits


def triangles(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """The triangles of a mesh [F, 3, 3], in an order that does not depend on how they are listed."""
    corners = np.asarray(vertices, float)[np.asarray(faces)]
    first = np.lexsort(np.rint(corners * 1e5).transpose(2, 0, 1), axis=1)[:, :1]
    turned = np.take_along_axis(corners, ((first + np.arange(3)) % 3)[:, :, None], axis=1)
    return turned[np.lexsort(np.rint(turned.reshape(-1, 9) * 1e5).T)]


def peer(data: bytes, kind: str) -> trimesh.Trimesh:
    logging.disable(logging.CRITICAL)  # it complains of textures that are not there
    try:
        found = trimesh.load(io.BytesIO(data), file_type=kind, process=False)
    finally:
        logging.disable(logging.NOTSET)
    return found.to_mesh() if isinstance(found, trimesh.Scene) else found


FILES = [
    "Duck.glb",
    "bunny.ply",
    "fandisk.obj",
    "featuretype.STL",
    "fuze.obj",
    "fuze.ply",
    "idler_riser.STL",
    "quadknot.obj",
    "rabbit.obj",
    "suzanne.ply",
    "teapot.stl",
]


OF_POLYGONS = ("quadknot.obj", "rabbit.obj", "suzanne.ply")


@pytest.mark.parametrize("name", FILES)
def test_real_files_hold_the_same_triangles(data_folder: Path, name: str) -> None:
    data = (data_folder / "meshes" / name).read_bytes()
    found, expected = read_mesh(data, name), peer(data, Path(name).suffix[1:].lower())
    assert len(found.faces) == len(expected.faces)
    size = float(np.ptp(found.vertices, axis=0).max())
    mine = trimesh.Trimesh(found.vertices, found.faces, process=False)
    assert mine.bounds == pytest.approx(expected.bounds, rel=FLOAT32)
    if name in OF_POLYGONS:  # they may be cut along their other diagonal
        assert mine.area == pytest.approx(expected.area, rel=0.01)
    else:
        assert triangles(found.vertices / size, found.faces) == pytest.approx(triangles(expected.vertices / size, expected.faces), abs=1e-7)


def test_all_real_files_load_at_once_and_survive_storing_and_writing(data_folder: Path, tmp_path: Path) -> None:
    for name in FILES:
        stem = name.replace(".", "_")
        (tmp_path / f"{stem}{Path(name).suffix}").write_bytes((data_folder / "meshes" / name).read_bytes())
    found = load_folder(tmp_path)
    assert len(found) == len(FILES)
    stored = unpack(pack(found))
    for name, item in found.items():
        for again in (stored[name], read_mesh(write_ply(item), "a.ply"), read_mesh(write_obj(item), "a.obj")):
            assert np.array_equal(again.vertices, item.vertices) and np.array_equal(again.faces, item.faces)


def shape() -> trimesh.Trimesh:
    made = trimesh.creation.icosphere(subdivisions=2)
    made.apply_transform(trimesh.transformations.random_rotation_matrix(np.array([0.1, 0.7, 0.3])))
    made.apply_scale([3, 1, 2])
    return made


@pytest.mark.parametrize(
    ("suffix", "options", "tolerance"),
    [
        ("glb", {}, FLOAT32),
        ("gltf", {"merge_buffers": True, "embed_buffers": True}, FLOAT32),
        ("obj", {"digits": 12}, 1e-11),
        ("ply", {}, FLOAT32),
        ("ply", {"encoding": "ascii"}, 1e-7),
        ("stl", {}, FLOAT32),
        ("stl_ascii", {}, 1e-9),
        ("off", {"digits": 12}, 1e-11),
    ],
)
def test_what_trimesh_writes_is_read_as_it_was(suffix: str, options: dict, tolerance: float) -> None:
    made = shape()
    if suffix == "gltf":
        written = trimesh.exchange.gltf.export_gltf(trimesh.Scene(made), **options)["model.gltf"]
    else:
        written = made.export(file_type=suffix, **options)
    data = written.encode() if isinstance(written, str) else written
    found = read_mesh(data, f"a.{suffix.split('_')[0]}")
    assert found.vertices[found.faces] == pytest.approx(made.vertices[made.faces], abs=4 * tolerance)


def test_a_scene_of_moved_copies_is_read_as_trimesh_reads_it() -> None:
    scene = trimesh.Scene()
    box = trimesh.creation.box(extents=[1, 2, 3])
    rng = np.random.default_rng(3)
    for n in range(4):
        matrix = trimesh.transformations.random_rotation_matrix(rng.random(3))
        matrix[:3, 3] = rng.normal(size=3)
        scene.add_geometry(box if n % 2 else shape(), node_name=f"n{n}", parent_node_name=f"n{n - 1}" if n else None, transform=matrix)
    data = scene.export(file_type="glb")
    found, expected = read_mesh(data, "a.glb"), scene.to_mesh()
    assert triangles(found.vertices, found.faces) == pytest.approx(triangles(expected.vertices, expected.faces), abs=1e-4)


@pytest.mark.parametrize("suffix", ["ply", "obj", "glb"])
def test_colours_that_trimesh_writes(suffix: str) -> None:
    made = trimesh.creation.box()
    made.visual.vertex_colors = [[255, 0, 128, 255]] * len(made.vertices)
    written = made.export(file_type=suffix)
    found = read_mesh(written.encode() if isinstance(written, str) else written, f"a.{suffix}")
    assert found.face_colours is not None
    # trimesh puts its bytes into glTF as they are, where the format has linear light.
    assert found.face_colours.tolist() == [[255, 0, 188 if suffix == "glb" else 128]] * 12


def test_the_peer_reads_what_is_written_here() -> None:
    item = Mesh(np.array(shape().vertices), np.array(shape().faces), np.full((len(shape().faces), 3), 7, np.uint8))
    for data, kind in ((write_ply(item), "ply"), (write_obj(item), "obj")):
        found = peer(data, kind)
        assert np.array_equal(found.vertices, item.vertices) and np.array_equal(found.faces, item.faces)
    assert peer(write_ply(item), "ply").visual.face_colors[:, :3].tolist() == item.face_colours.tolist()

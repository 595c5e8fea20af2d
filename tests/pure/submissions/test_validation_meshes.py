"""Uploads of meshes: the same rules as for wireframes, with what programs write beside a mesh let in."""

import dataclasses
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import write_obj, write_ply
from submissions.formats.mesh.polygons import CROSSING, UNEVEN
from submissions.manifest import Bounds, Item, Manifest
from submissions.validation import Fault, Verdict, validate
from tests.support.submissions.glb import triangle
from tests.support.submissions.verdicts import faults, judged, said

IDS = ("chair", "mug", "star")
MANIFEST = Manifest(
    challenge="objects",
    phase="one",
    family="mesh",
    items=tuple(Item(name, name, (100, 100)) for name in IDS),
    formats=("glb", "obj", "ply", "stl", "off"),
    missing="reject",
    unit="m",
    unit_scale=1.0,
)
TETRAHEDRON = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float), np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))
OFF = b"OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n"
GOOD = {"chair.obj": write_obj(TETRAHEDRON), "mug.ply": write_ply(TETRAHEDRON), "star.off": OFF}


def stl(mesh: Mesh) -> bytes:
    corners = mesh.vertices[mesh.faces].astype("<f4")
    return bytes(80) + struct.pack("<I", len(corners)) + b"".join(bytes(12) + face.tobytes() + b"\0\0" for face in corners)


def judge(tmp_path: Path, contents: dict[str, bytes], manifest: Manifest = MANIFEST) -> Verdict:
    return judged(tmp_path, contents, manifest)


def test_meshes_of_mixed_formats_are_accepted_in_manifest_order(tmp_path: Path) -> None:
    verdict = judge(tmp_path, dict(reversed(GOOD.items())))
    assert verdict.accepted and not verdict.warnings and tuple(verdict.items) == IDS
    assert {key: item for key, item in verdict.items.items() if len(item.faces) != 4} == {}


def test_materials_and_textures_may_stand_beside_and_the_material_gives_the_colour(tmp_path: Path) -> None:
    painted = b"mtllib chair.mtl\nusemtl red\n" + GOOD["chair.obj"]
    beside = {"chair.mtl": b"newmtl red\nKd 1 0 0\nmap_Kd wood.png\n", "wood.png": b"\x89PNG not looked at", "maps/Bump.JPG": b"x"}
    verdict = judge(tmp_path, {**GOOD, "chair.obj": painted, **beside})
    assert verdict.accepted and not verdict.warnings
    assert verdict.items["chair"].face_colours.tolist() == [[255, 0, 0]] * 4


def test_what_reading_did_to_files_is_said_once_of_all(tmp_path: Path) -> None:
    concave = b"v 0 0 0\nv 4 0 0\nv 4 4 0\nv 2 1 0\nv 0 4 %d\nf 3 4 5 1 2\n"
    bow_tie = b"v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n"
    verdict = judge(tmp_path, {"chair.obj": concave % 0, "mug.obj": concave % 9 + b"f 3 4 5 1 2\n", "star.obj": bow_tie})
    assert verdict.accepted and verdict.warnings == (f"{UNEVEN} (mug.obj: line 6 and 1 more).", f"{CROSSING} (star.obj: line 5).")
    chair = verdict.items["chair"]
    a, b, c = np.moveaxis(chair.vertices[chair.faces], 1, 0)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == 10


def test_a_gltf_is_read_with_its_buffer_beside_it_in_a_zip_and_in_a_folder(tmp_path: Path) -> None:
    scene = triangle()
    scene.tree["buffers"] = [{"byteLength": len(scene.binary), "uri": "chair.bin"}]
    contents = {**GOOD, "chair.gltf": json.dumps(scene.tree).encode(), "chair.bin": scene.binary}
    del contents["chair.obj"]
    assert judge(tmp_path, contents).accepted
    assert judge(tmp_path, {f"results/{name}": data for name, data in contents.items()}).accepted
    elsewhere = {("other/" if name == "chair.bin" else "") + name: data for name, data in contents.items()}
    problem = judge(tmp_path, elsewhere).problems[0]
    assert (problem.file, problem.where) == ("chair.gltf", "buffers[0]")


def test_a_texture_is_no_entry_of_its_own_and_wireframe_files_are_no_meshes(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {**GOOD, "chair.json": b"{}", "mug.npz": b"", "submission.parquet": b"PAR1"})
    assert faults(verdict) == [(name, Fault.FORMAT) for name in ("chair.json", "mug.npz", "submission.parquet")]
    assert "(.glb, .gltf, .obj, .ply, .stl, .off)" in verdict.problems[0].reason


def test_two_files_of_one_mesh_are_refused(tmp_path: Path) -> None:
    assert faults(judge(tmp_path, {**GOOD, "chair.stl": stl(TETRAHEDRON)})) == [("chair.stl", Fault.TWICE)]


def test_missing_and_broken_meshes_are_named(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {"chair.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "mug.ply": GOOD["mug.ply"]})
    assert faults(verdict) == [("chair.obj", Fault.CONTENT), ("star", Fault.MISSING)] and verdict.problems[0].where == "line 4"


def test_the_samples_bound_on_faces_holds_whatever_the_format(tmp_path: Path) -> None:
    many = Mesh(TETRAHEDRON.vertices, np.tile(TETRAHEDRON.faces, (26, 1)))
    files = {"chair.obj": write_obj(many), "mug.ply": write_ply(many), "star.stl": stl(many)}
    verdict = judge(tmp_path, files)
    assert verdict.n_problems == 3 and [text for text in said(verdict) if "100" not in text] == [], said(verdict)


def test_one_file_is_enough_where_there_is_one_sample(tmp_path: Path) -> None:
    (tmp_path / "mug.ply").write_bytes(GOOD["mug.ply"])
    assert validate(tmp_path / "mug.ply", dataclasses.replace(MANIFEST, items=(Item("mug", "mug"),))).accepted


def test_a_texture_larger_than_a_file_may_be_is_refused(tmp_path: Path) -> None:
    small = dataclasses.replace(MANIFEST, bounds=Bounds(max_file_bytes=10_000))
    verdict = judge(tmp_path, {**GOOD, "wood.png": bytes(10_001)}, small)
    assert not verdict.accepted and "at most" in said(verdict)[0]


@pytest.mark.parametrize("name", ["chair.obj", "mug.ply", "star.off", "chair.stl", "chair.glb", "chair.gltf"])
@pytest.mark.parametrize("data", [b"", b"\0" * 300, b"\xff\xfe garbage", b"glTF\x02\0\0\0\xff\xff\xff\xff", b"ply\nformat ascii 1.0\n"])
def test_damaged_meshes_give_a_verdict_and_never_an_exception(tmp_path: Path, name: str, data: bytes) -> None:
    verdict = judge(tmp_path, {name: data})
    assert not verdict.accepted and all(verdict.problems)

"""Files as people's tools write them, each with what it gets: from bug reports, in the folder of real test data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import read_mesh
from submissions.kinds import FAMILIES
from submissions.manifest import Bounds, Item, Manifest
from submissions.validation import Verdict, validate

# The kind of entry, its only item, and the warnings that it gets.
READ: dict[str, tuple[str, str, list[str]]] = {
    "glb-draco-optional-with-fallback": ("mesh", "chair_01", []),
    "glb-hidden-node": ("mesh", "chair_01", ["Hidden nodes are left out"]),
    "glb-mesh-plus-lines": ("mesh", "chair_01", ["Points and lines are left out"]),
    "glb-trailing-newline": ("mesh", "chair_01", []),
    "gltf-with-bin": ("mesh", "chair_01", []),
    "json-wf-keys": ("wireframe", "house_01", []),
    "mesh-with-ktx2-texture": ("mesh", "chair_01", []),
    "obj-concave-polygon": ("mesh", "chair_01", []),
    "obj-cr-only-wireframe": ("wireframe", "house_01", []),
    "obj-latin1-comment-wireframe": ("wireframe", "house_01", []),
    "obj-line-continuation": ("wireframe", "house_01", []),
    "obj-line-continuation-mesh": ("mesh", "chair_01", []),
    "ply-uint64": ("mesh", "chair_01", []),
    "png-16bit-trns": ("render", "room/v1", ["Transparent pixels were placed on the background, #ffffff"]),
    "png-exif-after-idat": ("render", "room/v1", ["The orientation that the image states was applied"]),
    "png-exif-after-idat-square": ("render", "room/v1", ["The orientation that the image states was applied"]),
    "png-gama-linear": ("render", "room/v1", ["The image's gamma is ignored"]),
    "png-icc-linear-srgb": ("render", "room/v1", ["Colours were converted from the image's colour profile to sRGB"]),
    "render-3dgs-layout": ("render", "room/v1", []),
    "render-blender-depth-beside": ("render", "room/r_0", ["room/r_0_depth_0000.png, room/r_0_normal_0000.png are not read."]),
    "stl-ascii-one-line": ("mesh", "chair_01", []),
    "stl-count-zero": ("mesh", "chair_01", ["A binary STL says that it has no triangle"]),
    "stl-trailing-byte": ("mesh", "chair_01", []),
}


def judged(path: Path, family: str, item: str) -> Verdict:
    kind = FAMILIES[family]
    limits = kind.most if kind.images else kind.bounds((100, 100))
    manifest = Manifest(
        challenge="cases",
        phase="one",
        family=family,
        items=(Item(item, kind.group_of(item), limits),),
        formats=kind.formats,
        missing="reject",
        unit="m",
        unit_scale=1.0,
        bounds=Bounds(max_file_bytes=kind.max_file_bytes),
    )
    return validate(path, manifest)


def area(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read_with_what_is_worth_knowing_of_it(data_folder: Path, name: str) -> None:
    family, item, warnings = READ[name]
    verdict = judged(data_folder / "cases" / f"{name}.zip", family, item)
    assert verdict.accepted and list(verdict.items) == [item], verdict.problems
    assert len(verdict.warnings) == len(warnings) and all(map(str.startswith, verdict.warnings, warnings)), verdict.warnings


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("obj-concave-polygon", 10.0),
        ("gltf-with-bin", 1.5 + np.sqrt(3) / 2),
        ("glb-hidden-node", 1.5 + np.sqrt(3) / 2),
        ("ply-uint64", 1.5 + np.sqrt(3) / 2),
        ("stl-count-zero", 1.5 + np.sqrt(3) / 2),
        ("stl-ascii-one-line", 0.5),
        ("obj-line-continuation-mesh", 1.0),
    ],
)
def test_a_mesh_has_its_own_area(data_folder: Path, name: str, wanted: float) -> None:
    verdict = judged(data_folder / "cases" / f"{name}.zip", "mesh", "chair_01")
    assert area(verdict.items["chair_01"]) == pytest.approx(wanted)


@pytest.mark.parametrize("start", [0, 1])
def test_an_l_has_its_area_from_either_corner(data_folder: Path, start: int) -> None:
    path = data_folder / "cases" / f"obj-concave-L-start{start}.obj"
    assert area(read_mesh(path.read_bytes(), path.name)) == pytest.approx(36)


def test_a_mesh_that_is_drawn_many_times_says_what_to_export(data_folder: Path) -> None:
    (problem,) = judged(data_folder / "cases" / "glb-gpu-instancing.zip", "mesh", "chair_01").problems
    assert "EXT_mesh_gpu_instancing" in problem.reason

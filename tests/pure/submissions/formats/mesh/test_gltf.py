import base64
import json
import math
import re
from typing import Any

import numpy as np
import pytest

from submissions.formats.errors import FormatError, Remarks
from submissions.formats.mesh.gltf import HIDDEN, THIN
from submissions.formats.mesh.mesh_files import Mesh, file_limit, read_mesh
from tests.support.submissions.glb import TRIANGLE, Scene, triangle

SQUARE = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]


def read(scene: Scene) -> Mesh:
    binary, text = read_mesh(scene.glb(), "a.glb"), read_mesh(scene.gltf(), "a.gltf")
    assert np.array_equal(binary.vertices, text.vertices) and np.array_equal(binary.faces, text.faces)
    return binary


def scene_with(*args, **more) -> Scene:
    scene = Scene()
    scene.mesh(*args, **more)
    return scene


def test_a_triangle_comes_back_and_content_decides_over_the_name() -> None:
    found = read(triangle())
    assert found.vertices.tolist() == TRIANGLE and found.faces.tolist() == [[0, 1, 2]] and found.face_colours is None
    assert read_mesh(triangle().glb(), "a.gltf").faces.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    ("mode", "faces"),
    [(4, [[0, 1, 2], [2, 1, 3]]), (5, [[0, 1, 2], [1, 2, 3][::-1], [2, 3, 0]]), (6, [[0, 1, 2], [0, 2, 3], [0, 3, 1]])],
)
def test_triangles_strips_and_fans(mode: int, faces: list[list[int]]) -> None:
    indices = {4: [0, 1, 2, 2, 1, 3], 5: [0, 1, 2, 3, 0], 6: [0, 1, 2, 3, 1]}[mode]
    found = read(scene_with(SQUARE, indices, mode=mode)).faces
    # A triangle is the same whichever corner it begins with, as long as it runs the same way round.
    assert [np.roll(face, -np.argmin(face)).tolist() for face in found] == [np.roll(f, -np.argmin(f)).tolist() for f in faces]


def test_a_strip_without_indices_and_one_too_short() -> None:
    assert read(scene_with(SQUARE, mode=5)).faces.tolist() == [[0, 1, 2], [2, 1, 3]]
    assert read(scene_with(SQUARE[:2], mode=5)).faces.shape == (0, 3)


@pytest.mark.parametrize("kind", ["B", "H", "I"])
def test_indices_of_every_width(kind: str) -> None:
    scene = scene_with(SQUARE)
    scene.tree["meshes"][0]["primitives"][0]["indices"] = scene.accessor([3, 2, 1], kind)
    assert read(scene).faces.tolist() == [[3, 2, 1]]


def test_strides_and_offsets_within_a_view() -> None:
    scene = Scene()
    view = scene.view([[9] * 7, [0, 0, 0, 7, 7, 7, 7], [1, 0, 0, 7, 7, 7, 7], [0, 1, 0, 7, 7, 7, 7]])
    scene.tree["bufferViews"][view] |= {"byteStride": 28}
    scene.tree["accessors"] = [{"bufferView": view, "byteOffset": 28, "componentType": 5126, "count": 3, "type": "VEC3"}]
    scene.tree["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0}}]}]
    assert read(scene).vertices.tolist() == TRIANGLE


def test_sparse_rows_replace_those_of_the_view_or_of_zeros() -> None:
    for base in ({}, {"bufferView": 0}):
        scene = Scene()
        scene.view(SQUARE)
        sparse = {
            "count": 2,
            "indices": {"bufferView": scene.view([1, 2], "B"), "componentType": 5121},
            "values": {"bufferView": scene.view([[5, 0, 0], [6, 0, 0]])},
        }
        scene.tree["accessors"] = [base | {"componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse}]
        scene.tree["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0}}]}]
        assert read(scene).vertices.tolist() == [[0, 0, 0], [5, 0, 0], [6, 0, 0]]


def test_quantised_positions() -> None:
    scene = Scene(extensionsRequired=["KHR_mesh_quantization"], nodes=[{"mesh": 0, "scale": [2, 2, 2]}])
    scene.tree["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0}}]}]
    points = scene.accessor([[0, 0, 0], [127, -127, -128], [0, 127, 0]], "b", normalized=True)
    assert points == 0
    assert read(scene).vertices.tolist() == [[0, 0, 0], [2, -2, -2], [0, 2, 0]]


# --- the scene


def test_nodes_move_turn_and_scale_what_hangs_below_them() -> None:
    half = math.sqrt(0.5)
    nodes = [
        {"children": [1, 2], "translation": [10, 0, 0]},
        {"mesh": 0, "rotation": [0, 0, half, half]},  # a quarter turn about z: x becomes y
        {"mesh": 0, "matrix": [2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 5, 1]},
    ]
    scene = Scene(nodes=nodes, scenes=[{"nodes": []}, {"nodes": [0]}], scene=1)
    scene.mesh()
    found = read(scene)
    assert found.vertices == pytest.approx(np.array([[10, 0, 0], [10, 1, 0], [9, 0, 0], [10, 0, 5], [12, 0, 5], [10, 3, 5]]), abs=1e-12)
    assert found.faces.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_scale_comes_before_turn_and_turn_before_translation() -> None:
    half = math.sqrt(0.5)
    found = read(triangle(nodes=[{"mesh": 0, "scale": [2, 1, 1], "rotation": [0, 0, half, half], "translation": [0, 0, 7]}]))
    assert found.vertices[1] == pytest.approx([0, 2, 7])


def test_a_mirrored_mesh_keeps_its_outside_outside() -> None:
    found = read(triangle(nodes=[{"mesh": 0, "scale": [-1, 1, 1]}]))
    a, b, c = found.vertices[found.faces[0]]
    assert np.cross(b - a, c - a).tolist() == [0, 0, 1]


def test_only_the_default_scene_is_read_and_without_scenes_every_root() -> None:
    scene = Scene(nodes=[{"mesh": 0}, {"mesh": 0, "translation": [5, 0, 0]}], scenes=[{"nodes": [1]}])
    scene.mesh()
    assert read(scene).vertices[0].tolist() == [5, 0, 0]
    scene.tree["scenes"] = []
    assert len(read(scene).faces) == 2
    scene.tree["nodes"] = []
    assert len(read(scene).faces) == 1


def test_a_chain_of_64_nodes_is_read() -> None:
    nodes = [{"children": [n + 1], "translation": [1, 0, 0]} for n in range(64)] + [{"mesh": 0}]
    assert read(triangle(nodes=nodes)).vertices[0].tolist() == [64, 0, 0]


# --- colours


def test_base_colours_are_linear_light_shown_as_srgb() -> None:
    scene = triangle(materials=[{"pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0, 1], "baseColorTexture": {"index": 0}}}])
    scene.tree["meshes"][0]["primitives"][0]["material"] = 0
    assert read(scene).face_colours.tolist() == [[255, 188, 0]]  # 0.5 linear is 0.7354 of sRGB


def test_a_texture_alone_is_no_colour() -> None:
    scene = triangle(materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}])
    scene.tree["meshes"][0]["primitives"][0]["material"] = 0
    assert read(scene).face_colours is None


@pytest.mark.parametrize(("kind", "one"), [("f", 1), ("B", 255), ("H", 65535)])
def test_vertex_colours_times_the_material(kind: str, one: int) -> None:
    scene = triangle(materials=[{"pbrMetallicRoughness": {"baseColorFactor": [1, 1, 0, 1]}}])
    colours = scene.accessor([[one, 0, one, one]] * 3, kind, normalized=kind != "f")
    scene.tree["meshes"][0]["primitives"][0] |= {"material": 0}
    scene.tree["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = colours
    assert read(scene).face_colours.tolist() == [[255, 0, 0]]


def test_faces_without_a_colour_are_plain_beside_faces_with_one() -> None:
    scene = Scene(materials=[{"pbrMetallicRoughness": {"baseColorFactor": [0, 0, 0, 1]}}])
    scene.mesh(material=0)
    scene.mesh()
    assert read(scene).face_colours.tolist() == [[0, 0, 0], [200, 200, 200]]


def remarked(scene: Scene) -> tuple[Mesh, list[str]]:
    remarks = Remarks()
    return read_mesh(scene.glb(), "a.glb", remarks=remarks), remarks.sentences()


def test_hidden_nodes_and_those_below_them_are_left_out_with_a_remark() -> None:
    hidden = {"extensions": {"KHR_node_visibility": {"visible": False}}}
    nodes = [{"mesh": 0}, {"mesh": 0, "children": [2], **hidden}, {"mesh": 0}, {"children": [4]}, {"mesh": 0, "translation": [9, 0, 0]}]
    scene = scene_with()
    scene.tree |= {"nodes": nodes, "extensionsRequired": ["KHR_node_visibility"]}
    found, said = remarked(scene)
    assert found.vertices[:, 0].tolist() == [0, 1, 0, 9, 10, 9] and said == [f"{HIDDEN} (a.glb: nodes[1])."]
    nodes[1]["extensions"]["KHR_node_visibility"]["visible"] = True
    assert len(remarked(scene)[0].faces) == 4 and remarked(scene)[1] == []


def test_points_and_lines_beside_triangles_are_left_out_with_a_remark() -> None:
    scene = scene_with()
    scene.tree["meshes"][0]["primitives"] += [{"attributes": {"POSITION": 0}, "mode": mode} for mode in range(4)]
    found, said = remarked(scene)
    assert len(found.faces) == 1 and said == [f"{THIN} (a.glb: meshes[0].primitives[1] and 3 more)."]


@pytest.mark.parametrize("added", [b"\n", b"\r\n", b"\0\0\0\0"])
def test_the_end_of_a_line_behind_a_file_is_no_part_of_it(added: bytes) -> None:
    assert read_mesh(triangle().glb() + added, "a.glb").faces.tolist() == [[0, 1, 2]]
    with pytest.raises(FormatError, match="is it cut short"):
        read_mesh(triangle().glb() + added + b"x", "a.glb")


# --- buffers beside the file


def test_buffers_lie_beside_the_file_by_their_own_names() -> None:
    scene = triangle()
    scene.tree["buffers"] = [{"byteLength": len(scene.binary), "uri": "./my%20chair.bin"}]
    files = {"my chair.bin": scene.binary}
    assert read_mesh(json.dumps(scene.tree).encode(), "a.gltf", companions=files.get).faces.tolist() == [[0, 1, 2]]
    with pytest.raises(FormatError, match="claims 36 bytes but holds 35"):
        read_mesh(json.dumps(scene.tree).encode(), "a.gltf", companions=lambda name: scene.binary[:-1])


def test_the_sizes_of_buffers_beside_a_file_count_toward_its_bound() -> None:
    scene = triangle()
    scene.tree["buffers"] = [{"byteLength": 36, "uri": "a.bin"}, {"byteLength": 36, "uri": "b.bin"}]
    scene.tree["bufferViews"].append({"buffer": 1, "byteLength": 36})
    scene.tree["accessors"].append({**scene.tree["accessors"][0], "bufferView": 1})
    scene.tree["meshes"][0]["primitives"].append({"attributes": {"POSITION": 1}})
    text = json.dumps(scene.tree).encode()
    half = file_limit(100, 100) // 2
    large = scene.binary + bytes(half - len(scene.binary) - len(text))
    assert len(read_mesh(text, "a.gltf", 100, 100, lambda name: large).faces) == 2
    with pytest.raises(FormatError, match=r"buffers\[1\]: is in another file, \"b.bin\", which is not beside it, or too large"):
        read_mesh(text, "a.gltf", 100, 100, lambda name: large + bytes(len(text)))


# --- what must be refused though it looks alright


def test_draco_beside_the_same_corners_uncompressed_is_passed_over() -> None:
    extensions = {"KHR_draco_mesh_compression": {"bufferView": 0}}
    assert read(scene_with(indices=[0, 1, 2], extensions=extensions)).faces.tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("accessor", [0, 1])
def test_draco_without_being_required_is_refused_by_name(accessor: int) -> None:
    scene = scene_with(indices=[0, 1, 2], extensions={"KHR_draco_mesh_compression": {"bufferView": 0}})
    del scene.tree["accessors"][accessor]["bufferView"]
    with pytest.raises(FormatError, match="compressed with Draco"):
        read_mesh(scene.glb(), "a.glb")


def test_extensions_of_light_and_material_do_not_stand_in_the_way() -> None:
    assert len(read(triangle(extensionsRequired=["KHR_materials_unlit", "KHR_texture_transform"])).faces) == 1


def test_images_elsewhere_are_never_asked_for() -> None:
    assert len(read(triangle(images=[{"uri": "../../etc/passwd"}], textures=[{"source": 0}])).faces) == 1


def test_a_file_with_odd_types_everywhere_is_refused_not_broken() -> None:
    tree = json.loads(triangle().gltf())
    tried = 0
    for path in _paths(tree):
        for value in (None, -1, 1e308, "x", [], {}, [None], True, 10**17):
            changed = json.loads(json.dumps(tree))
            target = changed
            for step in path[:-1]:
                target = target[step]
            target[path[-1]] = value
            tried += 1
            try:
                found = read_mesh(json.dumps(changed).encode(), "a.gltf", 100, 100)
            except FormatError:
                continue
            assert len(found.vertices) <= 3 and np.isfinite(found.vertices).all()
    assert tried > 200


def _paths(value: object, above: tuple = ()) -> list[tuple]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, inner in entries for path in [(*above, key), *_paths(inner, (*above, key))]]


# --- compression that may be passed over


def with_fallback(name: str, on: str, **fallback: Any) -> Scene:
    """A triangle whose view is compressed in the file's own buffer, and uncompressed in a second one."""
    scene = triangle(extensionsUsed=[name])
    view, plain = scene.tree["bufferViews"][0], scene.binary
    compressed = {"buffer": 0, "byteOffset": 0, "byteLength": 8, "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"}
    view |= {"buffer": 1} | ({} if on == "buffer" else {"extensions": {name: compressed}})
    own = {} if on == "view" else {"extensions": {name: {"fallback": True}}}
    scene.tree["buffers"] = [{"byteLength": 8}, {"byteLength": len(plain), **own, **fallback}]
    scene.binary = bytes(8)
    return scene


@pytest.mark.parametrize("name", ["EXT_meshopt_compression", "KHR_meshopt_compression"])
@pytest.mark.parametrize("on", ["view", "buffer", "both"])
def test_a_fallback_of_compressed_views_is_read_and_an_empty_one_is_said_to_be_empty(name: str, on: str) -> None:
    uri = "data:application/octet-stream;base64," + base64.b64encode(triangle().binary).decode()
    found = read_mesh(with_fallback(name, on, uri=uri).glb(), "a.glb")
    assert found.vertices.tolist() == TRIANGLE and found.faces.tolist() == [[0, 1, 2]]
    sentence = f"a.glb: is compressed with meshopt ({name}) and its fallback, buffers[1], holds no data; export it without compression"
    with pytest.raises(FormatError, match=f"^{re.escape(sentence)}$"):
        read_mesh(with_fallback(name, on).glb(), "a.glb")

"""Mesh files that mean harm, or are broken as real ones are."""

import base64
import json
import os
import struct
from typing import Any

import numpy as np

from submissions.manifest import Item, Manifest
from tests.support.submissions.glb import Scene, glb, triangle
from tests.support.submissions.hostile.cases import Cases, Content

MANIFEST = Manifest(
    challenge="hostile",
    phase="two",
    family="mesh",
    items=(Item("vase", "vase", (1000, 2000)), Item("hall", "hall", (2_000_000, 4_000_000))),
    formats=("glb", "obj", "ply", "stl", "off"),
    missing="worst",
    unit="m",
    unit_scale=1.0,
)
CASES = Cases()


def refused(sentence: str, name: str, **contents: Content) -> None:
    CASES.files(sentence, name, contents)


# --- GLB and glTF


def changed(place: str, scene: Scene | None = None, **fields: Any) -> bytes:
    """A file after fields of the object at ``place`` ("accessors 0") were replaced."""
    scene = scene or triangle()
    target: Any = scene.tree
    for step in place.split():
        target = target[int(step) if step.isdigit() else step]
    target |= fields
    return scene.glb()


def patched(offset: int, value: int) -> bytes:
    data = bytearray(triangle().glb())
    struct.pack_into("<I", data, offset, value)
    return bytes(data)


def with_mesh(*args: Any, **more: Any) -> bytes:
    scene = Scene()
    scene.mesh(*args, **more)
    return scene.glb()


def sparse(count: int, at: list[int]) -> bytes:
    scene = triangle()
    indices = {"bufferView": scene.view(at, "H"), "componentType": 5123}
    values = {"bufferView": scene.view(np.zeros((len(at), 3)))}
    return changed("accessors 0", scene, sparse={"count": count, "indices": indices, "values": values})


def gltf_with_buffer(**entry: Any) -> bytes:
    return json.dumps(json.loads(triangle().gltf()) | {"buffers": [{"byteLength": 36, **entry}]}).encode()


def two_buffers(**second: Any) -> Scene:
    """Its second buffer has nothing in it."""
    return triangle(buffers=[{"byteLength": 36}, {"byteLength": 36, **second}])


def many_instances(count: int) -> bytes:
    scene = Scene(nodes=[{"mesh": 0} for _ in range(count)])
    scene.mesh(np.zeros((999, 3)))
    return scene.glb()


refused(r"chunk 0: claims 4294967295 bytes, \d+ are left in the file", "vase.glb", glb_huge_chunk=patched(12, 2**32 - 1))
refused(r"vase.glb: claims 4294967295 bytes but has \d+", "vase.glb", glb_huge_length=patched(8, 2**32 - 1))
refused(r"is it cut short\?", "vase.glb", glb_cut=triangle().glb()[:-4], glb_header_only=b"glTF" + bytes(8))
refused(r"glTF binary of version 1, only version 2", "vase.glb", glb_version_1=patched(4, 1))
refused(r"chunk 0: must be JSON", "vase.glb", glb_no_json=patched(16, 0x004E4942))
refused(
    r"is not JSON|is not a glTF file|is not UTF-8", "vase.glb", glb_text=glb(b"{"), glb_list=glb(b"[1]"), glb_picture=b"\x89PNG\r\n" * 9
)
refused(r"nests lists or objects too deeply", "hall.glb", glb_deep_json=glb(b'{"asset":' * 200_000), glb_deep_lists=glb(b"[" * 300_000))
refused(r"holds more than 400000 values", "hall.glb", glb_wide_json=glb(b'{"asset":[' + b"[]," * 2_000_000 + b"[]]}"))
refused(r"accessors\[0\]: has 2147483648 vertices, at most 1000", "vase.glb", glb_huge_count=changed("accessors 0", count=2**31))
refused(
    r"accessors\[0\]: has 1999998 rows, which reach to byte 23999976 of 36 in bufferViews\[0\]",
    "hall.glb",
    glb_count_beyond_view=changed("accessors 0", count=1_999_998),
)
refused(r'must have a whole number of at least 0 as "count"', "vase.glb", glb_negative_count=changed("accessors 0", count=-3))
refused(r"whole number of 40 digits", "vase.glb", glb_digits=glb(b'{"asset":{"version":"2.0"},"x":' + b"9" * 40 + b"}"))
refused(
    r"bufferViews\[0\]: reaches to byte \d+, its buffer has 36",
    "vase.glb",
    glb_view_beyond_buffer=changed("bufferViews 0", byteLength=37),
    glb_view_offset_huge=changed("bufferViews 0", byteOffset=2**59),
)
refused(r"bufferViews\[0\]: has a stride of (1|99999) bytes", "vase.glb", glb_stride_small=changed("bufferViews 0", byteStride=1))
refused(r"names bufferViews\[(7|-1|0\.5|True)\], there are 1", "vase.glb", glb_view_missing=changed("accessors 0", bufferView=7))
refused(r"names bufferViews\[-1\], there are 1", "vase.glb", glb_view_negative=changed("accessors 0", bufferView=-1))
refused(r"names bufferViews\[True\], there are 1", "vase.glb", glb_view_boolean=changed("accessors 0", bufferView=True))
refused(r"accessors\[0\]: has an unknown componentType", "vase.glb", glb_component=changed("accessors 0", componentType=5124))
refused(r"accessors\[0\]: must be of the type VEC3", "vase.glb", glb_matrix=changed("accessors 0", type="MAT4"))
refused(r"sparse: replaces (99 rows of 3|row 9, there are 3)", "vase.glb", glb_sparse_many=sparse(99, [0]), glb_sparse_row=sparse(1, [9]))
refused(r"corner 2: names vertex 9, there are 3, counted from 0", "vase.glb", glb_index=with_mesh(indices=[0, 1, 9]))
refused(r"has 2 corners, which is not a whole number of triangles", "vase.glb", glb_two_corners=with_mesh(indices=[0, 1]))
refused(
    r"primitives\[0\] vertex 1: has a coordinate that is not finite", "vase.glb", glb_nan=with_mesh([[0, 0, 0], [0, np.nan, 0], [1, 0, 0]])
)
refused(r"vertex 2: has the coordinate 1e\+30, the limit", "vase.glb", glb_1e30=with_mesh([[0, 0, 0], [0, 1, 0], [1e30, 0, 0]]))
refused(
    r"vertex 1: has (the coordinate|a coordinate that is not finite)",
    "vase.glb",
    glb_scale=triangle(nodes=[{"mesh": 0, "scale": [1e300, 1, 1]}]).glb(),
    glb_scale_of_scale=triangle(nodes=[{"children": [1], "scale": [1e300, 1, 1]}, {"mesh": 0, "scale": [1e300, 1, 1]}]).glb(),
)
refused(
    r'nodes\[0\]: must have 16 numbers as "matrix"', "vase.glb", glb_matrix_short=triangle(nodes=[{"mesh": 0, "matrix": [1] * 15}]).glb()
)
refused(
    r"nodes\[0\]: is a child twice or of itself",
    "vase.glb",
    glb_cycle=triangle(nodes=[{"mesh": 0, "children": [1]}, {"children": [0]}]).glb(),
    glb_own_child=triangle(nodes=[{"mesh": 0, "children": [0]}]).glb(),
)
refused(r"nodes: are all children of each other", "vase.glb", glb_ring=triangle(nodes=[{"mesh": 0, "children": [0]}], scenes=[]).glb())
refused(
    r"nodes\[65\]: lies more than 64 nodes deep",
    "vase.glb",
    glb_deep_nodes=triangle(nodes=[{"children": [n + 1]} for n in range(5000)] + [{"mesh": 0}]).glb(),
)
refused(r"has 1998 vertices or more in its scene, at most 1000", "vase.glb", glb_many_instances=many_instances(500))
refused(
    r"compressed with Draco \(KHR_draco_mesh_compression\)",
    "vase.glb",
    glb_draco=triangle(extensionsRequired=["KHR_draco_mesh_compression"]).glb(),
)
refused(r"compressed with meshopt", "vase.glb", glb_meshopt=triangle(extensionsRequired=["EXT_meshopt_compression"]).glb())
refused(
    r"compressed with meshopt \(EXT_meshopt_compression\) and its fallback, buffers\[1\], holds no data",
    "vase.glb",
    glb_meshopt_empty_fallback=changed("bufferViews 0", buffer=1, extensions={"EXT_meshopt_compression": []}, scene=two_buffers()),
    glb_meshopt_on_buffer=changed("bufferViews 0", buffer=1, scene=two_buffers(extensions={"EXT_meshopt_compression": 7})),
)
refused(
    r"buffers\[1\]: has no data; send it as .glb",
    "vase.glb",
    glb_second_buffer_empty=changed("bufferViews 0", buffer=1, extensions=["EXT_meshopt_compression"], scene=two_buffers(extensions="x")),
)
refused(r"requires the extension X\\u202e_y, which is not read", "vase.glb", glb_extension=triangle(extensionsRequired=["X\u202e_y"]).glb())
refused(r"is moved by a skeleton", "vase.glb", glb_skin=triangle(nodes=[{"mesh": 0, "skin": 0}]).glb())
refused(r"has morph targets", "vase.glb", glb_morph=with_mesh(targets=[{}]))
refused(r"is lines, not triangles", "vase.glb", glb_lines=with_mesh(mode=1))
refused(r"is of an unknown mode, not triangles", "vase.glb", glb_mode=with_mesh(mode=77))
refused(r'is in another file, "vase.bin", which is not beside it', "vase.gltf", gltf_external=gltf_with_buffer(uri="vase.bin"))
refused(
    r'is in another file, "[^"]+", which is no name of a file in the same folder; send it as .glb',
    "vase.gltf",
    gltf_passwords=gltf_with_buffer(uri="../../../etc/passwd"),
    gltf_address=gltf_with_buffer(uri="http://169.254.169.254/latest"),
    gltf_file_address=gltf_with_buffer(uri="file:///etc/passwd"),
    gltf_parent_in_percent=gltf_with_buffer(uri="%2e%2e%2fvase.bin"),
    gltf_absolute=gltf_with_buffer(uri="/vase.bin"),
    gltf_drive=gltf_with_buffer(uri="C:vase.bin"),
    gltf_backslash=gltf_with_buffer(uri="..\\vase.bin"),
    gltf_deeper=gltf_with_buffer(uri="deeper/vase.bin"),
    gltf_zero=gltf_with_buffer(uri="vase.bin%00"),
    gltf_folder=gltf_with_buffer(uri="."),
)
refused(r"has no data; send it as .glb", "vase.gltf", gltf_no_data=gltf_with_buffer())
refused(r"has a data URI (that is not|with broken) base64", "vase.gltf", gltf_percent=gltf_with_buffer(uri="data:,abc"))
refused(r"has a data URI with broken base64", "vase.gltf", gltf_broken_base64=gltf_with_buffer(uri="data:;base64,\u00e9*"))
refused(
    r"buffers\[0\]: claims 1000000000 bytes but holds 9000000",
    "vase.gltf",
    gltf_bomb=lambda: gltf_with_buffer(
        uri="data:application/octet-stream;base64," + base64.b64encode(bytes(9_000_000)).decode(), byteLength=10**9
    ),
)

# --- PLY

XYZ = "property float x\nproperty float y\nproperty float z\n"
FACES = "property list uchar int vertex_indices\n"


def ply(body: bytes = b"", form: str = "binary_little_endian", vertex: int = 3, face: int = 1, faces: str = FACES, xyz: str = XYZ) -> bytes:
    return f"ply\nformat {form} 1.0\nelement vertex {vertex}\n{xyz}element face {face}\n{faces}end_header\n".encode() + body


POINTS = np.eye(3, dtype="<f4").tobytes()
NAN = struct.pack("<9f", 0, 0, 0, 0, np.nan, 0, 0, 0, 0)
FACE = struct.pack("<Biii", 3, 0, 1, 2)
TEXT = b"0 0 0\n1 0 0\n0 1 0\n"

refused(r"vase.ply: has 1000000000000 vertices, at most 1000", "vase.ply", ply_huge_count=ply(vertex=10**12))
refused(r'claims 2000000 rows of "vertex", \d+ bytes follow', "hall.ply", ply_many_vertices=ply(POINTS, vertex=2_000_000))
refused(r"element vertex: ends before its 90 rows", "vase.ply", ply_cut=ply(bytes(100), vertex=90))
refused(
    r"face 0: (reaches past the end|has a list of -1 values)",
    "vase.ply",
    ply_list_of_2_31=ply(POINTS + struct.pack("<I", 2**31) + bytes(12), faces="property list uint int vertex_indices\n"),
    ply_list_negative=ply(POINTS + struct.pack("<i", -1) + bytes(12), faces="property list int int vertex_indices\n"),
)
refused(
    r"face 0: reaches past the end",
    "vase.ply",
    ply_face_cut=ply(POINTS + b"\x03" + bytes(11)),
    ply_ignored_list_of_2_31=ply(POINTS + struct.pack("<I", 2**31) + bytes(30), faces="property list uint int other\n" + FACES),
)
refused(r"face 0: has 2 vertices, there must be 3 or more", "vase.ply", ply_two_corners=ply(POINTS + b"\x02" + bytes(8)))
refused(
    r"face 0: face names vertex -1, there are 3, counted from 0", "vase.ply", ply_negative=ply(POINTS + struct.pack("<Biii", 3, 0, 1, -1))
)
refused(r"vertex 1: has a coordinate that is not finite", "vase.ply", ply_nan=ply(NAN + FACE))
refused(r"is not a line of a PLY header|is not a property of PLY", "vase.ply", ply_odd_line=ply(xyz=XYZ + "prop float w\n"))
refused(
    r'line 7: "property(| list| list uchar)" is not a property of PLY',
    "vase.ply",
    ply_bare_property=ply(xyz=XYZ + "property\n"),
    ply_bare_list=ply(xyz=XYZ + "property list\n"),
    ply_bare_length=ply(xyz=XYZ + "property list uchar\n"),
)
refused(
    r"is not a property of PLY",
    "vase.ply",
    ply_odd_type=ply(xyz=XYZ + "property float128 w\n"),
    ply_list_by_float=ply(faces="property list float int vertex_indices\n"),
)
refused(
    r"is one too many, or is declared twice",
    "vase.ply",
    ply_many_columns=ply(xyz=XYZ + "".join(f"property char p{n}\n" for n in range(900))),
)
refused(r"is one too many, or is declared twice", "vase.ply", ply_two_x=ply(xyz=XYZ + "property float x\n"))
refused(r"has no end_header in its first 100000 bytes", "vase.ply", ply_endless_header=b"ply\n" + b"comment\n" * 100_000)
refused(r"is not a PLY file: it does not begin with ply", "vase.ply", ply_noise=os.urandom(300), ply_empty=b"")
refused(r"has vertices without x, y and z", "vase.ply", ply_flat=ply(POINTS, xyz="property float x\nproperty float y\n"))
refused(r"has faces without a list vertex_indices", "vase.ply", ply_no_corners=ply(POINTS, faces="property int colour\n"))
refused(r'element "vertex" without properties', "vase.ply", ply_no_columns=ply(xyz=""))
refused(r"holds strips of triangles", "vase.ply", ply_strips=ply(TEXT, "ascii", face=1).replace(b"element face", b"element tristrips"))
refused(r'ends after 1 of 3 rows of "vertex"', "vase.ply", ply_text_cut=ply(b"0 0 0\n", "ascii"))
refused(r"line 11: has a coordinate that is not finite", "vase.ply", ply_text_nan=ply(b"0 0 0\nnan 0 0\n0 0 0\n3 0 1 2\n", "ascii"))
refused(r"line 10: has the coordinate 1e\+300", "vase.ply", ply_text_1e300=ply(b"1e300 0 0\n0 0 0\n0 0 0\n3 0 1 2\n", "ascii"))
refused(
    r'line 13: has a length of its "vertex_indices" that is not a whole number from 0 up',
    "vase.ply",
    ply_text_list=ply(TEXT + b"2147483648 0 1 2\n", "ascii"),
)
refused(r'line 13: ends within its "vertex_indices"', "vase.ply", ply_text_list_short=ply(TEXT + b"4 0 1 2\n", "ascii"))
refused(r"line 13: face names vertex 0.5, which is not a whole number", "vase.ply", ply_text_fraction=ply(TEXT + b"3 0 1 0.5\n", "ascii"))

# --- STL

FACET = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"


SOLID = b"solid\n" + FACET + b"endsolid\n"


def stl(*corners: float, count: int = 1, head: bytes = b"") -> bytes:
    return head.ljust(80) + struct.pack("<I12fH", count, 0, 0, 1, *corners, 0)


NINE = (0, 0, 0, 1, 0, 0, 0, 1, 0)

refused(r"claims 4294967295 triangles, which take 214748364834 bytes, but has 134", "vase.stl", stl_huge_count=stl(*NINE, count=2**32 - 1))
refused(r"claims 2 triangles, which take 184 bytes, but has 134", "vase.stl", stl_solid_binary=stl(*NINE, count=2, head=b"solid vase"))
refused(r"has 2001 triangles, at most 2000", "vase.stl", stl_many=bytes(80) + struct.pack("<I", 2001) + bytes(2001 * 50))
refused(r"facet 0: has a coordinate that is not finite", "vase.stl", stl_inf=stl(0, 0, np.inf, *NINE[3:]))
refused(r"facet 0: has the coordinate -1e\+30", "vase.stl", stl_1e30=stl(0, 0, -1e30, *NINE[3:]))
refused(r"is not an STL file|is empty", "vase.stl", stl_empty=b"", stl_short=b"solid", stl_noise=b"\x89PNG" * 9)
refused(r"is UTF-16 or UTF-32 text", "vase.stl", stl_utf16=("solid\n" + FACET.decode()).encode("utf-16"))
refused(r"ends within a solid, without endsolid", "vase.stl", stl_text_cut=b"solid\n" + FACET, stl_text_cut_facet=b"solid\n" + FACET[:56])
refused(r'line 4: "nan" is not finite', "vase.stl", stl_text_nan=SOLID.replace(b"vertex 0 0 0", b"vertex 0 nan 0") + b"endsolid")
refused(
    r"line 7: is vertex, where endloop should stand",
    "vase.stl",
    stl_four=SOLID.replace(b"endloop", b"vertex 1 1 1\nendloop") + b"endsolid",
)
refused(r"line 4: vertex has 2 numbers", "vase.stl", stl_two_numbers=SOLID.replace(b"vertex 0 0 0", b"vertex 0 0") + b"endsolid")
refused(
    r'line 9: begins with "drop", which is not a line of an STL',
    "vase.stl",
    stl_odd_line=SOLID.replace(b"endsolid", b"drop table\nendsolid"),
)

# --- OFF

OFF = b"OFF\n3 1 0\n" + TEXT

refused(r"vase.off: has 1000000000000 vertices, at most 1000", "vase.off", off_huge_count=b"OFF\n1000000000000 1 0\n" + TEXT)
refused(r"ends after 3 of 2000000 vertices", "hall.off", off_many_vertices=b"OFF\n2000000 1 0\n" + TEXT)
refused(r"ends after 0 of 1 faces; is it cut short", "vase.off", off_cut=OFF)
refused(
    r'line 6: (ends within its "corners"|has a length of its "corners" that is not a whole number)',
    "vase.off",
    off_list_of_2_31=OFF + b"2147483648 0 1 2\n",
    off_short_face=OFF + b"3 0 1\n",
)
refused(r"line 6: .*(corners|not a whole number)", "vase.off", off_negative_list=OFF + b"-3 0 1 2\n", off_half_list=OFF + b"2.5 0 1 2\n")
refused(r"line 6: face has fewer than 3 vertices", "vase.off", off_two_corners=OFF + b"2 0 1\n")
refused(r"line 6: face names vertex (-1|3), there are 3", "vase.off", off_negative=OFF + b"3 0 1 -1\n", off_index=OFF + b"3 0 1 3\n")
refused(r"line 3: has a coordinate that is not finite", "vase.off", off_inf=OFF.replace(b"0 0 0", b"0 inf 0") + b"3 0 1 2\n")
refused(r'line 3: "0x1p3" is not a number', "vase.off", off_hex=OFF.replace(b"0 0 0", b"0 0x1p3 0"))
refused(r"line 4: has 2 numbers, there must be 3", "vase.off", off_two_numbers=OFF.replace(b"1 0 0", b"1 0"))
refused(r"must give the numbers of vertices, faces", "vase.off", off_no_counts=b"OFF\nthree one\n", off_negative_count=b"OFF\n-3 1 0\n")
refused(r"an OFF file begins with OFF", "vase.off", off_noise=b"\x89PNG\r\n", off_obj=b"v 0 0 0\n")
refused(r"is UTF-16 or UTF-32 text", "vase.off", off_utf16=OFF.decode().encode("utf-16"))
refused(r"holds a zero byte", "vase.off", off_zero_byte=OFF.replace(b"1 0 0", b"1 \0 0"))
refused(
    r"is OFF in binary or other than 3 dimensions", "vase.off", off_4d=OFF.replace(b"OFF", b"4OFF"), off_binary=b"OFF BINARY\n" + b"1" * 40
)
refused(r"line 3: is longer than 1 MB", "hall.off", off_long_line=b"OFF\n3 1 0\n" + b"0 " * 600_000)

# --- OBJ

OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"

refused(r"line 1001: there are more than 1000 vertices", "vase.obj", mesh_obj_many_vertices=b"v 0 0 0\n" * 5000)
refused(r"line 4: there are more than 2000 triangles", "vase.obj", mesh_obj_huge_polygon=OBJ + b"f" + b" 1" * 400_000)
refused(r"line 2004: there are more than 2000 triangles", "vase.obj", mesh_obj_many_faces=OBJ + b"f 1 2 3\n" * 2100)
refused(r"line 4: face names vertex 90, there are 3", "vase.obj", mesh_obj_index=OBJ + b"f 1 2 90\n")
refused(r"line 4: face names vertex -4, only 3 are defined above it", "vase.obj", mesh_obj_negative=OBJ + b"f 1 2 -4\n")
refused(r"line 4: face names vertex 0, the first vertex is 1", "vase.obj", mesh_obj_zero=OBJ + b"f 0 1 2\n")
refused(r"line 4: face names vertex 9223372036854775807", "vase.obj", mesh_obj_huge_index=OBJ + b"f 1 2 1" + b"0" * 5000)
refused(r"is not a vertex number", "vase.obj", mesh_obj_half_index=OBJ + b"f 1 2 1.5", mesh_obj_slash=OBJ + b"f 1/1 2/2 /3")
refused(r'line 2: "nan" is not finite', "vase.obj", mesh_obj_nan=b"#\nv 0 nan 0\n")
refused(r"line 1: has the coordinate 1e\+300, the limit", "vase.obj", mesh_obj_1e300=b"v 0 1e300 0\n")
refused(r"line 1: has a coordinate that is not finite", "vase.obj", mesh_obj_1e400=b"v 0 1e400 0\n")
refused(r"line 4: face has 2 vertices", "vase.obj", mesh_obj_two_corners=OBJ + b"f 1 2\n")
refused(r'line 1: begins with "A{60}', "vase.obj", mesh_obj_long_word=b"A" * 900_000)
refused(r"vase.obj: is empty", "vase.obj", mesh_obj_empty=b"", mesh_obj_blank=b" \n\n")

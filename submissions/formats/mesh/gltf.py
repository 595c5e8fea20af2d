"""Meshes in glTF: a ``.glb``, or a ``.gltf`` with its buffers in it or beside it. Every type and index of its JSON is checked."""

import base64
import binascii
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from submissions.formats.arrays import Mesh, Naming, mesh
from submissions.formats.errors import Findings, FormatError, Remarks, excerpt
from submissions.formats.mesh.polygons import PLAIN, from_corners, srgb
from submissions.formats.text import parse_json

MAX_JSON_VALUES = 400_000
_MAGIC, _JSON, _BIN = b"glTF", 0x4E4F534A, 0x004E4942
_EMBED = "send it as .glb, or put its buffers beside it in the same folder"
HIDDEN = "Hidden nodes are left out"
THIN = "Points and lines are left out, because only triangles are a surface"
# Other required extensions concern light and material only, or are refused by name.
_COMPRESSED = {
    "KHR_draco_mesh_compression": "Draco",
    "EXT_meshopt_compression": "meshopt",
    "KHR_meshopt_compression": "meshopt",
}
_HARMLESS = ("KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "MSFT_texture_", "EXT_lights_", "KHR_xmp")
_READ = ("KHR_mesh_quantization", "KHR_node_visibility")


Beside = Callable[[str], bytes | None]  # the content of a file in the same folder by its name


class Document:
    """The JSON of a file, looked up with every type and index checked, and the bytes of its buffers."""

    def __init__(self, file: str, tree: dict[str, Any], binary: bytes | None, beside: Beside) -> None:
        self.file, self.tree = file, tree
        self._binary, self._beside = binary, beside
        self._buffers: dict[int, memoryview] = {}

    def fault(self, where: str, reason: str) -> FormatError:
        return FormatError(self.file, where, reason)

    def count(self, kind: str) -> int:
        return len(self._all(kind))

    def one(self, kind: str, index: Any, where: str) -> dict[str, Any]:
        """The object number ``index`` of a top-level list such as ``nodes``, as named at ``where``."""
        entries = self._all(kind)
        if type(index) is not int or not 0 <= index < len(entries):
            raise self.fault(where, f"names {kind}[{excerpt(str(index))}], there are {len(entries)}, counted from 0")
        if type(entries[index]) is not dict:
            raise self.fault(f"{kind}[{index}]", "must be an object")
        return entries[index]

    def integer(self, owner: dict[str, Any], key: str, where: str, default: int | None = None) -> int:
        """A whole number of at least 0; ``default`` where it is not there."""
        value = owner.get(key, default)
        if type(value) is not int or value < 0:
            raise self.fault(where, f'must have a whole number of at least 0 as "{key}"')
        return value

    def objects(self, owner: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
        """A list of objects; empty where it is not there."""
        found = owner.get(key, [])
        if type(found) is not list or not all(type(entry) is dict for entry in found):
            raise self.fault(where, f'must have a list of objects as "{key}"')
        return found

    def object(self, owner: dict[str, Any], key: str, where: str) -> dict[str, Any]:
        """An object; empty where it is not there."""
        found = owner.get(key, {})
        if type(found) is not dict:
            raise self.fault(where, f'must have an object as "{key}"')
        return found

    def floats(self, owner: dict[str, Any], key: str, count: int, where: str) -> list[float] | None:
        """A list of exactly ``count`` numbers; None where it is not there."""
        found = owner.get(key)
        if found is None:
            return None
        if type(found) is not list or len(found) != count or not all(type(value) in (int, float) for value in found):
            raise self.fault(where, f'must have {count} numbers as "{key}"')
        return [float(value) for value in found]

    def entries(self, owner: dict[str, Any], key: str, where: str) -> list[Any]:
        """A list of anything; empty where it is not there."""
        found = owner.get(key, [])
        if type(found) is not list:
            raise self.fault(where, f'must have a list as "{key}"')
        return found

    def buffer(self, index: Any, where: str) -> memoryview:
        """The bytes of a buffer: the file's own chunk, a data URI, or a file in the same folder."""
        entry = self.one("buffers", index, where)
        if index in self._buffers:
            return self._buffers[index]
        where = f"buffers[{index}]"
        length = self.integer(entry, "byteLength", where)
        uri = entry.get("uri")
        if uri is None:
            data = self._binary if index == 0 else None
            if data is None and (extension := self._fallback_of(index)):
                raise self.compressed(extension, f" and its fallback, {where}, holds no data")
            if data is None:
                raise self.fault(where, f"has no data; {_EMBED}")
        elif type(uri) is str and uri.startswith("data:"):
            data = self._inline(uri, where)
        else:
            name = _file_name(uri) if type(uri) is str else ""
            data = self._beside(name) if name else None
            if data is None:
                lacks = "which is not beside it, or too large" if name else "which is no name of a file in the same folder"
                raise self.fault(where, f'is in another file, "{excerpt(str(uri))}", {lacks}; {_EMBED}')
        if len(data) < length:
            raise self.fault(where, f"claims {length} bytes but holds {len(data)}; is it cut short?")
        self._buffers[index] = memoryview(data)[:length]
        return self._buffers[index]

    def _inline(self, uri: str, where: str) -> bytes:
        """The bytes of a data URI."""
        head, _, body = uri.partition(",")
        if not head.endswith(";base64"):
            raise self.fault(where, "has a data URI that is not base64")
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            raise self.fault(where, "has a data URI with broken base64; write it again") from None

    def _fallback_of(self, index: int) -> str:
        """The compression that puts the data of a buffer elsewhere; empty without one."""
        views = [view for view in self._all("bufferViews") if type(view) is dict and view.get("buffer") == index]
        used = [owner["extensions"] for owner in (self._all("buffers")[index], *views) if type(owner.get("extensions")) is dict]
        return next((name for names in used for name in names if name in _COMPRESSED), "")

    def compressed(self, extension: str, more: str = "") -> FormatError:
        return self.fault("", f"is compressed with {_COMPRESSED[extension]} ({extension}){more}; export it without compression")

    def _all(self, kind: str) -> list[Any]:
        found = self.tree.get(kind, [])
        if type(found) is not list:
            raise self.fault(kind, "must be a list")
        return found


def _file_name(uri: str) -> str:
    """Return the name of the file in the same folder to which a URI refers; empty where it has a scheme or leads to another folder."""
    name = unquote(uri).removeprefix("./")
    return "" if name in ("", ".", "..") or any(sign in name for sign in "/\\:?#\0") else name


def open_document(data: bytes, file: str, beside: Beside) -> Document:
    """Return a file's JSON and binary data, or raise ``FormatError``. The first bytes tell a ``.glb`` from a ``.gltf``, not the name."""
    text, binary = _chunks(data, file) if data.startswith(_MAGIC) else (data, None)
    tree = parse_json(text, file, MAX_JSON_VALUES)
    if type(tree) is not dict or type(tree.get("asset")) is not dict:
        raise FormatError(file, "", 'is not a glTF file: it is not an object with an "asset"')
    version = tree["asset"].get("version")
    if type(version) is not str or not version.startswith("2."):
        raise FormatError(file, "asset", f'has the version "{excerpt(str(version))}", only glTF 2 is read')
    document = Document(file, tree, binary, beside)
    required = document.tree.get("extensionsRequired", [])
    if type(required) is not list or not all(type(name) is str for name in required):
        raise document.fault("extensionsRequired", "must be a list of names")
    for name in required:
        if name in _COMPRESSED:
            raise document.compressed(name)
        if name not in _READ and not name.startswith(_HARMLESS):
            raise document.fault("", f"requires the extension {excerpt(name)}, which is not read; export it without")
    return document


def _chunks(data: bytes, file: str) -> tuple[bytes, bytes | None]:
    """The JSON and the binary chunk of a ``.glb``; other chunks are passed over, as the format says."""
    if len(data) < 20:
        raise FormatError(file, "", "ends within its header; is it cut short?")
    version, total = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FormatError(file, "", f"is glTF binary of version {version}, only version 2 is read")
    if total < len(data) and not data[total:].strip(b"\0 \t\r\n"):  # a program or a copy has added the end of a line
        data = data[:total]
    if total != len(data):
        raise FormatError(file, "", f"claims {total} bytes but has {len(data)}; is it cut short?")
    found: list[tuple[int, bytes]] = []
    at = 12
    while at < len(data) and len(found) < 2:
        if at + 8 > len(data):
            raise FormatError(file, f"chunk {len(found)}", "ends within its header; is it cut short?")
        length, kind = struct.unpack_from("<II", data, at)
        if at + 8 + length > len(data):
            left = len(data) - at - 8
            raise FormatError(file, f"chunk {len(found)}", f"claims {length} bytes, {left} are left in the file")
        found.append((kind, data[at + 8 : at + 8 + length]))
        at += 8 + length
    if found[0][0] != _JSON:
        raise FormatError(file, "chunk 0", "must be JSON")
    binary = found[1][1] if len(found) > 1 and found[1][0] == _BIN else None
    return found[0][1].rstrip(b"\0 "), binary


# Accessors of glTF: typed rows within the bytes of a buffer, plain or sparse, every place checked before it is read.


_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_MAX_STRIDE = 4096


def row_count(document: Document, index: Any, where: str, most: int, what: str) -> int:
    """Number of rows of an accessor; ``FormatError`` where that is more than ``most``."""
    count = document.integer(document.one("accessors", index, where), "count", f"accessors[{index}]")
    if count > most:
        raise document.fault(f"accessors[{index}]", f"has {count} {what}, at most {most} are taken for this item")
    return count


def read(document: Document, index: Any, where: str, kinds: tuple[str, ...]) -> NDArray[Any]:
    """The rows of an accessor of one of the types ``kinds`` as [N, width], normalised numbers as floats.

    The caller bounds the number of rows first, by ``row_count``.
    """
    entry = document.one("accessors", index, where)
    where = f"accessors[{index}]"
    kind, component = entry.get("type"), entry.get("componentType")
    if kind not in kinds:
        raise document.fault(where, f"must be of the type {' or '.join(kinds)}")
    if type(component) is not int or component not in _COMPONENTS:
        raise document.fault(where, "has an unknown componentType")
    count = document.integer(entry, "count", where)
    dtype, width = np.dtype(_COMPONENTS[component]), _WIDTHS[kind]
    if "bufferView" in entry:
        offset = document.integer(entry, "byteOffset", where, 0)
        rows = _view(document, entry["bufferView"], offset, count, dtype, width, where)
    else:
        rows = np.zeros((count, width), dtype)
    sparse = document.object(entry, "sparse", where)
    if sparse:
        rows = _with_sparse(document, sparse, rows, f"{where}.sparse")
    if entry.get("normalized") is True and dtype.kind != "f":
        # As the format defines it: -128 and -127 are both -1.
        rows = np.maximum(rows / np.float64(np.iinfo(dtype).max), -1.0)
    return rows


def _view(document: Document, index: Any, offset: int, count: int, dtype: np.dtype, width: int, where: str) -> NDArray[Any]:
    """``count`` rows from byte ``offset`` of a buffer view, at the view's own stride."""
    view = document.one("bufferViews", index, where)
    place = f"bufferViews[{index}]"
    buffer = document.buffer(view.get("buffer"), place)
    start, length = document.integer(view, "byteOffset", place, 0), document.integer(view, "byteLength", place)
    if start + length > len(buffer):
        raise document.fault(place, f"reaches to byte {start + length}, its buffer has {len(buffer)}")
    size = dtype.itemsize * width
    stride = document.integer(view, "byteStride", place, size)
    if not size <= stride <= max(_MAX_STRIDE, size):
        raise document.fault(place, f"has a stride of {stride} bytes for rows of {size}")
    if count and offset + stride * (count - 1) + size > length:
        need = offset + stride * (count - 1) + size
        raise document.fault(where, f"has {count} rows, which reach to byte {need} of {length} in {place}")
    return np.ndarray((count, width), dtype, buffer, start + offset if count else 0, (stride, dtype.itemsize))


def _with_sparse(document: Document, sparse: dict[str, Any], rows: NDArray[Any], where: str) -> NDArray[Any]:
    """``rows`` with those replaced that a sparse accessor names."""
    count = document.integer(sparse, "count", where)
    if count > len(rows):
        raise document.fault(where, f"replaces {count} rows of {len(rows)}")
    indices, values = document.object(sparse, "indices", where), document.object(sparse, "values", where)
    if indices.get("componentType") not in (5121, 5123, 5125):
        raise document.fault(where, "has indices of an unknown componentType")
    offset = document.integer(indices, "byteOffset", where, 0)
    at = _view(document, indices.get("bufferView"), offset, count, np.dtype(_COMPONENTS[indices["componentType"]]), 1, where)[:, 0]
    if count and int(at.max()) >= len(rows):
        raise document.fault(where, f"replaces row {int(at.max())}, there are {len(rows)}, counted from 0")
    offset = document.integer(values, "byteOffset", where, 0)
    replaced = rows.copy()
    replaced[at] = _view(document, values.get("bufferView"), offset, count, rows.dtype, rows.shape[1], where)
    return replaced


# Meshes in glTF 2: ``.glb``, and ``.gltf`` with its data inside. All positions in a file are checked before use.  Only the geometry of the
# scene is read, in the scene's own coordinates: nodes with their transforms; triangles, strips and fans; plain, indexed, sparse and
# quantised. Base colours are kept for the 3D view; images are never decoded.


MAX_DEPTH = 64
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_MODES = {0: "points", 1: "lines", 2: "a loop of lines", 3: "a strip of lines"}


@dataclass(frozen=True)
class _Instance:
    """A primitive with its place in the scene."""

    primitive: dict[str, Any]
    where: str
    transform: NDArray[np.float64] | None  # [4, 4], or None for none at all
    n_vertices: int
    n_corners: int
    mode: int

    @property
    def n_faces(self) -> int:
        return self.n_corners // 3 if self.mode == _TRIANGLES else max(0, self.n_corners - 2)

    @classmethod
    def of(
        cls,
        document: Document,
        primitive: dict[str, Any],
        where: str,
        transform: NDArray[np.float64] | None,
        mode: int,
        most: tuple[int, int],
    ) -> "_Instance":
        """The claims of a primitive, which must be of triangles, and have at most so many vertices and faces."""
        if mode not in (_TRIANGLES, _STRIP, _FAN):
            raise document.fault(where, "is of an unknown mode, not triangles; export triangles only")
        extensions, attributes = (document.object(primitive, key, where) for key in ("extensions", "attributes"))
        if "KHR_draco_mesh_compression" in extensions:
            # Programs that know no compression read the corners that it has uncompressed too, if it has them.
            used = [index for index in (attributes.get("POSITION"), primitive.get("indices")) if index is not None]
            if not all("bufferView" in document.one("accessors", index, where) for index in used):
                raise document.fault(where, "is compressed with Draco; export it without compression")
        if document.objects(primitive, "targets", where):
            raise document.fault(where, "has morph targets; export the mesh in its final shape")
        if attributes.get("POSITION") is None:
            raise document.fault(where, "has no POSITION; export the mesh with its vertices")
        n_points = n_corners = row_count(document, attributes["POSITION"], where, most[0], "vertices")
        if "indices" in primitive:
            n_corners = row_count(document, primitive["indices"], where, 3 * most[1] + 2, "corners")
        if mode == _TRIANGLES and n_corners % 3:
            raise document.fault(where, f"has {n_corners} corners, which is not a whole number of triangles")
        return cls(primitive, where, transform, n_points, n_corners, mode)


def read_gltf(
    data: bytes, file: str, max_vertices: int, max_faces: int, remarks: Remarks | None = None, beside: Beside = lambda name: None
) -> Mesh:
    """Reads all triangles that the default scene shows; raises ``FormatError`` naming the element of the file at fault. Remarks say what
    was left out."""
    document = open_document(data, file, beside)
    remarks = remarks or Remarks()
    found: list[_Instance] = []
    thin: list[tuple[str, str]] = []  # primitives that are points or lines
    n_vertices = n_faces = 0
    for mesh_index, transform, where in _placed_meshes(document, remarks):
        entry = document.one("meshes", mesh_index, where)
        for number, primitive in enumerate(document.objects(entry, "primitives", f"meshes[{mesh_index}]")):
            where = f"meshes[{mesh_index}].primitives[{number}]"
            mode = document.integer(primitive, "mode", where, _TRIANGLES)
            if mode in _MODES:
                thin.append((where, _MODES[mode]))
                continue
            claimed = _Instance.of(document, primitive, where, transform, mode, (max_vertices, max_faces))
            n_vertices, n_faces = n_vertices + claimed.n_vertices, n_faces + claimed.n_faces
            for count, most, what in ((n_vertices, max_vertices, "vertices"), (n_faces, max_faces, "triangles")):
                if count > most:
                    raise document.fault("", f"has {count} {what} or more in its scene, at most {most} are taken for this item")
            found.append(claimed)
    if thin and not found:
        raise document.fault(thin[0][0], f"is {thin[0][1]}, not triangles; export triangles only")
    remarks.add(THIN, [f"{file}: {where}" for where, _ in thin[:1]], len(thin))
    starts = np.cumsum([0, *(instance.n_vertices for instance in found)])
    face_starts = np.cumsum([0, *(instance.n_faces for instance in found)])
    vertices = np.zeros((int(starts[-1]), 3))
    faces = np.zeros((int(face_starts[-1]), 3), np.int64)
    colours = np.full((len(faces), 3), PLAIN, np.uint8)
    coloured = False
    for n, instance in enumerate(found):
        points, corners = _geometry(document, instance)
        own = _colours(document, instance, corners)
        vertices[starts[n] : starts[n + 1]] = points
        faces[face_starts[n] : face_starts[n + 1]] = corners + starts[n]
        if own is not None:
            coloured = True
            colours[face_starts[n] : face_starts[n + 1]] = own

    def place(n: int) -> str:
        at = int(np.searchsorted(starts, n, "right")) - 1
        return f"{found[at].where} vertex {n - starts[at]}"

    return mesh(vertices, faces, colours if coloured else None, Naming(place, str, str, element="face"), Findings(file))


# --- the scene


def _placed_meshes(document: Document, remarks: Remarks) -> Iterator[tuple[Any, NDArray[np.float64] | None, str]]:
    """The meshes of the scene with their transforms and nodes; every node once, none too deep, and none that is hidden or below a hidden
    one."""
    if not document.count("nodes"):
        yield from ((n, None, f"meshes[{n}]") for n in range(document.count("meshes")))
        return
    seen: set[int] = set()
    roots, place = _roots(document)
    stack: list[tuple[Any, NDArray[np.float64] | None, int, str]] = [(root, None, 0, place) for root in reversed(roots)]
    while stack:
        index, above, depth, where = stack.pop()
        node = document.one("nodes", index, where)
        where = f"nodes[{index}]"
        if index in seen:
            raise document.fault(where, "is a child twice or of itself; every node must have one parent")
        if depth > MAX_DEPTH:
            raise document.fault(where, f"lies more than {MAX_DEPTH} nodes deep")
        seen.add(index)
        extensions = document.object(node, "extensions", where)
        if document.object(extensions, "KHR_node_visibility", where).get("visible", True) is False:
            remarks.add(HIDDEN, [f"{document.file}: {where}"])
            continue
        transform = _local(document, node, where)
        if above is not None:
            with np.errstate(all="ignore"):
                transform = above if transform is None else above @ transform
        if "skin" in node:
            raise document.fault(where, "is moved by a skeleton (skin); export the mesh in its final pose")
        if "EXT_mesh_gpu_instancing" in extensions:
            raise document.fault(where, "is repeated by EXT_mesh_gpu_instancing; export plain nodes")
        if "mesh" in node:
            yield node["mesh"], transform, where
        stack += [(child, transform, depth + 1, where) for child in reversed(document.entries(node, "children", where))]


def _roots(document: Document) -> tuple[list[Any], str]:
    """The nodes of the default scene, and where it names them; without any scene, those that are no other node's child."""
    if document.count("scenes"):
        scene = document.tree.get("scene", 0)
        return document.entries(document.one("scenes", scene, "scene"), "nodes", f"scenes[{scene}]"), f"scenes[{scene}]"
    lists = [document.one("nodes", n, "nodes").get("children") for n in range(document.count("nodes"))]
    below = {child for entries in lists if type(entries) is list for child in entries if type(child) is int}
    roots = [n for n in range(len(lists)) if n not in below]
    if not roots:
        raise document.fault("nodes", "are all children of each other; every node must have one parent")
    return roots, "nodes"


def _local(document: Document, node: dict[str, Any], where: str) -> NDArray[np.float64] | None:
    """A node's own transform, from its matrix (by columns) or its translation, rotation and scale; None for none."""
    by_columns = document.floats(node, "matrix", 16, where)
    if by_columns is not None:
        return np.array(by_columns).reshape(4, 4).T
    translation = document.floats(node, "translation", 3, where)
    rotation = document.floats(node, "rotation", 4, where)
    scale = document.floats(node, "scale", 3, where)
    if translation is None and rotation is None and scale is None:
        return None
    found = np.eye(4)
    if rotation is not None:
        quaternion = np.array(rotation)
        with np.errstate(all="ignore"):
            x, y, z, w = quaternion / np.linalg.norm(quaternion)
        found[:3, :3] = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
    if scale is not None:
        found[:3, :3] *= np.array(scale)
    if translation is not None:
        found[:3, 3] = translation
    return found


# --- one primitive


def _geometry(document: Document, instance: _Instance) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points in the scene's coordinates and faces as rows of them, all within range."""
    primitive, where = instance.primitive, instance.where
    with np.errstate(invalid="ignore"):  # of what is no number, which is refused where points are checked
        points = read(document, primitive["attributes"]["POSITION"], where, ("VEC3",)).astype(np.float64)
    corners = np.arange(instance.n_corners)
    if "indices" in primitive:
        index = primitive["indices"]
        rows = read(document, index, where, ("SCALAR",))
        if rows.dtype.kind != "u":
            raise document.fault(f"accessors[{index}]", "must hold whole numbers of at least 0, as it is a list of vertices")
        corners = rows[:, 0].astype(np.int64)
        outside = np.flatnonzero(corners >= len(points))
        if len(outside):
            said = f"names vertex {corners[outside[0]]}, there are {len(points)}, counted from 0"
            raise document.fault(f"{where} corner {outside[0]}", said)
    faces = _triangles(corners, instance.mode)
    if instance.transform is None:
        return points, faces
    turn, move = instance.transform[:3, :3], instance.transform[:3, 3]
    with np.errstate(all="ignore"):
        points = points @ turn.T + move
        mirrored = np.linalg.det(turn) < 0
    # A mirrored mesh would show its inside.
    return points, faces[:, ::-1] if mirrored else faces


def _triangles(corners: NDArray[np.int64], mode: int) -> NDArray[np.int64]:
    if mode == _TRIANGLES:
        return corners.reshape(-1, 3)
    if len(corners) < 3:
        return np.zeros((0, 3), np.int64)
    if mode == _FAN:
        return np.stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]], axis=1)
    strip = np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1)
    strip[1::2] = strip[1::2, [1, 0, 2]]  # every other triangle of a strip runs the other way
    return strip


def _colours(document: Document, instance: _Instance, faces: NDArray[np.int64]) -> NDArray[np.uint8] | None:
    """The base colour of a primitive's material, times its vertex colours; None where it has neither."""
    primitive, where = instance.primitive, instance.where
    factor = None
    if "material" in primitive:
        material = document.one("materials", primitive["material"], where)
        place = f"materials[{primitive['material']}]"
        pbr = document.object(material, "pbrMetallicRoughness", place)
        factor = document.floats(pbr, "baseColorFactor", 4, place)
    colour = document.object(primitive, "attributes", where).get("COLOR_0")
    if colour is None:
        return None if factor is None else np.broadcast_to(srgb(np.array(factor[:3])), (len(faces), 3))
    if row_count(document, colour, where, instance.n_vertices, "colours") != instance.n_vertices:
        raise document.fault(where, "has fewer colours than vertices")
    linear = read(document, colour, where, ("VEC3", "VEC4"))[:, :3].astype(np.float64)
    return from_corners(srgb(linear * np.array((factor or [1, 1, 1])[:3])), faces)

"""Small glTF files for tests, written from plain values."""

import base64
import json
import struct
from typing import Any

import numpy as np

_COMPONENTS = {"b": 5120, "B": 5121, "h": 5122, "H": 5123, "I": 5125, "f": 5126}
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


class Scene:
    """A glTF under construction: ``tree`` is its JSON and may be changed at will before it is written."""

    def __init__(self, **tree: Any) -> None:
        self.binary = b""
        self.tree: dict[str, Any] = {"asset": {"version": "2.0"}, "bufferViews": [], "accessors": [], "meshes": [], **tree}

    def view(self, values: Any, kind: str = "f") -> int:
        """Adds a buffer view with these numbers and returns its index."""
        data = np.asarray(values, dtype=f"<{np.dtype(kind).str[1:]}").tobytes()
        self.binary += bytes(-len(self.binary) % 4)
        self.tree["bufferViews"].append({"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)})
        self.binary += data
        return len(self.tree["bufferViews"]) - 1

    def accessor(self, values: Any, kind: str = "f", **more: Any) -> int:
        """Adds an accessor over a view of its own and returns its index."""
        rows = np.asarray(values)
        width = rows.shape[1] if rows.ndim == 2 else 1
        entry = {"bufferView": self.view(values, kind), "componentType": _COMPONENTS[kind], "count": len(rows), "type": _TYPES[width]}
        self.tree["accessors"].append(entry | more)
        return len(self.tree["accessors"]) - 1

    def mesh(self, points: Any = TRIANGLE, indices: Any = None, **more: Any) -> int:
        """Adds a mesh of one primitive and returns its index."""
        primitive: dict[str, Any] = {"attributes": {"POSITION": self.accessor(points)}}
        if indices is not None:
            primitive["indices"] = self.accessor(indices, "H")
        self.tree["meshes"].append({"primitives": [primitive | more]})
        return len(self.tree["meshes"]) - 1

    def glb(self) -> bytes:
        tree = {"buffers": [{"byteLength": len(self.binary)}], **self.tree}
        return glb(json.dumps(tree).encode(), self.binary)

    def gltf(self) -> bytes:
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.binary).decode()
        return json.dumps({"buffers": [{"byteLength": len(self.binary), "uri": uri}], **self.tree}).encode()


def glb(text: bytes, binary: bytes = b"") -> bytes:
    """A .glb of these two chunks."""
    text, binary = text + b" " * (-len(text) % 4), binary + bytes(-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary if binary else b""
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def triangle(**tree: Any) -> Scene:
    """A scene with one triangle in one mesh on one node."""
    scene = Scene(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}])
    scene.mesh()
    scene.tree |= tree
    return scene

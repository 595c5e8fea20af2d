"""The container of glTF: chunks of a ``.glb`` or text with data URIs, and looks into its JSON that trust nothing."""

import base64
import binascii
import struct
from typing import Any

from submissions.formats.errors import FormatError, shown
from submissions.formats.text import parse_json

MAX_JSON_VALUES = 400_000
_MAGIC, _JSON, _BIN = b"glTF", 0x4E4F534A, 0x004E4942
_EMBED = "send it as .glb, or with its buffers embedded"
# Whatever else a file requires bears on light and material only, or is refused by its name.
_COMPRESSED = {
    "KHR_draco_mesh_compression": "Draco",
    "EXT_meshopt_compression": "meshopt",
    "KHR_meshopt_compression": "meshopt",
}
_HARMLESS = ("KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_", "MSFT_texture_", "EXT_lights_", "KHR_xmp")
_READ = ("KHR_mesh_quantization",)


class Document:
    """The JSON of a file, looked up with every type and index checked, and the bytes of its buffers."""

    def __init__(self, file: str, tree: dict[str, Any], binary: bytes | None) -> None:
        self.file, self.tree = file, tree
        self._binary = binary
        self._buffers: dict[int, memoryview] = {}

    def fault(self, where: str, reason: str) -> FormatError:
        return FormatError(self.file, where, reason)

    def count(self, kind: str) -> int:
        return len(self._all(kind))

    def one(self, kind: str, index: Any, where: str) -> dict[str, Any]:
        """The object number ``index`` of a top-level list such as ``nodes``, as named at ``where``."""
        entries = self._all(kind)
        if type(index) is not int or not 0 <= index < len(entries):
            raise self.fault(where, f"names {kind}[{shown(str(index))}], there are {len(entries)}, counted from 0")
        if type(entries[index]) is not dict:
            raise self.fault(f"{kind}[{index}]", "must be an object")
        return entries[index]

    def whole(self, owner: dict[str, Any], key: str, where: str, default: int | None = None) -> int:
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

    def buffer(self, index: Any, where: str) -> memoryview:
        """The bytes of a buffer: the file's own chunk, or a data URI."""
        entry = self.one("buffers", index, where)
        if index not in self._buffers:
            self._buffers[index] = memoryview(self._bytes(entry, index, f"buffers[{index}]"))
        return self._buffers[index]

    def _bytes(self, entry: dict[str, Any], index: int, where: str) -> bytes:
        length = self.whole(entry, "byteLength", where)
        uri = entry.get("uri")
        if uri is None:
            if index != 0 or self._binary is None:
                if name := self._stands_in_for(entry, index):
                    reason = f"is compressed with {_COMPRESSED[name]} ({name}) and its fallback, {where}, holds no data"
                    raise self.fault("", f"{reason}; export it without compression")
                raise self.fault(where, f"has no data; {_EMBED}")
            data = self._binary
        elif type(uri) is not str or not uri.startswith("data:"):
            raise self.fault(where, f'is in another file, "{shown(str(uri))}"; {_EMBED}')
        else:
            head, _, body = uri.partition(",")
            if not head.endswith(";base64"):
                raise self.fault(where, "has a data URI that is not base64")
            try:
                data = base64.b64decode(body, validate=True)
            except (binascii.Error, ValueError):
                raise self.fault(where, "has a data URI with broken base64; write it again") from None
        if len(data) < length:
            raise self.fault(where, f"claims {length} bytes but holds {len(data)}; is it cut short?")
        return data[:length]

    def _stands_in_for(self, entry: dict[str, Any], index: Any) -> str:
        """The extension that compresses what this buffer is the fallback of: it says so, or views of it do; else empty."""
        owners = [entry, *(view for view in self._all("bufferViews") if type(view) is dict and view.get("buffer") == index)]
        named = [name for owner in owners if type(owner.get("extensions")) is dict for name in owner["extensions"]]
        return next((name for name in named if name in _COMPRESSED), "")

    def _all(self, kind: str) -> list[Any]:
        found = self.tree.get(kind, [])
        if type(found) is not list:
            raise self.fault(kind, "must be a list")
        return found


def open_document(data: bytes, file: str) -> Document:
    """A file as JSON and binary data, or ``FormatError``. What it is, is judged by its first bytes, not its name."""
    text, binary = _chunks(data, file) if data.startswith(_MAGIC) else (data, None)
    tree = parse_json(text, file, MAX_JSON_VALUES)
    if type(tree) is not dict or type(tree.get("asset")) is not dict:
        raise FormatError(file, "", 'is no glTF file: it is not an object with an "asset"')
    version = tree["asset"].get("version")
    if type(version) is not str or not version.startswith("2."):
        raise FormatError(file, "asset", f'has the version "{shown(str(version))}", only glTF 2 is read')
    document = Document(file, tree, binary)
    _refuse_extensions(document)
    return document


def _chunks(data: bytes, file: str) -> tuple[bytes, bytes | None]:
    """The JSON and the binary chunk of a ``.glb``; other chunks are passed over, as the format says."""
    if len(data) < 20:
        raise FormatError(file, "", "ends within its header; is it cut short?")
    version, total = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FormatError(file, "", f"is glTF binary of version {version}, only version 2 is read")
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


def _refuse_extensions(document: Document) -> None:
    required = document.tree.get("extensionsRequired", [])
    if type(required) is not list or not all(type(name) is str for name in required):
        raise document.fault("extensionsRequired", "must be a list of names")
    for name in required:
        if name in _COMPRESSED:
            raise document.fault("", f"is compressed with {_COMPRESSED[name]} ({name}); export it without compression")
        if name not in _READ and not name.startswith(_HARMLESS):
            raise document.fault("", f"requires the extension {shown(name)}, which is not read; export it without")

"""Accessors of glTF: typed rows within the bytes of a buffer, plain or sparse, every place checked before it is read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.gltf_document import Document

_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_MAX_STRIDE = 4096


def row_count(document: Document, index: Any, where: str, most: int, what: str) -> int:
    """How many rows an accessor has; ``FormatError`` where that is more than ``most``."""
    count = document.whole(document.one("accessors", index, where), "count", f"accessors[{index}]")
    if count > most:
        raise document.fault(f"accessors[{index}]", f"has {count} {what}, at most {most} are taken for this sample")
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
    count = document.whole(entry, "count", where)
    dtype, width = np.dtype(_COMPONENTS[component]), _WIDTHS[kind]
    if "bufferView" in entry:
        offset = document.whole(entry, "byteOffset", where, 0)
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
    start, length = document.whole(view, "byteOffset", place, 0), document.whole(view, "byteLength", place)
    if start + length > len(buffer):
        raise document.fault(place, f"reaches to byte {start + length}, its buffer has {len(buffer)}")
    size = dtype.itemsize * width
    stride = document.whole(view, "byteStride", place, size)
    if not size <= stride <= max(_MAX_STRIDE, size):
        raise document.fault(place, f"has a stride of {stride} bytes for rows of {size}")
    if count and offset + stride * (count - 1) + size > length:
        need = offset + stride * (count - 1) + size
        raise document.fault(where, f"has {count} rows, which reach to byte {need} of {length} in {place}")
    return np.ndarray((count, width), dtype, buffer, start + offset if count else 0, (stride, dtype.itemsize))


def _with_sparse(document: Document, sparse: dict[str, Any], rows: NDArray[Any], where: str) -> NDArray[Any]:
    """``rows`` with those replaced that a sparse accessor names."""
    count = document.whole(sparse, "count", where)
    if count > len(rows):
        raise document.fault(where, f"replaces {count} rows of {len(rows)}")
    indices, values = document.object(sparse, "indices", where), document.object(sparse, "values", where)
    if indices.get("componentType") not in (5121, 5123, 5125):
        raise document.fault(where, "has indices of an unknown componentType")
    offset = document.whole(indices, "byteOffset", where, 0)
    at = _view(document, indices.get("bufferView"), offset, count, np.dtype(_COMPONENTS[indices["componentType"]]), 1, where)[:, 0]
    if count and int(at.max()) >= len(rows):
        raise document.fault(where, f"replaces row {int(at.max())}, there are {len(rows)}, counted from 0")
    offset = document.whole(values, "byteOffset", where, 0)
    replaced = rows.copy()
    replaced[at] = _view(document, values.get("bufferView"), offset, count, rows.dtype, rows.shape[1], where)
    return replaced

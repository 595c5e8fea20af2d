"""NPZ without numpy's loader: a header is matched by a pattern, never evaluated, and its size is checked before an array is made."""

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from submissions.formats.errors import FormatError, excerpt, size_text

MAX_MEMBERS = 32
MAX_HEADER_BYTES = 4096
_MAGIC = b"\x93NUMPY"
_LENGTH_FORMAT = {1: "<H", 2: "<I", 3: "<I"}
_DESCR = re.compile(r"""['"]descr['"]\s*:\s*['"]([<>|=]?)([a-zA-Z])(\d{0,3})['"]""")
_ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)""")
_SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([\d\s,]{0,200})\)""")
_WIDTHS = {"f": (2, 4, 8), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8)}
_EPOCH = (1980, 1, 1, 0, 0, 0)

Shape = tuple[int, ...]


def read_npz(data: bytes, file: str, rows: Mapping[str, Shape], max_bytes: int) -> dict[str, NDArray[Any]]:
    """The arrays of an NPZ that ``rows`` names, each as [N, *row] with the shape of its row there, of at most ``max_bytes``.

    Numbers only (floats, whole numbers); objects, texts, records and booleans are refused, so nothing is unpickled.
    Other members are not unpacked. An array of the shape (0,), as numpy writes an empty list, has no rows. Raises
    ``FormatError``.
    """
    if not data.startswith(b"PK\x03\x04"):
        raise FormatError(file, "", "is not an NPZ file; write it with numpy.savez or numpy.savez_compressed")
    # The list of members sits at the end; an honest one of this kind is tiny, and zipfile would load any size of it.
    if data.count(b"PK\x01\x02") > MAX_MEMBERS:
        raise FormatError(file, "", f"holds more than {MAX_MEMBERS} arrays")
    return read_members(io.BytesIO(data), file, rows, max_bytes)


def read_members(source: BinaryIO, file: str, rows: Mapping[str, Shape], max_bytes: int) -> dict[str, NDArray[Any]]:
    """``read_npz`` of an open file that the service wrote itself: nothing but the list of members and those named is read."""
    try:
        with zipfile.ZipFile(source) as archive:
            members = [(info.orig_filename.removesuffix(".npy"), info) for info in archive.infolist()]
            members = [(name, info) for name, info in members if name in rows]
            if len({name for name, _ in members}) != len(members):
                raise FormatError(file, "", "holds an array twice under one name")
            found = {}
            most = max_bytes + MAX_HEADER_BYTES
            for name, info in members:
                if info.flag_bits & 0x1:
                    raise FormatError(file, name, "is encrypted")
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise FormatError(file, name, "is packed by an uncommon method; use numpy.savez_compressed")
                if info.file_size > most:
                    raise FormatError(file, name, f"unpacks to {size_text(info.file_size)}, at most {size_text(most)} are taken")
                with archive.open(info) as stream:
                    content = stream.read(most + 1)
                if len(content) != info.file_size:
                    raise FormatError(file, name, "has another size than the file says; write it again")
                found[name] = _array(content, file, name, rows[name])
            return found
    except FormatError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise FormatError(file, "", f"is a broken NPZ file ({excerpt(str(error))}); write it again") from None


def write_npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """A compressed NPZ that numpy reads too; the same arrays give the same bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, values in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(values), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", date_time=_EPOCH)
            archive.writestr(info, member.getvalue(), compress_type=zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _array(content: bytes, file: str, name: str, row: Shape) -> NDArray[Any]:
    """One ``.npy`` member. Its header must describe exactly the bytes that follow it."""
    version = content[len(_MAGIC)] if len(content) > len(_MAGIC) + 1 else 0
    if not content.startswith(_MAGIC) or version not in _LENGTH_FORMAT:
        raise FormatError(file, name, "is not a numpy array")
    start = len(_MAGIC) + 2
    length_size = struct.calcsize(_LENGTH_FORMAT[version])
    if len(content) < start + length_size:
        raise FormatError(file, name, "ends within its header")
    (length,) = struct.unpack_from(_LENGTH_FORMAT[version], content, start)
    body = start + length_size + length
    if length > MAX_HEADER_BYTES or body > len(content):
        raise FormatError(file, name, f"claims a header of {size_text(length)}; write it again with numpy.savez")
    dtype, fortran, shape = _header(content[start + length_size : body].decode("latin-1"), file, name)
    expected = math.prod(shape) * dtype.itemsize
    if expected != len(content) - body:
        held = size_text(len(content) - body)
        raise FormatError(file, name, f"claims the shape {excerpt(str(shape))}, {size_text(expected)}, but holds {held}")
    # Zero bytes fit any shape with a 0 in it, so the shape itself is compared with the row's.
    if shape != (0,) and (not shape or shape[1:] != row):
        wanted = ", ".join(["N", *map(str, row)]) if row else "N,"
        raise FormatError(file, name, f"has the shape {excerpt(str(shape))}, it must be ({wanted})")
    values = np.frombuffer(content, dtype, offset=body)
    return values.reshape((0, *row) if shape == (0,) else shape, order="F" if fortran else "C")


def _header(text: str, file: str, name: str) -> tuple[np.dtype[Any], bool, Shape]:
    descr, order, shape = _DESCR.search(text), _ORDER.search(text), _SHAPE.search(text)
    if not descr or not order or not shape:
        raise FormatError(file, name, "must be a plain array of numbers, not records or objects")
    byte_order, kind, width = descr.groups()
    if kind == "O":
        raise FormatError(file, name, "holds Python objects (pickle), which are never read; save plain numbers")
    if int(width or 0) not in _WIDTHS.get(kind, ()):
        raise FormatError(file, name, f"has the type {kind}{width}; save floats or whole numbers of at most 8 bytes")
    sizes = [size.strip() for size in shape[1].split(",") if size.strip()]
    if len(sizes) > 4 or not all(size.isdigit() and len(size) <= 18 for size in sizes):
        raise FormatError(file, name, "claims a shape that no array here has")
    return np.dtype(f"{byte_order}{kind}{width}"), order[1] == "True", tuple(map(int, sizes))

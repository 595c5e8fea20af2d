"""NPZ files that mean harm, or are broken as real ones are."""

import io
import os
import pickle
import struct
import zipfile
from typing import Any

import numpy as np

from tests.support.submissions.hostile.cases import Cases

CASES = Cases()


def npz_of(**arrays: Any) -> bytes:
    target = io.BytesIO()
    given = {"vertices": np.zeros((2, 3)), "edges": np.array([[0, 1]]), **arrays}
    np.savez_compressed(target, **{name: values for name, values in given.items() if values is not None})
    return target.getvalue()


def npz_raw(member: bytes, more: str = "") -> bytes:
    """An NPZ whose vertices, and ``more``, are the given bytes of a .npy member."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in filter(None, ("vertices.npy", more)):
            archive.writestr(name, member)
    return target.getvalue()


def npy(header: str, body: bytes = b"", version: int = 1, claimed: int | None = None) -> bytes:
    form = "<H" if version == 1 else "<I"
    length = struct.pack(form, len(header) if claimed is None else claimed)
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + body


class Trap:
    """Leaves a mark when unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("unpickled",)


_SHAPE = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\n"
_OBJECTS = np.array([[Trap(), 0, 0]], dtype=object)
CASES.files(r"vertices: holds Python objects \(pickle\), which are never read", "house_01.npz", {"npz_pickle": npz_of(vertices=_OBJECTS)})
CASES.files(r"is not an NPZ file", "house_01.npz", {"npz_plain_pickle": pickle.dumps(Trap()), "npz_that_is_npy": npy(_SHAPE % "(0, 3)")})
CASES.files(r"vertices: claims a header of", "house_01.npz", {"npz_giant_header": npz_raw(npy("x" * 100, version=2, claimed=0xFFFFFFF0))})
CASES.files(r"vertices: claims a header of 60 kB", "house_02.npz", {"npz_long_header": npz_raw(npy(" " * 60_000))})
CASES.files(
    r"vertices: claims the shape \(1000000000000, 3\), 2.4e\+04 GB, but holds 48 bytes",
    "house_01.npz",
    {"npz_giant_shape": npz_raw(npy(_SHAPE % "(1000000000000, 3)", bytes(48)))},
)
CASES.files(
    r"vertices: claims the shape",
    "house_01.npz",
    {"npz_overflowing_shape": npz_raw(npy(_SHAPE % "(4294967296, 4294967296, 3)", bytes(48)))},
)
CASES.files(
    r"vertices: claims a shape that no array here has",
    "house_01.npz",
    {
        "npz_many_dimensions": npz_raw(npy(_SHAPE % f"({'1,' * 50})", bytes(8))),
        "npz_huge_dimension": npz_raw(npy(_SHAPE % f"(1{'0' * 100}, 3)")),
    },
)
CASES.files(
    r"vertices: must be a plain array of numbers",
    "house_01.npz",
    {
        "npz_negative_shape": npz_raw(npy(_SHAPE % "(-1, 3)")),
        "npz_code_header": npz_raw(npy("__import__('os').mkdir('ran')\n")),
        "npz_dates": npz_of(vertices=np.zeros((2, 3), "M8[s]")),
        "npz_records": npz_of(vertices=np.zeros(3, "f8,i4")),
    },
)
_EMPTY = {"no_rows": "(0, 999999999999999999)", "no_columns": "(1, 0)", "four": "(0, 3, 1, 1)", "scalar": "()", "turned": "(3, 0)"}
CASES.files(
    r"vertices: (has the shape \(.*\), it must be \(N, 3\)|claims the shape \(\), 8 bytes, but holds 0 bytes)",
    "house_01.npz",
    {f"npz_empty_{name}": npz_raw(npy(_SHAPE % shape)) for name, shape in _EMPTY.items()},
)
CASES.files(
    r"edge_score: has the shape \((0, 7|1, 1)\), it must be \(N,\)",
    "house_01.npz",
    {"npz_empty_scores": npz_of(edge_score=np.zeros((0, 7))), "npz_scores_of_two_dimensions": npz_of(edge_score=np.zeros((1, 1)))},
)
CASES.files(r"vertices: unpacks to 100 MB", "house_01.npz", {"npz_member_bomb": lambda: npz_raw(bytes(100_000_000))})
CASES.files(
    r"vertices: has the type [bUcSM]",
    "house_01.npz",
    {
        "npz_boolean": npz_of(vertices=np.zeros((2, 3), bool)),
        "npz_texts": npz_of(vertices=np.array([["1", "2", "3"]])),
        "npz_complex": npz_of(vertices=np.zeros((2, 3), complex)),
    },
)
CASES.files(r'has no array "edges"', "house_01.npz", {"npz_no_edges": npz_of(edges=None)})
CASES.files(
    r"vertices\[1\]: has a coordinate that is not finite",
    "house_01.npz",
    {"npz_nan": npz_of(vertices=np.array([[0, 0, 0], [0, np.nan, 0]])), "npz_inf": npz_of(vertices=np.array([[0, 0, 0], [np.inf, 0, 0]]))},
)
CASES.files(
    r"vertices: has the shape \((2, 2|6,)\), it must be \(N, 3\)",
    "house_01.npz",
    {"npz_flat": npz_of(vertices=np.zeros(6)), "npz_two_columns": npz_of(vertices=np.zeros((2, 2)))},
)
CASES.files(
    r"edges\[0\]: edge names vertex (18446744073709551615|-9223372036854775808), there are 2",
    "house_01.npz",
    {
        "npz_index_unsigned": npz_of(edges=np.array([[2**64 - 1, 0]], np.uint64)),
        "npz_index_lowest": npz_of(edges=np.array([[-(2**63), 0]])),
    },
)
CASES.files(r"is a broken NPZ file", "house_01.npz", {"npz_cut_short": npz_of()[:-40]})
CASES.files(r"holds more than 32 arrays", "house_01.npz", {"npz_many_arrays": npz_of(**{f"a{n}": np.zeros(1) for n in range(200)})})
CASES.files(r"vertices: is not a numpy array", "house_01.npz", {"npz_of_text": npz_raw(b"hello")})
CASES.files(
    r"holds an array twice under one name",
    "house_01.npz",
    {"npz_twice_under_one_name": npz_raw(npy(_SHAPE % "(0, 3)"), more="vertices")},
)

"""S23DR files, JSON and parquet, that mean harm or are broken as real ones are."""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.submissions.hostile.cases import Cases, patched

CASES = Cases()


def row(sample: Any = "house_01", vertices: Any = ((0, 0, 0), (1, 0, 0)), edges: Any = ((0, 1),)) -> dict[str, Any]:
    return {"order_id": sample, "wf_vertices": vertices, "wf_edges": edges}


def table_json(*rows: Any) -> bytes:
    return json.dumps(rows).encode()


CASES.files(r"row 2 \(house_01\): occurs in an earlier row too", "submission.json", {"s23dr_sample_twice": table_json(row(), row())})
CASES.files(r"row 1 \(villa\): is not an item of this phase", "submission.json", {"s23dr_unknown_sample": table_json(row("villa"))})
CASES.files(
    r"row 1 \(\.\./\.\./evil\): has an id that no item can have", "submission.json", {"s23dr_path_as_id": table_json(row("../../evil"))}
)
CASES.files(
    r"row 1: has no order_id or sample_id",
    "submission.json",
    {"s23dr_no_id": table_json({"wf_vertices": []}), "s23dr_true_as_id": table_json(row(True))},
)
CASES.files(r"row 1: must be an object", "submission.json", {"s23dr_row_of_numbers": b"[7]"})
CASES.files(r"submission.json: must be a list", "submission.json", {"s23dr_no_list": b"{}"})
CASES.files(
    r"row 1 \(house_01\) wf_edges\[0\]: edge names vertex 9, there are 2",
    "submission.json",
    {"s23dr_index": table_json(row(edges=[[0, 9]]))},
)
CASES.files(r"row 1 \(house_01\): has no wf_edges", "submission.json", {"s23dr_no_edges": table_json(row(edges=None))})
CASES.files(
    r"row 1 \(house_01\): has 101 wf_vertices, at most 100",
    "submission.json",
    {"s23dr_many_vertices": table_json(row(vertices=[[0, 0, 0]] * 101))},
)
CASES.files(r"holds more than \d+ values", "submission.json", {"s23dr_many_values": b"[" + os.urandom(6_000_000).hex("[").encode() + b"]"})
CASES.files(r"is not a parquet file", "submission.parquet", {"parquet_text": b"order_id\n", "parquet_magic_only": b"PAR1PAR1"})
CASES.files(
    r"claims a footer larger", "submission.parquet", {"parquet_long_footer": b"PAR1" + bytes(20) + struct.pack("<I", 10**9) + b"PAR1"}
)
CASES.files(
    r"is a broken parquet file",
    "submission.parquet",
    {"parquet_garbage_footer": b"PAR1" + bytes(range(200)) + struct.pack("<I", 150) + b"PAR1"},
)


def parquet(sentence: str, label: str, columns: Callable[[], dict[str, Any]], **options: Any) -> None:
    """Adds a case: submission.parquet with these columns, sent as it is."""

    def build(folder: Path) -> Path:
        path = folder / "submission.parquet"
        change = options.pop("change", None)
        pq.write_table(pa.table(columns()), path, **options)
        return patched(path, change) if change else path

    CASES[label] = (build, sentence)


def columns(sample: Any = "house_01", vertices: Any = ((0, 0, 0),), edges: Any = ((0, 0),)) -> dict[str, Any]:
    return {"order_id": [sample], "wf_vertices": [vertices], "wf_edges": [edges]}


def repeated(values: int) -> dict[str, Any]:
    """One row whose vertices are one value, many times: a few bytes in the file."""
    inner = pa.ListArray.from_arrays(pa.array(np.arange(0, values + 1, 3), pa.int32()), pa.array(np.zeros(values)))
    outer = pa.ListArray.from_arrays(pa.array([0, len(inner)], pa.int32()), inner)
    return {"order_id": ["house_01"], "wf_vertices": outer, "wf_edges": pa.array([[[0, 0]]])}


def _fewer_in_footer(data: bytearray) -> None:
    """Lets the page claim more values than the footer does: 300 becomes 8191, in as many bytes."""
    at = data.index(b"\x15\xd8\x04")
    data[at : at + 3] = b"\x15\xfe\x7f"


def _page_of_a_hundred_megabytes(data: bytearray) -> None:
    """The first page's unpacked size, second field of its header and four bytes long, made as large as they can say."""
    assert data[4:7] == b"\x15\x00\x15" and data[10] < 0x80 <= data[9]
    data[7:11] = b"\xfe\xff\xff\x7f"


parquet(r"holds \d+ values, far more than", "parquet_repeated_value", lambda: repeated(3_000_000))
parquet(
    r"wf_vertices: claims 300 values but its pages claim 8191",
    "parquet_lying_footer",
    lambda: repeated(300),
    change=_fewer_in_footer,
    use_dictionary=False,
)
parquet(
    r"submission.parquet: unpacks to 134 MB",
    "parquet_lying_page",
    lambda: {"wf_vertices": [[[0.5, 1.5, 2.5]] * 50_000], "order_id": ["house_01"]},
    change=_page_of_a_hundred_megabytes,
    use_dictionary=False,
    data_page_size=10**8,
)
parquet(r"has 500 rows, at most 104", "parquet_many_rows", lambda: {name: values * 500 for name, values in columns().items()})
parquet(r"order_id: must hold one id per row", "parquet_id_of_lists", lambda: columns(sample=["house_01"]))
parquet(r"wf_vertices: must hold lists of numbers", "parquet_texts", lambda: columns(vertices=[["1", "2", "3"]]))
parquet(r"wf_vertices: nests lists too deeply", "parquet_deep", lambda: columns(vertices=json.loads("[" * 12 + "1" + "]" * 12)))
parquet(r"unpacks to 5 MB", "parquet_long_id", lambda: columns(sample="x" * 5_000_000))
parquet(r"has an id that no item can have", "parquet_longish_id", lambda: columns(sample="x" * 50_000))
parquet(r"wf_vertices\[0\]: has a coordinate that is not finite", "parquet_nan", lambda: columns(vertices=[[0, float("nan"), 0]]))
parquet(r"occurs in an earlier row too", "parquet_sample_twice", lambda: {name: values * 2 for name, values in columns().items()})
parquet(r"has no wf_edges", "parquet_no_edges", lambda: {"order_id": ["house_01"], "wf_vertices": [[[0, 0, 0]]]})
parquet(
    r"has an uncommon encoding", "parquet_prefix_coded_id", columns, use_dictionary=False, column_encoding={"order_id": "DELTA_BYTE_ARRAY"}
)
parquet(
    r"is a broken parquet file|impossible sizes|outside the file|claims",
    "parquet_cut_out",
    columns,
    change=lambda data: data.__delitem__(slice(10, 60)),
)

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from submissions.formats.wireframe.s23dr import judge_s23dr, read_s23dr
from submissions.formats.wireframe.wireframe_files import FormatError
from tests import ROOT

VERTICES = [[538094.0457579803, 6584173.339589539, 36.587901248931885], [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]]
ROWS = [
    {"order_id": "a3f", "wf_vertices": VERTICES, "wf_edges": [[0, 1], [1, 2]]},
    {"order_id": "0b1", "wf_vertices": VERTICES[:2], "wf_edges": [[0, 1]]},
    {"order_id": "empty", "wf_vertices": [], "wf_edges": []},
]


def judged(data: bytes, name: str) -> None:
    found = read_s23dr(data, name)
    assert list(found) == ["a3f", "0b1", "empty"]
    assert found["a3f"].vertices.tolist() == VERTICES
    assert found["a3f"].edges.tolist() == [[0, 1], [1, 2]]
    assert (found["empty"].vertices.shape, found["empty"].edges.shape) == ((0, 3), (0, 2))


@pytest.mark.parametrize("column", ["order_id", "sample_id"])
def test_json_rows_are_read_by_either_id_column(column: str) -> None:
    rows = [{column: row["order_id"], "wf_vertices": row["wf_vertices"], "wf_edges": row["wf_edges"]} for row in ROWS]
    judged(json.dumps(rows).encode(), "submission.json")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False},
        {"compression": "none"},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"compression": "gzip", "row_group_size": 1},
        {"data_page_size": 1, "write_statistics": False},
        {"store_schema": False, "use_compliant_nested_type": False},
    ],
)
def test_parquet_reads_the_same_however_it_was_written(tmp_path: Path, options: dict[str, object]) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "x.parquet", **options)
    judged((tmp_path / "x.parquet").read_bytes(), "submission.parquet")


def test_parquet_from_pandas_reads_the_same(tmp_path: Path) -> None:
    pd.DataFrame(ROWS).to_parquet(tmp_path / "x.parquet")
    judged((tmp_path / "x.parquet").read_bytes(), "submission.parquet")


def test_parquet_of_many_rows_keeps_every_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frames = {f"s{n}": rng.uniform(6.5e6, 6.6e6, (n % 50 + 2, 3)) for n in range(500)}
    rows = [{"order_id": name, "wf_vertices": v.tolist(), "wf_edges": [[0, 1]]} for name, v in frames.items()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet", row_group_size=70)
    found = read_s23dr((tmp_path / "x.parquet").read_bytes(), "x.parquet")
    assert list(found) == list(frames)
    assert [(name, vertices) for name, vertices in frames.items() if not (found[name].vertices == vertices).all()] == []


def test_extra_columns_are_passed_over_and_scores_are_read(tmp_path: Path) -> None:
    rows = [{**row, "edge_score": [0.5] * len(row["wf_edges"]), "edge_semantics": ["ridge"]} for row in ROWS]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")
    for data, name in (((tmp_path / "x.parquet").read_bytes(), "x.parquet"), (json.dumps(rows).encode(), "x.json")):
        scores = read_s23dr(data, name)["a3f"].edge_score
        assert scores is not None and scores.tolist() == [0.5, 0.5]


def test_whole_numbers_serve_as_ids() -> None:
    assert list(read_s23dr(b'[{"order_id": 7, "wf_vertices": [], "wf_edges": []}]', "submission.json")) == ["7"]


def test_every_faulty_row_is_named() -> None:
    rows = [
        {"order_id": "a", "wf_vertices": VERTICES, "wf_edges": [[0, 3], [-1, 0]]},
        {"order_id": "a", "wf_vertices": [], "wf_edges": []},
        {"order_id": "b", "wf_vertices": [[0, 0]], "wf_edges": []},
    ]
    with pytest.raises(FormatError) as caught:
        read_s23dr(json.dumps(rows).encode(), "submission.json")
    assert [error.where for error in caught.value.all()] == [
        "row 1 (a) wf_edges[0]",
        "row 1 (a) wf_edges[1]",
        "row 2 (a)",
        "row 3 (b) wf_vertices[0]",
    ]


def test_limits_hold_for_each_sample() -> None:
    found, findings = judge_s23dr(json.dumps(ROWS).encode(), "submission.json", {"a3f": (3, 1), "0b1": (2, 1), "empty": (1, 1)})
    assert [error.where for error in findings.kept] == ["row 1 (a3f)"]
    assert {name: frame is not None for name, frame in found.items()} == {"a3f": False, "0b1": True, "empty": True}


# In a child, because what goes wrong in a parquet library may end the process rather than raise.
DAMAGE = """
import random, sys
from pathlib import Path
from submissions.formats.wireframe.s23dr import read_s23dr
from submissions.formats.wireframe.wireframe_files import FormatError

data, dice, read = Path(sys.argv[1]).read_bytes(), random.Random(7), 0
for _ in range(400):
    damaged = bytearray(data)
    for _ in range(dice.choice((1, 2, 5))):
        at = dice.randrange(len(damaged) - 1500, len(damaged)) if dice.random() < 0.7 else dice.randrange(len(damaged))
        damaged[at : at + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
    try:
        read += bool(read_s23dr(bytes(damaged), "submission.parquet"))
    except FormatError:
        pass
print(read)
"""


def test_damaged_parquet_is_refused_and_never_ends_the_process(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "x.parquet", row_group_size=2)
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", DAMAGE, str(tmp_path / "x.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 400

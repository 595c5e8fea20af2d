"""Numbers as people write them: read rightly or refused with both readings, and in files by one hint."""

from pathlib import Path

import numpy as np
import pytest

from evaluation import result_tables
from evaluation.result_tables import Layout, ResultColumn
from leaderboard.stats import __main__ as command
from leaderboard.stats import mos_table, votes
from submissions.formats import inputs
from submissions.formats.decimals import Ambiguous, typed
from submissions.formats.errors import FormatError, TableError
from submissions.formats.mesh.mesh_files import read_mesh
from submissions.formats.wireframe.wireframe_files import read_wireframe

PLY = "ply\nformat ascii 1.0\n"
XYZ = "property float x\nproperty float y\nproperty float z\n"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[("0.4", 0.4), ("0,4", 0.4), ("0,400", 0.4), ("12,5", 12.5), ("12,3456", 12.3456), (",5", 0.5), ("-0,5", -0.5), ("−1,5", -1.5)],
        *[("1.234,5", 1234.5), ("1,234.5", 1234.5), ("1.234.567", 1_234_567), ("1,234,567.25", 1_234_567.25)],
        *[("1,20,00,000", 12_000_000), ("38 000 000", 38e6), ("38\u202f000,5", 38_000.5), ("38'000'000", 38e6), ("1_000", 1000)],
        *[("3,8e7", 3.8e7), ("1e-3", 0.001), ("12.000", 12.0), ("12000,500", 12000.5), ("３，５", 3.5), ("٣٫٥", 3.5)],
    ],
)
def test_a_number_is_what_it_means(text: str, number: float) -> None:
    assert typed(text) == number


@pytest.mark.parametrize(
    ("text", "whole", "number"), [("12,000", True, 12_000), ("12.000.000", True, 12e6), ("1,5", True, 1.5), ("0,125", True, 0.125)]
)
def test_a_whole_number_has_thousands(text: str, whole: bool, number: float) -> None:
    assert typed(text, whole) == number


@pytest.mark.parametrize(
    ("text", "whole", "either"), [("1,500", False, "1500 or 1.5"), ("12.000", True, "12000 or 12"), ("1,234e3", False, "1234 or 1.234")]
)
def test_what_may_be_two_numbers_is_neither(text: str, whole: bool, either: str) -> None:
    with pytest.raises(Ambiguous, match=either):
        typed(text, whole)


@pytest.mark.parametrize("text", ["", "many", "1,23,45", "1.2.3", "12,34.5,6", "5,", "1 23", "--1", "1e", "nan", "inf", "0x10"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a number|could not convert"):
        typed(text)


def problems(read, *arguments) -> tuple[str, ...]:
    with pytest.raises(TableError) as caught:
        read(*arguments)
    return caught.value.problems


def test_a_table_of_decimal_commas_gets_one_hint() -> None:
    """The first cell with what to write in its place, and the number of others like it."""
    rows = [f'r{n},s{n},A,"4,5"' for n in range(100)]
    (hint,) = problems(mos_table.parse, ["rater,sample,entry,score", *rows], "s.csv")
    assert hint.startswith("s.csv: line 2: ") and "'4,5'; write 4.5, " in hint and "99 more" in hint
    seconds = [f'r{n},s{n},A,B,left,"1.234,5"' for n in range(100)]
    (hint,) = problems(votes.parse, ["rater,sample,left,right,choice,seconds", *seconds], "v.csv")
    assert hint.startswith("v.csv: line 2: ") and "'1.234,5'; write 1234.5, " in hint and "99 more" in hint
    layout = Layout((ResultColumn("psnr", "PSNR", "PSNR", True),))
    (hint,) = problems(result_tables.read, "method,PSNR\n" + "".join(f'm{n},"1,234"\n' for n in range(100)), layout)
    assert hint.startswith("line 2: PSNR is '1,234'; write 1234 or 1.234, ") and "99 more" in hint
    (hint,) = problems(inputs.read_table, ";".join(inputs.COLUMNS) + "\n" + "".join(f"h{n};0,5;0;0;1;1;1;2;m\n" for n in range(100)))
    assert hint.startswith("Line 2 ") and "min_x is '0,5'; write 0.5, " in hint and "99 more" in hint


def test_values_of_metrics_with_decimal_commas_get_one_hint_and_other_faults_their_lines(tmp_path: Path) -> None:
    judged = votes.canonical(votes.parse(["rater,sample,left,right,choice", "r,s,A,B,left"], "v.csv"))
    (tmp_path / "scores.csv").write_text('sample,method,psnr:higher\ns,A,"27,5"\ns,B,good\n')
    hint, fault = problems(command.read_scores, tmp_path / "scores.csv", judged, {})
    assert hint.startswith("scores.csv: line 2: ") and "write 27.5" in hint and "more" not in hint
    assert fault.startswith("scores.csv: line 3: ") and "'good'" in fault


@pytest.mark.parametrize("mark", [";", "\t"])
def test_tables_with_semicolons_or_tabs_are_read(mark: str) -> None:
    lines = [mark.join(row) for row in (("rater", "sample", "left", "right", "choice"), ("r", "s", "A", "B, C", "left"))]
    (vote,) = votes.parse(lines, "v.csv")
    assert (vote.rater, vote.right, vote.choice) == ("r", "B, C", "left")
    table = result_tables.read(f"method{mark}PSNR\nours{mark}27.5\n", Layout((ResultColumn("psnr", "PSNR", "PSNR", True),)))
    assert table.rows[0].values == (27.5,)


def test_empty_rows_below_a_table_are_passed_over() -> None:
    assert len(votes.parse(["rater,left,right,choice", "r,A,B,left", ",,,", " , ,,", ",,,,,"], "v.csv")) == 1
    assert len(result_tables.lines("method,PSNR\nours,1\n,\n", ["method"])) == 1


def test_a_name_in_two_encodings_of_accents_is_one() -> None:
    found = votes.parse(["rater,left,right,choice", "r,caf\u00e9,B,left", "r,cafe\u0301,B,left"], "v.csv")
    assert {vote.left for vote in found} == {"caf\u00e9"}


@pytest.mark.parametrize("text", [b"0,5 1,5 2,5\n1 2 3,5\n", b"0,5;1,5;2,5\n", b"# points\n0,5\t1,5\t2,5\n"])
def test_points_with_decimal_commas_are_refused(tmp_path: Path, text: bytes) -> None:
    """Read with the comma as a separator, the first would be the point 0, 5, 1."""
    (tmp_path / "a.xyz").write_bytes(text)
    with pytest.raises(FormatError, match=r"has commas within its numbers; write decimals with a point, such as 0\.5"):
        inputs.of_files(tmp_path / "a.xyz")
    (tmp_path / "b.csv").write_bytes(b"0.5,1.5,2.5\n1,2,3\n")
    assert inputs.of_files(tmp_path / "b.csv")["b"].low == (0.5, 1.5, 2.5)


@pytest.mark.parametrize(
    ("read", "name", "head", "foot"),
    [
        (read_mesh, "chair.obj", "v ", "f 1 2 3\n"),
        (read_mesh, "chair.off", "OFF\n300 1 0\n", "3 0 1 2\n"),
        (read_mesh, "chair.ply", f"{PLY}element vertex 300\n{XYZ}end_header\n", ""),
        (read_wireframe, "house.obj", "v ", "l 1 2 3\n"),
    ],
)
def test_a_file_with_decimal_commas_gets_one_hint(read, name: str, head: str, foot: str) -> None:
    points = np.random.default_rng(0).random((300, 3))
    each = head if len(head) < 3 else ""
    lines = [f"{each}{' '.join(f'{value:.4f}'.replace('.', ',') for value in row)}\n" for row in points]
    text = (head if not each else "") + "".join(lines) + foot
    with pytest.raises(FormatError, match='"0,6370" has a comma; write decimals with a point, and nothing between thousands') as caught:
        read(text.encode(), name)
    assert len(caught.value.all()) <= 3, "of the three numbers of one line at most"

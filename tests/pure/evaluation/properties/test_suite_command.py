"""`python -m evaluation properties`, as an organizer runs it."""

import csv
import json

import pytest

from evaluation.__main__ import main
from evaluation.metrics import registry
from evaluation.properties import measure, suite
from evaluation.properties.suite import Dataset, Table
from evaluation.synthetic.houses import houses
from submissions.formats.wireframe.wireframe_files import write_obj
from tests.support.evaluation.programs import written
from tests.support.evaluation.shapes import EMPTY, SQ, TRI

FAST = ("--metric", "corner_f1", "--metric", "wed_mnn")


@pytest.fixture
def run(capsys):
    """`run(*arguments)` -> (exit code, stdout, stderr)"""

    def call(*arguments):
        code = main(["properties", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_procedural_houses_give_the_tables_of_the_suite(run):
    code, out, _ = run(*FAST, "--param", "corner_f1.tau=0.3", "--houses", 3, "--json")
    rows = json.loads(out)
    assert code == 0 and [row.pop("slug") for row in rows] == ["corner_f1", "wed_mnn"]
    expected = measure.run("corner_f1", {"tau": 0.3}, houses(3), Dataset("houses_3", "3 procedural houses", 3, True))
    found = Table.from_dict(rows[0])
    assert (found.params, found.tests, found.dataset) == (expected.params, expected.tests, expected.dataset)
    assert found.fingerprint == registry.fingerprint("corner_f1", {"tau": 0.3})


def test_the_text_has_a_row_per_metric_and_explains_its_columns(run):
    code, out, bar = run(*FAST, "--houses", 20)
    lines = out.splitlines()
    assert code == 0 and "20/20" in bar and lines[0].startswith("Share of 20 models")
    assert lines[2].split() == ["metric", *map(str, range(1, 18)), "passed"]
    assert [line.split()[0] for line in lines[3:5]] == ["corner_f1", "wed_mnn"] and lines[3].endswith("of 17")
    assert len(lines) == 8 + 17 and lines[-3].strip().startswith("17  Triangle inequality")
    assert "rule) for corner_f1; " in lines[-1] and lines[-1].endswith("rule) for wed_mnn.")


def test_ones_own_wireframes_are_named_after_their_folder_and_small_ones_are_counted(run, tmp_path):
    folder = tmp_path / "My roofs"
    folder.mkdir()
    for name, frame in {"a": SQ, "b": TRI, "house": houses(1)["house_01"]}.items():
        (folder / f"{name}.obj").write_bytes(write_obj(frame))
    kept = tmp_path / "tables"
    code, out, _ = run("--metric", "edge_f1", "--wireframes", folder, "--tables", kept, "--json", "--jobs", 2)
    (row,) = json.loads(out)
    assert code == 0 and row["dataset"] == {"key": "my_roofs_3", "title": "My roofs", "n": 3, "simulated": False}
    assert (row["tests"]["mono_delete_edges"]["n"], row["tests"]["mono_delete_edges"]["skipped"]) == (1, 2)
    assert {"slug": "edge_f1", **json.loads((kept / "edge_f1.my_roofs_3.json").read_text())} == row
    code, out, _ = run("--metric", "edge_f1", "--wireframes", folder, "--title", "Three")
    assert "(Three)" in out and "2 models" in out


def test_a_second_run_goes_on_from_what_the_first_has_kept(run, tmp_path):
    arguments = (*FAST, "--houses", 4, "--resume", tmp_path, "--json")
    first, second = (json.loads(run(*arguments)[1]) for _ in range(2))
    for row in (*first, *second):
        del row["ms_per_sample"]
    assert first == second and len(list(tmp_path.iterdir())) == 2


def test_what_cannot_be_done_is_said_in_one_sentence(run, tmp_path):
    (tmp_path / "none").mkdir()
    bare = tmp_path / "bare.obj"
    bare.write_bytes(write_obj(EMPTY))
    for arguments, sentence in [
        (("--metric", "corner_f2", "--houses", 2), "There is no metric 'corner_f2'"),
        (("--metric", "chamfer_l1", "--houses", 2), "chamfer_l1 does not measure wireframes"),
        (("--metric", "corner_f1", "--shapes", 2), "corner_f1 does not measure meshes"),
        ((*FAST, "--param", "corner_f1.tau=-1", "--houses", 2), "corner_f1.tau must be more than 0"),
        ((*FAST, "--houses", 0), "The number of models must be from 1 to 100000."),
        ((*FAST, "--houses", 2, "--jobs", 0), "--jobs must be at least 1."),
        ((*FAST, "--wireframes", tmp_path / "nowhere"), "There is nothing at "),
        ((*FAST, "--wireframes", tmp_path / "none"), "The wireframes cannot be read: none: holds no files"),
        ((*FAST, "--wireframes", bare), "bare cannot be measured against; it needs at least one edge with a length."),
        (("--metric", "corner_f1", "--houses", 1, "--tables", bare), "The tables cannot be written to "),
        (("--metric", "corner_f1", "--houses", 1, "--resume", bare), "What is measured cannot be kept in "),
    ]:
        code, out, error = run(*arguments)
        assert (code, out) == (2, "") and sentence in error and len(error.splitlines()) == 1, (arguments, error)


def test_a_program_of_ones_own_is_measured_and_the_damages_it_misorders_are_listed(tmp_path, capsys):
    """The total length of edges sees no corner that is moved so that edges grow and shrink."""
    folder = written(tmp_path / "lengths")
    words = ["properties", "--metric", str(folder), "--houses", "1", "--misordered", str(tmp_path / "misordered.csv")]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "lengths" in text and "of 1 models" in text
    with (tmp_path / "misordered.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows and [row for row in rows if not (float(row["after"]) < float(row["before"]) and row["metric"] == "lengths")] == []
    assert {row["test"] for row in rows} <= {test.id for test in suite.TESTS}
    assert main([*words, "--jobs", "2"]) == 2 and "one process" in capsys.readouterr().err
    assert main(["properties", "--metric", "./no-such-program", "--houses", "2"]) == 2
    assert "./no-such-program" in capsys.readouterr().err


def test_a_metric_that_orders_damage_has_none_that_it_misorders(tmp_path):
    words = ["properties", "--metric", "wed_hungarian", "--houses", "2", "--misordered", str(tmp_path / "misordered.csv")]
    assert main(words) == 0
    rows = list(csv.DictReader((tmp_path / "misordered.csv").read_text().splitlines()))
    assert not [row for row in rows if row["test"] in ("mono_delete_edges", "mono_wrong_edges")]

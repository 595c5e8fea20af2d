"""`python -m evaluation corrupt`, as an organizer runs it."""

import zipfile

import numpy as np
import pytest

from evaluation.__main__ import main
from evaluation.properties.corruptions import KINDS, LEVELS, corrupt
from submissions.formats.wireframe.wireframe_files import load_folder, write_json, write_obj
from tests.support.evaluation.shapes import EMPTY, random_wireframe

FRAMES = {name: random_wireframe(seed, 8, 9) for seed, name in enumerate(("a", "b", "c"))}


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, frame in FRAMES.items():
        (folder / f"{name}.obj").write_bytes(write_obj(frame))
    return folder


@pytest.fixture
def run(capsys):
    """`run(*arguments)` -> (exit code, stdout, stderr)"""

    def call(*arguments):
        code = main(["corrupt", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def same(a, b) -> bool:
    return np.array_equal(a.vertices, b.vertices) and np.array_equal(a.edges, b.edges)


def test_a_folder_becomes_a_folder_of_the_damage_that_the_code_does(run, source, tmp_path):
    out = tmp_path / "out"
    assert run("--kind", "deform", "--level", "low", "--seed", 4, source, out) == (0, f"3 files written to {out}.\n", "")
    found = load_folder(out)
    assert {path.name for path in out.iterdir()} == {"a.obj", "b.obj", "c.obj"}
    assert [(name, frame) for name, frame in FRAMES.items() if not same(found[name], corrupt(frame, "deform", "low", 4, name))] == []


def test_a_zip_is_written_where_one_is_named_and_is_the_same_each_time(run, source, tmp_path):
    first, second = tmp_path / "1.zip", tmp_path / "2.ZIP"
    for out in (first, second):
        assert run("--kind", "add", "--level", "med", "--format", "npz", source, out)[0] == 0
    assert first.read_bytes() == second.read_bytes()
    assert zipfile.ZipFile(first).namelist() == ["a.npz", "b.npz", "c.npz"]
    again = tmp_path / "again"
    assert run("--kind", "remove", "--level", "low", first, again)[0] == 0 and set(load_folder(again)) == set(FRAMES)


@pytest.mark.parametrize("suffix", ["obj", "json", "npz"])
def test_one_file_becomes_one_file_in_the_format_of_its_name(run, source, tmp_path, suffix):
    out = tmp_path / f"damaged.{suffix}"
    assert run("--kind", "perturb", "--level", "high", source / "a.obj", out) == (0, f"1 file written to {out}.\n", "")
    assert same(load_folder(out)["damaged"], corrupt(FRAMES["a"], "perturb", "high", 0, "a"))


def test_all_writes_the_twelve_in_folders_of_their_own(run, source, tmp_path):
    out = tmp_path / "twelve"
    code, said, bar = run("--all", source, out)
    assert (code, said) == (0, f"36 files written to {out}.\n") and "36/36" in bar
    assert sorted(path.name for path in out.iterdir()) == sorted(f"{kind}_{level}" for kind in KINDS for level in LEVELS)
    assert same(load_folder(out / "remove_med")["b"], corrupt(FRAMES["b"], "remove", "med", 0, "b"))


def test_what_cannot_be_done_is_said_in_one_sentence(run, source, tmp_path):
    out, full, bare, broken = (tmp_path / name for name in ("out", "full", "bare.json", "broken.obj"))
    full.mkdir()
    (full / "a.obj").write_text("kept")
    bare.write_bytes(write_json(EMPTY))
    broken.write_text("v 0 0\n")
    asked = ("--kind", "add", "--level", "low")
    for arguments, sentence in [
        ((*asked, tmp_path / "nowhere", out), "There is nothing at "),
        ((*asked, bare, out), "bare has no edge, so there is nothing to damage; leave it out."),
        ((*asked, broken, out), "The wireframes cannot be read: broken.obj: line 1"),
        ((*asked, source, full), "is already there; name a new file, a new folder or an empty one."),
        ((*asked, source, tmp_path / "one.obj"), "names one file, but there are several to write"),
        ((*asked, "--format", "npz", source / "a.obj", tmp_path / "one.obj"), "name different formats"),
        (("--kind", "add", source, out), "Name a --kind and a --level, or ask for --all."),
        (("--all", "--level", "low", source, out), "--all writes every kind at every level; leave out --kind and --level."),
        (("--kind", "melt", "--level", "low", source, out), "There is no kind melt; there are deform, perturb, add, remove."),
        (("--kind", "add", "--level", "top", source, out), "There is no level top; there are low, med, high."),
        ((*asked, source, bare / "under" / "a"), "cannot be written"),
    ]:
        code, said, error = run(*arguments)
        assert (code, said) == (2, "") and sentence in error and len(error.splitlines()) == 1, (arguments, error)
    assert not out.exists() and (full / "a.obj").read_text() == "kept"

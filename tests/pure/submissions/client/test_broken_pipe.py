"""Commands whose output nobody reads to the end."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from leaderboard.stats.votes import write
from submissions.client.broken_pipe import UNREAD
from tests.support.leaderboard.stats.ballots import simulated_votes

# Unbuffered, argparse itself passes over a help that cannot be written.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@pytest.fixture(scope="module")
def votes(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("votes") / "study.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(write(simulated_votes(4, 2, 4)))
    return path


def unread(*command: str, stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """Result of a Python command that writes into a pipe whose reader has gone."""
    out, into = os.pipe()
    os.close(out)
    try:
        more = {"cwd": settings.BASE_DIR, "env": BUFFERED, "text": True, "timeout": 120}
        return subprocess.run([sys.executable, *command], stdout=into, stderr=into if stderr == subprocess.STDOUT else stderr, **more)
    finally:
        os.close(into)


@pytest.mark.parametrize(
    "command",
    [
        ["evaluation", "metrics"],
        ["evaluation", "metrics", "--json"],
        ["evaluation", "--help"],
        ["leaderboard.stats", "VOTES"],
        ["leaderboard.stats", "VOTES", "--json"],
        ["submissions.client", "--help"],
    ],
    ids=" ".join,
)
def test_it_ends_without_a_word_when_its_reader_has_gone(command, votes):
    ended = unread("-m", *(str(votes) if word == "VOTES" else word for word in command))
    assert (ended.returncode, ended.stderr) == (UNREAD, "")


def test_a_reader_of_the_first_line_gets_it(votes):
    command = [sys.executable, "-m", "evaluation", "metrics", "--json"]
    running = subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
    assert running.stdout.readline() == "[\n"
    running.stdout.close()
    assert running.wait(120) in (0, UNREAD) and running.stderr.read() == "", "all of it may have gone into the pipe before"
    running.stderr.close()


def test_of_more_than_a_pipe_holds_a_reader_takes_some_and_errors_go_the_same_way():
    code = "from submissions.client.broken_pipe import end; end(lambda: print('x' * 10**6))"
    with subprocess.Popen([sys.executable, "-c", code], cwd=settings.BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout.read(3) == b"xxx"
        running.stdout.close()
        assert (running.stderr.read(), running.wait(120)) == (b"", UNREAD)
    code = "import sys; from submissions.client.broken_pipe import end; end(lambda: print('x' * 10**6, file=sys.stderr))"
    assert unread("-c", code, stderr=subprocess.STDOUT).returncode == UNREAD


def test_a_code_is_kept_and_other_errors_and_other_pipes_are_told():
    for body, code, said in (
        ("3", 3, ""),
        ("sys.exit(2)", 2, ""),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("os.write(into, b'x')", 1, "BrokenPipeError"),
    ):
        code_of = (
            f"import os, sys; from submissions.client.broken_pipe import end; out, into = os.pipe(); os.close(out); end(lambda: {body})"
        )
        ended = subprocess.run([sys.executable, "-c", code_of], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=120)
        assert ended.returncode == code and said in ended.stderr and bool(said) == bool(ended.stderr), body

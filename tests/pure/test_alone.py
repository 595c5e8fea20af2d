"""Tests that fail beside others: one that fails once is written down, one that fails twice fails."""

from __future__ import annotations

import pytest

from tests.alone import COMMITTED, MAX_FAILED, listed, verdict


@pytest.mark.parametrize(
    ("failed", "again", "known", "new", "fails"),
    [
        (["a"], [], set(), ["a"], False),  # once: on the list
        (["a"], [], {"a"}, [], True),  # twice
        (["a"], ["a"], set(), [], True),  # it fails by itself
        (["a"], ["a"], {"a"}, [], True),
        (["a", "b"], ["b"], set(), ["a"], True),
        ([], [], set(), [], True),  # the run broke before any test
        ([str(n) for n in range(MAX_FAILED + 1)], [], set(), [], True),
    ],
)
def test_verdict(failed, again, known, new, fails):
    written, faults = verdict(failed, again, known)
    assert written == new
    assert bool(faults) == fails


def test_a_list_is_its_lines_without_comments(tmp_path):
    own = tmp_path / "flaky.txt"
    own.write_text("# why\ntests/a.py::test_b[x y]\t2026-01-02\n\n")
    assert listed(own, tmp_path / "none.txt") == {"tests/a.py::test_b[x y]"}
    assert [test for test in listed(COMMITTED) if not test.startswith("tests/")] == []

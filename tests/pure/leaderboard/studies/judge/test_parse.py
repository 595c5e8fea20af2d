"""The worked answers of the specification, and what must hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.studies.judge.parse import side, verdicts


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("1. The left …\n2. …\nFinal answer:\n1 2 2 3 2 1", 6, (-1, 1, 1, 0, 1, -1)),
        ("1, 2, 2", 3, None),
        ("4 1", 2, None),
        ("1 2", 3, None),
        ("1 2 3 1", 3, None),
        ("1  2 3", 3, None),
        ("Final answer: 1 2 3", 3, None),
        ("  2  \n\n", 1, (1,)),
        ("1 2 3.", 3, (-1, 1, 0)),
        ("**1 2 3**", 3, (-1, 1, 0)),
        ("**1 2 3.**", 3, (-1, 1, 0)),
        ("`3 3`", 2, (0, 0)),
        ("```\n1 2\n```", 2, None),
        ('"1 2".', 2, (-1, 1)),
        ("“2 1”", 2, (1, -1)),
        ("'2'", 1, (1,)),
        ("01 2", 2, None),
        ("+1 2", 2, None),
        ("1.0 2", 2, None),
        ("１ 2", 2, None),
        ("I cannot help with that.", 1, None),
        ("", 1, None),
        ("   \n \n", 2, None),
        ('"', 1, None),
        ("**", 1, None),
    ],
)
def test_the_last_line_decides(text, count, expected):
    assert verdicts(text, count) == expected


@given(st.lists(st.sampled_from("123"), min_size=1, max_size=6), st.text())
def test_any_text_may_stand_before_the_last_line(options, before):
    wanted = tuple({"1": -1, "2": 1, "3": 0}[option] for option in options)
    assert verdicts(f"{before}\n{' '.join(options)}\n", len(options)) == wanted
    assert verdicts(f"{before}\n{' '.join(options)}", len(options) + 1) is None


@given(st.text(), st.integers(1, 6))
def test_no_text_breaks_it(text, count):
    found = verdicts(text, count)
    assert found is None or (len(found) == count and set(found) <= {-1, 0, 1})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The LEFT one lacks its ridge, so: RIGHT", (1,)),
        ("RIGHT is poor.\nLEFT.", (-1,)),
        ("**LEFT**", (-1,)),
        ("left, I think", None),
        ("Both are BRIGHT and CLEFT", None),
        ("LEFTOVERS", None),
        ("", None),
    ],
)
def test_the_last_side_in_capitals_decides(text, expected):
    assert side(text) == expected

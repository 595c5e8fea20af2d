"""Statements on entries beside each other, by a table of records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaderboard.records.comparison import Compared
from leaderboard.records.unit import Unit
from leaderboard.wording import certainty
from leaderboard.wording.comparison import statement, untested

NAMES = ["gable", "ridge", "hip"]
THREE = Compared("A", 3, (1,), (), (0, 2), (), Unit(12, "house"))
TWO = replace(THREE, n=2, apart=(0,))
FEW = replace(THREE, apart=(), lacking=4)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (TWO, "By A ridge is better, significantly different from gable."),
        (replace(TWO, apart=(), tied=(0,)), "By A ridge has the best value, but is tied with gable."),
        (THREE, "By A ridge is the best of these entries, significantly different from every other, corrected for all pairs."),
        (
            replace(THREE, apart=(0,), untested=(2,)),
            "By A ridge has the best value, significantly different from gable, corrected for all pairs. Not tested: hip.",
        ),
        (replace(THREE, apart=(), untested=(0, 2)), "By A ridge has the best value. Not tested: gable, hip."),
        (
            replace(THREE, n=4, apart=(), tied=(0,), untested=(2,)),
            "By A ridge has the best value, but is tied with gable, corrected for all pairs. Not tested: hip.",
        ),
        (replace(FEW, lacking=6), "By A ridge has the best value. The entries have values on different houses, so no pair is tested."),
        (replace(THREE, apart=(0,), tied=(2,)), "By A ridge has the best value, but is tied with hip, corrected for all pairs."),
        (replace(THREE, apart=(), tied=(0, 2)), "By A ridge has the best value, but is tied with all others, corrected for all pairs."),
        (replace(THREE, firsts=(0, 1)), "2 of these entries share first place by A."),
        (replace(THREE, firsts=()), "A has no values to put them in order."),
        (FEW, f"By A ridge has the best value. {certainty.few(4, FEW.unit)}"),
        (replace(FEW, lacking=0), "By A ridge has the best value. A has no values per house here, so no pair is tested."),
        (replace(FEW, firsts=(0, 1)), f"2 of these entries share first place by A. {certainty.few(4, FEW.unit)}"),
    ],
)
def test_the_first_of_several_is_named_with_the_entries_it_is_tied_with(record, words):
    assert statement(record, NAMES).text == words


def test_where_pairs_are_tested_no_reason_is_given():
    assert untested(THREE) == "" != untested(FEW)

"""Statements about a study: each from the record that it is made of."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats import sentences
from leaderboard.stats.plans import Plan, Settling
from leaderboard.stats.records import Enough


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({}, ""),
        ({"F1": (1, 1)}, ""),
        ({"F1": (1, 1), "HSS": (2, 2)}, "F1 is significantly better than every other."),
        ({"F1": (1, 2), "HSS": (2, 2)}, "Only F1 may be the best here."),
        (
            {"F1": (1, 2), "HSS": (1, 3), "WED": (2, 3)},
            "2 of 3 metrics may be the best here; of each other one, some metric is at least as good.",
        ),
        ({"F1": (1, 2), "HSS": (1, 2)}, "2 of 2 metrics may be the best here."),
    ],
)
def test_which_metrics_may_be_the_best(places, said):
    assert sentences.may_be_best(places) == said


NONE = Plan(None, 0.1, 0.2)


@pytest.mark.parametrize(
    ("plans", "said"),
    [
        (None, []),
        (
            Settling(Plan(None, 0.2, 0.6), Plan(3.0, 0.83, 1.0), NONE, NONE),
            ["With 3 times the raters (24 more raters, 1,440 more votes) it would be settled in about 8 of 10 cases."],
        ),
        (
            Settling(NONE, NONE, Plan(2.0, 0.9, 1.0), NONE),
            [
                "More votes by these raters on these houses cannot settle it.",
                "With 2 times the houses (720 more votes) it would be settled in about 9 of 10 cases.",
            ],
        ),
        (
            Settling(NONE, NONE, NONE, NONE),
            [
                "More votes by these raters on these houses cannot settle it.",
                "Nothing up to 16 times this study is likely to settle it: the first 3 may be equal.",
            ],
        ),
    ],
)
def test_what_would_settle_first_place(plans, said):
    enough = Enough(0, "A", ["B", "C"], plans)
    assert sentences.settling(enough, 720, 12, "houses") == said


def test_three_raters_who_gave_most_votes_are_named():
    assert (
        sentences.unequal(np.array([40, 30, 20, 10, 10]))
        and not sentences.unequal(np.array([20] * 6))
        and not sentences.unequal(np.array([9, 9, 9]))
    )


def test_what_people_said_who_were_asked_about_two():
    assert sentences.asked_about("A", (0.58, 0.4, 0.74)) == "Asked about these two, 58 of 100 prefer A [40, 74]."
    assert sentences.asked_about("A", (None, None, None)) == ""

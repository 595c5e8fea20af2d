"""Sentences on acceptance tests, by tables of records."""

from __future__ import annotations

import pytest

from evaluation.metrics import registry
from evaluation.properties.gate.design import CROSS, FULL, MODEL, SET, Condition, Outcome, SceneVerdict, Untried
from leaderboard.records.board import ColumnAcceptanceTest, Failure, Refusal
from leaderboard.wording.acceptance_test import failure, inverted, not_ordered, outcome, passed, untried

PIECES = registry.get("puzzlesim_pieces")
DICTIONARY = registry.resolve_params("puzzlesim_pieces", {"features": "dictionary"})
GREY = Failure(condition="B", damage="grey", wrong=40, of=48, held=0.5)
REFUSAL = Refusal(kind=CROSS, scene="attic", passed=1, of=3, untried=None, failure=GREY)


def refused(**changes) -> ColumnAcceptanceTest:
    return ColumnAcceptanceTest(state="refused", id=1, refusal=REFUSAL.model_copy(update=changes))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (None, ""),
        (ColumnAcceptanceTest(state="passed", id=1), "passed"),
        (
            ColumnAcceptanceTest(state="waiting", percent=40),
            "Shown, not ranked yet: the metric's acceptance test on the phase's own references is running (40 %).",
        ),
        (
            refused(),
            "Shown, not ranked. On attic's own clean views the metric did not score “flat grey” below a mildly damaged picture in "
            "40 of 48 pairs. "
            "The metric passed on 1 of 3 scenes.",
        ),
        (
            refused(untried="clean_views", failure=None, of=1, passed=0),
            "Shown, not ranked. On attic's own clean views: it has fewer than 4 clean views.",
        ),
        (
            refused(kind=MODEL, scene="", of=1, passed=0, failure=GREY.model_copy(update={"damage": "empty"})),
            "Shown, not ranked. On the references the metric did not score an empty entry below a weakly damaged copy in 40 of 48 pairs.",
        ),
        (
            ColumnAcceptanceTest(state="refused", note="Shown, not ranked. It was said otherwise."),
            "Shown, not ranked. It was said otherwise.",
        ),
    ],
)
def test_a_column_that_does_not_rank_says_what_its_test_found(record, words):
    assert outcome(record) == words


def test_every_outcome_and_every_reason_is_worded():
    said = [outcome(ColumnAcceptanceTest(state=state, percent=1)) for state in Outcome if state is not Outcome.REFUSED]
    assert all(said) and len(set(said)) == len(Outcome) - 1
    assert len({untried(reason, CROSS) for reason in [None, *Untried]}) == 1 + len(Untried)
    assert untried(Untried.NO_VALUE, MODEL) != untried(Untried.NO_VALUE, CROSS)


@pytest.mark.parametrize(
    ("key", "kind", "end"),
    [
        ("A", CROSS, "below the clean picture in 40 of 48 trials."),
        ("B2", FULL, "below a mildly damaged picture in 40 of 48 pairs."),
        ("C", SET, "below the next weaker damage of its kind in 40 of 48 trials."),
        ("C", MODEL, "the metric did not score strong flat grey below weak flat grey in 40 of 48 pairs."),
        ("D", CROSS, "is 0.50 on average, least 0.40 for flat grey; 0.75 on average and 0.60 for each damage are required."),
    ],
)
def test_a_failure_names_the_damage_with_its_counts(key, kind, end):
    assert failure(GREY.model_copy(update={"condition": key}), kind).endswith(end)


def test_what_passed_is_said_with_its_counts_its_band_and_grey():
    conditions = (Condition("A", True, 200, 204, 0.97), Condition("B", True, 190, 192, 0.98), Condition("D", True, 90, 100, 0.75))
    attic = SceneVerdict("attic", True, 6, conditions, (("clean", 0.9), ("grey", 0.1)), (0.9, 0.85, 0.95))
    assert (
        passed(PIECES, DICTIONARY, [attic])
        == "Acceptance test passed on this scene's clean views: 390 of 396 pairs are in the right order. Clean views "
        "score 0.90 (0.85–0.95), flat grey scores 0.10."
    )
    hall = SceneVerdict("hall", False, 6, (Condition("A", False, 0, 204, 0.97),))
    assert passed(PIECES, DICTIONARY, [attic, attic, hall], "body") == (
        "Acceptance test passed on 2 of 3 bodies, by their clean views: 780 of 792 pairs are in the right order. The metric ranks by these "
        "bodies only, not by hall."
    )


def test_severe_damage_above_mild_damage_is_named_by_kind_the_most_frequent_first():
    fails = [("halfblack:gamma1", 1, 6), ("halfblack:noise8", 2, 6), ("halfblack:noise8", 1, 6)]
    noise, gamma = (
        "“right half black” at or above “noise of 8 levels” (in 3 of 12 pairs)",
        "“right half black” at or above “a gamma of 1.35” (in 1 of 6 pairs)",
    )
    assert inverted(fails) == [noise, gamma]
    several = "The metric did not always score severe damage below mild damage of another kind."
    assert not_ordered(fails) == f"{several} Of 2 such pairs of damages the most frequent is {noise}."
    assert not_ordered(fails[:1]) == f"The metric scored {gamma}." and not_ordered([]) == ""

"""Sentences of stored rows as states and reasons."""

from __future__ import annotations

import pytest

from leaderboard.stats.states import STATES, Counted, Key, Reason, State
from leaderboard.migrations._sentences_as_states import SENTENCES, reason_of, with_states
from leaderboard.wording.reasons import read, why


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Too few raters: 5 are needed, there is 1.", Reason(Key.FEW, Counted.RATERS, 5, 1)),
        ("Too few rooms: 5 are needed, there are 3.", Reason(Key.FEW, Counted.ITEMS, 5, 3)),
        ("Fewer than 8 entries: no interval.", Reason(Key.FEW_FOR_CORRELATION_INTERVAL, need=8)),
        ("All answers are alike", Reason(Key.ALIKE)),
        ("All 36 scores are 4.", Reason(Key.SAME_SCORES, have=36, value=4.0)),
        ("All 36 scores are 2.5.", Reason(Key.SAME_SCORES, have=36, value=2.5)),
        ("Nobody scored two entries on one room, so no duels follow from the scores.", Reason(Key.NO_COMPARISONS)),
        ("Correlations need three entries whose values differ: two are always in one line.", Reason(Key.FEW_FOR_CORRELATION)),
        (
            "54 of 100 votes on comparisons that two raters decided: too few to compare it with another rater.",
            Reason(Key.FEW_SHARED, need=100, have=54),
        ),
        ("Two samples are needed to find a tolerance on one and judge it on the other.", Reason(Key.FEW_FOR_TOLERANCE)),
        ("The moon was full.", Reason(Key.EARLIER)),
        ("", None),
    ],
)
def test_a_sentence_that_was_stored_has_its_reason(words, reason):
    assert read(reason_of(words)) == reason


@pytest.mark.parametrize("key", SENTENCES)
def test_every_reason_is_one_that_is_read_and_leads_to_its_state(key):
    assert STATES[Key(key)] == SENTENCES[key][0]


def figure(value, low, high, **more):
    return {"value": value, "low": low, "high": high, "n": 9} | more


@pytest.mark.parametrize(
    ("stored", "state"),
    [
        (figure(0.7, 0.6, 0.8, why="", rough=False), State.KNOWN),
        (figure(0.7, 0.6, 0.8, why="", rough=True), State.ROUGH),
        (figure(0.7, None, None, why="Too few raters: 5 are needed, there are 3.", rough=False), State.TOO_FEW),
        (figure(0.5, None, None, why="All answers are alike."), State.ALIKE),
        (figure(-1.0, None, None, why="Fewer than 8 entries: no interval."), State.NO_INTERVAL),
        (figure(None, None, None, why="No answer names a winner between entries that this metric has values for."), State.UNDECIDED),
        (figure(0.7, None, None, why="The moon was full."), State.OUTDATED),
        (figure(0.7, None, None), State.NO_INTERVAL),
        (figure(None, None, None), State.NOT_APPLICABLE),
    ],
)
def test_a_figure_of_before_has_a_state_and_the_same_numbers_and_says_what_it_said(stored, state):
    found = with_states({"metrics": [{"decided": stored}]})["metrics"][0]["decided"]
    assert found["state"] == state and stored.items() <= found.items()
    assert why(found) == stored["why"] if "why" in stored else "why" not in found
    assert with_states(found) == found, "a second time nothing changes"

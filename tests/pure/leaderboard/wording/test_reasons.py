"""Each reason and its sentence, and contents with sentences beside their reasons."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from leaderboard.stats.davidson import SIDE, Cause, Omitted
from leaderboard.stats.records import Preference, plain
from leaderboard.stats.states import SHOWN, STATES, Counted, Key, Reason, State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.wording.reasons import SENTENCES, clause, notes, read, sentence
from leaderboard.wording.worded import told, worded

SAID = [
    (Reason(Key.FEW, Counted.RATERS, 7, 3), "Too few raters: 7 are needed, there are 3."),
    (Reason(Key.FEW, Counted.RATERS, 7, 1), "Too few raters: 7 are needed, there is 1."),
    (Reason(Key.FEW, Counted.ITEMS, 7, 0), "Too few houses: 7 are needed, there are 0."),
    (
        Reason(Key.FEW_FOR_DIFFERENCE, Counted.PAIRS, 15, 9),
        "Too few comparisons between different values: they cover 9 pairs of entries, and 15 are needed.",
    ),
    (
        Reason(Key.FEW_SHARED, Counted.ANSWERS, 100, 54),
        "No comparison with another rater: that needs 100 votes on comparisons that two raters decided, there are 54.",
    ),
    (Reason(Key.FEW_STUDIES, Counted.STUDIES, 3, 2), "There are fewer than 3 studies, so they are listed and not pooled."),
    (
        Reason(Key.FEW_FOR_GATE, Counted.RATERS, 3, 0, 30.0),
        "Too few raters share 30 of the judge's questions with another rater: 3 are needed, there are 0.",
    ),
    (Reason(Key.FEW_FOR_LIKELIHOOD, Counted.RATERS, 12, value=24.0), "This figure needs 12 raters with 24 scores each."),
    (Reason(Key.FEW_FOR_LOOK, Counted.ITEMS, 5, 4), "Too early: 5 houses are needed, there are 4."),
    (
        Reason(Key.FEW_FOR_CORRELATION, Counted.ENTRIES, 3, 2),
        "Correlations need 3 entries with different values, because two points always lie on one line.",
    ),
    (Reason(Key.FEW_FOR_CORRELATION_INTERVAL, Counted.ENTRIES, 8, 7), "No interval, because there are fewer than 8 entries."),
    (Reason(Key.FEW_FOR_TOLERANCE), "Two items are needed to find a tolerance on one and judge it on the other."),
    (Reason(Key.SAME_SCORES, have=36, value=4.0), "All 36 scores are 4."),
    (Reason(Key.SAME_SCORES, have=6, value=2.5), "All 6 scores are 2.5."),
    (Reason(Key.NO_TWO), "No two entries that people compared have values of this metric on one item."),
    (Reason(Key.NO_COMPARISONS), "Nobody scored two entries on one house, so no comparisons follow from the scores."),
]


@pytest.mark.parametrize(("reason", "words"), SAID, ids=[words for _, words in SAID])
def test_a_reason_has_one_sentence(reason, words):
    assert sentence(reason, "house") == words


def test_each_reason_leads_to_one_state_and_has_a_sentence():
    assert set(STATES) == set(SENTENCES) == set(Key)
    assert sentence(None) == ""
    every = [sentence(Reason(key, Counted.RATERS, 2, 1, 1.0)) for key in Key]
    assert [words for words in every if not (words[0].isupper() or words[0].isdigit())] == []
    assert [words for words in every if not words.endswith(".")] == []
    assert [words for words in every if "{" in words] == []


def test_it_can_stand_within_another_sentence():
    assert clause(Reason(Key.SAME_SCORES, have=36, value=4.0)) == "all 36 scores are 4" and clause(None) == ""


def test_a_stored_reason_is_read_as_it_was():
    for reason, _ in SAID:
        assert read(asdict(reason)) == reason
    assert read(None) is None


def test_a_figure_is_stored_without_words_and_told_with_them_in_the_noun_of_its_challenge():
    figure = Figure(0.7, None, None, 12).because(Reason(Key.FEW, Counted.ITEMS, 5, 2))
    assert "why" not in str(plain({"decided": figure, "metrics": [figure]}))
    found = told({"decided": figure, "metrics": [figure]}, lambda: "scene")
    assert found["decided"]["why"] == found["metrics"][0]["why"] == "Too few scenes: 5 are needed, there are 2."
    assert found["decided"]["state"] == "too_few" and found["decided"]["reason"]["have"] == 2
    record = worded({"decided": figure, "metrics": (figure,)}, "scene")
    assert record["decided"].why == record["metrics"][0].why == found["decided"]["why"] and worded(record) == record and not figure.why


def test_what_a_model_omits_is_told_in_notes():
    omitted = [Omitted("size", Cause.UNKNOWN), Omitted(SIDE, Cause.INSEPARABLE), Omitted("size", Cause.INSEPARABLE)]
    omitted += [Omitted(SIDE, Cause.ENDLESS), Omitted("size", Cause.ENDLESS)]
    found = told({"model": Preference(1, 0.0, None, None, [], prior=True, omitted=omitted)})
    endless = "has no finite effect, so the model leaves it out. This happens if everybody chose by"
    assert found["model"]["notes"] == [
        "size is not known of everything that was compared, so the model leaves it out.",
        "The side could not be separated from the entries.",
        "size could not be separated from the entries or from another covariate.",
        f"The side {endless} the side alone.",
        f"size {endless} it alone.",
        "A weak prior was used: some entries never lost to the others.",
    ]
    assert notes([], prior=False) == []


@pytest.mark.parametrize("state", State)
def test_a_value_is_shown_by_its_state_alone(state):
    assert Figure(0.7, 0.6, 0.8, 12, state).shown is (state in SHOWN)
    assert not Figure(None, None, None, state=state).shown

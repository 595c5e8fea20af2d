"""Statements on first place by the metrics and with people: the table of what may be known of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaderboard.records.claim import Claim, FirstPlace
from leaderboard.records.front import Parted
from leaderboard.records.people import Basis
from leaderboard.stats.states import Key, Reason
from leaderboard.wording import claim as wording
from leaderboard.wording.reasons import sentence
from tests.support.leaderboard.reasons import few_raters

A, B, C = ("a", 1), ("b", 2), ("c", 3)
SETTLED, OPEN = FirstPlace([0], [], [1], True), FirstPlace([0], [1], [], True)
LEADS = "a leads by the metrics and with people, but first place is not settled."
ALIKE = "The figures are the same for all raters and items, so no interval can be computed."
PARTED = Parted(metrics=A, people=B, ends=(0.7, 0.6, 0.8), basis=Basis(of="votes", n=9, raters=2), simulated=False, imported=False)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (SETTLED, ""),
        (OPEN, "By people's answers, the other entry may be first too."),
        (FirstPlace([0], [1, 2], [3], True), "By people's answers, 2 of 3 other entries may be first too."),
        (FirstPlace([0], [1, 2, 3], [], True), "By people's answers, all 3 other entries may be first too."),
        (FirstPlace([0], [1, 2], [3], False), "By people's answers, the first entry is tied with 2 of 3 other entries."),
        (
            FirstPlace([0], [1], [2], True, untested=1),
            "By people's answers, 1 of 2 other entries may be first too, and 1 entry is not tested.",
        ),
        (FirstPlace([0], [], [1], True, untested=4), "By people's answers, 4 entries are not tested."),
        (FirstPlace([0], [], [1], True, 2), "By people's answers, the place of the first entry may be as low as 2."),
    ],
)
def test_who_else_may_be_first(first, said):
    assert wording.others(first, "By people's answers") == said


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim((A,), (A,), SETTLED), "Metrics and people agree: a is first."),
        (Claim((A,), (A,), OPEN), f"{LEADS} By people's answers, the other entry may be first too."),
        (Claim((A,), (A,), SETTLED, SETTLED), "Metrics and people agree: a is first."),
        (Claim((A,), (A,), SETTLED, OPEN), f"{LEADS} By the metrics, the other entry may be first too."),
        (
            Claim((A,), (A,), OPEN, FirstPlace([0], [], [1], True, 2)),
            f"{LEADS} By the metrics, the rank of the first entry may be as low as 2. "
            "By people's answers, the other entry may be first too.",
        ),
        (Claim((A,), (A,), SETTLED, alike=True), f"Metrics and people both put a first. It is not known how certain this is. {ALIKE}"),
        (Claim((A,), (B,), OPEN), "a leads by the metrics, b with people. With people these two are tied."),
        (
            Claim((A,), (B,), SETTLED, corrected=True),
            "a leads by the metrics, b with people. With people these two are tied, corrected for all pairs.",
        ),
        (Claim((A,), (B,), SETTLED, met=False), "a leads by the metrics, b with people. Nobody was asked about these two."),
        (Claim((A,), (B,), SETTLED, alike=True), f"a leads by the metrics, b with people. It is not known how certain this is. {ALIKE}"),
        (
            Claim((A,), (B,), SETTLED, parted=PARTED),
            "The metrics put a first. People prefer b. People would pick b in 70 of 100 comparisons of the two [60, 80].",
        ),
        (
            Claim((A,), (B,), SETTLED, parted=PARTED.model_copy(update={"open": True})),
            "The metrics put a first, but b may be first too. People prefer b. People would pick b in 70 of 100 comparisons of "
            "the two [60, 80].",
        ),
        (
            Claim((A, B), (A,), OPEN),
            "2 entries share first place by the metrics. With people a leads, but first place is not settled. "
            "By people's answers, the other entry may be first too.",
        ),
        (
            Claim((A, B), (A,), FirstPlace([0], [], [1], True, 2)),
            "2 entries share first place by the metrics. With people a leads, but first place is not settled. "
            "By people's answers, the place of the first entry may be as low as 2.",
        ),
        (Claim((A, B), (A, B), SETTLED), "2 entries share first place by the metrics. 2 share it with people."),
        (Claim((A,), (A, B), SETTLED), "The metrics put a first. With people it shares first place with 1 other entry."),
        (Claim((C,), (A, B), SETTLED), "The metrics put c first. With people 2 other entries share first place."),
        (
            Claim((A,), (A,), SETTLED, unmet=1),
            "Metrics and people agree: a is first. Nobody compared 1 other entry with the entries that have a place with people.",
        ),
        (
            Claim((A,), (A,), SETTLED, unmet=2, before=("base",)),
            "Metrics and people agree: a is first. Nobody compared 2 other entries with the entries that have a place with "
            "people. With people, base leads a but has no rank.",
        ),
        (
            Claim((A,), (A,), SETTLED, before=("x", "y")),
            "Metrics and people agree: a is first. With people, 2 entries lead a but have no rank.",
        ),
        (
            Claim((A,), (A,), SETTLED, means=True),
            "The metrics and people's published means both put a first. Published means alone do not say how certain this is.",
        ),
        (
            Claim((A, C), (B,), SETTLED, means=True),
            "The metrics put 2 entries first. People's published means put b first. Published means alone do not say how certain this is.",
        ),
        (
            Claim((A,), (B,), SETTLED, reason=few_raters(3)),
            f"Too early to compare the order with people. {sentence(few_raters(3))}",
        ),
        (
            Claim((A,), (B,), SETTLED, reason=Reason(Key.NO_PREFERENCE)),
            "The order is not compared with people. Nobody preferred one entry to another.",
        ),
    ],
)
def test_first_places(claim, said):
    claim = replace(claim, first_by_metrics=claim.first_by_metrics or SETTLED)
    headline = wording.statement(claim).text
    assert " ".join(filter(None, (headline, wording.details(claim)))) == said
    assert len(headline.split()) <= 20


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim((A,), (A,), SETTLED), f"Metrics and people both put a first. {wording.UNTESTED}"),
        (Claim((A,), (A,), OPEN), f"{LEADS} {wording.UNTESTED} By people's answers, the other entry may be first too."),
        (Claim((A,), (B,), OPEN), f"a leads by the metrics, b with people. With people these two are tied. {wording.UNTESTED}"),
    ],
)
def test_an_order_by_metrics_that_nobody_tested_settles_nothing(claim, said):
    assert f"{wording.statement(claim).text} {wording.details(claim)}" == said


def test_a_ranking_of_before_says_its_reason_as_it_did():
    claim = Claim((A,), (B,), SETTLED, reason=few_raters(3))
    assert wording.details(claim, before="So few.") == "So few."
    assert [claim.of_two, Claim((A,), (B,), OPEN).of_two, Claim((A, C), (B,), OPEN).of_two] == [False, True, False]

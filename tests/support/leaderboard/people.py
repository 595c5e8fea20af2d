"""People beside a small board, as a ranking keeps them, for tests without a database."""

from __future__ import annotations

from leaderboard.records.board import Board, ColumnAgreement, HumanAgreement
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Ceiling, Standing
from leaderboard.stats.two_way_intervals import Figure
from tests.support.leaderboard.boards import board_of


def agreement(value=None, low=None, high=None, n=0, raters=11, samples=43, **more) -> Agreement:
    return Agreement(value=value, low=low, high=high, n=n, raters=raters, samples=samples, **more)


def figure(value=None, low=None, high=None, n=0) -> Figure:
    return Figure(value=value, low=low, high=high, n=n)


TWO = figure(0.8, 0.75, 0.85, 300)  # how often two raters say the same
BAND = Ceiling(two_people=TWO, leave_one_out=0.82, low=0.82, likely=0.85, high=0.89, n=300)


def column(slug: str, decided: Agreement, **more) -> ColumnAgreement:
    rho = figure(0.5, 0.1, 0.9, 9)
    return ColumnAgreement(**({"slug": slug, "decided": decided, "rho": rho, "tau": rho, "r": rho} | more))


def found(**changes) -> HumanAgreement:
    base = {
        "study": {"id": 1, "slug": "s", "title": "S", "question": "?", "source": "", "simulated": False},
        "kind": "pairs",
        "of": "votes",
        "criterion": "",
        "raters": 11,
        "groups": [],
        "answers": 1200,
        "questions": 1234,
        "at": "2026-11-21T12:00:00+00:00",
        "note": "",
        "left_out": [],
        "reason": None,
        "band": BAND,
        "metrics": [column("hss", agreement(0.82, 0.8, 0.84, 900), standing=Standing.UNCLEAR, places=(1, 2))],
        "value": [0.75, 0.25],
        "low": [0.7, 0.2],
        "high": [0.8, 0.3],
        "n": [40, 30],
        "marks": {},
    }
    return HumanAgreement(**(base | changes))


def board(ranks=(1, 2), **changes) -> Board:
    """Two entries, which the metrics put in this order."""
    overall = {"order": [0, 1], "rank": list(ranks)}
    made = board_of([0.9, 0.8], overall=overall, id=[7, 8], name=["seven", "eight"])
    return made.model_copy(update={"metrics": []} | changes)


def earlier(**changes):
    """Human agreement as rankings kept it before version 2 of the rules."""
    order = {"srocc": 0.5, "srocc_ci": [0.1, 0.9], "plcc": 0.4, "krocc": 0.3, "plcc_ci": None, "krocc_ci": None, "n": 9}
    by = {"": {"value": 0.82, "low": 0.8, "high": 0.84, "n": 900}}
    return {
        "study": {"id": 1, "slug": "s", "title": "S", "question": "?", "source": "", "simulated": False},
        "kind": "pairs",
        "of": "votes",
        "criterion": "",
        "raters": 11,
        "groups": [],
        "answers": 1200,
        "questions": 1234,
        "at": "2026-11-21T12:00:00+00:00",
        "between": {"value": 0.85},
        "note": "",
        "left_out": [],
        "value": [0.75, 0.25],
        "low": [0.7, 0.2],
        "high": [0.8, 0.3],
        "marks": {"hss": {"7": [{"preferred": "x", "id": None, "samples": ["s"], "n": 1}]}},
        "metrics": [{"slug": "hss", "by": by, "order": order}],
    } | changes

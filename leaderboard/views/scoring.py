"""Scoring of a phase, for the overview of its challenge: its metrics, and how far each agrees with people here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.models import PhaseMetric
from evaluation.networks import weights
from leaderboard.boards.people import People, of_board
from leaderboard.lookup import current_ranking
from leaderboard.records.agreement import Line
from leaderboard.records.board import Board
from leaderboard.views.board import evidence_url
from leaderboard.wording import people as people_words
from submissions.lookup import PhasePlace
from submissions.models import Phase


@dataclass(frozen=True)
class ScoredBy:
    """A metric that decides ranks. `line` is None where too little is known of its agreement with people, or an earlier rule made it."""

    title: str
    url: str
    higher_is_better: bool
    about: str
    line: Line | None


@dataclass(frozen=True)
class Scoring:
    """Metrics that decide ranks, how many others are beside them, and whose answers say how far they agree with people, if any do."""

    phase: Phase
    metrics: list[ScoredBy]
    n_beside: int
    people: People | None


def scoring(place: PhasePlace) -> Scoring | None:
    """Metrics that decide ranks in the phase, without those that may not rank. None before it opens, to all but organizers, and where
    nothing is scored here."""
    phase = place.phase
    if not phase.is_measured_here or not (phase.has_opened(place.now) or place.viewer.organizes):
        return None
    columns, snapshot = list(phase.metrics.all()), current_ranking(place)
    board = snapshot.board if snapshot is not None else None
    ranking = deciding(phase, columns, board)
    if not ranking:
        return None
    people, n_beside = of_board(board) if board is not None else None, len(columns) - len(ranking)
    metrics = [
        ScoredBy(one.label, evidence_url(place, one), one.spec.higher_is_better, one.spec.brief, known_line(people, one.slug))
        for one in ranking
    ]
    return Scoring(phase, metrics, n_beside, people if any(one.line for one in metrics) else None)


def deciding(phase: Phase, columns: Sequence[PhaseMetric], board: Board | None) -> list[PhaseMetric]:
    """The metrics that decide ranks, without those that may not rank by themselves or in the newest ranking."""
    barred = {one.slug for one in board.metrics if not one.may_rank} if board is not None else set()
    able = [one for one in columns if one.slug not in barred and weights.may_rank(one.spec, one.resolved)]
    ranking = [one for one in able if one.in_ranking]
    if phase.ranking == Phase.Rule.PRIMARY:
        return [one for one in able if one.is_primary] or ranking[:1]
    return ranking


def known_line(people: People | None, slug: str) -> Line | None:
    """A metric's agreement with people, where a number of it is shown."""
    line = people.line(slug) if people is not None else None
    if people is None or line is None:
        return None
    line = people_words.head(people.found, line).line
    return line if line is not None and line.shown else None

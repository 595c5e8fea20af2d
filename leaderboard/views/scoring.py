"""Scoring of a phase, for the overview of its challenge: its metrics, and how far each agrees with people here."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from evaluation.networks import weights
from leaderboard.boards.people import of_board
from leaderboard.lookup import current_ranking
from leaderboard.records.agreement import Line
from leaderboard.records.people import Basis
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
    """Metrics that decide ranks, how many others are beside them, and the study that says how far they agree with people."""

    phase: Phase
    metrics: list[ScoredBy]
    n_beside: int
    basis: Basis | None
    people_url: str
    simulated: bool


def scoring(place: PhasePlace) -> Scoring | None:
    """Metrics that decide ranks in the phase, without those that may not rank. None before it opens, to all but organizers, and where
    nothing is scored here."""
    phase = place.phase
    if phase.is_imported or not (phase.has_opened(place.now) or place.viewer.organizes):
        return None
    columns, snapshot = list(phase.metrics.all()), current_ranking(place)
    barred = {one.slug for one in snapshot.board.metrics if not one.may_rank} if snapshot is not None else set()
    able = [one for one in columns if one.slug not in barred and weights.may_rank(one.spec, one.resolved)]
    ranking = [one for one in able if one.in_ranking]
    if phase.ranking == Phase.Rule.PRIMARY:
        ranking = [one for one in able if one.is_primary] or ranking[:1]
    if not ranking:
        return None
    people = of_board(snapshot.board) if snapshot is not None else None
    metrics = []
    for one in ranking:
        line = people.line(one.slug) if people is not None else None
        line = people_words.head(people.found, line).line if people is not None and line is not None else None
        known = line if line is not None and line.shown else None
        metrics.append(ScoredBy(one.label, evidence_url(place, one), one.spec.higher_is_better, one.spec.brief, known))
    if not any(one.line for one in metrics):
        people = None
    return Scoring(
        phase,
        metrics,
        len(columns) - len(ranking),
        people.basis if people is not None else None,
        reverse("study", args=[phase.challenge.slug, phase.slug, people.study.slug]) if people is not None else "",
        people is not None and people.study.simulated,
    )

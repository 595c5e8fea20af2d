"""Scoring of a phase, for the overview of its challenge: its metrics, and how far each agrees with people here."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from evaluation.metrics import registry
from leaderboard.boards.people import of_board
from leaderboard.lookup import current_ranking
from leaderboard.records.agreement import Line
from leaderboard.records.people import Basis
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
    """Metrics that decide ranks in the phase. None before it opens, to all but organizers, and where nothing is scored here."""
    phase = place.phase
    columns = list(phase.metrics.all())
    ranking = [one for one in columns if (one.is_primary if phase.ranking == Phase.Rule.PRIMARY else one.in_ranking)]
    if phase.is_imported or not ranking or not (phase.has_opened(place.now) or place.viewer.organizes):
        return None
    snapshot = current_ranking(place)
    people = of_board(snapshot.board) if snapshot is not None else None
    lines = {}
    if people is not None:
        for slug in people.columns:
            line = people.line(slug)
            lines[slug] = people_words.head(people.found, line).line if line is not None else None
    metrics = []
    for one in ranking:
        spec, line = registry.get(one.key), lines.get(one.slug)
        about = f"{spec.doc.partition('. ')[0].removesuffix('.')}." if spec.doc else ""
        known = line if line is not None and line.shown else None
        metrics.append(ScoredBy(one.label, reverse("metric", args=[one.key]), spec.higher_is_better, about, known))
    known_of = people if any(one.line for one in metrics) else None
    return Scoring(
        phase,
        metrics,
        len(columns) - len(ranking),
        known_of.basis if known_of else None,
        reverse("study", args=[phase.challenge.slug, phase.slug, known_of.study.slug]) if known_of else "",
        known_of.study.simulated if known_of else False,
    )

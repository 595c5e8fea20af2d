"""Findings of people for a ranking when it is made: the agreement of each metric with them, their preferences, and the rows that contradict
them. A board asks nothing more for it; `leaderboard.boards.people` reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from leaderboard.models.analysis import StudyAnalysis
from leaderboard.records.board import Against, BoardEntry, ColumnAgreement, HumanAgreement, Mark, PeoplesFirst, StudyOf
from leaderboard.records.study import Summary, precedence
from leaderboard.stats.mos_table import USUAL
from leaderboard.stats.ranking import order, rank
from leaderboard.stats.records import Entry, Metric, places_among
from leaderboard.stats.states import Reason
from leaderboard.stats.two_way_intervals import Ends
from submissions.models import Phase

MAX_SAMPLES = 12  # that a mark names


def of_phase(phase: Phase, is_public: bool, entries: Sequence[BoardEntry], fingerprints: Mapping[str, str]) -> HumanAgreement | None:
    """Findings of people, for a ranking of `entries`: of the phase's studies that may be shown, those on entries of the ranking first, the
    one that stands for the others by `precedence`. None without a study that has been analysed.

    `fingerprints` belong to the ranking's columns: findings on other values under the same slug are left out.
    """
    ids = {entry.id for entry in entries}
    main = _main(phase, is_public, ids)
    if main is None:
        return None
    row, summary = main
    used = [line for line in summary.metrics if line.reference_point or fingerprints.get(line.key, "") in ("", line.fingerprint)]
    there = Judged(summary, entries)
    value, low, high = ([ends[n] for ends in there.column] for n in range(3))
    return HumanAgreement(
        study=StudyOf.model_validate({name: getattr(row.study, name) for name in StudyOf.model_fields}),
        kind=summary.kind,
        of=summary.of,
        criterion=row.criterion,
        raters=summary.n_people,
        groups=sorted(filter(None, set(summary.groups))),
        answers=summary.counted,
        questions=summary.questions,
        at=row.finished_at,
        note=summary.note,
        left_out=[name for name in summary.left_out if summary.entries.get(name) in (None, *ids)],
        reason=summary.reason,
        why="",
        band=summary.ceiling if summary.another is not None else None,
        metrics=[_column(metric, summary) for metric in used],
        value=value,
        low=low,
        high=high,
        n=[0 if line is None else line.answers for line in there.lines],
        first=there.first,
        over=there.over,
        marks=_marks(used, summary, ids),
        firm=there.firm,
        may_be_first=there.may_be_first,
        few=there.few or None,
        unsampled=summary.unsampled or None,
        places=there.places if any(there.places) else None,
        scale=None if summary.scale == USUAL else summary.scale,
    )


def _main(phase: Phase, is_public: bool, ids: Collection[int]) -> tuple[StudyAnalysis, Summary] | None:
    """The study of a phase that stands for the others, with its summary; None without one that has been analysed."""
    studies = phase.studies.filter(is_public=True) if is_public else phase.studies.all()
    main = (StudyAnalysis.main(study) for study in studies.prefetch_related("analyses"))
    known = [(row, row.summary) for row in main if row is not None and row.summary is not None]

    def weight(one: tuple[StudyAnalysis, Summary]) -> tuple[Any, ...]:
        row, summary = one
        own = precedence(summary.metrics, row.study.simulated, summary.n_people, row.study_id, summary.of == "means")
        return not set(ids).isdisjoint(summary.entries.values()), own

    return max(known, key=weight, default=None)


@dataclass(frozen=True)
class Judged:
    """The entries of a ranking as people judged them in a study; every list is in the ranking's order, with None for an entry that nobody
    judged."""

    summary: Summary
    entries: Sequence[BoardEntry]

    @cached_property
    def lines(self) -> list[Entry | None]:
        labels = {pk: label for label, pk in self.summary.entries.items()}
        lines = {line.method: line for line in self.summary.scales if line.method not in self.summary.damaged}
        return [lines.get(labels.get(entry.id, "")) for entry in self.entries]

    @cached_property
    def column(self) -> list[Ends]:
        """Their figures. Parts that were never compared have no common column; the part with most answers is taken."""
        return [line.value if line is not None and line.in_main_part else (None, None, None) for line in self.lines]

    @cached_property
    def few(self) -> dict[str, Reason]:
        """Reasons of entries that too few people judged, or on too few items, by their ids: these keep their figures for programs, and have
        no place beside those with enough."""
        if self.summary.reason is not None:
            return {}
        return {
            str(entry.id): line.reason
            for entry, line, (value, _, _) in zip(self.entries, self.lines, self.column, strict=True)
            if value is not None and line is not None and line.reason is not None and not self.summary.shows(line)
        }

    @cached_property
    def counted(self) -> list[float | None]:
        """Values of the entries that may have a place with people on this board."""
        has_place = [entry.counted and str(entry.id) not in self.few for entry in self.entries]
        return [value if counts else None for (value, _, _), counts in zip(self.column, has_place, strict=True)]

    @cached_property
    def first(self) -> int | None:
        return next((n for n in order(self.counted, True) if self.counted[n] is not None), None)

    @cached_property
    def top(self) -> Entry | None:
        """The entry that is first."""
        return None if self.first is None else self.lines[self.first]

    @property
    def over(self) -> list[Against | None]:
        """The first against each of them."""
        entry_pairs = {frozenset((pair.first, pair.second)): pair for pair in self.summary.entry_pairs}
        names = [frozenset() if line is None or self.top is None else frozenset((line.method, self.top.method)) for line in self.lines]
        pairs = [entry_pairs.get(pair) for pair in names]
        return [None if pair is None else Against(value=pair.value, p_holm=pair.p_holm) for pair in pairs]

    @property
    def firm(self) -> PeoplesFirst | None:
        """Certainty of first place, known for the study's own first entry where it shares that place with none. Where another entry is
        first here, the study's first has left this board or is a baseline."""
        top, summary = self.top, self.summary
        leading = next(iter(summary.ranked), None)
        one_part = len({line.part for line in summary.ranked}) == 1
        alone = rank(self.counted, True).count(1) == 1 and sum(value is not None for value in self.counted) > 1
        if top is None or top is not leading or top.rank is None or not (one_part and alone):
            return None
        return PeoplesFirst(
            rank=top.rank,
            settled=summary.enough is not None and summary.enough.settled > 0,
            fragile=summary.fragile,
            answers=summary.answers,
            raters_counted=summary.raters_counted,
            samples_counted=summary.samples_counted,
        )

    @cached_property
    def places(self) -> list[tuple[int, int] | None]:
        """Ranges of places among the entries that hold a rank here: a baseline before them all, or an entry that is not on this board,
        would keep first place from every one of them."""
        ids = {entry.id for entry in self.entries if entry.counted}
        outside = {line.method for line in self.summary.ranked if self.summary.entries.get(line.method) not in ids}
        found = {line.method: line.rank for line in places_among(self.summary.scales, outside) if line.in_main_part}
        labels = {pk: label for label, pk in self.summary.entries.items()}
        return [found.get(labels.get(entry.id, "")) for entry in self.entries]

    @property
    def may_be_first(self) -> list[int] | None:
        """Entries whose range of places begins with the first; None where no entry has one."""
        return [n for n, ends in enumerate(self.places) if ends is not None and ends[0] == 1] if any(self.places) else None


def _column(metric: Metric, summary: Summary) -> ColumnAgreement:
    """Agreement of one of the leaderboard's columns; beside it the agreement over all that was compared, if that is more than entries."""
    beside = summary.all.metric(metric.key) if summary.all is not None and (summary.damaged or summary.left_out) else None
    same = ("rho", "tau", "r", "reference_point", "trained", "above_size", "groups", "difference", "person", "standing", "places")
    damaged = None if beside is None else beside.decided.brief
    given = {name: getattr(metric, name) for name in (*same, "decided", "may_be_best")}
    return ColumnAgreement(slug=metric.key, damaged=damaged, **given)


def _marks(used: Sequence[Metric], summary: Summary, ids: Collection[int]) -> dict[str, dict[str, list[Mark]]]:
    """By slug and entry: the entries that people prefer to it and the metric does not, those they are surest of first. Entries that are on
    the board, or never were entries, are named; others are not."""
    marks: dict[str, dict[str, list[Mark]]] = {}
    for metric in used:
        for one in metric.contradictions:
            worse, better = summary.entries.get(one.second), summary.entries.get(one.first)
            if worse in ids and (better is None or better in ids):
                mark = Mark(preferred=one.first, id=better, value=one.value, samples=one.samples[:MAX_SAMPLES], n=len(one.samples))
                marks.setdefault(metric.key, {}).setdefault(str(worse), []).append(mark)
    return marks

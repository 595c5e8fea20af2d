"""Judge models on a study's page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

from leaderboard.boards.people import lines_of
from leaderboard.charts import judges
from leaderboard.models import JudgeRun, Study, StudyEntry
from leaderboard.models.judge_budget import money
from leaderboard.records.agreement import Line
from leaderboard.records.chart import Chart
from leaderboard.records.study import Summary
from leaderboard.stats.judges import MethodScore
from leaderboard.stats.records import NOTHING, Judge, PairTogether, Together
from leaderboard.stats.two_way_intervals import Ends
from leaderboard.studies.judge.answers import CriterionScores, RunFacts, facts, scores_of
from leaderboard.studies.judge.instructions import CRITERIA, KEYS, OVERALL

TITLES = {one.key: one.title for one in CRITERIA}
OVERALL_KEY = KEYS[OVERALL]


@dataclass(frozen=True)
class TogetherRow:
    """A metric's agreement by people alone (`line`) and by people with the judge."""

    line: Line
    it: Together


@dataclass(frozen=True)
class PairRow:
    """Share of people's picks for one entry of two, alone and with the judge."""

    it: PairTogether
    alone: Ends


@dataclass(frozen=True)
class ScoreRow:
    """A method's scores, criterion by criterion."""

    method: str
    cells: list[MethodScore | None]


@dataclass(frozen=True)
class JudgeOnPage:
    """A judge of a study, which is one run: its scores as a radar chart and a table, their cost, and its agreement with people, `line` on
    the scale of metrics. One that is for display only has neither chart nor line."""

    run: JudgeRun
    took: RunFacts
    criteria: list[str]
    table: list[ScoreRow]
    radar: Chart | None
    anchor: str
    agreement: Judge | None = None
    line: Line | None = None
    together: list[TogetherRow] = field(default_factory=list)
    entry_pairs: list[PairRow] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.run.rater.name

    @property
    def display_only(self) -> bool:
        return self.run.is_for_display_only

    @property
    def newcomer(self) -> StudyEntry | None:
        return self.run.newcomer

    @property
    def cost(self) -> str:
        return "not counted" if self.took.cost is None else money(self.took.cost)


@dataclass(frozen=True, eq=False)
class _BesidePeople:
    """Figures of judges in the analysis on the criterion that is shown."""

    summary: Summary

    @cached_property
    def judges(self) -> dict[str, Judge]:
        return {judge.key: judge for judge in self.summary.judges}

    @cached_property
    def lines(self) -> dict[str, Line]:
        """Lines of metrics, by their keys."""
        return {one.key: one for one in lines_of(self.summary)}

    @cached_property
    def alone(self) -> dict[tuple[str, str], Ends]:
        """People's own share of each of two entries."""
        found: dict[tuple[str, str], Ends] = {}
        for pair in self.summary.entry_pairs:
            value, low, high = found[pair.first, pair.second] = pair.value
            of_second, second_low, second_high = (None if end is None else 1 - end for end in (value, high, low))
            found[pair.second, pair.first] = of_second, second_low, second_high
        return found

    def line(self, judge: Judge, noun: str) -> Line | None:
        """The judge on the scale of metrics; None for one that is for display only, or has no answer of theirs."""
        if judge.decided is None or judge.display_only:
            return None
        return Line(judge.key, judge.decided, self.summary.another, key=judge.key, noun=noun)

    def together(self, judge: Judge) -> list[TogetherRow]:
        return [TogetherRow(self.lines[one.key], one) for one in judge.with_people if one.key in self.lines]

    def entry_pairs(self, judge: Judge) -> list[PairRow]:
        """Pairs for which both have intervals. Of ratings the difference of two means is no share."""
        rows = [PairRow(one, self.alone.get((one.first, one.second), NOTHING)) for one in judge.pairs_with_people]
        return [row for row in rows if row.it.low is not None and row.alone[1] is not None and not self.summary.opinions]


def of_study(study: Study, summary: Summary | None, hidden: Collection[str] = ()) -> list[JudgeOnPage]:
    """The judges of a study. `summary` is its analysis on the criterion that is shown, where there is one; of the entries called as in
    `hidden` nothing is said."""
    described, people = [], None if summary is None else _BesidePeople(summary)
    for run in JudgeRun.ended(study).select_related("rater", "newcomer"):
        run.study = study
        criteria = {key: one.without(hidden) for key, one in scores_of(run).items()}
        titles, by_key = [TITLES[key] for key in criteria], [{row.method: row for row in one.rows} for one in criteria.values()]
        page = JudgeOnPage(
            run=run,
            took=facts(run),
            criteria=titles,
            table=[ScoreRow(name, [rows.get(name) for rows in by_key]) for name in _scores(criteria)],
            radar=None if run.is_for_display_only else judges.radar(titles, _scores(criteria)),
            anchor=next((one.anchor for one in criteria.values()), ""),
        )
        if people is not None and (judge := people.judges.get(run.rater.name)) is not None:
            line, together, pairs = people.line(judge, study.noun), people.together(judge), people.entry_pairs(judge)
            page = replace(page, agreement=judge, line=line, together=together, entry_pairs=pairs)
        described.append(page)
    return described


def _scores(criteria: dict[str, CriterionScores]) -> dict[str, list[float | None]]:
    """The Elo of each method on each criterion, the best overall, or on the last criterion where that was not asked, first."""
    rows = {key: {row.method: row.elo for row in one.rows} for key, one in criteria.items()}
    lead = [OVERALL_KEY, *reversed(rows)] if OVERALL_KEY in rows else [*reversed(rows)]
    names = list(dict.fromkeys(name for key in lead for name in rows[key]))
    return {name: [rows[key].get(name) for key in rows] for name in names}

"""People beside a leaderboard and in a study: records for pages, made from a ranking's part on people, or a study's summary. PURE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from leaderboard.records.agreement import Line
from leaderboard.records.board import PEOPLE, Board, ColumnAgreement, HumanAgreement, MetricColumn
from leaderboard.records.claim import Claim, FirstPlace
from leaderboard.records.front import Parted, Place
from leaderboard.records.study import Summary
from leaderboard.records.unit import NOUN
from leaderboard.stats.ranking import order, rank
from leaderboard.stats.records import KNOW_NOTHING, REFERENCE_TITLES, Metric
from leaderboard.stats.states import State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.stats.uncertainty import ALPHA

EQUAL = 1e-12  # shares this near to each other are one


def lines_of(summary: Summary, titles: Mapping[str, str] = {}, noun: str = NOUN) -> list[Line]:
    """The metrics of an analysis by how far they agree with people, reference points last; by name if none is significantly better than
    another."""
    beside = summary.all if summary.damaged or summary.left_out else None  # without damaged entries it is the same
    lines = []
    for metric in summary.metrics:
        line = line_of(metric, summary.another, noun, summary.opinions)
        with_damaged = beside.metric(metric.key) if beside is not None else None
        damaged = with_damaged.decided if with_damaged is not None else None
        lines.append(
            replace(
                line,
                title=titles.get(metric.key, line.title),
                damaged=damaged if damaged is not None and damaged.low is not None else None,
                sampled=not summary.unsampled,
            )
        )
    return lines


def line_of(metric: Metric, another: Figure | None, noun: str = NOUN, opinions: bool = False) -> Line:
    """One metric of an analysis."""
    line = Line(
        metric.title or metric.key,
        metric.decided,
        another,
        metric.standing,
        metric.places,
        metric.reference_point,
        metric.trained,
        metric.above_size,
        metric.key,
        noun=noun,
        compared=metric.decided.coverage is not None,
        opinions=opinions,
    )
    return _by_definition(line)


def _by_definition(line: Line) -> Line:
    """A metric as it is; a reference point that knows nothing at half of all comparisons, whatever its random draw gave."""
    figure = line.figure
    if not line.reference_point or line.key not in KNOW_NOTHING or figure.value is None:
        return line
    state = State.ALIKE if figure.shown else figure.state
    return replace(line, figure=replace(figure, value=0.5, low=None, high=None, state=state), standing=None)


@dataclass(frozen=True)
class GroupChart:
    """The metrics by how far they agree with the people of one group; of all people where it has no name."""

    group: str
    lines: list[Line]
    another: Figure | None


class People:
    """People as a ranking has them, for the page of its board."""

    def __init__(self, board: Board, found: HumanAgreement) -> None:
        self.board, self.found, self.noun = board, found, board.resampled
        self.study, self.at, self.basis = found.study, found.at, found.basis
        self.opinions = found.kind == "opinions"
        self.sampled = not found.unsampled
        self.columns = {line.slug: line for line in found.metrics if not line.reference_point}
        self.titles = {metric.slug: metric.title for metric in board.metrics}

    @property
    def another(self) -> Figure | None:
        """Share of what two raters say alike, where that has an interval."""
        band = self.found.band
        return None if band is None or band.two_people.low is None else band.two_people

    @property
    def has_marks(self) -> bool:
        return any(self.found.marks.values())

    @property
    def only_means(self) -> bool:
        return self.found.of == "means"

    @property
    def lines(self) -> list[Line]:
        """The metrics, without reference points."""
        return [self._line(column) for column in self.columns.values()]

    def line(self, slug: str, group: str = "") -> Line | None:
        """A column's agreement; None where nothing is known of it."""
        column = self.columns.get(slug)
        if column is None or (group and group not in column.groups):
            return None
        return self._line(column, group)

    def _line(self, column: ColumnAgreement, group: str = "") -> Line:
        title = REFERENCE_TITLES[column.slug] if column.reference_point else self.titles.get(column.slug, column.slug)
        figure = column.groups[group] if group else column.decided
        line = Line(
            title,
            figure,
            reference_point=column.reference_point,
            trained=column.trained,
            key=column.slug,
            noun=self.noun,
            sampled=self.sampled,
            opinions=self.opinions,
        )
        if group:
            return _by_definition(line)
        line = replace(
            line,
            another=self.another,
            standing=column.standing,
            places=column.places,
            above_size=column.above_size,
            damaged=column.damaged if column.damaged is not None and column.damaged.low is not None else None,
            compared=column.decided.coverage is not None,
        )
        return _by_definition(line)

    def charts(self) -> list[GroupChart]:
        """The metrics by how far they agree with people, reference points last: with all people, then with each group. None where the
        figures are too few for any, or of an earlier rule."""
        if self.found.people < 2 or self.only_means:
            return []
        every = list(self.found.metrics)
        named = [group for group in self.found.groups if any(group in line.groups for line in every)]
        charts = []
        for name in ["", *(named if len(named) > 1 else [])]:
            lines = [self._line(column, name) for column in every if not name or name in column.groups]
            if any(line.shown for line in lines if not line.reference_point):
                charts.append(GroupChart(name, lines, self.another if not name else None))
        return charts

    @cached_property
    def _places(self) -> list[int | None]:
        """Places of the entries that hold a rank, by people's values alone."""
        return rank([value if entry.counted else None for value, entry in zip(self.values, self.board.entries, strict=True)], True)

    def place(self, index: int) -> Place | None:
        """Place of an entry, as its 95 % range; None without one."""
        place = self.column.rank[index] if self.column is not None else None
        if place is None:
            return None
        low, high = (self.found.places[index] if self.found.places else None) or (place, place)
        return (place, place) if low == high else (low, high)

    @cached_property
    def first_place(self) -> FirstPlace | None:
        """First place with people, as the study's own page states it; None where nobody is first, or one entry alone has a place."""
        first, found, places = self.found.first, self.found, self._places
        if first is None:
            return None
        level = [n for n, place in enumerate(places) if place == 1]
        others = [n for n, place in enumerate(places) if place is not None and place > 1]
        if len(level) + len(others) < 2:
            return None
        if found.may_be_first is not None:
            own = found.places[first] if found.places is not None else None
            return FirstPlace.of(level, others, found.may_be_first, None if own is None else own[1], True)
        over = {n: found.over[n] for n in others} if found.over else {}
        may = [n for n, one in over.items() if one is None or one.p_holm is None or one.p_holm > ALPHA]
        return FirstPlace.of(level, others, may, None, False)

    @cached_property
    def values(self) -> list[float | None]:
        """People's value of each entry, without those that too few people judged, or on too few items."""
        few = self.found.few or {}
        return [None if str(entry.id) in few else value for value, entry in zip(self.found.value, self.board.entries, strict=True)]

    @property
    def unplaced_before(self) -> list[str]:
        """Entries that hold no rank, as a baseline does, and that people put before the first of those that do, by name."""
        best = None if self.found.first is None else self.values[self.found.first]
        rivals = ((entry, v) for v, entry in zip(self.values, self.board.entries, strict=True) if not entry.counted)
        return [entry.name for entry, v in rivals if best is not None and v is not None and v > best + EQUAL]

    @cached_property
    def claim(self) -> Claim | None:
        """First places by the board's rule and with people, where both are known."""
        found, theirs, entries, leaders = self.found, self.first_place, self.board.entries, self.board.overall.leaders
        if found.people < 2 or theirs is None or found.first is None or not leaders:
            return None
        leader, first = leaders[0], found.first
        level = [first, *(n for n in theirs.level if n != first)] if len(theirs.level) > 1 else [first]
        metrics, people = ([(entries[n].name, entries[n].id) for n in some] for some in (leaders, level))
        if self.only_means or found.reason is not None:
            reason = None if self.only_means else found.reason
            return Claim(tuple(metrics), tuple(people), theirs, means=self.only_means, reason=reason)
        if self.values[leader] is None:
            return None
        # Entries of other parts of the study were compared with others than these.
        unmet = sum(value is None and n > 0 and entry.counted for value, n, entry in zip(found.value, found.n, entries, strict=True))
        by_metrics = FirstPlace.by_metrics(self.board.overall)
        claim = Claim(tuple(metrics), tuple(people), theirs, by_metrics, unmet=unmet, before=tuple(self.unplaced_before))
        return claim if len(leaders) > 1 or len(level) > 1 else self._of_two(claim, leader, first)

    def _of_two(self, claim: Claim, leader: int, first: int) -> Claim:
        """The claim on one entry that is first by the metrics, `leader`, and one that is `first` with people: by the test of the two."""
        found, theirs, by_metrics = self.found, claim.first, claim.first_by_metrics
        if leader == first:
            # Scores of one entry may all be the same and its lead over the others still be known.
            beside = [found.over[n] for n in theirs.behind] if self.opinions and found.over else [None]
            alike = found.low[first] is None and any(one is None or one.value[1] is None for one in beside)
            return replace(claim, alike=alike)
        against = found.over[leader]
        if against is None or against.p_holm is None or against.p_holm > ALPHA:
            # By the ranges of places the metrics' first may not be first with people: this is the test of all pairs.
            return replace(claim, met=against is not None, corrected=theirs.tested and leader in theirs.behind)
        if against.value[1] is None:
            return replace(claim, alike=True)
        parted = Parted(
            metrics=claim.metrics[0],
            people=claim.people[0],
            ends=against.value,
            basis=self.basis,
            simulated=self.study.simulated,
            imported=self.board.imported is not None,
            open=by_metrics is not None and first in by_metrics.open,
        )
        return replace(claim, parted=parted)

    @cached_property
    def column(self) -> MetricColumn | None:
        """People's preference as a column of the board; None where they judged none of its entries."""
        agreement, known = self.found, self.values
        ends = [v for v in (*known, *agreement.low, *agreement.high) if v is not None]
        if not ends or (agreement.people >= 2 and not self.only_means and agreement.reason is not None):
            return None  # below the smallest numbers there is no figure
        nothing: list[int | None] = [None] * len(known)
        has_places = len(known) - self._places.count(None) > 1  # one alone is first of nothing
        return MetricColumn(
            slug=PEOPLE,
            key=PEOPLE,
            title="Opinion score" if self.opinions else "People",
            fingerprint="",
            params={},
            higher_is_better=True,
            unit=self.basis.unit,
            is_primary=False,
            in_ranking=False,
            weight=0.0,
            scale=(min(ends), max(ends)),
            decimals=2,
            value=known,
            ci_low=agreement.low,
            ci_high=agreement.high,
            n=[0] * len(known),  # over how many answers the interval is: 0 says that this is not known, and is no reason to hide it
            rank=self._places if has_places else nothing,
            rank_low=nothing,
            rank_high=nothing,
            group=nothing,
            order=order(known, True),
            percent=not self.opinions,
        )


def of_board(board: Board) -> People | None:
    """People as the ranking has them; None where it has none."""
    return People(board, board.people) if board.people is not None else None


def spread(value: float | None, low: float | None, high: float | None, rows: Sequence[Sequence[float | None]]) -> dict[str, float] | None:
    """Positions of a value and its interval, in percent of the line that holds all `rows`; an interval that goes beyond them ends with
    the line. None without a value."""
    ends = [end for row in rows for end in row if end is not None]
    if value is None or not ends:
        return None
    start, width = min(ends), (max(ends) - min(ends)) or 1.0
    at = [round(min(max(100 * ((value if end is None else end) - start) / width, 0.0), 100.0), 1) for end in (value, low, high)]
    return {"dot": at[0], "left": at[1], "width": round(at[2] - at[1], 1)}

"""From a ranking to the rows a page shows: sorted, filtered, cut into pages.

Ranks, intervals and brackets belong to the full set; filters and page boundaries only choose which rows are seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from leaderboard.boards.people import of_board
from leaderboard.boards.unranked import unranked, untested
from leaderboard.exports.tables.table import Caption, Column, People, Row, Table
from leaderboard.records.board import WAITING, Board, MetricColumn, Ranks
from leaderboard.records.cell import Cell, FoldedRank, Line
from leaderboard.stats.meaning import At, Difference
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.two_way_intervals import Figure
from submissions.entry_fields import PUBLIC_FIELDS, EntryField

PER_PAGE = 100
MIN_SHOWN, MAX_SHOWN = 3, 4  # metrics in sight where nobody chose others: those that rank, filled up with others in their order
OVERALL = "rank"
STATED = "stated_"  # begins the key of a column of what teams state, beside the slugs of metrics
TEXT_SORTS = ("name", "team", "date")


@dataclass(frozen=True)
class Choice:
    """The viewer's choice: one sort, its direction, filters, a page, and the columns in sight (None: the usual ones), which are slugs of
    metrics and keys of `BoardRows.stated`."""

    sort: str = OVERALL
    worst_first: bool = False
    text: str = ""
    baselines: bool = True
    mine: bool = False
    page: int = 1
    columns: tuple[str, ...] | None = None


class BoardRows:
    """A ranking seen through a `Choice`; `team` is the viewer's, for `mine`."""

    def __init__(self, board: Board, choice: Choice, team: int | None = None, per_page: int = PER_PAGE) -> None:
        self.board, self.team, self.per_page = board, team, per_page
        self.said = of_board(board)
        self.people = self.said.column if self.said is not None else None
        self.metrics = board.metrics
        # What people prefer is beside the rank, so every screen shows it, however many metrics follow.
        self.columns = [*([self.people] if self.people is not None else []), *board.metrics]
        self.by_slug = {column.slug: column for column in self.columns}
        known = choice.sort in self.by_slug or choice.sort in (OVERALL, *TEXT_SORTS)
        self.choice = choice if known else replace(choice, sort=OVERALL)

    @cached_property
    def stated(self) -> dict[str, EntryField]:
        """The columns of what teams state of their entries, which can be chosen: of the fields that some entry has."""
        return {
            f"{STATED}{name}": field
            for name, field in PUBLIC_FIELDS.items()
            if field.scale and any(getattr(entry, name) for entry in self.board.entries)
        }

    @cached_property
    def visible_metrics(self) -> list[MetricColumn]:
        """The metrics in sight: as chosen; else those that rank and the one sorted by first, filled up in the board's order."""
        if self.choice.columns is not None:
            chosen = [metric for metric in self.metrics if metric.slug in self.choice.columns]
            return chosen or self.metrics
        ranking = [metric for metric in self.metrics if metric.slug in self.board.overall.metrics]
        others = [metric for metric in self.metrics if metric not in ranking]
        seen = [*ranking, *others][: max(MIN_SHOWN, min(len(ranking), MAX_SHOWN))]
        sorted_by = [metric for metric in others if metric is self.standing and metric not in seen]
        return [*seen[: MAX_SHOWN - len(sorted_by)], *sorted_by]

    @cached_property
    def stated_in_sight(self) -> dict[str, EntryField]:
        """The columns of what teams state that are in sight: those that were chosen."""
        return {key: field for key, field in self.stated.items() if key in (self.choice.columns or ())}

    def stated_titles(self) -> dict[str, str]:
        """Titles of all columns of what teams state, by their keys."""
        item = self.board.inner or self.board.resampled
        return {key: field.scale.format(item=item) for key, field in self.stated.items()}

    @property
    def narrow(self) -> str:
        """The slug of the one metric in sight on a phone: the one sorted by, else the first."""
        metrics = self.visible_metrics
        return next((metric.slug for metric in metrics if metric is self.standing), metrics[0].slug if metrics else "")

    @cached_property
    def folded(self) -> list[MetricColumn]:
        """The other metrics, of which only ranks are in sight."""
        return [metric for metric in self.metrics if metric not in self.visible_metrics]

    @cached_property
    def last_folded(self) -> int:
        """The last rank by any of them, at the right end of their line."""
        return max((rank for metric in self.folded for rank in metric.rank if rank is not None), default=1)

    @cached_property
    def _in_order(self) -> list[int]:
        """All rows in the order of the choice."""
        entries, by, column = self.board.entries, self.choice.sort, self.standing
        if by in TEXT_SORTS:
            keys = {"name": lambda e: e.name.casefold(), "team": lambda e: e.team.casefold(), "date": lambda e: e.received_at}
            # The newest comes first: what people look for by date. What is withheld has no name, team or date, and stands last.
            backwards = self.choice.worst_first != (by == "date")
            told = [i for i, entry in enumerate(entries) if not entry.is_redacted]
            in_order = sorted(told, key=lambda i: (keys[by](entries[i]), i), reverse=backwards)
            return in_order + [i for i, entry in enumerate(entries) if entry.is_redacted]
        if self.choice.worst_first:  # unranked rows stay last, whichever way round
            valued = [i for i in column.order if column.value[i] is not None]
            return valued[::-1] + [i for i in column.order if column.value[i] is None]
        return column.order

    @cached_property
    def indices(self) -> list[int]:
        """All rows of the choice, in its order."""
        text, entries = self.choice.text.casefold().strip(), self.board.entries
        if self.choice.baselines and not self.choice.mine and not text:
            return self._in_order
        return [
            index
            for index in self._in_order
            if (self.choice.baselines or not entries[index].baseline)
            and (not self.choice.mine or entries[index].team_id == self.team)
            and (text in entries[index].name.casefold() or text in self.board.team_of(entries[index]).casefold())
        ]

    @property
    def standing(self) -> Ranks:
        """The column whose ranks the first column shows: the metric sorted by, else the overall rank."""
        return self.by_slug.get(self.choice.sort, self.board.overall)

    @property
    def n_pages(self) -> int:
        return max(1, math.ceil(len(self.indices) / self.per_page))

    @property
    def page(self) -> int:
        return min(max(1, self.choice.page), self.n_pages)

    @property
    def on_page(self) -> list[int]:
        """The rows of the page."""
        start = (self.page - 1) * self.per_page
        return self.indices[start : start + self.per_page]

    @property
    def theirs(self) -> int | None:
        """The viewer's team where its page is like no other's: with rows of its own, or nothing but those."""
        own = self.choice.mine or any(self.board.entries[index].team_id == self.team for index in self.on_page)
        return self.team if own else None

    @property
    def lines(self) -> list[Line]:
        """The rows of the page, made anew: what draws them is kept, and they are large."""
        standing, start, on_page = self.standing, (self.page - 1) * self.per_page, self.on_page
        below = [*self.indices[start + 1 : start + len(on_page) + 1], None][: len(on_page)]
        pieces = [""] * len(self.indices)
        if self.choice.sort not in TEXT_SORTS:
            loose = [bool(standing.loose) and standing.loose[index] for index in self.indices]
            pieces = bracket_classes([standing.group[index] for index in self.indices], loose)
        return [self._line(index, next_, bracket) for index, next_, bracket in zip(on_page, below, pieces[start:], strict=False)]

    def _cells(self, index: int, next_: int | None) -> Iterator[Cell]:
        """The values of an entry in the metrics in sight; `next_` is the entry of the row below."""
        board, entry = self.board, self.board.entries[index]
        marks = board.people.marks if board.people is not None else {}
        # Of two that people judged, they say it themselves.
        asked = board.people is not None and next_ is not None and board.people.n[index] > 0 and board.people.n[next_] > 0
        for metric in self.visible_metrics:
            known, difference = self._meanings.get(metric.slug), None
            if known is not None and next_ is not None and not asked and metric.n[index] == metric.n[next_]:
                difference = meaning(metric, known, index, next_)
            yield Cell(
                metric,
                index,
                board.resampled,
                waits=metric.slug in (entry.waiting or ()),
                against=tuple(marks.get(metric.slug, {}).get(str(entry.id), ())),
                difference=difference,
            )

    @cached_property
    def _last_of_cut(self) -> int:
        """The last rank, where entries below the first ones are not tested; else 0. An entry whose interval reaches it may have any rank
        below."""
        return self.standing.n_ranked if "first" in self.standing.untested else 0

    def _line(self, index: int, next_: int | None, bracket: str) -> Line:
        board, standing, overall = self.board, self.standing, self.board.overall
        entry, people = board.entries[index], None
        folded: dict[int, list[str]] = {}
        step = 1 / max(1, self.last_folded - 1)
        for metric in self.folded:
            if (place_by := metric.rank[index]) is not None:
                folded.setdefault(place_by, []).append(metric.title)
        low, high = standing.rank_low[index], standing.rank_high[index]
        if self.people is not None:
            found, reason = board.people, None
            if found is not None and found.n[index] and self.people.value[index] is None:
                reason = (found.few or {}).get(str(entry.id), Reason(Key.MET_NONE_WITH_PLACE))
            people = Cell(self.people, index, board.resampled, reason)
        return Line(
            entry=entry,
            rank=standing.rank[index],
            low=low,
            high=high,
            is_open=high == self._last_of_cut,
            bracket=bracket,
            untested=untested(board, standing, index),
            by_rule=board.rule_value(index) if standing is overall else None,
            unranked=unranked(board, standing, index),
            value=overall.value[index],
            people=people,
            place=self.said.place(index) if self.said is not None else None,
            cells=tuple(self._cells(index, next_)),
            folded=tuple(FoldedRank(round(100 * (n - 1) * step, 1), n, tuple(titles)) for n, titles in sorted(folded.items())),
            mine=self.team is not None and entry.team_id == self.team,
            waits=entry.state == WAITING,
        )

    @cached_property
    def _meanings(self) -> dict[str, Difference]:
        """By slug, what differences of a metric mean to people, of those whose differences tell anything."""
        found = self.board.people.metrics if self.board.people is not None else []
        return {line.slug: line.difference for line in found if line.difference is not None and line.difference.tells}

    def table(self, caption: Caption) -> Table:
        """All rows of the choice as a table to write down, with all metrics and the columns of `stated_in_sight`."""
        board, overall, found = self.board, self.board.overall, self.board.people
        people = {}
        for line in found.metrics if found is not None else ():
            if found is None or line.reference_point:
                continue
            figures: dict[str, Figure] = {"rho": line.rho}
            if found.of != "means" and not (found.people < 2 and found.kind == "opinions"):
                figures = {"pairs" if found.people < 2 else "decided": line.decided} | figures
            people[line.slug] = People(figures, line.places, line.trained, is_few=found.reason is not None and found.of != "means")
        # A file draws no interval, so that what people prefer is written like a metric, and of how many answers it is.
        written = {"percent": False, "n": found.n} if found is not None else {}
        metrics = (m.model_copy(update=written) if m is self.people else m for m in self.columns)
        columns = tuple(Column(metric, people.get(metric.slug)) for metric in metrics)
        rows = []
        for index in self.indices:
            entry = board.entries[index]
            flags = [word for word in ("baseline", "verified", "late") if getattr(entry, word)]
            stated = tuple(getattr(entry, field.public) for field in self.stated_in_sight.values())
            flags += filter(None, [entry.state])
            rows.append(Row(index, overall.rank[index], entry.name, board.team_of(entry), overall.rank_range(index), tuple(flags), stated))
        titles = self.stated_titles()
        fields = tuple((field, titles[key]) for key, field in self.stated_in_sight.items())
        return Table(caption, columns, tuple(rows), board.resampled, fields)


def bracket_classes(groups: Sequence[int | None], loose: Sequence[bool]) -> list[str]:
    """Per row, by its bracket, the classes that draw its piece of the line around two or more, dashed where it is loose. A row without
    a bracket that stands between two of one lets the line through."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for at, group in enumerate(groups):
        if group is not None:
            first.setdefault(group, at)
            last[group] = at
    pieces = [""] * len(groups)
    for group, start in first.items():
        if start < last[group]:
            pieces[start : last[group] + 1] = ["g"] * (last[group] + 1 - start)
            pieces[start], pieces[last[group]] = "g g1", "g g3"
    return [f"{piece} loose" if piece and is_loose else piece for piece, is_loose in zip(pieces, loose, strict=True)]


def meaning(metric: MetricColumn, difference: Difference, first: int, second: int) -> At | None:
    """Meaning of the difference of two entries' values to people; None where none is known."""
    values = metric.value[first], metric.value[second]
    if values[0] is None or values[1] is None or values[0] == values[1]:
        return None
    return difference.at(values[0] - values[1])

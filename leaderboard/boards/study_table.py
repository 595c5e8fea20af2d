"""Tables of a study's page: its entries beside a ranking, its metrics, and where these contradict people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaderboard.boards.people import spread
from leaderboard.records.agreement import Line
from leaderboard.records.board import Board
from leaderboard.records.study import Summary
from leaderboard.records.study_table import Apart, EntryPage, EntryRow, MetricRow, StudyTable, TurnedRow
from leaderboard.stats.ranking import rank
from leaderboard.stats.records import Entry


def study_table(
    summary: Summary, lines: Sequence[Line], board: Board | None, pages: Mapping[str, EntryPage], printed: Mapping[str, float], noun: str
) -> StudyTable:
    """The tables of a study, whose metrics are `lines`, beside the ranking that the reader sees. `pages` are by the entries' labels,
    `printed` are figures of its paper by metric."""
    groups = sorted({group for group in summary.groups if group})
    both = list(zip(lines, summary.metrics, strict=True))
    metrics, turned = [], []
    for line, metric in both:
        by_group = [Line(line.title, metric.groups[name], None, key=line.key, noun=noun) for name in groups if name in metric.groups]
        metrics.append(MetricRow(line, metric, by_group, printed.get(metric.key)))
        for one in metric.contradictions:
            first, second = pages.get(one.first), pages.get(one.second)  # mere labels have no page
            turned.append(TurnedRow(one, line.title, (first.id, second.id) if first is not None and second is not None else None))
    against: dict[str, list[tuple[str, str]]] = {}
    for line, metric in both:
        for one in metric.contradictions if board is not None and metric.key in board.overall.metrics else ():
            against.setdefault(one.second, []).append((line.title, one.first))

    entries = _entry_rows(summary, board, pages, against)
    return StudyTable(summary, entries, metrics, sorted(turned, key=lambda row: row.one.p_holm or 0.0))


def _entry_rows(
    summary: Summary, board: Board | None, pages: Mapping[str, EntryPage], against: Mapping[str, Sequence[tuple[str, str]]]
) -> list[EntryRow]:
    """People's order; `against` are the metrics that put another entry first, with its label, by label."""
    # Below the smallest numbers there is no order of entries either.
    ordered = summary.ranked if summary.ordered else sorted(summary.ranked, key=lambda line: line.method)
    places = _places(ordered)
    entries: list[EntryRow] = []
    before: Apart | None = None
    for n, entry in enumerate([*ordered, *summary.unranked]):
        page = pages.get(entry.method)
        apart = Apart.FEW if n >= len(ordered) else None if entry.in_main_part else Apart.UNMET
        entries.append(
            EntryRow(
                line=entry,
                place=places.get(entry.method),
                page=page,
                known=summary.shows(entry),
                bar=spread(*entry.value, [summary.scale if summary.opinions else (0.0, 1.0)]),
                on_board=board.rank_of(page.id) if board is not None and page is not None else None,
                against=tuple(against.get(entry.method, ())),
                opens=apart if entries and apart is not before else None,
            )
        )
        before = apart
    return entries


def _places(lines: Sequence[Entry]) -> dict[str, int | None]:
    """Places by name; entries of parts that never met are put in no common order."""
    places: dict[str, int | None] = {}
    for part in {line.part for line in lines}:
        own = [line for line in lines if line.part == part]
        places |= dict(zip((line.method for line in own), rank([line.value[0] for line in own], True), strict=True))
    return places

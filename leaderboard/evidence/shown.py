"""A published set as pages show it: rows of metrics with their two figures, made of its record. PURE."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path

from leaderboard.evidence import catalogue, record_file
from leaderboard.evidence.catalogue import RECORDS
from leaderboard.evidence.manifest import published_names
from leaderboard.stats.evidence.by_name import POOLS, named_metrics
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.evidence.record import CriterionFigures, EvidenceRecord, MetricFigures
from leaderboard.stats.evidence.reproduction import PrintedLine, Statistic
from leaderboard.stats.records import KNOW_NOTHING
from leaderboard.wording import evidence as wording
from leaderboard.wording.figures import share
from leaderboard.wording.nouns import plural
from leaderboard.wording.reasons import sentence
from leaderboard.wording.statement import Statement

REFERENCE_POINTS = {"size": "Size only", "constant": "Always equal", "coin": "Random"}
# Which readers look for first.
WELL_KNOWN = (
    *("psnr", "psnr-y", "ssim", "ms-ssim", "lpips", "lpips-alex", "vif"),
    *("cloud-d1-psnr", "cloud-d2-psnr", "cloud-y-psnr", "mesh-metro"),
)
MAX_CHIEF, MAX_BRIEF = 8, 4
CHANCE = "50"  # of 100


@dataclass(frozen=True)
class Printed:
    """A printed number of a metric beside what the same data give."""

    line: PrintedLine

    @property
    def printed(self) -> str:
        return wording.decimal(self.line.printed, self.line.digits)

    @property
    def here(self) -> str:
        return "–" if self.line.here is None else wording.decimal(self.line.here, self.line.digits)


@dataclass(frozen=True)
class Cell:
    """One figure of a row: a share within items, or a correlation across them. `by_definition` stands for the value of a row that knows
    nothing, where a draw says nothing more."""

    figure: SetFigure | None
    is_across: bool = False
    by_definition: str = ""

    @property
    def shown(self) -> bool:
        return self.figure is not None and self.figure.shown and self.figure.value is not None

    @property
    def text(self) -> str:
        if self.by_definition or not self.shown or self.figure is None or self.figure.value is None:
            return self.by_definition or "–"
        return (wording.decimal if self.is_across else share)(self.figure.value)

    @property
    def interval(self) -> str:
        """The 95 % interval in brackets; empty where there is none."""
        return "" if self.by_definition or self.figure is None or not self.shown else wording.interval(self.figure, self.is_across)

    @property
    def why(self) -> str:
        """Sentence on why there is no value, or no interval; empty where there are both."""
        return "" if self.by_definition or self.figure is None else sentence(self.figure.reason)

    @property
    def places(self) -> str:
        """Places among the metrics that were compared; empty where it was not compared."""
        if self.figure is None or self.figure.places is None:
            return ""
        low, high = self.figure.places
        return f"{low}" if low == high else f"{low}–{high}"

    @property
    def is_compared(self) -> bool:
        """True where the metric is shown and was compared with others."""
        return self.shown and self.figure is not None and self.figure.may_be_best is not None

    @property
    def is_out(self) -> bool:
        """True where the metric is ruled out as the best."""
        return self.figure is not None and self.figure.may_be_best is False

    @property
    def ends(self) -> tuple[float, float, float] | None:
        """Value and interval in percent of the scale, for a drawing; None without an interval."""
        if not self.interval or self.figure is None or self.figure.value is None or self.figure.low is None or self.figure.high is None:
            return None
        return 100 * self.figure.value, 100 * self.figure.low, 100 * self.figure.high


@dataclass(frozen=True)
class Row:
    """A metric of a set, or a reference point."""

    key: str
    title: str
    figures: MetricFigures
    another: SetFigure | None
    printed: Printed | None = None

    @property
    def is_reference_point(self) -> bool:
        return self.figures.reference_point

    @property
    def knows_nothing(self) -> bool:
        return self.is_reference_point and self.key in KNOW_NOTHING

    @property
    def is_uncompared(self) -> bool:
        """True for a metric without values of some results: it was compared with no other, so it has no place."""
        return not self.is_reference_point and self.figures.missing > 0

    @property
    def resembles(self) -> str:
        """Key of the metric of this service that the published one links to; empty for none."""
        return published_names().get(self.figures.name, {}).get("resembles", "")

    @property
    def meaning(self) -> str:
        """Definition behind the published name."""
        return published_names().get(self.figures.name, {}).get("is", "")

    @cached_property
    def within(self) -> Cell:
        return Cell(wording.within_of(self.figures), by_definition=CHANCE if self.knows_nothing else "")

    @cached_property
    def between(self) -> Cell:
        return Cell(wording.between_of(self.figures), by_definition=CHANCE if self.knows_nothing else "")

    @cached_property
    def across(self) -> Cell:
        return Cell(self.figures.srocc, is_across=True, by_definition="–" if self.knows_nothing else "")

    @property
    def drawn(self) -> SetFigure | None:
        """The figure within items as the scale draws it: rows that know nothing stand at 50, not where a draw fell."""
        if self.within.figure is None or not self.knows_nothing:
            return self.within.figure
        return replace(self.within.figure, value=0.5, low=None, high=None)

    @property
    def across_style(self) -> tuple[str, str]:
        """Left end and width of the interval, and the place of the mark, in percent of a scale from 0 to 1; lower values stand at 0."""
        if self.across.text == "–" or self.across.figure is None or self.across.figure.value is None:
            return "", ""
        mark = f"left:{100 * max(0.0, self.across.figure.value):.0f}%"
        if self.across.ends is None:
            return "", mark
        low, high = (max(0.0, end) for end in self.across.ends[1:])
        return f"left:{low:.0f}%;width:{high - low:.0f}%", mark


@dataclass(frozen=True)
class Set:
    """One criterion of a set, ready to be drawn; the leading one where none is named."""

    record: EvidenceRecord
    name: str
    criterion: CriterionFigures

    @property
    def another(self) -> SetFigure | None:
        return self.criterion.within.another_rater if self.criterion.within is not None else None

    @cached_property
    def rows(self) -> list[Row]:
        """The metrics by their value across items, the highest first, else within; without values by name. Metrics without values for some
        results come last, because their figures cover fewer results."""

        def order(row: Row) -> tuple[bool, float, float, str]:
            figures = (row.across.figure, row.within.figure)
            across, within = (-math.inf if figure is None or figure.value is None else figure.value for figure in figures)
            return row.is_uncompared, -across, -within, row.title.lower()

        return sorted((row for row in self._all if not row.is_reference_point), key=order)

    @property
    def has_uncompared(self) -> bool:
        return any(row.is_uncompared for row in self.rows)

    @property
    def chief(self) -> list[Row]:
        """A few rows for little room, and size."""
        return self._few(MAX_CHIEF - len(self._size)) + self._size

    @property
    def brief(self) -> list[Row]:
        """Rows for less room still, and size."""
        return self._few(MAX_BRIEF) + self._size

    @property
    def n_chief(self) -> int:
        """Number of the metrics among `chief`."""
        return len(self.chief) - len(self._size)

    @property
    def n_brief(self) -> int:
        """Number of the metrics among `brief`."""
        return len(self.brief) - len(self._size)

    @property
    def _size(self) -> list[Row]:
        return [row for row in self.reference_points if row.key == "size"]

    def _few(self, room: int) -> list[Row]:
        """The metrics that readers look for first, those that may be the best, then others, as many as there is room for."""
        known = [row for row in self.rows if row.figures.name in WELL_KNOWN]
        best = [row for row in self.rows if row not in known and row.across.places and not row.across.is_out]
        others = [row for row in self.rows if row not in known and row not in best]
        kept = {row.key for row in [*known, *best, *others][:room]}
        return [row for row in self.rows if row.key in kept]

    @cached_property
    def reference_points(self) -> list[Row]:
        found = {row.key: row for row in self._all if row.is_reference_point}
        return [found.pop(key) for key in REFERENCE_POINTS if key in found] + list(found.values())

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the metrics by their keys."""
        return {row.key: row.title for row in self.rows}

    @cached_property
    def _all(self) -> list[Row]:
        names = published_names()
        rows = []
        for key, figures in self.criterion.metrics.items():
            title = REFERENCE_POINTS.get(key) if figures.reference_point else names.get(figures.name, {}).get("title")
            rows.append(Row(key, title or figures.column or key, figures, self.another, self._printed.get(figures.column)))
        return rows

    @cached_property
    def _printed(self) -> dict[str, Printed]:
        """The rank correlation over all rows that the source prints of each column, on the leading criterion."""
        found = self.record.reproduction
        if found is None or self.criterion is not self.record.leading:
            return {}
        return {one.metric: Printed(one) for one in found.lines if one.statistic is Statistic.SRCC and not one.where}

    @property
    def printed_with(self) -> str:
        """Column of people's score that the source's numbers are computed with; empty where it prints none."""
        return next((one.line.against for one in self._printed.values()), "")

    @property
    def printed_words(self) -> str:
        """Sentence on the score behind the printed numbers, beside all others' score."""
        return wording.printed_with(self.record, self.criterion, self._by_column) if self._printed else ""

    @property
    def reproduced(self) -> str:
        """Sentence on what the source prints, beside what the same data give; empty where nothing printed can be checked."""
        return wording.reproduced(self.record.reproduction, self._by_column)

    @property
    def _by_column(self) -> dict[str, str]:
        """Titles of the metrics by their columns in the source."""
        return {row.figures.column: row.title for row in self._all}

    @property
    def called(self) -> str:
        """Short name of the set in sentences, with the criterion where it has several."""
        return f"{self.record.called}, {self.title.lower()}" if len(self.record.criteria) > 1 else self.record.called

    @property
    def title(self) -> str:
        """Name of the criterion, as a heading."""
        return self.name.replace("_", " ").capitalize()

    @property
    def material(self) -> str:
        return wording.material(self.record.material)

    @property
    def about(self) -> str:
        """Sentence on who rated what, on which scale."""
        return f"{self.people[:1].upper()}{self.people[1:]}, {wording.on_scale(self.record)}: {self.counted}."

    @property
    def has_people(self) -> bool:
        """True where the figure within items is of people's own answers, not of their means."""
        return self.criterion.basis.persons or self.criterion.basis.pairs

    @property
    def has_between(self) -> bool:
        return self.criterion.ladders is not None

    @property
    def n_compared(self) -> int:
        return len(self.criterion.compared)

    @property
    def has_places(self) -> bool:
        return any(row.across.places for row in self.rows)

    @property
    def claim(self) -> list[str]:
        """Sentences on which metrics may be the best, within and across items."""
        item = self.record.words.item
        by_name = {row.figures.name: row.title for row in self.rows}
        looked_for = [by_name[name] for name in WELL_KNOWN if name in by_name]
        within = wording.best([(row.title, row.within.figure) for row in self.rows], f"Within one {item}", looked_for)
        across = wording.best([(row.title, row.across.figure) for row in self.rows], f"Across {self.items}", looked_for)
        apart = wording.not_compared([row.title for row in self.rows if row.is_uncompared]) if within or across else ""
        return [one for one in (within, across, apart) if one]

    @property
    def main_result(self) -> str:
        """Sentence that stands for the set in a list: the first on which metrics may be the best, or one on its only metric."""
        if self.claim or not self.rows:
            return self.claim[0] if self.claim else wording.NO_METRICS
        return wording.alone(self.record, self.rows[0].title, self.rows[0].figures) if len(self.rows) == 1 else ""

    @property
    def people(self) -> str:
        return wording.people(self.record, self.criterion)

    @property
    def counted(self) -> str:
        return wording.counted(self.record, self.criterion)

    @property
    def findings(self) -> list[str]:
        """Sentences on what is uncomfortable about the set's figures."""
        sentences = [
            wording.size(self.record, self.criterion),
            wording.ladders(self.record, self.criterion),
            wording.divided(self.criterion),
            wording.by_criterion(self.record, self.titles) if self.criterion is self.record.leading else "",
            wording.across_ceiling(self.record, self.criterion),
            wording.fewness(self.criterion, self.record),
        ]
        return [one for one in sentences if one]

    @property
    def another_rows(self) -> list[Row]:
        """Another rater as a row of the table; none where no two people decided one comparison."""
        found = self.another
        return [] if found is None else [Row("", "Another rater", MetricFigures(column="", concordance=found), found)]

    @property
    def entries(self) -> list[tuple[str, str, str]]:
        """Name, mean and interval, or the reason why there is none, of every entry whose mean is known, the best first."""
        found = []
        for one in self.criterion.entries:
            if one.mean.value is not None:
                low, high = one.mean.low, one.mean.high
                ends = sentence(one.mean.reason) if low is None or high is None else f"[{low:.2f}, {high:.2f}]"
                found.append((one.entry, f"{one.mean.value:.2f}", ends))
        return found

    @property
    def beside_leading(self) -> str:
        """Sentence on how far this criterion stands for the leading one; empty for that one itself."""
        return wording.beside_leading(self.record, self.name, self.criterion)

    @property
    def items(self) -> str:
        return plural(self.record.words.item)

    @property
    def families(self) -> str:
        return plural(self.record.words.family)

    @property
    def speaks_of(self) -> str:
        return wording.speaks_of(self.criterion, self.record)


def resembling(sets: Sequence[Set], key: str) -> list[tuple[Set, Row]]:
    """Rows of published metrics that a metric of this service resembles: of its name, computed by others."""
    return [(one, row) for one in sets for row in one.rows if row.resembles == key and (row.within.shown or row.across.shown)]


def resembling_words(found: Sequence[tuple[Set, Row]]) -> str:
    """Sentences on what published metrics of this name get in each set."""
    rows = [(one.record, one.criterion, row.figures) for one, row in found if row.within.shown and row.across.shown]
    return wording.as_published(found[0][1].title, rows) if rows else ""


@dataclass(frozen=True)
class Finding:
    """A familiar metric that may be the best within items and is ruled out across them: the claim, the figures of the sets that rule it out
    in sentences, its row in each set, and an `example`: a set that rules it out, its row there, and the row of a metric that may be the
    best there."""

    title: str
    claim: Statement
    sentence: str
    rows: tuple[tuple[Set, Row], ...]
    example: tuple[Set, Row, Row | None]


FAMILIAR = ("psnr-y", "psnr", "ssim")


def finding(sets: Sequence[Set]) -> Finding | None:
    """The first familiar metric whose two figures differ in one of these sets; None if no metric's do."""
    for name in FAMILIAR:
        rows = [(one, row) for one in sets for row in one.rows if row.figures.name == name and row.within.is_compared and row.across.shown]
        if not any(row.across.is_out for _, row in rows) or any(row.within.is_out for _, row in rows):
            continue
        out: list[tuple[Set, Row, Row | None]] = []
        for one, row in rows:
            if row.across.is_out:
                may = [other for other in one.rows if other.across.places and not other.across.is_out]
                surest = min(may, key=lambda other: other.across.figure.places[1], default=None)  # type: ignore[union-attr, index]
                out.append((one, row, surest))
        rivals = {one.record.name: f"{may.title}, {may.across.text} {may.across.interval}," for one, _, may in out if may is not None}
        title = rows[0][1].title
        told = wording.within_and_across(title, [(one.record, one.criterion, row.figures) for one, row, _ in out], rivals)
        claim = wording.ruled_out_across(title, [one.record.called for one, _, _ in out])
        return Finding(title, claim, told, tuple(rows), out[0])
    return None


@dataclass(frozen=True)
class Over:
    """A published metric over the sets of one material, pooled; `k` sets count."""

    material: str
    k: int
    within: Cell
    between: Cell
    across: Cell


@dataclass(frozen=True)
class InSeveral:
    """A published metric in several sets: its row in each, and its means over the sets of one material if there are enough."""

    title: str
    rows: tuple[tuple[Set, Row], ...]
    over: tuple[Over, ...]


def in_several(sets: Sequence[Set]) -> list[InSeveral]:
    """The metrics that two sets or more have under one name, by their title."""
    rows: dict[str, list[tuple[Set, Row]]] = {}
    for one in sets:
        for row in one.rows:
            if row.figures.name:
                rows.setdefault(row.figures.name, []).append((one, row))
    pooled: dict[tuple[str, str], dict[str, tuple[int, SetFigure]]] = {}  # by name and material, and by what is pooled
    for pool in POOLS:
        for found in named_metrics([each.record for each in sets], pool):
            if (mean := found.pooled) is not None:
                n = sum(one.figure.n for one in found.sets if one.counts)
                known = SetFigure(value=mean.value, low=mean.low, high=mean.high, n=n, places=found.places, may_be_best=found.may_be_best)
                pooled.setdefault((found.name, found.material), {})[pool] = mean.k, known
    made = []
    for name, here in rows.items():
        if len(here) < 2:
            continue
        over = []
        for material in dict.fromkeys(one.record.material for one, _ in here):
            if means := pooled.get((name, material), {}):
                cells = (Cell(means[pool][1] if pool in means else None, is_across=pool == "srocc") for pool in POOLS)
                over.append(Over(material, max(k for k, _ in means.values()), *cells))
        made.append(InSeveral(here[0][1].title, tuple(here), tuple(over)))
    return sorted(made, key=lambda one: one.title.lower())


def records(folder: Path) -> dict[str, EvidenceRecord]:
    """Records by name: shipped ones, and the operator's own below `folder`, which count where both have a name. Sets with raters stand
    first and sets without values of metrics last, then sets with more raters, then with more answers. A record that another version
    made is left out; `evidence list` says so."""
    found = dict(shipped())
    for name in catalogue.own(folder):
        found.pop(name, None)
        path = folder / name / catalogue.RECORD
        if path.is_file() and (record := _own(path, path.stat().st_mtime_ns)) is not None:
            found[name] = record
    return _in_order(found.values())


@lru_cache(maxsize=64)
def _own(path: Path, changed: int) -> EvidenceRecord | None:
    """The record in a file as it was `changed`; None where it cannot be read."""
    try:
        return record_file.of_toml(path.read_text(encoding="utf-8"), path.name)
    except record_file.RecordError:
        return None


@cache
def shipped() -> dict[str, EvidenceRecord]:
    """The records that ship, in the order of `records`."""
    return _in_order(record_file.of_toml(path.read_text(encoding="utf-8"), path.name) for path in RECORDS.glob("*.toml"))


def _in_order(found: Iterable[EvidenceRecord]) -> dict[str, EvidenceRecord]:
    def order(record: EvidenceRecord) -> tuple[bool, bool, int, int, str]:
        one = record.leading
        if one is None:
            return True, True, 0, 0, record.name
        has_metrics = any(not figures.reference_point for figures in one.metrics.values())
        return not one.basis.persons, not has_metrics, -(one.raters or 0), -one.answers, record.name

    return {record.name: record for record in sorted(found, key=order)}


def leading(record: EvidenceRecord) -> Set | None:
    """The criterion that the set names first."""
    name = next(iter(record.criteria), None)
    return None if name is None else Set(record, name, record.criteria[name])

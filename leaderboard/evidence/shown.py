"""A published set as pages show it: rows of metrics with their two figures, made of its record. PURE."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from leaderboard.evidence import record_file
from leaderboard.evidence.catalogue import RECORDS
from leaderboard.evidence.manifest import published_names
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.evidence.record import CriterionFigures, EvidenceRecord, MetricFigures
from leaderboard.stats.evidence.reproduction import PrintedLine
from leaderboard.wording import evidence as wording
from leaderboard.wording.reasons import sentence

REFERENCE_POINTS = {"size": "Size only", "constant": "Always equal", "coin": "Random"}
WELL_KNOWN = ("psnr", "psnr-y", "ssim", "ms-ssim", "lpips", "lpips-alex", "vif")  # which readers look for first
MAX_CHIEF = 8


@dataclass(frozen=True)
class Row:
    """A metric of a set, or a reference point."""

    key: str
    title: str
    figures: MetricFigures
    another: SetFigure | None

    @property
    def is_reference_point(self) -> bool:
        return self.figures.reference_point

    @property
    def resembles(self) -> str:
        """Key of the metric of this service that the published one links to; empty for none."""
        return published_names().get(self.figures.name, {}).get("resembles", "")

    @property
    def meaning(self) -> str:
        """Definition behind the published name."""
        return published_names().get(self.figures.name, {}).get("is", "")

    @cached_property
    def within(self) -> SetFigure | None:
        return wording.within_of(self.figures)

    @cached_property
    def between(self) -> SetFigure | None:
        return self.figures.decided_between if self.figures.decided is not None else self.figures.concordance_between

    @property
    def across(self) -> SetFigure | None:
        return self.figures.srocc

    @property
    def within_shown(self) -> bool:
        return self.within is not None and self.within.shown

    @property
    def across_shown(self) -> bool:
        return self.across is not None and self.across.shown

    @property
    def within_text(self) -> str:
        if not self.within_shown or self.within is None or self.within.value is None:
            return "–"
        return "50" if self.key in ("constant", "coin") else wording.percent(self.within.value)

    @property
    def within_interval(self) -> str:
        if self.within is None or not self.within_shown or self.key in ("constant", "coin"):
            return ""
        return wording.interval(self.within, False)

    @property
    def within_why(self) -> str:
        return self._why(self.within)

    @property
    def between_text(self) -> str:
        if self.between is None or not self.between.shown or self.between.value is None or self.key in ("constant", "coin"):
            return "–"
        return wording.percent(self.between.value)

    @property
    def between_interval(self) -> str:
        return wording.interval(self.between, False) if self.between is not None and self.between_text != "–" else ""

    @property
    def across_text(self) -> str:
        if not self.across_shown or self.across is None or self.across.value is None or self.key in ("constant", "coin"):
            return "–"
        return wording.decimal(self.across.value)

    @property
    def across_interval(self) -> str:
        return wording.interval(self.across, True) if self.across is not None and self.across_text != "–" else ""

    @property
    def across_why(self) -> str:
        return self._why(self.across)

    @property
    def places(self) -> str:
        """Places among the metrics that were compared across items; empty where it was not compared."""
        if self.across is None or self.across.places is None:
            return ""
        low, high = self.across.places
        return f"{low}" if low == high else f"{low}–{high}"

    @property
    def is_out(self) -> bool:
        """True where it is ruled out as the best across items."""
        return self.across is not None and self.across.may_be_best is False

    @property
    def drawn(self) -> Figure | None:
        """The figure within items as the scale draws it: chance and "always equal" stand at 50, not where a draw fell."""
        if self.within is None or self.key not in ("constant", "coin"):
            return self.within
        return replace(self.within, value=0.5, low=None, high=None)

    @property
    def across_style(self) -> tuple[str, str]:
        """Left end and width of the interval, and the place of the mark, in percent of a scale from 0 to 1; lower values stand at 0."""
        if self.across is None or self.across_text == "–" or self.across.value is None:
            return "", ""
        mark = f"left:{100 * max(0.0, self.across.value):.0f}%"
        if self.across.low is None or self.across.high is None:
            return "", mark
        low, high = (100 * max(0.0, end) for end in (self.across.low, self.across.high))
        return f"left:{low:.0f}%;width:{high - low:.0f}%", mark

    @property
    def divided_text(self) -> str:
        found = self.figures.decided_split
        return "–" if found is None else wording.percent(found.value)

    @staticmethod
    def _why(figure: SetFigure | None) -> str:
        return "" if figure is None else sentence(figure.reason)


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
        """The metrics by their value across items, the highest first, else within; without values by name."""

        def order(row: Row) -> tuple[float, float, str]:
            values = (figure.value if figure is not None and figure.value is not None else -math.inf for figure in (row.across, row.within))
            across, within = values
            return -across, -within, row.title.lower()

        return sorted((row for row in self._all if not row.is_reference_point), key=order)

    @property
    def chief(self) -> list[Row]:
        """A few rows for little room: those that readers look for first, then those that may be the best, and size."""
        known = [row for row in self.rows if row.figures.name in WELL_KNOWN]
        size = [row for row in self.reference_points if row.key == "size"]
        best = [row for row in self.rows if row not in known and row.across is not None and row.across.may_be_best]
        room = max(0, MAX_CHIEF - len(known) - len(size))
        kept = {row.key for row in (*known[:MAX_CHIEF], *best[:room])}
        return [row for row in self.rows if row.key in kept] + size

    @cached_property
    def reference_points(self) -> list[Row]:
        found = {row.key: row for row in self._all if row.is_reference_point}
        return [found.pop(key) for key in REFERENCE_POINTS if key in found] + list(found.values())

    @cached_property
    def _all(self) -> list[Row]:
        names = published_names()
        rows = []
        for key, figures in self.criterion.metrics.items():
            title = REFERENCE_POINTS.get(key) if figures.reference_point else names.get(figures.name, {}).get("title")
            rows.append(Row(key, title or figures.column or key, figures, self.another))
        return rows

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
        return any(row.places for row in self.rows)

    @property
    def claim(self) -> list[str]:
        """Sentences on which metrics may be the best, within and across items."""
        item = self.record.words.item
        within = wording.best([(row.title, row.within) for row in self.rows], f"Within one {item}")
        across = wording.best([(row.title, row.across) for row in self.rows], f"Across {wording.several(item)}")
        return [one for one in (within, across) if one]

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
            wording.size(self.criterion),
            wording.ladders(self.record, self.criterion),
            wording.divided(self.criterion),
            wording.fewness(self.criterion, self.record),
        ]
        return [one for one in sentences if one]

    @property
    def another_text(self) -> str:
        """Share of comparisons on which another rater agrees, with its interval."""
        return "" if self.another is None else wording.with_interval(self.another)

    @property
    def entries(self) -> list[tuple[str, str, str]]:
        """Name, mean and interval of every entry whose mean is known, the best first."""
        found = []
        for one in self.criterion.entries:
            if one.mean.value is not None:
                low, high = one.mean.low, one.mean.high
                ends = "" if low is None or high is None else f"[{low:.2f}, {high:.2f}]"
                found.append((one.entry, f"{one.mean.value:.2f}", ends))
        return found

    @property
    def beside_leading(self) -> str:
        """Sentence on how far this criterion stands for the leading one; empty for that one itself."""
        return wording.beside_leading(self.record, self.name, self.criterion)

    @property
    def items(self) -> str:
        return wording.several(self.record.words.item)

    @property
    def families(self) -> str:
        return wording.several(self.record.words.family)

    @property
    def speaks_of(self) -> str:
        return wording.speaks_of(self.criterion, self.record)


@cache
def shipped(folder: Path = RECORDS) -> dict[str, EvidenceRecord]:
    """The records that ship, by name: sets with raters first, those without values of metrics last."""
    records = [record_file.of_toml(path.read_text(encoding="utf-8"), path.name) for path in sorted(folder.glob("*.toml"))]

    def order(record: EvidenceRecord) -> tuple[bool, bool, str]:
        one = record.leading
        return one is None or not one.basis.persons, one is None or not one.metrics, record.name

    return {record.name: record for record in sorted(records, key=order)}


def leading(record: EvidenceRecord) -> Set | None:
    """The criterion that the set names first."""
    name = next(iter(record.criteria), None)
    return None if name is None else Set(record, name, record.criteria[name])

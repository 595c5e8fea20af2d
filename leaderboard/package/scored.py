"""Values of metrics on the items of two folders, as tables, charts and comparisons read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics.aggregation import Summary, unit_matrix
from evaluation.metrics.result import SampleScores
from leaderboard.package.frames import frame
from submissions.kinds import FAMILIES

if TYPE_CHECKING:
    from pandas import DataFrame

MISSING = ("missing_pred", "invalid_pred")


@dataclass(frozen=True)
class Column:
    """A metric of a result: `slug` is its name there, `parameters` are all of the metric's, defaults included. `level` says what one value
    is of: an item, a group or the whole set."""

    slug: str
    key: str
    title: str
    unit: str
    higher_is_better: bool
    parameters: Mapping[str, Any]
    fingerprint: str
    level: str = "item"


@dataclass(frozen=True, eq=False)
class Scored:
    """Values of all metrics on all items, with all that says how they came about. `files` has the sha256 of each file by side
    ("prediction", "reference"). `versions` has the versions of Python, the package and the computing libraries. `warnings` says what
    reading the files changed."""

    kind: str
    columns: tuple[Column, ...]
    items: tuple[str, ...]
    groups: tuple[str, ...]
    scores: Mapping[str, SampleScores]
    summaries: Mapping[str, Summary]
    unit_scale: float
    paths: Mapping[str, str]
    files: Mapping[str, Mapping[str, str]]
    versions: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        values = [self.summaries[column.slug].value for column in self.columns]
        texts = ["no value" if value is None else f"{value:.4g}" for value in values]
        told = ", ".join(f"{column.slug} {text}" for column, text in zip(self.columns, texts, strict=True))
        lost = f", {len(self.missing)} missing" if self.missing else ""
        return f"<{len(self.items)} {FAMILIES[self.kind].plural}{lost}: {told}>"

    @property
    def missing(self) -> tuple[str, ...]:
        """Items that have no prediction."""
        first = self.scores[self.columns[0].slug]
        return tuple(name for name, status in zip(first.item_ids, first.statuses, strict=True) if status in MISSING)

    def rows(self) -> list[dict[str, Any]]:
        """One row per item, in the order of the reference: item, group, and each metric's value."""
        values = zip(*(self.scores[column.slug].values for column in self.columns), strict=True)
        slugs = [column.slug for column in self.columns]
        return [
            {"item": item, "group": group, **dict(zip(slugs, row, strict=True))}
            for item, group, row in zip(self.items, self.groups, values, strict=True)
        ]

    def to_frame(self) -> DataFrame:
        """The rows as a frame."""
        return frame(self.rows())

    def summary(self) -> DataFrame:
        """The rows of `summary_rows` as a frame."""
        return frame(self.summary_rows())

    def summary_rows(self) -> list[dict[str, Any]]:
        """One row per metric: mean over groups with the ends of its 95 % interval (None below six groups), number of groups, missing
        items, direction and unit."""
        rows = []
        for column in self.columns:
            one = self.summaries[column.slug]
            rows.append(
                {
                    "metric": column.slug,
                    "title": column.title,
                    "value": one.value,
                    "low": one.ci_low,
                    "high": one.ci_high,
                    "n": one.n,
                    "missing": one.n_missing,
                    "higher_is_better": column.higher_is_better,
                    "unit": column.unit,
                }
            )
        return rows

    def units(self, slug: str) -> tuple[list[str], np.ndarray]:
        """(names, float64[n]) of the means within groups of a metric, by name; of the items where all share one group."""
        values = [np.nan if value is None else value for value in self.scores[slug].values]
        level = next(column.level for column in self.columns if column.slug == slug)
        one_group = len(set(self.groups)) == 1
        names = sorted(self.items) if one_group else sorted(set(self.groups))
        return names, unit_matrix([values], self.groups, level, self.items)[0]

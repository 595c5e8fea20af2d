"""Simulated judgements of entries on items that share groups: incomplete, with ties, and with metrics that know something or nothing."""

from __future__ import annotations

import numpy as np

from leaderboard.evidence.tables import Criterion, EvidenceTables, PublishedMetric, RatersAre
from tests.support.leaderboard.stats.plain_evidence import Mean, Metric, Score, means_of
from tests.support.leaderboard.stats.published_sets import means_of as published_means
from tests.support.leaderboard.stats.published_sets import scores_of, stimuli_of, tables_of


def scores(
    rng: np.random.Generator,
    groups: int = 6,
    per_group: int = 2,
    entries: int = 5,
    raters: int = 7,
    missing: float = 0.15,
    bias: float = 0.4,
) -> list[Score]:
    strict = rng.normal(0, bias, raters)
    rows: list[Score] = []
    for g in range(groups):
        level = rng.normal(0, 0.5)
        for i in range(per_group):
            for e in range(entries):
                if rng.random() < missing:
                    continue
                quality = level + 0.6 * e + rng.normal(0, 0.3)
                for r in range(raters):
                    if rng.random() >= missing:
                        score = float(np.clip(round(3 + quality - 1.2 + strict[r] + rng.normal(0, 0.6)), 1, 5))
                        rows.append((f"scene {g} path {i}", f"scene {g}", f"entry {e}", f"rater {r}", score))
    return rows


def metrics(rng: np.random.Generator, means: list[Mean], gaps: int = 4) -> dict[str, Metric]:
    """Three metrics: one sees much, one little and in coarse steps, and one lacks some values."""
    sharp = {(item, entry): mean + rng.normal(0, 0.5) for item, _, entry, mean, _ in means}
    coarse = {(item, entry): float(round(0.5 * mean + rng.normal(0, 1))) for item, _, entry, mean, _ in means}
    short = {(item, entry): mean + rng.normal(0, 0.8) for item, _, entry, mean, _ in means}
    for key in sorted(short)[:gaps]:
        del short[key]
    return {"sharp": sharp, "coarse": coarse, "short": short}


def tables(
    rows: list[Score], values: dict[str, Metric], raters_are: RatersAre = RatersAre.PERSONS, as_means: bool = False, name: str = "made"
) -> EvidenceTables:
    """The set in the form that figures are computed from. Entries 0 and 1 are of one family."""
    means = means_of(rows)
    place = {(item, entry): n for n, (item, _, entry, _, _) in enumerate(means)}
    raters = {name: n for n, name in enumerate(dict.fromkeys(row[3] for row in rows))}
    table = np.full((len(means), len(raters)), np.nan)
    for item, _, entry, rater, score in rows:
        table[place[item, entry], raters[rater]] = score
    criterion = Criterion("quality", scores=scores_of(table))
    if as_means:
        criterion = Criterion("quality", means=published_means(np.array([row[3] for row in means]), np.array([row[4] for row in means])))
    family = {row[2]: "ladder" if row[2] in ("entry 0", "entry 1") else row[2] for row in means}
    return tables_of(
        name,
        "pictures",
        stimuli_of([row[0] for row in means], [row[2] for row in means], [row[1] for row in means], family),
        [criterion],
        [(PublishedMetric(key, key, True), np.array([x.get(stimulus, np.nan) for stimulus in place])) for key, x in values.items()],
        (1, 5),
        RatersAre.NONE if as_means else raters_are,
    )

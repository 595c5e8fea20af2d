"""Charts of every kind, of simulated numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from leaderboard.charts import boards, judges, published_sets, ranking_variants, studies
from leaderboard.evidence import shown
from leaderboard.records.board import ColumnHead
from leaderboard.records.chart import Chart
from leaderboard.stats.subsample_stability import Curve
from leaderboard.stats.uncertainty import paired

HSS, OFFSET = (
    ColumnHead(slug=slug, key=slug, title=title, fingerprint="", params={}, is_primary=False, in_ranking=True, weight=1, **more)
    for slug, title, more in (
        ("hss", "HSS", {"higher_is_better": True, "unit": ""}),
        ("corner_offset", "Corner offset", {"higher_is_better": False, "unit": "m"}),
    )
)
NASTY = '<a href="javascript:x">%{x}</a> & <b>bold</b>'
NAMES = ["gable-net", "pc-to-edges <b>", "a name that is longer than any chart has room for", "ridge & valley"]
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def charts(seed: int, before: str = "") -> dict[str, list[Chart]]:
    """Charts of simulated numbers by the function that makes them, all that there are; `before` begins each name."""
    rng = np.random.default_rng(seed)
    n, scale = int(rng.integers(2, 9)), 10.0 ** rng.integers(-4, 5)
    items = [f"house_{k}" for k in range(n)]
    names = [before + NAMES[k % 4] + str(k) for k in range(n)]
    values = (rng.normal(size=(n, n)) * scale * rng.choice([0, 1, 1])).tolist()
    if rng.random() < 0.3:
        values[1] = values[0]
        values[0] = [values[0][0] * (1 + 1e-16 * k) for k in range(n)]
    series = [
        boards.Series(name, [None if rng.random() < 0.2 else value for value in row[:-1]] + row[-1:])
        for name, row in zip(names, values, strict=True)
    ]
    span = timedelta(seconds=float(rng.choice([0, 1, 1]) * 10 ** rng.uniform(0, 9)))
    points = [
        boards.Point(START + span * float(rng.random()), float(value), name) for name, value in zip(names, rng.normal(size=n), strict=True)
    ]
    ranks = [boards.RankRow(name, k + 1, (max(1, k), k + 3)) if k % 3 else boards.RankRow(name, k + 1) for k, name in enumerate(names)]
    orders = [[int(rank) + 1 for rank in rng.permutation(n)] for _ in range(3)]
    board = [[orders[way][k] if way == 0 or rng.random() < 0.8 else None for way in range(3)] for k in range(n)]
    agreement = rng.uniform(size=(n, n)).tolist()
    agreement[0][1] = None
    sizes = [*np.unique(rng.integers(1, int(rng.choice([20, 5000])), size=6)).tolist(), 6000]
    low, high = np.sort(rng.uniform(-1, 1, size=(2, len(sizes))), axis=0)
    curve = Curve(resource="raters", sizes=sizes, mean=((low + high) / 2).tolist(), low=low.tolist(), high=high.tolist(), enough=None)
    entries = [
        studies.Point(name, float(rng.normal() * scale), mos, max(1.0, mos - 0.4), min(5.0, mos + 0.3) if k else None, k == 1)
        for k, (name, mos) in enumerate(zip(names, rng.uniform(1, 5, size=n).tolist(), strict=True))
    ]
    elo = {name: [None if rng.random() < 0.1 else float(value) for value in rng.normal(1000, 100, size=5)] for name in names}
    published = shown.leading(shown.shipped()["nerf-qa"])
    lower, rival = (replace(row, title=before + NASTY) for row in published.rows[:2])
    return {
        "published_sets.within_and_across": [published_sets.within_and_across(published, lower, rival if k else None) for k in range(2)],
        "boards.distributions": [boards.distributions(HSS, series, items)],
        "boards.progress": [boards.progress(HSS, points, [("hull", 0.5)])],
        "boards.differences": [
            boards.differences(HSS, series[0], series[1], items),
            boards.differences(
                HSS, *(boards.Series(name, row) for name, row in zip(names, values[:2], strict=False)), items, paired(*values[:2], True)
            ),
        ],
        "boards.rank_intervals": [boards.rank_intervals("HSS", ranks)],
        "boards.cost": [
            boards.cost(HSS, [boards.CostPoint(one.label, float(10 ** rng.uniform(-1, 10)), one.known) for one in points], "Parameters", 1)
        ],
        "ranking_variants.bumps": [ranking_variants.bumps(["The board", "Median rank", "Borda count"], names, board, n)],
        "studies.agreement_map": [studies.agreement_map(names, agreement, np.ones((n, n)).tolist(), list(rng.permutation(n)), [1], "all")],
        "studies.adequacy": [studies.adequacy(curve)],
        "studies.scatter": [studies.scatter("PSNR", True, entries), studies.scatter("PSNR", True, entries[:1])],
        "judges.radar": [
            judges.radar(["Overall", "3D plausibility", "Edges", "Colour", "Detail"][:m], {k: v[:m] for k, v in elo.items()})
            for m in (2, 5)
        ],
    }


def every_chart(seed: int, before: str = "") -> list[Chart]:
    """The same in one list."""
    return [chart for several in charts(seed, before).values() for chart in several]

"""Order of entries over all items: the worked example, complete tables, chains of common items, and how certain a pair is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.evidence.tables import Criterion, Pairs, PublishedMetric, RatersAre
from leaderboard.stats.evidence.analysis import record_of
from leaderboard.stats.evidence.entry_order import additive, entry_means, order
from leaderboard.stats.evidence.judged import Basis, Judged, judged
from leaderboard.stats.states import Counted, Key, Reason, State
from tests.support.examples import examples
from tests.support.leaderboard.stats.plain_evidence import effects
from tests.support.leaderboard.stats.published_sets import FACTS, means_of, stimuli_of, tables_of

ITEM, ENTRY = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), np.array([0, 1, 2, 1, 2, 3, 0, 2, 3])
VALUE = np.array([3.0, 4, 2, 5, 1, 6, 2, 3, 7])


def set_of(rows: list[tuple[str, str, float]], groups: list[str] | None = None) -> Judged:
    stimuli = stimuli_of([row[0] for row in rows], [row[1] for row in rows], groups)
    criterion = Criterion("quality", means=means_of(np.array([row[2] for row in rows])))
    tables = tables_of("made", "pictures", stimuli, [criterion], [], None)
    return judged(tables, tables.criteria[0], Basis.MEANS)


def test_the_worked_example():
    fit = additive(ITEM, ENTRY, VALUE[:, None])
    assert fit.effects[:, 0] == pytest.approx([-1.575, 0.825, -1.875, 2.625], abs=1e-9)
    assert fit.efficiency == pytest.approx(0.8333333, abs=1e-7) and fit.connected


def test_a_complete_table_has_plain_means_and_full_efficiency():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(5, 4))
    item, entry = (part.ravel() for part in np.meshgrid(np.arange(5), np.arange(4), indexing="ij"))
    fit = additive(item, entry, y.reshape(-1, 1))
    assert fit.effects[:, 0] == pytest.approx(y.mean(axis=0) - y.mean()) and fit.efficiency == pytest.approx(1)


@given(st.integers(0, 10_000))
@examples(60)
def test_the_fit_is_a_regression_on_items_and_entries(seed):
    rng = np.random.default_rng(seed)
    rows = [(f"i{i}", f"e{e}", float(rng.normal())) for i in range(6) for e in range(5) if e == 0 or rng.random() < 0.6]
    entries = sorted({row[1] for row in rows})
    fit = additive(
        np.array([int(row[0][1:]) for row in rows]), np.array([int(row[1][1:]) for row in rows]), np.array([[row[2]] for row in rows])
    )
    if len(entries) > 1:
        expected, least = effects(rows)
        assert fit.effects[:, 0] == pytest.approx([expected[name] for name in entries]) and fit.efficiency == pytest.approx(least)


def test_entries_that_no_chain_of_items_links_have_no_common_order():
    rows = [(item, entry, float(n)) for n, (item, entry) in enumerate([("s", "a"), ("s", "b"), ("t", "b"), ("u", "c"), ("u", "d")])]
    found = order(set_of(rows), np.arange(5.0))
    for figure in (found.rho, found.tau, found.r):
        assert figure.value is None and figure.state == State.UNCONNECTED and figure.reason.key is Key.NEVER_MET
    lists = entry_means(set_of(rows))
    assert [(row.block, row.entry) for row in lists] == [(1, "b"), (1, "a"), (2, "c"), (2, "d")]


def test_blocks_that_share_little_have_a_value_for_exports_and_no_interval():
    """Two blocks of four items with six methods each, of which one is in both."""
    rng = np.random.default_rng(1)
    rows = [(f"{b}{i}", f"{b}{e}" if e else "shared", float(rng.normal() + e)) for b in "pq" for i in range(4) for e in range(6)]
    of = set_of(rows)
    found = order(of, of.y + 0.1 * rng.normal(size=len(of)))
    assert found.efficiency == pytest.approx(0.5) and found.rho.n == 11 and found.rho.low is None
    assert found.rho.state == State.TOO_FEW and found.rho.value is not None and not found.rho.shown
    assert found.rho.reason.key is Key.LITTLE_IN_COMMON and found.rho.reason.value == pytest.approx(0.5)


def test_eight_entries_have_an_interval_and_seven_have_none():
    rng = np.random.default_rng(2)
    for n in (7, 8):
        of = set_of([(f"i{i}", f"e{e}", float(rng.normal())) for i in range(6) for e in range(n)])
        found = order(of, of.y + rng.normal(size=len(of)))
        assert found.rho.shown and (found.rho.low is not None) == (n == 8)
    assert order(of, np.full(len(of), np.nan)).rho.state == State.NOT_APPLICABLE
    assert order(of, np.ones(len(of))).rho.state == State.ALIKE


def test_an_entry_on_few_groups_has_a_mean_without_an_interval_and_one_on_one_item_none():
    rng = np.random.default_rng(3)
    rows = [(f"i{i}", entry, float(rng.normal())) for i in range(8) for entry in ("often", "always") if entry == "always" or i < 7]
    rows += [(f"i{i}", "seldom", float(rng.normal())) for i in range(3)] + [("i0", "once", 1.0)]
    found = {row.entry: row for row in entry_means(set_of(rows))}
    assert found["always"].mean.low < found["always"].mean.value < found["always"].mean.high
    assert found["often"].mean.low is not None and found["seldom"].mean.value is not None and found["seldom"].mean.low is None
    assert found["seldom"].mean.reason == Reason(Key.FEW_FOR_INTERVAL, Counted.GROUPS, 5, 3)
    assert found["once"].mean.value is None, "its mean is the value of a single stimulus"
    assert found["once"].mean.reason == Reason(Key.FEW, Counted.ITEMS, 2, 1)


def test_items_of_one_group_are_left_out_together():
    rng = np.random.default_rng(4)
    level = np.repeat(rng.normal(0, 2, 6), 4)
    rows = [(f"i{i}", entry, float(level[i] + (entry == "a") + 0.1 * rng.normal())) for i in range(24) for entry in "ab"]
    alone, grouped = entry_means(set_of(rows))[0].mean, entry_means(set_of(rows, [f"g{int(row[0][1:]) // 4}" for row in rows]))[0].mean
    assert alone.value == pytest.approx(grouped.value) and grouped.df == 5 and alone.df == 23
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)


def test_answers_on_pairs_order_entries_by_how_often_people_would_pick_them():
    rng = np.random.default_rng(5)
    items, entries, raters = 8, 9, 6
    worth = np.linspace(-1, 1, entries)
    stimuli = stimuli_of([f"i{i}" for i in range(items) for _ in range(entries)], [f"e{e}" for e in range(entries)] * items)
    rows = [(i, a, b, r) for i in range(items) for a in range(entries) for b in range(a) for r in range(raters)]
    choice = [-1 if rng.random() < 1 / (1 + np.exp(worth[b] - worth[a])) else 1 for _, a, b, _ in rows]
    left, right = np.array([i * entries + a for i, a, _, _ in rows]), np.array([i * entries + b for i, _, b, _ in rows])
    rater, none = np.array([r for *_, r in rows]), np.zeros(raters, dtype=np.int64)

    pairs = Pairs(left, right, np.array(choice), rater, ("",), none, np.arange(raters) + 1)
    good = np.tile(worth[[0, 2, 1, 3, 4, 5, 6, 8, 7]], items)
    metrics = [(PublishedMetric("m", "m", True), good), (PublishedMetric("bad", "bad", True), -good)]
    tables = tables_of("pairs", "meshes", stimuli, [Criterion("quality", pairs=pairs)], metrics, None, RatersAre.COLUMNS)
    found = record_of(tables, FACTS).criteria["quality"]
    line = found.metrics["m"]
    assert found.basis == Basis.PAIRS and found.raters == raters and found.answers == len(rows) and found.across is None
    assert 0.9 < line.rho.value < 1 and line.rho.low is not None and found.metrics["bad"].rho.value == pytest.approx(-line.rho.value)
    assert line.srocc is None and line.concordance is None and line.decided.low > 0.5 and line.decided.places == (1, 1)
    assert found.within.another_rater.value < line.decided.value

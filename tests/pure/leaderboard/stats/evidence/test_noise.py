"""Bounds that the noise in people's means sets, against means of endless panels that are known because the data are made up."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy

from leaderboard.evidence.tables import Criterion, EvidenceTables, RatersAre
from leaderboard.stats.evidence.judged import Basis, judged
from leaderboard.stats.evidence.noise import AcrossCeiling, From, ceiling
from tests.support.leaderboard.stats.published_sets import means_of, scores_of, stimuli_of, tables_of


def panel(rng: np.random.Generator, raters: int, stimuli: int, missing: float = 0.0) -> tuple[EvidenceTables, np.ndarray]:
    """Scores of a panel, and what an endless panel's means would be."""
    truth = rng.normal(0, 1, stimuli)
    table = truth[:, None] + rng.normal(0, 0.4, raters) + rng.normal(0, 0.8, (stimuli, raters))
    table[rng.random(table.shape) < missing] = np.nan
    of = stimuli_of([f"i{n // 4:02}" for n in range(stimuli)], [f"e{n % 4}" for n in range(stimuli)])
    return tables_of("made", "pictures", of, [Criterion("quality", scores=scores_of(table))], [], None, RatersAre.PERSONS), truth


def bounds(tables: EvidenceTables, basis: Basis) -> AcrossCeiling:
    found = ceiling(judged(tables, tables.criteria[0], basis))
    assert found is not None
    return found


@pytest.mark.parametrize(("raters", "missing"), [(8, 0.0), (16, 0.3), (40, 0.5)])
def test_the_bound_is_how_a_perfect_metric_would_do(raters, missing):
    true, by_raters, by_scores, one = [], [], [], []
    for seed in range(4):
        tables, truth = panel(np.random.default_rng(seed), raters, 80, missing)
        of = judged(tables, tables.criteria[0], Basis.PERSONS)
        order = [int(of.items[i][1:]) * 4 + int(of.entries[e][1:]) for i, e in zip(of.item, of.entry, strict=True)]
        true.append((scipy.stats.spearmanr(of.y, truth[order]).statistic, np.corrcoef(of.y, truth[order])[0, 1]))
        found, anonymous = bounds(tables, Basis.PERSONS), bounds(tables, Basis.SCORES)
        assert (found.source, anonymous.source) == (From.HALVES_OF_RATERS, From.HALVES_OF_SCORES) and anonymous.one is None
        by_raters.append((found.srocc, found.plcc)), by_scores.append((anonymous.srocc, anonymous.plcc)), one.append(found.one)
    assert np.mean(by_raters, axis=0) == pytest.approx(np.mean(true, axis=0), abs=0.02)
    assert np.mean(by_scores, axis=0) == pytest.approx(np.mean(true, axis=0), abs=0.025)
    assert np.mean(one) < np.mean(true) - 0.1, "one person is further from the others than their mean from the truth"


def test_one_person_with_the_rest_by_hand():
    tables, _ = panel(np.random.default_rng(1), 5, 16)
    table = tables.criteria[0].scores.by_rater(16)
    expected = [scipy.stats.spearmanr(table[r], np.delete(table, r, axis=0).mean(axis=0)).statistic for r in range(5)]
    found = bounds(tables, Basis.PERSONS)
    assert found.one == pytest.approx(np.mean(expected)) and found.persons == 5
    few, _ = panel(np.random.default_rng(1), 5, 8)  # fewer than ten stimuli each
    assert bounds(few, Basis.PERSONS).one is None and bounds(few, Basis.PERSONS).persons == 0


def test_means_with_errors_have_one_bound_for_both_and_means_alone_none():
    mean, se = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.2, 0.3, 0.2, np.nan])
    of = stimuli_of(list("aabb"), list("xyxy"))
    tables = tables_of("made", "pictures", of, [Criterion("quality", means=means_of(mean, se))], [], None)
    found = bounds(tables, Basis.ERRORS)
    expected = math.sqrt(1 - (0.04 + 0.09 + 0.04) / 3 / 1.0)  # of the three whose error is known; their variance is 1
    assert found == AcrossCeiling(pytest.approx(expected), pytest.approx(expected), From.ERRORS)
    alone = replace(tables, criteria=(Criterion("quality", means=means_of(mean)),))
    assert ceiling(judged(alone, alone.criteria[0], Basis.MEANS)) is None

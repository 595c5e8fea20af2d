"""The product's readers against sets that were read by hand: the same answers, means, errors and values on the same stimuli."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leaderboard.evidence import catalogue, reading
from leaderboard.evidence.tables import Criterion, EvidenceTables
from submissions.formats.spreadsheet import read_sheet
from tests.support.leaderboard.evidence.published import FOLDERS
from tests.support.leaderboard.stats.published_sets import SETS


def order_of(tables: EvidenceTables) -> np.ndarray:
    """The stimuli by the group of their item, then by their means, then by the first metric's value: names are spelt in two ways."""
    first = tables.criteria[0]
    y = mean_of(first, len(tables.stimuli))
    x = tables.values[:, 0] if tables.values.shape[1] else np.zeros(len(y))
    groups = np.array(tables.stimuli.groups)[tables.stimuli.group]
    return np.lexsort((x.round(9), y.round(9), groups))


def mean_of(criterion: Criterion, n: int) -> np.ndarray:
    if criterion.means is not None:
        return criterion.means.mean
    assert criterion.scores is not None
    with np.errstate(invalid="ignore"):
        return np.nanmean(criterion.scores.by_rater(n), axis=0)


@pytest.fixture
def both(data_folder):
    """`both(name)`: a set by the product's reader and by hand, without references."""
    root = data_folder / "evidence"
    if not root.is_dir():
        pytest.skip("PLUMBLINE_DATA has no folder evidence with the published sets")

    def read(name: str) -> tuple[EvidenceTables, EvidenceTables]:
        ours = reading.read(catalogue.find(name, Path("/nowhere")), root / FOLDERS[name], read_sheet).tables
        return ours.entries_only(), SETS[name](root).entries_only()

    return read


@pytest.mark.parametrize("name", [name for name in FOLDERS if name != "geo-metric"])
def test_a_set_is_what_a_reader_by_hand_makes_of_it(both, name):
    ours, theirs = both(name)
    assert len(ours.stimuli) == len(theirs.stimuli) and len(ours.stimuli.groups) == len(theirs.stimuli.groups)
    assert len(ours.stimuli.families) == len(theirs.stimuli.families) and len(ours.stimuli.items) == len(theirs.stimuli.items)
    mine, other = order_of(ours), order_of(theirs)
    columns = {one.column: (at, one.higher_is_better) for at, one in enumerate(theirs.metrics)}
    for at, one in enumerate(ours.metrics):
        if one.column in columns:
            place, higher = columns[one.column]
            assert higher == one.higher_is_better, one.column
            assert np.array_equal(ours.values[mine, at], theirs.values[other, place], equal_nan=True), one.column
    assert {one.column for one in ours.metrics} & columns.keys() or not ours.metrics
    n = len(ours.stimuli)
    for one in ours.criteria:
        same = next(criterion for criterion in theirs.criteria if criterion.name.lower() == one.name.lower())
        assert np.allclose(np.sort(mean_of(one, n)), np.sort(mean_of(same, n)), rtol=0, atol=1e-12)
        if one.scores is not None and same.scores is not None:
            assert (len(one.scores), one.scores.n_raters) == (len(same.scores), same.scores.n_raters)
            assert np.array_equal(np.bincount(one.scores.session_of), np.bincount(same.scores.session_of))
        if one.means is not None and same.means is not None:
            assert np.allclose(one.means.se[mine], same.means.se[other], rtol=1e-7, equal_nan=True)


def test_the_settings_of_faces_are_criteria_on_the_same_faces_here(both):
    """By hand each setting has items of its own; the values of metrics are the same in all four."""
    ours, theirs = both("geo-metric")
    of_source = {"seen_from_close_by": "close_normal", "seen_from_afar": "far_normal"}
    of_source |= {f"{name}_turned_over": source.replace("normal", "flipped") for name, source in of_source.items()}
    for one in ours.criteria:
        same = next(criterion for criterion in theirs.criteria if criterion.name == of_source[one.name])
        assert one.means is not None and same.means is not None
        known = np.isfinite(same.means.mean)
        assert known.sum() == 2400 and np.array_equal(np.sort(one.means.mean), np.sort(same.means.mean[known]))
    for at, one in enumerate(ours.metrics):
        place = [metric.column for metric in theirs.metrics].index(one.column)
        assert np.array_equal(np.sort(np.tile(ours.values[:, at], 4)), np.sort(theirs.values[:, place]), equal_nan=True), one.column

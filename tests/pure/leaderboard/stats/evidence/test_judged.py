"""One criterion as arrays: names in order, scores turned, weights, groups as clusters, and answers of scores, means and pairs."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.evidence.tables import Criterion, Label, Pairs, PublishedMetric, RatersAre
from leaderboard.stats.answers import pairs_within
from leaderboard.stats.evidence.judged import Basis, Judged, judged, reference_points
from tests.support.leaderboard.stats.published_sets import means_of, scores_of, stimuli_of, tables_of

X = (PublishedMetric("x", "x", False), np.arange(6.0))


def two_items(scores: np.ndarray) -> Judged:
    """Entries c, a, b on items t and s, which share a group; scores float64[6, raters]."""
    tables = tables_of(
        "small",
        "pictures",
        stimuli_of(list("tttsss"), list("cabcab"), ["g"] * 6),
        [Criterion("quality", scores=scores_of(np.asarray(scores, dtype=float)))],
        [X],
        (1, 5),
        RatersAre.PERSONS,
    )
    return judged(tables, tables.criteria[0], Basis.PERSONS)


def test_items_and_entries_stand_in_the_order_of_their_names_and_higher_is_better():
    found = two_items([[3, 4], [1, 2], [2, 2], [5, 5], [3, 3], [4, np.nan]])
    assert found.items == ("s", "t") and found.entries == ("a", "b", "c")
    assert found.y.tolist() == [3, 4, 5, 1.5, 2, 3.5] and found.x[:, 0].tolist() == [-4, -5, -3, -1, -2, 0]
    assert found.se[[0, 2, 3, 4]].tolist() == [0, 0, 0.5, 0] and np.isnan(found.se[1]), "one score has no error"
    assert found.table(found.y).tolist() == [[3, 4, 5], [1.5, 2, 3.5]] and found.group.tolist() == [0] * 6


def test_scores_are_answers_of_their_rater_and_each_pair_of_entries_weighs_one():
    answers = two_items([[3, 4], [1, 2], [2, 2], [5, 5], [3, 3], [4, np.nan]]).of_people
    said = {
        (int(r), "st"[s], "abc"[a], "abc"[b]): int(v)
        for r, s, a, b, v in zip(answers.rater, answers.sample, answers.a, answers.b, answers.verdict, strict=True)
    }
    assert len(said) == 10 and said[0, "t", "a", "c"] == 1 and said[1, "t", "a", "b"] == 0 and said[0, "s", "b", "c"] == 1
    assert (1, "s", "a", "b") not in said, "the second rater did not score b on s"
    for a, b, n in ((0, 1, 3), (0, 2, 4), (1, 2, 3)):
        own = (answers.a == a) & (answers.b == b)
        assert answers.weight[own].tolist() == pytest.approx([1 / n] * n)
    assert answers.unit.tolist() == [0] * 10, "both items are of one group, which is one cluster"


def test_means_that_are_equal_but_for_rounding_name_no_winner():
    tables = tables_of(
        "means",
        "pictures",
        stimuli_of(list("ssss"), list("abcd")),
        [Criterion("quality", means=means_of(np.array([0.3, 0.1 + 0.2, 0.3 + 5e-10, 0.4]), np.array([0.02, 0.02, np.nan, 0.03])))],
        [(X[0], np.arange(4.0))],
        None,
    )
    found = judged(tables, tables.criteria[0], Basis.ERRORS)
    assert found.of_means.verdict.tolist() == [0, 0, 1, 0, 1, 1]
    clear = found.of_clear_means  # .1 apart, against 1.96 · .036
    assert [(int(a), int(b)) for a, b in zip(clear.a, clear.b, strict=True)] == [(0, 3), (1, 3)], (
        "an error that is not known clears nothing"
    )


def test_answers_on_pairs_are_turned_to_the_order_of_names_and_the_first_of_a_rater_counts():
    stimuli = stimuli_of(list("ssst"), list("baca"))
    none = np.zeros(2, dtype=np.int64)
    pairs = Pairs(np.array([0, 1, 1, 0]), np.array([1, 0, 2, 1]), np.array([-1, -1, 0, 1]), np.array([0, 0, 0, 1]), ("",), none, none + 1)
    tables = tables_of("pairs", "pictures", stimuli, [Criterion("quality", pairs=pairs)], [(X[0], np.arange(4.0))], None, RatersAre.COLUMNS)
    answers = judged(tables, tables.criteria[0], Basis.PAIRS).asked
    assert answers.entries == ("a", "b", "c") and answers.samples == ("s",), "nobody was asked about t"
    said = [*zip(answers.rater.tolist(), answers.a.tolist(), answers.b.tolist(), answers.verdict.tolist(), strict=True)]
    assert said == [(0, 0, 1, 1), (0, 0, 2, 0), (1, 0, 1, -1)], "b was preferred to a; the same asked again does not count"
    assert answers.weight.tolist() == [0.5, 1, 0.5]


def test_labelled_entries_are_in_no_figure():
    labels = {"c": Label.REFERENCE}
    tables = tables_of(
        "labels",
        "pictures",
        stimuli_of(list("sss"), list("abc"), labels=labels),
        [Criterion("quality", means=means_of(np.arange(3.0)))],
        [(X[0], np.arange(3.0))],
        None,
    )
    entries = tables.entries_only()
    assert judged(entries, entries.criteria[0], Basis.MEANS).entries == ("a", "b")


def test_the_random_reference_point_depends_on_the_sets_name_and_on_no_order():
    one = two_items(np.ones((6, 2)))
    points = reference_points(one, "small")
    assert set(points) == {"constant", "coin"} and not points["constant"].any() and set(points["coin"]) <= {0.0, 1.0}
    seeded = np.random.Generator(np.random.PCG64(0x81DB8EBB)).integers(0, 2, (2, 3))  # so begins the SHA-256 of "small"
    assert one.table(points["coin"]).tolist() == seeded.tolist()
    assert any(not np.array_equal(reference_points(one, f"set {n}")["coin"], points["coin"]) for n in range(5))


def test_positions_of_pairs_within_a_group():
    first, second = pairs_within(np.array([7, 3, 7, 7, 5]))
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 2), (0, 3), (2, 3)]
    assert [len(part) for part in pairs_within(np.zeros(0, dtype=np.int64))] == [0, 0]

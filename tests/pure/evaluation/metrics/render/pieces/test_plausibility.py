"""Steps 4 to 6 on the worked example of the definition, and against a plain implementation."""

import numpy as np
import pytest

from evaluation.metrics.render.pieces.plausibility import Clean, Finder, overall

A, B = [(0, 0), (4, 0), (0, 4), (4, 4)], [(0, 1), (4, 0.5), (1, 4), (4, 6)]


@pytest.fixture
def example():
    return Clean.of(np.array([A, B], dtype=np.float32))


def plausible(clean, cells):
    return clean.plausible(np.array(cells, dtype=np.float32), clean.known())


def test_what_clean_views_know_of_each_other(example):
    known = example.known()
    assert known.far == pytest.approx([1, 0.5, 1, 2] * 2) and known.tolerance == 0.25
    assert known.ratios == pytest.approx(np.array([[0.8, 0.66667, 0.8, 0.88889]] * 2), abs=1e-5)
    assert known.each[0].share == pytest.approx([0.25, 0.75, 0.25, 0]) and known.each[0].score() == 0.3125
    assert known.band() == (0.3125, 0.3125, 0.3125) and known.rare == np.quantile([0, 0.25, 0.25, 0.75] * 2, 0.05)


def test_a_view_of_which_a_piece_is_used_twice(example):
    found = plausible(example, [(0, 0.8), (0, 0.7), (3.5, 1), (4, 4.5)])
    assert found.match.tolist() == [4, 4, 5, 3]
    assert found.ratio == pytest.approx([0.16, 0.24, 0.9428090, 0.2222222], abs=1e-6)
    assert found.share.tolist() == [1, 1, 0, 1] and found.u.tolist() == [0.5, 0.5, 0, 1]
    assert (found.score(), found.share.mean()) == (0.5, 0.75) and found.pieces == pytest.approx(0.7071068, abs=1e-6)


def test_rooted_the_score_is_the_square_of_the_mean_root(example):
    found = plausible(example, [(0, 0.8), (0, 0.7), (3.5, 1), (4, 4.5)])
    assert found.score(rooted=True) == pytest.approx(((2 * 0.5**0.5 + 1) / 4) ** 2) and overall(found.u, True) == found.score(rooted=True)
    assert example.known().band(rooted=True) == pytest.approx([(2 * 0.25**0.5 + 0.75**0.5) ** 2 / 16] * 3)


def test_emptiness_does_not_win_and_a_copy_does(example):
    flat = plausible(example, [(0, 1.5)] * 4)
    assert flat.ratio == pytest.approx([0.4] * 4) and flat.share.mean() == 1 and flat.score() == 0.25 and flat.pieces == 0.25
    copy = plausible(example, A)
    assert copy.score() == 1 and not copy.ratio.any() and copy.pieces == pytest.approx(1)


@pytest.mark.parametrize("without", [None, 0, 3])
def test_equals_a_plain_implementation(without):
    rng = np.random.default_rng(0)
    places, cells = rng.normal(size=(5, 12, 6)).astype(np.float32), rng.normal(size=(12, 6)).astype(np.float32)
    clean = Clean.of(places)
    found = clean.plausible(cells, clean.known(without), without)

    kept = [view for view in range(5) if view != without]
    of = np.repeat(kept, 12)
    flat = places[kept].reshape(-1, 6).astype(np.float64)
    between = np.linalg.norm(flat[:, None] - flat, axis=2)
    between[of[:, None] == of] = np.inf
    far, c = between.min(axis=1), np.median(between.min(axis=1)) / 4
    ratios = far / (far[between.argmin(axis=1)] + c)
    gaps = np.linalg.norm(cells[:, None].astype(np.float64) - flat, axis=2)
    match = gaps.argmin(axis=1)
    ratio = gaps.min(axis=1) / (far[match] + c)
    share = np.array([(ratios > one).mean() for one in ratio])
    u = share / np.array([(match == one).sum() for one in match])
    assert found.ratio == pytest.approx(ratio, rel=1e-6) and found.share == pytest.approx(share) and found.u == pytest.approx(u)
    assert found.score() == pytest.approx(u.mean())


def test_of_equally_near_cells_the_first_counts():
    places = np.zeros((3, 4, 2), dtype=np.float32)
    distance, cell = Finder(places).nearest(np.ones((2, 2), dtype=np.float32))
    assert cell.tolist() == [[0, 4, 8]] * 2 and distance == pytest.approx(2**0.5)
    clean = Clean.of(places)
    assert clean.known().tolerance == 0 and not clean.known().ratios.any()


def test_blocks_of_products_change_nothing(monkeypatch):
    places = np.random.default_rng(1).normal(size=(4, 30, 5)).astype(np.float32)
    whole = Finder(places).nearest(places[0])
    monkeypatch.setattr("evaluation.metrics.render.pieces.plausibility.BLOCK", 2000)
    assert [(a, b) for a, b in zip(whole, Finder(places).nearest(places[0]), strict=True) if not np.array_equal(a, b)] == []


def test_one_view_alone_is_held_against_nothing():
    with pytest.raises(ValueError, match="with others"):
        Clean.of(np.zeros((1, 4, 2), dtype=np.float32))

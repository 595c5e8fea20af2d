from __future__ import annotations

import itertools

import numpy as np
import pytest

from leaderboard.studies.live import question_choice
from leaderboard.studies.live.question_choice import ALONE, Crown, Grid, Known, Overlap


def known(grid: Grid, **values) -> Known:
    units, m = grid.units, grid.entries
    given = {
        "free": np.ones((units, grid.samples), dtype=bool),
        "asked": np.zeros((units, grid.samples), dtype=np.int64),
        "wins": np.zeros((m, m)),
        "gold": np.zeros(units, dtype=bool),
        "live": np.ones(units, dtype=bool),
    }
    return Known(**given | values)


def campaign(
    grid: Grid,
    raters: int,
    budget: int,
    way: str = "balanced",
    block: int = 4,
    gold: tuple[int, ...] = (),
    share: float = 0.0,
    seed: int = 3,
    overlap: Overlap = ALONE,
):
    """Cells asked of each of `raters` who come in turns and are asked `block` questions at a time: a list of each."""
    asked = np.zeros((grid.units, grid.samples), dtype=np.int64)
    marked = np.isin(np.arange(grid.units), gold)
    found: list[list[int]] = [[] for _ in range(raters)]
    for _ in range(0, budget, block):
        for rater in range(raters):
            own = np.array(found[rater], dtype=np.int64)
            free = np.ones(grid.units * grid.samples, dtype=bool)
            free[own] = False
            state = known(
                grid,
                free=free.reshape(grid.units, grid.samples),
                asked=asked,
                gold=marked,
                own=len(own),
                own_gold=int(marked[own // grid.samples].sum()),
            )
            cells = question_choice.questions(grid, state, way, min(block, budget - len(own)), share, seed, rater, overlap)
            found[rater] += cells
            np.add.at(asked, np.unravel_index(np.array(cells, dtype=np.int64), asked.shape), 1)
    return found, asked


def test_units_are_numbered_in_the_order_of_pairs():
    grid = Grid.pairs(5, 2)
    for n, (i, j) in enumerate(itertools.combinations(range(5), 2)):
        assert (grid.first[n], grid.second[n]) == (i, j)
        assert grid.unit(np.array([i, j]), np.array([j, i])).tolist() == [n, n]
    assert Grid.singles(5, 2).unit(np.arange(5), np.full(5, -1)).tolist() == list(range(5))


def test_appearances_count_both_sides():
    assert Grid.pairs(3, 1).per_entry(np.array([2, 1, 4])).tolist() == [3, 6, 5]  # 01 twice, 02 once, 12 four times
    assert Grid.singles(3, 1).per_entry(np.array([2, 1, 4])).tolist() == [2, 1, 4]


def test_units_of_an_entry_that_dropped_out_are_not_live():
    assert Grid.pairs(3, 1).live(np.array([True, False, True])).tolist() == [False, True, False]
    assert Grid.singles(2, 1).live(np.array([False, True])).tolist() == [False, True]


@pytest.mark.parametrize("way", ["exhaustive", "balanced", "informative", "first"])
def test_every_way_asks_everything_once_and_no_more(way):
    grid = Grid.pairs(4, 3)
    found, asked = campaign(grid, 2, 40, way)
    assert [sorted(own) for own in found] == [list(range(18))] * 2
    assert (asked == 2).all()


def test_the_exhaustive_order_is_another_one_for_each_rater_and_the_same_again():
    grid = Grid.pairs(6, 4)
    (first, second), _ = campaign(grid, 2, 60, "exhaustive")
    assert first != second
    assert campaign(grid, 2, 60, "exhaustive", block=7)[0] == [first, second]  # planning ahead changes nothing


def test_a_balanced_budget_shows_pairs_entries_and_samples_equally_often():
    grid = Grid.pairs(9, 5)  # 36 pairs
    _, asked = campaign(grid, 7, 23, block=5)  # 161 questions
    units = asked.sum(axis=1)
    assert units.max() - units.min() <= 1  # 4 or 5 times each pair
    entries = grid.per_entry(units)
    assert entries.max() - entries.min() <= 2
    assert asked.max() - asked.min() <= 1
    samples = asked.sum(axis=0)
    assert samples.max() - samples.min() <= 3


def test_opinions_are_balanced_over_entries_and_samples():
    grid = Grid.singles(12, 6)
    _, asked = campaign(grid, 23, 10, way="informative")  # the published study: 230 trials
    assert asked.sum() == 230
    assert asked.max() - asked.min() <= 2  # a rater scores an entry on a sample once
    assert np.ptp(asked.sum(axis=1)) <= 1


def test_gold_pairs_get_their_share_from_the_first_questions_on():
    grid = Grid.pairs(8, 5)
    gold = (3, 10)
    found, _ = campaign(grid, 3, 40, gold=gold, share=0.2)
    for own in found:
        marked = [cell // 5 in gold for cell in own]
        assert sum(marked) >= 8
        assert sum(marked[:20]) >= 4


def wins_of(ability: np.ndarray, n: float) -> np.ndarray:
    """Expected wins where each pair met n times."""
    w = n / (1 + np.exp(ability[None, :] - ability[:, None]))
    np.fill_diagonal(w, 0)
    return w


def share_asked(way, w, asked_per_pair, count=120):
    grid = Grid.pairs(6, 200)
    asked = np.zeros((grid.units, 200), dtype=np.int64)
    asked[:, :asked_per_pair] = 1
    cells = way(grid, known(grid, wins=w, asked=asked), count, np.random.default_rng(1))
    return grid, np.bincount(np.array(cells) // 200, minlength=grid.units)


def test_informative_questions_are_on_pairs_that_are_close_and_still_explore_the_others():
    ability = np.array([3.0, 2.9, 0.0, -0.1, -3.0, -3.1])
    grid, chosen = share_asked(question_choice.informative, wins_of(ability, 20.0), 20)
    close = grid.unit(np.array([0, 2, 4]), np.array([1, 3, 5]))
    assert chosen[close].sum() > 0.6 * chosen.sum()
    assert (np.delete(chosen, close).sum()) >= 0.08 * chosen.sum()
    _, even = share_asked(question_choice.balanced, wins_of(ability, 20.0), 20)
    assert even.max() - even.min() == 0


def test_what_is_known_least_is_asked_first():
    """An entry that nobody was asked about is in the first informative questions."""
    grid = Grid.pairs(5, 50)
    ability = np.zeros(5)
    w = wins_of(ability, 30.0)
    w[4, :] = w[:, 4] = 0.0
    asked = np.zeros((grid.units, 50), dtype=np.int64)
    asked[(grid.first != 4) & (grid.second != 4), :30] = 1
    cells = question_choice.informative(grid, known(grid, wins=w, asked=asked), 6, np.random.default_rng(0))
    about = [4 in (grid.first[cell // 50], grid.second[cell // 50]) for cell in cells]
    assert about[0]
    assert sum(about) >= 5


def test_informative_questions_find_the_order_with_fewer_answers_than_balanced_ones():
    """Two entries that are nearly alike among six: their order is found by asking for it."""
    ability = np.array([2.2, 1.8, 0.4, -0.4, -1.8, -2.2])
    grid = Grid.pairs(6, 400)
    right = {"balanced": 0, "informative": 0}
    for way, seed in itertools.product(right, range(12)):
        rng = np.random.default_rng(seed)
        w, asked = np.zeros((6, 6)), np.zeros((grid.units, 400), dtype=np.int64)
        for block in range(30):
            state = known(grid, wins=w, asked=asked, free=asked == 0, own=8 * block)
            for cell in question_choice.questions(grid, state, way, 8, 0.0, seed, 1):
                unit, sample = divmod(cell, 400)
                i, j = grid.first[unit], grid.second[unit]
                asked[unit, sample] += 1
                won = rng.random() < 1 / (1 + np.exp(ability[j] - ability[i]))
                w[(i, j) if won else (j, i)] += 1
        found = question_choice.fit(w + question_choice.PRIOR).ability
        right[way] += sum(found[k] > found[k + 1] for k in range(5))
    assert right["informative"] >= right["balanced"]


def test_most_questions_about_first_place_are_of_the_first_and_who_is_not_told_from_it():
    grid = Grid.pairs(6, 1500)
    state = known(grid, crown=Crown(2, (0, 4)))
    cells = np.array(question_choice.first_place(grid, state, 2000, np.random.default_rng(1)))
    units = np.bincount(cells // grid.samples, minlength=grid.units)
    hanging = grid.unit(np.array([2, 2]), np.array([0, 4]))
    assert units[hanging].sum() / 2000 == pytest.approx(0.85 + 0.15 * 2 / 15, abs=0.02)
    assert units[hanging].min() == pytest.approx(units[hanging].max(), rel=0.1)
    rest = np.delete(units, hanging)
    assert rest.min() > 0 and rest.sum() / len(rest) == pytest.approx(2000 * 0.15 / 15, rel=0.2)
    assert len(set(cells.tolist())) == 2000
    samples = np.bincount(cells % grid.samples, minlength=grid.samples)
    assert np.ptp(samples) <= 2  # on what was shown least
    # Where nobody is left to tell from the first, and where all of their pairs were asked, any pair.
    for crown in (Crown(2, ()), Crown(2, (0,))):
        few = known(Grid.pairs(6, 2), crown=crown)
        assert sorted(question_choice.first_place(Grid.pairs(6, 2), few, 40, np.random.default_rng(1))) == list(range(30))


def test_while_nothing_is_known_of_first_place_questions_are_balanced():
    grid = Grid.pairs(6, 4)
    found = question_choice.first_place(grid, known(grid), 20, np.random.default_rng(5))
    assert found == question_choice.balanced(grid, known(grid), 20, np.random.default_rng(5))


def test_a_repeat_comes_once_for_each_stretch_at_a_moment_that_differs():
    due = [
        next(f for f in range(1, 101) if question_choice.repeats_due(f, 0.05, 9, rater, done)) for rater in range(40) for done in (0, 1, 2)
    ]
    for n, first in enumerate(due):
        low = 20 * (n % 3)
        assert low + 10 <= first <= low + 20
    assert len(set(due[::3])) > 5
    assert not question_choice.repeats_due(1000, 0.0, 9, 0, 0)


@pytest.mark.parametrize(("fresh", "repeats"), [(0, 0), (9, 0), (10, 1), (20, 1), (30, 2), (3510, 176)])
def test_five_percent_of_the_questions_come_again(fresh, repeats):
    assert question_choice.repeats_of(fresh, 0.05) == repeats


def test_sides_are_turned_by_a_fair_coin():
    turns = [question_choice.is_flipped(5, rater, number) for rater in range(20) for number in range(100)]
    assert 900 < sum(turns) < 1100  # more than four standard deviations (22) either way
    assert question_choice.is_flipped(5, 1, 1) == question_choice.is_flipped(5, 1, 1)


class TestOverlap:
    @pytest.mark.parametrize(
        ("grid", "gold"), [(Grid.pairs(7, 5), (3, 9)), (Grid.pairs(8, 3), ()), (Grid.singles(6, 4), ()), (Grid.pairs(2, 6), ())]
    )
    def test_common_cells_are_all_but_gold_once_and_keep_units_and_entries_even(self, grid, gold):
        marked = np.isin(np.arange(grid.units), gold)
        order = question_choice.common_cells(grid, marked, 5)
        assert sorted(order) == sorted(np.flatnonzero(~np.repeat(marked, grid.samples)))
        units = order // grid.samples
        for first in range(0, len(order), len(set(units))):
            assert len(set(units[first : first + len(set(units))])) == len(set(units))
        if not gold:
            once = grid.per_entry(np.bincount(units[: grid.entries // 2], minlength=grid.units))
            assert once.max() <= 1
        assert (question_choice.common_cells(grid, marked, 5) == order).all() and (
            grid.units < 3 or (question_choice.common_cells(grid, marked, 6) != order).any()
        )

    @pytest.mark.parametrize("way", ["exhaustive", "balanced", "informative"])
    def test_everybody_is_asked_the_same_tenth_in_every_plan(self, way):
        grid = Grid.pairs(9, 20)
        found, _ = campaign(grid, 5, 30, way, gold=(2, 5), share=0.1, overlap=Overlap(0.1, 1))
        shared = set.intersection(*map(set, found))
        common = question_choice.common_cells(grid, np.isin(np.arange(grid.units), (2, 5)), 3)[:3]
        assert set(common.tolist()) <= shared and not {cell // grid.samples for cell in common} & {2, 5}

    @pytest.mark.parametrize("way", ["exhaustive", "balanced"])
    @pytest.mark.parametrize("answers", [2, 3])
    def test_questions_that_too_few_were_asked_come_before_new_ones(self, way, answers):
        grid = Grid.pairs(9, 20)
        _, asked = campaign(grid, 6, 30, way, overlap=Overlap(0.0, answers))
        counts = np.bincount(asked.ravel(), minlength=answers + 1)
        assert len(counts) == answers + 1 and counts[answers] == 180 // answers and counts[1:answers].sum() == 0

    def test_three_raters_of_thirty_now_share_questions(self):
        grid = Grid.pairs(8, 24)
        _, alone = campaign(grid, 3, 30)
        _, together = campaign(grid, 3, 30, overlap=Overlap(0.1, 2))
        assert alone.max() == 1
        # three common ones of three raters; of the 81 others 80 meet in pairs
        assert np.bincount(together.ravel())[1:].tolist() == [1, 40, 3]

    def test_who_may_not_be_asked_a_common_question_is_asked_the_next(self):
        grid = Grid.pairs(6, 10)
        live = grid.live(np.array([True] * 5 + [False]))
        state = known(grid, free=np.repeat(live[:, None], 10, axis=1), live=live)
        found = question_choice.questions(grid, state, "balanced", 10, 0.0, 3, 1, Overlap(0.5, 1))
        common = question_choice.common_cells(grid, np.zeros(grid.units, dtype=bool), 3)
        assert set(common[live[common // 10]][:5].tolist()) <= set(found) and len(set(found)) == 10

    @pytest.mark.parametrize("way", ["exhaustive", "balanced", "informative"])
    def test_everything_is_still_asked_once_of_each(self, way):
        grid = Grid.pairs(4, 3)
        found, _ = campaign(grid, 3, 40, way, overlap=Overlap(0.3, 2))
        assert [sorted(own) for own in found] == [list(range(18))] * 3

"""Forecast of a study: by hand, against the plan itself, and its limits."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.stats.minimums import ANSWERS_FOR_ANOTHER_RATER, ITEMS_FOR_FIGURE, RATERS_FOR_FIGURE
from leaderboard.stats.planning import answers_needed
from leaderboard.studies.live import study_forecast
from leaderboard.studies.live.question_choice import Grid, Overlap
from leaderboard.studies.live.study_forecast import Habits, Sheet
from tests.pure.leaderboard.studies.live.test_question_choice import campaign


class TestShare:
    def test_it_is_the_inverse_of_the_answers_that_are_needed(self):
        for share in (0.55, 0.6, 0.75, 0.9):
            n = answers_needed(share, 0.3)
            assert study_forecast.smallest_share(n, 0.3) <= share < study_forecast.smallest_share(n - 1, 0.3)

    def test_the_documents_number(self):
        assert study_forecast.smallest_share(137 * 2, 0.3) == pytest.approx(0.6, abs=5e-4)

    def test_with_few_answers_not_even_everybody_is_told_from_a_coin(self):
        assert (
            study_forecast.smallest_share(5, 0.0) is None
            and study_forecast.smallest_share(0, 0.3) is None
            and study_forecast.smallest_share(9, 1.0) is None
        )

    def test_neighbours_are_held_against_the_same_quantity(self):
        # 6 wins, 2 losses and 4 ties: abilities of ln(3) / 2, nu = 4 / sqrt(12). Of 8 who decide 6 prefer it, of 12 people 6 + 4 / 2.
        (seen,) = study_forecast.preferences((np.log(3) / 2, -np.log(3) / 2), 4 / np.sqrt(12))
        assert seen == pytest.approx(8 / 12)
        # 7.849 (1 - 1/3) / 4 / (1/6)^2 * 2 = 94.2 answers on the pair show it.
        found = [study_forecast.forecast(Sheet(1, 100, n, Overlap()), Habits(1 / 3, gaps=(seen,)), 1).gaps_seen for n in (94, 95)]
        assert found == [0, 1]


class TestShared:
    def test_by_hand(self):
        sheet = Sheet(28, 24, 30, Overlap(0.1, 2))
        # three common questions of three raters, and 40 of two; nobody says equal
        assert study_forecast.shared_answers(sheet, 3, 0.0) == 9 + 80
        # of a question of two both decide in .49 of cases; of three at least two decide, on average 3 · .7 · .91 of them
        assert study_forecast.shared_answers(sheet, 3, 0.3) == pytest.approx(3 * 3 * 0.7 * 0.91 + 40 * 2 * 0.49)
        assert study_forecast.shared_answers(sheet, 1, 0.0) == 0

    def test_without_overlap_three_raters_of_thirty_share_nothing(self):
        assert study_forecast.shared_answers(Sheet(28, 24, 30, Overlap()), 3, 0.0) == 0

    def test_whoever_is_asked_everything_shares_everything(self):
        assert study_forecast.shared_answers(Sheet(6, 4, None, Overlap()), 5, 0.0) == 5 * 24

    @pytest.mark.parametrize("raters", [2, 3, 5, 9, 20])
    @pytest.mark.parametrize(
        ("samples", "overlap"), [(24, Overlap(0.1, 2)), (24, Overlap(0.2, 3)), (4, Overlap(0.1, 2)), (12, Overlap(0.0, 1)), (3, Overlap())]
    )
    def test_it_is_what_the_plan_does(self, raters, samples, overlap):
        _, asked = campaign(Grid.pairs(8, samples), raters, 30, overlap=overlap)
        shared = int(asked[asked > 1].sum())
        assert study_forecast.shared_answers(Sheet(28, samples, 30, overlap), raters, 0.0) == pytest.approx(
            shared, abs=max(6, 0.05 * shared)
        )

    def test_more_raters_never_share_less(self):
        for overlap in (Overlap(0.1, 2), Overlap(), Overlap(0.0, 4)):
            found = [study_forecast.shared_answers(Sheet(28, 6, 30, overlap), n, 0.3) for n in range(1, 40)]
            assert (np.diff(found) >= -1e-9).all()


class TestForecast:
    SHEET = Sheet(28, 24, 30, Overlap(0.1, 2), repeats=0.05)

    def test_a_line(self):
        line = study_forecast.forecast(self.SHEET, Habits(0.3, 8.0, gaps=(0.9, 0.3, 0.55)), 12)
        assert (line.answers, line.per_pair) == (360, pytest.approx(360 / 28)) and line.hours == pytest.approx(360 * 1.05 * 8 / 3600)
        assert line.share == pytest.approx(0.5 + np.sqrt(7.849 * 0.7 / 4 * 2 / (360 / 28))) and line.gaps_seen == 0
        assert line.compares

    def test_gaps_count_whichever_side_they_favour(self):
        line = study_forecast.forecast(Sheet(1, 400, 400, Overlap()), Habits(0.3, gaps=(0.9, 0.3, 0.55)), 12)
        assert (
            line.gaps_seen == 3
            and study_forecast.forecast(Sheet(1, 20, 20, Overlap()), Habits(0.3, gaps=(0.9, 0.3, 0.55)), 12).gaps_seen == 2
        )

    def test_gold_counts_for_nothing_but_time(self):
        with_gold = study_forecast.forecast(Sheet(28, 24, 30, Overlap(), gold=0.2), Habits(), 10)
        assert with_gold.answers == 300 and with_gold.per_pair == pytest.approx(240 / 28)

    def test_the_table_ends_with_the_most_there_may_be(self):
        assert [line.raters for line in study_forecast.table(self.SHEET, Habits())] == list(study_forecast.RATERS)
        assert [line.raters for line in study_forecast.table(self.SHEET, Habits(), 10)] == [3, 5, 10]
        assert [line.raters for line in study_forecast.table(self.SHEET, Habits(), 2)] == [2]

    def test_raters_from_which_on_metrics_are_compared_with_another_rater(self):
        everything, few = Sheet(28, 24, None, Overlap()), replace(self.SHEET, questions=10)
        assert study_forecast.raters_for_comparison(everything, Habits(0.3)) == RATERS_FOR_FIGURE  # which any figure of people needs
        n = study_forecast.raters_for_comparison(few, Habits(0.3))
        shared = [study_forecast.shared_answers(few, raters, 0.3) for raters in (n - 1, n)]
        assert shared[0] < ANSWERS_FOR_ANOTHER_RATER <= shared[1]
        small = replace(self.SHEET, samples=ITEMS_FOR_FIGURE - 1)
        assert study_forecast.raters_for_comparison(small, Habits(0.3)) is None
        lines = study_forecast.table(replace(small, pairs=1000), Habits(0.3))
        assert [(line.has_few_samples, line.compares) for line in lines] == [(True, False)] * 5
        assert lines[-1].shared > ANSWERS_FOR_ANOTHER_RATER, "answers alone would be enough"
        assert not study_forecast.forecast(everything, Habits(), RATERS_FOR_FIGURE - 1).compares
        assert study_forecast.raters_for_comparison(Sheet(28, 1000, 3, Overlap(0.0, 1)), Habits(), 50) is None

    def test_looks_are_stricter_than_one_test_and_aim_at_the_first(self):
        sheet = Sheet(28, 24, 30, Overlap(0.1, 2))
        spread = study_forecast.planned_looks(sheet, Habits(0.3), 8, 4, 400, first_place=False)
        aimed = study_forecast.planned_looks(sheet, Habits(0.3), 8, 4, 400, first_place=True)
        assert [(one.answers, one.raters) for one in spread] == [(100, 4), (200, 7), (300, 10), (400, 14)]
        assert [one.is_early for one in spread] == [True, False, False, False]
        assert spread[-1].comparisons == pytest.approx(400 / 28) and aimed[-1].comparisons == pytest.approx(
            0.15 * 400 / 28 + 0.85 * 400 / 7
        )
        alone = study_forecast.planned_looks(sheet, Habits(0.3), 8, 1, 400, first_place=True)[0]
        assert (
            alone.share == pytest.approx(study_forecast.smallest_share(alone.comparisons, 0.3), abs=1e-4) and aimed[-1].share > alone.share
        )
        assert [one.share for one in spread] == [None] * 4, "with so few answers on a pair not even everybody is told from a coin"
        assert aimed[0].share is None and aimed[1].share > aimed[2].share > aimed[3].share

    def test_answers_on_damaged_entries_bring_no_look_nearer(self):
        # Of 8 entries two are damaged: 15 of 28 pairs count. 300 answers on these are 560 in all, 20 on each pair.
        sheet = Sheet(28, 24, 30, Overlap(0.1, 2))
        (spread,) = study_forecast.planned_looks(sheet, Habits(0.3), 6, 1, 300, False, 15 / 28)
        assert (spread.answers, spread.raters, spread.comparisons) == (300, 19, pytest.approx(300 / 15))
        # Of the first place's every question in the 85 of 100 counts, of the others 15 of 28.
        (aimed,) = study_forecast.planned_looks(sheet, Habits(0.3), 6, 1, 300, True, 15 / 28)
        asked = 300 / (0.85 + 0.15 * 15 / 28)
        assert aimed.raters == 11 and aimed.comparisons == pytest.approx(0.85 * asked / 5 + 0.15 * asked / 28)

    def test_advice_names_what_is_lacking(self):
        assert study_forecast.advice(self.SHEET) == ""
        few_items, no_overlap = (study_forecast.advice(Sheet(28, *sheet, Overlap())) for sheet in ((8, None), (240, 30)))
        assert re.findall(r"\d+", few_items) == ["24", "8"] and re.findall(r"\d+ %", no_overlap) == ["0 %"]

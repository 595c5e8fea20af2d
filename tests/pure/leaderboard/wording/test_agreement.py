"""Statements on how far metrics agree with people."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leaderboard.boards.people import People
from leaderboard.records.agreement import Known, Line, Verdict
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, ITEMS_FOR_FIRM_INTERVAL, RATERS_FOR_FIGURE, RATERS_FOR_FIRM_INTERVAL
from leaderboard.stats.states import Key, Reason, State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.wording import agreement as wording
from leaderboard.wording import people as people_wording
from leaderboard.wording.reasons import sentence
from leaderboard.wording.statement import Tone
from tests.support.leaderboard.boards import column_of
from tests.support.leaderboard.people import TWO, agreement, board, column, found
from tests.support.leaderboard.reasons import few_entries, few_items, few_raters


@pytest.mark.parametrize(
    ("figure", "standing", "state", "words"),
    [
        (agreement(0.72, 0.66, 0.77), Standing.BELOW_HUMAN_LEVEL, "below", "agrees 72 [66, 77]"),
        (agreement(0.81, 0.78, 0.83), Standing.HUMAN_LEVEL, "person", "agrees 81 [78, 83]"),
        (agreement(0.72, 0.66, 0.77), None, "better", "agrees 72 [66, 77]"),
        (agreement(0.52, 0.5, 0.54), None, "coin", "agrees 52 [50, 54]"),
        (agreement(0.3, 0.2, 0.42), None, "below", "agrees 30 [20, 42]"),
        (agreement(0.5).because(Reason(Key.ALIKE)), None, "coin", "agrees 50"),
        (agreement(0.9, raters=3).because(few_raters(3)), None, "early", f"too early: 3 of {RATERS_FOR_FIGURE} raters"),
        (agreement(0.9, samples=4).because(few_items(4)), None, "early", f"too early: 4 of {ITEMS_FOR_FIGURE} items"),
        (agreement(), None, "early", "no values here"),  # of a group of people
        (agreement(coverage=0.0), None, "early", "no values here"),
        (agreement(coverage=1.0), None, "early", "no comparison is decided"),
    ],
)
def test_a_metric_stands_between_chance_and_another_rater_by_its_interval(figure, standing, state, words):
    line = Line("HSS", figure, TWO, standing)
    assert (wording.tone(line), wording.head(line)) == (state, words) and len(words) <= 28
    assert (line.percent is None) == (state == "early")  # below the smallest numbers there is no figure, only the sentence


@pytest.mark.parametrize("standing", Standing)
def test_each_state_has_a_word_and_nothing_is_claimed_of_a_metric_that_learnt_from_the_answers(standing):
    line = Line("m", agreement(0.72, 0.66, 0.77), TWO, standing)
    assert (wording.tone(line), wording.state(line)) == wording.STANDINGS[standing]
    assert wording.state(replace(line, trained="these")) == "" and wording.tone(replace(line, figure=agreement())) is Tone.EARLY


@pytest.mark.parametrize(
    ("trained", "opinions", "brief", "more"),
    [
        ("", False, "", ""),
        (
            "these",
            False,
            "trained on these votes",
            "This metric was trained on these very votes, so its agreement with them is no evidence.",
        ),
        (
            "unknown",
            True,
            "unknown whether trained on these ratings",
            "The metric's weights do not say whether it was trained on these ratings. If it was, its agreement is no evidence.",
        ),
    ],
)
def test_what_a_metric_was_trained_on(trained, opinions, brief, more):
    line = Line("m", agreement(0.7, 0.6, 0.8), trained=trained, opinions=opinions)
    assert (wording.trained(line), wording.trained_more(line)) == (brief, more)


def test_where_nobody_was_asked_about_two_entries_that_is_said_of_each_metric():
    said = People(board(), found(metrics=[column("hss", agreement())], reason=Reason(Key.ONLY_DAMAGED)))
    line = said.line("hss")
    assert wording.head(line) == people_wording.head(said.found, line).words == "no entries compared"


def test_what_must_be_known_before_a_figure_is_taken_for_more_stands_with_it():
    line = Line("HSS", agreement(0.52, 0.4, 0.6, 800, coverage=0.7, state=State.ROUGH), TWO, above_size=False)
    assert wording.notes(line) == [
        "not shown to be better than chance",
        "not shown to agree better than the entry's size alone",
        "has values for 70 % of the comparisons",
        "few raters or items: a rough interval",
    ]
    assert wording.reading(line) == (
        "HSS picks the same winner as people in 52 of 100 comparisons (95 % interval 40 to 60, with other raters and other items); "
        "another rater 80 [75, 85]. 800 votes that name a winner, by 11 raters on 43 items. Not shown to be better than chance. "
        "Not shown to agree better than the entry's size alone. Has values for 70 % of the comparisons. Few raters or items: "
        "a rough interval."
    )


def test_where_answers_name_no_samples_an_interval_speaks_of_other_people_alone():
    line = Line("HSS", agreement(0.52, 0.4, 0.6, 800), None, sampled=False)
    assert (
        "(95 % interval 40 to 60, with other raters). 800 votes that name a winner, by 11 raters on 43 comparisons."
    ) in wording.reading(line)
    few = replace(line, figure=replace(line.figure, state=State.ROUGH))
    assert "few raters or comparisons: a rough interval" in wording.notes(few)


def test_ends_and_values_beside_chance_and_at_the_ends_of_the_scale_keep_their_side():
    line = Line("HSS", agreement(0.996, 0.503, 0.999, 800), None, opinions=True)
    said = wording.reading(line)
    assert "in 99 of 100 comparisons (95 % interval 50.3 to 99, with" in said and "800 comparisons that name a winner" in said
    few = Line("HSS", agreement(0.5, None, None, 3, state=State.TOO_FEW, reason=few_items(3)), None, sampled=False)
    assert wording.reading(few) == f"HSS: {sentence(few_items(3), 'comparison')}"


def test_a_mean_of_studies_says_so():
    line = Line("HSS", agreement(0.72, 0.66, 0.77, 900), of_studies=3)
    assert wording.reading(line) == (
        "HSS picks the same winner as people in 72 of 100 comparisons: the mean of 3 studies, 95 % interval 66 to 77 with other "
        "studies. 900 votes that name a winner."
    )


def test_a_head_says_how_far_by_whom_and_when():
    people = People(board(metrics=[column_of("hss", [0.9, 0.8])]), found())
    said = people_wording.head(people.found, people.line("hss"))
    assert said.words == "agrees 82 [80, 84]" and said.line.figure.ends == (0.82, 0.8, 0.84)
    assert said.title.endswith("1,200 votes by 11 raters, 21 November 2026 (UTC).")


def test_of_published_means_the_order_alone_is_said():
    published = found(of="means", kind="opinions", raters=None, band=None, metrics=[column("hss", agreement())])
    means = People(board(metrics=[column_of("hss", [0.9, 0.8])]), published)
    said = people_wording.head(means.found, means.line("hss"))
    assert said.words == "ρ 0.50 [0.10, 0.90] · 9 entries" and said.line is None and means.charts() == []


def test_where_no_metric_has_a_figure_the_reason_is_its_own():
    few, none = sentence(few_items(4), "house"), sentence(Reason(Key.NO_WINNER))
    early = agreement(0.7, n=40, samples=4, coverage=0.6).because(few_items(4))
    silent, level = (agreement(coverage=share).because(Reason(Key.NO_WINNER)) for share in (0.0, 1.0))

    def said(**decided: Agreement) -> str:
        people = People(board(resampled="house"), found(metrics=[column(slug, one) for slug, one in decided.items()]))
        lines = [Line(slug, one, None, noun="house") for slug, one in decided.items()]
        board_says = people_wording.missing(people.found, people.lines, "house")
        assert wording.unheld(lines, "houses") == board_says
        return board_says

    assert said(a=early, b=silent) == said(a=early, b=early) == few
    assert said(a=early, b=level) == f"a: {few} b: {none}"
    assert said(a=silent) == said() == "No metric has values of the houses that people compared."


def test_intervals_of_few_people_or_items_are_said_to_be_rough_where_they_stand_on_a_board():
    def rough(raters: int, samples: int, **more) -> str:
        every = column("constant", agreement(0.5, n=60, raters=raters, samples=samples), reference_point=True)
        return people_wording.rough_on_board(found(metrics=[every], **more), "house")

    raters, items = RATERS_FOR_FIRM_INTERVAL, ITEMS_FOR_FIRM_INTERVAL
    assert rough(RATERS_FOR_FIGURE, items) == "few raters: rough intervals"
    assert rough(raters, items - 1) == "few houses: rough intervals"
    assert rough(raters - 1, ITEMS_FOR_FIGURE) == "few raters and houses: rough intervals"
    assert rough(raters, items - 1, unsampled=True) == "few comparisons: rough intervals"
    few = rough(RATERS_FOR_FIGURE, ITEMS_FOR_FIGURE, reason=few_raters(RATERS_FOR_FIGURE - 1))
    assert (rough(raters, items), few, people_wording.rough_on_board(found())) == ("", "", "")


def test_a_correlation_without_an_interval_says_so():
    few = Figure(-1.0, None, None, 5).because(few_entries(5))
    assert wording.rho(few) == "ρ −1.00, no interval"
    assert wording.rho(replace(few, value=None)) == ""


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({}, ""),
        ({"F1": (1, 1)}, ""),
        ({"F1": (1, 1), "HSS": (2, 2)}, "F1 agrees with people significantly better than every other metric."),
        ({"F1": (1, 2), "HSS": (2, 2)}, "Only F1 may agree best with people."),
        (
            {"F1": (1, 2), "HSS": (1, 3), "WED": (2, 3)},
            "2 of 3 metrics may agree best with people. The other metric is ruled out as the best.",
        ),
        ({"F1": (1, 2), "HSS": (1, 2)}, "2 of 2 metrics may agree best with people."),
    ],
)
def test_which_metrics_may_be_the_best(places, said):
    assert wording.may_be_best(places) == said


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (
            Verdict(Known.FIGURE, Line("m", agreement(0.72, 0.68, 0.76), TWO, Standing.HUMAN_LEVEL, (1, 2)), placed=3),
            "This metric picks the same winner as people in 72 of 100 comparisons [68, 76]: human level (another rater: 80 "
            "[75, 85]). By agreement with people its place among 3 metrics is 1–2 (95 % range).",
        ),
        (
            Verdict(Known.FIGURE, Line("m", agreement(0.52, 0.48, 0.56), TWO, Standing.AT_CHANCE, above_size=False), simulated=True),
            "This metric picks the same winner as simulated raters in 52 of 100 comparisons [48, 56]: not shown to differ from chance. "
            "Not shown to agree better than the entry's size alone.",
        ),
        (
            Verdict(Known.ALIKE, Line("m", agreement(1.0, n=1).because(Reason(Key.ALIKE)))),
            "This metric picks the same winner as people in 100 of 100 comparisons (1 vote). No interval, because all raters "
            "and items give the same value.",
        ),
        (
            Verdict(Known.TRAINED, Line("m", agreement(0.9, 0.8, 1.0), trained="these")),
            "The agreement is no evidence: this metric was or may have been trained on the same votes (trained on these votes).",
        ),
        (Verdict(Known.TRAINED, Line("m", agreement(), trained="refused")), wording.TRAINED["refused"][1]),
        (
            Verdict(Known.NOT_POOLED, studies=2, of_studies=3),
            "This metric was compared with people in 2 of 3 studies, too few to pool, so each is listed below.",
        ),
        (Verdict(Known.BY_ITSELF, studies=1), "This metric alone was compared with people in 1 study, so it has no place among metrics."),
        (Verdict(Known.OUTDATED), "Only another version of this metric was compared with people. That says nothing about this version."),
        (
            Verdict(Known.EARLY, Line("m", agreement(0.9, raters=3).because(few_raters(3)))),
            f"It is too early to say how far this metric agrees with people: it has 3 of {RATERS_FOR_FIGURE} raters that are needed.",
        ),
        (
            Verdict(Known.EARLY, Line("m", agreement(coverage=1.0))),
            "It is not known how far this metric agrees with people: no comparison is decided.",
        ),
        (Verdict(Known.NOTHING), "No study here has compared this metric with people yet."),
    ],
)
def test_what_a_metrics_page_says_first(known, said):
    assert wording.verdict(known).text == said


def test_of_metrics_that_are_all_no_better_than_chance_none_is_called_the_best():
    chance = Line("a", agreement(0.5, 0.4, 0.6), None, Standing.AT_CHANCE, (1, 2))
    better = replace(chance, title="b", standing=Standing.UNCLEAR)
    assert wording.claim([chance, replace(chance, title="c")]) == "No metric is shown to agree with people better than chance."
    assert wording.claim([chance, better]) == "2 of 2 metrics may agree best with people."

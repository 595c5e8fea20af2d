"""The sentences of a study's page: what they say in the situations in which there is little to say."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from leaderboard.boards.people import lines_of
from leaderboard.records.agreement import Line
from leaderboard.records.interim_analyses import InterimAnalyses
from leaderboard.records.study import PlannedLook, Summary
from leaderboard.records.study_table import Apart
from leaderboard.stats import mos_table as rating
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.davidson import Fragile
from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, RATERS_FOR_FIGURE
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.plans import Plan, Settling
from leaderboard.stats.rater_groups import RaterGroups
from leaderboard.stats.records import Enough, Preference
from leaderboard.stats.states import Key, Reason
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.subsample_stability import Curve
from leaderboard.stats.two_way_intervals import ALIKE, Figure
from leaderboard.stats.votes import Vote, canonical
from leaderboard.wording import agreement
from leaderboard.wording import study as words
from leaderboard.wording.nouns import NOUN, sampled_noun
from leaderboard.wording.reasons import sentence
from leaderboard.wording.settling import settling, unequal
from leaderboard.wording.statement import Statement
from tests.pure.leaderboard.stats.test_people import SAMPLES, read, said
from tests.support.leaderboard.reasons import few_items, few_raters


def summary_of(rows: list[Vote], damaged=(), **values: float) -> Summary:
    """Summary of votes on pairs; `values` are a metric's, the same on every sample but for a little."""
    votes = canonical(rows)
    metrics = []
    if values:
        x = np.array([[values[name] + 0.01 * n for name in votes.methods] for n in range(len(votes.samples))])
        metrics = [MetricScores("m", x)]
    return read(analyse(votes, metrics, damaged=damaged))


def sentences(summary: Summary) -> list[tuple[str, str]]:
    return [parts(one) for one in words.sentences(summary, lines_of(summary, {"m": "The metric"}))]


def parts(said: Statement) -> tuple[str, str]:
    """The claim that a statement begins with, in bold, and the rest of it."""
    first = said.parts[0].text
    return first, said.text.removeprefix(first).strip()


def of_pair(summary: Summary, a: str, b: str, noun: str = NOUN) -> tuple[str, str]:
    return parts(words.pair(summary, a, b, noun))


def test_a_clear_study_says_who_is_first_and_that_it_is_enough():
    rows = [*said("good", "bad"), *said("good", "fair"), *said("fair", "bad")]
    first, metric, enough = sentences(summary_of(rows, good=3, fair=2, bad=1))
    assert first == ("People put good first.", "People would pick this entry in 85 of 100 comparisons [74, 91].")
    assert metric == ("The metric is above human level.", "")  # of one metric alone nothing is said of the best
    assert enough == ("The answers settle every place.", "")


def test_an_open_first_place_names_who_may_have_it_and_what_would_settle_it():
    summary = summary_of([*said("a", "b", wrong_every=3), *said("b", "c"), *said("a", "c", wrong_every=5)], a=1, b=2, c=3)
    first, metric, enough = sentences(summary)
    assert first[0] == "First place with people is not settled:" and first[1] == "a and b may be first."
    assert [part.text for part in words.opening(summary).parts if part.tone] == [first[0], "a", "b"]
    assert "".join(part if isinstance(part, str) else part.text for part in words.in_bold(list("abcde"))) == words.names("abcde")
    assert metric == ("The metric is worse than chance.", "")
    more = settling(summary.enough, 216, 9, "items")
    assert enough == ("The answers settle no place yet.", " ".join(more)) and more


def test_metrics_of_one_state_are_told_together_the_best_state_first_and_which_may_be_the_best_last():
    def line(title: str, value: float, state: Standing, places: tuple[int, int] | None = (1, 3), **more) -> Line:
        return Line(title, Agreement(value, value - 0.05, value + 0.05, 100, raters=9, samples=9), None, state, places, **more)

    lines = [
        line("A", 0.5, Standing.AT_CHANCE, (3, 3)),
        line("B", 0.8, Standing.HUMAN_LEVEL),
        line("C", 0.8, Standing.HUMAN_LEVEL),
        line("Random", 0.5, Standing.AT_CHANCE, None, reference_point=True),
    ]
    lines.append(line("T", 0.9, Standing.ABOVE_HUMAN_LEVEL, None, trained="these"))  # of which nothing can be claimed
    told = parts(words.sentences(summary_of(said("a", "b")), lines)[1])
    assert told[0] == "B and C are at human level." and agreement.state(lines[-1]) == ""
    assert told[1] == f"A is not shown to differ from chance. {agreement.may_be_best({'A': (3, 3), 'B': (1, 3), 'C': (1, 3)})}"


def test_of_metrics_that_are_all_at_chance_none_is_called_the_best():
    def line(title: str, state: Standing, **more) -> Line:
        return Line(title, Agreement(0.52, 0.4, 0.6, 100, raters=9, samples=9), None, state, **more)

    lines = [line(title, Standing.AT_CHANCE, places=(1, 2)) for title in "AB"]
    assert parts(words.sentences(summary_of(said("a", "b")), lines)[1]) == ("A and B are not shown to differ from chance.", "")
    assert agreement.claim(lines) == "No metric is shown to agree with people better than chance."
    more = agreement.claim([*lines, line("T", Standing.UNCLEAR, trained="these")])
    assert more == "No metric with a place is shown to agree with people better than chance."


def test_too_few_comparisons_are_called_so_where_votes_name_no_items():
    summary = summary_of([Vote(f"r{k}", "a", "b", "right" if k else "left", "") for k in range(9)])
    first = words.sentences(summary, [], "house")[0].text
    assert first == f"It is too early to say. {sentence(few_items(1), 'comparison')}"
    assert words.two_raters(summary, "house").endswith(sentence(few_items(1), "comparison"))


@pytest.mark.parametrize(
    ("rows", "damaged", "expected"),
    [
        (said("a", "b", raters=1), (), ("It is too early to say.", sentence(few_raters(1)))),
        (said("a", "b", samples=SAMPLES[:4]), (), ("It is too early to say.", sentence(few_items(4), NOUN))),
        ([Vote(f"r{k}", "a", "b", "tie", s) for k in range(6) for s in SAMPLES], (), ("Nobody preferred one entry to another.", "")),
        (said("a", "empty"), ("empty",), ("Only damaged entries were compared here.", "")),
    ],
)
def test_where_there_is_nothing_to_say_that_is_all_that_is_said(rows, damaged, expected):
    summary = summary_of(rows, damaged)
    assert sentences(summary) == [expected]
    assert (words.fragile(summary), words.forecast(summary, "x"), words.rough(summary)) == ("", "", "")


def test_where_all_answers_are_alike_nothing_says_how_surely_anything_leads():
    """Each of few people was asked about three of the items: too few answers for a share of the two alone."""
    asked = [(k, n) for k in range(RATERS_FOR_FIGURE) for n in range(3)]
    summary = summary_of([Vote(f"r{k}", "a", "b", "left", f"s{(k + n) % ITEMS_FOR_FIGURE}") for k, n in asked])
    assert (
        sentences(summary) == [("People put a first.", "No interval, because all raters and items give the same value.")]
        and summary.entry_pairs[0].asked is None
    )
    told = of_pair(summary, "b", "a", "house")
    assert told[0] == "The certainty of people's preference is unknown."
    assert f", the same with every rater and every house, so it has no interval: {len(asked)} votes on this pair" in told[1]


def test_enough_people_who_all_prefer_one_of_two_have_a_share_with_an_interval():
    """For six people and eight items the interval of a share of 1 begins at .025^(1/6) = .541."""
    summary = summary_of([Vote(f"r{k}", "a", "b", "left", s) for k in range(6) for s in SAMPLES])
    told = of_pair(summary, "b", "a", "house")
    assert told[0] == "People prefer B." and told[1].startswith("Asked about these two, 100 of 100 prefer B [54, 100]: 48 votes")


def test_entries_that_met_only_some_others_have_orders_of_their_own():
    found = sentences(summary_of([*said("a", "b"), *said("c", "d", raters=6)]))
    assert found[0][0] == "People put a first." and found[0][1].endswith("so each connected group has its own order.")


def test_two_entries_are_told_by_the_interval_beside_them_and_named_as_their_page_names_them():
    clear_summary = summary_of(said("a", "b"))
    clear = of_pair(clear_summary, "b", "a", "body")
    assert clear[0] == "People prefer B." and clear[1].endswith(" bodies in all.")
    assert clear[1].startswith("Asked about these two, 85 of 100 prefer B [74, 91]: 72 votes on this pair, ")
    open_ = of_pair(summary_of(said("a", "b", wrong_every=2)), "a", "b")
    assert open_[0] == "With people, these two entries are tied." and open_[1].startswith("Asked about these two, 50 of 100 prefer ")
    # Another test than that of the interval changes nothing.
    pair = clear_summary.entry_pairs[0]
    assert of_pair(replace(clear_summary, entry_pairs=[replace(pair, p_holm=0.2)]), "b", "a", "body") == clear
    apart = summary_of([*said("a", "b"), *said("b", "c")])
    assert of_pair(apart, "a", "c")[1] == "No answer that counts compares these two entries."
    few = summary_of([*said("a", "b"), *said("a", "c", raters=2)])
    assert of_pair(few, "a", "c")[1] == "Too few raters answered about one of these entries, or about too few items."


@pytest.mark.parametrize(
    ("asked", "value", "first", "figure"),
    [
        ((0.2, 0.1, 0.3), (0.8, 0.7, 0.9), "People prefer B.", "Asked about these two, 80 of 100 prefer B [70, 90]:"),
        (
            (0.4, 0.3, 0.55),
            (0.8, 0.7, 0.9),
            "With people, these two entries are tied.",
            "Asked about these two, 60 of 100 prefer B [45, 70]:",
        ),
        ((0.6, 0.55, 0.7), (0.6, 0.4, 0.7), "People prefer A.", "Asked about these two, 60 of 100 prefer A [55, 70]:"),
        (
            (0.5, 0.4, 0.6),
            (0.6, 0.4, 0.7),
            "With people, these two entries are tied.",
            "Asked about these two, 50 of 100 prefer A [40, 60]:",
        ),
        (None, (0.8, 0.7, 0.9), "People prefer A.", "People would pick A in 80 of 100 comparisons [70, 90], inferred from other pairs:"),
        (
            None,
            (0.6, 0.4, 0.7),
            "With people, these two entries are tied.",
            "People would pick A in 60 of 100 comparisons [40, 70], inferred from",
        ),
    ],
)
def test_two_entries_that_people_were_asked_about_are_told_by_that_alone_and_others_as_inferred(asked, value, first, figure):
    summary = summary_of(said("a", "b"))
    told = of_pair(replace(summary, entry_pairs=[replace(summary.entry_pairs[0], asked=asked, value=value)]), "a", "b")
    assert told[0] == first and told[1].startswith(figure)


def test_at_exactly_one_half_the_first_by_name_is_named():
    summary, half = summary_of(said("b", "a")), (0.5, 0.4, 0.6)
    pair = replace(summary.entry_pairs[0], asked=half)
    assert (pair.first, pair.second) == ("b", "a")
    for first, second, page in (("a", "b", "A"), ("b", "a", "B")):
        told = of_pair(replace(summary, entry_pairs=[pair]), first, second)
        assert told[1].startswith(f"Asked about these two, 50 of 100 prefer {page} [40, 60]:")


def test_first_place_is_settled_by_the_interval_of_the_first_alone():
    """Intervals have bars of their own: that of a rival can begin at 1 where the first's is 1 to 1, and at 2 where it ends lower."""
    summary = summary_of([*said("a", "b"), *said("a", "c"), *said("b", "c")])

    def first(*ranks: tuple[int, int]) -> tuple[str, str]:
        rows = [replace(line, rank=rank) for line, rank in zip(summary.scales, ranks, strict=True)]
        return sentences(replace(summary, scales=rows))[0]

    assert first((1, 1), (1, 3), (2, 3))[0] == "People put a first."
    assert first((1, 2), (2, 3), (3, 3)) == ("First place with people is not settled:", "a may be first, and its place may be as low as 2.")
    assert first((1, 2), (1, 2), (3, 3)) == ("First place with people is not settled:", "a and b may be first.")


def test_of_two_entries_it_is_too_early_to_say_only_where_it_is_too_early():
    nobody = summary_of([Vote(f"r{k}", "a", "b", "tie", s) for k in range(6) for s in SAMPLES])
    assert of_pair(nobody, "a", "b") == ("Nobody preferred one entry to another.", "")
    level = summary_of([Vote(f"r{k}", "a", "b", "left" if (k + n) % 2 else "right", s) for n, s in enumerate(SAMPLES) for k in range(6)])
    told = of_pair(level, "a", "b", "house")
    assert told[0] == "With people, these two entries are tied."
    assert told[1] == "Asked about these two, 50 of 100 prefer A [36, 64]: 48 votes on this pair, 6 raters and 8 houses in all."
    three = summary_of(said("a", "b", raters=3))
    assert of_pair(three, "a", "b") == (words.EARLY, sentence(few_raters(3)))


def test_scores_of_two_entries_are_told_with_true_signs_and_called_alike_where_they_are():
    def told(lift: int) -> tuple[str, str]:
        rows = [
            Rating(f"r{k}", name, 3.0 + (k + n + m * n) % 2 + lift * m, s)
            for k in range(6)
            for n, s in enumerate(SAMPLES)
            for m, name in enumerate("ab")
        ]
        return of_pair(read(analyse(rating.canonical(rows), damaged=())), "a", "b")

    level, apart = told(0), told(1)
    same = [Rating(f"r{k}", name, 3.0 + (k + n) % 2, s) for k in range(6) for n, s in enumerate(SAMPLES) for name in "ab"]
    other = [Rating(f"r{k}", "c", 1.0 + (k + n) % 3, s) for k in range(6) for n, s in enumerate(SAMPLES)]
    assert of_pair(read(analyse(rating.canonical([*same, *other]), damaged=())), "a", "b") == (
        "The certainty of people's preference is unknown.",
        "Raters score both alike, 0.00 points apart, the same with every rater and every item, so it has no interval: "
        "48 times one rater scored both, 6 raters and 8 items in all.",
    )
    assert level[0] == "With people, these two entries are tied." and apart[0] == "People prefer B."
    assert level[1].startswith("Raters score both alike, 0.00 points apart [−") and "-" not in level[1]
    assert apart[1].startswith("Raters score B 1.00 points higher than A [")


def test_what_first_place_hangs_on_is_not_told_where_it_is_shared():
    rows = [
        Vote(f"r{k}", a, b, "left" if (k + n) % 2 else "right", s)
        for n, s in enumerate(SAMPLES)
        for k in range(6)
        for a, b in ("ab", "bc", "ac")
    ]
    level = summary_of(rows)
    assert level.shares_first and level.fragile is not None
    assert [row.what for row in words.enough_rows(level)] == ["Places 1 to 3"], "no part has an order to keep either"
    assert not summary_of(said("a", "b")).shares_first


def test_few_raters_make_rough_intervals():
    assert words.rough(summary_of(said("a", "b", raters=6))) == "Few raters: rough intervals."
    assert words.rough(summary_of(said("a", "b", raters=6, samples=SAMPLES[:6]))) == "Few raters and items: rough intervals."
    assert words.rough(summary_of(said("a", "b"))) == ""
    assert "raters and bodies:" in words.rough(summary_of(said("a", "b", raters=6, samples=SAMPLES[:6])), "body")


def test_the_forecast_names_what_helps_most_and_first_place_what_it_hangs_on():
    rng = np.random.default_rng(3)
    rows = [
        Vote(f"r{k}", "good", "bad", "left" if rng.random() < (0.95 if n % 2 else 0.35) else "right", sample)
        for n, sample in enumerate(SAMPLES)
        for k in range(20)
    ]
    summary = summary_of(rows, good=2, bad=1)
    said_of = words.forecast(summary, "The metric")
    assert said_of.startswith("The metric's agreement with people is now known to about ±") and said_of.endswith("More items help most.")
    assert words.fragile(summary).startswith("Leaving out ") and "of 160 answers" in words.fragile(summary)
    firm = summary_of(
        [Vote(f"r{k}", "good", "bad", "right" if k == n == 0 else "left", sample) for n, sample in enumerate(SAMPLES) for k in range(20)]
    )
    # Not that no half decides it: all of the halves cannot be tried.
    none = "The search found no way to change first place by leaving out up to half of the answers, raters or items."
    assert words.fragile(firm) == none


def test_the_side_is_told_as_a_share_with_the_interval_of_the_share():
    summary = summary_of(said("a", "b"))
    model = Preference(part=1, nu=2.0, side=(0.0, -math.log(9), math.log(9)), left_preferred=0.5, covariates=[], prior=False, omitted=[])
    # e^(ln 9 / 2) = 3: (3 + 1) / (3 + 1/3 + 2) = .75, and (1/3 + 1) / (16/3) = .25
    told = words.sides(replace(summary, models=[model]))
    assert told == ["Side: of two equal entries the left one is picked in 50 of 100 comparisons [25, 75]."]
    alike = replace(model, side=(0.3, None, None))
    assert words.sides(replace(summary, models=[alike])) == []


def test_what_two_people_say_alike_is_told_where_enough_people_know_it():
    level = [Vote(f"r{k}", "a", "b", "left" if (k + n) % 2 else "right", s) for n, s in enumerate(SAMPLES) for k in range(10)]
    summary, no_better = summary_of(level), "so there may be no common preference that a metric could follow."
    told = words.two_raters(summary)
    assert told.startswith(
        "Two raters agree on 44 [39, 49.6] of 100 comparisons in which both named a winner (80 votes). "
    ) and told.endswith(no_better)
    alike = replace(summary.ceiling, two_people=Figure(0.75, None, None, 80, ALIKE))
    told = words.two_raters(replace(summary, ceiling=alike))
    assert told.startswith("Two raters agree on 75 of 100 comparisons in which both named a winner (80 votes).") and told.endswith(
        "the same for all raters, so it has no interval."
    )
    sure = words.two_raters(summary_of(said("a", "b")))
    assert sure.startswith("Two raters agree on 72 [") and no_better not in sure
    assert words.two_raters(summary_of(said("a", "b", raters=1))).startswith("No comparison was decided by two raters")
    # Four raters judge the same comparisons, four more some that nobody else judges.
    few = [*said("a", "b", raters=4)]
    few += [Vote(f"x{n % 4}", "a", "b", "left", f"own {n}") for n in range(16)]
    rows = few + [Vote(f"r{k}", one, other, "left", s) for k in range(4) for s in SAMPLES for one, other in ("ac", "bc")]
    summary = summary_of(rows, a=3, b=2, c=1)
    assert summary.ceiling is not None and summary.another_rater is not None and summary.another is None
    told = words.two_raters(summary)
    assert told.endswith(sentence(few_raters(4))) and "Two raters agree" not in told
    assert [line.another for line in lines_of(summary)] == [None] * 3
    assert lines_of(summary)[0].level is Standing.UNCLEAR


def scored(rows: list[Rating], damaged=()) -> Summary:
    scores = rating.canonical(rows)
    return replace(read(analyse(scores, damaged=damaged)), damaged=list(damaged))


def test_opinion_scores_of_which_none_stand_side_by_side_are_not_called_equal():
    rows = [Rating(f"r{(n + m) % 6}", name, 1.0 + n + m % 2, s) for m, s in enumerate(SAMPLES) for n, name in enumerate("abc")]
    apart = scored(rows)
    alone = Reason(Key.NO_COMPARISONS)
    assert apart.reason == alone and sentences(apart) == [(sentence(alone, NOUN), "")]
    assert not apart.ordered and not apart.entry_pairs
    assert [line for line in apart.ranked if not (apart.shows(line) and line.rank is None)] == []  # means there are, with their intervals
    assert scored(rows, damaged="abc").reason == Reason(Key.ONLY_DAMAGED)


def test_opinion_scores_that_are_all_alike_put_the_entries_in_no_order():
    alike = scored([Rating(f"r{k}", name, 3.0, s) for k in range(6) for s in SAMPLES for name in "ab"])
    assert sentences(alike) == [("Nobody preferred one entry to another.", "")] and not alike.ordered
    assert [line.reason for line in alike.scales] == [Reason(Key.SAME_SCORES, have=6 * len(SAMPLES), value=3.0)] * 2
    damaged = scored([Rating(f"r{k}", name, 3.0 + k % 2, s) for k in range(6) for s in SAMPLES for name in "ab"], damaged="ab")
    assert sentences(damaged) == [("Only damaged entries were compared here.", "")]


def test_an_entry_that_was_never_scored_beside_the_first_is_named_as_that():
    rows = [Rating(f"r{k}", name, score, s) for k in range(6) for s in SAMPLES for name, score in (("a", 5.0 - k % 2), ("b", 2.0 + k % 2))]
    rows += [Rating(f"x{k}", "c", 3.0 + k % 2, s) for k in range(6) for s in SAMPLES]
    found = scored(rows)
    assert {line.method: line.rank for line in found.ranked} == {"a": (1, 1), "b": (2, 2), "c": None}
    first, rest = sentences(found)[0]
    assert first == "People score a highest." and rest.endswith(
        "Comparisons do not connect all entries, so each connected group has its own order."
    )


def test_opinion_scores_name_who_is_scored_highest_only_where_told_apart():
    rng = np.random.default_rng(1)

    def of(gap: float) -> Summary:
        rows = [
            Rating(f"r{k}", name, float(np.clip(round(base + rng.normal(0, 0.7)), 1, 5)), sample)
            for k in range(9)
            for sample in SAMPLES
            for name, base in (("a", 3 + gap), ("b", 3))
        ]
        scores = rating.canonical(rows)
        return read(analyse(scores))

    apart, level = sentences(of(1.5)), sentences(of(0.0))
    assert apart[0][0] == "People score a highest." and apart[1][0] == "The answers settle every place."
    assert level[0][0] == "First place with people is not settled:" and level[0][1].endswith(" may be first.")


def test_an_entry_that_everybody_scores_alike_is_the_highest_where_it_is():
    def of(**scores: int) -> Summary:
        """The entries called so with these scores; of `c` one score in three is one less."""
        rows = [
            Rating(f"r{k}", name, float(score - (name == "c" and (k + n) % 3 == 0)), s)
            for k in range(6)
            for n, s in enumerate(SAMPLES)
            for name, score in scores.items()
        ]
        return scored(rows)

    first, rest = sentences(of(a=5, c=4))[0]
    assert first == "People score a highest." and rest == "5.00 of 5 (all 48 scores are 5)."
    assert sentences(of(a=3, b=3, c=2))[0] == ("First place with people is not settled:", "a and b may be first.")
    assert sentences(of(a=5, b=4, c=3))[0][0] == "People score a highest."
    first, rest = sentences(of(b=2, c=5))[0]
    assert first == "People score c highest." and rest.startswith("4.67 of 5 [")


def test_of_one_entry_alone_nothing_is_said_of_a_first_place():
    rows = [
        Rating(f"r{k}", name, base + (k * n + len(name) * k) % step, s)
        for k in range(6)
        for n, s in enumerate(SAMPLES)
        for name, base, step in (("a", 3.0, 2), ("b", 1.0, 3))
    ]
    alone = scored([row for row in rows if row.entry == "a"])
    assert sentences(alone) == [(sentence(Reason(Key.NO_COMPARISONS), NOUN), "")]
    whole = scored(rows)
    assert sentences(whole)[0][0] == "People score a highest."
    for withheld in ("b", "ab"):
        assert sentences(whole.without(set(withheld))) == [("Fewer than two of the compared entries are shown here.", "")]


def test_rater_groups_are_told_with_the_likeness_on_other_items():
    summary = summary_of(said("a", "b"))
    assert words.rater_groups(summary) == "" and summary.rater_groups is None
    split = RaterGroups(sizes=[8, 6], silhouette=0.6, within=0.749, between=0.285, p=0.0008)
    told = words.rater_groups(replace(summary, rater_groups=split), "house")
    assert told == (
        "There are 2 rater groups, of 8 and 6 raters. Two raters of one group agree on 75 of 100 comparisons, two of different groups on "
        "28. A permutation test on houses that were not used to find the groups gives p < .001."
    )
    assert "groups gives p = .042." in words.rater_groups(replace(summary, rater_groups=replace(split, p=0.042)))


def test_each_line_says_what_is_settled_and_what_a_part_of_the_answers_keeps():
    clear = words.enough_rows(summary_of([*said("good", "bad"), *said("good", "fair"), *said("fair", "bad")], good=3, fair=2, bad=1))
    assert (clear[0].what, clear[0].is_enough, clear[0].words) == ("Places 1 to 3", True, "enough")
    assert [row.what for row in clear[1:4]] == ["Raters", "Votes", "Items"] and clear[-1].what == "What first place depends on"
    open_ = words.enough_rows(summary_of([*said("a", "b", wrong_every=3), *said("b", "c"), *said("a", "c", wrong_every=5)]))
    assert (open_[0].what, open_[0].is_enough, open_[0].words) == ("Places 1 to 3", False, "not yet")
    assert open_[0].more.startswith("More votes by these raters on these items are not likely to settle first place.")
    assert words.enough_rows(summary_of(said("a", "b", raters=1))) == []


def test_without_an_entry_that_is_withheld_first_place_is_that_of_the_others():
    """All put h first, and a and b are told from nobody but it."""
    whole = summary_of([*said("h", "a"), *said("h", "b"), *said("a", "b", wrong_every=2)])
    assert sentences(whole)[0][0] == "People put h first." and whole.enough.settled == 1 and whole.fragile is not None
    summary = whole.without({"h"})
    assert [(line.method, line.rank, line.may_be_first) for line in summary.ranked] == [("a", (1, 2), True), ("b", (1, 2), True)]
    assert sentences(summary) == [("First place with people is not settled:", "a and b may be first.")]
    assert (summary.enough, summary.fragile) == (None, None)
    alone = whole.without({"a", "b"})
    assert sentences(alone) == [("Fewer than two of the compared entries are shown here.", "")]
    assert (whole.ordered, summary.ordered, alone.ordered) == (True, True, False)
    # Nothing of what is said of a first place changes with an entry that stands below it.
    last = whole.without({"b"})
    assert sentences(last)[0] == sentences(whole)[0] and last.fragile == whole.fragile


def test_where_each_entry_has_one_score_from_everybody_no_score_is_said_to_be_that_of_all():
    rows = [Rating(f"r{k}", name, score, f"s{n}") for k in range(6) for n in range(6) for name, score in (("a", 4.0), ("b", 2.0))]
    summary = read(analyse(rating.canonical(rows), seed=0))
    assert [line.reason for line in summary.ranked] == [Reason(Key.SAME_SCORES, have=36, value=score) for score in (4.0, 2.0)]
    said = ("The certainty of people's preferences is unknown:", "for each entry, all ratings are the same.")
    assert sentences(summary)[0] == said
    level = read(analyse(rating.canonical([replace(row, score=4.0) for row in rows]), seed=0))
    assert sentences(level)[0] == ("Nobody preferred one entry to another.", "")


def test_where_answers_name_no_sample_each_pair_is_counted_as_one_and_called_so():
    pairs = [("a", "b", 5), ("a", "c", 6), ("b", "c", 7), ("a", "d", 5), ("b", "d", 6), ("c", "d", 7)]
    rows = [row for better, worse, wrong in pairs for row in said(better, worse, samples=("",), raters=12, wrong_every=wrong)]
    summary = summary_of(rows)
    assert summary.unsampled and (summary.raters_counted, summary.samples_counted) == (12, 6)
    assert words.rough(summary, "house") == "Few comparisons: rough intervals."
    assert of_pair(summary, "a", "b", "house")[1].endswith("12 raters and 6 comparisons in all.")
    told = " ".join(f"{row.what} {row.more}" for row in words.enough_rows(summary, "house"))
    assert " of 6 comparisons" in told and "house" not in told.lower()
    fragile = Fragile(answers=None, raters=None, samples=2)
    assert words.fragile(replace(summary, fragile=fragile), sampled_noun("house", True)).startswith("Leaving out 2 of 6 comparisons is")


def test_the_head_and_the_line_of_a_place_say_the_same_of_what_would_settle_it_and_no_bare_number_of_answers():
    summary = summary_of([*said("a", "b", wrong_every=3), *said("b", "c"), *said("a", "c", wrong_every=5)])
    assert summary.answers == 216 and summary.raters_counted == 9

    def told(people: Plan) -> str:
        none = Plan(None, 0.1, 0.2)
        study = replace(summary, enough=replace(summary.enough, plans=Settling(none, people, none, none)))
        (row,) = [row for row in words.enough_rows(study, "house") if row.is_enough is False and not row.of_parts]
        head = parts(words.sentences(study, lines_of(study, noun="house"), "house")[-1])[1]
        assert head == row.more
        return head

    never = "More votes by these raters on these houses are not likely to settle first place."
    assert told(Plan(None, 0.3, 0.9)) == (
        f"{never} Even a study 16 times as large is not likely to settle first place: the first 2 entries may be equal."
    )
    with_people = "With 2 times the raters (9 more raters, 216 more votes) first place would be settled in about 9 of 10 cases."
    assert told(Plan(2.0, 0.9, 1.0)) == f"{never} {with_people}"


def test_a_part_keeps_the_order_only_below_all_of_them():
    curve = Curve(resource="raters", sizes=[1, 2, 6, 8], mean=[1.0] * 4, low=[1.0] * 4, high=[1.0] * 4, enough=2)
    assert curve.steady == RATERS_FOR_FIGURE  # fewer people than any figure needs keep nothing
    assert replace(curve, resource="comparisons").steady == 2
    assert replace(curve, enough=8).steady is None and replace(curve, enough=None).steady is None


def test_of_published_means_the_highest_is_named_and_nothing_said_of_how_surely():
    clear = summary_of(said("a", "b"))
    scales = [replace(line, mos=(mean, None, None)) for line, mean in zip(clear.scales, (4.5, 4.25), strict=True)]
    means = replace(clear, kind="opinions", of="means", scales=scales)
    [(first, rest)] = sentences(means)
    assert first == f"{scales[0].method} has the highest published mean rating."
    assert rest == "4.50 of 5, among 2 entries. Without single ratings, the certainty of this lead is unknown."


NONE = Plan(None, 0.1, 0.2)


@pytest.mark.parametrize(
    ("plans", "said"),
    [
        (None, []),
        (
            Settling(Plan(None, 0.2, 0.6), Plan(3.0, 0.83, 1.0), NONE, NONE),
            ["With 3 times the raters (24 more raters, 1,440 more votes) first place would be settled in about 8 of 10 cases."],
        ),
        (
            Settling(NONE, NONE, Plan(2.0, 0.9, 1.0), NONE),
            [
                "More votes by these raters on these houses are not likely to settle first place.",
                "With 2 times the houses (720 more votes) first place would be settled in about 9 of 10 cases.",
            ],
        ),
        (
            Settling(NONE, NONE, NONE, NONE),
            [
                "More votes by these raters on these houses are not likely to settle first place.",
                "Even a study 16 times as large is not likely to settle first place: the first 3 entries may be equal.",
            ],
        ),
    ],
)
def test_what_would_settle_first_place(plans, said):
    enough = Enough(0, "A", ["B", "C"], plans)
    assert settling(enough, 720, 12, "houses") == said


def test_three_raters_who_gave_most_votes_are_named():
    assert unequal(np.array([40, 30, 20, 10, 10])) and not unequal(np.array([20] * 6)) and not unequal(np.array([9, 9, 9]))


def test_what_people_said_who_were_asked_about_two():
    assert words.asked_about("A", (0.58, 0.4, 0.74)) == "Asked about these two, 58 of 100 prefer A [40, 74]."
    assert words.asked_about("A", (None, None, None)) == ""


def test_why_entries_of_a_study_stand_apart_from_the_others():
    assert words.apart(Apart.UNMET) == "People compared these entries with none of the entries above."
    assert words.apart(Apart.FEW, "house") == "These entries were compared by too few raters, or on too few houses, to have a place:"


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ((), ""),
        ((("PSNR", "a"),), "PSNR puts this entry before a"),
        ((("PSNR", "a"), ("SSIM", "b")), "PSNR puts this entry before a; SSIM puts this entry before b"),
    ],
)
def test_which_metrics_put_an_entry_before_one_that_people_prefer(metrics, said):
    assert words.against(SimpleNamespace(against=metrics)) == said


def look(number: int, answers: int, first: str, *rest: str) -> PlannedLook:
    """A look at which the `rest` were not told from the first."""
    at = datetime(2026, 11, 1, tzinfo=UTC)
    return PlannedLook(
        number=number, at=at, answers=answers, raters=6, samples=20, settled=not rest, first=first, not_told_from_first=list(rest)
    )


@pytest.mark.parametrize(
    ("last", "due", "so_far", "closed", "expected"),
    [
        (
            None,
            160,
            150,
            False,
            "Not settled: none of 3 planned looks at first place has been taken. The next look is due at 160 answers from at least 5 "
            "raters on 5 houses, and 150 count so far.",
        ),
        (
            None,
            160,
            1200,
            False,
            "Not settled: none of 3 planned looks at first place has been taken. 1,200 answers count so far. The next look waits until "
            "they come from at least 5 raters on 5 houses.",
        ),
        (
            look(1, 180, "a", "b", "c"),
            320,
            None,
            False,
            "Not settled at look 1 of 3 planned looks at first place, after 180 answers: a led, tied with b and c. The next look is due at "
            "320 answers from at least 5 raters on 5 houses.",
        ),
        (
            look(2, 340, "a", "b"),
            480,
            340,
            True,
            "Not settled at look 2 of 3 planned looks at first place, after 340 answers: a led, tied with b. The study was closed before "
            "the last look.",
        ),
        (
            look(2, 340, "a"),
            480,
            None,
            True,
            "Settled: a is first, at look 2 of 3 planned looks at first place, after 340 answers of 6 raters on 20 houses. If all entries "
            "were equal, the planned looks together would still name a first one in about 5 of 100 studies.",
        ),
        (look(3, 490, "a", "b"), 640, None, True, "Not settled: when all 490 planned answers were in, a led, tied with b."),
        (look(3, 500, "", "a"), 640, None, True, "Not settled: when all 500 planned answers were in, nobody had preferred any entry."),
    ],
)
def test_planned_looks_say_how_far_first_place_is_settled(last, due, so_far, closed, expected):
    assert words.interim_analyses(InterimAnalyses(3, last, due, so_far, closed, "house")) == expected
    assert words.interim_analyses(None) == ""

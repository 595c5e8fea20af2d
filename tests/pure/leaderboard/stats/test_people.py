"""The summary of a study's answers: contradictions, pairs, reference points, what is enough, and judges, on answers made for the test."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.records.study import Summary
from leaderboard.stats import opinions, study, two_way_intervals
from leaderboard.stats.answers import answers
from leaderboard.stats.judges import JudgeAnswers, Judged
from leaderboard.stats.metric_board import Scored
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.mos_table import canonical as canonical_ratings
from leaderboard.stats.people import People
from leaderboard.stats.records import Enough, Entries, plain
from leaderboard.stats.states import Key, Reason, State
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.two_way_intervals import Clusters
from leaderboard.stats.votes import Vote, canonical
from tests.support.leaderboard.reasons import few_items, few_raters

SAMPLES = [f"s{n}" for n in range(8)]


def said(better: str, worse: str, raters: int = 9, samples=SAMPLES, wrong_every: int = 7) -> list[Vote]:
    """Everybody on every sample; one answer in seven names the other one, so that intervals have a width."""
    rows = []
    for k in range(raters):
        for n, sample in enumerate(samples):
            turned = (k + 3 * n) % wrong_every == 0
            rows.append(Vote(f"r{k}", better, worse, "right" if turned else "left", sample))
    return rows


def told(*given, **named) -> Entries:
    return People(*given, **named).entries


def read(found) -> Summary:
    """As it comes back from where it is stored."""
    return Summary.read(json.loads(json.dumps(plain(found), allow_nan=False)))


def table(**values: float) -> np.ndarray:
    """Values that differ between samples, by so much everywhere."""
    return np.array([[value + 0.01 * n for _, value in sorted(values.items())] for n in range(len(SAMPLES))])


def test_a_metric_that_puts_people_s_choice_last_contradicts_them_and_names_where():
    votes = canonical([*said("good", "bad"), *said("good", "fair"), *said("fair", "bad")])
    found = told(answers(votes), [Scored("against", table(bad=2, fair=1, good=0)), Scored("alike", table(bad=0, fair=1, good=2))])
    against, alike = (next(row for row in found.metrics if row.key == key) for key in ("against", "alike"))
    assert {(one.first, one.second) for one in against.contradictions} == {("good", "bad"), ("good", "fair"), ("fair", "bad")}
    assert alike.contradictions == [] and against.decided.value == pytest.approx(1 - alike.decided.value)
    clearest = against.contradictions[0]
    assert clearest.p_holm <= min(one.p_holm for one in against.contradictions) and clearest.p_holm <= 0.05
    assert clearest.value[1] > 0.5 and clearest.p_metric == pytest.approx(2 / 2**8) and set(clearest.samples) == set(SAMPLES)


def test_a_contradiction_needs_both_people_and_metric_beyond_chance():
    votes = canonical(said("good", "bad"))
    mixed = table(bad=0.1, good=0)
    mixed[::2, 0] -= 0.19  # bad is above by a hair over the samples, as chance has it
    (row,) = [row for row in told(answers(votes), [Scored("m", mixed)]).metrics if row.key == "m"]
    assert np.nanmean(mixed[:, 0]) > np.nanmean(mixed[:, 1]) and row.contradictions == []
    even = canonical(said("good", "bad", wrong_every=2))
    (row,) = [row for row in told(answers(even), [Scored("m", table(bad=2, good=0))]).metrics if row.key == "m"]
    assert row.contradictions == []
    few = canonical(said("good", "bad", samples=SAMPLES[:5]))
    (row,) = [row for row in told(answers(few), [Scored("m", table(bad=2, good=0)[:5])]).metrics if row.key == "m"]
    assert row.decided.low is not None and row.contradictions == []  # the paired test needs six
    whole = Scored("whole", np.full((8, 2), math.nan), np.array([2.0, 0.0]))
    (row,) = [row for row in told(answers(votes), [whole]).metrics if row.key == "whole"]
    assert [(one.first, one.p_metric) for one in row.contradictions] == [("good", None)]  # strictly the other way


def test_three_who_never_meet_and_one_alone_are_too_few():
    for rows, raters in (
        ([vote for k in range(3) for vote in said("a", "b", samples=SAMPLES[2 * k : 2 * k + 2]) if vote.rater == f"r{k}"], 3),
        (said("a", "b", raters=1), 1),
    ):
        found = told(answers(canonical(rows)), [Scored("m", table(a=1, b=0)[: len(canonical(rows).samples)])])
        assert found.reason == few_raters(raters)
        (row,) = [row for row in found.metrics if row.key == "m"]
        assert (row.decided.low, row.places, row.spa.value, row.difference, row.person, row.contradictions) == (
            None,
            None,
            None,
            None,
            None,
            [],
        )
        assert row.standing == "too_early"


def test_a_part_of_too_few_raters_is_not_tested_though_all_parts_have_enough():
    others = [replace(vote, rater=f"q{vote.rater}") for vote in said("x", "y", raters=3)]
    found = told(answers(canonical([*said("a", "b", raters=4), *others])), [Scored("m", table(a=1, b=0, x=1, y=0))])
    assert found.raters_counted == 7 and found.reason is None
    assert {entry.reason for entry in found.scales if entry.part == 1} == {few_raters(4)}
    (row,) = [row for row in found.metrics if row.key == "m"]
    assert row.decided.low is not None  # of all answers
    assert row.spa.value is None and row.spa.reason == few_raters(4)
    assert found.fragile is None and found.enough is None and [pair for pair in found.entry_pairs if pair.p_holm is not None] == []


def test_an_entry_that_nothing_moves_says_why_it_has_no_interval_though_others_have_one():
    """Every second rater has a before b and c and b before c, the others the reverse: b stands at one half whoever votes."""
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    votes = [Vote(f"r{k}", *pair, "left" if k % 2 else "right", sample) for k in range(6) for sample in SAMPLES for pair in pairs]
    lines = {entry.method: entry for entry in told(answers(canonical(votes))).scales}
    assert lines["b"].implied == (pytest.approx(0.5), None, None)
    assert (lines["b"].state, lines["b"].reason) == (State.ALIKE, Reason(Key.ALIKE))
    assert lines["a"].implied[1] < 0.5 < lines["a"].implied[2]
    assert (lines["a"].state, lines["a"].reason) == (State.KNOWN, None)


def test_a_metric_without_values_on_samples_says_why_its_certainty_is_not_known():
    votes = canonical([*said("good", "bad"), *said("fine", "fair")])
    whole = Scored("whole", np.full((8, 4), math.nan), np.array([2.0, 0.0, 1.0, 3.0]))
    elsewhere = Scored("elsewhere", table(bad=math.nan, fair=1, fine=2, good=math.nan))
    rows = {row.key: row.spa for row in told(answers(votes), [whole, elsewhere]).metrics}
    assert rows["whole"].value is None and rows["whole"].reason == Reason(Key.NO_WINNER)
    # People's certainty is of the part with most answers, here that of the first name, and this metric has values in the other.
    assert rows["elsewhere"].value is None
    assert rows["elsewhere"].reason == Reason(Key.NO_TWO)


def test_nobody_preferring_any_has_no_model_and_no_pair():
    rows = [Vote(f"r{k}", "a", "b", "tie", sample) for k in range(6) for sample in SAMPLES]
    found = told(answers(canonical(rows)), [Scored("m", table(a=1, b=0))])
    assert found.reason == Reason(Key.NO_PREFERENCE) and found.models == [] and found.entry_pairs == [] and found.enough is None


def test_size_is_a_reference_point_and_a_metric_that_is_size_alone_is_not_above_it():
    votes = canonical([*said("good", "bad"), *said("good", "fair"), *said("fair", "bad")])
    size = table(bad=5, fair=9, good=3)
    metrics = [Scored("like_size", 2 * size), Scored("people", table(bad=0, fair=1, good=2))]
    found = told(answers(votes), metrics, size=size)
    rows = {row.key: row for row in found.metrics}
    assert [row.key for row in found.metrics][-3:] == ["constant", "coin", "size"]
    assert rows["like_size"].above_size is False and rows["people"].above_size is True
    assert rows["size"].places is None and rows["size"].decided.value == rows["like_size"].decided.value
    assert rows["constant"].decided.value == 0.5 and rows["constant"].decided.low is None


def test_enough_is_said_of_places_whose_rank_intervals_overlap_none_below():
    clear = told(answers(canonical([*said("good", "bad"), *said("good", "fair"), *said("fair", "bad")])))
    assert clear.enough == Enough(3, "good", [], None)
    level = said("fair", "bad", samples=SAMPLES[:7], wrong_every=2)
    close = told(answers(canonical([*said("good", "bad"), *said("good", "fair"), *level])))
    assert (close.enough.settled, close.enough.first, close.enough.plans) == (1, "good", None)
    assert clear.forecast is None  # no metric


def test_a_metric_that_is_always_right_has_no_forecast():
    rows = [Vote(f"r{k}", *pair, "left", sample) for pair in ("ab", "bc", "ac") for k in range(6) for sample in SAMPLES]
    metric = Scored("m", table(a=3, b=2, c=1))
    found = told(answers(canonical(rows)), [metric])
    assert found.metrics[0].decided.value == 1.0 and found.metrics[0].decided.low < 1.0
    assert found.forecast is None  # nothing varies, so that it would be known for sure
    often = [vote for pair in ("ab", "bc", "ac") for vote in said(*pair)]
    assert told(answers(canonical(often)), [metric]).forecast is not None


def test_scores_that_are_all_alike_tell_entries_apart_unless_their_means_are_equal():
    rows = [
        Rating(f"r{k}", name, score, sample) for k in range(6) for sample in SAMPLES for name, score in (("a", 5.0), ("b", 3.0), ("c", 3.0))
    ]
    scores = canonical_ratings(rows)
    found = analyse(scores)
    assert {(one.first, one.second): one.p_holm for one in found.entry_pairs} == {("a", "b"): 0.0, ("a", "c"): 0.0, ("b", "c"): 1.0}
    few = canonical_ratings([row for row in rows if row.rater in ("r0", "r1", "r2", "r3")])
    assert {one.p_holm for one in analyse(few).entry_pairs} == {None}


def test_more_items_help_where_items_differ_most():
    rng = np.random.default_rng(3)
    rows = []
    for n, sample in enumerate(SAMPLES):
        for k in range(20):
            good = rng.random() < (0.95 if n % 2 else 0.35)
            rows.append(Vote(f"r{k}", "good", "bad", "left" if good else "right", sample))
    found = told(answers(canonical(rows)), [Scored("m", table(bad=0, good=1))])
    assert found.forecast.helps == "samples" and found.forecast.samples[1] < found.forecast.now


def test_scores_are_compared_by_the_difference_of_their_means():
    rng = np.random.default_rng(1)
    asked = [(f"r{k}", sample, name, base) for k in range(9) for sample in SAMPLES for name, base in (("a", 4), ("b", 2))]
    rows = [Rating(rater, name, float(np.clip(round(base + rng.normal(0, 0.7)), 1, 5)), sample) for rater, sample, name, base in asked]
    scores = canonical_ratings(rows)
    apart = opinions.levels(scores, np.array([0, 1])).tests
    a, b = ([row.score for row in rows if row.entry == name] for name in "ab")
    # By the definition: the influence of each score on the difference of the two means, over raters and samples.
    gap, is_a = np.mean(a) - np.mean(b), scores.method == 0
    u = np.where(is_a, (scores.score - np.mean(a)) / len(a), (np.mean(b) - scores.score) / len(b))
    peer = two_way_intervals.figure(gap, u, Clusters(scores.rater, scores.sample), np.ones(len(u)), share=False)
    assert (apart.value[0, 1], apart.low[0, 1], apart.high[0, 1]) == pytest.approx(peer.ends)
    assert apart.p[0, 1] == pytest.approx(two_way_intervals.two_sided(gap, peer.se**2, peer.df))
    assert (apart.value[1, 0], apart.low[1, 0], apart.high[1, 0]) == pytest.approx((-peer.value, -peer.high, -peer.low))
    metric = MetricScores("m", table(a=0, b=1))
    found = analyse(scores, [metric])
    (one,) = found.metric("m").contradictions
    assert (one.first, one.second) == ("a", "b") and one.value[0] == pytest.approx(gap) and one.p_holm < 0.001
    summary = read(found)
    assert [entry.method for entry in summary.ranked] == ["a", "b"] and summary.ranked[0].mos[0] == pytest.approx(np.mean(a))


# --- judges


def judge_of(rows, key: str, turn: int = 1, share: float = 1.0, more=(), **values) -> JudgeAnswers:
    """One that says what the majority says, or the reverse, in such a share of the questions, on the rows' questions and `more`."""
    rng = np.random.default_rng(4)
    asked = sorted({(row.sample, row.left, row.right) for row in rows}) + list(more)
    verdicts = [(-1 if rng.random() < share else 1) * turn for _ in asked]
    return JudgeAnswers(
        key, tuple(Judged(sample, left, right, (v,)) for (sample, left, right), v in zip(asked, verdicts, strict=True)), **values
    )


def pairs_of_six() -> list[Vote]:
    names = ["a", "b", "c", "d", "e", "f"]
    return [vote for n, better in enumerate(names) for worse in names[n + 1 :] for vote in said(better, worse, raters=6)]


def test_a_judge_counts_after_the_test_only_and_then_beside_people_alone():
    rows = pairs_of_six()
    votes = canonical(rows)
    more = [(f"t{n}", "a", "b") for n in range(40)]
    metric = MetricScores("m", np.vstack([table(a=6, b=5, c=4, d=3, e=2, f=1)]))
    models = [
        judge_of(rows, "good", more=more),
        judge_of(rows, "contrary", turn=-1),
        judge_of(rows, "shown", display_only=True),
        judge_of(rows, "placed", drawn_alike=False),
    ]
    found = analyse(votes, [metric], models=models)
    judges = {row.key: row for row in found.judges}
    assert judges["good"].gate.passed and judges["good"].decided.value > 0.8
    assert not judges["contrary"].gate.passed and judges["contrary"].with_people == []
    assert judges["shown"].with_people == [] and judges["placed"].with_people == []
    (together,) = judges["good"].with_people
    alone = found.metric("m").decided
    assert together.key == "m" and together.value == pytest.approx(alone.value, abs=0.05)
    assert together.low < together.value < together.high
    assert {row.key for row in found.metrics} == {"m", "constant", "coin"}  # judges are no metrics
    assert [one.counts for one in read(found).judges] == [True, False, False, True]


def test_a_judge_beside_people_who_name_no_samples_has_a_sample_for_each_pair():
    rng = np.random.default_rng(4)
    names = [f"e{n}" for n in range(10)]
    rows = [
        Vote(f"r{k}", a, b, "left" if rng.random() < 0.8 else "right")
        for k in range(6)
        for n, a in enumerate(names)
        for b in names[n + 1 :]
        if b != "e9"
    ]
    judge = judge_of(rows, "good", more=[("", a, "e9") for a in names[:5]])
    metric = MetricScores("m", np.arange(10.0, 0.0, -1.0)[None, :])
    votes = canonical([*rows, Vote("r0", "e8", "e9", "left")])
    found = analyse(votes, [metric], models=[judge]).judges[0]
    assert found.gate.passed
    (together,) = found.with_people
    assert together.low is not None and together.low < together.value < together.high and not together.why


def test_a_judge_adds_what_it_says_of_entry_pairs_that_people_were_not_asked():
    pair = said("a", "b", raters=6, samples=SAMPLES[:5])
    rows = [*pair, *(vote for vote in pairs_of_six() if (vote.left, vote.right) != ("a", "b"))]
    more = [(sample, "a", "b") for sample in SAMPLES[5:]]
    plain = judge_of(rows, "good", more=more)
    other = {(SAMPLES[0], "a", "b"), more[0]}  # what it sees the other way round
    judge = replace(
        plain, judged=tuple(replace(one, verdicts=(1,)) if (one.sample, one.left, one.right) in other else one for one in plain.judged)
    )
    votes = canonical(rows)
    summary = read(analyse(votes, models=[judge]))
    assert summary.judges[0].counts
    (both,) = summary.judges[0].pairs_with_people  # of the others the judge knows no more than people
    picks = {(one.sample, one.left, one.right): float(one.verdicts[0] < 0) for one in judge.judged}
    y = np.array([vote.choice == "left" for vote in pair], dtype=float)
    f = np.array([picks[vote.sample, "a", "b"] for vote in pair])
    others = np.array([picks[one] for one in more])
    assert (both.first, both.second, both.n) == ("a", "b", 30)
    assert both.value == pytest.approx(both.trust * others.mean() + (y - both.trust * f).mean())
    assert summary.without({"b"}).judges[0].pairs_with_people == []  # nothing of an entry that is hidden


def test_a_judge_adds_nothing_on_entry_pairs_in_which_no_answer_of_people_counts():
    rows = pairs_of_six()
    known = [Vote("r0", "a", "g", "left", sample, gold="1") for sample in SAMPLES[:4]]
    damaged = [Vote("r0", "a", "z", "left", sample) for sample in SAMPLES[:4]]
    values = table(a=6, b=5, c=4, d=3, e=2, f=1, g=0, z=-9)
    values[:3, :7] *= -1  # of three samples in eight the metric turns the order round
    votes, metric = canonical([*rows, *known, *damaged]), MetricScores("m", values)
    plain = judge_of(rows, "plain", more=[(sample, "b", "g") for sample in SAMPLES])
    more = [(sample, left, "z") for sample in SAMPLES for left in "abcdef"] + [(sample, "a", "g") for sample in SAMPLES]
    judge = replace(plain, key="more", judged=(*plain.judged, *(Judged(*one, (-1,)) for one in more)))
    without, with_more = analyse(votes, [metric], [("a", "g")], models=[plain, judge], damaged={"z"}).judges
    assert without.gate.passed and without.with_people[0].trust > 0
    assert with_more.with_people == without.with_people
    # Where no pair is of known order as such, a question may be: on that sample alone.
    flagged, unflagged = [Judged(sample, "a", "g", (-1,)) for sample in SAMPLES[:4]], [Judged(SAMPLES[5], "a", "g", (-1,))]
    asked = [replace(plain, judged=(*plain.judged, *some)) for some in (flagged, unflagged)]
    same, changed = analyse(votes, [metric], models=asked, damaged={"z"}).judges
    assert same.with_people == without.with_people and changed.with_people != without.with_people


# --- sets of entries


def test_damaged_entries_are_in_no_headline_and_stand_beside_it():
    votes = canonical([*said("a", "b", wrong_every=3), *said("a", "empty", wrong_every=9), *said("b", "empty", wrong_every=9)])
    metric = MetricScores("m", table(a=1, b=2, empty=0))
    found = analyse(votes, [metric], damaged={"empty"})
    head, beside = (one.metric("m").decided for one in (found, found.all))
    assert head.value < 0.5 < beside.value and head.n == 72 and beside.n == 216
    assert {row.method for row in found.scales if row.implied[0] is not None} == {"a", "b"}
    assert {row.method for row in found.all.scales} == {"a", "b", "empty"}
    nothing = analyse(canonical(said("a", "empty")), damaged={"empty"})
    assert nothing.reason == Reason(Key.ONLY_DAMAGED) and nothing.all.reason is None


def test_where_nothing_is_damaged_both_sets_say_the_same_and_are_computed_once(monkeypatch):
    votes = canonical([*said("good", "bad"), *said("good", "fair"), *said("fair", "bad")])
    metric, made = MetricScores("m", table(bad=0, fair=1, good=2)), []
    monkeypatch.setattr(study, "People", lambda *given, **named: made.append(1) or People(*given, **named))
    found = analyse(votes, [metric], damaged=set())
    assert len(made) == 1 and found.all.ceiling == found.ceiling and found.all.metrics[0].pairs is None is not found.metrics[0].pairs
    assert [row.decided for row in found.all.metrics] == [row.decided for row in found.metrics]
    assert [row.implied for row in found.all.scales] == [row.implied for row in found.scales]


def test_gold_questions_are_in_no_figure():
    rows = [*said("a", "b"), *[Vote(f"r{k}", "a", "b", "left", "gold", gold="yes") for k in range(9)]]
    with_gold, without = (canonical(some) for some in (rows, rows[: len(said("a", "b"))]))
    assert told(answers(with_gold)).answers == told(answers(without)).answers == 72
    assert told(answers(with_gold)).scales[0].implied[0] == pytest.approx(told(answers(without)).scales[0].implied[0], abs=1e-9)


def test_a_metric_of_too_few_samples_has_no_place_and_moves_nobody_elses():
    rng = np.random.default_rng(0)
    votes = canonical([*said("good", "bad"), *said("good", "fair"), *said("fair", "bad")])
    alike, coin = Scored("alike", table(bad=0, fair=1, good=2)), Scored("coin toss", rng.normal(size=(8, 3)))
    few = Scored("few", np.where(np.arange(8)[:, None] < 4, table(bad=0, fair=1, good=2), math.nan))
    without, found = (told(answers(votes), metrics) for metrics in ([alike, coin], [alike, coin, few]))
    assert {row.key: row.places for row in without.metrics[:2]} == {"alike": (1, 1), "coin toss": (2, 2)}
    assert [(row.key, row.places) for row in found.metrics[:3]] == [("alike", (1, 1)), ("coin toss", (2, 2)), ("few", None)]
    assert found.forecast == without.forecast is not None
    row = found.metrics[2]
    assert (row.few, row.decided.reason, row.spa.reason) == (True, few_items(4), few_items(4))
    assert (row.decided.low, row.spa.value, row.difference, row.person, row.may_be_best, row.above_size) == (None,) * 6
    assert [pair for pair in found.metric_pairs if "few" in (pair.first, pair.second) and pair.p is not None] == []


def test_a_forecast_of_more_answers_takes_as_many_ties_as_there_are():
    rows = [vote for pair in ("ab", "bc", "ac") for vote in said(*pair)]
    tied = [replace(vote, choice="tie", rater=f"t{vote.rater}") for vote in rows for _ in range(1)]
    metric = Scored("m", table(a=3, b=2, c=1))
    some, more = (told(answers(canonical(votes)), [metric]).forecast for votes in (rows, rows + tied))
    assert some.now == pytest.approx(more.now), "ties are in no headline"
    # of 1,000 new answers half are ties, and those that decide grow by half as much
    assert more.answers[1] > some.answers[1] and more.answers[0] == some.answers[0] == 1000
    cells = [(forecast.now**2 - forecast.answers[1] ** 2) for forecast in (some, more)]
    n = len(rows)
    assert cells[1] / cells[0] == pytest.approx((1000 / (1000 + 2 * n)) / (1000 / (1000 + n)))


@pytest.mark.parametrize("marked", [{"gold": "1"}, {"repeat_of": "4"}, None])
def test_a_study_in_which_nothing_counts_says_so(marked):
    votes = canonical([] if marked is None else [replace(vote, **marked) for vote in said("good", "bad")])
    metrics = [] if marked is None else [MetricScores("m", table(bad=0, good=1))]
    for damaged in (None, ()):
        found = read(analyse(votes, metrics, damaged=damaged))
        assert found.reason == Reason(Key.NOTHING_COUNTS) and found.answers == 0
        assert found.enough is None and found.fragile is None and found.adequacy == []


def test_a_metric_that_is_called_like_a_reference_point_stays_a_metric():
    votes = canonical([*said("good", "bad"), *said("good", "fair"), *said("fair", "bad")])
    metrics = [MetricScores("constant", table(bad=0, fair=1, good=2))]
    found = read(analyse(votes, metrics))
    mine, ours = (next(line for line in found.metrics if line.key == "constant" and line.reference_point is so) for so in (False, True))
    assert mine.decided.value > 0.8 and ours.places is None and ours.decided.value == 0.5


@pytest.mark.parametrize(("raters", "items", "reason"), [(1, 1, few_raters(1)), (4, 8, few_raters(4)), (8, 4, few_items(4)), (6, 6, None)])
def test_of_two_entries_each_needs_raters_and_items_enough(raters, items, reason):
    much = [Rating(f"r{k}", "a", float(2 + (k * n) % 3), f"s{n}") for k in range(9) for n in range(9)]
    little = [Rating(f"r{k}", "b", float(1 + (k + n) % 2), f"s{n}") for k in range(raters) for n in range(items)]
    found = analyse(canonical_ratings(much + little), [])
    (pair,) = found.entry_pairs
    assert pair.value[0] is not None and (pair.value[1] is None) == (pair.p_holm is None) == (reason is not None)
    assert {row.method: row.reason for row in found.scales} == {"a": None, "b": reason}
    assert [row.rank is None for row in found.scales] == [False, reason is not None]


def test_an_entry_that_few_people_judged_heads_no_table_and_is_listed_apart():
    """One vote that the newcomer won would put it first of all, with nothing known of it."""
    rows = said("A", "B") + said("B", "C") + [Vote("r0", "new", "A", "left", "s0")]
    found = analyse(canonical(rows))
    assert [line.method for line in found.scales] == ["A", "B", "C", "new"]
    assert [line.method for line in found.ranked] == ["A", "B", "C"] and [line.method for line in found.unranked] == ["new"]
    last = found.scales[-1]
    assert last.reason == few_raters(1) and (last.rank, last.may_be_first, last.implied[1]) == (None, None, None)
    assert found.scales[0].rank == (1, 1) and found.first_place.entry == "A"
    assert [rival.entry for rival in found.first_place.others] == ["B", "C"]
    assert found.fragile.answers == analyse(canonical(rows[:-1])).fragile.answers  # the newcomer can take first place from nobody
    shown = read(found)
    assert shown.ordered and not shown.shows(shown.scales[-1])


def test_an_entry_that_few_people_scored_heads_no_table_and_takes_its_order_from_nobody():
    rng = np.random.default_rng(0)
    rows = [
        Rating(f"r{k}", name, float(np.clip(mean + rng.integers(-1, 2), 1, 5)), sample)
        for k in range(7)
        for sample in SAMPLES
        for name, mean in (("A", 4), ("B", 2))
    ]
    found = read(analyse(canonical_ratings([*rows, Rating("r0", "new", 5.0, "s0")])))
    assert [line.method for line in found.scales] == ["A", "B", "new"]
    assert found.ordered and [line.method for line in found.unranked] == ["new"]

"""Sentences on published sets, from records."""

from __future__ import annotations

import dataclasses

import pytest

from leaderboard.stats.evidence.figure import SetFigure, Split
from leaderboard.stats.evidence.judged import Basis
from leaderboard.stats.evidence.record import CriterionFigures, EvidenceRecord, Ladders, Licence, MetricFigures, SetSource, Words
from leaderboard.stats.evidence.reproduction import PrintedLine, Reproduction, Statistic
from leaderboard.stats.states import Counted, Key, Reason, State
from leaderboard.wording import evidence as wording
from leaderboard.wording import nouns

FIGURE = SetFigure(value=0.844, low=0.805, high=0.8761, n=500)


def record(**values) -> EvidenceRecord:
    about = {"name": "a", "title": "A", "authors": "B", "material": "meshes", "raters_are": "columns"}
    return EvidenceRecord(
        **about, licence=Licence("none"), source=SetSource(), words=Words("camera path", "scene", "codec and rate", "codec"), **values
    )


def criterion(**values) -> CriterionFigures:
    known = {
        "basis": Basis.PERSONS,
        "stimuli": 96,
        "items": 12,
        "groups": 6,
        "entries_judged": 8,
        "families": 2,
        "answers": 1536,
        "raters": 16,
    }
    return CriterionFigures(**known | values)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(0.8615, 4, ".8615"), (-0.13, 2, "−.13"), (1.0, 2, "1.00"), (0.0, 2, ".00"), (-0.001, 2, ".00"), (-0.36, 1, "−.4")],
)
def test_a_correlation_has_no_zero_before_its_point(value, digits, text):
    assert wording.decimal(value, digits) == text


def test_an_interval_is_written_on_the_figures_own_scale():
    assert wording.interval(FIGURE, across=False) == "[80, 88]" and wording.interval(FIGURE, across=True) == "[.81, .88]"
    assert wording.interval(SetFigure(value=0.5), across=False) == ""


@pytest.mark.parametrize("basis", Basis)
def test_every_basis_says_who_answered(basis):
    raters = 16 if basis.persons else None
    assert wording.people(record(), criterion(basis=basis, raters=raters))


@pytest.mark.parametrize(
    ("noun", "plural"),
    [("scene", "scenes"), ("method family", "method families"), ("kind of distortion", "kinds of distortion"), ("day", "days")],
)
def test_nouns_of_a_set_have_a_plural(noun, plural):
    assert nouns.plural(noun) == plural


def test_what_was_judged_is_counted():
    assert wording.counted(record(), criterion()) == "96 results of 8 codecs and rates on 12 camera paths of 6 scenes"
    assert wording.counted(record(), criterion(groups=12)) == "96 results of 8 codecs and rates on 12 camera paths"


@pytest.mark.parametrize(
    ("best", "sentence"),
    [
        ([True, True, True], "Across scenes, none of these 3 metrics is ruled out as the best."),
        ([True, False, False], "Across scenes, only A may be the best of 3 metrics."),
        ([True, True, False], "Across scenes, only A and B may be the best of 3 metrics."),
        ([None, None, True], ""),
        ([], ""),
    ],
)
def test_which_may_be_the_best_follows_from_places_alone(best, sentence):
    titles = [(name, SetFigure(value=0.9, may_be_best=may)) for name, may in zip("ABC", best, strict=False)]
    assert wording.best(titles, "Across scenes") == sentence
    rest = {1: "; C is ruled out.", 2: "; the other 2 metrics are ruled out, C among them."}.get(best.count(False), ".")
    assert wording.best(titles, "Across scenes", ["C"]) == sentence.replace(".", rest)


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ({3}, "Across scenes, any of these 9 metrics but 3 may be the best."),
        ({1, 2, 3}, "Across scenes, any of these 9 metrics but 1, 2 and 3 may be the best."),
        ({0, 1, 2, 3, 4, 5}, "Across scenes, only 6, 7 and 8 may be the best of 9 metrics."),
    ],
)
def test_of_many_metrics_the_fewer_are_named(out, sentence):
    many = [(str(n), SetFigure(value=0.9, may_be_best=n not in out)) for n in range(9)]
    assert wording.best(many, "Across scenes") == sentence


def line(printed: float, here: float | None, same: bool) -> PrintedLine:
    return PrintedLine(Statistic.SRCC, "DISTS", "mean", printed, 4, same, here)


def test_what_the_source_prints_stands_beside_what_is_computed():
    said = "The source prints {} SRCC .8615; the same data give .8615 here (144 of 144 printed numbers match)."
    whole = Reproduction(144, 144, (line(0.8615, 0.86151, True),))
    assert wording.reproduced(whole, {}) == said.format("DISTS")
    assert wording.reproduced(whole, {"DISTS": "Deep structure"}) == said.format("Deep structure")
    differing = Reproduction(2, 1, (line(0.5, 0.6, False), line(0.8615, 0.86151, True)))
    assert wording.reproduced(differing, {}).endswith("(1 of 2 printed numbers match).") and wording.reproduced(None, {}) == ""
    assert wording.reproduced(Reproduction(1, 0, (line(0.5, None, False),)), {}) == (
        "0 of 1 printed numbers have the same value when computed here."
    )
    assert wording.told(line(-0.5, 0.6, False)) == "DISTS SRCC with mean: printed −.5000, here .6000, which differs"


def test_size_is_told_within_and_between_families_together():
    size = MetricFigures(
        column="bytes",
        reference_point=True,
        decided=FIGURE,
        decided_between=SetFigure(value=0.77, low=0.73, high=0.82),
        srocc=SetFigure(value=0.78),
    )
    said = wording.size(record(), criterion(metrics={"size": size}))
    within, between, across = said.split(". ")
    assert (
        within == "The size of a result (bytes or points) alone agrees with people in 84 [80, 88] of 100 comparisons within one camera path"
    )
    assert between.endswith(" it agrees in 77 [73, 82] of 100")
    assert across == "Over the results of all camera paths, Spearman's ρ of size with people's means is .78."
    metrics = {
        "size": size,
        "a": MetricFigures(column="a", decided=SetFigure(value=0.9, above_size=True), srocc=SetFigure(value=0.7, above_size=False)),
        "b": MetricFigures(column="b", decided=SetFigure(value=0.8, above_size=False), srocc=SetFigure(value=0.6, above_size=False)),
    }
    assert wording.size(record(), criterion(metrics=metrics)).endswith(
        ". Within one camera path, 1 of 2 metrics agrees with people significantly better than a result's size alone. "
        "Across camera paths, no metric agrees with people significantly better than a result's size alone."
    )
    assert wording.size(record(), criterion()) == ""
    few = SetFigure(value=0.9, state=State.TOO_FEW, reason=Reason(Key.FEW, Counted.RATERS, 5, 2))
    assert wording.size(record(), criterion(metrics={"size": MetricFigures(column="b", reference_point=True, decided=few)})) == ""


def test_ladders_and_divided_raters_are_told_with_their_numbers():
    assert wording.ladders(record(), criterion(ladders=Ladders(1831, 4179))).startswith("1,831 of 4,179 comparisons are of one codec")
    assert wording.ladders(record(), criterion(ladders=Ladders(0, 10))) == wording.ladders(record(), criterion()) == ""
    metrics = {name: MetricFigures(column=name, decided_split=Split(value, 0.656, 776)) for name, value in (("a", 0.59), ("b", 0.61))}
    said = wording.divided(criterion(metrics=metrics))
    assert said == (
        "On comparisons that divided raters (776 answers), the metrics agree with people in 59 to 61 of 100. "
        "No metric could agree in more than 66."
    )
    assert wording.divided(criterion()) == ""


def test_few_sources_are_said_below_eight():
    assert wording.fewness(criterion(), record()) == "Intervals are rough, because there are only 6 scenes."
    assert wording.fewness(criterion(groups=8), record()) == ""


def test_the_score_behind_printed_numbers_is_named():
    found = Reproduction(1, 1, (PrintedLine(Statistic.SRCC, "DISTS", "BT-500", 0.8615, 4, True, 0.8615),))
    metrics = {"dists": MetricFigures(column="DISTS", srocc=SetFigure(value=0.853, low=0.71, high=0.93))}
    said = wording.printed_with(record(reproduction=found), criterion(metrics=metrics), {})
    assert said == (
        "The source computes its ρ over all its rows, with its score “BT-500”, and keeps the sign. "
        "Our ρ across camera paths leaves out the references and compares with people's plain means. It is .85 [.71, .93] for DISTS."
    )
    after = dataclasses.replace(found.lines[0], procedure="logistic-of-other-groups")
    several = record(reproduction=Reproduction(1, 1, (after,)), criteria={"look": criterion(), "shape": criterion()})
    said = wording.printed_with(several, criterion(metrics=metrics, basis=Basis.MEANS), {})
    assert (
        "“BT-500”, and keeps the sign. The metric's values first pass a logistic curve that was fitted to the other scenes. Our ρ " in said
    )
    assert "with the published means of one criterion. It is" in said
    assert wording.printed_with(record(), criterion(), {}) == ""


def test_criteria_that_have_other_best_metrics_are_told_apart():
    def one(**may: bool) -> CriterionFigures:
        metrics = {key: MetricFigures(column=key, concordance=SetFigure(value=0.6, may_be_best=best)) for key, best in may.items()}
        return criterion(metrics=metrics, compared=tuple(may))

    titles = {"a": "A", "b": "B"}
    close, far = one(a=True, b=False), one(a=True, b=True)
    said = wording.by_criterion(record(criteria={"close_by": close, "far": far}), titles)
    assert said == "Which metrics may be the best within items depends on the criterion: A by “close by”; A and B by “far”."
    assert wording.by_criterion(record(criteria={"close": close, "far": close}), titles) == ""


def test_both_figures_of_a_metric_are_told_together_with_what_rules_it_out():
    figures = MetricFigures(column="P", decided=FIGURE, srocc=SetFigure(value=0.44, low=0.06, high=0.71))
    said = wording.within_and_across("PSNR", [(record(short="QA"), criterion(), figures)], {"a": "DISTS, .85 [.71, .93],"})
    assert said == (
        "In QA, PSNR picks the same result as people within one camera path in 84 [80, 88] of 100 comparisons. "
        "Over the results of all camera paths, Spearman's ρ of PSNR with people's means is .44 [.06, .71]. There PSNR is ruled out as "
        "the best metric; DISTS, .85 [.71, .93], may be the best."
    )
    assert "The authors of the sets computed the values." in wording.as_published("PSNR", [(record(short="QA"), criterion(), figures)])

"""Published metrics over several sets: pools of three, sets that overlap, and what is never put together."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.stats.evidence.by_name import named_metrics
from leaderboard.stats.evidence.figure import Decided, SetFigure
from leaderboard.stats.evidence.judged import Basis
from leaderboard.stats.evidence.places import MetricDifference
from leaderboard.stats.evidence.record import CriterionFigures, EvidenceRecord, Licence, MetricFigures, SetSource
from leaderboard.stats.states import Counted, Key, Reason


def record(
    name: str, decided: dict[str, tuple[float, float]], material: str = "nerf videos", groups: int = 8, **more: object
) -> EvidenceRecord:
    """A record with the decided agreement of metrics, on the scale of the logit, and its standard error there."""
    metrics = {}
    for key, (y, se) in decided.items():
        value = 1 / (1 + math.exp(-y))
        own = se * value * (1 - value)
        figure = {"value": value, "low": value - 2 * own, "high": value + 2 * own, "se": own, "df": 9.0, "n": 500, "groups": groups}
        z = SetFigure(value=math.tanh(y), low=math.tanh(y - 2 * se), high=math.tanh(y + 2 * se), se=se, df=9.0, n=50, groups=groups)
        metrics[key] = MetricFigures(column=key.upper(), name=key, decided=Decided(**figure), concordance=SetFigure(value=0.9), srocc=z)
    apart = tuple(
        MetricDifference(one, other, metrics[one].decided.value - metrics[other].decided.value, 0.01, se=0.02)
        for n, one in enumerate(metrics)
        for other in list(metrics)[n + 1 :]
    )
    criterion = CriterionFigures(
        basis=Basis.PERSONS,
        stimuli=50,
        items=8,
        groups=groups,
        entries_judged=6,
        families=6,
        answers=900,
        metrics=metrics,
        differences={"decided": apart},
    )
    return EvidenceRecord(
        name=name,
        title=name,
        authors="Somebody",
        material=material,
        raters_are="columns",
        licence=Licence("none"),
        source=SetSource(doi="10.1/x"),
        criteria={"quality": criterion},
        **more,
    )


THREE = [record("one", {"psnr-y": (0.9, 0.2)}), record("two", {"psnr-y": (0.5, 0.15)}), record("three", {"psnr-y": (1.2, 0.3)})]


def test_three_sets_are_pooled_as_the_specifications_example():
    (row,) = named_metrics(THREE, "decided")
    assert [row.pooled.value, row.pooled.low, row.pooled.high] == pytest.approx([0.692, 0.488, 0.841], abs=5e-4)
    assert row.pooled.k == 3 and [one for one in row.sets if not one.counts] == [] and row.places is None, "one metric has no rival"
    (across,) = named_metrics(THREE, "srocc")
    assert across.pooled.value == pytest.approx(math.tanh(0.8080626), abs=1e-6)


def test_two_sets_are_listed_and_not_pooled():
    (row,) = named_metrics(THREE[:2], "decided")
    assert row.pooled is None and [one.record for one in row.sets] == ["one", "two"]
    assert row.reason == Reason(Key.FEW_SETS, Counted.SETS, 3, 2) and named_metrics(THREE, "decided")[0].reason is None


def test_another_material_and_another_name_are_other_metrics():
    other = record("clouds", {"psnr-y": (1.0, 0.2), "cloud-y-psnr": (1.0, 0.2)}, material="point clouds")
    rows = {(row.name, row.material): row for row in named_metrics([*THREE, other], "decided")}
    assert len(rows) == 3 and rows["psnr-y", "nerf videos"].pooled.k == 3 and rows["psnr-y", "point clouds"].pooled is None


def test_sets_that_share_people_or_stimuli_count_once_also_by_a_chain():
    four = [*THREE, record("more", {"psnr-y": (3.0, 0.2)}, groups=5, overlaps=("three",))]
    (row,) = named_metrics(four, "decided")
    assert {one.record: one.counts for one in row.sets} == {"one": True, "two": True, "three": True, "more": False}
    assert row.pooled == named_metrics(THREE, "decided")[0].pooled
    chain = [*four, record("most", {"psnr-y": (0.0, 0.2)}, groups=20, overlaps=("more",))]
    (row,) = named_metrics(chain, "decided")
    assert [one.record for one in row.sets if one.counts] == ["most", "one", "two"], "the one with most groups stands for three and more"


def test_what_has_no_interval_and_what_is_at_the_end_of_the_scale_is_listed():
    plain = record("four", {"psnr-y": (0.9, 0.2)})
    line = plain.criteria["quality"].metrics["psnr-y"]
    for figure in (replace(line.decided, low=None), replace(line.decided, value=1.0, low=0.6, high=1.0, se=0.0)):
        changed = replace(
            plain, criteria={"quality": replace(plain.criteria["quality"], metrics={"psnr-y": replace(line, decided=figure)})}
        )
        (row,) = named_metrics([*THREE, changed], "decided")
        assert row.pooled.k == 3 and [one.record for one in row.sets if not one.counts] == ["four"]


def test_reference_points_and_metrics_without_a_name_are_in_no_pool():
    sets = [
        replace(
            one,
            criteria={
                "quality": replace(
                    one.criteria["quality"],
                    metrics={
                        "size": replace(one.criteria["quality"].metrics["psnr-y"], name="size", reference_point=True),
                        "x": replace(one.criteria["quality"].metrics["psnr-y"], name=""),
                    },
                )
            },
        )
        for one in THREE
    ]
    assert named_metrics(sets, "decided") == []
    with pytest.raises(ValueError, match="concordance is not pooled"):
        named_metrics(THREE, "concordance")


def test_places_come_from_differences_pooled_over_the_sets_that_both_are_in():
    rng = np.random.default_rng(0)
    names = ("good", "same", "bad")
    sets = [record(f"s{n}", {"good": (2.0, 0.2), "same": (1.99 + 0.01 * rng.normal(), 0.2), "bad": (0.3, 0.2)}) for n in range(4)]
    rows = {row.name: row for row in named_metrics(sets, "decided")}
    assert list(rows)[-1] == "bad" and set(rows) == set(names)
    assert rows["good"].places == (1, 2) and rows["same"].places == (1, 2) and rows["bad"].places == (3, 3)
    assert rows["good"].may_be_best and not rows["bad"].may_be_best

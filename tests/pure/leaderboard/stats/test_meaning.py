"""Meaning of a metric's differences: a study that somebody else computed, and what must hold of every curve."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats import meaning
from leaderboard.stats.meaning import difference
from leaderboard.stats.minimums import ENTRIES_FOR_DIFFERENCE, RATERS_FOR_DIFFERENCE
from leaderboard.stats.states import Counted, Key, Reason
from tests.pure.leaderboard.stats.test_agreement import simulated
from tests.support.leaderboard.stats.golden import golden, study


def test_the_study_of_somebody_else():
    counted, metrics = study()
    expected = golden("A")
    found = difference(counted, metrics["good"].scored.of_entries)
    for name, value in expected["difference"].items():
        assert getattr(found, name) == (pytest.approx(value, abs=1e-6) if value is not None else ""), name
    for at, one in expected["at"].items():
        said = found.at(float(at))
        assert (*said.mean, *said.one, said.most) == pytest.approx(list(one.values()), abs=1e-6), at
    direct = meaning.asked(counted, 0, 1)
    assert (direct.value, direct.low, direct.high) == pytest.approx(
        [expected["direct_a_b"][name] for name in ("value", "low", "high")], abs=1e-6
    )
    assert (direct.n, direct.raters, direct.samples) == (30, 6, 6)


def test_too_few_entries_are_named():
    counted, metrics = study()
    first_six = counted.take((counted.a < 6) & (counted.b < 6))
    reason = difference(first_six, metrics["good"].scored.of_entries).reason
    assert reason == Reason(Key.FEW_FOR_DIFFERENCE, Counted.ENTRIES, ENTRIES_FOR_DIFFERENCE, 6)


def test_the_share_asked_of_the_other_side_is_what_is_left():
    counted, _ = study()
    one, other = meaning.asked(counted, 0, 1), meaning.asked(counted, 1, 0)
    assert other.value == pytest.approx(1 - one.value) and other.low == pytest.approx(1 - one.high)
    assert meaning.asked(counted, 6, 7) is None, "fewer than 20 answers"


def test_scaling_a_metric_and_swapping_entries_change_nothing():
    counted, worth = simulated(3, raters=20, entries=9, each=60)
    one, ten = difference(counted, worth), difference(counted, 10 * worth)
    assert ten.unit == pytest.approx(10 * one.unit) and ten.beta == pytest.approx(one.beta)
    assert ten.at(5.0).most == pytest.approx(one.at(0.5).most)
    assert one.tells and one.at(0.0).mean == pytest.approx((0.5, 0.5, 0.5)) and one.at(0.0).most == pytest.approx(0.5)
    sure = [one.at(size).most for size in (0.1, 0.4, 0.8, 1.4)]
    assert sure == sorted(sure) and one.at(99.0) == one.at(one.largest)


def test_a_metric_that_knows_nothing_tells_nothing():
    counted, _ = simulated(5, raters=20, entries=9, each=60)
    noise = difference(counted, np.random.default_rng(7).normal(size=9))
    assert not noise.tells and noise.at(noise.largest).most < 0.75
    assert difference(counted, np.zeros(9)).reason == Reason(Key.FEW_FOR_DIFFERENCE, Counted.RATERS, RATERS_FOR_DIFFERENCE, 0)

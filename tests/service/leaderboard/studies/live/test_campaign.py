"""Habits of people in an earlier study, from which a new study of pairs is forecast."""

from __future__ import annotations

import pytest

from leaderboard.models import Study
from leaderboard.studies.live import campaign
from tests.support.leaderboard.studies import held_against_people

pytestmark = pytest.mark.django_db


def test_neighbours_of_an_earlier_study_are_preferences_with_ties_half(phase):
    earlier = held_against_people.held(phase, "earlier", noise={})
    summary = earlier.analyses.get().summary
    found = campaign.habits(Study(phase=phase))
    assert (found.ties, found.source) == (summary.ties, "“earlier”") and found.ties > 0
    first, second = (line.theta[0] for line in summary.ranked[:2])
    e, nu = 2.718281828459045 ** ((first - second) / 2), summary.model.nu
    assert found.gaps[0] == pytest.approx((e + nu / 2) / (e + 1 / e + nu)) and len(found.gaps) == len(summary.ranked) - 1

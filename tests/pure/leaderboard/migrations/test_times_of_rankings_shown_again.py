"""Rankings that came back before their times were stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib import import_module

returned = import_module("leaderboard.migrations.0049_times_of_rankings_shown_again").returned
START = datetime(2026, 11, 29, 20, 4, tzinfo=UTC)


def after(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def test_a_ranking_came_back_after_the_one_that_stood_between():
    made = [(1, after(-9)), (3, after(4)), (2, START), (4, after(18))]
    assert [*returned(made)] == [(2, after(4) + timedelta(microseconds=1))]


def test_where_none_came_back_there_is_none():
    assert [*returned([(1, START), (2, START), (3, after(1))])] == [] == [*returned([])]

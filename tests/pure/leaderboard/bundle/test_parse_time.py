"""Hand-worked moments: Europe/Prague is UTC+1, UTC+2 from 29 March to 25 October 2026."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.bundle.parse_time import MomentError, moment_text, read_moment

PRAGUE = ZoneInfo("Europe/Prague")


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-12-14T23:59", datetime(2026, 12, 14, 22, 59)),
        ("2026-07-01 08:00", datetime(2026, 7, 1, 6, 0)),
        ("2026-07-01T08:00:30", datetime(2026, 7, 1, 6, 0, 30)),
        ("2026-07-01T08:00Z", datetime(2026, 7, 1, 8, 0)),
        ("2026-07-01T08:00+05:30", datetime(2026, 7, 1, 2, 30)),
        ("2026-10-25T02:30+02:00", datetime(2026, 10, 25, 0, 30)),
        ("2026-10-25T02:30+01:00", datetime(2026, 10, 25, 1, 30)),
    ],
)
def test_a_moment_is_read_on_the_clocks_of_its_zone_or_by_its_own_offset(text, utc):
    assert read_moment(text, PRAGUE) == utc.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tomorrow", "such as 2026-12-14T23:59"),
        ("2026-12-14", "a date and time"),
        ("2026-02-30T10:00", "that exist"),
        ("2026-03-29T02:30", "skip 02:30"),
        ("2026-10-25T02:30", "comes twice"),
        ("0001-01-01T00:00", "year from 1990"),
    ],
)
def test_a_text_that_names_no_single_instant_is_refused_with_the_reason(text, words):
    with pytest.raises(MomentError, match=words):
        read_moment(text, PRAGUE)


@given(
    st.datetimes(datetime(1990, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC)),
    st.sampled_from(["UTC", "Europe/Prague", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]),
)
def test_every_instant_is_written_so_that_it_reads_back(at, name):
    zone = ZoneInfo(name)
    assert read_moment(moment_text(at, zone), zone) == at


def test_both_hours_of_an_autumn_night_are_told_apart():
    for hour in (0, 1):
        at = datetime(2026, 10, 25, hour, 30, tzinfo=UTC)
        assert moment_text(at, PRAGUE) == f"2026-10-25T02:30+0{2 - hour}:00"

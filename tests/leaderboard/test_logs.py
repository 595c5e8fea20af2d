"""The log names what was refused in one line, and shows the traceback of what broke."""

from __future__ import annotations

import logging
import sys

import pytest
from django.conf import settings

from leaderboard.logs import brief_refusals


def record(status: int | None) -> logging.LogRecord:
    try:
        raise PermissionError("not theirs")
    except PermissionError:
        made = logging.LogRecord("django.request", logging.WARNING, __file__, 1, "Forbidden", (), sys.exc_info())
    if status is not None:
        made.status_code = status
    return made


@pytest.mark.parametrize(("status", "shown"), [(403, False), (404, False), (500, True), (None, True)])
def test_only_what_broke_keeps_its_traceback(status, shown):
    it = record(status)
    assert brief_refusals()(it)
    assert bool(it.exc_info) is shown


def test_the_service_logs_through_it():
    console = settings.LOGGING["handlers"]["console"]
    assert [settings.LOGGING["filters"][name]["()"] for name in console["filters"]] == ["leaderboard.logs.brief_refusals"]

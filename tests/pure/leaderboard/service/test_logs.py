"""The log names what was refused in one line, shows the traceback of what broke, and says what every piece of work was about."""

from __future__ import annotations

import json
import logging
import sys

import pytest
import structlog
from django.conf import settings

from leaderboard.service.logs import brief_refusals, formatter


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
    assert [settings.LOGGING["filters"][name]["()"] for name in console["filters"]] == ["leaderboard.service.logs.brief_refusals"]


class Kept(logging.Handler):
    """Lines that a handler of the service would write."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.setFormatter(formatter(kind))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(params=["text", "json"])
def kept(request):
    handler = Kept(request.param)
    handler.kind = request.param
    root = logging.getLogger()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)


def test_events_of_the_service_and_of_libraries_are_alike(kept):
    with structlog.contextvars.bound_contextvars(request_id="abc12345"):
        structlog.get_logger("submissions.test").warning("the storage does not answer", entry=7)
        logging.getLogger("django.test").warning("Not Found: %s", "/nothing/")
        try:
            raise ValueError("broke\nin two lines")
        except ValueError:
            logging.getLogger("celery.test").exception("a task failed")
    first, second, third = kept.lines
    if kept.kind == "text":
        assert "the storage does not answer" in first and "entry=7" in first and "request_id=abc12345" in second
        assert "Not Found: /nothing/" in second and "ValueError: broke" in third
        return
    first, second, third = (json.loads(line) for line in kept.lines)
    assert [line for line in kept.lines if "\n" in line] == []
    assert first == {
        "event": "the storage does not answer",
        "entry": 7,
        "level": "warning",
        "logger": "submissions.test",
        "timestamp": first["timestamp"],
        "request_id": "abc12345",
    }
    assert second["event"] == "Not Found: /nothing/" and second["request_id"] == "abc12345"
    assert third["event"] == "a task failed" and "ValueError: broke" in third["exception"]

"""`manage.py run` that hears a signal while it still starts."""

from __future__ import annotations

import signal

import pytest

from tests.cluster.leaderboard.test_run import home
from tests.support.processes import START_SECONDS, EmbeddedService, wait_until

__all__ = ["home"]  # the fixture


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_it_starts_leaves_nothing_behind(home, number):
    """A server's process that still loads the application does not hear that it should stop; it must end all the same."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a night's run under nohup hands on that it is ignored, which is obeyed
    started = EmbeddedService(home)
    signal.signal(signal.SIGHUP, before)
    wait_until(lambda: "web process" in started.running().values(), START_SECONDS, "the web server's own process")
    started.process.send_signal(number)
    assert started.process.wait(180) == 0
    assert not started.running() and not started.holds_port()
    assert "Plumbline runs at" not in started.said().rpartition("Plumbline has stopped.")[0].rpartition("Plumbline has stopped.")[2]

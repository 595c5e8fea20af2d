"""Background measurements, as `manage.py run` tells of them."""

from __future__ import annotations

import io

import pytest

from evaluation.models import PhaseMetric, SuiteRun
from evaluation.work.idle import Background, Measured
from evaluation.work.sweep import sweep
from leaderboard.management.commands.run import Command

pytestmark = pytest.mark.django_db


def test_the_time_of_what_was_not_begun_is_taken_from_what_was():
    measured = (Measured("sanity tests", 1, "A", 60.0), Measured("sanity tests", 2, "B", 180.0), Measured("acceptance tests", 1, "C", None))
    found = Background(measured)
    assert found.seconds_left == 360.0
    assert "A, B" in found.sentence(2) and "about 3 min" in found.sentence(2)
    assert "about 6 min" in found.sentence(1)
    assert Background(measured[2:]).seconds_left is None and "not known yet" in Background(measured[2:]).sentence(1)


def test_it_is_told_when_it_comes_when_its_time_is_known_and_when_it_is_done(phase):
    command, told = Command(stdout=io.StringIO()), Background(())

    def lines() -> list[str]:
        nonlocal told
        before = len(command.stdout.getvalue().splitlines())
        told = command._tell(told, 1)
        return command.stdout.getvalue().splitlines()[before:]

    command.stdout.getvalue = command.stdout._out.getvalue
    assert lines() == []
    PhaseMetric.objects.create(phase=phase, slug="tight", key="corner_f1", position=9, params={"tau": 0.21})
    sweep()
    (line,) = lines()
    assert "Corner F1" in line and "not known yet" in line
    assert lines() == []
    SuiteRun.objects.update(done=10, total=130, seconds=60.0)
    (line,) = lines()
    assert "about 12 min" in line
    SuiteRun.objects.update(done=20, seconds=120.0)
    assert lines() == []
    SuiteRun.objects.update(state=SuiteRun.State.DONE)
    assert len(lines()) == 1 and lines() == []

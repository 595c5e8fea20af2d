"""The web's image has no torch: every page that an organizer comes to by links, and a metric that is added, work without it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.conf import settings

from evaluation.work.worker import drain
from tests.support.factories import ChallengeFactory, PhaseFactory, give_reference
from tests.support.leaderboard.console.acts import metric_values
from tests.support.leaderboard.routes_scene import set_scene
from tests.support.people import People
from tests.support.processes import environment

pytestmark = pytest.mark.django_db(transaction=True)
HEAVY = "torch,manifold3d,igl,fast_simplification,safetensors"


def test_pages_plan_and_forms_work_where_torch_cannot_be_imported():
    phase = PhaseFactory(challenge=ChallengeFactory())
    give_reference(phase)
    people = People.around(phase.challenge)
    set_scene(phase, people, drain)
    empty = PhaseFactory(challenge=phase.challenge)  # where nobody is scored anew, so that nothing asks for a confirmation
    give_reference(empty)
    metrics = f"/console/challenges/{phase.challenge.slug}/phases/{empty.slug}/metrics/"
    requests = [f"GET {metrics}new/hss/", f"GET {metrics}new/hss/evidence/", f"POST {metrics}new/hss/ {json.dumps(metric_values())}"]
    command = [sys.executable, "-m", "tests.support.leaderboard.walk", people.organizer.username, HEAVY, *requests]
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment(), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    walked = json.loads(done.stdout.splitlines()[-1])
    assert walked["answers"] == [200, 200, 302] and walked["failed"] == [] and walked["pages"] > 150
    assert empty.metrics.filter(slug="hss-2").exists()

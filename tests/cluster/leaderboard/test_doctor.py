"""Lines of `manage.py doctor` on the weights that phases need, on workers with a graphics card, and where nobody works."""

from __future__ import annotations

import re

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from evaluation.models import Part, PhaseMetric, Process
from evaluation.networks import weights
from leaderboard.management.commands.doctor import Command
from leaderboard.service import health
from tests.support.evaluation.networks import random_weights
from tests.support.factories import UserFactory, confirmed


def test_weights_that_phases_need_are_looked_for_and_checked(phase, monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    assert Command()._weights().startswith("0 files")
    PhaseMetric.objects.create(phase=phase, slug="lpips", key="lpips_squeeze", params={})
    with pytest.raises(weights.WeightsError, match=r"get them with: python manage\.py fetch_weights squeezenet1_1 lpips-squeeze"):
        Command()._weights()
    path = random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    random_weights.put(monkeypatch, "lpips-squeeze", random_weights.head("squeeze"))
    assert Command()._weights().startswith("2 files")
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(weights.WeightsError, match="has changed since it was fetched"):
        Command()._weights()


@pytest.mark.django_db
def test_user_names_that_are_the_address_of_another_account_are_listed():
    confirmed("ann", "ann@lab.example.org")
    confirmed("bob@lab.example.org", "bob@lab.example.org")
    UserFactory(username="cat@lab.example.org").emailaddress_set.create(email="dan@lab.example.org", verified=False)
    UserFactory(username="dan@lab.example.org")
    assert Command()._names()
    UserFactory(username="Ann@lab.example.org")
    with pytest.raises(CommandError, match=r" 1: Ann@lab\.example\.org"):
        Command()._names()


class TestWorkersWithACard:
    pytestmark = pytest.mark.django_db

    @pytest.fixture(autouse=True)
    def lease(self, settings):
        """Long enough for a machine that does much else."""
        settings.LEASE_SECONDS = 60

    @pytest.fixture
    def waiting(self, scored) -> Part:
        """A part that was cut for such a worker."""
        part = Part.objects.filter(evaluation__submission=scored()).first()
        Part.objects.filter(pk=part.pk).update(device="gpu", state=Part.State.WAITING, lease_token=None, lease_until=None)
        return part

    @staticmethod
    def missed() -> str:
        """Sentence on the worker that is missed."""
        with pytest.raises(health.Unready) as unready:
            health.probe_gpu()
        return str(unready.value)

    @staticmethod
    def listen(*queues: str) -> None:
        now = timezone.now()
        Process.objects.create(kind="worker", name=f"there:{'-'.join(queues)}", queues=queues, started_at=now, seen_at=now)

    def test_nobody_is_needed_where_nothing_is_left_to_them(self, settings):
        settings.GPU_WORKERS = False
        assert health.probe_gpu()

    def test_one_must_listen_where_metrics_are_left_to_them(self, settings):
        settings.GPU_WORKERS = True
        self.listen("cpu")
        start = "docker compose --profile gpu up -d --build" if settings.BROKER_URL else "python manage.py run"
        assert "PLUMBLINE_GPU_WORKERS=true" in self.missed() and f"`{start}`" in self.missed()
        self.listen("gpu")
        assert health.probe_gpu().startswith("1 worker")

    def test_parts_that_wait_for_one_need_one_whatever_the_setting(self, settings, waiting):
        self.listen("cpu")
        for settings.GPU_WORKERS in (True, False):
            assert self.missed().startswith("1 part") and "PLUMBLINE_GPU_WORKERS" not in self.missed()


@pytest.mark.django_db
def test_the_doctor_fails_where_nobody_works(capsys):
    with pytest.raises(CommandError, match="checks failed"):
        call_command("doctor")
    said = capsys.readouterr().out
    states = {name: state for state, name in re.findall(r"^(\w+) +(\w+)", said, re.M)}
    assert {name: states[name] for name in ("workers", "sweeper", "database", "scoring")} == {
        "workers": "FAIL",
        "sweeper": "FAIL",
        "database": "ok",
        "scoring": "ok",
    }

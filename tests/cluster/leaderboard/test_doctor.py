"""Lines of `manage.py doctor` on the weights that phases need, on workers with a graphics card, and where nobody works."""

from __future__ import annotations

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
    assert Command()._weights() == "2 files of weights that phases need are installed and unchanged"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(weights.WeightsError, match="has changed since it was fetched"):
        Command()._weights()


@pytest.mark.django_db
def test_user_names_that_are_the_address_of_another_account_are_listed():
    confirmed("ann", "ann@lab.example.org")
    confirmed("bob@lab.example.org", "bob@lab.example.org")
    UserFactory(username="cat@lab.example.org").emailaddress_set.create(email="dan@lab.example.org", verified=False)
    UserFactory(username="dan@lab.example.org")
    assert Command()._names() == "no user name is the address of another account"
    UserFactory(username="Ann@lab.example.org")
    with pytest.raises(CommandError, match=r"another account is the user name of 1: Ann@lab\.example\.org\. Nobody is found"):
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
    def says() -> str:
        try:
            return health.probe_gpu()
        except health.Unready as error:
            return str(error)

    @staticmethod
    def listen(*queues: str) -> None:
        now = timezone.now()
        Process.objects.create(kind="worker", name=f"there:{'-'.join(queues)}", queues=queues, started_at=now, seen_at=now)

    def test_nobody_is_needed_where_nothing_is_left_to_them(self, settings):
        settings.GPU_WORKERS = False
        assert self.says() == "metrics with networks are left to any worker"

    def test_one_must_listen_where_metrics_are_left_to_them(self, settings):
        settings.GPU_WORKERS = True
        self.listen("cpu")
        sentence = self.says()
        assert sentence.startswith("PLUMBLINE_GPU_WORKERS=true leaves metrics with networks to workers of the queue gpu, and none")
        start = "docker compose --profile gpu up -d --build" if settings.BROKER_URL else "python manage.py run"
        assert sentence.endswith(f"; start one with `{start}`, or unset the setting.")
        self.listen("gpu")
        assert self.says() == "1 worker to the queue gpu"

    def test_parts_that_wait_for_one_need_one_whatever_the_setting(self, settings, waiting):
        self.listen("cpu")
        for settings.GPU_WORKERS in (True, False):
            assert self.says().startswith("1 part of an entry waits for a worker of the queue gpu, and none listens to it; start one with")
            assert "unset" not in self.says()


@pytest.mark.django_db
def test_the_doctor_fails_where_nobody_works(capsys):
    with pytest.raises(CommandError, match="checks failed"):
        call_command("doctor")
    said = capsys.readouterr().out
    assert "FAIL  workers   No worker listens to the queue cpu" in said and "FAIL  sweeper   No sweeper runs" in said
    assert "ok    database" in said and "ok    scoring" in said

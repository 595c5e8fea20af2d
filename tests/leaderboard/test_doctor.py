"""What `manage.py doctor` says of the weights that phases need, and of workers with a graphics card."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.management import CommandError
from django.utils import timezone

from evaluation import weights
from evaluation.models import Part, PhaseMetric
from leaderboard.management.commands import doctor
from leaderboard.management.commands.doctor import Command
from submissions.models import Submission
from tests.evaluation.networks import random_weights
from tests.processes import Worker, wait_until


def test_weights_that_phases_need_are_looked_for_and_checked(phase, monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    assert Command()._weights().startswith("0 files")
    PhaseMetric.objects.create(phase=phase, slug="lpips", key="lpips_squeeze", params={})
    with pytest.raises(weights.WeightsError, match=r"get them with: python manage\.py fetch_weights squeezenet1_1 lpips-squeeze"):
        Command()._weights()
    path = random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    random_weights.put(monkeypatch, "lpips-squeeze", random_weights.head("squeeze"))
    assert Command()._weights() == "2 files of weights that phases need are here and unchanged"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(weights.WeightsError, match="has changed since it was fetched"):
        Command()._weights()


class TestWorkersWithACard:
    """On the profile's own broker, with real workers."""

    pytestmark = pytest.mark.django_db(transaction=True)

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch):
        monkeypatch.setattr(doctor, "ANSWER_SECONDS", (1.5,))

    @pytest.fixture
    def waiting(self, scored) -> Part:
        """A part that was cut for such a worker."""
        part = Part.objects.filter(evaluation__submission=scored()).first()
        Part.objects.filter(pk=part.pk).update(device="gpu", state=Part.State.WAITING, lease_token=None, lease_until=None)
        return part

    @staticmethod
    def says() -> str:
        try:
            return Command()._gpu()
        except CommandError as error:
            return str(error)

    def until(self, said: Callable[[str], bool]) -> None:
        wait_until(lambda: said(self.says()), what=f"another answer than {self.says()!r}")

    def test_nobody_is_asked_where_nothing_is_left_to_them(self, settings, monkeypatch):
        monkeypatch.setattr(doctor, "_listens", None)
        settings.GPU_WORKERS = False
        assert self.says() == "metrics with networks are left to any worker"

    def test_one_must_listen_where_metrics_are_left_to_them(self, settings):
        settings.GPU_WORKERS = True
        with Worker("cpu"):
            wait_until(lambda: doctor._listens("cpu", 1.5), what="the worker's answer")
            sentence = self.says()
            assert sentence.startswith("PLUMBLINE_GPU_WORKERS=true leaves metrics with networks to workers of the queue gpu, and none")
            start = "docker compose --profile gpu up -d --build" if settings.BROKER_URL else "python manage.py run"
            assert sentence.endswith(f"; start one with `{start}`, or unset the setting")
            with Worker("gpu"):
                self.until(lambda said: said == "a worker listens to the queue gpu")
            self.until(lambda said: said == sentence)

    def test_parts_that_wait_for_one_need_one_whatever_the_setting(self, settings, waiting):
        for settings.GPU_WORKERS in (True, False):
            assert self.says().startswith("1 part of an entry waits for a worker of the queue gpu, and none listens to it; start one with")
            assert "unset" not in self.says()

    def test_one_that_is_at_work_does_not_answer_and_is_known_by_its_part(self, waiting):
        soon = timezone.now() + timedelta(minutes=1)
        Part.objects.filter(pk=waiting.pk).update(lease_until=soon)
        assert self.says().startswith("1 part of an entry waits"), "it was given back for a while"
        assert Part.objects.filter(pk=waiting.pk).claim("one", now=soon) is not None
        assert self.says() == "a worker listens to the queue gpu"

    def test_embedded_workers_that_are_at_work_listen_to_both_queues(self, settings, waiting):
        settings.LEASE_SECONDS = 60
        assert Submission.objects.claim("one") is not None
        assert ("none listens" in self.says()) == bool(settings.BROKER_URL)
        assert ("are at work" in self.says()) == (not settings.BROKER_URL)

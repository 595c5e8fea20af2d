"""The broker only wakes workers: an upload does not notice that it is gone."""

from __future__ import annotations

import io
import os
import shutil

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from evaluation.work import worker
from evaluation.work.sweep import sweep
from submissions import worker_notify
from submissions.models import Status, Submission
from submissions.storage import uploads
from tests import environment
from tests.support.factories import archive

pytestmark = pytest.mark.usefixtures("local_files")


@pytest.fixture(autouse=True)
def room_for_nudges(monkeypatch):
    """Nudges of other tests may fill the queue, which nobody reads here."""
    monkeypatch.setattr(worker_notify, "MOST_WAITING", 10**6)


@pytest.fixture
def refusing(monkeypatch):
    """A broker that refuses every connection."""

    def refuse(*args, **kwargs):
        raise OperationalError("connection refused")

    monkeypatch.setattr(current_app, "send_task", refuse)


@pytest.fixture
def no_folder():
    """The embedded broker's folder cannot be written to."""
    if environment.CLUSTER:
        pytest.skip("the embedded broker is not in use on the cluster profile")
    folder = environment.HOME + "/queue"
    shutil.move(folder, folder + ".away")
    with open(folder, "w"):
        pass
    yield
    os.remove(folder)
    shutil.move(folder + ".away", folder)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broken", ["refusing", "no_folder"])
def test_an_upload_without_a_broker_is_received_and_found_by_the_sweep(phase, people, references, broken, request):
    request.getfixturevalue(broken)
    data = archive(references)
    submission = uploads.start(people.owner, phase, file_name="entry.zip", size=len(data), method_name="m")
    uploads.save_part(submission, 1, io.BytesIO(data))
    uploads.finish(submission)
    assert worker_notify.send("work") is False
    assert Submission.objects.get(pk=submission.pk).status == Status.RECEIVED
    assert sweep()["cpu"] == 1
    worker.drain()
    assert Submission.objects.get(pk=submission.pk).status == Status.SCORED


@pytest.mark.django_db(transaction=True)
def test_nothing_is_announced_before_it_is_committed(phase, people, monkeypatch):
    seen = []
    monkeypatch.setattr(current_app, "send_task", lambda *a, **k: seen.append(Submission.objects.filter(status=Status.RECEIVED).count()))
    submission = uploads.start(people.owner, phase, file_name="entry.zip", size=3, method_name="m")
    uploads.save_part(submission, 1, io.BytesIO(b"abc"))
    uploads.finish(submission)
    assert seen == [1]

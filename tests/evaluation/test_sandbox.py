"""The worker's side of the limited child: one answer for each job, and no folder kept for nobody."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from evaluation import sandbox as module
from evaluation.sandbox import JobFailed, LeaseLost, Sandbox, job_folder

ITEM = {"id": "a", "group": "a", "max_vertices": 9, "max_edges": 9}
MANIFEST = {
    "challenge": "c", "phase": "p", "family": "wireframe", "items": [ITEM], "formats": ["json"], "missing": "reject",
    "unit": "m", "unit_scale": 1.0, "metrics": [], "bounds": {}, "reference_version": 1,
}  # fmt: skip


def job(folder: Path, name: str) -> dict:
    """Check an upload that holds no sample; its verdict names the file."""
    folder.mkdir()
    (folder / name).write_text("{}")
    return {"kind": "validate", "archive": name, "manifest": MANIFEST}


@pytest.fixture
def box():
    box = Sandbox()
    yield box
    box.stop()


def test_a_job_whose_heartbeat_broke_does_not_answer_for_the_next_one(box, tmp_path, monkeypatch):
    nothing_yet = iter([([], [], [])])  # whatever the child has done by then, a heartbeat comes first
    asked = SimpleNamespace(select=lambda *given: next(nothing_yet, None) or select.select(*given))
    monkeypatch.setattr(module, "select", asked)

    def database_is_away() -> bool:
        raise ConnectionError("terminating connection due to administrator command")

    first, second = tmp_path / "first", tmp_path / "second"
    with pytest.raises(ConnectionError):
        box.run(first, job(first, "first.json"), database_is_away)
    verdict = box.run(second, job(second, "second.json"), lambda: True)
    assert verdict["accepted"] is False
    assert (second / "result.json").exists()


def test_the_lease_is_kept_alive_while_the_child_begins(box, settings, tmp_path, monkeypatch):
    """This one never gets ready; it ends when its input does."""
    settings.HEARTBEAT_SECONDS = 0.01
    never = tmp_path / "never"
    never.write_text("#!/bin/sh\nexec cat\n")
    never.chmod(0o755)
    monkeypatch.setattr(module, "sys", SimpleNamespace(executable=str(never)))
    answers, folder = iter([True, True, False]), tmp_path / "first"
    with pytest.raises(LeaseLost):
        box.run(folder, job(folder, "first.json"), lambda: next(answers))
    monkeypatch.undo()
    assert box.run(tmp_path / "second", job(tmp_path / "second", "second.json"), lambda: True)["accepted"] is False


def test_a_child_that_is_killed_is_a_crash_with_a_sentence(box, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    box.run(first, job(first, "a.json"), lambda: True)
    os.kill(box._process.pid, signal.SIGKILL)
    with pytest.raises(JobFailed) as failed:
        box.run(second, job(second, "b.json"), lambda: True)
    assert failed.value.end == "crash" and failed.value.sentence == "The process that did it broke down."


HOLD = """
import sys, time
from pathlib import Path
from django.conf import settings
settings.configure(HOME=Path(sys.argv[1]))
from evaluation.sandbox import job_folder
with job_folder() as folder:
    (folder / "entry").write_text("bytes of somebody's entry")
    print(folder, flush=True)
    time.sleep(600)
"""


def test_the_folder_of_a_worker_that_was_killed_goes_with_the_next_job_and_a_held_one_stays(settings, tmp_path, monkeypatch):
    settings.HOME = tmp_path
    monkeypatch.setattr(module, "NEW_SECONDS", -1.0)
    workers = [subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        killed, alive = (Path(worker.stdout.readline().strip()) for worker in workers)
        workers[0].kill()
        workers[0].wait()
        assert (killed / "entry").exists()
        with job_folder() as mine:
            assert not killed.exists()
            assert (alive / "entry").exists()
            assert mine.is_dir()
        assert [path.name for path in (tmp_path / "jobs").iterdir()] == [alive.name]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            worker.stdout.close()


def test_a_folder_made_just_now_may_be_without_its_lock_and_stays(settings, tmp_path):
    settings.HOME = tmp_path
    new = tmp_path / "jobs" / "new"
    new.mkdir(parents=True)
    with job_folder():
        assert new.exists()
    old = time.time() - 2 * module.NEW_SECONDS
    os.utime(new, (old, old))
    with job_folder():
        assert not new.exists()

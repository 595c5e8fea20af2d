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

from evaluation.work import limited as module
from evaluation.work.sandbox import JobFailed, LeaseLost, Sandbox, job_folder
from tests.support.processes import wait_until

ITEM = {"id": "a", "group": "a", "max_vertices": 9, "max_edges": 9}
MANIFEST = {
    "challenge": "c",
    "phase": "p",
    "family": "wireframe",
    "items": [ITEM],
    "formats": ["json"],
    "missing": "reject",
    "unit": "m",
    "unit_scale": 1.0,
    "metrics": [],
    "bounds": {},
    "reference_version": 1,
}


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


def test_a_child_that_is_killed_is_a_loss_and_no_crash(box, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    box.run(first, job(first, "a.json"), lambda: True)
    child = box._process.pid
    os.kill(child, signal.SIGSTOP)  # so that it dies with the job in hand, and not before

    def kill() -> bool:
        os.kill(child, signal.SIGKILL)
        return True

    with pytest.raises(JobFailed) as failed:
        box.run(second, job(second, "b.json"), kill)
    assert failed.value.end == "killed"


HOLD = """
import sys, time
from pathlib import Path
from django.conf import settings
settings.configure(HOME=Path(sys.argv[1]))
from evaluation.work.sandbox import job_folder
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


SPAWNS = """
import os, subprocess, sys
from evaluation.work.parent_death import end_with
parent = os.getpid()
middle = os.fork()
if middle == 0:
    middle = os.getpid()
    last = os.fork()
    if last == 0:
        end_with(middle)
        os.execlp("sleep", "sleep", "1000")
    os.write(1, f"{last}\\n".encode())  # in one piece: two processes write here at once
    os.waitpid(last, 0)
os.write(1, f"{middle}\\n".encode())
os.waitpid(middle, 0)
"""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_is_to_end_with_its_parent_does_also_when_the_parent_is_killed():
    with subprocess.Popen([sys.executable, "-c", SPAWNS], stdout=subprocess.PIPE, text=True) as program:
        pids = {int(program.stdout.readline()) for _ in range(2)}
        middle = next(pid for pid in pids if f" {program.pid} " in Path(f"/proc/{pid}/stat").read_text())
        (last,) = pids - {middle}
        assert is_running(last)
        os.kill(middle, signal.SIGKILL)
        wait_until(lambda: not is_running(last), 10, "the end of the child")


def test_what_lost_its_parent_before_it_could_be_watched_ends_by_itself():
    code = "import os; from evaluation.work.parent_death import end_with; end_with(os.getppid() + 1); print('goes on')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")


HOLDS_A_CHILD = """
import subprocess, sys
command = [sys.executable, "-m", "evaluation.work.child"]
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
print(child.pid, flush=True)
if "ready" in sys.argv:
    child.stdout.readline()
    print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("when", ["loading", "ready"])
def test_a_child_whose_worker_is_killed_ends_at_once_also_while_it_loads(when):
    with subprocess.Popen([sys.executable, "-c", HOLDS_A_CHILD, when], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        child = int(worker.stdout.readline())
        if when == "ready":
            worker.stdout.readline()
        worker.kill()
        wait_until(lambda: not is_running(child), 30, "the end of the child")


def test_a_job_whose_child_is_killed_ends_at_once_and_the_worker_hears_of_it(box, settings, tmp_path):
    settings.HEARTBEAT_SECONDS = 0.2
    folder = tmp_path / "endless"
    order = job(folder, "endless.json")
    os.mkfifo(folder / "result.json")  # nobody reads from it, so the job never comes to its end
    jobs: list[int] = []

    def heartbeat() -> bool:
        if box._process is not None and not jobs:
            listed = Path(f"/proc/{box._process.pid}/task/{box._process.pid}/children").read_text().split()
            jobs.extend(map(int, listed))
            if jobs:
                box._process.kill()
        return True

    with pytest.raises(JobFailed) as failed:
        box.run(folder, order, heartbeat)
    assert failed.value.end == "killed"
    wait_until(lambda: not is_running(jobs[0]), 10, "the end of the job")

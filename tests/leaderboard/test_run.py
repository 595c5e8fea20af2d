"""`manage.py run` keeps its processes alive and stops them all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from django.conf import settings

from tests.environment import free_port
from tests.processes import wait_until


class Service:
    """The embedded service in a home of its own."""

    def __init__(self, home: Path, *before: str) -> None:
        self.port = free_port()
        own = ("PLUMBLINE_DATABASE_URL", "PLUMBLINE_BROKER_URL", "PLUMBLINE_S3_BUCKET", "PLUMBLINE_S3_ENDPOINT")
        env = {name: value for name, value in os.environ.items() if name not in own}
        self.process = subprocess.Popen(
            [*before, sys.executable, "manage.py", "run", "--port", str(self.port), "--workers", "1"],
            cwd=settings.BASE_DIR, env=env | {"PLUMBLINE_HOME": str(home)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=2) as answer:
                return answer.status == 200
        except OSError:
            return False

    def children(self) -> dict[int, str]:
        """Processes it started, with their command lines."""
        listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return {int(line.split(None, 1)[0]): line.split(None, 1)[1] for line in listed.stdout.splitlines() if line.strip()}

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(180)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def service(tmp_path):
    running = Service(tmp_path)
    wait_until(running.answers, what="the service's answer")
    wait_until(lambda: len(running.children()) == 3, what="web, worker and sweeper")
    yield running
    running.end()


def test_ctrl_c_stops_everything(service):
    children = service.children()
    service.process.send_signal(signal.SIGINT)
    assert service.process.wait(180) == 0
    assert not [args for pid, args in children.items() if alive(pid)]
    assert "Plumbline has stopped." in service.process.stdout.read().decode()


def test_a_killed_supervisor_leaves_nothing_behind(service):
    children = service.children()
    service.process.kill()
    wait_until(lambda: not any(alive(pid) for pid in children), what="the children's end")


def test_a_killed_worker_is_started_again(service):
    worker = next(pid for pid, args in service.children().items() if "celery" in args)
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: any("celery" in args and pid != worker for pid, args in service.children().items()), what="another worker")
    assert service.answers()


def test_a_second_start_keeps_the_data_and_a_taken_port_is_one_sentence(service, tmp_path):
    second = subprocess.run(
        [sys.executable, "manage.py", "run", "--port", str(service.port)], cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=60
    )
    assert second.returncode == 1 and f"Port {service.port}" in second.stderr and "Traceback" not in second.stderr
    before = (tmp_path / "plumbline.sqlite3").stat().st_ino
    service.end()
    again = Service(tmp_path)
    wait_until(again.answers, what="the service's answer")
    again.end()
    assert (tmp_path / "plumbline.sqlite3").stat().st_ino == before


def test_under_nohup_it_outlives_the_terminal(tmp_path):
    running = Service(tmp_path, "nohup")
    try:
        wait_until(running.answers, what="the service's answer")
        running.process.send_signal(signal.SIGHUP)
        time.sleep(1)
        assert running.process.poll() is None and running.answers()
    finally:
        running.end()

"""A worker's side of the limited child, wherever the worker runs: give it jobs, keep the lease alive meanwhile. PURE."""

from __future__ import annotations

import atexit
import fcntl
import json
import logging
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.work import child
from evaluation.work.child import uses_networks
from submissions.entry_states import Reason, Why
from submissions.wording import cause

log = logging.getLogger(__name__)

ROOT = Path(child.__file__).parents[child.__name__.count(".")]  # which the child finds its modules below

PATIENCE = 3.0  # times the seconds of the processor that a part may take on the wall: a busy machine is not the entry's fault
START_SECONDS = 600.0  # in which the child must be ready for its first job
PROGRAM_SHARE = 0.8  # of the time of a part, in which an organizer's programs must be done: an entry never fails because of them
NEW_SECONDS = 60.0  # a job's folder younger than this may still be without its lock


@dataclass(frozen=True)
class Limits:
    """Limits of a job: `memory` bytes, and `seconds` of the processor unless the job says otherwise; how often a heartbeat is due, in
    seconds; and the folder of fetched weights. `cards` are the graphics cards that jobs see, as CUDA_VISIBLE_DEVICES names them: all
    that are there without it, none where it is empty."""

    memory: int
    seconds: int
    heartbeat: float
    weights: Path
    cards: str | None = None


class JobFailed(Exception):
    """The job did not answer. `end` is the outcome; `detail` is for operators, but if this worker lacks something (`is_missing_here`) a
    sentence for all."""

    def __init__(self, end: str, detail: str, seconds: int = 0, memory: int = 0) -> None:
        super().__init__(end)
        self.end, self.detail, self.seconds, self.memory = end, detail, seconds, memory

    @property
    def is_missing_here(self) -> bool:
        """Return whether another worker may be able to do it: weights or a library are not here, or the code is not the batch's."""
        return self.end in ("weights", "definition", "library")

    @property
    def is_of_card(self) -> bool:
        """Return whether there was no graphics card that could be computed on, which is no fault of the job; `detail` is a sentence."""
        return self.end == "card"

    @property
    def why(self) -> Why:
        """Reason for which the job came to nothing, but where this worker lacks something."""
        numbers = {Reason.MEMORY: {"megabytes": self.memory >> 20}, Reason.TIME: {"seconds": self.seconds}}
        return Why(Reason(self.end), numbers.get(Reason(self.end), {}))

    @property
    def sentence(self) -> str:
        return self.detail if self.is_missing_here or self.is_of_card else cause(self.why)


class LeaseLost(Exception):
    """The row is somebody else's now, or nobody's: stop, write nothing."""


class Sandbox:
    """One limited child and its jobs, one at a time; `module` is what it runs, which ends in `child.main`."""

    def __init__(self, limits: Callable[[], Limits], module: str = child.__name__) -> None:
        self._limits, self._module = limits, module
        self._process: subprocess.Popen | None = None
        self._owner = os.getpid()
        atexit.register(self.stop)

    def run(self, folder: Path, job: dict, heartbeat: Callable[[], bool], seconds: int | None = None, patience: float = 1.0) -> dict:
        """Do `job` in `folder` and return its result, within `seconds` (by default the limit's) of the processor, and `patience` times as
        many on the wall.

        Calls `heartbeat` every few seconds. Raises `JobFailed`, or `LeaseLost` when a heartbeat
        says that the work is no longer ours.
        """
        limits = self._limits()
        seconds = seconds or limits.seconds
        (folder / "job.json").write_text(json.dumps(job))
        order = {
            "folder": str(folder),
            "memory": limits.memory,
            "seconds": seconds,
            "wall": seconds * patience,
            "networks": uses_networks(job),
            "programs": sorted({one["document"]["run"] for one in job.get("programs", ())}),
        }
        try:
            process = self._start(heartbeat)
            assert process.stdin is not None
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
            end = self._answer(process, heartbeat, seconds * patience)
        except BrokenPipeError:
            end = "gone"
        except BaseException:
            self.stop()  # or it would answer the next job with what this one found
            raise
        notes = folder / child.NOTES
        if notes.exists():
            for note in json.loads(notes.read_text()):
                log.warning("%s", note)
            notes.unlink()  # the next job in this folder has its own
        if end == "gone":
            raise self._gone()
        if end == "killed":
            raise JobFailed(end, "had the process of its job killed")
        if end != "ok":
            error = folder / "error.txt"
            raise JobFailed(end, error.read_text() if error.exists() else f"the job ended with: {end}", seconds, limits.memory)
        return json.loads((folder / "result.json").read_text())

    def _answer(self, process: subprocess.Popen, heartbeat: Callable[[], bool], seconds: float) -> str:
        """The next line of the child, with heartbeats while it takes its time."""
        deadline = time.monotonic() + seconds + 30
        assert process.stdout is not None
        while True:
            ready, _, _ = select.select([process.stdout], [], [], self._limits().heartbeat)
            if ready:
                line = process.stdout.readline()
                return json.loads(line)["end"] if line else "gone"
            if not heartbeat():
                self.stop()
                raise LeaseLost
            if time.monotonic() > deadline:
                self.stop()
                return "crash"

    def _start(self, heartbeat: Callable[[], bool]) -> subprocess.Popen:
        """The child, ready for a job: it takes seconds to begin, and on a busy machine longer than a lease."""
        if self._owner != os.getpid():  # a forked worker must not share its parent's child
            self._process, self._owner = None, os.getpid()
        if self._process is None or self._process.poll() is not None:
            # Nothing of the worker's environment: settings there are credentials here.
            environment = {
                "PATH": os.defpath,
                "LANG": "C.UTF-8",
                "PYTHONPATH": str(ROOT),
                "OPENBLAS_NUM_THREADS": "1",
                "OMP_NUM_THREADS": "1",
                "CUBLAS_WORKSPACE_CONFIG": ":4096:8",  # without it a card's products may differ from run to run
                "HOME": tempfile.gettempdir(),
            }
            if self._limits().cards is not None:
                environment["CUDA_VISIBLE_DEVICES"] = str(self._limits().cards)
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, str(self._limits().weights)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                cwd=ROOT,
                start_new_session=True,
                bufsize=0,
            )
            if (end := self._answer(self._process, heartbeat, START_SECONDS)) != "ready":
                raise self._gone() if end == "gone" else JobFailed("crash", "the scoring process did not start")
        return self._process

    def _gone(self) -> JobFailed:
        """Failure of a job whose child ended by itself. Its own limits end jobs, not it, so a signal that kills came from outside: an
        operator, or a machine without memory."""
        process = self._process
        self.stop()
        killed = process is not None and process.returncode in (-signal.SIGKILL, -signal.SIGTERM)
        return JobFailed("killed" if killed else "crash", f"lost its scoring process, which ended with {process and process.returncode}")

    def stop(self) -> None:
        """End the child and whatever job it runs."""
        process = self._process
        if process is not None and self._owner == os.getpid():
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()  # the child kills its job and leaves when its input ends
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
        self._process = None


@contextmanager
def folder_in(root: Path) -> Iterator[Path]:
    """A folder for one job below `root`, removed afterwards. Folders left behind by killed workers are removed first."""
    root.mkdir(parents=True, exist_ok=True)
    for left in root.iterdir():
        try:
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:  # its owner has just removed it
            continue
        try:
            if time.time() - os.fstat(lock).st_mtime > NEW_SECONDS:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(lock)
    with tempfile.TemporaryDirectory(dir=root, ignore_cleanup_errors=True) as folder:
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # lives as long as this process
            yield Path(folder)
        finally:
            os.close(lock)

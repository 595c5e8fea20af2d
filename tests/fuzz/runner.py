"""Each case is read in a forked process under limits of the kernel, as `evaluation.work.child` reads uploads.

A process reads one case after another; before each it is allowed so many seconds of the processor and so many bytes of
addresses more than it has. What it does not survive is that case's fault, and the next one begins in a new process.
"""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol

from tests.fuzz.edits import case
from tests.fuzz.formats import BY_NAME, Format
from tests.support.memory import status

SECONDS = 3
BYTES = 200_000_000
WALL_SECONDS = 300  # without a word of a process: it waits for something
BATCH = 500  # cases of one process
MAX_SENTENCE = 1500  # the longest list the metrics that there are
_REAL = 0.1  # of the cases are damaged real files, where there are any
_PAGE = resource.getpagesize()


@dataclass(frozen=True)
class Outcome:
    """Outcome of one case: `accepted`, `refused` with a sentence, or `fault`; what was said, and what it took."""

    number: int
    end: str
    said: str
    seconds: float
    bytes: int


class Cases:
    """The cases of one format: number `n` is always the same bytes for the same seed and sound files."""

    def __init__(self, kind: Format, seed: int) -> None:
        self.kind, self.seed = kind, seed
        self.seeds, self.real = kind.seeds(), kind.real_files()

    def __getitem__(self, number: int) -> bytes:
        dice = Random(f"{self.seed}:{self.kind.name}:{number}")
        return case(dice, self.real if self.real and dice.random() < _REAL else self.seeds, self.kind.edits)


class Made(Protocol):
    """Files of one format by number; ``seeds`` are sound ones."""

    kind: Format
    seeds: Sequence[bytes]

    def __getitem__(self, number: int) -> bytes: ...


def run(made: Made, cases: int) -> Iterator[Outcome]:
    """The outcomes of the first so many cases, in their order."""
    kind = made.kind
    with tempfile.TemporaryDirectory(prefix="plumbline-fuzz-") as root:
        folder = Path(root)
        kind.lay(folder)
        (folder / kind.file).parent.mkdir(parents=True, exist_ok=True)
        for data in made.seeds:  # what is loaded at the first file is not counted to a case
            (folder / kind.file).write_bytes(data)
            problems = kind.read(folder)
            assert bool(problems) == (kind.name == "tar"), (kind.name, problems)  # of which it is only said that it is none of ours
        gc.collect()
        gc.freeze()
        done = 0
        while done < cases:
            for outcome in _batch(made, range(done, min(done + BATCH, cases)), folder):
                done = outcome.number + 1
                yield outcome


def _batch(cases: Made, numbers: range, folder: Path) -> Iterator[Outcome]:
    """The outcomes of one process; where it dies, the case that killed it is the last."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "w", buffering=1) as pipe:
                for number in numbers:
                    pipe.write(json.dumps(_outcome(cases, number, folder)) + "\n")
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    number = numbers.start
    hung = False
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        rest = b""
        while True:
            ready, _, _ = select.select([pipe], [], [], WALL_SECONDS)
            if not ready:
                hung = True
                os.kill(pid, signal.SIGKILL)
            chunk = pipe.read(1 << 16)
            if not chunk:
                break
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield Outcome(number, *json.loads(line))
                number += 1
    _, status = os.waitpid(pid, 0)
    if number < numbers.stop:
        what = f"waited for {WALL_SECONDS} s" if hung else _death(status)
        yield Outcome(number, "fault", what, float(SECONDS), 0)


def _death(status: int) -> str:
    if os.WIFSIGNALED(status):
        killer = signal.Signals(os.WTERMSIG(status)).name
        return f"took more than {SECONDS} s of the processor" if killer == "SIGXCPU" else f"ended its process by {killer}"
    return f"ended its process with {os.WEXITSTATUS(status)}"


def _outcome(cases: Made, number: int, folder: Path) -> tuple[str, str, float, int]:
    """In the forked process: one case under its limits."""
    kind, data = cases.kind, cases[number]
    (folder / kind.file).write_bytes(data)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before = status("VmRSS")
    used = resource.getrusage(resource.RUSAGE_SELF)
    begun = used.ru_utime + used.ru_stime
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(begun) + SECONDS, resource.RLIM_INFINITY))
    addresses = int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE
    resource.setrlimit(resource.RLIMIT_AS, (addresses + BYTES, resource.RLIM_INFINITY))
    start = time.process_time()
    try:
        said = kind.read(folder)
        end = "refused" if said else "accepted"
        wrong = [sentence for sentence in said if not _is_sentence(sentence)]
        text = said[0] if said else ""
        if wrong:
            end, text = "fault", f"said what is no sentence: {wrong[0]!r}"
    except MemoryError:
        end, text = "fault", f"needed more than {BYTES // 10**6} MB\n{traceback.format_exc(limit=-8)}"
    except Exception:
        end, text = "fault", traceback.format_exc(limit=-8)
    seconds = time.process_time() - start
    for limit in (resource.RLIMIT_AS, resource.RLIMIT_CPU):  # the next case is made without them
        resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if seconds > SECONDS:
        end, text = "fault", f"took {seconds:.1f} s of the processor"
    return end, text[:4000], round(seconds, 4), max(0, status("VmHWM") - before)


def _is_sentence(text: str) -> bool:
    """One line that people can read, without anything of ours in it."""
    plain = not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text)
    return (
        plain and 10 <= len(text) <= MAX_SENTENCE and "Traceback" not in text and "submissions/" not in text and " object at 0x" not in text
    )


def keep(cases: Made, outcome: Outcome, folder: Path) -> Path:
    """Writes a case that is a fault, and beside it what happened; returns its path."""
    place = folder / cases.kind.name.replace(" ", "-")
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{outcome.number}-{Path(cases.kind.file).name}"
    path.write_bytes(cases[outcome.number])
    path.with_name(f"{path.name}.txt").write_text(outcome.said + "\n")
    return path


def again(kind: Format, path: Path) -> list[str]:
    """Reads one kept case without limits."""
    with tempfile.TemporaryDirectory(prefix="plumbline-fuzz-") as root:
        folder = Path(root)
        kind.lay(folder)
        (folder / kind.file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / kind.file)
        return kind.read(folder)


def tried(name: str, seed: int, cases: int, folder: Path) -> dict[str, Any]:
    """Outcomes of so many cases of one format, the worst seconds and bytes of one, and each fault with the file it was kept in."""
    ends, seconds, size, kept = {"accepted": 0, "refused": 0, "fault": 0}, 0.0, 0, []
    made = Cases(BY_NAME[name], seed)
    for outcome in run(made, cases):
        ends[outcome.end] += 1
        seconds, size = max(seconds, outcome.seconds), max(size, outcome.bytes)
        if outcome.end == "fault":
            kept.append({"path": str(keep(made, outcome, folder)), "said": outcome.said})
    return {**ends, "seconds": seconds, "bytes": size, "faults": kept}

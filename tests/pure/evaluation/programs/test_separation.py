"""Calls of a program that try to tell each other something: each finds what the first one found."""

from __future__ import annotations

import errno
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.metrics.result import Status
from evaluation.programs import guest, program_checks
from evaluation.programs import program as program_module
from evaluation.programs.cgroup import Cgroup
from evaluation.programs.program import Sample, encoded, load, longest_slice
from evaluation.programs.sandbox import Boxed, Limits
from submissions.formats.wireframe.wireframe_files import Wireframe
from tests.conftest import need
from tests.support.evaluation.programs import written

LIMITS = Limits(5.0, 30.0, 600 << 20)


def line(length: float = 1.0) -> Wireframe:
    return Wireframe(np.array([[0.0, 0, 0], [length, 0, 0]]), np.array([[0, 1]]))


SAME = Sample("same", "same", line(), line())


@pytest.fixture(autouse=True)
def _sandbox():
    need("sandbox")


def values(folder: Path, code: str, samples: list[Sample], **fields: object) -> list[float | None]:
    with load(written(folder, code, **fields)) as program:
        found = program.score_all(samples, {})
    assert [one for one in found if one.status != Status.OK] == [], found
    return [one.value for one in found]


@contextmanager
def calls(folder: Path, code: str) -> Iterator[Any]:
    """A function that makes a call of the program with parameters, and returns whatever it answers."""
    written(folder, code)
    with Boxed("python", "score.py:score", [(str(folder), guest.PROGRAM)], LIMITS, ["numpy", "scipy"]) as box:

        def call(**params: object) -> Any:
            described, data = encoded([SAME])
            ended = box.call({"items": described, "params": params, "level": "item"}, data, 5.0, 30.0, guest.MAX_ANSWER)
            assert ended is not None and ended.end == "ok", (ended, box.last_error())
            return json.loads(ended.answer)["result"]

        yield call


MARK = int(time.time()) - 1_000_000
# Each function says whether it finds a mark, then leaves one.
MARKS = """
    import ctypes, os, socket

    libc = ctypes.CDLL(None, use_errno=True)

    def a_file(folder):
        path = os.path.join(folder, "mark")
        found = os.path.exists(path)
        try:
            open(path, "w").close()
        except OSError:
            pass
        return found

    def files(params):
        folders = {"/", "/tmp", "/dev/shm", "/dev", "/work", "/work/output", "/program", "/run", "/var/tmp", os.getcwd(), "/proc/1/cwd"}
        return any([a_file(folder) for folder in folders])

    def times_and_modes_of_files(params):
        found = False
        for path in ("/dev/null", "/dev/zero", "/dev/urandom", "/program", "/program/score.py", "/usr/bin/env"):
            found |= int(os.stat(path).st_mtime) == params["mark"]
            try:
                os.utime(path, (params["mark"], params["mark"]))
            except OSError:
                pass
        return found

    def the_process_that_started_it(params):
        found = False
        for place in ("cwd", "root", "fd", "task"):
            try:
                for name in os.listdir(f"/proc/{os.getppid()}/{place}"):
                    found |= bool(os.open(f"/proc/{os.getppid()}/{place}/{name}", os.O_RDWR | os.O_NONBLOCK))
            except OSError:
                pass
        try:
            found |= os.getpriority(os.PRIO_PROCESS, os.getppid()) == 7
            os.setpriority(os.PRIO_PROCESS, os.getppid(), 7)
        except OSError:
            pass
        return found

    def shared_memory_of_system_v(params):
        found = libc.shmget(4711, 100, 0) >= 0
        libc.shmget(4711, 100, 0o1666)
        return found

    def queues_of_messages(params):
        found = libc.msgget(4711, 0) >= 0 or libc.semget(4711, 1, 0) >= 0 or libc.mq_open(b"/mark", 0) >= 0
        libc.msgget(4711, 0o1666), libc.semget(4711, 1, 0o1666), libc.mq_open(b"/mark", 0o102, 0o666, None)
        return found

    def abstract_sockets(params):
        try:
            held = socket.socket(socket.AF_UNIX)
            held.bind("\\0mark")
            held.listen()
        except OSError as error:
            return error.errno == 98  # it is taken
        if os.fork() == 0:
            os.setsid()
            import time
            time.sleep(60)
            os._exit(0)
        return False

    def processes(params):
        found = len([name for name in os.listdir("/proc") if name.isdigit()]) > 2
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for place in range(3, 64):
                    try:
                        os.close(place)
                    except OSError:
                        pass
                import time
                time.sleep(60)
            os._exit(0)
        return found

    def modules(params):
        import json, sys
        found = hasattr(json, "mark") or "mark" in os.environ or hasattr(sys, "mark")
        json.mark = sys.mark = True
        os.environ["mark"] = "1"
        return found

    WAYS = (
        files,
        times_and_modes_of_files,
        the_process_that_started_it,
        shared_memory_of_system_v,
        queues_of_messages,
        abstract_sockets,
        processes,
        modules,
    )

    def score(prediction, reference, params):
        return [way.__name__ for way in WAYS if way(params)]
"""


def test_no_mark_of_an_earlier_call_is_found(tmp_path):
    with calls(tmp_path, MARKS) as call:
        assert [call(mark=MARK) for _ in range(4)] == [[]] * 4


STATE = """
    import os

    def score(prediction, reference, params):
        before = sum(name.startswith("seen_") for name in os.listdir("/tmp"))
        open(f"/tmp/seen_{before}", "w").close()
        return 1.0 if before < 6 else max(0.0, 1.0 - before / 20)
"""


def test_twelve_identical_items_have_one_value(tmp_path):
    assert set(values(tmp_path, STATE, [SAME] * 12)) == {1.0}


def test_a_program_cannot_turn_bad_after_a_hundred_calls(tmp_path):
    """It counts by whatever is left of its calls, in every way at once."""
    counts = f"return float(any([way({{'mark': {MARK}}}) for way in WAYS]))"
    code = MARKS.replace("return [way.__name__ for way in WAYS if way(params)]", counts)
    n = program_module.LONGEST_SLICE + 5
    assert values(tmp_path, code, [SAME] * n) == [0.0] * n


# The pattern that it looks for is nowhere in memory in one piece.
SEARCH = """
    import re, struct

    MARKER = 7919.103515625

    def score(prediction, reference, params):
        pattern = re.compile(b"".join(b"[" + re.escape(bytes([one])) + b"]" for one in struct.pack("d", -MARKER)[::-1][::-1] * 2))
        if prediction.vertices[0, 0] < 0:
            return 1.0
        found = 0
        with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
            for line in list(maps):
                place, rights, *_ = line.split()
                if not rights.startswith("r") or "[v" in line:
                    continue
                start, end = (int(one, 16) for one in place.split("-"))
                try:
                    memory.seek(start)
                    found += pattern.search(memory.read(min(end - start, 64 << 20))) is not None
                except (OSError, ValueError, OverflowError):
                    pass
        return float(found)
"""


def test_the_memory_of_a_call_has_nothing_of_the_item_before(tmp_path):
    secret = Wireframe(np.full((3000, 3), -7919.103515625), np.array([[0, 1]]))  # more than the next item writes over
    with_marker = Sample("secret", "secret", secret, secret)
    assert values(tmp_path / "after", SEARCH, [with_marker, SAME, with_marker, SAME]) == [1.0, 0.0, 1.0, 0.0]
    # The search finds what is there.
    own = SEARCH.replace("if prediction.vertices[0, 0] < 0:", "if False:")
    assert values(tmp_path / "own", own, [with_marker]) != [0.0]


NUMBERS = """
    import os, threading

    def text(path):
        try:
            return open(path).read()
        except OSError as error:
            return error.errno

    def score(prediction, reference, params):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        names = [name for name in os.listdir("/proc") if name not in ("self", "thread-self", "meminfo", "cpuinfo") and not name.isdigit()]
        return {
            "ids": [os.getpid(), os.getppid(), child, os.getsid(0), os.getpgid(0), threading.get_native_id(), os.getuid()],
            "processes": sorted(name for name in os.listdir("/proc") if name.isdigit()),
            "files": {name: text(f"/proc/{name}") for name in names if not os.path.isdir(f"/proc/{name}")},
            "folders": {name: os.listdir(f"/proc/{name}") for name in names if os.path.isdir(f"/proc/{name}") and name != "net"},
            "mounts": [text(f"/proc/{pid}/{name}") for pid in (1, 2, "self") for name in ("mounts", "mountinfo", "mountstats")],
            "command": text("/proc/self/cmdline"),
            "launcher": text("/proc/1/cmdline"),
            "kept": [len(text("/proc/cpuinfo")) > 100, len(text("/proc/meminfo")) > 100, "Pid:" in text("/proc/self/status")],
            "groups": text("/proc/self/cgroup"),
        }
"""


def test_every_call_has_the_same_numbers_and_proc_tells_nothing_of_the_machine(tmp_path):
    with calls(tmp_path, NUMBERS) as call:
        first, *others = [call() for _ in range(5)]
    assert others == [first] * 4
    assert first["ids"][:3] == [2, 1, 3]
    assert first["processes"] == ["1", "2"]
    known = {"cmdline", "partitions", "loadavg", "version", "stat", "uptime", "vmstat", "interrupts", "diskstats", "modules", "locks"}
    assert {name for name in known if Path("/proc", name).exists()} <= set(first["files"])
    assert set(first["files"].values()) == {""}  # of all files but those that are kept, config.gz among them where the kernel has it
    assert first["folders"].keys() >= {"sys", "fs"} and not any(first["folders"].values())
    assert set(first["mounts"]) <= {"", errno.EACCES} and first["mounts"][-3:] == [""] * 3
    command = "/plumbline/interpreter/python\0-P\0-s\0-B\0-m\0evaluation.programs.guest.launcher\0"
    assert (first["command"], first["launcher"]) == (command, command)
    assert first["kept"] == [True] * 3
    assert [one for one in first["groups"].split() if not one.endswith(":/")] == []


AGES = """
    import logging, os

    def score(prediction, reference, params):
        began = params["now"] - 0.05  # clocks of files are coarse
        times = {path: os.lstat(path).st_ctime for path in ("/", "/tmp", "/dev", "/dev/shm", "/plumbline", "/app", "/proc/1", "/proc")}
        times["the import of logging"] = logging._startTime
        return [name for name, time in times.items() if time < began]
"""


def test_nothing_tells_how_long_the_launcher_has_been_there(tmp_path):
    with calls(tmp_path, AGES) as call:
        found = []
        for _ in range(3):
            found.append(call(now=time.time()))
            time.sleep(0.3)
    assert found == [[]] * 3


def test_an_answer_that_was_written_ahead_is_not_the_next_items(tmp_path):
    """Into the pipes of whatever is above it, and by a process that goes on."""
    code = """
        import glob, os, time

        FORGED = (b'15\\n{"result": 7.0}', b'{"result": 7.0}', b"0" * 32 + b'{"result": 7.0}')

        def forge(paths):
            for path in paths:
                for text in FORGED:
                    try:
                        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), text)
                    except OSError:
                        pass

        def score(prediction, reference, params):
            if prediction.vertices[1, 0] < 2:
                return 1.0
            forge(glob.glob("/proc/[0-9]*/fd/*"))
            if os.fork() == 0:
                os.setsid()
                for _ in range(50):
                    forge(glob.glob("/proc/self/fd/*"))
                    time.sleep(0.1)
                os._exit(0)
            os._exit(0)
    """
    forger = Sample("forger", "forger", line(3.0), line())
    with load(written(tmp_path, code)) as program:
        first, second, third, fourth = program.score_all([forger, SAME, forger, SAME], {})
    assert first.status == third.status == Status.FAILED
    assert (second.value, fourth.value) == (1.0, 1.0)


def test_an_answer_without_the_calls_nonce_is_refused(tmp_path):
    code = """
        import os

        def score(prediction, reference, params):
            os.write(4, b"0" * 32 + b'{"result": 7.0}')
            os._exit(0)
    """
    with load(written(tmp_path, code)) as program:
        (found,) = program.score_all([SAME], {})
    assert (found.status, found.value) == (Status.FAILED, None)


def test_programs_import_their_own_modules_and_parts_of_their_packages(tmp_path):
    """The launcher imports what they use of the packages; what is the program's own is loaded for each call."""
    (tmp_path / "launcher.py").write_text("import os\nCALLS = [os.getpid()]")
    (tmp_path / "evaluation.py").write_text("VALUE = 3.0")
    code = """
        import evaluation, launcher, sys
        from scipy.spatial import cKDTree

        BEFORE = "scipy.spatial" in sys.modules

        def score(prediction, reference, params):
            launcher.CALLS.append(0)
            return evaluation.VALUE + len(launcher.CALLS)
    """
    assert values(tmp_path, code, [SAME] * 3, packages="[numpy, scipy]") == [5.0] * 3


@pytest.mark.parametrize("counted", ["by the control group", "by adding up"])
@pytest.mark.parametrize("waited", ["waited for", "not waited for"])
def test_processor_time_is_that_of_all_processes_together(tmp_path, monkeypatch, counted, waited):
    """Each process uses little, and all nine times as much as they may."""
    if counted == "by adding up":
        monkeypatch.setattr(Cgroup, "usage", None)
    monkeypatch.setattr(program_module, "MIN_WALL", 15.0)
    code = f"""
        import os, signal, time

        if {waited == "not waited for"}:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        def score(prediction, reference, params):
            for _ in range(5):
                children = []
                for _ in range(6):
                    children.append(os.fork())
                    if children[-1] == 0:
                        while time.process_time() < 0.3:
                            pass
                        os._exit(0)
                for child in children:
                    try:
                        os.waitpid(child, 0)
                    except ChildProcessError:
                        pass
            return 1.0
    """
    with load(written(tmp_path, code, effort="{seconds: 0.1, memory_mb: 60}")) as program:
        (found,) = program.score_all([SAME], {})
    assert found.status == Status.FAILED and "took longer than 1 s" in found.flags[0], found


class TestArrival:
    def checked(self, folder: Path, code: str, **fields: object) -> program_checks.Check:
        program = load(written(folder, code, **fields))
        return program_checks.determinism(program.again, program_checks.samples_of("wireframe", None), {"seed": 0})

    def test_more_calls_are_made_than_any_slice_has(self, tmp_path):
        counted = []
        program = load(written(tmp_path, "def score(p, r, q):\n    return 1.0", effort="{seconds: 12, memory_mb: 60}"))
        longest = longest_slice(program.document)
        assert longest == 16

        class Counting(program_module.Program):
            def score_all(self, samples, params, progress=None):
                counted.append([sample.reference for sample in samples])
                return super().score_all(samples, params, progress)

        again = lambda: Counting(program.document, program.folder)  # noqa: E731
        check = program_checks.determinism(again, program_checks.samples_of("wireframe", None), {})
        assert check.passed
        first, *others = counted
        assert len(first) > longest
        assert len({id(item) for item in first[::3]}) == 1
        assert [len(one) for one in others] == [1] * 3 + [6]

    @pytest.mark.parametrize("level", ["item", "group", "set"])
    @pytest.mark.parametrize("run", ["python", "script"])
    def test_what_says_the_same_of_an_item_passes(self, tmp_path, level, run):
        function = "def score(p, r, q):\n    return 0.5"
        script = """
            import json

            rows = json.load(open("items.json"))["items"]
            found = {{"items": {{row["id"]: {{"value": 0.5}} for row in rows}}}} if "{level}" != "set" else {{"set": {{"value": 0.5}}}}
            json.dump(found, open("output/scores.json", "w"))
        """
        code = function if run == "python" else script.format(level=level)
        entry = "score.py:score" if run == "python" else "python score.py"
        check = self.checked(tmp_path, code, level=level, run=run, entry=entry, effort="{seconds: 100, memory_mb: 60}")
        assert check.passed, check

    def test_a_script_that_counts_the_items_of_its_slice_is_refused(self, tmp_path):
        code = """
            import json

            rows = json.load(open("items.json"))["items"]
            found = {row["id"]: {"value": float(n > 10)} for n, row in enumerate(rows)}
            json.dump({"items": found}, open("output/scores.json", "w"))
        """
        check = self.checked(tmp_path, code, run="script", entry="python score.py", effort="{seconds: 12, memory_mb: 60}")
        assert not check.passed

    def test_values_of_chance_are_refused_wherever_they_begin(self, tmp_path):
        code = "import os\n\ndef score(p, r, q):\n    return 1.0 + (os.urandom(1)[0] < 32)"
        assert not self.checked(tmp_path, code).passed

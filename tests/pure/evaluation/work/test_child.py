"""Bounds of a job's memory, with and without a graphics card."""

import contextlib
import json
import os
import resource
import subprocess
import sys

import pytest

from evaluation.networks import graphics_card
from evaluation.work import child
from evaluation.work.limited import JobFailed, Limits, Sandbox
from tests import ROOT
from tests.conftest import need


@pytest.mark.parametrize("kind", list(child.JOBS))
def test_without_a_card_all_addresses_are_bounded(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(graphics_card, "DEVICES", tmp_path)
    assert child.memory_limit(kind) == resource.RLIMIT_AS


@pytest.mark.parametrize("kind", list(child.JOBS))
def test_with_a_card_jobs_that_compute_may_reserve_addresses_and_those_that_parse_may_not(kind, tmp_path, monkeypatch):
    (tmp_path / "nvidia0").touch()
    monkeypatch.setattr(graphics_card, "DEVICES", tmp_path)
    expected = resource.RLIMIT_DATA if kind in ("prepare", "score", "suite", "card") else resource.RLIMIT_AS
    assert child.memory_limit(kind) == expected


def test_what_a_job_warns_of_is_in_the_log_of_its_worker_whatever_became_of_it(tmp_path, caplog):
    sandbox = Sandbox(lambda: Limits(2 << 30, 60, 5.0, tmp_path), "tests.support.evaluation.warning_child")
    try:
        for fails in (False, True):
            with pytest.raises(JobFailed) if fails else contextlib.nullcontext():
                sandbox.run(tmp_path, {"kind": "warn", "text": f"halved {fails}", "fails": fails}, lambda: True, 60, 5.0)
    finally:
        sandbox.stop()
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == ["halved False", "halved True"]


def test_what_is_allocated_is_bounded_and_what_is_only_reserved_is_not():
    code = (
        "import mmap, resource, numpy as np\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))\n"
        "reserved = mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)\n"
        "np.ones(1 << 24)\n"
        "try:\n    np.ones(1 << 28)\nexcept MemoryError:\n    print('bounded')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["bounded"]


def job(kind: str, *keys: str, **params) -> dict:
    return {"kind": kind, "requests": [{"key": key, "params": params} for key in keys]}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ({"kind": "validate", "archive": "a.zip", "manifest": {}}, False),
        ({"kind": "reference", "file": "a.zip", "family": "render", "columns": ["psnr"]}, False),
        (job("score", "corner_f1", "wed"), False),
        (job("score", "psnr", "lite0_distance"), True),
        (job("prepare", "puzzlesim"), True),
        (job("score", "puzzlesim_pieces"), True),
        (job("score", "puzzlesim_pieces", features="dictionary"), False),  # numpy applies the dictionary that it learns from the scene
        (job("score", "puzzlesim_pieces", features="squeeze"), True),
        (job("score", "saucd_w"), False),  # numpy applies its 20 weights
        (job("score", "a metric of newer code"), False),
        ({"kind": "suite", "requests": [{"key": "hss"}]}, False),
        ({"kind": "suite", "requests": [{"key": "locase"}]}, True),
        ({"kind": "pictures", "columns": {"maps": {}, "objects": {}}}, False),
        ({"kind": "pictures", "columns": {"maps": {"map": {"key": "puzzlesim", "params": {}}}, "objects": {}}}, True),
        (
            {
                "kind": "pictures",
                "columns": {"maps": {"odd": {"key": "puzzlesim_pieces", "params": {"features": "dictionary"}}}, "objects": {}},
            },
            False,
        ),
    ],
)
def test_what_networks_run_on_is_loaded_for_the_jobs_in_which_one_runs(job, expected):
    assert child.uses_networks(job) is expected


# Instead of its work each job says what it finds: whether torch is loaded, threads of the parent, and how much it may still allocate.
TELLS = """
import json, os, resource, sys
from pathlib import Path
from evaluation.work import child
def tell(folder, job):
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return {"torch": "torch" in sys.modules, "threads": len(os.listdir(f"/proc/{os.getppid()}/task")),
            "room": resource.getrlimit(resource.RLIMIT_AS)[0] - mapped}
child.JOBS["pictures"] = tell
child.preload = lambda: None
child.main()
"""


def test_networks_load_before_the_first_job_that_needs_them_and_take_no_memory_from_those_that_do_not(tmp_path):
    (tmp_path / "job.json").write_text('{"kind": "pictures"}')
    limits = {"folder": str(tmp_path), "memory": 3 << 30, "seconds": 60, "wall": 60}
    found = []
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", TELLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert json.loads(process.stdout.readline()) == {"end": "ready"}
        for networks in (False, True, True, False):
            print(json.dumps(limits | {"networks": networks}), file=process.stdin, flush=True)
            assert json.loads(process.stdout.readline()) == {"end": "ok"}
            found.append(json.loads((tmp_path / "result.json").read_text()))
        process.stdin.close()
    assert [one["torch"] for one in found] == [False, True, True, True]
    assert {one["threads"] for one in found} == {1}
    before, first, second, after = (one["room"] for one in found)
    assert abs(after - before) < 64 << 20, "as much as if no network had been loaded"
    assert before - first > 256 << 20 and abs(second - first) < 64 << 20, "what networks run on counts among what they need"


# Its jobs ask for the sandbox, of which each trial is noted.
ASKS = """
import sys
from functools import cache
from pathlib import Path
from evaluation.programs import sandbox
from evaluation.work import child
@cache
def refusal():
    with Path(sys.argv[1]).open("a") as file:
        file.write("tried")
    return sys.argv[2]
sandbox.bubblewrap_refusal = refusal
child.JOBS["pictures"] = lambda folder, job: {"refusal": sandbox.refusal("python")}
child.preload = lambda: None
child.main()
"""


@pytest.mark.parametrize(("lacks", "trials"), [("", 1), ("bwrap is not installed", 4)])
def test_a_sandbox_is_tried_once_for_all_jobs_with_programs_and_anew_where_it_was_found_wanting(tmp_path, lacks, trials):
    (tmp_path / "job.json").write_text('{"kind": "pictures"}')
    order = {"folder": str(tmp_path), "memory": 3 << 30, "seconds": 60, "wall": 60, "programs": ["python"]}
    command = [sys.executable, "-c", ASKS, str(tmp_path / "trials"), lacks]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    ) as process:
        assert json.loads(process.stdout.readline()) == {"end": "ready"}
        for _ in range(2):
            print(json.dumps(order), file=process.stdin, flush=True)
            assert json.loads(process.stdout.readline()) == {"end": "ok"}
            assert lacks in json.loads((tmp_path / "result.json").read_text())["refusal"]
        process.stdin.close()
    assert (tmp_path / "trials").read_text() == "tried" * trials


TRIES = """
import json, os, socket, sys
from pathlib import Path
folder, other, parent, given = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
from evaluation.work import child
child.confine(folder, given)
tries = {
    "its own file": lambda: (folder / "own").write_text("x"),
    "a file given": lambda: given.read_text(),
    "it in other words": lambda: given.write_text("y"),
    "the code": lambda: __import__("evaluation.metrics.wireframe.corners"),
    "another's file": lambda: open(other).read(),
    "a folder of others": lambda: os.listdir(os.path.dirname(other)),
    "a file beside": lambda: open(other + ".new", "w"),
    "the environment of its parent": lambda: open(f"/proc/{parent}/environ").read(),
    "memory of its parent": lambda: open(f"/proc/{parent}/mem", "rb").read(1),
    "a socket": lambda: socket.socket(),
    "a local socket": lambda: socket.socket(socket.AF_UNIX),
    "a signal": lambda: os.kill(parent, 0),
    "a link to it": lambda: (os.symlink(other, folder / "link"), open(folder / "link").read()),
    "a file as another's": lambda: os.rename(folder / "own", other),
    "a pipe": lambda: os.mkfifo(other + ".pipe"),
    "removed": lambda: os.unlink(other),
    "a mount": lambda: os.system("mount -t tmpfs none " + str(folder)) and 1 / 0,
    "other namespaces": lambda: __import__("ctypes").CDLL(None).unshare(0x10000000) and 1 / 0,
}
done = []
for name, act in tries.items():
    try:
        act()
        done.append(name)
    except (OSError, ImportError, ZeroDivisionError):
        pass
print(json.dumps(done))
"""


def test_what_reads_uploads_reaches_its_folder_and_the_code_and_nothing_else(tmp_path):
    need("sandbox")
    for name in ("job", "others", "given"):
        (tmp_path / name).mkdir()
    (tmp_path / "given/house.obj").write_text("v 0 0 0")
    (tmp_path / "others/secret").write_text("secret")
    arguments = [str(tmp_path / "job"), str(tmp_path / "others/secret"), str(os.getpid()), str(tmp_path / "given/house.obj")]
    said = subprocess.run(
        [sys.executable, "-c", TRIES, *arguments], capture_output=True, text=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}
    )
    assert json.loads(said.stdout) == ["its own file", "a file given", "the code"], said.stderr
    assert (tmp_path / "others/secret").read_text() == "secret"
    assert sorted(path.name for path in (tmp_path / "others").iterdir()) == ["secret"]


def test_a_job_and_what_it_starts_have_neither_the_parents_orders_nor_its_answers(tmp_path, monkeypatch):
    """A line that a job prints would be taken for the answer to another."""
    monkeypatch.setitem(child.JOBS, "score", lambda folder, job: [os.readlink(f"/proc/self/fd/{place}") for place in (0, 1)])
    (tmp_path / "job.json").write_text(json.dumps({"kind": "score"}))
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        child.run_job(tmp_path, 64 << 30, 60, parent)
    assert os.waitpid(pid, 0)[1] == 0, (tmp_path / "error.txt").read_text()
    assert json.loads((tmp_path / "result.json").read_text()) == [os.devnull] * 2


LACKS = """
import sys
from evaluation.work import child
def lack(folder, job):
    raise ModuleNotFoundError(name=sys.argv[1])
child.JOBS["pictures"] = lack
child.preload = lambda: None
child.main()
"""


@pytest.mark.parametrize(("module", "end"), [("torch.nn", "library"), ("evaluation.metrics.gone", "error")])
def test_a_library_that_is_not_installed_is_the_machines_lack_and_not_the_jobs_failure(module, end, tmp_path):
    (tmp_path / "job.json").write_text('{"kind": "pictures"}')
    order = {"folder": str(tmp_path), "memory": 3 << 30, "seconds": 60, "wall": 60}
    with subprocess.Popen(
        [sys.executable, "-c", LACKS, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(ROOT)}
    ) as process:
        assert json.loads(process.stdout.readline()) == {"end": "ready"}
        print(json.dumps(order), file=process.stdin, flush=True)
        assert json.loads(process.stdout.readline()) == {"end": end}
        process.stdin.close()
    failed = JobFailed(end, (tmp_path / "error.txt").read_text())
    assert failed.is_missing_here is (end == "library")
    assert failed.sentence.startswith("torch.nn ") is failed.is_missing_here


# Each job says how nice it is.
NICE = """
import os
from evaluation.work import child
child.JOBS["pictures"] = lambda folder, job: {"nice": os.nice(0)}
child.preload = lambda: None
child.main()
"""


def test_a_job_that_nobody_waits_for_has_low_priority_and_the_next_one_has_not(tmp_path):
    order = {"folder": str(tmp_path), "memory": 3 << 30, "seconds": 60, "wall": 60}
    found = []
    with subprocess.Popen(
        [sys.executable, "-c", NICE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(ROOT)}
    ) as process:
        assert json.loads(process.stdout.readline()) == {"end": "ready"}
        for idle in (True, False):
            (tmp_path / "job.json").write_text(json.dumps({"kind": "pictures", "idle": idle}))
            print(json.dumps(order), file=process.stdin, flush=True)
            assert json.loads(process.stdout.readline()) == {"end": "ok"}
            found.append(json.loads((tmp_path / "result.json").read_text())["nice"])
        process.stdin.close()
    assert found == [os.nice(0) + child.IDLE_NICE, os.nice(0)]

"""The ladder: what each rung is started with, and what is said where one is not there."""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest

from evaluation.programs import cgroup, document, program, sandbox, seccomp
from evaluation.programs.cgroup import Cgroup, Kind
from evaluation.programs.guest import script
from evaluation.programs.guest.processor_time import ProcessorTime
from evaluation.programs.sandbox import Limits, NoSandbox
from submissions.formats.arrays import Wireframe
from tests.conftest import need
from tests.support.evaluation.programs import LENGTHS, written

LIMITS = Limits(20.0, 60.0, 600 << 20)
LINE = Wireframe(np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[0, 1]]))
BINDS = [("/here/prediction", "/work/prediction")]


@pytest.fixture
def bare_machine(monkeypatch):
    """A machine with none of the programs."""
    monkeypatch.setattr(sandbox.shutil, "which", lambda name, path=None: None)
    for asked in (sandbox.bubblewrap_refusal, sandbox.podman_refusal):
        asked.cache_clear()
    yield
    for asked in (sandbox.bubblewrap_refusal, sandbox.podman_refusal):
        asked.cache_clear()


def test_without_a_rung_nothing_is_run(bare_machine, tmp_path):
    folder = written(tmp_path, LENGTHS)
    with pytest.raises(NoSandbox, match="bubblewrap"):
        sandbox.Boxed("python", "score.py:score", [(str(folder), "/program")], LIMITS)
    with pytest.raises(NoSandbox, match="This machine has no sandbox for metric programs, so none is run: bwrap is not installed"):
        program.load(folder)
    with pytest.raises(NoSandbox, match="podman"):
        sandbox.run_image("a/b@sha256:" + "0" * 64, "score", [], LIMITS, tmp_path)
    assert [bool(rung.refusal) for rung in sandbox.rungs()] == [True, True]


def test_a_service_of_root_needs_control_groups(monkeypatch):
    monkeypatch.setattr(sandbox.os, "geteuid", lambda: 0)
    monkeypatch.setattr(sandbox.cgroup, "kind", Kind)
    sandbox.bubblewrap_refusal.cache_clear()
    assert "root" in sandbox.bubblewrap_refusal() or "not installed" in sandbox.bubblewrap_refusal()
    sandbox.bubblewrap_refusal.cache_clear()


def test_bubblewrap_is_asked_for_every_namespace_and_nothing_of_the_environment():
    arguments = sandbox.bubblewrap_arguments(sandbox.layout(BINDS))
    namespaces = {f"--unshare-{name}" for name in ("user", "pid", "net", "ipc", "uts")}
    assert namespaces | {"--clearenv", "--die-with-parent", "--new-session"} <= set(arguments)
    assert "--bind" not in arguments
    assert arguments[arguments.index("/here/prediction") - 1] == "--ro-bind"


def test_podman_is_asked_for_no_network_and_never_pulls():
    arguments = sandbox.podman_arguments("a/b@sha256:1", ["score"], BINDS, "/here/output", LIMITS, "name")
    text = " ".join(arguments)
    for wanted in ("--pull never", "--network none", "--cap-drop all", "--read-only", "no-new-privileges", "--ulimit cpu=20:20", "runsc"):
        assert wanted in text
    assert "/here/prediction:/work/prediction:ro" in arguments


def test_the_filter_is_one_that_the_kernel_takes():
    try:
        found = seccomp.program()
    except seccomp.SeccompMissing:
        pytest.skip("libseccomp is not on this machine")
    assert len(found) % 8 == 0
    assert 100 < len(found) // 8 < 4096
    code, *_ = struct.unpack("HBBI", found[:8])
    assert code == 0x20  # it begins by loading which machine the call is of
    for name in (
        "socket",
        "ptrace",
        "mount",
        "unshare",
        "bpf",
        "io_uring_setup",
        "memfd_create",
        "keyctl",
        "process_vm_readv",
        "open_by_handle_at",
    ):
        assert name not in seccomp.ALLOWED


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ({"cgroup.controllers": "memory pids", "cgroup.subtree_control": "memory pids"}, {"memory.max": "1000", "pids.max": "7"}),
        ({"memory/cgroup.procs": "", "pids/cgroup.procs": ""}, {"memory.limit_in_bytes": "1000", "pids.max": "7"}),
        (
            {"memory/cgroup.procs": "", "pids/cgroup.procs": "", "cpuacct/cgroup.procs": ""},
            {"memory.limit_in_bytes": "1000", "pids.max": "7"},
        ),
    ],
)
def test_a_control_group_bounds_memory_and_processes(tmp_path, made, expected):
    for name, text in made.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    group = Cgroup(1000, 7, tmp_path)
    found = {file.name: file.read_text() for folder in group.folders for file in folder.iterdir()}
    assert expected.items() <= found.items()


def test_where_control_groups_hand_nothing_down_there_is_none(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("memory pids")
    (tmp_path / "cgroup.subtree_control").write_text("")
    with pytest.raises(OSError, match="hand down"):
        Cgroup(1000, 7, tmp_path)


def test_the_packages_that_are_offered_are_those_installed():
    assert {"numpy", "scipy", "torch", "trimesh"} <= set(document.installed())


def test_what_bounds_a_program_here_is_said():
    need("sandbox")
    kind = cgroup.kind()
    assert kind.version in (0, 1, 2) and (kind.version or not (kind.processes or kind.processor_time))
    said = sandbox.limits_here()
    assert ("control group" in said) == bool(kind.version) and ("processor time" in said) == kind.processor_time


@pytest.mark.parametrize(
    ("version", "text", "seconds"),
    [(1, "1500000000\n", 1.5), (2, "usage_usec 1500000\nuser_usec 7\n", 1.5)],
    ids=["version 1", "version 2"],
)
def test_processor_time_is_read_from_the_control_group(tmp_path, version, text, seconds):
    made = {1: ("memory/cgroup.procs", "cpuacct/cgroup.procs"), 2: ("cgroup.controllers",)}[version]
    for name in made:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "cgroup.subtree_control").write_text("memory pids")
    group = Cgroup(1000, 7, tmp_path)
    assert group.usage is None
    assert len(group.folders) == (2 if version == 1 else 1)
    file = group.folders[-1] / {1: "cpuacct.usage", 2: "cpu.stat"}[version]
    file.write_text("0" if version == 1 else "usage_usec 0\n")
    assert group.usage == file
    with file.open() as opened:
        used = ProcessorTime(opened.fileno(), True)
        file.write_text(text)
        assert used.seconds() == seconds


def test_a_folder_in_the_place_of_the_scores_is_a_sentence(tmp_path):
    (tmp_path / "scores.json").mkdir()
    assert script.scores_in(tmp_path) == {"problem": "is a folder"}
    assert script.scores_in(tmp_path / "nowhere") == {"problem": "is not there"}
    os.mkfifo(tmp_path / "fifo")
    for name, problem in (("fifo", "is not a plain file"), ("link", "is a symbolic link")):
        folder = tmp_path / f"in_{name}"
        folder.mkdir()
        if name == "link":
            (folder / "scores.json").symlink_to(tmp_path / "fifo")
        else:
            os.rename(tmp_path / "fifo", folder / "scores.json")
        assert script.scores_in(folder) == {"problem": problem}


def test_packages_below_the_folder_that_programs_write_to_are_there(tmp_path, monkeypatch):
    """As in an environment on the scratch of a cluster."""
    need("sandbox")
    packages = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        (packages / "of_scratch.py").write_text("value = 7")
        found = sandbox._site_packages()
        monkeypatch.setattr(sandbox, "_site_packages", lambda: [*found, str(packages)])
        code = "import of_scratch, tempfile\n\ndef score(p, r, q):\n    tempfile.mkstemp()\n    return of_scratch.value"
        with program.load(written(tmp_path / "program", code)) as loaded:
            (result,) = loaded.score_all([program.Sample("a", "a", LINE, LINE)], {})
        assert result.value == 7, result.flags
    finally:
        shutil.rmtree(packages)

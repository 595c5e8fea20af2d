"""A control group for one sandbox: memory, number and processor time of all its processes together, where this process may make one."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluation.programs.guest.processor_time import counted

ROOT = Path("/sys/fs/cgroup")


class Cgroup:
    """A group with both limits, made empty; `files` are those a process writes its id into to join. Made of one hierarchy (version 2) or
    of several (version 1)."""

    def __init__(self, memory: int, processes: int, root: Path = ROOT) -> None:
        name = f"plumbline-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self.folders: list[Path] = []
        try:
            for parent, settings in _places(root, memory, processes):
                _remove_left(parent)
                folder = parent / name
                with contextlib.ExitStack() as optional:
                    if not settings:  # it counts, and bounds nothing
                        optional.enter_context(contextlib.suppress(OSError))
                    folder.mkdir()
                    self.folders.append(folder)
                for file, value in settings:
                    if (folder / file).exists() or file in ("memory.max", "memory.limit_in_bytes", "pids.max"):
                        (folder / file).write_text(value)
        except OSError:
            self.remove()
            raise

    @property
    def files(self) -> list[str]:
        return [str(folder / "cgroup.procs") for folder in self.folders]

    @property
    def usage(self) -> Path | None:
        """The file that says how much processor time its processes have used; None where nothing counts it."""
        found = (folder / name for folder in self.folders for name in ("cpuacct.usage", "cpu.stat"))
        return next((file for file in found if file.exists()), None)

    def remove(self) -> None:
        """Kill what is left in it and remove it."""
        for folder in self.folders:
            for _ in range(50):
                with contextlib.suppress(OSError, ValueError):
                    for pid in (folder / "cgroup.procs").read_text().split():
                        os.kill(int(pid), 9)
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.02)


@dataclass(frozen=True)
class Parent:
    """The group above those that podman makes for one container."""

    name: str

    def seconds(self) -> float:
        """Processor time that was used by now; 0 where nothing counts it, or podman has not begun."""
        for file in (ROOT / "cpuacct" / self.name / "cpuacct.usage", ROOT / self.name / "cpu.stat"):
            with contextlib.suppress(OSError, ValueError):
                return counted(file.read_text())
        return 0.0

    def remove(self) -> None:
        for _ in range(50):  # podman's monitor ends a little later
            tops = [top for top in (*ROOT.glob(f"*/{self.name}"), ROOT / self.name) if top.exists()]
            for folder in [folder for top in tops for folder, _, _ in os.walk(top, topdown=False)]:
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            if not tops:
                return
            time.sleep(0.02)


def _remove_left(parent: Path) -> None:
    """Remove empty groups of processes that were killed before they could."""
    for folder in parent.glob("plumbline-*-*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()


def _places(root: Path, memory: int, processes: int) -> list[tuple[Path, list[tuple[str, str]]]]:
    """(parent folder, [(file, value)]) of each group to be made; FileNotFoundError where there is no such hierarchy."""
    if (root / "cgroup.controllers").exists():
        handed_down = (root / "cgroup.subtree_control").read_text().split()
        if not {"memory", "pids"} <= set(handed_down):
            raise FileNotFoundError("the control groups hand down no limit of memory and processes")
        limits = [("memory.max", str(memory)), ("memory.swap.max", "0"), ("pids.max", str(processes))]
        return [(root, limits)]
    settings = {
        "memory": [("memory.limit_in_bytes", str(memory)), ("memory.memsw.limit_in_bytes", str(memory))],
        "pids": [("pids.max", str(processes))],
        "cpuacct": [],
    }
    found = [(root / name, limits) for name, limits in settings.items() if (root / name / "cgroup.procs").exists()]
    if not found or found[0][0].name != "memory":
        raise FileNotFoundError("no control groups of memory are mounted")
    return found


@dataclass(frozen=True)
class Kind:
    """Resources that control groups bound here; `version` is 0 where none can be made."""

    version: int = 0
    processes: bool = False
    processor_time: bool = False


@cache
def kind(root: Path = ROOT) -> Kind:
    """Resources that this user can bound on this machine, which was tried."""
    try:
        group = Cgroup(64 << 20, 16, root)
    except OSError:
        return Kind()
    try:
        version = 2 if (root / "cgroup.controllers").exists() else 1
        return Kind(version, any((folder / "pids.max").exists() for folder in group.folders), group.usage is not None)
    finally:
        group.remove()

"""Processor time of all processes of a call together."""

from __future__ import annotations

import os
import resource
import time

TICKS = os.sysconf("SC_CLK_TCK")


def counted(text: str) -> float:
    """Seconds that a control group's file tells of: cpu.stat of version 2, or cpuacct.usage of version 1."""
    return int(text.split()[1]) / 1e6 if text.startswith("usage_usec ") else int(text) / 1e9


class ProcessorTime:
    """Processor time that the processes of a call have used since this was made.

    Where there is a control group, `usage` is a descriptor of its file and the kernel counts. Else, `boxed`, the times of all processes of
    this namespace are added up, those that they have waited for included. A process that nobody waits for takes its time with it, so
    `running` counts beside it the seconds of processes that were seen running: two of them for one second are two.
    """

    def __init__(self, usage: int | None, boxed: bool) -> None:
        self._usage, self._boxed = usage, boxed
        self.running = 0.0
        self._looked = time.monotonic()
        self._before = self._total()

    def seconds(self) -> float:
        return self._total() - self._before

    def _total(self) -> float:
        if self._usage is not None:
            return counted(os.pread(self._usage, 4096, 0).decode())
        if not self._boxed:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime
        now, own, ticks, running = time.monotonic(), str(os.getpid()), 0, 0
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            # state, then utime, stime, cutime and cstime; this process's own are not the call's
            ticks += sum(map(int, fields[13:15] if name == own else fields[11:15]))
            running += name != own and fields[0] == "R"
        self.running += running * (now - self._looked)
        self._looked = now
        return ticks / TICKS

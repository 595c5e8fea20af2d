"""Memory of a test's own process, as the kernel counts it."""

from __future__ import annotations

from pathlib import Path


def status(name: str) -> int:
    """Bytes in a line of /proc/self/status: VmRSS now, VmHWM at most so far. `ru_maxrss` would count that of the process which began
    this one too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(name)

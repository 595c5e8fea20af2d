"""A real file system of a few megabytes, to be filled."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BLOCK = 4096


@contextmanager
def mounted(folder: Path, megabytes: int = 8) -> Iterator[Path]:
    """A tmpfs at `folder`; the test is skipped, by name, where mounting is not allowed."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "none", str(folder)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here ({done.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, blocks_left: int = 0) -> None:
    """Leave so many blocks of 4 KB free; unlink `filler` to make room again."""
    with (folder / "filler").open("ab", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * BLOCK)
        except OSError:
            file.truncate(file.tell() // BLOCK * BLOCK - blocks_left * BLOCK)

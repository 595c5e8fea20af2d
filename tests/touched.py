"""The tests of what was touched since this branch left main, for pytest: `python -m tests.touched`.

A test is named if it was touched itself, if it mirrors a file that was, if it imports one, or if it is one of the house's own.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from tests import ROOT

LEVELS = ("pure", "service", "browser", "cluster")


def touched() -> set[str]:
    """Paths that differ from the commit at which this branch left main, those that git does not know yet included."""

    def lines(*command: str) -> list[str]:
        return subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")

    (base, *_) = lines("merge-base", "main", "HEAD")
    return {path for path in (*lines("diff", "--name-only", base), *lines("ls-files", "--others", "--exclude-standard")) if path}


def to_run(paths: Collection[str], tests: Collection[Path]) -> list[str]:
    """The tests among `tests` that are to be run after a change of these paths."""
    modules = [re.escape(path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")) for path in paths if path.endswith(".py")]
    spaced = [rf"{room} import (.*\b)?{name}" for room, _, name in (module.rpartition(r"\.") for module in modules)]
    named = re.compile(rf"\b({'|'.join([*modules, *spaced])})\b") if modules else None
    sources = {str(PurePosixPath(path).with_suffix("")) for path in paths}
    found = set()
    for test in tests:
        where = test.relative_to(ROOT)
        mirrored = "/".join((*where.parts[2:-1], test.stem.removeprefix("test_")))
        of_the_house = len(where.parts) == 3 and where.parts[1] == "pure"
        if of_the_house or str(where) in paths or mirrored in sources or (named is not None and named.search(test.read_text())):
            found.add(where.as_posix())
    return sorted(found)


if __name__ == "__main__":
    print(*to_run(touched(), [path for level in LEVELS for path in (ROOT / "tests" / level).rglob("test_*.py")]))

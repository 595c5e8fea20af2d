"""The sources as syntax trees, each parsed once in a process, and the tests that mirror them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from evaluation.metrics import registry
from tests import ROOT

# Libraries that most processes never need, some of which take seconds to load. Functions import them on first use, so that the web process,
# the workers and every command start without them.
LOADED_ON_FIRST_USE = (
    *("torch", "boto3", "latex2mathml", "matplotlib", "pandas", "plotly", "pyarrow", "tqdm"),
    *("scipy.cluster", "scipy.signal", "scipy.stats"),
    *registry.LIBRARIES,
)


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file's tree, the module first."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def mirrors(test: Path) -> bool:
    """True if a test file (`tests/LEVEL/FOLDER/test_NAME.py`) has a source file or folder FOLDER/NAME, or a name that begins with one."""
    folder, name = ROOT.joinpath(*test.relative_to(ROOT).parts[2:-1]), test.stem.removeprefix("test_")
    stems = (
        {path.stem.lstrip("0123456789").removeprefix("_") for path in folder.glob("*")} if folder.is_dir() else set()
    )  # of a migration too
    return any(name == stem or name.startswith(f"{stem}_") for stem in stems)

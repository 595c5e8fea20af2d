"""A limited child for tests of networks, which has their libraries loaded before its first job."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from evaluation.sandbox import sandbox

PROGRAM = "import sys, torch; sys.argv[1:] = sys.argv[3:]; from evaluation.child import main; main()"


@pytest.fixture(scope="module")
def warm_child(tmp_path_factory) -> Iterator[Path]:
    """One child for a whole file of tests, whose jobs need not load torch, which takes seconds of each. The folder may be the one
    in which it looks for weights: it knows that from its start."""
    folder = tmp_path_factory.mktemp("child")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{PROGRAM}" "$@"\n')
    python.chmod(0o755)
    sandbox.stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evaluation.sandbox.sys", SimpleNamespace(executable=str(python)))
        yield folder
        sandbox.stop()

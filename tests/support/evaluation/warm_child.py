"""A limited child for tests of networks, of which all but the first find their libraries loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.work.sandbox import sandbox

CHILD = "tests.support.evaluation.drawn_child"  # it takes random weights for the published ones


@pytest.fixture(scope="module")
def warm_child(tmp_path_factory) -> Iterator[Path]:
    """One child for a whole file of tests, begun with the first of its jobs; and a folder for that file, which may be the one
    in which the child looks for weights: it knows that from its start."""
    sandbox.stop()
    module, sandbox._module = sandbox._module, CHILD
    yield tmp_path_factory.mktemp("child")
    sandbox.stop()
    sandbox._module = module

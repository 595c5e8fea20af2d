"""How a job's memory is bounded, with and without a graphics card."""

import resource
import subprocess
import sys

import pytest

from evaluation import child
from evaluation.networks import cards


@pytest.mark.parametrize("kind", list(child.JOBS))
def test_without_a_card_all_addresses_are_bounded(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(cards, "DEVICES", tmp_path)
    assert child.memory_limit(kind) == resource.RLIMIT_AS


@pytest.mark.parametrize("kind", list(child.JOBS))
def test_with_a_card_jobs_that_compute_may_reserve_addresses_and_those_that_parse_may_not(kind, tmp_path, monkeypatch):
    (tmp_path / "nvidia0").touch()
    monkeypatch.setattr(cards, "DEVICES", tmp_path)
    expected = resource.RLIMIT_DATA if kind in ("prepare", "score", "properties") else resource.RLIMIT_AS
    assert child.memory_limit(kind) == expected


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

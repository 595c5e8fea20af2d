"""Independent implementations, loaded without what else they would bring along."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest


def metric_helper():
    """`hoho2025.metric_helper` without its package, whose __init__ imports far more than is wanted; skips where it is not installed."""
    package = importlib.util.find_spec("hoho2025")
    if package is None or package.origin is None:
        pytest.skip("hoho2025 is not installed (tests/requirements-peers.txt)")
    path = Path(package.origin).with_name("metric_helper.py")
    spec = importlib.util.spec_from_file_location("official_metric_helper", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def optimal_transport():
    """POT, told to leave its optional backends (torch among them) alone; skips by name where it is not installed."""
    for backend in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    return pytest.importorskip("ot", reason="POT is not installed (tests/requirements-peers.txt)")

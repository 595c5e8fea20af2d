"""Seeds of metrics that sample."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(metric: str, seed0: int = 0) -> np.random.Generator:
    """A PCG64 generator fixed by the metric's key and `seed0` alone.

    No file or item name enters, so a value does not depend on how a file is called.
    """
    digest = hashlib.sha256(f"{metric}:{seed0}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "little")))

"""Number of examples that a property is tried on: fewer in the usual run, many in the nightly one."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

FACTOR = float(os.environ.get("PLUMBLINE_EXAMPLES", "0.3"))  # `make nightly` sets 5
MIN_EXAMPLES = 5


def examples(number: int, **more: Any) -> settings:
    """Settings of a property test that is tried on `number` examples times the run's factor."""
    return settings(max_examples=max(MIN_EXAMPLES, round(number * FACTOR)), deadline=None, **more)

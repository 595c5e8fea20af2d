"""The values of the drawn examples as they ship: some metrics take seconds, or a network, to compute them.

After a change of a metric or an example: `python -m evaluation.properties.example_values --metric KEY`, or without an option for all.
"""

from __future__ import annotations

import argparse
import json
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.metrics import registry
from evaluation.properties import weaknesses

FILE = Path(__file__).with_name("example_values.json")


def values(key: str) -> tuple[tuple[float, ...], ...] | None:
    """The values of `weaknesses.of(key)`, an example after the other, with the default parameters; None
    where those that ship are of another definition."""
    kept = _kept().get(key)
    if kept is None or kept["fingerprint"] != registry.fingerprint(key, {}):
        return None
    return tuple(tuple(row) for row in kept["values"])


@cache
def _kept() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def compute(key: str) -> dict[str, Any]:
    """The drawings that ship for `key`."""
    return {"fingerprint": registry.fingerprint(key, {}), "values": [list(it.values()) for it in weaknesses.of(key)]}


def main() -> None:
    """Draw the examples of the named metrics again, or of all, and leave the others as they ship."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.properties.example_values", description=main.__doc__)
    drawn = [key for key in registry.REGISTRY if weaknesses.of(key)]
    parser.add_argument(
        "--metric", action="append", choices=drawn, metavar="KEY", help=("a metric to draw again; may be given several times")
    )
    wanted = parser.parse_args().metric or drawn
    kept = {key: compute(key) if key in wanted else _kept()[key] for key in drawn if key in wanted or key in _kept()}
    FILE.write_text(json.dumps(kept, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()

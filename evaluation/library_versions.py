"""Versions of the libraries that metrics compute with: those that the service has, and those that are installed here. PURE.

The package of participants may stand beside other versions, so it takes the service's along as a file. A checkout has them in its
requirements.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

SHIPPED = Path(__file__).with_name("exact.json")  # only in the package; deploy/wheel.py writes it
REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"
PIN = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[.*\])?==(\S+)", re.MULTILINE)
# The libraries whose version may change a value in its last digits.
COMPUTING = ("numpy", "scipy", "torch", "pillow", "manifold3d", "libigl", "fast-simplification", "ftfy", "regex")


@cache
def exact() -> Mapping[str, str]:
    """The version of each library that the service computes with, by the library's name."""
    if SHIPPED.is_file():
        versions: dict[str, str] = json.loads(SHIPPED.read_text())["versions"]
        return versions
    pins = {name.lower(): pinned for name, pinned in PIN.findall(REQUIREMENTS.read_text())}
    return {name: pins[name] for name in COMPUTING}


@cache
def extras() -> Mapping[str, tuple[str, ...]]:
    """The extras of the package that install each library, by the library's name; nothing in a checkout, which has no extras."""
    if not SHIPPED.is_file():
        return {}
    return {name: tuple(found) for name, found in json.loads(SHIPPED.read_text())["extras"].items()}


def here() -> dict[str, str]:
    """The versions of the computing libraries that are installed here."""
    found = {}
    for name in COMPUTING:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def differences(found: Mapping[str, object], wanted: Mapping[str, str] | None = None) -> dict[str, tuple[str, str]]:
    """(version found, version wanted) of each computing library that is there in another version than wanted, the service's without
    `wanted`. The part after a + names a build, such as torch's for processors, and is ignored."""
    wanted = exact() if wanted is None else wanted
    both = {name: (str(found[name]), wanted[name]) for name in COMPUTING if name in found and name in wanted}
    return {name: pair for name, pair in both.items() if pair[0].partition("+")[0] != pair[1].partition("+")[0]}

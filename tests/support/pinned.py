"""The versions of what the requirements themselves require: `python -m tests.support.pinned` writes them to deploy/constraints.txt."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, distributions

from packaging.markers import Marker

from tests import ROOT

FILE = ROOT / "deploy" / "constraints.txt"
HEAD = "# What the requirements themselves require, in the versions that were tested together; `make constraints` writes it.\n"
WITHOUT = {"pip", "setuptools", "wheel"}


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(*files: str) -> dict[str, str]:
    """Versions by normalised name, as those files of the repository name them for this Python."""
    lines = (line for file in files for line in (ROOT / file).read_text().splitlines())
    found = (re.match(r"([A-Za-z0-9_.-]+)(?:\[.*\])?==([^\s;]+)(?:\s*;\s*([^#]+))?", line) for line in lines)
    return {normalised(match[1]): match[2] for match in found if match and (not match[3] or Marker(match[3]).evaluate())}


def asked_for() -> dict[str, str]:
    return pins("requirements.txt", "tests/requirements.txt", "tests/requirements-peers.txt")


def required() -> dict[str, str]:
    """Distributions installed because requirements require them, themselves or through others, but not named there: version by name.

    Packages for one platform only (`torch` asks for CUDA's where it was built with them) are left to who builds for it.
    """
    installed: dict[str, Distribution] = {normalised(it.metadata["Name"]): it for it in distributions()}
    left_out = asked_for() | dict.fromkeys(WITHOUT)
    return {name: it.version for name, it in sorted(installed.items()) if name not in left_out and "nvidia" not in name}


def written() -> str:
    """The file anew. Lines of packages that only some Python needs, with the marker that says which, are written by hand and stay."""
    old = FILE.read_text().removeprefix(HEAD).splitlines()
    by_hand = {normalised(line.partition("==")[0]): line for line in old if ";" in line}
    lines = {name: f"{name}=={version}" for name, version in required().items()} | by_hand
    return HEAD + "".join(f"{lines[name]}\n" for name in sorted(lines))


if __name__ == "__main__":
    FILE.write_text(written())

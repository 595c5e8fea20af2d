"""Facts on this installation of the package: its version, its source, and how it differs from what its server computes with."""

from __future__ import annotations

import json
import platform
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version

NAME = "plumbline"
MODULES = {
    "PIL": "pillow",
    "igl": "libigl",
    "fast_simplification": "fast-simplification",
    "yaml": "PyYAML",
}  # of requirements with another name
# numpy==2.4.6; (python_version < "3.14") and extra == "score"
_PIN = re.compile(
    r'(?P<name>[\w.-]+)==(?P<version>[^;\s]+);.*?python_version < ["\'](?P<below>[\d.]+)["\'](?:.*?extra == ["\'](?P<extra>\w+)["\'])?'
)


def _package() -> Distribution | None:
    """The installed package; None where this is the service's own code."""
    try:
        return distribution(NAME)
    except PackageNotFoundError:
        return None


def address() -> str:
    """Address that the package was installed from, which is its server; empty where that is not known."""
    package = _package()
    noted = package.read_text("direct_url.json") if package else None  # pip and others write it, of addresses
    return str(json.loads(noted).get("url", "")) if noted else ""


def description() -> str:
    """Version, Python and origin, in a line."""
    package = _package()
    came = f", from {address()}" if address() else ""
    return f"{NAME} {package.version if package else '(of a checkout)'} on Python {platform.python_version()}{came}"


def _pins() -> list[re.Match[str]]:
    package = _package()
    return [match for line in (package.requires if package else None) or () if (match := _PIN.match(line))]


def differences() -> list[str]:
    """Reasons why numbers here may differ from the server's in their last digits, a sentence each: another Python, other libraries."""
    pins = _pins()
    found = []
    below = {tuple(int(n) for n in pin["below"].split(".")) for pin in pins}
    if below and sys.version_info[:2] >= min(below):
        found.append(f"Python {platform.python_version()} is newer than the server's libraries are made for; last digits may differ.")
    for name, wanted in sorted({(pin["name"], pin["version"]) for pin in pins}):
        try:
            here = version(name)
        except PackageNotFoundError:
            continue
        if here.partition("+")[0] != wanted:
            found.append(f"{name} {here} is here where the server has {wanted}; last digits may differ.")
    return found


def missing(module: str, command: str) -> str:
    """Sentence on what to install for a module that a command did not find; empty for one that no extra of the package has."""
    name = MODULES.get(module.partition(".")[0], module.partition(".")[0])
    extras = sorted(pin["extra"] for pin in _pins() if pin["name"] == name and pin["extra"])
    if not extras:
        return ""
    extra = command if command in extras else next(it for it in ("score", *extras) if it in extras)
    where = address() or f"https://SERVER/client/{NAME}-VERSION-py3-none-any.whl"
    return f'{name} is not installed, which this needs: python -m pip install "{NAME}[{extra}] @ {where}"'

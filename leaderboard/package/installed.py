"""Facts on this installation of the package: its version, its source, what is missing, and how it differs from its server's."""

from __future__ import annotations

import json
import platform
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from evaluation import library_versions

NAME = "plumbline"
MODULES = {
    "PIL": "pillow",
    "igl": "libigl",
    "fast_simplification": "fast-simplification",
    "yaml": "PyYAML",
}  # of requirements with another name
FIRST = ("score", "study", "frames")  # of several extras that install a library, the one to name


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


def version() -> str:
    """Version of the package, which ends in + and a digest of its files; "checkout" for the service's own code."""
    package = _package()
    return package.version if package else "checkout"


def published_version() -> str:
    """Version under which an index would have the package: an index takes no digest behind a +."""
    return version().partition("+")[0]


def description() -> str:
    """Version, Python and origin, in a line."""
    came = f", from {address()}" if address() else ""
    named = version() if published_version() == version() else f"{version()} (on an index: {published_version()})"
    return f"{NAME} {named} on Python {platform.python_version()}{came}"


def differences() -> list[str]:
    """Reasons why numbers here may differ from the server's in their last digits, a sentence for each library of another version."""
    found = library_versions.differences(library_versions.here())
    return [f"{name} {own} is installed, and the server has {wanted}; last digits may differ." for name, (own, wanted) in found.items()]


def missing(module: str, extra: str = "") -> str:
    """Sentence on what to install for a module that is not here; empty for one that no extra of the package has. `extra` is the one to
    name where it has the module."""
    name = MODULES.get(module.partition(".")[0], module.partition(".")[0])
    extras = library_versions.extras().get(name, ())
    if not extras:
        return ""
    chosen = extra if extra in extras else next((one for one in FIRST if one in extras), extras[0])
    where = address() or f"https://SERVER/client/{NAME}-VERSION-py3-none-any.whl"
    return f'{name} is not installed, which this needs: python -m pip install "{NAME}[{chosen}] @ {where}"'

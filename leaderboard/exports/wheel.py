"""The participants' package as a file: made when the service is set up, served by every server under its own address."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
from functools import lru_cache
from pathlib import Path

from django.conf import settings

NAME = re.compile(r"plumbline-[0-9A-Za-z.+]+-py3-none-any\.whl")
CURRENT = "current"  # the file that says which wheel this code has made, and of which sources


class CannotBuild(Exception):
    """The package could not be made; the text is one sentence, or what the builder says."""


def make() -> str:
    """Make the wheel of this code, unless it is there already; returns its name. Raises `CannotBuild`."""
    folder, sources = settings.PACKAGE, _sources()
    name, made_of = _current(folder)
    if made_of == sources:
        return name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as built:
        done = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", built], cwd=settings.BASE_DIR, capture_output=True, text=True
        )
        wheels = list(Path(built).glob("*.whl"))
        if done.returncode or len(wheels) != 1 or not NAME.fullmatch(wheels[0].name):
            raise CannotBuild(f"The package of participants could not be made: {(done.stderr or done.stdout).strip()[-2000:]}")
        wheels[0].replace(folder / wheels[0].name)
        note = Path(built, CURRENT)
        note.write_text(f"{wheels[0].name}\n{sources}\n")
        note.replace(folder / CURRENT)
    return wheels[0].name


def current() -> str:
    """The name of the wheel that this server's code has made; empty where it has made none yet."""
    return _current(settings.PACKAGE)[0]


def address(site: str = "") -> str:
    """The address that the wheel of this server is installed from, below `site` (the service's own if none is given)."""
    name = current()
    return f"{(site or settings.SITE_URL).rstrip('/')}/client/{name}" if name else ""


def _current(folder: Path) -> tuple[str, str]:
    path = folder / CURRENT
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return "", ""


@lru_cache(maxsize=4)
def _read(path: Path, changed: int) -> tuple[str, str]:
    name, _, sources = path.read_text().strip().partition("\n")
    return (name, sources) if NAME.fullmatch(name) and (path.parent / name).is_file() else ("", "")


def _sources() -> str:
    """Digest of the sources by size and moment of change, which is quicker to make than of their content."""
    root = settings.BASE_DIR
    mapping = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["plumbline"]["package"]
    found = hashlib.sha256(sys.version.encode())
    for part in ("pyproject.toml", "requirements.txt", "deploy/wheel.py", mapping["top"], *mapping["modules"]):
        place = root / part
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and "__pycache__" not in path.parts:
                state = path.stat()
                found.update(f"{path.relative_to(root)} {state.st_size} {state.st_mtime_ns}\n".encode())
    return found.hexdigest()

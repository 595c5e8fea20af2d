"""Build hooks of the participants' package, called by hatchling; see `[tool.plumbline.package]` in pyproject.toml.

The wheel holds one package, `plumbline`. It contains modules of the three rooms `submissions`, `evaluation` and `leaderboard`. Their
sources are copied, and imports, dotted names and commands in them rewritten; nothing else differs. The version holds the date of the
last commit that changed what is copied, and ends in a digest of it: two wheels with one name are the same. The package allows ranges of
versions. Those that the service has go with it as a file (`evaluation/library_versions.py`), and the extras in EXACT require them.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import tempfile
import tokenize
import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOMS = ("submissions", "evaluation", "leaderboard")
IMPORT = re.compile(rf"^(\s*(?:from|import) )({'|'.join(ROOMS)})(?=[. ])")
DOTTED = re.compile(rf"(?<![\w./-])({'|'.join(ROOMS)})\.(\w+)")
STRINGS = {tokenize.STRING} | {kind for name in ("FSTRING_START", "FSTRING_MIDDLE") if (kind := getattr(tokenize, name, None)) is not None}
LEFT_OUT = ("__pycache__",)
VERSIONS = "evaluation/exact.json"  # where evaluation/library_versions.py looks for it
EXACT = {"worker": "score", "worker-networks": "networks"}  # extras that require the service's versions, and whose requirements


class Package:
    """The files of the package and what its metadata says, as pyproject.toml of the repository `root` has it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        project = tomllib.loads((root / "pyproject.toml").read_text())
        self.settings, self.name = project["tool"]["plumbline"]["package"], project["project"]["name"]
        # Path in the wheel and content of each file, in order.
        top = self.settings["top"]
        found: dict[str, bytes] = {f"{self.name}/{room}/__init__.py": b"" for room in ROOMS}
        for part in (top, *self.settings["modules"]):
            paths = sorted((root / part).rglob("*")) if (root / part).is_dir() else [root / part]
            for path in paths:
                inner = path.relative_to(root).as_posix()
                if not path.is_file() or set(LEFT_OUT) & set(path.parts):
                    continue
                place = inner.removeprefix(f"{top}/") if part == top else inner
                found[f"{self.name}/{place}"] = self.rewritten(path.read_text()).encode() if path.suffix == ".py" else path.read_bytes()
            for folder in Path(part).parents:  # of a single module or an inner folder: the packages that it lies in
                if folder.name and (root / folder / "__init__.py").is_file() and part != top:
                    found.setdefault(f"{self.name}/{folder.as_posix()}/__init__.py", b"")
        found[f"{self.name}/{VERSIONS}"] = self.shipped_versions()
        self.files = dict(sorted(found.items()))

    def rewritten(self, source: str) -> str:
        """A module as it stands in the wheel."""
        lines = source.splitlines(keepends=True)
        beside_imports = "".join(IMPORT.sub("", line) for line in lines)
        if DOTTED.search(beside_imports) or any(here in source for here in self.settings["commands"]):
            # Texts are told from code only where one may have something to rewrite: reading tokens takes most of a build's time.
            for token in tokenize.generate_tokens(io.StringIO(source).readline):
                if token.type in STRINGS:
                    for number in range(token.start[0] - 1, token.end[0]):
                        for here, there in self.settings["commands"].items():
                            lines[number] = lines[number].replace(here, there)
                        lines[number] = DOTTED.sub(self._module_moved, lines[number])
        found = []
        for line in lines:
            new = IMPORT.sub(lambda match: f"{match[1]}{self._moved(match[2] + '.')[:-1]}", line)
            if re.match(rf"\s*import {self.name}\.[\w.]+\s*(,|$)", new):
                raise ValueError(f"{line.strip()!r} names a module by its whole path where it is used; import it from its package")
            found.append(self._top(new))
        return "".join(found)

    def _module_moved(self, dotted: re.Match[str]) -> str:
        """A dotted name in a text as it reads in the wheel, if it is a module's here."""
        is_module = any((self.root / dotted[1] / f"{dotted[2]}{suffix}").exists() for suffix in ("", ".py"))
        return self._moved(dotted[0]) if is_module else dotted[0]

    def _moved(self, dotted: str) -> str:
        return self._top(f"{self.name}.{dotted}")

    def _top(self, text: str) -> str:
        """The top of the package is a folder of a room here."""
        return text.replace(f"{self.name}.{self.settings['top'].replace('/', '.')}", self.name)

    @cached_property
    def version(self) -> str:
        """The version of the repository, the day of its last change, and what the files are by their content."""
        digest = hashlib.sha256(repr((self.dependencies(), self.extras())).encode())
        for place, content in self.files.items():
            digest.update(f"{place} {len(content)}\n".encode() + content)
        return f"{self.settings['version']}{self._day()}+{digest.hexdigest()[:12]}"

    def _day(self) -> str:
        """`.devYYYYMMDD`, the day (UTC) of the last commit that changed what the package holds, or of SOURCE_DATE_EPOCH where that is set;
        empty in a copy of the sources without their history."""
        moment = os.environ.get("SOURCE_DATE_EPOCH", "")
        if not moment and (self.root / ".git").exists():
            parts = ["pyproject.toml", "requirements.txt", self.settings["top"], *self.settings["modules"]]
            command = ["git", "log", "-1", "--format=%ct", "--", *parts]
            moment = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=True).stdout.strip()
        return f".dev{datetime.fromtimestamp(int(moment), UTC):%Y%m%d}" if moment else ""

    def pins(self) -> dict[str, str]:
        """Name and version of what the package may use, as the server's own requirements have it."""
        named = re.findall(r"^([A-Za-z0-9_.-]+)(?:\[.*\])?==(\S+)", (self.root / "requirements.txt").read_text(), re.MULTILINE)
        known = {name.lower(): version for name, version in named}
        return {name: known[name.lower()] for name in self.settings["ranges"] if name.lower() in known}

    def _allowed(self, names: list[str]) -> list[str]:
        return [f"{name}{self.settings['ranges'][name]}" for name in names]

    def dependencies(self) -> list[str]:
        return self._allowed(self.settings["needs"])

    def extras(self) -> dict[str, list[str]]:
        """Requirements of each extra: ranges, and of those in EXACT the service's versions."""
        pins, given = self.pins(), self.settings["extras"]
        pinned = {extra: [f"{name}=={pins[name]}" for name in (*self.settings["needs"], *given[of])] for extra, of in EXACT.items()}
        return {extra: self._allowed(names) for extra, names in given.items()} | pinned

    def shipped_versions(self) -> bytes:
        """The service's versions, and the extras that have each library, as the package holds them."""
        extras: Mapping[str, list[str]] = self.settings["extras"]
        extras = {**extras, **{extra: [*self.settings["needs"], *extras[of]] for extra, of in EXACT.items()}}
        by_name = {name: [extra for extra, names in extras.items() if name in names] for name in self.settings["ranges"]}
        content = {"versions": self.pins(), "extras": {name: found for name, found in by_name.items() if found}}
        return (json.dumps(content, indent=1) + "\n").encode()


class Metadata(MetadataHookInterface):
    """Version and requirements."""

    def update(self, metadata: dict[str, Any]) -> None:
        package = Package(Path(self.root))
        metadata["version"] = package.version
        metadata["dependencies"] = package.dependencies()
        metadata["optional-dependencies"] = package.extras()


class Sources(BuildHookInterface):
    """The rewritten files, in a folder that lives as long as the build."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        for place, content in Package(Path(self.root)).files.items():
            path = Path(self._folder.name, place)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if content.startswith(b"#!"):  # a command, such as those that run scoring programs of other services
                path.chmod(0o755)
            build_data["force_include"][str(path)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()

"""Shared parts of tests of uploads: files judged as one archive, and the words of a verdict."""

import zipfile
from pathlib import Path

from submissions.manifest import Manifest
from submissions.validation import Verdict, validate


def judged(tmp_path: Path, contents: dict[str, bytes], manifest: Manifest) -> Verdict:
    """The verdict on a zip of these files."""
    with zipfile.ZipFile(tmp_path / "entry.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return validate(tmp_path / "entry.zip", manifest)


def said(verdict: Verdict) -> list[str]:
    """Its problems in words."""
    return [str(problem) for problem in verdict.problems]

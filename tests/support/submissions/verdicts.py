"""Shared parts of tests of uploads: files judged as one archive, and what a verdict says."""

import zipfile
from pathlib import Path

from submissions.manifest import Manifest
from submissions.validation import Fault, Verdict, validate


def judged(tmp_path: Path, contents: dict[str, bytes], manifest: Manifest) -> Verdict:
    """The verdict on a zip of these files."""
    with zipfile.ZipFile(tmp_path / "entry.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return validate(tmp_path / "entry.zip", manifest)


def faults(verdict: Verdict) -> list[tuple[str, Fault]]:
    """Its problems as data: the file and the fault."""
    return [(problem.file, problem.fault) for problem in verdict.problems]


def said(verdict: Verdict) -> list[str]:
    """Its problems in words."""
    return [str(problem) for problem in verdict.problems]

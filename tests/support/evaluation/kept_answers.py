"""Answers of the limited child, kept for jobs that are the same to the last byte: most tests need a scored entry, not its scoring."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from evaluation.work import limited
from evaluation.work.sandbox import sandbox
from tests.environment import HOME

_kept: dict[str, tuple[str, Path]] = {}  # of this process: a job's answer as JSON, and a folder with the files that the job left


@contextmanager
def kept_answers() -> Iterator[None]:
    """Meanwhile the child of this process's worker gets no job twice that has the same files, parameters and limits. Failures are not
    kept, nor are jobs with programs or with networks, whose weights lie elsewhere."""
    run = sandbox.run

    def once(folder: Path, job: dict, heartbeat: Callable[[], bool], *limits: Any) -> dict:
        if job.get("programs") or limited.uses_networks(job):
            return run(folder, job, heartbeat, *limits)
        # Stored files have other names in each test.
        files = {name: _digest(Path(value)) for name, value in job.items() if isinstance(value, str) and Path(value).is_absolute()}
        given = _digests(folder)
        key = json.dumps([job | files, given, limits, sandbox._module, str(sandbox._limits())], sort_keys=True)
        if key not in _kept:
            answer, left = run(folder, job, heartbeat, *limits), Path(tempfile.mkdtemp(dir=HOME))
            for name in {name for name, digest in _digests(folder).items() if given.get(name) != digest}:
                (left / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / name, left / name)
            _kept[key] = json.dumps(answer), left
        answer_text, left = _kept[key]
        shutil.copytree(left, folder, dirs_exist_ok=True)
        return json.loads(answer_text)

    with mock.patch.object(sandbox, "run", once):
        yield


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): _digest(path) for path in folder.rglob("*") if path.is_file()}

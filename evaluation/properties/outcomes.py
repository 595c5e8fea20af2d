"""Outcomes of single models, as plain JSON and back; and the files in which a long run keeps them as it proceeds."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.properties.suite import SUITE_VERSION
from evaluation.properties.verdicts import Held

Verdict = tuple[bool, bool | None, bool | None]  # official, strict, weak
Outcome = dict[str, Held | None]  # by test id; None where the test could not be asked
Plain = dict[str, Verdict | None]  # the same in JSON


def plain(outcome: Outcome) -> Plain:
    return {test: None if found is None else (found.official, found.strict, found.weak) for test, found in outcome.items()}


def held(outcome: Plain) -> Outcome:
    return {test: None if verdict is None else Held(*verdict) for test, verdict in outcome.items()}


def digest_of(items: Mapping[str, Any]) -> str:
    """The digest of the models, their ids and order included: hex, equal only for equal models."""
    found = hashlib.sha256()
    for item_id, item in items.items():
        found.update(f"{item_id}\n".encode())
        for field in fields(item):
            value = getattr(item, field.name)
            if isinstance(value, np.ndarray):
                found.update(f"{field.name} {value.dtype.str} {value.shape}\n".encode() + np.ascontiguousarray(value).tobytes())
    return found.hexdigest()


class Kept:
    """The outcomes of one metric on each model so far, a line per model in a file that is only added to.

    A line is written when its model is done, so that a run that is killed loses the model it was at. Metrics, suites
    and models that differ in anything have files of their own. OSError where the folder cannot be written to.
    """

    def __init__(self, folder: Path, key: str, fingerprint: str, models: str) -> None:
        name = hashlib.sha256(f"{fingerprint} {SUITE_VERSION} {models}".encode()).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{key}.{name[:16]}.jsonl"
        self._known: dict[str, Outcome] = {}
        written = self.path.read_bytes() if self.path.exists() else b""
        whole = written[: written.rfind(b"\n") + 1]  # the end of a killed run may be half a line
        if len(whole) < len(written):
            os.truncate(self.path, len(whole))
        for line in whole.splitlines():
            row = json.loads(line)
            self._known[row["model"]] = held(row["outcome"])

    def get(self, item_id: str) -> Outcome | None:
        return self._known.get(item_id)

    def add(self, item_id: str, outcome: Outcome) -> None:
        self._known[item_id] = outcome
        line = json.dumps({"model": item_id, "outcome": plain(outcome)}) + "\n"
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode())

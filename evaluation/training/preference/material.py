"""The material of a study's votes: its references and entries as files, and the features of their canonical views. PURE."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics import registry
from evaluation.metrics.wireframe.learned import metric
from evaluation.metrics.wireframe.learned import network as kinds
from evaluation.metrics.wireframe.learned.network import Features
from evaluation.metrics.wireframe.pair import Pair
from evaluation.training.checkpoint import write
from evaluation.training.errors import DataError
from evaluation.training.preference.votes import Decisions
from submissions.formats.wireframe.wireframe_files import Wireframe, load_folder
from submissions.kinds import FAMILIES

VOTES, DESCRIPTION, REFERENCES, ENTRIES = "votes.csv", "study.json", "references", "entries"  # in the folder that a study exports


@dataclass(frozen=True)
class Study:
    """Locations of the votes, the references and the files of each method, and the description of the study."""

    votes: Path
    references: Path
    entries: Mapping[str, Path]  # by what the votes call the method
    said: Mapping[str, Any] = field(default_factory=dict)

    def item(self, sample: str) -> str:
        """The one item of a sample, which is named like it unless the description says otherwise; empty where it has several."""
        items = {one["name"]: one["items"] for one in self.said.get("samples", ())}.get(sample, [sample])
        return items[0] if len(items) == 1 else ""

    @property
    def simulated(self) -> bool:
        """Return whether its raters are invented."""
        return bool(self.said.get("simulated"))


@dataclass(frozen=True, eq=False)
class Seen:
    """``features``: float32[samples, methods, width] of the canonical views, in the order of the decisions' names; ``known``:
    bool[samples, methods], whether there was something to look at; ``digest`` changes with any of the numbers."""

    features: NDArray[np.float32]
    known: NDArray[np.bool_]

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.features.tobytes() + self.known.tobytes()).hexdigest()


def study(votes: Path, references: Path | None = None, entries: Path | None = None) -> Study:
    """The study in the folder that `manage.py study export` wrote, or of a file of votes with two folders beside it.

    Without a description a method's files lie in the folder of entries under the method's name. DataError where one is absent.
    """
    folder, file = (votes, votes / VOTES) if votes.is_dir() else (votes.parent, votes)
    said = _said(folder / DESCRIPTION) if votes.is_dir() else {}
    family = registry.get("wf_learned").family
    if "made_up" in said:
        raise DataError(f"{DESCRIPTION} has made_up, which is called simulated now: rename it, or export the study again.")
    if said.get("family", family) != family:
        raise DataError(f"{folder.name} is a study of {said['family']} entries; this metric is of {FAMILIES[family].plural}.")
    references, entries = references or folder / REFERENCES, entries or folder / ENTRIES
    for path, what in ((file, "votes"), (references, "references"), (entries, "entries")):
        if not path.exists():
            raise DataError(f"There are no {what} at {path}; give the folder that `manage.py study export` writes, or name them.")
    named = {one["label"]: folder / one["folder"] for one in said.get("entries", ()) if one.get("folder")}
    return Study(file, references, named or {path.name: path for path in sorted(entries.iterdir()) if path.is_dir()}, said)


def _said(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise DataError(f"{file.name} is not JSON ({error}); export the study again.") from None
    if not isinstance(found, dict):
        raise DataError(f"{file.name} must be an object; export the study again.")
    return found


def seen(
    about: Study, decisions: Decisions, features: Features, kept: Path, begin: Callable[[int], Callable[[], None]] | None = None
) -> Seen:
    """The features of every method on every sample that votes are about; those known from before are read from ``kept``.

    A method without a file for a sample left it out, which is the reference alone. One without any files cannot be looked
    at, nor can a sample without a reference. ``begin`` is told how many views there are and gives what is called after each.
    """
    references = _loaded(about.references)
    samples = [name for name in decisions.samples if about.item(name) in references]
    methods = [name for name in decisions.methods if name in about.entries]
    advance = begin(len(samples) * len(methods)) if begin else lambda: None
    found = np.zeros((len(decisions.samples), len(decisions.methods), features.width), dtype=np.float32)
    known = np.zeros(found.shape[:2], dtype=bool)
    for method in methods:
        files, column = _loaded(about.entries[method]), decisions.methods.index(method)
        for sample in samples:
            row = decisions.samples.index(sample)
            item = about.item(sample)
            pair = Pair.of(files.get(item), references[item])
            if metric.viewpoint(pair) is not None:
                found[row, column], known[row, column] = _features(metric.canonical_view(pair), features, kept), True
            advance()
    return Seen(found, known)


def _features(pixels: np.ndarray, features: Features, kept: Path) -> np.ndarray:
    """Features of a view, computed once and then read from the folder."""
    named = (
        f"{metric.VIEW_VERSION}:{kinds.FEATURES_VERSION}:{features.name}:{features.sha256}:{hashlib.sha256(pixels.tobytes()).hexdigest()}"
    )
    file = kept / f"{hashlib.sha256(named.encode()).hexdigest()}.npy"
    if file.exists():
        return np.load(file, allow_pickle=False)
    found, out = features.of([pixels])[0], io.BytesIO()
    np.save(out, found, allow_pickle=False)
    write(file, out.getvalue())
    return found


def _loaded(path: Path) -> dict[str, Wireframe]:
    """The wireframes of a folder; none in an empty one."""
    return load_folder(path) if path.is_file() or any(path.iterdir()) else {}

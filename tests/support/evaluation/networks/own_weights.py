"""Weights as an operator trains them: a copy of those that ship, under a name that is not retired."""

from __future__ import annotations

import json
import shutil

from evaluation.networks import weights


def put(network: str, name: str = "own", like: str = "plumbline-small") -> None:
    """A set of that name on the shelf of this process, as if it had been trained here."""
    shipped = weights.get(network, like)
    folder = weights.trained_folder(network)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(shipped.file, folder / f"{name}.safetensors")
    (folder / f"{name}.json").write_text(json.dumps(dict(shipped.card)))

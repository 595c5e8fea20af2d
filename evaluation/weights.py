"""The network weights that metrics may use: a file each, whose sha256 its model card states.

Beside NAME.safetensors lies NAME.json, the model card. What the card says is pinned: a file of another digest is not
used. Nothing heavy is imported here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.metrics.spec import MetricSpec

_MESH = Path(__file__).parent / "metrics" / "mesh"
_FOLDERS = {"locase": _MESH / "locase" / "weights", "saucd_w": _MESH / "saucd_weights"}  # the second is the operator's to fill


class WeightsError(ValueError):
    """Weights are not there, or are not the ones their card describes; one sentence."""


@dataclass(frozen=True)
class Weights:
    """One set of weights of a network: where the file is, its digest (hex), and its card."""

    name: str
    file: Path
    sha256: str
    card: dict[str, Any]

    @property
    def there(self) -> bool:
        """Is the file here?"""
        return self.file.is_file()

    def read(self) -> bytes:
        """The file's bytes; WeightsError if it is absent or another than the card's."""
        if not self.there:
            raise WeightsError(f"The weights {self.name!r} are not here; put {self.file.name} beside their card.")
        data = self.file.read_bytes()
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise WeightsError(f"The file {self.file.name} is not the one its card describes (its sha256 differs); restore it.")
        return data


def names(network: str) -> tuple[str, ...]:
    """The weights there are for a network, by name."""
    return tuple(sorted(_cards(_FOLDERS[network])))


def get(network: str, name: str) -> Weights:
    """The weights of that name; WeightsError if there is no card for them."""
    found = _cards(_FOLDERS[network]).get(name)
    if found is None:
        raise WeightsError(f"There are no weights {name!r} of {network}; there are: {', '.join(names(network)) or 'none'}.")
    return found


def digest(network: str, name: str) -> str | None:
    """The sha256 that fixes a metric's numbers, or None where there is no card."""
    found = _cards(_FOLDERS[network]).get(name)
    return found.sha256 if found else None


def refusal(spec: MetricSpec, params: Mapping[str, Any]) -> str:
    """Why the metric cannot be computed on this server for want of weights, and what to do; empty where it can."""
    if spec.weights is None:
        return ""
    try:
        found = get(spec.weights, params["weights"])
    except WeightsError as error:
        return str(error)
    if found.there:
        return ""
    return (
        f"The weights “{found.name}” of {spec.title} are not on this server; "
        f"ask its operator to put {found.file.name} beside its model card."
    )


@cache
def _cards(folder: Path) -> dict[str, Weights]:
    cards = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    return {name: Weights(name, folder / f"{name}.safetensors", card["sha256"], card) for name, card in cards.items()}

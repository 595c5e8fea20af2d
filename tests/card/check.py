"""Parts that all rows share: how one is written, the run of the check, and its two scoring children."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.metrics import registry
from evaluation.networks import weights
from evaluation.work.limited import JobFailed, Limits, Sandbox, folder_in
from submissions.kinds import FAMILIES
from tests.card.material import Shelf

MEMORY = 3072 << 20  # bytes of one scoring child, as the service has it by default
SECONDS = 240
COLUMNS = ("what", "verdict", "device", "card memory", "value", "off by", "of tolerance", "seconds", "remark")


@dataclass(frozen=True)
class Row:
    """One line of the table. `verdict` is "right", "WRONG: ...", or "left out: ..."."""

    name: str
    verdict: str
    device: str = ""
    card_bytes: int = 0
    value: float | None = None
    off: float | None = None
    share: float | None = None
    seconds: float | None = None
    remark: str = ""

    @property
    def wrong(self) -> bool:
        return self.verdict.startswith("WRONG")

    def line(self) -> str:
        """The row in Markdown."""
        numbers = [
            self.device,
            f"{self.card_bytes / 2**20:.0f} MiB" if self.card_bytes else "",
            "" if self.value is None else f"{self.value:.6g}",
            "" if self.off is None else f"{self.off:.1e}",
            "" if self.share is None else f"{self.share:.2g}",
            "" if self.seconds is None else f"{self.seconds:.3g}",
        ]
        texts = (self.name, self.verdict, *numbers, self.remark)
        return f"| {' | '.join(text.replace('|', '/') for text in texts)} |".replace("\n", " ")


def header() -> str:
    """The head of the table in Markdown."""
    return f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}"


@dataclass(frozen=True)
class Scored:
    """Outcome of one side: the results by slug, and on which devices, with how much of a card's memory and in which time."""

    scores: Mapping[str, Mapping[str, Any]]
    devices: Mapping[str, list[str]]
    card_bytes: int
    seconds: Mapping[str, float]


class Check:
    """One run of the check: its device, its sizes, its weights, and a scoring child with a card and one without. With the processor in
    the card's place both sides are the same child, which computes twice."""

    def __init__(self, folder: Path, device: str, quick: bool) -> None:
        self.folder, self.device, self.quick = folder, device, quick
        (folder / "weights").mkdir()
        self.shelf = Shelf(folder / "weights")
        self.without = self._child("")
        self.with_card = self._child(os.environ.get("CUDA_VISIBLE_DEVICES")) if device == "cuda" else self.without
        self.afterwards: list[str] = []  # remarks below the table
        self.size = (96, 96) if quick else (320, 240)
        self.count, self.clean = (2, 4) if quick else (3, 6)

    def __enter__(self) -> Check:
        return self

    def __exit__(self, *_: object) -> None:
        self.with_card.stop()
        self.without.stop()

    def _child(self, cards: str | None) -> Sandbox:
        module = "tests.support.evaluation.drawn_child" if self.quick else "tests.card.child"
        return Sandbox(lambda: Limits(MEMORY, SECONDS, 5.0, self.folder / "weights", cards), module)

    def tried(self, name: str, make: Callable[[Check], Iterable[Row]]) -> Iterator[Row]:
        """The rows that `make` gives; one that says so where a library is missing, or where it broke down."""
        try:
            yield from make(self)
        except ModuleNotFoundError as error:
            yield Row(name, f"left out: {error.name} is not installed")
        except JobFailed as error:
            is_missing = error.end in ("library", "weights")  # weights that no package or shelf has here
            lines = error.detail.strip().splitlines() or [error.end]
            yield Row(name, f"left out: {error.detail}" if is_missing else f"WRONG: the scoring child ended with {error.end}: {lines[-1]}")
        except Exception as error:
            traceback.print_exc()
            yield Row(name, f"WRONG: {type(error).__name__}: {error}")

    def remarks(self) -> list[str]:
        """Remarks below the table."""
        drawn = ", ".join(sorted(self.shelf.drawn)) or "none"
        return [f"Weights drawn at random in the published layout: {drawn}.", *self.afterwards]

    # --- scoring -----------------------------------------------------------------------------

    def score(
        self, child: Sandbox, family: str, items: tuple[Any, Any], columns: Mapping[str, Mapping[str, Any]], must_be_card: bool = False
    ) -> Scored:
        """The columns {key: parameters} of (entry, references) in a job of a scoring child."""
        entry, references = items
        requests = []
        for key, given in columns.items():
            spec, params = registry.get(key), registry.resolve_params(key, given)
            column = {"slug": key, "key": key, "params": params, "fingerprint": registry.fingerprint(key, params)}
            requests.append({**column, "weights_sha256": weights.digest_of(spec, params)})
        with folder_in(self.folder / "jobs") as folder:
            for name, kept in (("artifact", entry), ("reference", references)):
                FAMILIES[family].save(kept, folder / name)
            paths = {name: str(folder / name) for name in ("artifact", "reference")}
            job = {"kind": "score", "family": family, "item_ids": list(references), "unit_scale": 1.0, "requests": requests}
            job |= {"card": must_be_card, **paths}
            found = child.run(folder, job, lambda: True, SECONDS, 1.0)
        return Scored(found["scores"], found["devices"], found["card_bytes"], found["seconds"])

"""The features of a scene's clean views, each different vector kept once, in memory or in a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from evaluation.metrics.render.puzzlesim.frame import Frame, operand

SAMPLED = 2048  # reference features that are looked at first
FLOAT = 4  # bytes


@dataclass(frozen=True, eq=False)
class Screen:
    """Reference features made ready for products of a type: `operand` kind[R, columns] holds x̃ = kind(x) with x = (a − m) V, how
    much V leaves out, what <a − m, m> is in two parts, and two ones; `length` float32[R] is |x|, `lost` float32[R] is |x − x̃|,
    `rest` what the two parts leave out."""

    operand: Tensor
    length: Tensor
    lost: Tensor
    rest: float

    @classmethod
    def of(cls, features: Tensor, frame: Frame, kind: torch.dtype) -> Screen:
        """A layer of unit vectors float32[R, C]."""
        seen, left_out = frame.seen(features)
        at = seen.shape[1]
        along = features @ frame.mean - frame.mean @ frame.mean
        high = along.to(kind)
        low = (along - high.float()).to(kind)
        made = operand(seen, left_out, kind)
        made[:, at + 1], made[:, at + 2], made[:, at + 3 : at + 5] = high, low, 1
        length = seen.norm(dim=1)
        lost = seen.sub_(made[:, :at]).norm(dim=1)
        rest = float((along - high.float() - low.float()).abs().amax())
        return cls(made, length, lost, rest)


class Layer(Protocol):
    """The unit vectors of one layer of all views: `rows` of them (at least one), with `channels` numbers each."""

    rows: int
    channels: int
    sample: Tensor  # float32[S, C]: some of them, evenly drawn
    frame: Frame

    def pieces(self, size: int, kind: torch.dtype | None = None) -> Iterator[tuple[Tensor, Screen | None]]:
        """All rows, float32[n, C] at a time, and the same made ready for screening where a `kind` is given.

        What is not in memory anyway comes in pieces of at most `size` bytes.
        """


@dataclass(eq=False)
class InMemory:
    """Features [R, C] that stay where they are. What screening needs is kept too where `keep` allows it, else made again."""

    features: Tensor
    keep: bool = True
    sample: Tensor = field(init=False)
    frame: Frame = field(init=False)
    _screens: dict[torch.dtype, Screen] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.rows, self.channels = self.features.shape
        self.sample = self.features[:: stride(self.rows)].contiguous()
        self.frame = Frame.of((self.features.sum(0, dtype=torch.float64) / self.rows).float(), self.sample)

    def pieces(self, size: int, kind: torch.dtype | None = None) -> Iterator[tuple[Tensor, Screen | None]]:
        if kind is None:
            yield self.features, None
        elif self.keep:
            if kind not in self._screens:
                self._screens[kind] = Screen.of(self.features, self.frame, kind)
            yield self.features, self._screens[kind]
        else:
            step = max(1, size // (self.channels * FLOAT))
            for features in self.features.split(step):
                yield features, Screen.of(features, self.frame, kind)


@dataclass(eq=False)
class InFile:
    """Features that lie in a file, as little-endian float32 one row after the other from `offset` on."""

    file: BufferedIOBase
    offset: int
    rows: int
    channels: int
    sample: Tensor
    frame: Frame

    def pieces(self, size: int, kind: torch.dtype | None = None) -> Iterator[tuple[Tensor, Screen | None]]:
        step = max(1, size // (self.channels * FLOAT))
        for start in range(0, self.rows, step):
            features = read(self.file, self.offset, start, min(start + step, self.rows), self.channels).to(self.sample.device)
            yield features, None if kind is None else Screen.of(features, self.frame, kind)


class Collector:
    """Takes the features of one layer view by view and keeps each different vector once, in an unnamed temporary file."""

    def __init__(self, channels: int) -> None:
        self.channels, self.rows = channels, 0
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the layer that reads it
        self._sum = np.zeros(channels)
        self._seen = np.zeros(0, dtype=np.uint64)

    def add(self, features: Tensor) -> None:
        """Take unit vectors float32[P, C] of a view."""
        given = np.ascontiguousarray(features.cpu().numpy(), dtype="<f4")
        marks, first = np.unique(hashes(given), return_index=True)
        places = np.searchsorted(self._seen, marks)
        inside = np.minimum(places, max(len(self._seen) - 1, 0))
        new = self._seen[inside] != marks if len(self._seen) else np.ones(len(marks), dtype=bool)
        kept = given[np.sort(first[new])]
        self._seen = np.insert(self._seen, places[new], marks[new])
        self.file.write(kept.data.cast("B") if len(kept) else b"")
        self.rows += len(kept)
        self._sum += kept.sum(axis=0, dtype=np.float64)

    def layer(self, device: str) -> InFile:
        """The rows taken, as a layer that is read from the file."""
        self.file.flush()
        every = stride(self.rows)
        sample = torch.cat([read(self.file, 0, row, row + 1, self.channels) for row in range(0, self.rows, every)])
        mean, sample = torch.from_numpy((self._sum / self.rows).astype(np.float32)).to(device), sample.to(device)
        return InFile(self.file, 0, self.rows, self.channels, sample, Frame.of(mean, sample))

    def array(self) -> np.ndarray:
        """The same as an array float32[R, C] in memory."""
        self.file.flush()
        return read(self.file, 0, 0, self.rows, self.channels).numpy()


def stride(rows: int) -> int:
    """Each how many-th row belongs to the sample."""
    return max(1, -(-rows // SAMPLED))


def read(file: BufferedIOBase, offset: int, start: int, stop: int, channels: int) -> Tensor:
    """float32[stop - start, C] from the file; OSError where it is too short."""
    found = np.empty((stop - start, channels), dtype="<f4")
    file.seek(offset + start * channels * FLOAT)
    if found.size and file.readinto(found.data.cast("B")) != found.nbytes:
        raise OSError("the features of the reference end too early")
    return torch.from_numpy(found)


def distinct(features: Tensor) -> tuple[Tensor, Tensor]:
    """int64: the first place of each different row of float32[P, C], ascending, and for each row which of these it equals."""
    given = np.ascontiguousarray(features.cpu().numpy())
    _, first, back = np.unique(hashes(given), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return torch.from_numpy(first[order]).to(features.device), torch.from_numpy(rank[back]).to(features.device)


def hashes(features: np.ndarray) -> np.ndarray:
    """uint64[P]: the same for the same bits of a row float32[P, C], and for others hardly ever."""
    bits = features.view(np.uint32).astype(np.uint64)
    keys = np.random.default_rng(0).integers(1, 2**63, bits.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return ((bits ^ (bits << np.uint64(29))) * keys).sum(axis=1, dtype=np.uint64)

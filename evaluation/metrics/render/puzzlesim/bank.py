"""The features of a scene's clean views, each different vector kept once, in memory or in a file, and seen along a few axes.

Along fewer axes products get cheaper, and how far each can be off stays known.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

EXTRA = 5  # columns of an operand beside the coordinates
ALIGNED = 16  # columns; matrix units take products of whole tiles, and others are slower
STEP = 32  # coordinates more, from one choice of their number to the next
SETTLING = 30_000  # as much as a product over so many channels: to compute one candidate again, in float32 and by itself
_TRIED = 256  # features of the sample for which candidates are counted
_CANCELLED = 4e-6  # by which a difference of squared lengths in float32 can be off, as a part of the longer one


@dataclass(frozen=True, eq=False)
class Frame:
    """The frame that the features of a layer are seen in: their mean m float32[C], and the orthonormal `axes` V float32[C, K] along
    which they differ most. Without axes every channel is kept as it is."""

    mean: Tensor
    axes: Tensor | None = None

    @classmethod
    def of(cls, mean: Tensor, sample: Tensor) -> Frame:
        """The frame in which best matches cost least, judged by a `sample` float32[S, C] of the features.

        K axes cost K a product; but the fewer there are, the more products could be maxima and are computed again. How many
        is counted within the sample. A graphics card multiplies all channels and screens nothing (`matching.screening`).
        """
        whole = cls(mean)
        if mean.device.type != "cpu":
            return whole
        centred = (sample - mean).double()
        axes = torch.linalg.eigh(centred.t() @ centred).eigenvectors.flip(1).float()
        every = -(-len(sample) // _TRIED)
        tried = sample[::every]
        cosines, itself = tried @ sample.t(), (torch.arange(len(tried)), torch.arange(0, len(sample), every))
        cosines[itself] = -torch.inf
        best = cosines.amax(1, keepdim=True)

        chosen, least = whole, float(columns(sample.shape[1]))
        for kept in range(2 * STEP - EXTRA, sample.shape[1] - STEP, STEP):
            frame = cls(mean, axes[:, :kept].contiguous())
            bounds = frame.bounds(tried, sample)
            bounds[itself] = -torch.inf
            cost = columns(kept) + SETTLING * float((bounds > best).float().mean())
            if cost >= least:
                if chosen is not whole:
                    break  # from here on more axes cost more
                continue
            chosen, least = frame, cost
        return chosen

    def bounds(self, a: Tensor, b: Tensor) -> Tensor:
        """float32[P, R]: what <a, b> is at most, of unit vectors [P, C] and [R, C]."""
        (x, left_of_x), (y, left_of_y) = self.seen(a), self.seen(b)
        return x @ y.t() + left_of_x[:, None] * left_of_y + (a @ self.mean)[:, None] + b @ self.mean - self.mean @ self.mean

    def seen(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """(a − m) V float32[P, K], and at least the length of what V leaves out of a − m, float32[P]."""
        centred = features - self.mean
        if self.axes is None:
            return centred, centred.new_zeros(len(centred))
        along, whole = centred @ self.axes, centred.square().sum(1)
        return along, (whole - along.square().sum(1)).clamp_(min=0).add_(whole, alpha=_CANCELLED).sqrt_()


def columns(kept: int) -> int:
    """The size of an operand with `kept` coordinates."""
    return -(-(kept + EXTRA) // ALIGNED) * ALIGNED


def operand(seen: Tensor, left_out: Tensor, kind: torch.dtype) -> Tensor:
    """kind[P, columns]: the coordinates, the rounded-up length of what they leave out, and zeros to be filled."""
    width = seen.shape[1]
    found = torch.zeros((len(seen), columns(width)), dtype=kind, device=seen.device)
    found[:, :width] = seen
    found[:, width] = left_out * (1 + 2 * torch.finfo(kind).eps)
    return found


SAMPLED = 2048  # reference features that are looked at first
FLOAT = 4  # bytes


@dataclass(frozen=True, eq=False)
class Screen:
    """Reference features made ready for products of a type. `operand` kind[R, columns] holds x̃ = kind(x) with x = (a − m) V, the
    length that V leaves out, <a − m, m> in two parts, and two ones. `length` float32[R] is |x|, `lost` float32[R] is |x − x̃|, and
    `rest` is the remainder of the two parts."""

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

        Rows that are not in memory come in pieces of at most `size` bytes.
        """


@dataclass(eq=False)
class InMemory:
    """Features [R, C] that stay where they are. Data for screening are kept too if `keep` allows it, else made again."""

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

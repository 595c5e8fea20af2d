"""Features seen along a few axes: products get cheaper, and how far each can be off stays known."""

from __future__ import annotations

from dataclasses import dataclass

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
        is counted within the sample. A graphics card keeps all channels: there a product costs less than to write it down.
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

"""A picture in overlapping tiles: what each layer of a stack must be given so that its taps come out as from the whole. PURE.

A layer with kernel k, stride s and padding p makes its row o of the rows o·s − p … o·s − p + k − 1. Going backwards from the rows wanted of
each tap tells what every layer has to be given. Padding inside the picture, where the whole would have had more picture, spoils the
outermost rows of the result; these are computed in addition and left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product

from torch import Tensor, nn

Span = tuple[int, int]  # from, and up to but not including


@dataclass(frozen=True)
class Side:
    """One tile along one side of the picture, with a span for each layer. `into` goes into the layer, `out` comes out of it
    right, and `own` is the part of `out` that lies in no other tile. `long` is the length of the whole map behind the layer."""

    into: tuple[Span, ...]
    out: tuple[Span, ...]
    own: tuple[Span, ...]
    long: tuple[int, ...]


@dataclass(frozen=True)
class Tile:
    """A tile of a picture, by its `sides`: rows and columns."""

    sides: tuple[Side, Side]

    def place(self, layer: int) -> tuple[slice, slice]:
        """The rows and columns that this tile has in the map behind `layer` (from 0)."""
        rows, columns = (slice(*side.own[layer]) for side in self.sides)
        return rows, columns

    def whole(self, layer: int) -> tuple[int, int]:
        """The rows and columns of the whole map."""
        rows, columns = (side.long[layer] for side in self.sides)
        return rows, columns

    def apply(self, number: int, layer: nn.Module, x: Tensor) -> Tensor:
        """The correct part of `layer`'s output, given the correct part [B, C, h, w] of the output of the layer before."""
        for dim, side in enumerate(self.sides, start=2):
            begin, end = side.into[number]
            x = x.narrow(dim, begin - (side.out[number - 1][0] if number else 0), end - begin)
        x = layer(x)
        for dim, side in enumerate(self.sides, start=2):
            (first, last), stride = side.out[number], _geometry(layer)[1]
            x = x.narrow(dim, first - side.into[number][0] // stride, last - first)
        return x

    def own(self, number: int, x: Tensor) -> Tensor:
        """The part of what is right behind a layer that lies in no other tile."""
        for dim, side in enumerate(self.sides, start=2):
            first, last = side.own[number]
            x = x.narrow(dim, first - side.out[number][0], last - first)
        return x


def tiles(layers: Iterable[nn.Module], taps: tuple[int, ...], height: int, width: int, longest: int) -> Iterator[Tile]:
    """Tiles that cover a picture, none with a side of its own over `longest` px by more than the strides of the layers, after how many
    of which a map is taken `taps` say."""
    geometry = [_geometry(layer) for layer in layers]
    step = math.prod(stride for _, stride, _, _ in geometry)
    sides: list[list[Side]] = []
    for length in (height, width):
        count = max(1, -(-length // longest))
        cuts = [length // step * n // count * step for n in range(count)] + [length]
        sides.append([_side(geometry, taps, length, start, stop) for start, stop in pairwise(cuts) if start < stop])
    for row, column in product(*sides):
        yield Tile((row, column))


def _side(layers: list[tuple[int, int, int, bool]], taps: tuple[int, ...], length: int, start: int, stop: int) -> Side:
    lengths, strides = [length], [1]
    for kernel, stride, padding, ceil in layers:
        # As many rows as torch counts.
        room = lengths[-1] + 2 * padding - kernel
        rows = (-(-room // stride) if ceil else room // stride) + 1
        if ceil and (rows - 1) * stride >= lengths[-1] + padding:
            rows -= 1
        lengths.append(rows)
        strides.append(strides[-1] * stride)
    ends = [whole if stop == length else min(whole, stop // so_far) for whole, so_far in zip(lengths, strides, strict=True)]
    own = [(start // so_far, end) if n in taps else (end, end) for n, (so_far, end) in enumerate(zip(strides, ends, strict=True))]
    into: list[Span] = [(0, 0)] * len(layers)
    out: list[Span] = [(0, 0)] * len(layers)
    needed = own[-1]
    for n in reversed(range(len(layers))):
        kernel, stride, padding, _ = layers[n]
        out[n] = needed
        begin = max(0, (needed[0] - -(-padding // stride)) * stride)
        end = lengths[n] if needed[1] == lengths[n + 1] else min(lengths[n], (needed[1] - 1) * stride - padding + kernel)
        into[n] = begin, end
        needed = (min(begin, own[n][0]), max(end, own[n][1])) if n in taps else (begin, end)
    return Side(tuple(into), tuple(out), tuple(own[1:]), tuple(lengths[1:]))


def _geometry(layer: nn.Module) -> tuple[int, int, int, bool]:
    """(kernel, stride, padding, whether a last incomplete step counts); a layer that says nothing of these looks at one place."""
    kernel, stride, padding = (getattr(layer, name, plain) for name, plain in (("kernel_size", 1), ("stride", 1), ("padding", 0)))
    sizes = [size if isinstance(size, int) else size[0] for size in (kernel, stride, padding)]
    return sizes[0], sizes[1], sizes[2], bool(getattr(layer, "ceil_mode", False))

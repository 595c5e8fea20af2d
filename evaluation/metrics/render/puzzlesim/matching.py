"""The best match of each test feature among many reference features, block by block, in bounded memory.

Features are unit vectors (or zero). Two ways lead to the same numbers: `exact` multiplies all channels of all cells in float32, as a
graphics card does. On a processor, screening first multiplies along the axes of a `Frame`, in half precision if that is faster. It bounds
the error, and computes in float32 only the cells that could be a maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from evaluation.metrics.render.puzzlesim.bank import Layer, Screen, distinct, operand
from evaluation.networks.inference import has_precision, out_of_memory

SMALLEST = 64


def walk(total: int, size: int, step: Callable[[int, int], None], smallest: int = SMALLEST) -> int:
    """`step(start, stop)` over [0, total) in blocks of `size`; returns the size it ended with.

    A step that runs out of memory is done again with half the block, and so are later steps. Finished steps stay done, so a step must leave
    nothing behind if it fails. With `smallest` or less the error is raised to the caller.
    """
    start = 0
    while start < total:
        stop = min(start + size, total)
        try:
            step(start, stop)
            start = stop
            continue
        except RuntimeError as error:
            if stop - start <= smallest or not out_of_memory(error):
                raise
        # Outside the handler, whose traceback holds on to what did not fit.
        size = max(smallest, (stop - start) // 2)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    return size


TOLERANCE = 5e-5  # by which a screened maximum may stay below the exact one; with the rounding of both, 1e-4 is kept
SPARSE = 64  # one candidate in so many products, and single dots are no cheaper than the whole product
_ROUNDING = 6e-6  # of sums of a few hundred products in float32, once along the channels and once along axes
_BLOCK = {"cpu": (2048, 512), "cuda": (16384, 8192)}  # test features × reference features at a time
_SINGLE = 256  # single dots at a time: as many as stay in a processor's cache
_BITS = {2: torch.int16, 4: torch.int32}


@dataclass(frozen=True)
class Limits:
    """`chunk`: bytes of reference features held at a time when read from a file. `tile`: test × reference features multiplied at a time
    (None: a good size for the device)."""

    chunk: int = 64 << 20
    tile: tuple[int, int] | None = None


def normalized(features: Tensor) -> Tensor:
    """float32[..., C]: each vector divided by max(|x|, 1e-12), so that zero stays zero."""
    return functional.normalize(features, p=2, dim=-1)


@cache
def screening(device: str) -> torch.dtype | None:
    """The type to screen in: bfloat16 on processors with the units for it, float32 on others (emulated, half precision is slower).
    None on a graphics card, where all products in float32 take a quarter of the time of the many small steps of a screening (H200)."""
    if device != "cpu":
        return None
    return torch.bfloat16 if has_precision("bfloat16", device) else torch.float32


def best_match(reference: Layer, test: Tensor, kind: torch.dtype | None = None, limits: Limits = Limits()) -> Tensor:
    """float32[P]: for each test feature [P, C] its largest cosine with any reference feature.

    S(p) = max over q of <F_ref(q), F_test(p)>. With a `kind` the products are screened in that type; in half precision the
    result is then at most TOLERANCE below the exact one. Beyond this the rounding of float32 is all that differs.
    """
    if kind is None:
        return exact(reference, test, limits)
    first, back = distinct(test)
    once = test if len(first) == len(test) else test[first]
    if kind == torch.float32 and reference.frame.axes is None:
        found = exact(reference, once, limits)
    else:
        found = _Screening(reference, once, kind, limits).run()
    return found if once is test else found[back]


def exact(reference: Layer, test: Tensor, limits: Limits = Limits()) -> Tensor:
    """`best_match` with everything in float32."""
    best = torch.full((len(test),), -torch.inf, device=test.device)
    rows, columns = limits.tile or _BLOCK[test.device.type]
    product = _Product(torch.float32, test.device)
    for features, _ in reference.pieces(limits.chunk):
        for of in _tiles(len(test), rows):
            part, most = test[of], best[of]

            def step(first: int, last: int, features: Tensor = features, part: Tensor = part, most: Tensor = most) -> None:
                torch.maximum(most, product(part, features[first:last]).amax(1), out=most)

            columns = walk(len(features), columns, step)
    return best


def _tiles(total: int, size: int) -> Iterator[slice]:
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))


@cache
def wide(device: str) -> bool:
    """True if oneDNN multiplies float32 there. By itself torch asks MKL, which on other processors than Intel's leaves half of
    each AVX-512 register unused; on Intel's the two are as fast. The same processor always takes the same way."""
    return device == "cpu" and bool(torch.cpu.get_capabilities().get("avx512_f")) and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def multiplied(a: Tensor, b: Tensor) -> Tensor:
    """a bᵀ, float32[P, C] and [R, C] -> [P, R]. oneDNN wants its rows one after the other: else it is a hundred times slower."""
    if wide(a.device.type):
        return torch.ops.mkldnn._linear_pointwise(a.contiguous(), b.contiguous(), None, "none", [], "")
    return torch.mm(a, b.t())


class _Product:
    """a bᵀ again and again in the same memory: fresh pages cost as much time as the sum over several channels."""

    def __init__(self, dtype: torch.dtype, device: torch.device) -> None:
        self.room = torch.empty(0, dtype=dtype, device=device)
        self.is_wide = dtype == torch.float32 and wide(device.type)

    def __call__(self, a: Tensor, b: Tensor) -> Tensor:
        """[P, C] and [R, C] -> [P, R], valid until the next call."""
        if self.is_wide:
            return multiplied(a, b)  # the allocator gives the same memory again
        size = len(a) * len(b)
        if len(self.room) < size:
            self.room = torch.empty(0, dtype=self.room.dtype, device=self.room.device)
            self.room = torch.empty(size, dtype=self.room.dtype, device=self.room.device)
        return torch.mm(a, b.t(), out=self.room[:size].view(len(a), len(b)))


class _Screening:
    """One run of the screening.

    With the mean m of the reference, x = a − m and y = b − m, a product is <a, b> = <x, y> + <x, m> + (<m, y> + |m|²). With
    axes V, <x, y> is at most <Vᵀx, Vᵀy> plus the product of the lengths that V leaves out of x and y. Only this is rounded, and x
    and y are short, because features point much the same way. The rest rides along as additional columns, each sum in two
    parts, and so does the maximum known so far. The matrix product then yields <a, b> − best(b) + shift or more. That is
    close to zero where it matters, and half precision stores it finely. By Cauchy and Schwarz the error of <x, y> is at most
    |x − x̃| |ỹ| + |x| |y − ỹ|.
    """

    def __init__(self, reference: Layer, test: Tensor, kind: torch.dtype, limits: Limits) -> None:
        self.reference, self.test, self.kind, self.limits = reference, test, kind, limits
        self.best = torch.full((len(test),), -torch.inf, device=test.device)
        self.rows, self.columns = limits.tile or _BLOCK[test.device.type]
        self.product = _Product(kind, test.device)
        self.unit = torch.finfo(kind).eps  # twice what rounding to nearest can be off by, relatively
        self.tolerance = 0.0 if kind == torch.float32 else TOLERANCE
        self.offset = test @ reference.frame.mean
        seen, left_out = reference.frame.seen(test)
        self.operand, self.at = operand(seen, left_out, kind), seen.shape[1] + 1
        rounded = self.operand[:, : self.at - 1].float()
        self.length, self.lost = rounded.norm(dim=1), (seen - rounded).norm(dim=1)
        self.operand[:, self.at : self.at + 2] = 1

    def run(self) -> Tensor:
        """The maxima. A sample of the reference is looked at first, so that little of the rest needs more than screening."""
        for of in _tiles(len(self.test), self.rows):
            self.best[of] = multiplied(self.test[of], self.reference.sample).amax(1)
        for features, screen in self.reference.pieces(self.limits.chunk, self.kind):
            for of in _tiles(len(self.test), self.rows):

                def step(first: int, last: int, of: slice = of, features: Tensor = features, screen: Screen | None = screen) -> None:
                    assert screen is not None  # with a type to screen in, pieces come with one
                    self._block(of, features[first:last], screen, slice(first, last))

                self.columns = walk(len(features), self.columns, step)
        return self.best

    def _block(self, of: slice, features: Tensor, screen: Screen, at: slice) -> None:
        """Raise the maxima of some test features by a block of the reference."""
        operand, best = self.operand[of], self.best[of]
        error = screen.lost[at].amax() * self.length[of] + screen.length[at].amax() * self.lost[of] + screen.rest + _ROUNDING
        shift = 2 * error.amax()
        bias = self.offset[of] - best + shift
        operand[:, self.at + 2] = bias
        left = bias - operand[:, self.at + 2].float()
        operand[:, self.at + 3] = left
        error += (left - operand[:, self.at + 3].float()).abs()
        products = self.product(operand, screen.operand[at])
        # Of positive numbers the bits are in the same order, and whole numbers are compared many times faster than halves.
        bits = products.view(_BITS[self.kind.itemsize])
        # A product p means a cosine of at most best + p (1 + unit) − shift + error.
        least = ((shift - error + self.tolerance) * (1 - 2 * self.unit)).to(self.kind).view(bits.dtype)
        hit = torch.nonzero(bits.amax(1) >= least).flatten()
        if len(hit):
            candidates = bits.index_select(0, hit) >= least[hit, None]
            self._settle(best, hit, self.test[of], features, candidates)

    def _settle(self, best: Tensor, hit: Tensor, test: Tensor, features: Tensor, candidates: Tensor) -> None:
        """Compute in float32 what the screening left open: for the rows `hit`, where `candidates` is true."""
        dense = candidates.sum(1) * SPARSE > len(features)
        many, few = hit[dense], hit[~dense]
        if len(many):
            best[many] = torch.maximum(best[many], multiplied(test.index_select(0, many), features).amax(1))
        if not len(few):
            return
        pairs = torch.nonzero(candidates[~dense] if len(many) else candidates)
        for row, column in zip(*(part.split(_SINGLE) for part in pairs.unbind(1)), strict=True):
            row = few[row]
            cosines = test.index_select(0, row).mul_(features.index_select(0, column)).sum(1)
            best.scatter_reduce_(0, row, cosines, "amax")

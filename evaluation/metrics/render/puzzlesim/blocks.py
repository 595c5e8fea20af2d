"""Work in blocks, and what happens when one of them does not fit into memory."""

from __future__ import annotations

from collections.abc import Callable

import torch

from evaluation.networks.inference import out_of_memory

SMALLEST = 64


def walk(total: int, size: int, step: Callable[[int, int], None], smallest: int = SMALLEST) -> int:
    """`step(start, stop)` over [0, total) in blocks of `size`; returns the size it ended with.

    A step that runs out of memory is done again with half the block, and so are those after it; what was done stays
    done, so a step must leave nothing behind where it fails. With `smallest` or less the error goes on to the caller.
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

"""Running networks exactly, in batches that fit, on the best device. PURE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")

CPU = torch.device("cpu")
NO_ROOM = ("DefaultCPUAllocator", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED")


@cache
def best_device() -> torch.device:
    """The graphics card if torch sees one on which something can be computed, else the CPU."""
    if torch.cuda.is_available():
        try:
            torch.zeros(1, device="cuda").add_(1).cpu()
            return torch.device("cuda")
        except RuntimeError:  # a process with a bounded address space cannot open the card
            pass
    return CPU


@contextmanager
def exact() -> Iterator[None]:
    """Inference in full float32 (no TF32) and, where torch has a choice, with the deterministic algorithm."""
    backends = torch.backends
    before = backends.cuda.matmul.allow_tf32, backends.cudnn.allow_tf32, backends.cudnn.benchmark
    chosen = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    backends.cuda.matmul.allow_tf32 = backends.cudnn.allow_tf32 = backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with torch.inference_mode():
            yield
    finally:
        backends.cuda.matmul.allow_tf32, backends.cudnn.allow_tf32, backends.cudnn.benchmark = before
        torch.use_deterministic_algorithms(chosen[0], warn_only=chosen[1])


def in_batches(
    compute: Callable[[torch.device, Tensor], Tensor],
    inputs: Sequence[Tensor],
    batch: int = 8,
    device: torch.device | None = None,
) -> list[Tensor]:
    """`compute(device, stacked inputs)` over all inputs, its results one by one and in order, on the CPU.

    The inputs have one shape. `compute` gets at most `batch` of them at a time, on `device` (the best there is, if none
    is named), and returns a tensor with one row for each. Where the device runs out of memory the batch is halved and
    the work goes on where it stood; where a single input does not fit on the graphics card it is computed on the CPU.
    """
    device = best_device() if device is None else device
    done: list[Tensor] = []
    batch = max(1, batch)
    while len(done) < len(inputs):
        some = inputs[len(done) : len(done) + batch]
        try:
            with exact():
                done += compute(device, torch.stack(list(some)).to(device)).cpu().unbind()
            continue
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            if batch == 1 and device.type == "cpu":
                raise MemoryError(str(error)) from error
        # Outside the handler, whose traceback holds on to the tensors that did not fit.
        if device.type == "cuda":
            torch.cuda.empty_cache()
        batch, device = (max(1, batch // 2), device) if batch > 1 else (batch, CPU)
    return done


def with_room(compute: Callable[[torch.device], T]) -> T:
    """`compute(device)` on the best device there is; on the CPU where the graphics card has no room for the smallest piece of it.

    It is for work that cuts itself into pieces, where `in_batches` does not do.
    """
    device = best_device()
    try:
        return compute(device)
    except RuntimeError as error:
        if device.type == "cpu" or not out_of_memory(error):
            raise
    # Outside the handler, whose traceback holds on to the tensors that did not fit.
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return compute(CPU)


def out_of_memory(error: BaseException) -> bool:
    """True if this is torch running out of memory.

    Its own allocator on the card has a class for that. The CPU's has only a wording, as have the card's driver and libraries,
    which find no room for themselves where others have filled the card.
    """
    return isinstance(error, torch.OutOfMemoryError) or (isinstance(error, RuntimeError) and any(words in str(error) for words in NO_ROOM))

"""Running networks exactly, in batches that fit, on the best device. PURE."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import groupby
from typing import TypeVar

import torch
from torch import Tensor

from evaluation.networks import device_use
from evaluation.networks.device_use import CardTrouble
from evaluation.networks.precision import FLOAT32, PrecisionMissing, current

T = TypeVar("T")

log = logging.getLogger(__name__)

CPU = torch.device("cpu")
OF_CARD = ("CUDA error", "CUDA driver error", "cuDNN error", "CUDNN_", "CUBLAS_")  # how errors of its driver and libraries begin
FILLED = 0.5  # share of a card that others hold, above which it is theirs
NO_ROOM = ("DefaultCPUAllocator", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED")


@cache
def best_device() -> torch.device:
    """The graphics card if torch sees one on which something can be computed, else the CPU. CardTrouble if there is none and this process
    must compute on one (`device_use.require_card`)."""
    try:
        torch.cuda.init()
        torch.zeros(1, device="cuda").add_(1).cpu()
        return torch.device("cuda")
    except (RuntimeError, AssertionError) as error:  # no card, no driver, too old a one, no room in it; torch without CUDA asserts
        if device_use.must_be_card():
            if out_of_memory(error):  # then it cannot be asked either who fills it
                raise CardTrouble("Other programs fill the graphics card: not even an idle process has room on it.") from None
            said = str(error).splitlines()[0].rstrip(".")
            raise CardTrouble(f"The graphics card cannot be computed on: {said}.") from None
    return CPU


HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
# What a processor must have one of to multiply in them, as `torch.cpu.get_capabilities` names it; emulated they are slower than float32.
UNITS = {
    "bfloat16": ("avx512_bf16", "amx_bf16", "sve_bf16", "bf16"),
    "float16": ("avx512_fp16", "amx_fp16", "fp16"),
}
CAPABLE = {"tf32": (8, 0), "bfloat16": (8, 0), "float16": (7, 0)}  # compute capability from which on a card has the units


def has_precision(precision: str, device: str) -> bool:
    """True if a device of that type, here, has the units for networks in that precision, one of `evaluation.networks.precision`."""
    if precision == FLOAT32:
        return True
    if device == "cuda":
        return torch.cuda.get_device_capability() >= CAPABLE[precision]
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name) for name in UNITS.get(precision, ()))


@contextmanager
def exact(device: torch.device | str = CPU, precision: str | None = None, inference: bool = True) -> Iterator[None]:
    """Inference, or without it work with gradients, on a device, in the `precision` given, else in the one that metrics compute in now.

    It is float32 without TF32 unless somebody asked for another, and, where torch has a choice, the deterministic algorithm.
    In half precision products and convolutions alone are computed in it, and results are float32 where their size matters, as torch's
    autocast has it. PrecisionMissing where the device has no units for it: nothing is ever computed in another.
    """
    precision, device = precision or current(), torch.device(device)
    if not has_precision(precision, device.type):
        raise PrecisionMissing(f"The {'processor' if device.type == 'cpu' else 'graphics card'} here has no units for {precision}.")
    device_use.note(device.type)
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, cudnn.allow_tf32, cudnn.benchmark
    reduced = matmul.allow_bf16_reduced_precision_reduction, matmul.allow_fp16_reduced_precision_reduction
    chosen = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    matmul.allow_tf32 = cudnn.allow_tf32 = precision == "tf32"
    cudnn.benchmark = False
    # Sums in float32: the bounds of screened products count on it.
    matmul.allow_bf16_reduced_precision_reduction = matmul.allow_fp16_reduced_precision_reduction = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    half = HALVES.get(precision)
    try:
        with torch.inference_mode(inference), nullcontext() if half is None else torch.autocast(device.type, half):
            yield
    finally:
        matmul.allow_tf32, cudnn.allow_tf32, cudnn.benchmark = before
        matmul.allow_bf16_reduced_precision_reduction, matmul.allow_fp16_reduced_precision_reduction = reduced
        torch.use_deterministic_algorithms(chosen[0], warn_only=chosen[1])


def in_batches(
    compute: Callable[[torch.device, Tensor], Tensor],
    inputs: Sequence[Tensor],
    batch: int = 8,
    device: torch.device | None = None,
) -> list[Tensor]:
    """`compute(device, stacked inputs)` over all inputs, its results one by one and in order, on the CPU.

    `compute` gets at most `batch` consecutive inputs of one shape at a time, on `device` (by default the best there is). It returns a
    tensor with one row for each. If the device runs out of memory the batch is halved and the work continues; a
    single input that does not fit on the graphics card is computed on the CPU. The log says both.
    """
    device = best_device() if device is None else device
    done: list[Tensor] = []
    batch = max(1, batch)
    while len(done) < len(inputs):
        _, alike = next(groupby(inputs[len(done) : len(done) + batch], key=lambda one: one.shape))
        some = list(alike)
        try:
            with exact(device):
                done += compute(device, torch.stack(some).to(device)).float().cpu().unbind()
            continue
        except (torch.OutOfMemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            if len(some) == 1 and device.type == "cpu":
                raise MemoryError(str(error)) from error
        # Outside the handler, whose traceback holds on to the tensors that did not fit.
        if device.type == "cuda":
            torch.cuda.empty_cache()
        if len(some) > 1:
            batch = -(-len(some) // 2)
            log.warning("Out of memory on %s with %d pictures at a time; going on with %d.", device.type, len(some), batch)
        else:
            device = beside_card(device)
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
    return compute(beside_card(device))


def beside_card(device: torch.device) -> torch.device:
    """The CPU, for work that does not fit into the memory of the card `device`, which the log says. CardTrouble where others fill the
    card and this process must compute on one: another worker's card may have room."""
    if device.type == "cuda" and device_use.must_be_card() and (filled := filled_by_others()):
        raise CardTrouble(filled)
    log.warning("Work that does not fit into the memory of the graphics card (%s) is computed on the processor.", device.type)
    return CPU


def filled_by_others() -> str:
    """Sentence about other programs that hold more than half of the card's memory; empty where they do not."""
    free, total = torch.cuda.mem_get_info()
    others = total - free - torch.cuda.memory_reserved()
    if others <= FILLED * total:
        return ""
    return f"Other programs hold {others / 2**30:.1f} of the {total / 2**30:.1f} GiB of the graphics card."


def is_of_card(error: BaseException) -> bool:
    """True if this is an error of the card, its driver or its libraries. The card or the computation may be its cause."""
    return isinstance(error, torch.AcceleratorError) or (isinstance(error, RuntimeError) and str(error).startswith(OF_CARD))


def out_of_memory(error: BaseException) -> bool:
    """True if this is torch running out of memory.

    Its own allocator on the card has a class for that. The CPU's has only a wording, as have the card's driver and libraries,
    which find no room for themselves where others have filled the card.
    """
    return isinstance(error, torch.OutOfMemoryError) or (isinstance(error, RuntimeError) and any(words in str(error) for words in NO_ROOM))

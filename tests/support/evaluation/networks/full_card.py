"""A graphics card whose memory is full, where there is none: tensors on torch's device "meta" stand for those on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook

from evaluation.networks import inference

CARD = torch.device("meta")


@contextmanager
def full_card(monkeypatch, room: int = 0, device: torch.device = CARD) -> Iterator[list[int]]:
    """Every layer of every network runs out of memory on that device where it is given more than `room` images.

    Gives how many images were refused each time.
    """
    refused: list[int] = []

    def enter(layer: torch.nn.Module, given: tuple[Any, ...]) -> None:
        for x in given:
            if isinstance(x, torch.Tensor) and x.device.type == device.type and len(x) > room:
                refused.append(len(x))
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    handle = register_module_forward_pre_hook(enter)
    try:
        with monkeypatch.context() as patch:
            if device == CARD:
                patch.setattr(inference, "best_device", lambda: CARD)
            yield refused
    finally:
        handle.remove()

"""A process that must compute on a graphics card does so, or says why it cannot."""

import pytest
import torch

from evaluation.networks import device_use, inference
from evaluation.networks.device_use import CardTrouble
from evaluation.networks.inference import best_device, filled_by_others, in_batches, is_of_card, with_room
from evaluation.work import child

FILLED = "Other programs hold 70.0 of the 80.0 GiB of the graphics card."
OUT = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


@pytest.fixture
def must_be_card(monkeypatch):
    best_device.cache_clear()
    monkeypatch.setattr(device_use, "_card", [False])
    device_use.require_card()
    yield
    best_device.cache_clear()


def planted(monkeypatch, error):
    """Let torch meet this error when it opens the card."""

    def init():
        raise error

    monkeypatch.setattr(torch.cuda, "init", init)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (AssertionError("Torch not compiled with CUDA enabled"), "Torch not compiled with CUDA enabled"),
        (RuntimeError("The NVIDIA driver on your system is too old (found version 11040). Please update.\nMore."), "is too old"),
        (RuntimeError("No CUDA GPUs are available"), "No CUDA GPUs are available"),
        (RuntimeError("CUDA error: uncorrectable ECC error encountered\nCUDA kernel errors might be"), "uncorrectable ECC error"),
    ],
)
def test_what_keeps_the_card_from_being_opened_is_said(must_be_card, monkeypatch, error, said):
    planted(monkeypatch, error)
    with pytest.raises(CardTrouble) as trouble:
        best_device()
    assert said in str(trouble.value)
    assert "\n" not in str(trouble.value)
    with pytest.raises(CardTrouble):
        in_batches(lambda device, x: pytest.fail("computed"), [torch.zeros(1)])


def test_a_card_without_room_for_a_process_is_full_because_of_others(must_be_card, monkeypatch):
    planted(monkeypatch, RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported"))
    with pytest.raises(CardTrouble, match=r"^Other programs fill the graphics card: "):
        best_device()


def test_elsewhere_the_processor_computes(monkeypatch):
    best_device.cache_clear()
    planted(monkeypatch, RuntimeError("No CUDA GPUs are available"))
    assert best_device().type == "cpu"
    best_device.cache_clear()


def test_a_card_that_others_fill_is_trouble_and_not_silently_the_processors_work(must_be_card, monkeypatch, caplog):
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(inference, "best_device", lambda: torch.device("cuda"))
    asked = []

    def full(device, x=None):
        asked.append(device.type)
        if device.type == "cuda":
            raise OUT
        return torch.zeros(1, 1)

    class OnCard(torch.Tensor):
        def to(self, device):
            return self

    monkeypatch.setattr(torch, "stack", lambda some: some[0].as_subclass(OnCard))
    monkeypatch.setattr(inference, "filled_by_others", lambda: FILLED)
    for compute in (lambda: in_batches(full, [torch.zeros(1)]), lambda: with_room(full)):
        with pytest.raises(CardTrouble, match=r"^Other programs hold 70\.0 of the 80\.0 GiB"):
            compute()
    assert asked == ["cuda"] * 2
    monkeypatch.setattr(inference, "filled_by_others", lambda: "")
    with_room(full)
    assert asked[2:] == ["cuda", "cpu"] and "the processor" in caplog.text, "it is too large for any card"


def test_others_fill_a_card_when_they_hold_more_than_half_of_it(monkeypatch):
    gib = 1 << 30
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda: 30 * gib)
    for free, expected in ((10, ""), (11, ""), (9, "Other programs hold 41.0 of the 80.0 GiB of the graphics card.")):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda free=free: (free * gib, 80 * gib))
        assert filled_by_others() == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuntimeError("CUDA error: unspecified launch failure"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), True),
        (torch.AcceleratorError("CUDA error: device-side assert triggered"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ValueError("CUDA error"), False),
    ],
)
def test_errors_of_the_card_are_known(error, expected):
    assert is_of_card(error) is expected


def test_what_networks_warn_of_is_noted_for_the_log_of_the_worker():
    notes = []
    handler = child.note_warnings(notes)
    try:
        inference.beside_card(torch.device("meta"))
    finally:
        handler()
    assert len(notes) == 1 and "(meta)" in notes[0]

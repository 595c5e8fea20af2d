"""Batches that fit, exactly computed: running out of memory halves the batch and goes on."""

import pytest
import torch

from evaluation.networks.inference import CPU, best_device, exact, in_batches, out_of_memory

INPUTS = [torch.full((2,), float(n)) for n in range(7)]
FULL = "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 bytes."


def memory_for(limit, calls, error=torch.OutOfMemoryError):
    def compute(device, x):
        calls.append((str(device), len(x)))
        if len(x) > limit:
            raise error("out of memory")
        return x * 10

    return compute


def test_results_come_one_by_one_and_in_order():
    calls = []
    found = in_batches(memory_for(99, calls), INPUTS, batch=3, device=CPU)
    assert [value.tolist() for value in found] == [[10.0 * n] * 2 for n in range(7)]
    assert [count for _, count in calls] == [3, 3, 1]


def test_out_of_memory_halves_the_batch_and_goes_on_where_it_stood():
    calls = []
    found = in_batches(memory_for(2, calls), INPUTS, batch=8, device=CPU)
    assert [value.tolist() for value in found] == [[10.0 * n] * 2 for n in range(7)]
    assert [count for _, count in calls] == [7, 4, 2, 2, 2, 1]


def test_what_does_not_fit_on_the_card_by_itself_is_computed_on_the_cpu():
    calls = []

    def compute(device, x):
        calls.append((device.type, len(x)))
        if device.type != "cpu":
            raise torch.OutOfMemoryError("CUDA out of memory")
        return x.to("cpu") if x.device.type == "cpu" else torch.zeros(len(x), 2)

    found = in_batches(compute, INPUTS[:2], batch=2, device=torch.device("meta"))  # stands for a card whose memory is full
    assert calls == [("meta", 2), ("meta", 1), ("cpu", 1), ("cpu", 1)]
    assert [value.tolist() for value in found] == [[0.0, 0.0], [1.0, 1.0]]


def test_where_not_even_one_fits_on_the_cpu_it_is_a_memory_error():
    class Full(RuntimeError):
        def __init__(self, _):
            super().__init__(FULL)

    calls = []
    with pytest.raises(MemoryError):
        in_batches(memory_for(0, calls, Full), INPUTS, batch=2, device=CPU)
    assert [count for _, count in calls] == [2, 1]


def test_other_errors_are_not_swallowed():
    def compute(device, x):
        raise RuntimeError("shapes do not fit")

    with pytest.raises(RuntimeError, match="shapes do not fit"):
        in_batches(compute, INPUTS, device=CPU)


def test_settings_are_exact_inside_and_as_they_were_outside():
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        with exact():
            assert not torch.backends.cuda.matmul.allow_tf32 and not torch.backends.cudnn.allow_tf32
            assert torch.are_deterministic_algorithms_enabled() and torch.is_inference_mode_enabled()
        assert torch.backends.cuda.matmul.allow_tf32 and not torch.are_deterministic_algorithms_enabled()
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False


def test_the_best_device_can_be_computed_on():
    assert float(torch.ones(2, device=best_device()).sum()) == 2.0


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("CUDA error: out of memory"), False),
    ],
)
def test_what_counts_as_out_of_memory(error, expected):
    assert out_of_memory(error) is expected

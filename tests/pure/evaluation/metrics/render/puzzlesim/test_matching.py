"""The best match: the worked toy, the screened way beside the exact one, blocks, and running out of memory."""

import numpy as np
import pytest
import torch

from evaluation.metrics.render.puzzlesim import matching
from evaluation.metrics.render.puzzlesim.bank import Collector, InMemory, distinct
from evaluation.metrics.render.puzzlesim.matching import TOLERANCE, Limits, best_match, exact, multiplied, normalized, screening, wide

HALVES = [torch.bfloat16, torch.float16]
KINDS = [torch.float32, *HALVES]


def unit(rows, channels, spread=1.0, seed=0, common=0, varied=None):
    """Unit vectors after a ReLU, about one direction (that of the seed `common`); the smaller `spread`, the closer. With
    `varied` they differ in so many directions, but for little."""
    shared = torch.Generator().manual_seed(common)
    middle = torch.rand(channels, generator=shared) + 0.2
    noise = torch.randn(rows, channels, generator=torch.Generator().manual_seed(seed))
    if varied is not None and varied < channels:
        noise = noise[:, :varied] @ torch.randn(varied, channels, generator=shared) / varied**0.5 + 0.01 * noise
    return normalized(torch.relu(middle + spread * noise))


def brute(reference, test):
    return torch.from_numpy((test.double().numpy() @ reference.double().numpy().T).max(axis=1))


def test_the_worked_toy():
    reference = normalized(torch.tensor([[1.0, 0], [0, 2], [0, 1], [1, 1]]))
    test = normalized(torch.tensor([[3.0, 0], [1, 1], [-1, 0], [0, 0]]))
    for half in (None, *KINDS):
        assert best_match(InMemory(reference), test, half).tolist() == pytest.approx([1, 1, 0, 0], abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [2.0, 0.5, 0.1, 0.003])
@pytest.mark.parametrize("varied", [96, 20])
def test_screening_gives_what_every_product_gives(kind, spread, varied):
    """With all axes, and with those that are enough for features that differ in 20 directions alone."""
    reference, test = unit(3000, 96, spread, 1, varied=varied), unit(300, 96, spread, 2, varied=varied)
    layer = InMemory(reference)
    assert (layer.frame.axes is None) == (varied == 96)
    plain, screened = exact(layer, test), best_match(layer, test, kind)
    assert torch.allclose(plain.double(), brute(reference, test), atol=1e-6, rtol=0)
    below = 1e-6 + (TOLERANCE if kind in HALVES else 0)
    assert (screened <= plain + 1e-6).all() and (screened >= plain - below).all()


def test_screening_finds_needles():
    """One reference vector in 4,000 is the test vector itself, and the sample looked at first does not hold it."""
    reference, test = unit(4000, 64, 1.0, 1), unit(40, 64, 1.0, 2)
    for n, vector in enumerate(test):
        reference[100 * n + 1] = vector  # every other row, from the first on, is in the sample
    layer = InMemory(reference)
    for half in (None, *KINDS):
        assert best_match(layer, test, half).tolist() == pytest.approx([1.0] * 40, abs=1e-5)


@pytest.mark.parametrize("half", [None, torch.float32, torch.bfloat16])
def test_the_size_of_the_blocks_changes_nothing_to_speak_of(half):
    reference, test = unit(1000, 48, 0.5, 3), unit(130, 48, 0.5, 4)
    whole = best_match(InMemory(reference), test)
    for tile in ((7, 13), (64, 1), (1000, 1000)):
        found = best_match(InMemory(reference), test, half, Limits(chunk=48 * 4 * 11, tile=tile))
        assert torch.allclose(found, whole, atol=TOLERANCE + 1e-6 if half in HALVES else 1e-6, rtol=0)


def test_features_in_a_file_are_those_in_memory_and_come_in_pieces():
    reference, test = unit(500, 32, 0.7, 5), unit(60, 32, 0.7, 6)
    collector = Collector(32)
    for view in reference.split(125):
        collector.add(view)
    in_file = collector.layer("cpu")
    pieces = [piece for piece, _ in in_file.pieces(100 * 32 * 4)]
    assert [len(piece) for piece in pieces] == [100] * 5 and torch.equal(torch.cat(pieces), reference)
    assert torch.allclose(in_file.frame.mean, InMemory(reference).frame.mean, atol=1e-7)
    for half in (None, torch.bfloat16):
        found = best_match(in_file, test, half, Limits(chunk=100 * 32 * 4))
        assert torch.allclose(found, brute(reference, test).float(), atol=TOLERANCE, rtol=0)


def test_a_vector_that_is_there_twice_is_kept_once():
    view = unit(50, 16, 1.0, 7)
    collector = Collector(16)
    for features in (view, torch.cat([view[:20], view[:20], unit(5, 16, 1.0, 8)]), view.flip(0)):
        collector.add(features)
    assert collector.rows == 55
    assert np.array_equal(collector.array()[:50], view.numpy())
    assert torch.allclose(best_match(collector.layer("cpu"), view), torch.ones(50), atol=1e-6)


def test_the_first_of_equal_vectors_stands_for_all():
    first, back = distinct(torch.tensor([[1.0, 2], [3, 4], [1, 2], [5, 6], [3, 4]]))
    assert first.tolist() == [0, 1, 3] and back.tolist() == [0, 1, 0, 2, 1]


def test_half_precision_is_used_where_the_processor_has_it(monkeypatch):
    for found, wanted in (({"avx512_bf16": True}, torch.bfloat16), ({"amx_bf16": True}, torch.bfloat16), ({"avx2": True}, torch.float32)):
        screening.cache_clear()
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda found=found: found)
        assert screening("cpu") is wanted
    screening.cache_clear()
    assert screening("cuda") is None


@pytest.mark.parametrize("capable", [True, False])
def test_float32_is_exact_whichever_library_multiplies(monkeypatch, capable):
    has = torch.cpu.get_capabilities().get("avx512_f", False)
    wide.cache_clear()
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_f": capable and has})
    assert wide("cpu") is (capable and has) and not wide("cuda")
    a, b = unit(130, 96, 0.5, 1), unit(600, 96, 0.5, 2)
    for one, other in ((a, b), (a[::3], b[::7]), (a[:1], b), (a, b[:1])):
        assert torch.allclose(multiplied(one, other).double(), one.double() @ other.double().t(), atol=1e-6, rtol=0)
    wide.cache_clear()


@pytest.mark.parametrize("half", [None, torch.bfloat16])
def test_out_of_memory_halves_the_block_and_goes_on(monkeypatch, half):
    """A card with room for 100 × 100 products."""
    from evaluation.metrics.render.puzzlesim.matching import _Product

    asked, multiply = [], _Product.__call__

    def small(self, a, b):
        asked.append(len(b))
        if len(a) * len(b) > 10_000:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return multiply(self, a, b)

    monkeypatch.setattr(_Product, "__call__", small)
    reference, test = unit(900, 24, 0.6, 9), unit(100, 24, 0.6, 10)
    found = best_match(InMemory(reference), test, half, Limits(tile=(100, 800)))
    assert torch.allclose(found, brute(reference, test).float(), atol=TOLERANCE, rtol=0)
    assert asked[:4] == [800, 400, 200, 100] and max(asked[4:]) == 100 and len(asked) == 3 + 9


def test_what_does_not_fit_in_the_smallest_block_is_an_error():
    def never(start, stop):
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        matching.walk(1000, 512, never)


def test_another_error_is_not_taken_for_want_of_memory():
    def wrong(start, stop):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes"):
        matching.walk(1000, 512, wrong)

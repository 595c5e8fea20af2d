"""Equality of a graphics card's and the processor's results: the same code on the processor, and on a card where there is one."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from evaluation.metrics.mesh import distances, on_gpu, sampling
from evaluation.metrics.mesh.on_gpu import nearest_rows
from evaluation.metrics.mesh.pair import Cloud
from evaluation.metrics.mesh.surface import surface
from evaluation.networks import graphics_card
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.solids import box, moved, noisy, pair, random_soup, sphere
from tests.support.examples import examples

needs_a_card = pytest.mark.skipif(graphics_card.card() is None, reason="there is no graphics card")
DEVICES = ["cpu", pytest.param("cuda", marks=needs_a_card)]


@pytest.fixture
def card(monkeypatch, request):
    """A machine whose card is the device of the test, and worth it at any size."""
    monkeypatch.setattr(graphics_card, "card", lambda: request.param)
    monkeypatch.setattr(distances, "WORTH_A_CARD", 1)
    monkeypatch.setattr(sampling, "WORTH_A_CARD", 1)


def clouds(seed, n, m):
    rng = np.random.default_rng(seed)
    return tuple(points[sampling.morton_order(points)] for points in (rng.random((n, 3)), rng.normal(0.5, 0.4, (m, 3))))


def apart(points, others, rows):
    return np.linalg.norm(points - others[rows], axis=1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (64, 1), (1, 200), (65, 63), (3000, 5000)])
def test_the_nearest_are_those_of_a_tree(device, n, m):
    points, others = clouds(n, n, m)
    expected, rows = cKDTree(others).query(points)
    found = nearest_rows(points, others, device)
    assert found.dtype == np.int64 and np.array_equal(found, rows)
    assert np.allclose(apart(points, others, found), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("device", DEVICES)
def test_parts_do_not_show(device, monkeypatch):
    points, others = clouds(1, 700, 900)
    whole = nearest_rows(points, others, device)
    monkeypatch.setitem(on_gpu.CELLS, device, 5000)
    assert np.array_equal(nearest_rows(points, others, device), whole)


@pytest.mark.parametrize("device", DEVICES)
def test_of_equally_near_ones_it_is_the_first(device):
    others = np.repeat(np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]), 100, axis=0)
    points = np.array([(0.9, 0.1, 0), (0.1, 0.1, 0), (0.5, 0, 0), (0.5, 0.5, 0)])
    assert nearest_rows(points, others, device).tolist() == [100, 0, 0, 0]


@examples(40)
@given(st.integers(0, 100_000), st.integers(1, 300), st.integers(1, 300), st.sampled_from([0.0, 1e-9, 1.0, 1e6]))
def test_any_points_in_any_order_get_their_nearest(seed, n, m, spread):
    rng = np.random.default_rng(seed)
    points, others = rng.normal(0, 1, (n, 3)), rng.integers(-2, 3, (m, 3)) * spread
    everything = cdist(points, others)
    found = apart(points, others, nearest_rows(points, others, "cpu"))
    assert np.allclose(found, everything.min(axis=1), rtol=1e-12, atol=0)


@pytest.mark.parametrize("card", DEVICES, indirect=True)
@pytest.mark.parametrize("shape", [box(), noisy(sphere(12), 0.1, 0), random_soup(3)], ids=["box", "sphere", "soup"])
def test_samples_are_those_of_the_processor_bit_for_bit(card, shape, monkeypatch):
    found = surface(shape.vertices, shape.faces, 0.0)
    points, faces = sampling.samples(found, 5000, 3)
    monkeypatch.setattr(sampling, "WORTH_A_CARD", 10**9)
    expected, in_faces = sampling.samples(found, 5000, 3)
    assert np.array_equal(points, expected)
    assert np.array_equal(faces, in_faces) and faces.dtype == in_faces.dtype == np.int32


@pytest.mark.parametrize("card", DEVICES, indirect=True)
@pytest.mark.parametrize("metric", ["chamfer_l1", "chamfer_l2", "mesh_fscore", "uhd"])
def test_metrics_give_the_processors_values(card, metric, monkeypatch):
    metric = with_defaults(metric)
    reference = sphere(10)
    prediction = moved(noisy(reference, 0.05, 1), (0.1, 0, 0))
    found = metric(pair(prediction, reference), n=4000)
    monkeypatch.setattr(graphics_card, "card", lambda: None)
    expected = metric(pair(prediction, reference), n=4000)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert dict(found.parts) == pytest.approx(dict(expected.parts), rel=1e-9)


def test_it_is_asked_only_where_both_sides_are_large(monkeypatch):
    monkeypatch.setattr(graphics_card, "card", lambda: pytest.fail("the card was asked"))
    few, many = Cloud(np.zeros((10, 3)), None), Cloud(np.zeros((20, 3)), None)
    monkeypatch.setattr(distances, "WORTH_A_CARD", 15)
    assert distances.nearest(many.points, few)[0].max() == 0.0
    assert distances.nearest(few.points, many)[0].max() == 0.0


FULL = [
    torch.OutOfMemoryError("CUDA out of memory"),
    RuntimeError("CUDA error: out of memory"),  # of the driver, where a process cannot even open the card
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
]


@pytest.mark.parametrize("error", FULL, ids=["torch", "driver", "library"])
@pytest.mark.parametrize("card", ["cpu"], indirect=True)
def test_a_full_card_leaves_it_to_the_processor_and_changes_no_bit(card, monkeypatch, error):
    def full(*given):
        raise error

    points, others = clouds(2, 100, 100)
    expected = distances.nearest(points, Cloud(others, None))
    drawn = sampling.samples(surface(box().vertices, box().faces, 0.0), 100)
    monkeypatch.setattr(on_gpu, "nearest_rows", full)
    monkeypatch.setattr(on_gpu, "placed", full)
    for found, before in zip(distances.nearest(points, Cloud(others, None)), expected, strict=True):
        assert np.array_equal(found, before)
    for found, before in zip(sampling.samples(surface(box().vertices, box().faces, 0.0), 100), drawn, strict=True):
        assert np.array_equal(found, before)


@pytest.mark.parametrize("card", ["cpu"], indirect=True)
def test_any_other_fault_of_a_card_is_not_hidden(card, monkeypatch):
    def broken(*given):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(on_gpu, "nearest_rows", broken)
    monkeypatch.setattr(on_gpu, "placed", broken)
    points, others = clouds(2, 100, 100)
    with pytest.raises(RuntimeError, match="illegal"):
        distances.nearest(points, Cloud(others, None))
    with pytest.raises(RuntimeError, match="illegal"):
        sampling.samples(surface(box().vertices, box().faces, 0.0), 100)


def test_everything_stays_on_the_card(monkeypatch):
    """On torch's device for shapes alone, which holds no numbers but refuses to mix its tensors with the processor's."""
    monkeypatch.setitem(on_gpu.CELLS, "meta", 1 << 20)
    place = torch.empty(3, 5, on_gpu.BLOCK, dtype=torch.float64, device="meta")
    blocks = on_gpu.Blocks(place, place.amin(2), place.amax(2))
    best = torch.empty(5, on_gpu.BLOCK, dtype=torch.float64, device="meta")
    rows, pairs = torch.empty_like(best, dtype=torch.int64), torch.arange(5, device="meta")
    on_gpu._measure(blocks, blocks, pairs, pairs, best, rows)
    found = [
        on_gpu._closest_centre(blocks, blocks),
        on_gpu._gap(blocks, blocks, slice(0, 3)),
        on_gpu._morton_order(torch.empty(100, 3, dtype=torch.float64, device="meta"), 1024),
    ]
    assert {tensor.device.type for tensor in found} == {"meta"} and found[1].dtype == torch.float64
    with pytest.raises(RuntimeError, match="device"):
        place + torch.empty(3, 5, on_gpu.BLOCK, dtype=torch.float64)


@pytest.mark.parametrize("card", ["cpu"], indirect=True)
def test_distances_are_the_trees_to_the_last_bit_but_one(card):
    points, others = clouds(4, 2000, 2000)
    found, _ = distances.nearest(points, Cloud(others, None))
    assert np.allclose(found, cKDTree(others).query(points)[0], rtol=5e-16, atol=0)

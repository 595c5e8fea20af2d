"""Encodings in pieces that fit, on the device that there is."""

import numpy as np
import pytest
import torch
from safetensors.torch import save

from evaluation.metrics.mesh.locase.alignment import shape
from evaluation.metrics.mesh.locase.network import LoCaSE, pooled
from evaluation.metrics.mesh.locase.sampling import sampling
from evaluation.metrics.mesh.locase.scoring import compared, encoding, ready
from evaluation.networks import inference
from evaluation.networks.inference import best_device
from evaluation.synthetic.meshes import mesh
from tests.support.evaluation.metrics.mesh.locase.simulated import brick, noisy

needs_a_card = pytest.mark.skipif(best_device().type == "cpu", reason="there is no graphics card")


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    made = LoCaSE()
    made.requires_grad_(False)
    return made


@pytest.fixture(scope="module")
def points():
    return (found := shape((whole := brick(1.8)).vertices, whole.faces)), sampling(found)


def with_room_for(monkeypatch, model, limit, error):
    """Let the encoder take at most `limit` patches; the list of how many it was given."""
    forward, given = model.encoder.forward, []

    def bounded(patches):
        given.append(len(patches))
        if len(patches) > limit:
            raise error
        return forward(patches)

    monkeypatch.setattr(model.encoder, "forward", bounded)
    return given


def test_out_of_memory_halves_the_piece_and_changes_no_number(model, points, monkeypatch):
    expected = encoding(model, *points)
    assert len(points[0].points) > 100
    given = with_room_for(monkeypatch, model, 100, torch.OutOfMemoryError("CUDA out of memory"))
    assert np.allclose(encoding(model, *points), expected, rtol=0, atol=1e-6)
    assert max(given) > 100 >= min(given)


def test_what_does_not_fit_in_the_smallest_piece_is_out_of_memory(model, points, monkeypatch):
    """The child's limit ends a job for good in this way: the next attempt would go the same way."""
    given = with_room_for(monkeypatch, model, 10, RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"))
    with pytest.raises(MemoryError):
        encoding(model, *points)
    assert min(given) > 10


def test_a_card_without_room_leaves_it_to_the_processor(model, points, monkeypatch):
    """The card is only pretended, by what the model says of where it is: it has no room for any piece."""
    expected = encoding(model, *points)
    where, moved = ["cuda"], []
    parameter = type("Parameter", (), {"device": property(lambda self: torch.device(where[0]))})()
    forward = model.encoder.forward

    def on_card(patches):
        if where[0] == "cuda":
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(patches)

    def to(device):
        where[0] = torch.device(device).type
        moved.append(where[0])
        return model

    given = torch.from_numpy
    monkeypatch.setattr(model, "parameters", lambda: iter([parameter]))
    monkeypatch.setattr(model, "to", to)
    monkeypatch.setattr(model.encoder, "forward", on_card)
    monkeypatch.setattr(torch, "from_numpy", lambda array: type("Sent", (), {"to": lambda self, device: given(array)})())
    assert np.allclose(encoding(model, *points), expected, rtol=0, atol=1e-6)
    assert moved == ["cpu"]


def test_weights_stay_with_the_processor_where_the_card_is_full(model, monkeypatch):
    to, asked = LoCaSE.to, []

    def full(self, device):
        asked.append(torch.device(device).type)
        if asked[-1] == "cuda":
            raise RuntimeError("CUDA error: out of memory")
        return to(self, device)

    monkeypatch.setattr(LoCaSE, "to", full)
    monkeypatch.setattr(inference, "best_device", lambda: torch.device("cuda"))
    assert {p.device.type for p in ready(save(model.state_dict())).parameters()} == {"cpu"} and asked == ["cuda", "cpu"]


@pytest.mark.parametrize("folded", [True, False])
def test_the_network_makes_nothing_beside_the_card(folded):
    """On torch's device for shapes alone, which holds no numbers but refuses to mix its tensors with the processor's."""
    made = LoCaSE().to("meta").requires_grad_(False)
    described = made.encoder(torch.empty(10, 64, 7, device="meta"), folded)
    encodings = pooled(described[None], torch.empty(1, 10, device="meta"))
    assert made.head(encodings, encodings).device.type == described.device.type == "meta"
    with pytest.raises(RuntimeError, match="device"):
        made.encoder(torch.empty(10, 64, 7), folded)


def test_any_other_error_is_not_taken_for_it(model, points, monkeypatch):
    given = with_room_for(monkeypatch, model, 0, RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes"):
        encoding(model, *points)
    assert len(given) == 1


def test_weights_are_put_on_the_best_device_without_gradients(model, monkeypatch):
    weights = save(model.state_dict())
    found = ready(weights)
    assert {p.device.type for p in found.parameters()} == {best_device().type} and [p for p in found.parameters() if p.requires_grad] == []
    monkeypatch.setattr(inference, "best_device", lambda: torch.device("meta"))
    assert {p.device.type for p in ready(weights).parameters()} == {"meta"}


@needs_a_card
def test_a_card_gives_the_processors_score_within_a_thousandth(model):
    whole = mesh("star", 1)
    hurt = noisy(whole, 2)
    scores = []
    for device in ("cpu", "cuda"):
        there = ready(save(model.state_dict())).to(device)
        reference, damaged = (shape(m.vertices, m.faces) for m in (whole, hurt))
        how = sampling(reference)
        scores.append(compared(there, encoding(there, damaged, how), encoding(there, reference, how)))
    assert scores[1] == pytest.approx(scores[0], rel=1e-3)

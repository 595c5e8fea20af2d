"""Encodings in pieces that fit, on the device that there is."""

import numpy as np
import pytest
import torch
from safetensors.torch import save

from evaluation.metrics.mesh.locase import scoring
from evaluation.metrics.mesh.locase.alignment import shape
from evaluation.metrics.mesh.locase.network import LoCaSE
from evaluation.metrics.mesh.locase.patches import Surroundings
from evaluation.metrics.mesh.locase.scoring import compared, encoding, ready
from evaluation.networks.inference import best_device
from evaluation.synthetic.meshes import mesh
from tests.evaluation.metrics.mesh.locase.made_up import brick, noisy

needs_a_card = pytest.mark.skipif(best_device().type == "cpu", reason="there is no graphics card")


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    made = LoCaSE()
    made.requires_grad_(False)
    return made


@pytest.fixture(scope="module")
def points():
    return (found := shape((whole := brick(1.8)).vertices, whole.faces)), Surroundings(found.points).radius()


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


def test_what_does_not_fit_in_the_smallest_piece_is_an_error(model, points, monkeypatch):
    given = with_room_for(monkeypatch, model, 10, torch.OutOfMemoryError("CUDA out of memory"))
    with pytest.raises(torch.OutOfMemoryError):
        encoding(model, *points)
    assert min(given) > 10


def test_any_other_error_is_not_taken_for_it(model, points, monkeypatch):
    given = with_room_for(monkeypatch, model, 0, RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes"):
        encoding(model, *points)
    assert len(given) == 1


def test_weights_are_put_on_the_best_device_without_gradients(model, monkeypatch):
    weights = save(model.state_dict())
    found = ready(weights)
    assert {p.device.type for p in found.parameters()} == {best_device().type} and not any(p.requires_grad for p in found.parameters())
    monkeypatch.setattr(scoring, "best_device", lambda: torch.device("meta"))
    assert {p.device.type for p in ready(weights).parameters()} == {"meta"}


@needs_a_card
def test_a_card_gives_the_processors_score_within_a_thousandth(model):
    whole = mesh("star", 1)
    hurt = noisy(whole, 2)
    scores = []
    for device in ("cpu", "cuda"):
        there = ready(save(model.state_dict())).to(device)
        reference, damaged = (shape(m.vertices, m.faces) for m in (whole, hurt))
        radius = Surroundings(reference.points).radius()
        scores.append(compared(there, encoding(there, damaged, radius), encoding(there, reference, radius)))
    assert scores[1] == pytest.approx(scores[0], rel=1e-3)

"""The map: beside the peer for every backbone, layers and weights, sizes, memory, and running out of it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from evaluation.metrics.render.puzzlesim import matching, similarity
from evaluation.metrics.render.puzzlesim.matching import Limits
from evaluation.metrics.render.puzzlesim.similarity import Budget, scene
from evaluation.networks.load import load
from tests.support.evaluation.metrics.render.puzzlesim.scenes import SETS, peer, picture, put_weights
from tests.support.evaluation.networks.full_card import full_card

KINDS = (None, torch.float32, torch.bfloat16)


class Ready(nn.Module):
    """A network whose features are given: three layers of one vector for each pixel of a picture's red channel."""

    def __init__(self, *tables):
        super().__init__()
        self.tables = [torch.tensor(table) for table in tables]
        self.features = self

    def walk(self, x, last=None):
        codes = (((x[:, 0] * 0.458 + 1 - 0.030) / 2) * 255).round().long()  # the normalisation undone
        for n in range(last + 1):
            yield self.tables[max(0, n - 2)][codes].permute(0, 3, 1, 2)


@pytest.mark.parametrize("net", list(SETS))
def test_parity_with_the_peer(monkeypatch, tmp_path, net):
    name = put_weights(monkeypatch, tmp_path, net)
    package, images = peer(monkeypatch, tmp_path), [picture(seed) for seed in range(4)]
    as_tensor = [torch.from_numpy(image).permute(2, 0, 1) / 255 for image in images]
    theirs = package.PuzzleSim(torch.stack(as_tensor[:3]), net_type=net)(as_tensor[3]).numpy()
    found = scene(load("backbone", name), images[:3], (96, 72))
    for kind in KINDS:
        ours = replace(found, kind=kind).map(images[3])
        assert ours.shape == theirs.shape == (72, 96) and 0.5 < theirs.mean() < 1
        assert np.abs(ours - theirs).max() <= 1e-4


def test_the_worked_combination_of_layers():
    """Layer similarities 1, 0.5 and 0 at a pixel give 0.67 · 1 + 0.20 · 0.5 + 0.13 · 0 = 0.77."""
    layers = [[[1.0, 0]] * 2, [[1.0, 0], [0.5, 0.75**0.5]], [[1.0, 0], [0, 1.0]]]
    one, other = np.zeros((2, 2, 3), np.uint8), np.ones((2, 2, 3), np.uint8)
    found = scene(Ready(*layers), [one], (2, 2))
    for kind in KINDS:
        assert replace(found, kind=kind).map(other) == pytest.approx(np.full((2, 2), 0.77), abs=1e-6)


def test_the_worked_toy_as_a_map():
    """Reference (1,0) (0,2) / (0,1) (1,1), test (3,0) (1,1) / (−1,0) (0,0): 1 1 / 0 0."""
    table = [[1.0, 0], [0, 2], [0, 1], [1, 1], [3, 0], [-1, 0], [0, 0]]
    reference, test = (np.array(codes, np.uint8)[..., None].repeat(3, -1) for codes in ([[0, 1], [2, 3]], [[4, 3], [5, 6]]))
    found = scene(Ready(table, table, table), [reference], (2, 2), screen=False).map(test)
    assert found == pytest.approx(np.array([[1, 1], [0, 0]]), abs=1e-6)


def test_corners_are_aligned_when_layers_are_enlarged(monkeypatch):
    monkeypatch.setattr(similarity, "features", lambda *_: [torch.zeros(1, 2, 2, 1)] * 3)
    monkeypatch.setattr(similarity, "best_match", lambda *_: torch.tensor([0.0, 1, 0, 1]))
    found = similarity.Scene(nn.Identity(), (None,) * 3, (2, 2)).map(np.zeros((2, 5, 3), np.uint8))
    assert found == pytest.approx(np.array([[0, 0.25, 0.5, 0.75, 1]] * 2), abs=1e-6)


def test_a_view_of_the_scene_itself_is_found_everywhere(monkeypatch, tmp_path):
    name = put_weights(monkeypatch, tmp_path, "squeeze")
    found = scene(load("backbone", name), [picture(0), picture(1)], (96, 72))
    for kind in KINDS:
        assert replace(found, kind=kind).map(picture(1)) == pytest.approx(np.ones((72, 96)), abs=1e-5)


def test_more_views_never_lower_the_map_and_a_painted_box_does(monkeypatch, tmp_path):
    network = load("backbone", put_weights(monkeypatch, tmp_path, "squeeze"))
    few, more = (scene(network, [picture(n) for n in range(count)], (96, 72), screen=False) for count in (2, 4))
    assert (more.map(picture(9)) >= few.map(picture(9)) - 1e-6).all()
    spoilt = picture(1)
    spoilt[20:50, 30:60] = np.random.default_rng(0).integers(0, 255, (30, 30, 3))
    found = few.map(spoilt)
    outside = np.ones_like(found, dtype=bool)
    outside[4:66, 14:76] = False
    assert found[25:45, 35:55].mean() < found[outside].mean() - 0.02


def test_more_features_than_may_be_held_lie_in_a_file_with_the_same_map(monkeypatch, tmp_path):
    network, images = load("backbone", put_weights(monkeypatch, tmp_path, "squeeze")), [picture(n) for n in range(3)]
    kept, filed = (
        scene(network, images, (96, 72), screen=False, budget=budget)
        for budget in (Budget(), Budget(features=1000, limits=Limits(chunk=5000)))
    )
    assert [type(layer).__name__ for layer in filed.layers] == ["InFile"] * 3
    assert filed.map(picture(7)) == pytest.approx(kept.map(picture(7)), abs=1e-6)


def test_what_is_held_of_a_file_does_not_grow_with_the_number_of_views(monkeypatch, tmp_path):
    """The largest pieces and products that are in memory at a time, with 2 and with 8 views."""
    network = load("backbone", put_weights(monkeypatch, tmp_path, "squeeze"))
    budget, largest = Budget(features=1000, limits=Limits(chunk=20_000, tile=(64, 64))), []
    multiply = matching._Product.__call__

    def watched(self, a, b):
        largest[-1] = max(largest[-1], b.numel() * b.element_size(), len(a) * len(b))
        return multiply(self, a, b)

    monkeypatch.setattr(matching._Product, "__call__", watched)
    for count in (2, 8):
        found = scene(network, [picture(n) for n in range(count)], (96, 72), screen=False, budget=budget)
        largest.append(0)
        found.map(picture(20))
        assert [
            (layer, piece) for layer in found.layers for piece, _ in layer.pieces(20_000) if not len(piece) * layer.channels * 4 <= 20_000
        ] == []
    assert largest[0] == largest[1]


def test_other_sizes_are_brought_to_the_working_size(monkeypatch, tmp_path):
    network = load("backbone", put_weights(monkeypatch, tmp_path, "squeeze"))
    found = scene(network, [picture(0, 192, 144)], (96, 72)).map(picture(1, 192, 144))
    assert found.shape == (144, 192) and np.isfinite(found).all()


def test_images_that_do_not_fit_on_the_card_together_are_taken_by_halves(monkeypatch, tmp_path):
    network = load("backbone", put_weights(monkeypatch, tmp_path, "squeeze"))
    images = [picture(n) for n in range(8)]
    plain = similarity.features(network, images, (96, 72))
    with full_card(monkeypatch, room=2, device=torch.device("cpu")) as refused:
        found = similarity.features(network, images, (96, 72))
    assert refused == [8, 4], "then two at a time"
    assert [(one, other) for one, other in zip(found, plain, strict=True) if not torch.allclose(one, other, atol=1e-6)] == []


def test_a_scene_needs_a_view(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="at least one clean view"):
        scene(load("backbone", put_weights(monkeypatch, tmp_path, "squeeze")), [], (96, 72))

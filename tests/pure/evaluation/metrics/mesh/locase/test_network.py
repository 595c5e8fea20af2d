"""The network: its arithmetic counted, its two ways of attention, its adapters."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from evaluation.metrics.mesh.locase.network import LoCaSE, pooled


def patches(n: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(n, 64, 7, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def model() -> LoCaSE:
    torch.manual_seed(1)
    return LoCaSE().requires_grad_(False)


def test_two_meshes_of_ten_thousand_vertices_take_the_published_arithmetic(model):
    """In one frame: every other frame that is averaged costs as much again."""
    with FlopCounterMode(display=False) as encoder:
        model.encoder(patches(10), folded=False)
    with FlopCounterMode(display=False) as head:
        model.head(torch.zeros(1, 512), torch.zeros(1, 512))
    total = (encoder.get_total_flops() * 2_000 + head.get_total_flops()) / 1e9
    assert total == pytest.approx(69.94, abs=0.05)
    assert total == pytest.approx(69.9372, abs=1e-4)
    assert sum(parameter.numel() for parameter in model.parameters()) == pytest.approx(0.44e6, rel=0.01)


def test_folded_attention_gives_the_same_numbers_for_much_less(model):
    with FlopCounterMode(display=False) as plain:
        expected = model.encoder(patches(50), folded=False)
    with FlopCounterMode(display=False) as folded:
        found = model.encoder(patches(50))
    assert torch.allclose(found, expected, atol=1e-5)
    assert folded.get_total_flops() < 0.4 * plain.get_total_flops()


def test_folded_attention_is_the_same_with_adapters_and_in_its_gradients(model):
    model.requires_grad_(True).double().adapt(0)
    model.double()
    for name, parameter in model.encoder.named_parameters():
        if name.endswith(".up"):
            parameter.data += 0.01
    gradients = []
    for folded in (True, False):
        model.zero_grad()
        model.encoder(patches(20).double(), folded=folded).square().mean().backward()
        gradients.append({name: p.grad for name, p in model.encoder.named_parameters() if p.requires_grad})
    assert set(gradients[0]) == {name for name in gradients[0] if name.endswith((".up", ".down"))} and len(gradients[0]) == 16
    for name, gradient in gradients[0].items():
        assert torch.allclose(gradient, gradients[1][name], rtol=1e-6, atol=1e-12), name


def test_adapters_start_without_effect_train_alone_and_merge_into_the_weights(model):
    before = model.encoder(patches(10))
    model.requires_grad_(True).adapt(4)
    assert torch.equal(model.encoder(patches(10)), before)
    free = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert [name for name in free if not (name.startswith("head.") or name.endswith((".up", ".down")))] == []
    assert model.encoder.wide.down.shape == (8, 96) and model.encoder.wide.up.shape == (330, 8)
    with torch.no_grad():
        model.encoder.wide.up += 0.1
    changed = model.encoder(patches(10))
    assert not torch.allclose(changed, before, atol=1e-3)
    expected = model.encoder.wide.weight + 16 / 8 * model.encoder.wide.up @ model.encoder.wide.down
    model.merge()
    assert torch.allclose(model.encoder(patches(10)), changed, atol=1e-6)
    assert torch.equal(model.encoder.wide.weight, expected) and set(model.state_dict()) == set(LoCaSE().state_dict())


def test_a_score_lies_between_one_and_five(model):
    many = model.head(torch.randn(200, 512), torch.randn(200, 512))
    assert many.min() >= 1 and many.max() <= 5
    assert model.head(100 * torch.randn(200, 512), torch.randn(200, 512)).min() >= 1


def test_a_score_falls_with_every_difference_and_nothing_beats_the_reference(model):
    generator = torch.Generator().manual_seed(0)
    reference, away = torch.randn(512, generator=generator), torch.randn(512, generator=generator)
    shares = torch.tensor([0.0, 0.001, 0.01, 0.1, 1.0])
    scores = model.head(reference + shares[:, None] * away, reference.expand(5, -1))
    assert scores[0] == 5 and (scores.diff() < 0).all()
    more = away * (1 + torch.rand(512, generator=generator))
    assert model.head((reference + 0.1 * more)[None], reference[None]) < scores[3]


def test_pooling_by_hand():
    described = torch.tensor([[1.0, -2.0], [3.0, 5.0]])
    assert pooled(described, torch.tensor([0.25, 0.75])).tolist() == [2.5, 3.25, 3.0, 5.0]


def test_the_order_of_the_neighbours_but_the_first_changes_nothing(model):
    given = patches(5)
    order = torch.cat([torch.tensor([0]), 1 + torch.randperm(63, generator=torch.Generator().manual_seed(2))])
    assert torch.allclose(model.encoder(given), model.encoder(given[:, order]), atol=1e-5)

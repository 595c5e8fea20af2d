"""Frames: bounds that hold whatever the axes, and axes that are chosen where they save work."""

import pytest
import torch

from evaluation.metrics.render.puzzlesim.bank import ALIGNED, EXTRA, Frame, InMemory, columns, operand
from tests.pure.evaluation.metrics.render.puzzlesim.test_matching import HALVES, KINDS, unit


def frame(mean, kept, seed=0):
    """With `kept` axes drawn at random: a bound must not need good ones."""
    drawn = torch.randn(len(mean), kept, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return Frame(mean, torch.linalg.qr(drawn).Q.float())


def test_worked_by_hand():
    """m = (½, ½, 0), one axis (1, 0, 0). a = (1, 0, 0), b = (0, 0, 1): a − m = (½, −½, 0), b − m = (−½, −½, 1); along the axis
    ½ and −½, left out ½ and √1.25. <a, b> = 0 is at most −¼ + √1.25 / 2 + ½ + 0 − ½ = 0.309."""
    found = Frame(torch.tensor([0.5, 0.5, 0]), torch.tensor([[1.0], [0], [0]]))
    a, b = torch.tensor([[1.0, 0, 0]]), torch.tensor([[0, 0, 1.0]])
    along, left_out = found.seen(torch.cat([a, b]))
    assert along.tolist() == [[0.5], [-0.5]] and left_out.tolist() == pytest.approx([0.5, 1.25**0.5], abs=1e-5)
    assert found.bounds(a, b).tolist() == [[pytest.approx(-0.25 + 1.25**0.5 / 2, abs=1e-5)]]


@pytest.mark.parametrize("kept", [1, 7, 40, 63, 64])
@pytest.mark.parametrize("spread", [3.0, 0.2, 0.001])
def test_no_product_is_above_its_bound(kept, spread):
    a, b = unit(200, 64, spread, 1), unit(300, 64, spread, 2)
    found = frame(b.mean(0), kept)
    assert (a.double() @ b.double().t() <= found.bounds(a, b).double() + 1e-6).all()


def test_with_all_channels_the_bound_is_the_product():
    a, b = unit(50, 32, 1.0, 1), unit(60, 32, 1.0, 2)
    assert torch.allclose(Frame(b.mean(0)).bounds(a, b), a @ b.t(), atol=1e-6)


def test_few_axes_are_kept_where_features_differ_in_few_directions():
    few, all_ways = InMemory(unit(3000, 256, 0.3, 1, varied=10)), InMemory(unit(3000, 256, 0.3, 1))
    assert few.frame.axes.shape == (256, 59)
    assert torch.allclose(few.frame.axes.t() @ few.frame.axes, torch.eye(59), atol=1e-6)
    assert all_ways.frame.axes is None, "where every direction tells as much as another, leaving some out leaves all open"


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_handful_of_features_has_a_frame(rows):
    layer = InMemory(unit(rows, 128, 0.5, 1))
    found = layer.frame.bounds(layer.sample, layer.sample)
    assert found.isfinite().all() and (found.diagonal() >= 1 - 1e-6).all()


@pytest.mark.parametrize("kind", KINDS)
def test_an_operand_is_aligned_and_rounds_up_what_is_left_out(kind):
    seen, left_out = torch.rand(100, 59), torch.rand(100)
    made = operand(seen, left_out, kind)
    assert made.shape == (100, columns(59)) and columns(59) % ALIGNED == 0 and columns(59) >= 59 + EXTRA
    assert (made[:, 59].float() >= left_out).all() and (made[:, 60:] == 0).all()
    assert torch.equal(made[:, :59], seen.to(kind)) and (kind in HALVES) == (made.dtype.itemsize == 2)

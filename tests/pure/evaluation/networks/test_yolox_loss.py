"""The detector's loss against an independent implementation, and the assignment by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from evaluation.networks import yolox, yolox_loss
from tests.pure.evaluation.networks.test_yolox import official_network, scramble

SIDE = 128


def crowded(count: int, seed: int) -> Tensor:
    """`count` objects of an image, some of them overlapping, some small."""
    generator = torch.Generator().manual_seed(seed)
    places = torch.rand(count, 2, generator=generator) * SIDE
    sizes = torch.rand(count, 2, generator=generator) * 60 + 6
    return torch.cat((torch.randint(0, 80, (count, 1), generator=generator).float(), places, sizes), dim=1)


@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp.autocast:FutureWarning")
@pytest.mark.parametrize("l1", [False, True])
def test_the_loss_and_its_gradient_are_those_of_an_independent_implementation(l1):
    theirs = official_network("yolox-nano")
    scramble(theirs)
    with torch.no_grad():
        for conv in theirs.head.reg_preds:
            conv.bias[2:] = 1.0  # larger boxes overlap more, so several cells answer for an object
    ours = yolox.build("yolox-nano")
    ours.load_state_dict(theirs.state_dict())
    images = torch.rand(3, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(3)) * 255
    objects = [crowded(7, 1), torch.zeros(0, 5), crowded(2, 2)]
    labels = torch.zeros(3, 10, 5)
    for image, found in enumerate(objects):
        labels[image, : len(found)] = found
    theirs.train()
    ours.train()
    theirs.head.use_l1 = l1
    total, iou, objectness, classes, absolute, _ = theirs.head(theirs.backbone(images), labels, images)
    total.backward()
    found = yolox_loss.loss(ours(images), objects, l1=l1)
    found.total.backward()
    for name, expected in (("total", total), ("iou", iou), ("objectness", objectness), ("classes", classes), ("l1", absolute)):
        assert float(getattr(found, name).detach()) == pytest.approx(float(torch.as_tensor(expected).detach()), rel=1e-4), name
    expected_gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    for name, parameter in ours.named_parameters():
        expected = expected_gradients[name]
        torch.testing.assert_close(parameter.grad, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max()) + 1e-7, msg=name)
    assert found.cells >= 9


def test_images_without_objects_only_teach_that_there_is_nothing():
    outputs = [torch.zeros(1, 6, 64 // stride, 64 // stride) for stride in yolox.STRIDES]
    found = yolox_loss.loss(outputs, [torch.zeros(0, 5)])
    assert found.cells == 0 and float(found.iou) == 0 and float(found.classes) == 0
    assert float(found.total) == pytest.approx((64 + 16 + 4) * 0.6931472, rel=1e-5)  # log 2 a cell


def test_an_object_is_answered_for_by_the_cells_around_its_centre():
    outputs = [torch.zeros(1, 7, 64 // stride, 64 // stride) for stride in yolox.STRIDES]
    cells = yolox_loss._cells(outputs)
    boxes = torch.cat((cells.centres, torch.full((84, 2), 16.0)), dim=1)
    objects = torch.tensor([[1.0, 20.0, 20.0, 16.0, 16.0]])
    found = yolox_loss.assign(objects, boxes, torch.zeros(84), torch.zeros(84, 2), cells)
    # At stride 8 nine cells lie less than 12 px off (12, 20, 28), at stride 16 four (8 and 24), at stride 32 one or more of 16 and 48.
    ious = torch.sort(found.ious, descending=True).values
    assert ious[0] == 1 and found.cells[2 * 8 + 2], "cell (2, 2) of stride 8 is centred on the object and has its size"
    # Overlaps of the ten best: 1, then 16 · 8 / (512 − 128) for four neighbours ... they add up to the number that answers.
    centres = cells.centres
    near = ((centres - 20).abs() < 1.5 * cells.strides).all(dim=1)
    overlap = (16 - (centres[near] - 20).abs()).clamp(min=0).prod(dim=1)
    expected = int(torch.sort(overlap / (512 - overlap), descending=True).values[:10].sum())
    assert int(found.cells.sum()) == expected == len(found.ious) >= 2
    assert bool(near[found.cells].all())


def test_a_cell_wanted_twice_answers_for_the_nearer_object():
    outputs = [torch.zeros(1, 6, 32 // stride, 32 // stride) for stride in yolox.STRIDES]
    cells = yolox_loss._cells(outputs)
    boxes = torch.cat((cells.centres, cells.strides.expand(-1, 2)), dim=1)
    objects = torch.tensor([[0.0, 12.0, 12.0, 8.0, 8.0], [0.0, 13.0, 13.0, 8.0, 8.0]])
    found = yolox_loss.assign(objects, boxes, torch.zeros(21), torch.zeros(21, 1), cells)
    at = int(torch.nonzero(torch.nonzero(found.cells)[:, 0] == 1 * 4 + 1)[0, 0])
    assert int(found.objects[at]) == 0 and float(found.ious[at]) == 1


def test_objects_outside_the_picture_are_left_alone():
    outputs = [torch.zeros(1, 6, 32 // stride, 32 // stride) for stride in yolox.STRIDES]
    found = yolox_loss.loss(outputs, [torch.tensor([[0.0, 500.0, 500.0, 8.0, 8.0]])])
    assert found.cells == 0 and torch.isfinite(found.total)


def test_a_network_learns_where_a_square_is():
    torch.manual_seed(0)
    network = yolox.build("yolox-nano", classes=1)
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    image = torch.full((1, 3, 64, 64), 30.0)
    image[:, :, 16:40, 8:32] = 220.0
    objects = [torch.tensor([[0.0, 20.0, 28.0, 24.0, 24.0]])]
    losses = []
    for _ in range(50):
        found = yolox_loss.loss(network(image), objects)
        optimiser.zero_grad()
        found.total.backward()
        optimiser.step()
        losses.append(float(found.total.detach()))
    assert losses[-1] < losses[0] / 2

"""The YOLOX network against an independent implementation with the same, random parameters; and loading its files.

The in-house detector: its levels, its size, and that it can be trained.

The detector's loss against an independent implementation, and the assignment by hand.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from evaluation.networks import load, yolox
from tests.support.evaluation import official
from tests.support.evaluation.networks import random_weights

# Millions of parameters, as published beside the models.
PUBLISHED = {"yolox-nano": 0.91, "yolox-tiny": 5.06, "yolox-s": 9.0, "yolox-m": 25.3, "yolox-l": 54.2, "yolox-x": 99.1}


def official_network(name: str) -> nn.Module:
    """The peer's detector of that size, made the way its own configuration makes it."""
    modules, size = official.yolox(), yolox.SIZES[name]
    network = nn.Module()
    network.backbone = modules.Pafpn(size.depth, size.width, depthwise=size.depthwise)
    network.head = modules.Head(80, size.width, depthwise=size.depthwise)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eps, module.momentum = 1e-3, 0.03
    return network.eval()


def noise(count: int, height: int, width: int, seed: int = 1) -> Tensor:
    """Pictures float32[count, 3, height, width] of pixels from 0 to 255."""
    return torch.rand(count, 3, height, width, generator=torch.Generator().manual_seed(seed)) * 255


def scramble(network: nn.Module, pictures: Tensor | None = None, seed: int = 0) -> None:
    """Random parameters, with the statistics of `pictures` (or noise) under them, so that what is seen reaches the end."""
    torch.manual_seed(seed)
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.8, 1.5)
        nn.init.normal_(norm.bias, std=0.3)
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        for conv in network.head.reg_preds:
            conv.weight *= 0.2  # boxes are exponentials of this
        network.head(network.backbone(noise(4, 96, 64) if pictures is None else pictures))
    for norm in norms:
        norm.momentum = 0.03
        norm.eval()


@pytest.mark.parametrize("name", yolox.SIZES)
def test_the_sizes_have_the_published_number_of_parameters(name):
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in yolox.build(name).parameters())
    assert count / 1e6 == pytest.approx(PUBLISHED[name], rel=0.005)


def compare_with_peer(name: str, tmp_path, monkeypatch) -> None:
    """Features and boxes of one size are those of the peer with the same parameters."""
    theirs = official_network(name)
    images = noise(4, 96, 64)
    scramble(theirs, images)
    random_weights.shelf(monkeypatch, tmp_path)
    path = random_weights.put(monkeypatch, name, {"start_epoch": 300, "best_ap": np.float64(0.4), "model": theirs.state_dict()})
    ours = load.load("yolox", name)
    load.forget()
    path.unlink()  # hundreds of megabytes
    assert set(ours.state_dict()) == set(theirs.state_dict())
    images = images[:2]  # of those the statistics are of: others would be amplified without end
    with torch.no_grad():
        single = ours.features(images, "dark5")
        # Untrained layers amplify rounding from one to the next; in double precision what is left is the architecture.
        images, ours, theirs = images.double(), ours.double(), theirs.double()
        expected = (*theirs.backbone.backbone(images).values(), *theirs.backbone(images))
        boxes = theirs.head(expected[3:])
        for level, wanted in zip(yolox.LEVELS, expected, strict=True):
            found, none = ours.looked_at(images, level)
            assert none is None
            torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-6)
            assert (wanted[0] - wanted[1]).std() > 0.1, "the pictures must make a difference"
        torch.testing.assert_close(yolox.decoded(ours(images)), boxes, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(ours.looked_at(images, "dark5", detect=True)[1], boxes, rtol=1e-6, atol=1e-6)
    assert (boxes[0] - boxes[1]).std() > 0.1
    assert (single - expected[2]).norm() < 1e-4 * expected[2].norm()


@pytest.mark.parametrize("name", ["yolox-nano", "yolox-s"])  # the larger ones: tests/nightly
def test_features_and_boxes_are_those_of_an_independent_implementation(name, tmp_path, monkeypatch):
    compare_with_peer(name, tmp_path, monkeypatch)


def test_an_untrained_head_finds_nothing_probable():
    network = yolox.build("yolox-nano").eval()
    with torch.no_grad():
        scores = yolox.decoded(network(torch.full((1, 3, 64, 64), 114.0)))[..., 4:]
    assert torch.allclose(scores, torch.tensor(0.01), atol=0.01)


def test_boxes_are_decoded_by_hand():
    outputs = [torch.zeros(1, 6, 64 // stride, 96 // stride) for stride in yolox.STRIDES]
    outputs[1][0, :, 1, 2] = torch.tensor([0.5, -0.25, np.log(2), np.log(3), 0.0, np.log(3)])
    boxes = yolox.decoded(outputs)[0]
    assert boxes.shape == (8 * 12 + 4 * 6 + 2 * 3, 6)
    # Cell (1, 2) of stride 16: the centre is at ((2 + 0.5) 16, (1 - 0.25) 16), the size (2, 3) 16.
    torch.testing.assert_close(boxes[96 + 1 * 6 + 2], torch.tensor([40.0, 12.0, 32.0, 48.0, 0.5, 0.75]))
    torch.testing.assert_close(boxes[0], torch.tensor([0.0, 0.0, 8.0, 8.0, 0.5, 0.5]))


def test_another_backbone_can_stand_in():
    class Small(nn.Module):
        channels = (8, 12, 20)

        def __init__(self):
            super().__init__()
            self.convs = nn.ModuleList([nn.Conv2d(3, 8, 8, 8), nn.Conv2d(8, 12, 2, 2), nn.Conv2d(12, 20, 2, 2)])

        def forward(self, x):
            levels = []
            for conv in self.convs:
                levels.append(x := conv(x))
            return tuple(levels)

    network = yolox.Yolox(Small(), classes=7, channels=(16, 24, 32), hidden=16, blocks=1).eval()
    features, boxes = network.looked_at(torch.rand(1, 3, 64, 64), "dark5", detect=True)
    assert features.shape == (1, 20, 2, 2) and boxes.shape == (1, 84, 12)
    assert network.features(torch.rand(1, 3, 64, 64), "p4").shape == (1, 24, 4, 4)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="yolox-nano"):
        yolox.build("yolox-xxl")
    with pytest.raises(ValueError, match="dark3"):
        yolox.build("yolox-nano").features(torch.zeros(1, 3, 64, 64), "dark1")


def test_its_levels_have_the_strides_of_the_published_ones():
    network = yolox.build_small(9).eval()
    with torch.no_grad():
        shapes = [tuple(network.features(torch.zeros(1, 3, 96, 64), level).shape) for level in yolox.LEVELS]
        boxes = yolox.decoded(network(torch.zeros(1, 3, 96, 64)))
    assert shapes == [(1, 256, 12, 8), (1, 512, 6, 4), (1, 512, 3, 2), (1, 48, 12, 8), (1, 96, 6, 4), (1, 128, 3, 2)]
    assert boxes.shape == (1, 96 + 24 + 6, 14)


def test_it_is_of_squeezenets_size():
    state = yolox.build_small(9).state_dict()
    assert sum(value.numel() * value.element_size() for value in state.values()) < 6.6e6  # bytes, as shipped


def test_gradients_reach_every_parameter():
    torch.manual_seed(0)
    network = yolox.build_small(3)
    images = torch.rand(2, 3, 64, 64) * 255
    yolox.loss(network(images), [torch.tensor([[1.0, 30.0, 30.0, 20.0, 24.0]]), torch.zeros(0, 5)]).total.backward()
    levels = [name for name, parameter in network.named_parameters() if parameter.grad is None]
    assert levels == []
    assert all(torch.isfinite(parameter.grad).all() for parameter in network.parameters())


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
    found = yolox.loss(ours(images), objects, l1=l1)
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
    found = yolox.loss(outputs, [torch.zeros(0, 5)])
    assert found.cells == 0 and float(found.iou) == 0 and float(found.classes) == 0
    assert float(found.total) == pytest.approx((64 + 16 + 4) * 0.6931472, rel=1e-5)  # log 2 a cell


def test_an_object_is_answered_for_by_the_cells_around_its_centre():
    outputs = [torch.zeros(1, 7, 64 // stride, 64 // stride) for stride in yolox.STRIDES]
    cells = yolox._cells(outputs)
    boxes = torch.cat((cells.centres, torch.full((84, 2), 16.0)), dim=1)
    objects = torch.tensor([[1.0, 20.0, 20.0, 16.0, 16.0]])
    found = yolox.assign(objects, boxes, torch.zeros(84), torch.zeros(84, 2), cells)
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
    cells = yolox._cells(outputs)
    boxes = torch.cat((cells.centres, cells.strides.expand(-1, 2)), dim=1)
    objects = torch.tensor([[0.0, 12.0, 12.0, 8.0, 8.0], [0.0, 13.0, 13.0, 8.0, 8.0]])
    found = yolox.assign(objects, boxes, torch.zeros(21), torch.zeros(21, 1), cells)
    at = int(torch.nonzero(torch.nonzero(found.cells)[:, 0] == 1 * 4 + 1)[0, 0])
    assert int(found.objects[at]) == 0 and float(found.ious[at]) == 1


def test_objects_outside_the_picture_are_left_alone():
    outputs = [torch.zeros(1, 6, 32 // stride, 32 // stride) for stride in yolox.STRIDES]
    found = yolox.loss(outputs, [torch.tensor([[0.0, 500.0, 500.0, 8.0, 8.0]])])
    assert found.cells == 0 and torch.isfinite(found.total)

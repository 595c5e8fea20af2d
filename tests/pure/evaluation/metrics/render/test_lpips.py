"""LPIPS against the two packages that people use, all with the same random files in the published formats."""

import numpy as np
import pytest
import torch

from evaluation.metrics.render import lpips
from evaluation.metrics.result import Status
from evaluation.networks import load, weights
from tests.support.evaluation import official
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.examples import blurred, noisy, pair
from tests.support.evaluation.metrics.render.pictures import blobs
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.networks.full_card import full_card

lpips_alex = with_defaults("lpips_alex")
lpips_squeeze = with_defaults("lpips_squeeze")
lpips_squeeze_mask = with_defaults("lpips_squeeze@mask")

FILES = {"alex": "alexnet", "vgg": "vgg16", "squeeze": "squeezenet1_1"}
PICTURE = blobs(66, 80)
SPOILT = noisy(blurred(PICTURE, 1), 12)


@pytest.fixture(autouse=True)
def shelf(monkeypatch, tmp_path):
    load.forget()
    yield random_weights.shelf(monkeypatch, tmp_path)
    load.forget()


@pytest.fixture
def published(monkeypatch):
    """Puts random files of a network and of its channels where fetched ones lie; returns both paths."""

    def put(network: str):
        files = random_weights.put(monkeypatch, FILES[network], random_weights.backbone(FILES[network]))
        return files, random_weights.put(monkeypatch, f"lpips-{network}", random_weights.head(network))

    return put


def metric(name: str):
    return with_defaults(name)


def theirs(package, network: str, paths, **options):
    """The package's own network with its own loading of both files: torchvision's cache holds ours under the published name."""
    backbone, head = paths
    hub = backbone.parent / "hub" / "checkpoints"
    hub.mkdir(parents=True)
    (hub / backbone.name).symlink_to(backbone)
    before = torch.hub.get_dir()
    torch.hub.set_dir(str(hub.parent))
    try:
        return package(net=network, model_path=str(head), **options).eval()
    finally:
        torch.hub.set_dir(before)


def planes(image: np.ndarray) -> torch.Tensor:
    return torch.tensor(image.transpose(2, 0, 1)[None] / 255).float()


@pytest.mark.parametrize("network", ["alex", "vgg", "squeeze"])
def test_agrees_with_the_lpips_package_and_torchmetrics_as_number_and_as_map(published, network):
    package = official.with_torchvision("lpips")
    torchmetrics = official.with_torchvision("torchmetrics.functional.image.lpips")
    paths = published(network)
    one, other = planes(SPOILT), planes(PICTURE)
    original = theirs(package.LPIPS, network, paths, verbose=False, spatial=True)
    with torch.inference_mode():
        their_map = original(one, other, normalize=True)[0, 0].numpy()
        original.spatial = False
        value = float(original(one, other, normalize=True))
    mine = metric(f"lpips_{network}")(pair(SPOILT, PICTURE), weights="v0.1").value
    assert value > 0.05 and mine == pytest.approx(value, abs=1e-4)
    assert np.abs(lpips.distance(SPOILT, PICTURE, f"lpips_{network}", "v0.1", spatial=True) - their_map).max() < 1e-4
    (paths[0].parent / "hub" / "checkpoints" / paths[0].name).unlink()
    (paths[0].parent / "hub" / "checkpoints").rmdir()
    (paths[0].parent / "hub").rmdir()
    other_package = theirs(torchmetrics._LPIPS, network, paths)
    with torch.inference_mode():
        assert mine == pytest.approx(float(other_package(one, other, normalize=True)), abs=1e-4)


@pytest.mark.parametrize("network", ["alex", "vgg", "squeeze"])
def test_cut_into_tiles_an_image_has_the_distance_of_the_whole(published, monkeypatch, network):
    published(network)
    asked = [(f"lpips_{network}", "v0.1", spatial) for spatial in (False, True)]
    whole = [lpips.distance(SPOILT, PICTURE, *one) for one in asked]
    monkeypatch.setattr(lpips, "TILE", 40)
    for one, expected in zip(asked, whole, strict=True):
        assert np.abs(lpips.distance(SPOILT, PICTURE, *one) - expected).max() <= 1e-6
        assert not lpips.distance(PICTURE, PICTURE, *one).any()


def test_what_a_layer_makes_at_a_time_does_not_grow_with_the_image(published, monkeypatch):
    published("squeeze")
    monkeypatch.setattr(lpips, "TILE", 96)
    made: list[int] = []
    for layer in load.load("lpips_squeeze", "v0.1").features:
        layer.register_forward_hook(lambda layer, given, out: made.append(out.numel()))
    largest = []
    for width in (576, 960):
        lpips.distance(blobs(96, width), blobs(96, width, seed=1), "lpips_squeeze", "v0.1")
        largest.append(max(made))
        made.clear()
    assert largest[0] == largest[1]


def test_by_hand_on_the_first_tap_of_squeezenet(published):
    """The definition written out with plain arrays for one tap, all other channels' weights being 0."""
    state = random_weights.head("squeeze")
    published("squeeze")
    network = load.load("lpips_squeeze", "v0.1")
    for n in range(1, 7):
        network.heads[n].data.zero_()
    shift, scale = _column((-0.030, -0.088, -0.188)), _column((0.458, 0.448, 0.450))
    with torch.inference_mode():
        features = [network.features(((2 * planes(image) - 1) - shift) / scale, last=0)[0][0] for image in (SPOILT, PICTURE)]
    x, y = (values.numpy().astype(np.float64) for values in features)
    x, y = (values / (np.sqrt((values**2).sum(0)) + 1e-10) for values in (x, y))
    expected = (state["lin0.model.1.weight"].numpy().reshape(-1, 1, 1) * (x - y) ** 2).sum(0).mean()
    assert lpips_squeeze(pair(SPOILT, PICTURE), "v0.1").value == pytest.approx(expected, rel=1e-5)


def _column(values):
    return torch.tensor(values).view(1, 3, 1, 1)


@pytest.mark.parametrize("network", ["alex", "squeeze"])
def test_identity_symmetry_and_order(published, network):
    published(network)
    compute = metric(f"lpips_{network}")
    assert compute(pair(PICTURE, PICTURE), "v0.1").value == 0.0
    assert compute(pair(SPOILT, PICTURE), "v0.1").value == pytest.approx(compute(pair(PICTURE, SPOILT), "v0.1").value, rel=1e-6)
    for damage in (blurred, noisy):
        amounts = [compute(pair(damage(PICTURE, amount), PICTURE), "v0.1").value for amount in (1, 3, 9)]
        assert amounts == sorted(amounts) and len(set(amounts)) == 3


def test_the_mask_averages_the_map(published):
    published("squeeze")
    mask = np.zeros(PICTURE.shape[:2], bool)
    mask[10:40, 20:60] = True
    found = lpips_squeeze_mask(pair(SPOILT, PICTURE, mask), "v0.1").value
    assert found == pytest.approx(lpips.distance(SPOILT, PICTURE, "lpips_squeeze", "v0.1", spatial=True)[mask].mean(), rel=1e-6)
    assert lpips_squeeze_mask(pair(SPOILT, PICTURE), "v0.1").status == Status.NOT_APPLICABLE
    assert lpips_squeeze_mask(pair(None, PICTURE, ~mask & mask), "v0.1").status == Status.EMPTY_MASK
    assert lpips_squeeze_mask(pair(None, PICTURE, mask), "v0.1").status == Status.MISSING_PRED


def test_small_images_do_not_apply_and_missing_ones_are_missing():
    small = PICTURE[:63]
    for compute in (lpips_alex, with_defaults("lpips_alex@mask")):
        assert compute(pair(small, small, np.ones(small.shape[:2], bool)), "v0.1").status == Status.NOT_APPLICABLE
    assert lpips_alex(pair(None, PICTURE), "v0.1").status == Status.MISSING_PRED
    assert lpips_alex(pair(PICTURE[:65], PICTURE), "v0.1").status == Status.SIZE_MISMATCH


def test_without_its_files_it_never_computes():
    with pytest.raises(weights.WeightsError, match="fetch_weights alexnet lpips-alex"):
        lpips_alex(pair(SPOILT, PICTURE), "v0.1")


@pytest.mark.parametrize("network", ["alex", "vgg", "squeeze"])
def test_two_images_for_which_a_card_has_no_room_are_compared_without_it(published, monkeypatch, network):
    published(network)
    for spatial in (False, True):
        plain = lpips.distance(SPOILT, PICTURE, f"lpips_{network}", "v0.1", spatial)
        with full_card(monkeypatch) as refused:
            assert np.array_equal(lpips.distance(SPOILT, PICTURE, f"lpips_{network}", "v0.1", spatial), plain)
        assert refused == [1]

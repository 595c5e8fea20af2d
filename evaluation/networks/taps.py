"""A stack of layers that hands out what stands at several places of it, not only at its end."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from evaluation.networks.tiles import Tile


class Taps(nn.Sequential):
    """Layers in order, with `taps`: after how many of them a feature map is handed out, ascending.

    The layers' names in a state dict are their numbers, as in any nn.Sequential.
    """

    def __init__(self, layers: list[nn.Module], taps: tuple[int, ...]) -> None:
        super().__init__(*layers)
        self.taps = taps

    def walk(self, x: Tensor, last: int | None = None, tile: Tile | None = None) -> Iterator[Tensor]:
        """The feature map at each tap, one after the other, so that none need be kept longer than it is looked at.

        `x` is float32[B, C, H, W]. Layers behind tap number `last` (from 0; None: the last one) are not computed. With a
        `tile` only its part of each map is computed and handed out.
        """
        end = self.taps[-1 if last is None else last]
        for count, layer in enumerate(self, start=1):
            x = layer(x) if tile is None else tile.apply(count - 1, layer, x)
            if count in self.taps:
                yield x if tile is None else tile.own(count - 1, x)
            if count == end:
                return

    def forward(self, x: Tensor, last: int | None = None) -> list[Tensor]:
        """All that `walk` gives, as a list."""
        return list(self.walk(x, last))

    def everything(self, x: Tensor) -> Tensor:
        """The output of the last layer."""
        for layer in self:
            x = layer(x)
        return x

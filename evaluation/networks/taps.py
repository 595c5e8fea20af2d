"""A stack of layers that hands out what stands at several places of it, not only at its end."""

from __future__ import annotations

from torch import Tensor, nn


class Taps(nn.Sequential):
    """Layers in order, with `taps`: after how many of them a feature map is handed out, ascending.

    The layers' names in a state dict are their numbers, as in any nn.Sequential.
    """

    def __init__(self, layers: list[nn.Module], taps: tuple[int, ...]) -> None:
        super().__init__(*layers)
        self.taps = taps

    def forward(self, x: Tensor, last: int | None = None) -> list[Tensor]:
        """float32[B, C, H, W] -> the feature map at each tap, up to tap number `last` (from 0; None: all of them).

        Layers behind the last tap that is asked for are not computed.
        """
        wanted = self.taps if last is None else self.taps[: last + 1]
        found = []
        for count, layer in enumerate(self, start=1):
            x = layer(x)
            if count in wanted:
                found.append(x)
            if count == wanted[-1]:
                break
        return found

    def everything(self, x: Tensor) -> Tensor:
        """What comes out of the last layer."""
        for layer in self:
            x = layer(x)
        return x

"""DINOv2's ViT-B/14 (Oquab et al., 2023), with the parameter names of its publisher's file. For images of its own side only."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

EPS = 1e-6  # of every layer norm


@dataclass(frozen=True)
class Size:
    """The shape of one of the published networks; `side` is the side, in pixels, of the images that its embedding of places was made
    for."""

    width: int = 768
    layers: int = 12
    heads: int = 12
    patch: int = 14
    side: int = 518

    @property
    def patches(self) -> int:
        return (self.side // self.patch) ** 2


BASE = Size()


class PatchEmbedding(nn.Module):
    """One vector for each patch of an image, row by row."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.proj = nn.Conv2d(3, size.width, size.patch, stride=size.patch)

    def forward(self, x: Tensor) -> Tensor:
        return self.proj(x).flatten(2).transpose(1, 2)


class Attention(nn.Module):
    """Self-attention of all tokens with all."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, width = x.shape
        query, key, value = self.qkv(x).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(query * (width // self.heads) ** -0.5 @ key.transpose(-1, -2), dim=-1)
        return self.proj((weights @ value).transpose(1, 2).reshape(batch, tokens, width))


class Mlp(nn.Module):
    """Two linear layers with a GELU between them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(nn.functional.gelu(self.fc1(x)))


class LayerScale(nn.Module):
    """A learned factor for each channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gamma


class Block(nn.Module):
    """Attention and two linear layers, each behind a layer norm, scaled, and added to what went in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.attn, self.ls1 = nn.LayerNorm(width, EPS), Attention(width, heads), LayerScale(width)
        self.norm2, self.mlp, self.ls2 = nn.LayerNorm(width, EPS), Mlp(width), LayerScale(width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class Dinov2(nn.Module):
    """Images float32[B, 3, side, side], normalised as ImageNet's, to tokens float32[B, 1 + patches, width]: the class token, then the
    patches' tokens row by row, after the last layer norm.

    The token for masked patches, which the publisher's file has too, plays no part where nothing is masked.
    """

    def __init__(self, size: Size = BASE) -> None:
        super().__init__()
        self.size = size
        self.cls_token = nn.Parameter(torch.empty(1, 1, size.width))
        self.pos_embed = nn.Parameter(torch.empty(1, 1 + size.patches, size.width))
        self.patch_embed = PatchEmbedding(size)
        self.blocks = nn.ModuleList(Block(size.width, size.heads) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width, EPS)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-2:] != (self.size.side, self.size.side):
            raise ValueError(f"DINOv2 is given images of {self.size.side} by {self.size.side} pixels here, not {tuple(x.shape[-2:])}")
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), self.patch_embed(x)], dim=1) + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.norm(x)

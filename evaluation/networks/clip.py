"""CLIP ViT-B/32 (Radford et al., 2021): its towers of images and of texts, with the parameter names of open_clip's and OpenAI's files.

In those files the tower of images is below `visual.`; both are made of the same blocks.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from evaluation.networks.clip_tokens import PLACES, VOCABULARY, Tokenizer

SIDE, PATCH = 224, 32
WIDTH, LAYERS, HEADS = 768, 12, 12
CHANNELS = 512
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


class QuickGELU(nn.Module):
    """x·σ(1.702x), with which OpenAI's weights were trained."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(1.702 * x)


class Attention(nn.Module):
    """Self-attention of all places with all, with the parameters of nn.MultiheadAttention.

    `mask` float32[places, places], where it is given, is added to what the softmax gets: −∞ where a place must not look.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        batch, places, width = x.shape
        projected = F.linear(x, self.in_proj_weight, self.in_proj_bias)
        query, key, value = projected.reshape(batch, places, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        alike = query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5
        weights = torch.softmax(alike if mask is None else alike + mask, dim=-1)
        return self.out_proj((weights @ value).transpose(1, 2).reshape(batch, places, width))


class Block(nn.Module):
    """Attention and two linear layers, each behind a layer norm and added to what went in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.mlp = nn.Sequential()
        self.mlp.add_module("c_fc", nn.Linear(width, 4 * width))
        self.mlp.add_module("gelu", QuickGELU())
        self.mlp.add_module("c_proj", nn.Linear(4 * width, width))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.attn(self.ln_1(x), mask)
        return x + self.mlp(self.ln_2(x))


class Transformer(nn.Module):
    """The blocks, under the name that the files give them."""

    def __init__(self, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.resblocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for block in self.resblocks:
            x = block(x, mask)
        return x


class ClipImageTower(nn.Module):
    """Images float32[B, 3, 224, 224], normalised with MEAN and STD, to float32[B, 512]; not brought to length 1."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH, bias=False)
        self.class_embedding = nn.Parameter(torch.empty(WIDTH))
        self.positional_embedding = nn.Parameter(torch.empty((SIDE // PATCH) ** 2 + 1, WIDTH))
        self.ln_pre, self.ln_post = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.transformer = Transformer(WIDTH, LAYERS, HEADS)
        self.proj = nn.Parameter(torch.empty(WIDTH, CHANNELS))

    def forward(self, x: Tensor) -> Tensor:
        patches = self.conv1(x).flatten(2).transpose(1, 2)
        first = self.class_embedding.expand(len(x), 1, -1)
        x = self.ln_pre(torch.cat([first, patches], dim=1) + self.positional_embedding)
        return self.ln_post(self.transformer(x)[:, 0]) @ self.proj


TEXT_WIDTH, TEXT_LAYERS, TEXT_HEADS = 512, 12, 8


class ClipTextTower(nn.Module):
    """Numbers of pieces int64[B, 77], as `Tokenizer.numbers` gives them, to float32[B, 512]; not brought to length 1.

    A place attends to itself and to those before it, so text after the end changes nothing. `tokenizer` has the vocabulary that the weights
    were trained with; the code that loads the tower sets it.
    """

    tokenizer: Tokenizer

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(VOCABULARY, TEXT_WIDTH)
        self.positional_embedding = nn.Parameter(torch.empty(PLACES, TEXT_WIDTH))
        self.transformer = Transformer(TEXT_WIDTH, TEXT_LAYERS, TEXT_HEADS)
        self.ln_final = nn.LayerNorm(TEXT_WIDTH)
        self.text_projection = nn.Parameter(torch.empty(TEXT_WIDTH, CHANNELS))

    def forward(self, numbers: Tensor) -> Tensor:
        behind = torch.full((PLACES, PLACES), float("-inf"), device=numbers.device).triu(1)
        x = self.ln_final(self.transformer(self.token_embedding(numbers) + self.positional_embedding, behind))
        ends = numbers.argmax(dim=-1)  # the end of a text has the highest number of all
        return x[torch.arange(len(x), device=x.device), ends] @ self.text_projection

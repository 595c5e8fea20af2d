"""The text tower of CLIP ViT-B/32 (Radford et al., 2021), with the parameter names of open_clip's and OpenAI's files."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from evaluation.networks.clip_tokens import PLACES, VOCABULARY, Tokenizer
from evaluation.networks.clip_vit import CHANNELS, Transformer

WIDTH, LAYERS, HEADS = 512, 12, 8


class ClipTextTower(nn.Module):
    """Numbers of pieces int64[B, 77], as `Tokenizer.numbers` gives them, to float32[B, 512]; not brought to length 1.

    A place looks at those before it and at itself, so what stands behind a text's end changes nothing. `tokenizer` is that
    of the vocabulary which the weights were trained with; whoever loads the tower sets it.
    """

    tokenizer: Tokenizer

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.positional_embedding = nn.Parameter(torch.empty(PLACES, WIDTH))
        self.transformer = Transformer(WIDTH, LAYERS, HEADS)
        self.ln_final = nn.LayerNorm(WIDTH)
        self.text_projection = nn.Parameter(torch.empty(WIDTH, CHANNELS))

    def forward(self, numbers: Tensor) -> Tensor:
        behind = torch.full((PLACES, PLACES), float("-inf"), device=numbers.device).triu(1)
        x = self.ln_final(self.transformer(self.token_embedding(numbers) + self.positional_embedding, behind))
        ends = numbers.argmax(dim=-1)  # the end of a text has the highest number of all
        return x[torch.arange(len(x), device=x.device), ends] @ self.text_projection

"""`clip_sim_text`: how well a picture of a generated object fits its prompt to CLIP (Radford et al., 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.metrics import papers
from evaluation.metrics.papers import Origin
from evaluation.metrics.render.clip_sim import cosine, embeddings, of_render
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.shared import for_all
from evaluation.metrics.spec import PRECISION, MetricSpec, Source, published
from evaluation.metrics.tolerance import OF_NETWORKS
from evaluation.networks import weights as stored
from evaluation.networks.precision import FLOAT32, current

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from evaluation.metrics.render.pair import RenderPair

NETWORK = "clip_text"
CUT = "prompt_cut"  # the flag of a text that is longer than CLIP reads


@lru_cache(maxsize=1024)  # a prompt has many views, and often many seeds
def embedding(prompt: str, weights: str, sha256: str | None, precision: str = FLOAT32) -> tuple[np.ndarray, np.ndarray]:
    """float64[512]: what CLIP's text tower makes of a prompt; and bool[1]: whether it had to be cut.

    `sha256` is the digest of the weights, which are read again if it differs; `precision` is the one of the computation.
    """
    import torch

    from evaluation.networks.inference import in_batches
    from evaluation.networks.load import load

    def compute(device: torch.device, numbers: Tensor) -> Tensor:
        return load(NETWORK, weights, device)(numbers)

    tokenizer: Any = load(NETWORK, weights).tokenizer
    (found,) = in_batches(compute, [torch.tensor(tokenizer.numbers(prompt))], batch=1)
    return found.numpy().astype(np.float64), np.array([tokenizer.is_cut(prompt)])


def clip_sim_text(pair: RenderPair, weights: str) -> MetricResult:
    """The cosine of the render's embedding and its prompt's; the prompt's is found once for all its views."""
    prompt = pair.reference.prompt.strip()
    if not prompt:
        return MetricResult(None, Status.NOT_APPLICABLE, ("no_prompt",))
    if pair.missing and not pair.preparing:  # a view that has nothing but its prompt cannot be its own render
        return pair.missing
    sha256 = stored.digest(NETWORK, weights)
    text, cut = pair.reference_once(f"clip text {weights} {sha256}", lambda: embedding(prompt, weights, sha256, current()))
    value = 0.0 if pair.preparing else cosine(of_render(pair, weights), text)
    return MetricResult(value, flags=(CUT,) if cut[0] else ())


def ahead(pairs: Sequence[RenderPair], weights: str) -> None:
    """Embeddings of several pairs' renders together."""
    usable = [pair for pair in pairs if pair.reference.prompt.strip() and not pair.missing]
    for_all(usable, ("clip", weights), lambda some: embeddings([one.pred for one in some], weights))


PLACE = 50  # in lists of metrics of its kind
SPECS = (
    MetricSpec(
        key="clip_sim_text",
        title="CLIP text similarity",
        family="render",
        higher_is_better=True,
        bounds=(-1.0, 1.0),
        unit="",
        params=(
            published(
                NETWORK, "OpenAI's weights, with the vocabulary of their text encoder. The papers do not name the network.", Source.OURS
            ),
            PRECISION,
        ),
        worst="0",
        doc="How well the views of a generated object fit its prompt: the cosine of the CLIP ViT-B/32 embeddings of view and text, "
        "averaged over the object's views. No reference image is needed, but the reference must hold prompts; an object without one has "
        "no value. CLIP reads at most 77 tokens of a text, start and end included. Views that fit well reach only about 0.3, so compare "
        "entries with each other, and only at the same views.",
        origin=Origin(
            (papers.CLIP, papers.GPTEVAL3D),
            "text compared with views, as in the baseline of GPTEval3D, which takes 30 views around the object",
        ),
        function=clip_sim_text,
        ahead=ahead,
        needs=("prompt",),
        weights=NETWORK,
        tolerance=OF_NETWORKS,
        formula="mean over views: cos(e(x), t(p)), e the embedding of the view's middle square, brought to 224 px, and t that of the "
        "prompt",
    ),
)

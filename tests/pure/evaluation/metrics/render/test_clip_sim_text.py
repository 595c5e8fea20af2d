"""Pictures against prompts, from a published file with random weights in it to the cosine."""

import gc
import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from evaluation.metrics import registry, scoring
from evaluation.metrics.render import clip_sim
from evaluation.metrics.render import clip_sim_text as module
from evaluation.metrics.render.clip_sim_text import CUT, embedding
from evaluation.metrics.render.pair import RenderPair
from evaluation.metrics.result import Status
from evaluation.metrics.shared import Preparing
from evaluation.networks import clip, load, weights
from evaluation.networks.clip import ClipTextTower
from evaluation.networks.inference import in_batches
from submissions.formats.render.views import View, render
from tests.support.evaluation import official
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.examples import blurred, noisy
from tests.support.evaluation.metrics.render.pictures import blobs
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.networks.full_card import full_card

clip_sim_text = with_defaults("clip_sim_text")

SET, IMAGE_LAYERS = "openai-vit-b-32", 2
PICTURE = blobs(120, 160)
PROMPTS = ("a red chair", "An owl, carved in wood; it's 19th-century.", "a château under snow " * 40)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """open_clip's CLIP ViT-B/32 with QuickGELU, whose random weights lie as a published file where ours are read.

    Its image tower, of which test_load.py has all twelve layers, has two here.
    """
    model = official.with_torchvision("open_clip.model")
    torch.manual_seed(0)
    network = model.CLIP(
        512,
        model.CLIPVisionCfg(layers=IMAGE_LAYERS, width=768, patch_size=32, image_size=224),
        model.CLIPTextCfg(context_length=77, vocab_size=49408, width=512, heads=8, layers=12),
        quick_gelu=True,
    ).eval()
    with torch.no_grad():
        for value in network.parameters():
            value.mul_(1.5) if value.ndim > 1 else value.add_(0.05 * torch.randn(value.shape))
        network.token_embedding.weight.mul_(20)  # so that words, not places alone, decide
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(clip, "LAYERS", IMAGE_LAYERS)
    folder = random_weights.shelf(monkeypatch, tmp_path_factory.mktemp("clip"))
    load.forget()
    random_weights.put(monkeypatch, "clip-vit-b-32", {name: value.contiguous() for name, value in network.state_dict().items()})
    vocabulary = Path(importlib.util.find_spec("open_clip").origin).with_name("bpe_simple_vocab_16e6.txt.gz")
    shutil.copy(vocabulary, folder / weights.published("clip-bpe-16e6").filename)
    random_weights.fetched("clip-bpe-16e6")
    yield network
    load.forget()
    embedding.cache_clear()
    shutil.rmtree(folder)  # 330 MB
    monkeypatch.undo()
    del network
    gc.collect()


def digest() -> str:
    return weights.digest("clip_text", SET)


def pair(pred, prompt=PROMPTS[0], ref=None, prepared=None, size=(0, 0)) -> RenderPair:
    """A render (or None) against a view with a prompt and, maybe, an image."""
    view = View(None, *size, prompt=prompt) if ref is None else View(render(ref), ref.shape[1], ref.shape[0], prompt=prompt)
    return RenderPair.of(None if pred is None else render(pred), view, prepared=prepared)


def test_the_text_tower_agrees_with_open_clip(theirs):
    tokenizer = official.with_torchvision("open_clip.tokenizer").SimpleTokenizer()
    with torch.inference_mode():
        expected = theirs.encode_text(tokenizer(list(PROMPTS)))
    assert torch.nn.functional.cosine_similarity(expected[0], expected[1], dim=0) < 0.99
    for prompt, row in zip(PROMPTS, expected, strict=True):
        found, cut = embedding(prompt, SET, digest())
        assert found.shape == (512,) and np.allclose(found, row.numpy(), rtol=1e-4, atol=1e-4)
        assert cut[0] == (prompt == PROMPTS[2])


def test_many_texts_at_a_time_come_out_as_one_by_one(theirs):
    tower = load.load("clip_text", SET)
    numbers = [torch.tensor(tower.tokenizer.numbers(prompt)) for prompt in PROMPTS]
    together = in_batches(lambda device, x: load.load("clip_text", SET, device)(x), numbers, batch=3)
    for prompt, row in zip(PROMPTS, together, strict=True):
        assert np.allclose(embedding(prompt, SET, digest())[0], row.numpy(), rtol=1e-4, atol=1e-5)


def test_what_stands_behind_the_end_of_a_text_changes_nothing(theirs):
    tower = load.load("clip_text", SET)
    numbers = torch.tensor([tower.tokenizer.numbers("a red chair")])
    other = numbers.clone()
    other[0, 5:] = 1234
    with torch.inference_mode():
        assert torch.equal(tower(numbers), tower(other)) and not torch.equal(tower(numbers), tower(numbers.flip(0).roll(1)))


def test_agrees_with_open_clip_from_picture_and_prompt_to_cosine(theirs):
    transform = official.with_torchvision("open_clip.transform").image_transform(224, is_train=False)
    tokenizer = official.with_torchvision("open_clip.tokenizer").SimpleTokenizer()
    pictures = [PICTURE, noisy(blurred(PICTURE, 3), 25), 255 - PICTURE]
    with torch.inference_mode():
        images = theirs.encode_image(torch.stack([transform(Image.fromarray(one)) for one in pictures]), normalize=True)
        texts = theirs.encode_text(tokenizer(list(PROMPTS)), normalize=True)
    expected = (images @ texts.T).numpy()
    found = [[clip_sim_text(pair(one, prompt), SET).value for prompt in PROMPTS] for one in pictures]
    assert expected.std() > 1e-3 and np.allclose(found, expected, atol=1e-5)


def test_a_text_is_embedded_once_for_all_views_and_a_render_once_for_both_metrics(theirs, monkeypatch):
    texts, images = [], []
    plain, looked = module.embedding.__wrapped__, clip_sim.embedding
    embedding.cache_clear()
    monkeypatch.setattr("evaluation.networks.load.load", lambda *given, load=load.load: texts.append(given[0]) or load(*given))
    monkeypatch.setattr(clip_sim, "embedding", lambda *given: images.append(1) or looked(*given))
    views = {f"chair/0-{n}": View(None, prompt="a green chair") for n in range(4)}
    renders = {name: render(noisy(PICTURE, n)) for n, name in enumerate(views)}
    (scores,) = scoring.score_items(renders, views, [scoring.MetricRequest("text", "clip_sim_text", {})]).values()
    assert texts.count("clip_text") == 2, "its tokenizer and its tower, once"
    assert len(images) == 4 and len({part.get("uncapped", value) for part, value in zip(scores.parts, scores.values, strict=True)}) == 4
    images.clear()
    both = pair(noisy(PICTURE, 9), ref=PICTURE)
    assert clip_sim_text(both, SET).value != clip_sim.clip_sim(both, SET).value and len(images) == 2, "the render and its reference"
    assert np.array_equal(plain("a green chair", SET, digest())[0], embedding("a green chair", SET, digest())[0])


def test_what_is_kept_of_the_reference_gives_the_same_value_and_needs_no_text_tower(theirs, monkeypatch):
    kept = Preparing()
    clip_sim_text(pair(None, prepared=kept), SET)
    assert len(kept) == 1, "also where no picture is known"
    expected = clip_sim_text(pair(PICTURE), SET)
    monkeypatch.setattr(module, "embedding", None)
    assert clip_sim_text(pair(PICTURE, prepared=dict(kept)), SET) == expected and expected.status == Status.OK


def test_the_mean_is_over_views_then_objects(theirs):
    views = {
        f"{name}/0-{n}": View(None, prompt=text) for name, text, count in (("a", PROMPTS[0], 3), ("b", PROMPTS[1], 1)) for n in range(count)
    }
    renders = {name: render(noisy(PICTURE, 10 * n)) for n, name in enumerate(views)}
    del renders["a/0-2"]
    requests = [scoring.MetricRequest("text", "clip_sim_text", {})]
    groups = [name[0] for name in views]
    scores, summary = scoring.finish(requests, [scoring.score_items(renders, views, requests)], list(views), groups)["text"]
    a0, a1, a2, b0 = scores.values
    assert a2 == 0.0 and scores.statuses[2] == "missing_pred"
    assert summary.value == pytest.approx(((a0 + a1 + a2) / 3 + b0) / 2) and summary.n == 2


def test_a_text_that_is_cut_says_so(theirs):
    assert clip_sim_text(pair(PICTURE, PROMPTS[2]), SET).flags == (CUT,) and clip_sim_text(pair(PICTURE), SET).flags == ()


def test_a_text_for_which_a_card_has_no_room_is_embedded_without_it(theirs, monkeypatch):
    plain, _ = embedding("a blue chair", SET, digest())
    embedding.cache_clear()
    with full_card(monkeypatch) as refused:
        assert np.array_equal(embedding("a blue chair", SET, digest())[0], plain)
    assert refused == [1]


def test_no_prompt_no_render_and_another_size_need_no_network():
    for bare in ("", "  "):
        for pred in (PICTURE, None):
            assert clip_sim_text(pair(pred, bare), SET) == clip_sim_text(pair(pred, bare, PICTURE), SET)
            assert clip_sim_text(pair(pred, bare), SET).status == Status.NOT_APPLICABLE
    assert clip_sim_text(pair(None), SET).status == Status.MISSING_PRED
    assert clip_sim_text(pair(PICTURE[:50], ref=PICTURE), SET).status == Status.SIZE_MISMATCH


def test_without_its_files_it_is_refused_with_the_command(monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    spec = registry.get("clip_sim_text")
    sentence = weights.refusal(spec, registry.resolve_params(spec.key, {}))
    assert "“openai-vit-b-32”" in sentence and sentence.endswith(" clip-vit-b-32 clip-bpe-16e6")


def test_the_fingerprint_follows_the_vocabulary_too(theirs):
    spec, params = registry.get("clip_sim_text"), registry.resolve_params("clip_sim_text", {})
    both = weights.digest_of(spec, params)
    assert both not in (None, weights.published("clip-vit-b-32").sha256, weights.published("clip-bpe-16e6").sha256)


def test_the_meta_network_has_the_places_that_files_fill():
    with torch.device("meta"):
        assert sum(value.numel() for value in ClipTextTower().state_dict().values()) == 63_428_096

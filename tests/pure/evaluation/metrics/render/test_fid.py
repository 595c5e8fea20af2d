import numpy as np
import pytest
import torch

from evaluation.metrics.render import fid as module
from evaluation.metrics.render.fid import distance, frechet, packed, unpacked
from evaluation.metrics.result import Status
from evaluation.metrics.scoring import MetricRequest, finish, score_items
from evaluation.networks import load
from submissions.formats.render.views import View, render
from tests.support.evaluation import official
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.render.examples import blurred, noisy, pair
from tests.support.evaluation.metrics.render.pictures import blobs
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.networks.full_card import full_card

fid = with_defaults("fid")

WEIGHTS = "fid-2015-12-05"
VIEWS = {f"room/{n}": blobs(60 + n, 80, seed=n) for n in range(6)}
REQUEST = [MetricRequest("fid", "fid", {})]


@pytest.fixture(scope="module")
def inception(tmp_path_factory):
    load.forget()
    with pytest.MonkeyPatch.context() as patch:
        random_weights.shelf(patch, tmp_path_factory.mktemp("inception"))
        yield random_weights.put(patch, "inception-fid", random_weights.inception())
    load.forget()


@pytest.fixture
def by_means(monkeypatch):
    """Features that need no network: the mean colour and what the image's halves differ by."""

    def features(pixels, weights):
        found = np.zeros(2048, np.float32)
        half = pixels.shape[1] // 2
        found[:6] = [*pixels.mean((0, 1)), *(pixels[:, :half].mean((0, 1)) - pixels[:, half:].mean((0, 1)))]
        return found

    monkeypatch.setattr(module, "features", features)


def references(views):
    return {name: View(render(pixels), pixels.shape[1], pixels.shape[0]) for name, pixels in views.items()}


def entry(views):
    return {name: None if pixels is None else render(pixels) for name, pixels in views.items()}


def scored(views, references_of=VIEWS, slices=1):
    wanted, names = references(references_of), list(references_of)
    parts = [score_items(entry(views), wanted, REQUEST, item_ids=names[n::slices]) for n in range(slices)]
    return finish(REQUEST, parts, names, [name.split("/")[0] for name in names])["fid"]


def test_formula_without_a_network():
    assert distance(np.zeros(2), np.eye(2), np.array([3.0, 4.0]), np.eye(2)) == pytest.approx(25.0, abs=1e-12)
    # N(0, diag(4, 9)) against N(0, I): (2 - 1)² + (3 - 1)²
    assert distance(np.zeros(2), np.diag([2.0, 3.0]), np.zeros(2), np.eye(2)) == pytest.approx(5.0, abs=1e-12)


@pytest.mark.parametrize("counts", [(40, 30), (5, 7), (2, 2)])
def test_it_is_the_formula_with_the_eigenvalues_of_the_product(counts):
    rng = np.random.default_rng(1)
    one, other = (rng.normal(size=(n, 6)) @ rng.normal(size=(6, 6)) + rng.normal(size=6) for n in counts)
    mean1, mean2, cov1, cov2 = one.mean(0), other.mean(0), np.cov(one.T), np.cov(other.T)
    roots = np.sqrt(np.clip(np.linalg.eigvals(cov1 @ cov2).real, 0, None)).sum()
    expected = np.sum((mean1 - mean2) ** 2) + np.trace(cov1) + np.trace(cov2) - 2 * roots
    assert frechet(one, other) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert frechet(one, other) == pytest.approx(frechet(other, one), rel=1e-9)
    assert frechet(one, one[::-1]) == pytest.approx(0.0, abs=1e-9)


def test_features_survive_the_way_to_the_end_bit_for_bit():
    values = np.random.default_rng(0).normal(size=2048).astype(np.float32)
    assert np.array_equal(unpacked(packed(values)), values) and len(packed(values)) < 11_000


def test_agrees_with_torchmetrics_from_file_to_distance(inception, monkeypatch):
    """Every 32nd feature on both sides: torchmetrics takes a minute for the eigenvalues of all 2048."""
    fid = official.with_torchvision("torchmetrics.image.fid")
    extractor = pytest.importorskip("torch_fidelity.feature_extractor_inceptionv3", reason="torch-fidelity is not installed")

    class Some(torch.nn.Module):
        num_features = 64

        def __init__(self):
            super().__init__()
            network = extractor.FeatureExtractorInceptionV3("compat", ["2048"], feature_extractor_weights_path=str(inception))
            self.kept = [network]  # in a list it stays float32 when the rest becomes float64

        def forward(self, x):
            return self.kept[0](x)[0][:, ::32]

    plain = module.features
    monkeypatch.setattr(module, "features", lambda pixels, weights: plain(pixels, weights)[::32])
    theirs = fid.FrechetInceptionDistance(feature=Some(), input_img_size=(3, 60, 80), antialias=False).set_dtype(torch.float64)
    few = dict(list(VIEWS.items())[:3])
    damaged = {name: noisy(blurred(pixels, 1.5), 10) for name, pixels in few.items()}
    for views, real in ((few, True), (damaged, False)):
        for pixels in views.values():
            theirs.update(torch.tensor(pixels.transpose(2, 0, 1)[None]), real=real)
    scores, summary = scored(damaged, few)
    assert summary.value > 0 and summary.value == pytest.approx(float(theirs.compute()), rel=0.01)
    assert [flags for flags in scores.flags if "rank_deficient" not in flags] == []


def test_slices_change_nothing_and_every_view_has_the_sets_value(by_means):
    damaged = {name: noisy(pixels, 20, seed) for seed, (name, pixels) in enumerate(VIEWS.items())}
    whole, summary = scored(damaged)
    cut, _ = scored(damaged, slices=3)
    assert whole == cut and set(whole.values) == {summary.value} and summary.value > 0
    assert (summary.n, summary.ci_low, summary.resampled) == (1, None, "set") and whole.partials == ()


def test_alike_is_nothing_and_more_damage_is_more(by_means):
    assert scored(VIEWS)[1].value == pytest.approx(0.0, abs=1e-6)
    amounts = [scored({name: pixels // divisor for name, pixels in VIEWS.items()})[1].value for divisor in (2, 4, 8)]
    assert amounts == sorted(amounts) and amounts[0] > 1


def test_a_missing_view_or_one_of_another_size_leaves_no_value(by_means):
    first, *_ = VIEWS
    for spoilt in (None, VIEWS[first][:-1]):
        scores, summary = scored({**VIEWS, first: spoilt})
        assert summary.value is None and set(scores.values) == {None} and summary.n_missing == 1


def test_fewer_than_two_views_leave_no_value(by_means):
    one = dict(list(VIEWS.items())[:1])
    assert scored(one, one)[1].value is None


def test_views_without_a_reference_image_do_not_count(by_means):
    wanted = references(VIEWS) | {"room/extra": View(None)}
    names = list(wanted)
    parts = score_items(entry({**VIEWS, "room/extra": blobs(20, 20)}), wanted, REQUEST)
    scores, summary = finish(REQUEST, [parts], names, ["room"] * len(names))["fid"]
    assert summary.value == pytest.approx(0.0, abs=1e-6) and scores.values[0] is not None


def test_the_references_features_are_found_once(by_means, monkeypatch):
    kept, calls = {}, []
    plain = module.features
    monkeypatch.setattr(module, "features", lambda pixels, weights: calls.append(1) or plain(pixels, weights))
    picture = VIEWS["room/0"]
    first = fid(pair(noisy(picture, 5), picture, prepared=kept), WEIGHTS)
    assert fid(pair(noisy(picture, 5), picture, prepared=kept), WEIGHTS) == first and len(calls) == 3
    assert first.status == Status.OK and first.value is None and set(first.partial) == {"pred", "ref"}


def test_an_image_for_which_a_card_has_no_room_is_taken_without_it(inception, monkeypatch):
    picture = VIEWS["room/0"]
    plain = module.features(picture, WEIGHTS)
    with full_card(monkeypatch) as refused:
        assert np.array_equal(module.features(picture, WEIGHTS), plain)
    assert refused == [1]

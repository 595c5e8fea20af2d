"""`wf_learned`: its view, its head by hand, and the metric with weights that were drawn and put where trained ones lie."""

import hashlib
import math

import numpy as np
import pytest
import torch
from safetensors.torch import save

from evaluation.metrics import registry
from evaluation.metrics.result import Status
from evaluation.metrics.scoring import MetricRequest, score_items
from evaluation.metrics.wireframe.learned import metric, network
from evaluation.metrics.wireframe.learned.metric import canonical_view
from evaluation.metrics.wireframe.learned.network import Head, accuracy, pair_loss, ready
from evaluation.metrics.wireframe.pair import Pair
from evaluation.networks import weights
from evaluation.networks.load import load
from evaluation.properties import measure
from evaluation.properties.corruptions import corrupt
from evaluation.synthetic.houses import house
from submissions.formats.wireframe.wireframe_files import Wireframe
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.shapes import EMPTY, moved, wireframe

wf_learned = with_defaults("wf_learned")

HOUSE = house("gable", 3)
DAMAGED = corrupt(HOUSE, "deform", "high")
BLUE, BLACK, WHITE = [0, 0, 255], [0, 0, 0], [255, 255, 255]


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    return random_weights.learned_shelf(monkeypatch, tmp_path)


@pytest.fixture
def small(shelf) -> network.Features:
    """SqueezeNet in the place of DINOv2, which takes seconds a picture."""
    return network.KNOWN[random_weights.STAND_IN]


@pytest.fixture
def drawn(shelf):
    random_weights.put_learned(shelf)
    return shelf


# --- the view


def test_the_reference_is_black_and_the_prediction_blue_over_it():
    """Along z through the middle: up on the picture by √3/2; the ball has radius 1, of which 1.15 are seen."""
    reference, prediction = wireframe([(0, 0, -1), (0, 0, 1)], [(0, 1)]), wireframe([(0, 0, 0), (0, 0, 1)], [(0, 1)])
    image = canonical_view(Pair.of(prediction, reference))
    top = 259 - 259 * math.sqrt(3) / 2 / 1.15
    assert image.shape == (518, 518, 3) and image.dtype == np.uint8
    assert image[int(top) + 2, 258].tolist() == image[200, 259].tolist() == BLUE and image[300, 258].tolist() == BLACK
    assert image[int(top) - 3, 258].tolist() == image[200, 256].tolist() == image[200, 261].tolist() == WHITE
    assert (image.reshape(-1, 3) != 255).any(axis=1).sum() == pytest.approx(2 * 2 * (259 - top), abs=8), "two pixels wide"


def test_the_prediction_is_cut_off_and_never_changes_the_view():
    far = wireframe([(0, 0, 0), (900, -500, 40)], [(0, 1)])
    alone, both = canonical_view(Pair.of(None, HOUSE)), canonical_view(Pair.of(far, HOUSE))
    black = (both == 0).all(axis=2)
    assert (black <= (alone == 0).all(axis=2)).all() and (both[..., 2] == 255).any() and not (alone[..., 2] > alone[..., 0]).any()


def test_a_view_is_the_same_bit_for_bit_wherever_the_pair_stands_and_however_its_file_is_ordered():
    first = canonical_view(Pair.of(DAMAGED, HOUSE))
    assert np.array_equal(first, canonical_view(Pair.of(DAMAGED, HOUSE)))
    shift = np.array([524288.0, 6291456.0, 64.0])  # exact in binary, so nothing is rounded on the way
    fixed = [Wireframe(np.round(one.vertices * 1024) / 1024, one.edges) for one in (DAMAGED, HOUSE)]
    assert np.array_equal(canonical_view(Pair.of(*fixed)), canonical_view(Pair.of(*(moved(one, shift) for one in fixed))))
    order = np.random.default_rng(0).permutation(len(DAMAGED.vertices))
    turned = Wireframe(DAMAGED.vertices[order], np.argsort(order)[DAMAGED.edges][::-1, ::-1])
    assert np.array_equal(first, canonical_view(Pair.of(turned, HOUSE)))
    assert np.array_equal(first, canonical_view(Pair.of(DAMAGED, HOUSE, unit_scale=0.01))), "the unit of the files does not count"


def test_edges_without_length_and_vertices_without_edges_are_not_drawn():
    more = Wireframe(
        np.vstack([DAMAGED.vertices, [(0, 0, 0)], DAMAGED.vertices[:1]]), np.vstack([DAMAGED.edges, [(0, len(DAMAGED.vertices) + 1)]])
    )
    assert np.array_equal(canonical_view(Pair.of(more, HOUSE)), canonical_view(Pair.of(DAMAGED, HOUSE)))


# --- the head and what it is trained to do


def test_pair_loss_and_accuracy_by_hand():
    equal = torch.zeros(3, dtype=torch.float64)
    loss = pair_loss(torch.tensor([1.2], dtype=torch.float64), torch.tensor([0.2], dtype=torch.float64))
    assert float(loss) == pytest.approx(0.3132617, abs=5e-8) and float(loss) == pytest.approx(math.log(1 + math.exp(-1)), abs=1e-12)
    assert float(pair_loss(equal, equal)) == pytest.approx(math.log(2), abs=1e-12)
    assert accuracy(torch.tensor([0.4, -0.1, 0.0])) == 0.5
    with pytest.raises(ValueError, match="no pair"):
        accuracy(torch.empty(0))


def test_a_pair_turned_around_has_the_complementary_probability_and_a_bias_makes_no_difference():
    torch.manual_seed(0)
    head, x = Head(8).eval().requires_grad_(False), torch.randn(2, 8)
    margin = head(x[0]) - head(x[1])
    assert float(torch.sigmoid(margin) + torch.sigmoid(-margin)) == pytest.approx(1.0)
    head.layers[4].bias += 5.0
    assert float(head(x[0]) - head(x[1])) == pytest.approx(float(margin), abs=1e-5)


def test_the_head_is_layer_norm_linear_gelu_linear():
    torch.manual_seed(1)
    head, x = Head(12).eval(), torch.randn(3, 12)
    state = {name: value.double() for name, value in head.state_dict().items()}
    y = x.double()
    y = (y - y.mean(1, keepdim=True)) / torch.sqrt(y.var(1, unbiased=False, keepdim=True) + 1e-5)
    y = y @ state["layers.1.weight"].T + state["layers.1.bias"]
    y = y * 0.5 * (1 + torch.erf(y / math.sqrt(2)))
    y = y @ state["layers.4.weight"].T + state["layers.4.bias"]
    assert torch.allclose(head(x).double(), y.squeeze(1), atol=1e-6) and state["layers.1.weight"].shape == (256, 12)


def test_weights_of_something_else_are_refused():
    with pytest.raises(weights.WeightsError, match="do not fit features of 9 numbers"):
        ready(save(Head(8).state_dict()), 9)
    with pytest.raises(weights.WeightsError, match="do not fit"):
        ready(b"nothing", 8)
    state = Head(8).state_dict()
    state["layers.4.bias"][0] = float("nan")
    with pytest.raises(weights.WeightsError, match="not finite"):
        ready(save(state), 8)


# --- features


def test_features_are_those_of_the_network_for_the_picture_normalised_as_imagenet(small):
    images = [canonical_view(Pair.of(one, HOUSE)) for one in (DAMAGED, None)]
    found = small.of(images)
    assert found.shape == (2, small.width) and found.dtype == np.float32 and not np.array_equal(*found)
    x = torch.from_numpy(images[0]).permute(2, 0, 1)[None].float() / 255
    mean, std = (torch.tensor(values).view(1, 3, 1, 1) for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    assert np.allclose(found[0], small.take(load(small.network, small.name), (x - mean) / std)[0].numpy(), atol=1e-4)


def test_features_of_dinov2_are_the_class_token_beside_the_mean_of_the_patches(monkeypatch):
    tokens = torch.arange(2 * 5 * 768, dtype=torch.float32).reshape(2, 5, 768)
    found = network.KNOWN["dinov2-vitb14"].take(lambda x: tokens, torch.empty(0))
    assert found.shape == (2, 1536) and torch.equal(found[:, :768], tokens[:, 0])
    assert torch.allclose(found[:, 768:], (tokens[:, 1] + tokens[:, 2] + tokens[:, 3] + tokens[:, 4]) / 4)


# --- the metric


def test_a_value_is_the_head_of_the_features_of_the_view(drawn, small):
    found = wf_learned(Pair.of(DAMAGED, HOUSE), "drawn")
    torch.manual_seed(0)
    head = Head(small.width).eval()
    seen = torch.from_numpy(small.of([canonical_view(Pair.of(DAMAGED, HOUSE))]))
    assert found.status == Status.OK and found.value == pytest.approx(float(head(seen)[0].detach()), abs=1e-6)
    assert found == wf_learned(Pair.of(DAMAGED, HOUSE), "drawn")


def test_an_empty_prediction_gets_what_the_reference_alone_gets_and_nothing_ranks_below_it(drawn, monkeypatch):
    calls = []
    of = network.Features.of
    monkeypatch.setattr(network.Features, "of", lambda self, images: calls.append(len(images)) or of(self, images))
    alone = wf_learned(Pair.of(EMPTY, HOUSE), "drawn")
    (expected,) = metric.liking(weights.get("wf_learned", "drawn"), [canonical_view(Pair.of(None, HOUSE))])
    assert alone.status == Status.EMPTY_PRED and alone.value == float(expected)
    calls.clear()
    kept = {"a": {}, "b": {}, "c": {}}
    request = [MetricRequest("learned", "wf_learned", {"weights": "drawn"})]
    predictions, references = {"a": DAMAGED, "b": EMPTY}, dict.fromkeys("abc", HOUSE)
    found = score_items(predictions, references, request, prepared=kept)["learned"]
    own = wf_learned(Pair.of(DAMAGED, HOUSE), "drawn").value
    assert found.values == (max(own, alone.value), alone.value, alone.value) and found.statuses == ("ok", "empty_pred", "missing_pred")
    calls.clear()
    assert score_items(predictions, references, request, prepared=kept)["learned"] == found
    assert calls == [1], "the reference's own value was kept"


def test_it_does_not_depend_on_where_a_pair_stands(drawn):
    shift = np.array([524288.0, 6291456.0, 64.0])
    fixed = [Wireframe(np.round(one.vertices * 1024) / 1024, one.edges) for one in (DAMAGED, HOUSE)]
    assert wf_learned(Pair.of(*fixed), "drawn").value == wf_learned(Pair.of(*(moved(one, shift) for one in fixed)), "drawn").value


def test_without_weights_it_is_refused_and_to_a_reference_without_size_it_does_not_apply(shelf):
    with pytest.raises(weights.WeightsError, match="There are no weights 'study' of wf_learned"):
        wf_learned(Pair.of(DAMAGED, HOUSE))
    random_weights.put_learned(shelf)
    point = wireframe([(1, 2, 3), (1, 2, 3)], [(0, 1)])
    assert wf_learned(Pair.of(DAMAGED, point), "drawn").flags == ("degenerate_reference",)


def test_its_distance_for_the_property_suite_counts_from_the_reference_itself(drawn):
    column = measure.column_of(("wf_learned", {"weights": "drawn"}, None))
    assert column.distance(Pair.of(HOUSE, HOUSE)) == 0.0
    expected = wf_learned(Pair.of(HOUSE, HOUSE), "drawn").value - wf_learned(Pair.of(DAMAGED, HOUSE), "drawn").value
    assert column.distance(Pair.of(DAMAGED, HOUSE)) == pytest.approx(expected)


# --- which weights, and that they are in the fingerprint


def test_weights_are_offered_refused_and_told_apart_by_name_digest_and_features(shelf, small):
    spec = registry.get("wf_learned")
    assert "study" in spec.param("weights").options and "drawn" not in spec.param("weights").options
    sentence = weights.refusal(spec, {"weights": "drawn"})
    assert "'drawn'" in sentence and "train wireframe-preference" in sentence
    first = random_weights.put_learned(shelf)
    random_weights.put_learned(shelf, "other", seed=1)
    assert {"drawn", "other"} <= set(spec.param("weights").options) and weights.refusal(spec, {"weights": "drawn"}) == ""
    prints = {name: registry.fingerprint("wf_learned", {"weights": name}) for name in ("drawn", "other", "study")}
    assert len(set(prints.values())) == 3
    assert weights.digest("wf_learned", "drawn") == hashlib.sha256(f"{first}\n{small.sha256}".encode()).hexdigest()
    random_weights.put_learned(shelf, "drawn", seed=2)
    assert registry.fingerprint("wf_learned", {"weights": "drawn"}) != prints["drawn"]
    assert spec.titled({"weights": "drawn"}) == "Learned preference (drawn)" and spec.titled({"weights": "study"}) == "Learned preference"


def test_features_that_are_not_here_or_are_others_are_refused(monkeypatch, tmp_path):
    spec = registry.get("wf_learned")
    random_weights.shelf(monkeypatch, tmp_path)
    random_weights.put_learned(tmp_path, "large")
    assert weights.refusal(spec, {"weights": "large"}).endswith(" dinov2-vitb14")
    with pytest.raises(weights.WeightsError, match="fetch_weights dinov2-vitb14"):
        wf_learned(Pair.of(DAMAGED, HOUSE), "large")
    random_weights.learned_shelf(monkeypatch, tmp_path)
    random_weights.put_learned(tmp_path, "stale", digest="ab" * 32)
    assert "another squeezenet-imagenet" in weights.refusal(spec, {"weights": "stale"})
    with pytest.raises(weights.WeightsError, match="features of another squeezenet-imagenet"):
        wf_learned(Pair.of(DAMAGED, HOUSE), "stale")


def test_what_is_no_card_is_passed_over(shelf):
    folder = shelf / "wf_learned"
    folder.mkdir()
    for name, text in (("a", "{"), ("b", "[]"), ("c", '{"sha256": "ab", "features": {"network": "x", "name": "y", "sha256": "z"}}')):
        (folder / f"{name}.json").write_text(text)
    (folder / "d.json").write_text('{"sha256": "ab"}')
    (folder / "gone.json").symlink_to(folder / "nowhere")
    assert weights.names("wf_learned") == ()


def test_a_card_in_the_folder_of_another_network_is_passed_over(shelf):
    random_weights.put_learned(shelf)
    ours = weights.names("locase")
    (shelf / "wf_learned").rename(shelf / "locase")
    assert weights.names("locase") == ours and weights.trained() == ()

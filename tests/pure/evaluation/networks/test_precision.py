"""Networks compute in the precision that a column asks for, and in no other."""

import dataclasses

import numpy as np
import pytest
import torch

from evaluation.metrics import registry, scoring
from evaluation.metrics.result import MetricResult
from evaluation.metrics.spec import Param
from evaluation.networks import inference
from evaluation.networks.inference import CPU, exact, has_precision, in_batches
from evaluation.networks.precision import PrecisionMissing, computing_in, current
from tests.support import pictures
from tests.support.evaluation.networks import random_weights


@pytest.fixture
def every_unit(monkeypatch):
    """A processor that multiplies in every precision but tf32."""
    monkeypatch.setattr(inference, "has_precision", lambda precision, device: precision != "tf32")


def scores(column, **params):
    request = scoring.MetricRequest("column", column, params)
    return scoring.score_items(pictures.renders(2), pictures.views(2), [request])["column"].values


def test_the_precision_is_float32_unless_somebody_says_otherwise_and_then_again():
    assert current() == "float32"
    with computing_in("bfloat16"):
        assert current() == "bfloat16"
        with computing_in("float32"):
            assert current() == "float32"
    assert current() == "float32"


def test_half_precision_rounds_products_and_gives_float32_back(every_unit):
    layer, inputs = torch.nn.Linear(64, 8), [torch.linspace(0, 1, 64), torch.linspace(1, 2, 64)]
    asked = []

    def compute(device, x):
        asked.append(layer(x).dtype)
        return layer(x)

    plain = in_batches(compute, inputs, device=CPU)
    with computing_in("bfloat16"):
        half = in_batches(compute, inputs, device=CPU)
    assert asked == [torch.float32, torch.bfloat16] and half[0].dtype == torch.float32
    assert not torch.equal(plain[0], half[0]) and torch.allclose(plain[0], half[0], atol=0.02)


def test_tf32_is_switched_on_where_it_was_asked_for_alone(monkeypatch):
    monkeypatch.setattr(inference, "has_precision", lambda precision, device: True)
    with exact(precision="tf32"):
        assert torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32
        with exact(precision="float32"):
            assert not torch.backends.cuda.matmul.allow_tf32 and not torch.backends.cudnn.allow_tf32
    with exact():
        assert not torch.backends.cuda.matmul.allow_tf32
        assert not torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction


def test_what_the_device_lacks_is_refused_and_never_computed_in_another():
    assert has_precision("float32", "cpu") and not has_precision("tf32", "cpu")
    with computing_in("tf32"), pytest.raises(PrecisionMissing, match=r"^The processor here has no units for tf32\.$"):
        in_batches(lambda device, x: pytest.fail("computed"), [torch.zeros(1)], device=CPU)


@pytest.mark.parametrize(("capability", "expected"), [((6, 1), ()), ((7, 5), ("float16",)), ((9, 0), ("tf32", "bfloat16", "float16"))])
def test_a_card_has_the_precisions_of_its_generation(monkeypatch, capability, expected):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    assert tuple(name for name in ("tf32", "bfloat16", "float16") if has_precision(name, "cuda")) == expected


def test_columns_of_two_precisions_share_no_work_and_other_metrics_keep_float32(every_unit, monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    given = {"own": {}, "half": {"precision": "bfloat16"}}
    requests = [scoring.MetricRequest(slug, "puzzlesim", params) for slug, params in given.items()]
    prepared = {name: {} for name in pictures.views(2)}
    found = scoring.score_items(pictures.renders(2), pictures.views(2), requests, prepared=prepared)
    alone = {slug: scores("puzzlesim", **params) for slug, params in given.items()}
    assert {slug: one.values for slug, one in found.items()} == alone
    assert [(a, b) for a, b in zip(alone["own"], alone["half"], strict=True) if not (a != b and abs(a - b) < 0.01)] == []
    names = set(prepared["garden/view_1"])
    assert len(names) == 2 and sum(name.endswith(" in bfloat16") for name in names) == 1
    assert current() == "float32"


def test_every_precision_gives_nearly_the_values_of_float32_and_tf32_is_left_to_cards(every_unit, monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    random_weights.put(monkeypatch, "lpips-squeeze", random_weights.head("squeeze"))
    plain = scores("lpips_squeeze")
    for name in ("bfloat16", "float16"):
        assert np.allclose(scores("lpips_squeeze", precision=name), plain, rtol=0.02), name
        assert scores("lpips_squeeze", precision=name) != plain
    with pytest.raises(PrecisionMissing):
        scores("lpips_squeeze", precision="tf32")


def test_a_metric_program_may_have_a_parameter_of_that_name(monkeypatch):
    own = Param("precision", 3, "int", doc="Digits.")
    seen = []

    def program(pair, precision):
        seen.append((precision, current()))
        return MetricResult(0.5)

    spec = dataclasses.replace(registry.get("psnr"), key="mine", params=(own,), function=program)
    monkeypatch.setattr(registry, "REGISTRY", {**registry.REGISTRY, "mine": spec})
    assert registry.resolve_params("mine", {}) == {"precision": 3} and not spec.has_precision
    assert scores("mine") == (0.5, 0.5) and seen == [(3, "float32")] * 2


def test_two_machines_may_differ_more_in_less_than_float32():
    spec = registry.get("lpips_alex")
    exact_, half = (spec.tolerance_with(registry.resolve_params(spec.key, given)) for given in ({}, {"precision": "bfloat16"}))
    assert exact_ == spec.tolerance and half.relative == pytest.approx(50 * exact_.relative)

"""On a graphics card networks look at several items at once: each keeps its own value, its own faults and its own progress.

The card is only pretended, so that `scoring` takes items together; the processor computes.
"""

import logging
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from evaluation.metrics import scoring
from evaluation.metrics.render import fid
from evaluation.networks import graphics_card, inference, yolox
from submissions.formats.render.views import render
from tests.support import pictures
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.networks.full_card import full_card

VIEWS = 5
COLUMNS = {
    "lpips": ("lpips_squeeze", {}),
    "objects": ("osim", {"weights": "yolox-nano", "conf": 1.0, "saliency": "none"}),
    "set": ("fid", {}),
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        random_weights.shelf(patch, tmp_path_factory.mktemp("weights"))
        random_weights.put(patch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
        random_weights.put(patch, "lpips-squeeze", random_weights.head("squeeze"))
        random_weights.put(patch, "yolox-nano", {"model": random_weights.lively(yolox.build("yolox-nano"))})
        random_weights.put(patch, "inception-fid", random_weights.inception())
        yield


@pytest.fixture
def together(monkeypatch, shelf):
    """Let `scoring` take so many items at once; returns the sizes of the batches that networks then get."""
    asked, in_batches = [], inference.in_batches

    def noted(compute, inputs, batch=8, device=None):
        asked.append(len(inputs))
        return in_batches(compute, inputs, batch, device)

    def take(most):
        asked.clear()
        monkeypatch.setattr(scoring, "AHEAD", most)
        return asked

    monkeypatch.setattr(graphics_card, "card", lambda: "cuda")
    monkeypatch.setattr(inference, "in_batches", noted)
    return take


def scored(slugs=tuple(COLUMNS), predictions=None, item_ids=None, **given):
    requests = [scoring.MetricRequest(slug, *COLUMNS[slug]) for slug in slugs]
    entry = pictures.renders(VIEWS) if predictions is None else predictions
    return scoring.score_items(entry, pictures.views(VIEWS, clean=False), requests, item_ids=item_ids, **given)


def numbers(found):
    values = {slug: one.values for slug, one in found.items() if slug != "set"}
    features = [fid.unpacked(partial["pred"]) for partial in found["set"].partials] if "set" in found else []
    return values, features


@pytest.fixture(scope="module")
def one_by_one(shelf):
    return numbers(scored())


def test_values_progress_and_costs_stay_those_of_each_item_and_column_whatever_the_batch(together, one_by_one):
    most = 3  # a full batch, and what is left; all in one are the tests below
    asked = together(most)
    done, clock, devices = [], {}, {}
    values, features = numbers(scored(progress=lambda n, of: done.append((n, of)), clock=clock, devices=devices))
    for slug, expected in one_by_one[0].items():
        assert np.allclose(values[slug], expected, rtol=1e-4), slug
    assert np.allclose(features, one_by_one[1], rtol=1e-3, atol=1e-4)
    assert max(asked) == min(most, VIEWS) and asked.count(max(asked)) >= len(COLUMNS) * (VIEWS // max(asked))
    assert done == [(n, VIEWS) for n in range(1, VIEWS + 1)]
    assert set(clock) == set(COLUMNS) and {key: seconds for key, seconds in clock.items() if not seconds > 0} == {}
    assert devices == {slug: {"cpu"} for slug in COLUMNS}


def test_one_at_a_time_is_a_batch_too(together, one_by_one):
    asked = together(1)
    values, _ = numbers(scored(("lpips",)))
    assert np.allclose(values["lpips"], one_by_one[0]["lpips"], rtol=1e-4) and set(asked) == {1}


def test_on_a_processor_no_bit_depends_on_what_else_is_in_the_slice(shelf, monkeypatch, one_by_one):
    monkeypatch.setattr(graphics_card, "card", lambda: None)
    names = list(pictures.views(VIEWS))
    for item_ids in (names[1:2], names[::-1]):
        values, features = numbers(scored(item_ids=item_ids))
        for slug, expected in one_by_one[0].items():
            assert list(values[slug]) == [expected[names.index(name)] for name in item_ids]
        assert [
            (one, name) for one, name in zip(features, item_ids, strict=True) if not np.array_equal(one, one_by_one[1][names.index(name)])
        ] == []


def test_views_that_are_missing_or_of_another_size_keep_their_own_results(together, one_by_one):
    together(8)
    entry = pictures.renders(VIEWS)
    names = list(entry)
    entry[names[1]], entry[names[3]] = None, render(pictures.picture(3)[:40])
    found = scored(("lpips", "objects"), entry)
    assert found["lpips"].statuses == ("ok", "missing_pred", "ok", "size_mismatch", "ok")
    for slug in ("lpips", "objects"):
        kept = [found[slug].values[n] for n in (0, 2, 4)]
        assert np.allclose(kept, [one_by_one[0][slug][n] for n in (0, 2, 4)], rtol=1e-4)


def test_a_view_that_cannot_be_read_fails_when_it_is_its_turn(together, one_by_one):
    """It takes no other item along: those before it are scored and counted."""
    together(8)
    entry = pictures.renders(VIEWS)
    broken = list(entry)[2]
    entry[broken] = replace(entry[broken], png=entry[broken].png[:60])
    done = []
    with pytest.raises(OSError, match=r"."):
        scored(("lpips",), entry, progress=lambda n, of: done.append((n, of)))
    assert done == [(1, VIEWS), (2, VIEWS)]
    kept = [name for name in entry if name != broken]
    found = scored(("lpips",), entry, item_ids=kept)["lpips"]
    assert np.allclose(found.values, [value for n, value in enumerate(one_by_one[0]["lpips"]) if n != 2], rtol=1e-4)


@pytest.mark.parametrize("slug", COLUMNS)
def test_out_of_memory_halves_the_batch_loses_nothing_and_is_in_the_log(together, one_by_one, monkeypatch, caplog, slug):
    together(8)
    # Networks see both pictures of a pair one after the other: two at a time fit.
    with full_card(monkeypatch, room=2, device=torch.device("cpu")) as refused, caplog.at_level(logging.WARNING):
        values, features = numbers(scored((slug,)))
    assert refused and max(refused) > 2
    if slug == "set":
        assert np.allclose(features, one_by_one[1], rtol=1e-3, atol=1e-4)
    else:
        assert np.allclose(values[slug], one_by_one[0][slug], rtol=1e-4)
    said = [record.getMessage() for record in caplog.records]
    numbers_said = [[int(number) for number in re.findall(r"\d+", line)] for line in said]
    assert [5, 3] in numbers_said and [3, 2] in numbers_said

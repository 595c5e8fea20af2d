"""Prepared data of references: survives a file bit for bit, is named by all it depends on, and changes no value."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics import prepared, scoring
from evaluation.metrics.registry import REGISTRY, fingerprint
from evaluation.metrics.scoring import MetricRequest
from submissions.formats.render.views import CleanViews, View, render
from tests.support import scenes
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.shapes import SQ, noisy, random_wireframe

SLOW = {"hss_exact", "ecd_emd"}  # they take seconds an item and share their reference's side with others
WIREFRAMES = {"square": SQ, "random": random_wireframe(1), "flat": noisy(SQ, 0.1, 3)}
CHEAP = [key for key, spec in REGISTRY.items() if spec.family == "wireframe" and not spec.weights and key not in SLOW]
REQUESTS = [MetricRequest(key, key, {}) for key in CHEAP]
ARRAYS = {
    "a": {"x": (np.arange(6.0).reshape(2, 3), np.array([True, False])), "with = and, commas": (np.zeros((0, 3)),)},
    "b": {"x": (np.array(0.1 + 0.2), np.array([2**62], np.int64), np.array([255], np.uint8))},
}


def same(one: prepared.Prepared, other: prepared.Prepared) -> bool:
    assert one.keys() == other.keys()
    for item_id, named in one.items():
        assert named.keys() == other[item_id].keys()
        for name, arrays in named.items():
            for mine, theirs in zip(arrays, other[item_id][name], strict=True):
                assert mine.dtype == theirs.dtype and mine.shape == theirs.shape and mine.tobytes() == theirs.tobytes()
    return True


def test_arrays_read_back_bit_for_bit_and_cannot_be_written_to():
    found = prepared.unpack(prepared.pack(ARRAYS))
    assert same(found, ARRAYS)
    assert [
        (named, arrays, array) for named in found.values() for arrays in named.values() for array in arrays if array.flags.writeable
    ] == []
    assert prepared.pack(found) == prepared.pack(ARRAYS)
    assert prepared.unpack(prepared.pack({})) == {}


@pytest.mark.parametrize(
    "harm", [lambda d: d[:-1], lambda d: d[: len(d) // 2], lambda d: b"", lambda d: d + b"\0", lambda d: bytes(len(d))]
)
def test_a_file_that_is_not_whole_is_not_read(harm, tmp_path):
    data = harm(prepared.pack(ARRAYS))
    with pytest.raises(prepared.Unreadable):
        prepared.unpack(data)
    (tmp_path / "file").write_bytes(data)
    assert prepared.read(tmp_path / "file") == ({}, True)


def test_every_single_changed_byte_is_noticed():
    data = prepared.pack(ARRAYS)
    for n in range(len(data)):
        with pytest.raises(prepared.Unreadable):
            prepared.unpack(data[:n] + bytes([data[n] ^ 1]) + data[n + 1 :])


def test_of_a_scene_only_metrics_that_keep_something_are_asked_again(monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    asked, score = [], scoring.score_items

    def noted(predictions, references, requests, *rest, **more):
        asked.append((list(references), [request.slug for request in requests]))
        return score(predictions, references, requests, *rest, **more)

    monkeypatch.setattr(scoring, "score_items", noted)
    images = [render(scenes.pixels(n, 64, 48)) for n in range(6)]
    clean = CleanViews.of(images[4:])
    names = ("garden/000", "garden/001", "garden/002", "kitchen/000")
    views = {name: View(image, 64, 48, clean=clean) for name, image in zip(names, images, strict=False)}
    every = ["psnr", "puzzlesim", "ssim"]
    requests = [MetricRequest(key, key, {}) for key in every]
    kept = prepared.prepare(views, requests, 1.0, list(views))
    first = [(["garden/000"], [slug]) for slug in every]
    assert asked == [*first, (["garden/001"], ["puzzlesim"]), (["garden/002"], ["puzzlesim"]), (["kitchen/000"], every)]
    assert {key: named for key, named in kept.items() if not named} == {} and list(kept) == list(views)


def test_a_file_that_is_gone_is_said_not_raised(tmp_path):
    assert prepared.read(tmp_path / "nothing") == ({}, True)


def test_values_with_and_without_what_was_prepared_are_the_same_bit_for_bit():
    ids = list(WIREFRAMES)
    kept = prepared.unpack(prepared.pack(prepared.prepare(WIREFRAMES, REQUESTS, 0.5, ids)))
    assert kept.keys() and any(kept.values()), "nothing was prepared, so this shows nothing"
    entry = {"square": noisy(SQ, 0.2, 1), "flat": WIREFRAMES["random"]}  # one is missing
    before = {item: dict(named) for item, named in kept.items()}
    with_it = scoring.score_items(entry, WIREFRAMES, REQUESTS, 0.5, prepared=kept)
    assert with_it == scoring.score_items(entry, WIREFRAMES, REQUESTS, 0.5)
    assert same(kept, before), "an entry asked for something of the reference that had not been prepared"


def test_a_broken_item_among_what_was_prepared_does_not_touch_the_others():
    kept = prepared.prepare(WIREFRAMES, REQUESTS, 1.0, ["square"])
    entry = {name: noisy(item, 0.05, 2) for name, item in WIREFRAMES.items()}
    assert scoring.score_items(entry, WIREFRAMES, REQUESTS, prepared=kept) == scoring.score_items(entry, WIREFRAMES, REQUESTS)


def test_no_more_is_kept_than_a_file_may_hold(monkeypatch):
    whole = prepared.prepare(WIREFRAMES, REQUESTS, 1.0, list(WIREFRAMES))
    sizes = {item: sum(a.nbytes for arrays in named.values() for a in arrays) for item, named in whole.items()}
    monkeypatch.setattr(prepared, "MAX_BYTES", sizes["square"])
    assert list(prepared.prepare(WIREFRAMES, REQUESTS, 1.0, list(WIREFRAMES))) == ["square"]


def test_the_name_tells_apart_all_that_numbers_depend_on(monkeypatch):
    base = {"family": "wireframe", "reference": "a" * 64, "unit_scale": 1.0, "item_ids": ["x", "y"]}
    prints = [fingerprint("corner_f1", {}), fingerprint("edge_f1", {})]
    name = prepared.digest(fingerprints=prints, **base)
    assert name == prepared.digest(fingerprints=list(reversed(prints)), **base)
    others = [
        prepared.digest(fingerprints=prints, **{**base, **change})
        for change in ({"family": "mesh"}, {"reference": "b" * 64}, {"unit_scale": 0.01}, {"item_ids": ["x"]}, {"item_ids": ["y", "x"]})
    ]
    others += [
        prepared.digest(fingerprints=prints[:1], **base),
        prepared.digest(fingerprints=[fingerprint("corner_f1", {"tau": 0.2})], **base),
    ]
    monkeypatch.setattr(prepared, "_versions", lambda: ["numpy 0"])
    others.append(prepared.digest(fingerprints=prints, **base))
    assert len({name, *others}) == len(others) + 1


def test_what_older_code_kept_is_not_read_by_newer_code(monkeypatch, tmp_path):
    """Promise: an upgrade fails no entry. Arrays kept by one version once broke the next one's mesh metrics."""
    arguments = ("mesh", "a" * 64, 1.0, [fingerprint("corner_f1", {})], ["x"])
    before = prepared.digest(*arguments)
    assert before == prepared.digest(*arguments)
    (tmp_path / "metrics" / "mesh").mkdir(parents=True)
    (tmp_path / "metrics" / "mesh" / "pair.py").write_text("FRAME = 5\n")
    monkeypatch.setattr(prepared, "_CODE", [tmp_path / "metrics"])
    prepared._code.cache_clear()
    try:
        after = prepared.digest(*arguments)
        (tmp_path / "metrics" / "mesh" / "pair.py").write_text("FRAME = 6\n")
        prepared._code.cache_clear()
        assert len({before, after, prepared.digest(*arguments)}) == 3
    finally:
        prepared._code.cache_clear()

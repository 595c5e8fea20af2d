"""The drawn examples: each shows what its sentence says, by the numbers of the code."""

import pytest

from evaluation.kinds import KINDS
from evaluation.metrics import registry
from evaluation.properties import weaknesses

ALL = [weakness for key in registry.REGISTRY for weakness in weaknesses.of(key)]


def shown(key: str, title: str, **params) -> tuple[float, ...]:
    (found,) = [weakness for weakness in weaknesses.of(key) if weakness.title == title]
    return found.values(params)


def test_every_metric_has_an_example_or_two():
    shown = {spec.key for spec in registry.REGISTRY.values() if KINDS[spec.family].weaknesses}
    for key in shown - {"saucd_w", "wf_learned"}:  # no weights of them ship, so there is no value to show
        assert 1 <= len(weaknesses.of(key)) <= 2, key


def test_a_family_without_drawings_has_no_examples():
    assert weaknesses.of("psnr") == ()


@pytest.mark.parametrize("weakness", ALL, ids=lambda weakness: f"{weakness.key}: {weakness.title}")
def test_the_sentence_takes_a_number_for_each_prediction_and_has_none_of_its_own(weakness):
    values = tuple(1000.0 + n for n in range(len(weakness.predictions)))
    text = weakness.text(values)
    assert text.endswith(".") and "{" not in text
    assert [value for value in values if text.count(f"{value:.0f}") != 1] == []
    assert len({label for label, _ in weakness.predictions}) == len(weakness.predictions)


EDGES = "It does not look at edges"
CUT = "Cutting edges in two costs, though nothing moves"
CLIFF = "Two centimetres decide everything"
CONNECTED = "It does not see what is connected"
SPLIT = "A needless corner can cost more than a lost edge"


@pytest.mark.parametrize("key", ["corner_precision", "corner_recall", "corner_f1"])
def test_corner_metrics_are_blind_to_edges(key):
    assert shown(key, EDGES) == (1.0, 1.0)


def test_corner_examples():
    assert shown("corner_precision", "One right corner is enough") == (1.0,)
    assert shown("corner_recall", "Any number of wrong corners is free") == (1.0,)
    assert shown("corner_f1", "The matching can lose hits") == pytest.approx((1 / 3,))
    (f1,) = [w for w in weaknesses.of("corner_f1") if w.title == "The matching can lose hits"]
    assert f1.values({"matching": "hungarian_capped"}) == pytest.approx((2 / 3,))
    assert shown("corner_offset", "It rewards finding less") == pytest.approx((0.0, 0.2))
    assert shown("corner_offset", EDGES) == (0.0,)


def test_edge_and_tube_examples():
    for key in ("edge_precision", "edge_recall", "edge_f1"):
        assert shown(key, CUT) == (0.0,)
    assert shown("edge_precision", "One right edge is enough") == shown("edge_recall", "Any number of wrong edges is free") == (1.0,)
    assert shown("edge_f1", CLIFF) == (1.0, 0.0)
    near, beyond = shown("hss", CLIFF)
    assert near > 0.5 and beyond == 0.0
    straight, turned = shown("hss", "The same mistake does not cost the same on a turned building")
    assert abs(straight - turned) > 0.02
    near, far = shown("jaccard_distance", "Near is as bad as far away")
    assert near > 0.97 and far == 1.0


@pytest.mark.parametrize("key", ["jaccard_distance", "ecd_chamfer", "ecd_emd", "wf_hausdorff"])
def test_geometric_distances_are_blind_to_connection(key):
    assert shown(key, CONNECTED) == (0.0,)


def test_curve_examples():
    wrong, moved = shown("ecd_chamfer", "A few wrong long edges hide in the average")
    assert wrong < moved / 2
    missing, moved = shown("ecd_emd", "A missing part makes other parts worse")
    assert missing > moved
    speck, tangle = shown("wf_hausdorff", "The worst point is all that counts")
    assert speck > 5 * tangle


def test_edit_distance_examples():
    for key in ("wed_prereg", "wed_mnn", "wed_hungarian", "wed_ap"):
        cut, lost = shown(key, SPLIT)
        assert cut > lost, key
    moved, twice = shown("wed_prereg", "Wrong place and wrong size are forgiven")
    assert moved == pytest.approx(0, abs=1e-9) and twice < 0.01
    for key in ("wed_mnn", "wed_nearest"):
        tangle, nothing = shown(key, "Handing in nothing can be better")
        assert tangle > nothing
    stray, without = shown("wed_hungarian", "A stray corner is dragged across")
    assert stray > without
    scribbled, lost = shown("wed_nearest", "Clutter around a corner collapses for nothing")
    assert scribbled < lost
    assert shown("wed_ap", "Loose corners are free") == (0.0,)


def test_spectral_and_ranked_examples():
    for key in ("spectral_l1", "spectral_l2"):
        assert shown(key, "It does not see where anything is") == pytest.approx((0.0, 0.0), abs=1e-9)
        assert shown(key, "It sees lengths, not angles") == pytest.approx((0.0,), abs=1e-9)
    lowest, highest = shown("sap3d", "The same drawing, two scores")
    assert lowest == 1.0 and highest < 0.9
    assert shown("sap3d", CUT)[0] < 0.5


def mesh_shown(key: str, title: str) -> tuple[float, ...]:
    if key not in registry.REGISTRY:
        pytest.skip(f"there is no {key}")
    return shown(key, title, **({"n": 10_000} if any(param.name == "n" for param in registry.get(key).params) else {}))


def test_surface_distance_examples():
    open_, moved = mesh_shown("chamfer_l1", "A missing side weighs less than a small shift")
    assert open_ < moved
    stray, open_ = mesh_shown("chamfer_l2", "One stray triangle outweighs a missing side")
    assert stray > 2 * open_
    for key in ("chamfer_l1", "chamfer_l2"):
        assert mesh_shown(key, "It does not see which side is outside") == pytest.approx((0.0,), abs=1e-3)
    assert mesh_shown("mesh_fscore", "A hair decides everything") == (1.0, 0.0)
    assert mesh_shown("mesh_fscore", "Beyond a distance, everything counts the same") == (0.0, 0.0)
    assert mesh_shown("uhd", "Extra parts are not seen")[0] < 0.1
    box, mast = mesh_shown("uhd", "The worst point is all that counts")
    assert mast > box


@pytest.mark.parametrize(
    ("key", "title", "best", "off"),
    [
        ("p2s", "Missing parts are not seen", 0.0, 1e-9),
        ("normal_difference", "It does not see where anything is", 0.0, 1e-9),
        ("saucd", "A mirror image is the same to it", 0.0, 1e-6),
        ("saucd", "It does not see size or place", 0.0, 1e-6),
        ("volume_iou", "Thin parts have no volume", 1.0, 0.002),
        ("volume_iou", "Thin things must lie exactly", 0.0, 0.05),
    ],
)
def test_blind_spots_of_mesh_metrics(key, title, best, off):
    assert mesh_shown(key, title) == pytest.approx((best,), abs=off)


def test_locase_does_not_see_size():
    twice, itself = mesh_shown("locase", "It does not see size or place")
    assert twice == pytest.approx(itself, abs=0.02)

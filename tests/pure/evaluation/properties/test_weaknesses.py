"""The drawn examples: each shows what its sentence says, by the numbers of the code."""

import pytest

from evaluation.kinds import KINDS
from evaluation.metrics import registry
from evaluation.properties import weaknesses

ALL = [weakness for key in registry.REGISTRY for weakness in weaknesses.of(key)]


def shown(key: str, name: str, **params) -> tuple[float, ...]:
    """Values of one of a metric's examples, by its name in the spec."""
    return dict(zip(registry.get(key).examples, weaknesses.of(key), strict=True))[name].values(params)


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


@pytest.mark.parametrize("key", ["corner_precision", "corner_recall", "corner_f1"])
def test_corner_metrics_are_blind_to_edges(key):
    assert shown(key, "EDGES_UNSEEN") == (1.0, 1.0)


def test_corner_examples():
    assert shown("corner_precision", "ONE_CORNER_ENOUGH") == (1.0,)
    assert shown("corner_recall", "WRONG_CORNERS_FREE") == (1.0,)
    assert shown("corner_f1", "LOST_HITS") == pytest.approx((1 / 3,))
    assert shown("corner_f1", "LOST_HITS", matching="hungarian_capped") == pytest.approx((2 / 3,))
    assert shown("corner_offset", "REWARDS_FINDING_LESS") == pytest.approx((0.0, 0.2))
    assert shown("corner_offset", "OFFSETS_WITHOUT_EDGES") == (0.0,)


def test_edge_and_tube_examples():
    for key in ("edge_precision", "edge_recall", "edge_f1"):
        assert shown(key, "CUT") == (0.0,)
    assert shown("edge_precision", "ONE_EDGE_ENOUGH") == shown("edge_recall", "WRONG_EDGES_FREE") == (1.0,)
    assert shown("edge_f1", "CLIFF") == (1.0, 0.0)
    near, beyond = shown("hss", "CLIFF")
    assert near > 0.5 and beyond == 0.0
    straight, turned = shown("hss", "TILT")
    assert abs(straight - turned) > 0.02
    near, far = shown("jaccard_distance", "FAR_IS_FAR")
    assert near > 0.97 and far == 1.0


@pytest.mark.parametrize("key", ["jaccard_distance", "ecd_chamfer", "ecd_emd", "wf_hausdorff"])
def test_geometric_distances_are_blind_to_connection(key):
    assert shown(key, "CONNECTION_UNSEEN") == (0.0,)


def test_curve_examples():
    wrong, moved = shown("ecd_chamfer", "FEW_WRONG_LONG_EDGES")
    assert wrong < moved / 2
    missing, moved = shown("ecd_emd", "MISSING_PARTS_PAID_BY_NEIGHBOURS")
    assert missing > moved
    speck, tangle = shown("wf_hausdorff", "WORST_POINT_DECIDES")
    assert speck > 5 * tangle


def test_edit_distance_examples():
    for key in ("wed_prereg", "wed_mnn", "wed_hungarian", "wed_ap"):
        cut, lost = shown(key, "SPLIT_OR_LOST")
        assert cut > lost, key
    moved, twice = shown("wed_prereg", "WRONG_PLACE_WRONG_SIZE")
    assert moved == pytest.approx(0, abs=1e-9) and twice < 0.01
    for key in ("wed_mnn", "wed_nearest"):
        tangle, nothing = shown(key, "WORSE_THAN_NOTHING")
        assert tangle > nothing
    stray, without = shown("wed_hungarian", "STRAY_MATCHED")
    assert stray > without
    scribbled, lost = shown("wed_nearest", "CLUTTER_AROUND_CORNER_COLLAPSES")
    assert scribbled < lost
    assert shown("wed_ap", "LOOSE_CORNERS_FREE") == (0.0,)


def test_spectral_and_ranked_examples():
    for key in ("spectral_l1", "spectral_l2"):
        assert shown(key, "POSE_UNSEEN") == pytest.approx((0.0, 0.0), abs=1e-9)
        assert shown(key, "SHEAR_UNSEEN") == pytest.approx((0.0,), abs=1e-9)
    lowest, highest = shown("sap3d", "SAME_DRAWING_TWO_SCORES")
    assert lowest == 1.0 and highest < 0.9
    assert shown("sap3d", "CUTTING_EDGES_TWO_COSTS")[0] < 0.5


def mesh_shown(key: str, name: str) -> tuple[float, ...]:
    if key not in registry.REGISTRY:
        pytest.skip(f"there is no {key}")
    return shown(key, name, **({"n": 10_000} if any(param.name == "n" for param in registry.get(key).params) else {}))


def test_surface_distance_examples():
    open_, moved = mesh_shown("chamfer_l1", "MISSING_SIDE_WEIGHS_LESS")
    assert open_ < moved
    stray, open_ = mesh_shown("chamfer_l2", "STRAY_TRIANGLE")
    assert stray > 2 * open_
    for key in ("chamfer_l1", "chamfer_l2"):
        assert mesh_shown(key, "INSIDE_OUT") == pytest.approx((0.0,), abs=1e-3)
    assert mesh_shown("mesh_fscore", "HAIR_DECIDES_EVERYTHING") == (1.0, 0.0)
    assert mesh_shown("mesh_fscore", "SATURATION") == (0.0, 0.0)
    assert mesh_shown("uhd", "EXTRA_PARTS_UNSEEN")[0] < 0.1
    box, mast = mesh_shown("uhd", "WORST_POINT_DECIDES")
    assert mast > box


@pytest.mark.parametrize(
    ("key", "title", "best", "off"),
    [
        ("p2s", "MISSING_PARTS_UNSEEN", 0.0, 1e-9),
        ("normal_difference", "PLACE_UNSEEN", 0.0, 1e-9),
        ("saucd", "MIRROR_IMAGE", 0.0, 1e-6),
        ("saucd", "SIZE_AND_PLACE_UNSEEN", 0.0, 1e-6),
        ("volume_iou", "THIN_PARTS_UNSEEN", 1.0, 0.002),
        ("volume_iou", "THIN_SHEETS", 0.0, 0.05),
    ],
)
def test_blind_spots_of_mesh_metrics(key, title, best, off):
    assert mesh_shown(key, title) == pytest.approx((best,), abs=off)


def test_locase_does_not_see_size():
    twice, itself = mesh_shown("locase", "SIZE_AND_PLACE_UNSEEN_BY_LOCASE")
    assert twice == pytest.approx(itself, abs=0.02)

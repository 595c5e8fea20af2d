"""The weights that ship, on objects they were not trained on."""

import numpy as np

from evaluation import weights
from evaluation.metrics.mesh.locase.metric import locase
from evaluation.metrics.mesh.locase.training import agreement
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.registry import REGISTRY
from evaluation.synthetic.distortions import KINDS, distort
from evaluation.synthetic.meshes import mesh


def check_that_damage_counts(kind):
    """The scores of one object, damaged in every way, fall with the damage."""
    whole, prepared = mesh(kind, 4_242), {}
    scores = [locase(MeshPair.of(distort(whole, damage, level), whole, prepared=prepared)).value for damage in KINDS for level in (1, 2, 4)]
    assert all(1 <= score <= 5 for score in scores)
    assert agreement(np.array(scores), np.tile([3.0, 2.0, 1.0], len(KINDS)))[1] > 0.4
    assert locase(MeshPair.of(whole, whole, prepared=prepared)).value > np.median(scores)


def test_more_damage_gets_less_on_the_whole():
    check_that_damage_counts("rock")


def test_the_page_and_the_card_say_that_no_person_was_asked():
    spec = REGISTRY["locase"]
    assert spec.unit == "pseudo-score" and "have seen no human score" in spec.doc
    card = weights.get("locase", "stage1").card
    assert card["human_scores"] is False and "have seen no human score" in card["statement"]


def test_the_card_tells_of_four_folds_with_disjoint_objects_and_every_acceptance_figure():
    card = weights.get("locase", "stage1").card
    left_out = [kind for fold in card["folds"].values() for kind in fold["left_out"]]
    assert len(card["folds"]) >= 4 and len(left_out) == len(set(left_out)) == 16
    assert all(-1 <= fold[measure] <= 1 for fold in card["folds"].values() for measure in ("plcc", "srocc", "krocc"))
    names = " ".join(figure["name"] for figure in card["acceptance"])
    assert all(word in names for word in ("soup", "subdivision", "noise", "scaled", "rotation", "outliers", "sign flips"))

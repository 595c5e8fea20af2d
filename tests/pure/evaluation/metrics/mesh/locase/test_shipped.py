"""The weights that ship, on objects they were not trained on."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.metrics.mesh.locase import model_card
from evaluation.metrics.mesh.locase.training import agreement
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.registry import REGISTRY
from evaluation.networks import weights
from evaluation.synthetic.distortions import KINDS, add_noise, distort
from evaluation.synthetic.meshes import mesh
from tests.support.evaluation.metrics.defaults import with_defaults

locase = with_defaults("locase")


def check_that_damage_counts(kind):
    """The scores of one object, damaged in every way, fall with the damage."""
    whole, prepared = mesh(kind, 4_242), {}
    scores = [locase(MeshPair.of(distort(whole, damage, level), whole, prepared=prepared)).value for damage in KINDS for level in (1, 2, 4)]
    assert [score for score in scores if not 1 <= score <= 5] == []
    assert agreement(np.array(scores), np.tile([3.0, 2.0, 1.0], len(KINDS)))[1] > 0.4
    assert locase(MeshPair.of(whole, whole, prepared=prepared)).value > np.median(scores)


def test_more_damage_gets_less_on_the_whole():
    check_that_damage_counts("rock")


def test_the_page_and_the_card_say_that_no_person_was_asked():
    spec = REGISTRY["locase"]
    assert spec.unit == "pseudo-score" and "not on people's scores" in spec.doc
    card = weights.get("locase", "stage1").card
    assert card["human_scores"] is False and card["statement"] == model_card.NO_HUMAN


def test_the_card_says_which_sentences_hold_and_the_page_warns_where_one_does_not():
    card = weights.get("locase", "stage1").card
    assert len(card["sentences"]) == 2, "five procedural meshes, and five that others made"
    for rows in card["sentences"].values():
        assert len(rows) == 4 and [row for row in rows if not (row["met"] == (row["held"] == row["of"]) and row["figure"])] == []
    assert card["may_rank"] == all(row["met"] for rows in card["sentences"].values() for row in rows)
    assert card["may_rank"] or REGISTRY["locase"].warning.startswith("Shown, not ranked")


def test_the_card_tells_of_every_acceptance_figure_or_that_none_was_measured():
    card = weights.get("locase", "stage1").card
    names = " ".join(figure["name"] for figure in card["acceptance"])
    words = ("soup", "subdivision", "noise", "scaled", "rotation", "outliers", "sign flips")
    assert all(word in names for word in words) or (not names and any("not been measured" in note for note in card["notes"]))


def test_the_card_holds_a_network_for_each_object_left_out_and_its_text_is_made_of_it():
    card = weights.get("locase", "stage1").card
    left_out = card["leave_one_out"]
    assert len(left_out["folds"]) == len(left_out["meshes"]) == 16 and set(left_out["meshes"].values()) == {20}
    means = model_card.left_out_means(left_out["folds"])
    assert {key: (one["mean"], (one["low"], one["high"])) for key, one in left_out["means"].items()} == {
        key: (pytest.approx(mean), pytest.approx(between)) for key, (mean, between) in means.items()
    }
    assert (Path(model_card.__file__).parent / "weights" / "stage1.md").read_text() == model_card.markdown(card)


def test_the_reference_has_the_best_and_invisible_noise_stays_within_two_hundredths():
    whole, prepared = mesh("rock", 4_243), {}
    unseen = add_noise(whole, 5e-4, np.random.default_rng(0))
    scores = [locase(MeshPair.of(it, whole, prepared=prepared)).value for it in (whole, unseen)]
    assert scores[0] == 5 and scores[1] >= 4.9

"""Facts on weights, from model cards and files that are written by hand here."""

from pathlib import Path

from evaluation.networks.weights import ShippedFile
from leaderboard.wording.weights import card_facts, file_facts


def test_a_card_says_what_the_weights_were_learnt_from_and_how_well_that_works():
    card = {
        "data": {"decisions": 12_000, "raters": 40},
        "simulated": True,
        "features": {"name": "squeeze"},
        "accuracy": {"mean": 0.8125, "sd": 0.02, "folds": 5},
    }
    assert dict(card_facts(card)) == {
        "Trained on": "12,000 decisions of 40 raters, simulated",
        "Features": "squeeze, frozen",
        "Accuracy": "0.812 ± 0.020 over 5 folds, on samples and methods that were not seen",
    }
    assert list(card_facts({"data": {}, "accuracy": {"mean": None}})) == []


def test_a_card_says_how_another_object_was_judged_and_which_limits_were_not_kept():
    rho = {"mean": 0.91, "low": 0.88, "high": 0.94}
    limits = [
        {"name": "shifted", "value": 0.013, "limit": 0.02, "met": True, "n": 30},
        {"name": "turned", "value": 0.071, "limit": 0.05, "met": False, "n": 30},
        {"name": "noise", "value": 0.2, "limit": None, "met": None, "n": 30},
    ]
    facts = dict(card_facts({"leave_one_out": {"means": {"srocc": rho}, "meshes": ["a", "b", "c"]}, "acceptance": limits}))
    assert "0.91 [0.88, 0.94], mean over 3 simulated objects" in facts["One object left out"]
    assert "trained on the other 2" in facts["One object left out"]
    assert facts["What should hardly change it"] == "1 of 2 limits of our own kept on 30 simulated objects; not kept: turned (7.1 %)"


def test_a_file_beside_its_card_is_known_by_its_digest():
    assert list(file_facts(ShippedFile("network/name", Path("name.safetensors"), "0123456789abcdef" * 4))) == [
        ("SHA-256", "0123456789abcdef…, of its model card")
    ]

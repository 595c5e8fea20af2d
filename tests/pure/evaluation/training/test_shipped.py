"""The small networks that ship: what their cards say is what they do, and together they stay small."""

import json
from pathlib import Path

import pytest
import torch

from evaluation.networks import weights as stored
from evaluation.networks.load import load
from evaluation.synthetic.objects import KINDS
from evaluation.training.backbone import accuracy, crops
from evaluation.training.detector import figures
from evaluation.training.scenes import scenes

FOLDER = Path(stored.__file__).parent / "shipped"
CARDS = sorted(FOLDER.glob("*/plumbline-small.json"))


@pytest.mark.parametrize("card", CARDS, ids=lambda path: path.parent.name)
def test_the_card_describes_the_file(card):
    described = json.loads(card.read_text())
    found = stored.get(card.parent.name, "plumbline-small")
    assert len(found.read()) == described["bytes"]  # reading checks the digest
    assert described["classes"] == list(KINDS) and described["held_out"] and described["statement"] in card.with_suffix(".md").read_text()
    assert f"sha256 `{described['sha256']}`" in card.with_suffix(".md").read_text()


def test_together_they_have_at_most_ten_megabytes():
    assert {card.parent.name for card in CARDS} == {"backbone", "yolox"}
    assert sum(card.with_suffix(".safetensors").stat().st_size for card in CARDS) <= 10_000_000


@pytest.fixture(scope="module")
def unseen(tmp_path_factory):
    torch.set_num_threads(1)
    return scenes(tmp_path_factory.mktemp("unseen"), "never seen", 5, 3, 320)


def test_the_backbone_names_objects_of_other_rooms_as_well_as_its_card_says(unseen):
    stated = stored.get("backbone", "plumbline-small").card["held_out"][0]
    measured = accuracy(load("backbone", "plumbline-small"), crops(unseen), stated["size"])
    assert measured["crops"] > 50 and measured["accuracy"] > max(stated["accuracy"] - 0.12, 2 / len(KINDS))


def test_the_detector_finds_objects_of_other_rooms_as_well_as_its_card_says(unseen):
    stated = stored.get("yolox", "plumbline-small").card["held_out"][0]
    measured = figures(load("yolox", "plumbline-small"), unseen, stated["size"])
    assert measured["map_50"] > 0.6 * stated["map_50"]

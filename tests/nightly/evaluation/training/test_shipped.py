"""The small networks that ship do on rooms that nobody has seen what their cards say."""

import pytest
import torch

from evaluation.networks import weights as stored
from evaluation.networks.load import load
from evaluation.synthetic.objects import KINDS
from evaluation.training.backbone import accuracy, crops
from evaluation.training.detector import figures
from evaluation.training.scenes import scenes


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

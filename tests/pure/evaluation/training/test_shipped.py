"""The small networks that ship: their cards describe them and they stay small; that they do what the cards say is tried at night."""

import json
from pathlib import Path

import pytest

from evaluation.networks import weights as stored
from evaluation.synthetic.objects import KINDS

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

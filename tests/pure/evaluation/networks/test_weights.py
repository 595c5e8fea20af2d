"""Weights and their cards: what ships is what its card says."""

import json

import pytest

from evaluation.metrics import registry
from evaluation.networks import weights


def test_shipped_weights_are_those_their_cards_describe():
    for name in weights.names("locase"):
        found = weights.get("locase", name)
        data = found.read()
        assert found.there and len(data) < 4_000_000 and found.card["name"] == name
        assert weights.digest("locase", name) == found.sha256 == found.card["sha256"]
        assert found.file.with_suffix(".md").read_text().count(found.sha256) == 1


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setitem(weights._FOLDERS, "locase", tmp_path)
    (tmp_path / "mine.json").write_text(json.dumps({"sha256": "ab" * 32}))
    return tmp_path


def test_absent_and_exchanged_files_are_refused_in_a_sentence(shelf):
    mine = weights.get("locase", "mine")
    assert not mine.there
    with pytest.raises(
        weights.WeightsError,
        match=r"“mine” of locase are not on this server; ask the operator to put mine\.safetensors beside its model card",
    ):
        mine.read()
    mine.file.write_bytes(b"something else")
    with pytest.raises(weights.WeightsError, match="sha256 differs"):
        mine.read()


def test_unknown_weights_are_named_with_those_there_are(shelf):
    assert weights.names("locase") == ("mine",) and weights.digest("locase", "yours") is None
    with pytest.raises(weights.WeightsError, match=r"'yours' of locase.* mine"):
        weights.get("locase", "yours")


def test_what_was_trained_here_stands_beside_what_ships_which_comes_first(monkeypatch, tmp_path):
    monkeypatch.setattr(weights, "_folder", [tmp_path])
    folder = weights.trained_folder("locase")
    folder.mkdir()
    for name in ("panel", "stage1"):
        (folder / f"{name}.json").write_text(json.dumps({"sha256": "ab" * 32}))
    assert weights.names("locase") == ("panel", "stage1") and {found.name for found in weights.trained()} == {"panel", "stage1"}
    assert weights.get("locase", "stage1").there and weights.digest("locase", "panel") == "ab" * 32
    (folder / "panel.json").unlink()
    assert weights.names("locase") == ("stage1",), "what is taken away is gone at once"


def test_what_a_card_says_goes_with_the_values_and_published_weights_say_nothing():
    osim, locase = registry.get("osim"), registry.get("locase")
    assert weights.statement(osim, {"weights": "yolox-x"}) == weights.statement(osim, {"weights": "no-more"}) == ""
    assert weights.statement(locase, {"weights": "stage1"}) == weights.get("locase", "stage1").card["statement"] != ""
    assert weights.statement(registry.get("psnr"), {}) == ""


def test_a_set_that_a_network_of_published_sets_lacks_was_removed_and_cannot_be_computed_with():
    osim, learned = registry.get("osim"), registry.get("wf_learned")
    assert weights.are_removed(osim, {"weights": "plumbline-small"}) and not weights.may_rank(osim, {"weights": "plumbline-small"})
    assert "yolox-l, yolox-m" in weights.refusal(osim, {"weights": "plumbline-small"})
    assert not weights.are_removed(osim, {"weights": "yolox-nano"})
    assert not weights.are_removed(learned, {"weights": "an operator's own"}), "it may come back"

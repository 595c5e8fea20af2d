"""Weights and their cards: what ships is what its card says."""

import json

import pytest

from evaluation import weights


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
    with pytest.raises(weights.WeightsError, match="no weights 'yours' of locase; there are: mine"):
        weights.get("locase", "yours")

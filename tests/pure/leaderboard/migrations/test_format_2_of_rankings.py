"""Rankings of the form of before, in format 2: the same numbers under other names."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from leaderboard.records.board import Board
from tests import ROOT
from tests.support.leaderboard.boards import board_of, column_of, judged
from tests.support.leaderboard.earlier_forms import in_format_1, in_format_2

FORMAT_2, FORMAT_3 = (import_module(f"leaderboard.migrations.{name}_of_rankings") for name in ("0042_format_2", "0046_format_3"))
KEPT = sorted(Path(ROOT, "tests/support/leaderboard/payloads").glob("*.json"))
NAMES = {"made_up": "simulated", "judgements": "answers", "guard": "reference_point"}


def numbers(found, place=""):
    """Every number and name of a ranking by its place, less the states and reasons that later forms have beside them."""
    if isinstance(found, list):
        return {key: each for n, one in enumerate(found) for key, each in numbers(one, f"{place}/{n}").items()}
    if not isinstance(found, dict):
        return {place: found}
    kept = {NAMES.get(name, name): each for name, each in found.items() if name not in ("reason", "state", "format", "acceptance_test", "trial")}
    return {key: each for name, one in kept.items() for key, each in numbers(one, f"{place}/{name}").items()}


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_ranking_of_before_keeps_every_number(path):
    before = json.loads(path.read_bytes())
    found = FORMAT_2.ranking(before)
    old, new = numbers(before), numbers(found)
    assert list(found) == list(before) and found["format"] == 2
    assert {key: each for key, each in old.items() if each is not None} == {key: new[key] for key, each in old.items() if each is not None}
    assert found["challenge"]["simulated"]
    trials = [one["trial"]["sentence"] for one in before["metrics"] if "trial" in one]
    assert [one["acceptance_test"]["sentence"] for one in found["metrics"] if "acceptance_test" in one] == trials


def test_a_sentence_becomes_a_reason_and_stays_as_a_note():
    (path,) = (path for path in KEPT if path.stem == "solids")
    column = FORMAT_2.ranking(json.loads(path.read_bytes()))["people"]["metrics"][0]
    assert (column["rho"]["why"], column["rho"]["state"]) == ("Fewer than 8 entries: no interval.", "no_interval")
    assert column["rho"]["reason"] == {"key": "few_for_correlation_interval", "counted": None, "need": 8, "have": None, "value": None}
    assert column["tier"] == 1, "tiers stay as they were made"


def test_a_ranking_of_the_last_form_becomes_the_bytes_that_were_written_next():
    """So a phase whose ranking changed in nothing but its form keeps one ranking, at both addresses."""
    after = in_format_2(judged(board_of([0.9, 0.5, 0.1]), [0.2, 0.8, 0.5]))
    assert json.dumps(FORMAT_2.ranking(in_format_1(after))) == json.dumps(after) != json.dumps(in_format_1(after))


def test_rankings_before_there_were_groups_are_over_their_items():
    written = in_format_1(in_format_2(board_of([0.5])))
    gone = ("uncertainty", "imported", "n_resampled", "inner", "resampled", "people")
    kept = {name: value for name, value in written.items() if name not in gone}
    kept["metrics"] = [{k: v for k, v in m.items() if k not in ("bounds", "loose", "untested", "pairs", "leads")} for m in kept["metrics"]]
    kept["overall"] = {name: value for name, value in kept["overall"].items() if name not in ("loose", "untested", "fixed")}
    old = Board.model_validate(FORMAT_3.ranking(FORMAT_2.ranking(kept)))
    assert (old.uncertainty, old.imported, old.people) == (1, None, None)
    assert (old.n_resampled, old.resampled, old.inner) == (old.n_items, "item", "")
    assert FORMAT_2.ranking(kept | {"resampled": "scene", "n_resampled": 2})["inner"] == "item"
    assert old.metrics[0].pair_p(0, 1) is None and old.metrics[0].bounds == (None, None) and old.redacted({1}).metrics[0].loose == []


def test_names_of_analyses_change_where_they_are_names_of_fields():
    """An entry may well be called as a field was."""
    of = {"duels": [1], "camps": None, "entries": {"duels": 3}, "all": {"duels": [2]}, "judges": [{"duels_with_people": [3], "key": "j"}]}
    assert FORMAT_2.analysis(of) == {
        "entry_pairs": [1],
        "rater_groups": None,
        "entries": {"duels": 3},
        "all": {"entry_pairs": [2]},
        "judges": [{"pairs_with_people": [3], "key": "j"}],
    }


def test_standings_by_tiers_keep_them_and_get_what_later_ones_hold():
    row = {"key": "constant", "guard": True, "tier": None}
    assert FORMAT_2.standings({"public": [row], "final": [], "made": "then"}) == {
        "public": [{"trained": "", "person": None, "standing": None, "key": "constant", "reference_point": True, "tier": None}],
        "final": [],
        "made": "then",
    }

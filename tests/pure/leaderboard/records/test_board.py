"""Rankings as records: the bytes that digests are of, what older rankings lack, and what is left of redacted entries."""

from __future__ import annotations

import json
from datetime import datetime

import numpy as np

from leaderboard.records.board import Board, BoardEntry, ColumnAcceptanceTest, Pairs, PublicEntry
from leaderboard.records.study import HIDDEN_NAME
from submissions.entry_fields import PUBLIC_FIELDS, FieldKind
from tests.support.leaderboard.boards import board_of, column_of
from tests.support.leaderboard.people import found


def test_every_number_is_read_to_its_last_bit():
    drawn = np.random.default_rng(0).integers(0, 0x7FF0_0000_0000_0000, 20_000).view(np.float64).tolist()  # every finite size
    numbers = [0.1 + 0.2, 5e-324, 2.2250738585072011e-308, 1.7976931348623157e308, 9007199254740993.0, *drawn]
    board = board_of(numbers)
    assert Board.from_json(board.to_json()).metrics[0].value == numbers


def test_what_only_some_rankings_hold_is_written_where_they_do():
    acceptance_test = ColumnAcceptanceTest(state="passed", id=3, scenes=["attic"])
    first = column_of("a", [0.5, 0.4], acceptance_test=acceptance_test, clean=[], weight=2, scale=[0, 1])
    values = {FieldKind.LINK: "https://example.org/w", FieldKind.COUNT: 38_000_000, FieldKind.AMOUNT: 0.4}
    card = {name: [values.get(PUBLIC_FIELDS[name].kind, "text"), None] for name in BoardEntry.stated}
    board = board_of(
        [0.5, 0.4], waiting=[["b"], None], **card, received_at=["2026-03-01T12:00:00.250000+00:00", "2026-03-01T14:00:00+02:00"]
    )
    board = board.model_copy(
        update={"metrics": [first, *board.metrics[1:]], "frozen_at": datetime.fromisoformat("2026-03-02T00:00:00+00:00")}
    )
    written = json.loads(board.to_json())
    order = [
        "id",
        "number",
        "name",
        "team",
        "team_id",
        "received_at",
        "counted",
        "baseline",
        "verified",
        "paper",
        "code",
        "state",
        "late",
        "detail",
        "reason",
    ]
    assert list(written["entries"][0]) == [*order, "waiting", *card] and list(written["entries"][1]) == order
    assert [entry["received_at"] for entry in written["entries"]] == ["2026-03-01T12:00:00.250000+00:00", "2026-03-01T14:00:00+02:00"]
    assert written["frozen_at"] == "2026-03-02T00:00:00+00:00"
    assert written["metrics"][0]["clean"] == [] and written["metrics"][0]["acceptance_test"] == acceptance_test.model_dump()
    assert not written["metrics"][1].keys() & {"acceptance_test", "clean", "percent"}
    assert (repr(written["metrics"][0]["weight"]), repr(written["metrics"][1]["weight"])) == ("2", "1.0"), "as the organizer wrote it"
    assert Board.model_validate(written) == board


def test_what_people_say_is_written_in_the_order_that_digests_are_of():
    changes = {"firm": {"rank": (1, 1), "settled": True, "fragile": None, "answers": 9, "raters_counted": 5, "samples_counted": 5}}
    changes |= {"may_be_first": [0], "few": {}, "unsampled": True, "places": [(1, 1), (2, 2)], "scale": (0.0, 1.0)}
    order = (
        "people study kind of criterion raters groups answers questions at note left_out reason band metrics value low high n first over "
    )
    order += "marks firm may_be_first few unsampled places scale"
    assert list(found(**changes).model_dump(mode="json")) == order.split()


class TestRedacted:
    def test_an_entry_keeps_its_place_and_nothing_else(self):
        pairs = Pairs(tested=[0, 1, 2], p=[[0.01, 0.02], [0.03], []])
        board = board_of([0.9, 0.5, 0.1], groups=[1, 2, 2], paper=["", "https://x.example", ""])
        first = column_of("a", [0.9, 0.5, 0.1], groups=[1, 2, 2], pairs=pairs, leads=[(1, 0.6), (0, 0.4)], loose=[False, True, True])
        left = board.model_copy(update={"metrics": [first]}).redacted({2})
        hidden, column = left.entries[1], left.metrics[0]
        assert (hidden.id, hidden.name, hidden.team, hidden.team_id, hidden.paper) == (2, HIDDEN_NAME, "", 0, "")
        assert left.entries[0] == board.entries[0] and left.entries[2] == board.entries[2]
        assert column.value == [0.9, None, 0.1] and column.n == [4, 0, 4] and column.rank == [1, 2, 3] and column.order == [0, 1, 2]
        assert column.group == [1, None, 2] and column.loose == [False, False, True] and column.leads == [(0, 0.4)]
        assert (column.pair_p(0, 1), column.pair_p(0, 2)) == (None, 0.02)
        assert left.overall.value == [0.9, None, 0.1] and left.overall.rank == [1, 2, 3]

    def test_a_ranking_without_them_is_as_it_was(self):
        board = board_of([0.9])
        assert board.redacted({77}) is board and board.redacted(()) is board


def test_a_pair_has_one_p_whichever_comes_first():
    column = column_of("a", [0.9, 0.5, 0.1], pairs=Pairs(tested=[0, 2], p=[[0.04], []]))
    assert (column.pair_p(0, 2), column.pair_p(2, 0), column.pair_p(0, 1), column.pair_p(2, 2)) == (0.04, 0.04, None, None)


def test_the_public_record_of_an_entry_states_what_the_list_of_fields_calls_public_and_nothing_else():
    own = {"id", "number", "team", "received_at", "counted", "baseline", "verified", "late", "detail", "state"}  # of the service
    assert PublicEntry.model_fields.keys() - own == PUBLIC_FIELDS.keys()
    types = {name: PublicEntry.model_fields[name].annotation for name in PUBLIC_FIELDS}
    numbers = {FieldKind.COUNT: int | None, FieldKind.AMOUNT: float | None}
    texts = {name: str | None if name in BoardEntry.stated else str for name in PUBLIC_FIELDS}
    assert types == {name: numbers.get(field.kind, texts[name]) for name, field in PUBLIC_FIELDS.items()}

"""Small rankings for tests, without a database."""

from __future__ import annotations

from leaderboard.records.board import FORMAT, Board, HumanAgreement, MetricColumn
from leaderboard.stats import ranking


def column_of(slug: str, values: list[float | None], higher: bool = True, groups=None, **changes) -> MetricColumn:
    ranks = ranking.rank(values, higher)
    nothing = [None] * len(values)
    figures = {
        "slug": slug,
        "key": slug,
        "title": slug.upper(),
        "higher_is_better": higher,
        "unit": "",
        "decimals": None,
        "scale": [0.0, 1.0],
        "value": values,
        "ci_low": nothing,
        "ci_high": nothing,
        "n": [4] * len(values),
        "rank": ranks,
        "rank_low": ranks,
        "rank_high": ranks,
        "group": groups or nothing,
        "order": ranking.order(values, higher),
        "is_primary": slug == "a",
        "fingerprint": "",
        "params": {},
        "in_ranking": True,
        "weight": 1.0,
    }
    return MetricColumn.model_validate(figures | changes)


def board_of(a: list[float | None], b: list[float | None] | None = None, groups=None, overall=None, **entries) -> Board:
    """A board ranked by metric a; `overall` changes the overall rank, `entries` gives whole columns of entry fields: baseline=[...]."""
    first = column_of("a", a, groups=groups)
    rows = []
    for i in range(len(a)):
        given_ = {name: values[i] for name, values in entries.items()}
        row = {"id": i + 1, "number": i + 1, "name": f"method {i}", "team": f"team {i}", "team_id": i, "counted": True, "baseline": False}
        row |= {"received_at": f"2026-03-{i % 28 + 1:02d}T12:00:00+00:00", "verified": False, "state": "", "late": False, "reason": ""}
        rows.append(row | {"paper": "", "code": ""} | given_)
    ranks = {k: getattr(first, k) for k in ("value", "rank", "rank_low", "rank_high", "group", "order", "higher_is_better")}
    ranks |= {"rule": "primary", "metrics": ["a"], "ranks": [None] * len(a), "incomplete": 0, "problem": None} | (overall or {})
    return Board.model_validate(
        {
            "format": FORMAT,
            "uncertainty": 1,
            "audience": "public",
            "batch": 1,
            "challenge": {"slug": "c", "title": "C", "simulated": True},
            "reference": 1,
            "phase": {"slug": "p", "title": "P", "entries": "best", "rule": "primary"},
            "frozen_at": None,
            "n_teams": len(a),
            "n_entries": len(a),
            "n_items": 4,
            "resampled": "item",
            "n_resampled": 4,
            "inner": "",
            "entries": rows,
            "metrics": [first, column_of("b", b or a, higher=False)],
            "overall": ranks,
        }
    )


def judged(board: Board, value: list[float | None], half: float = 0.05, **changes) -> Board:
    """The board with what 9 people prefer in 120 answers, each share within `half`; `changes` are of `HumanAgreement`."""
    known = [n for n, share in enumerate(value) if share is not None]
    found = {
        "study": {"id": 1, "slug": "s", "title": "S", "question": "?", "source": "", "simulated": False},
        "kind": "pairs",
        "of": "votes",
        "criterion": "",
        "raters": 9,
        "groups": [],
        "answers": 120,
        "questions": 120,
        "people": 4,
        "at": "2026-03-01T12:00:00+00:00",
        "note": "",
        "left_out": [],
        "reason": None,
        "band": None,
        "metrics": [],
        "value": value,
        "low": [None if share is None else share - half for share in value],
        "high": [None if share is None else share + half for share in value],
        "n": [0 if share is None else 40 for share in value],
        "first": max(known, key=lambda n: value[n]) if known else None,
        "over": [None] * len(value),
        "marks": {},
    }
    return board.model_copy(update={"people": HumanAgreement.model_validate(found | changes)})

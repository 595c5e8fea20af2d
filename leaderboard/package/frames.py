"""Boards, entries and studies of a server as pandas frames, over its public API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from leaderboard.package import installed
from submissions.client.transfer import Server, ServerError

if TYPE_CHECKING:
    from pandas import DataFrame

PIECE = 100  # rows asked for at once
PATIENCE_SECONDS = 20.0  # somebody sits before a notebook


@contextmanager
def _names_of_this_version() -> Iterator[None]:
    """Refuse answers with names that this version does not know, in a sentence."""
    try:
        yield
    except KeyError as error:
        raise ServerError(
            f"The server's answer has no {error}: this package is of another version. Install the one from its page /docs/client/."
        ) from None


class Site:
    """A Plumbline server. `token` is needed for what is not public, your own entries among it.

    Frames show what the pages show; a frame's `attrs` say what it is of. Raises `submissions.client.transfer.ServerError`, whose text is a
    sentence.
    """

    def __init__(self, url: str, token: str = "") -> None:
        self._server = Server(url, token, patience=PATIENCE_SECONDS)

    def challenges(self) -> DataFrame:
        """One row per challenge that you may see, newest first."""
        return frame(list(self._pieces("api/v1/challenges")))

    @_names_of_this_version()
    def board(self, challenge: str, phase: str, digest: str = "") -> DataFrame:
        """The newest ranking of a phase, or the one that `digest` names: one row per entry, best first.

        For each metric there are the columns SLUG, SLUG_low and SLUG_high (the ends of the 95 % interval), SLUG_n and SLUG_rank. `attrs`
        hold the ranking's digest, its address, its rule, and under `columns` of each metric title, direction, unit and fingerprint.
        """
        place = f"api/v1/challenges/{challenge}/phases/{phase}"
        head = self._server.get(f"{place}/snapshots/{digest}" if digest else f"{place}/board")
        rows = []
        for row in self._pieces(head["rows_url"]):
            scores = row.pop("scores")
            row |= dict(zip(("rank_low", "rank_high"), row.pop("ranks") or (None, None), strict=True))
            for slug, cell in scores.items():
                low, high = cell["ci"] or (None, None)
                row |= {slug: cell["value"], f"{slug}_low": low, f"{slug}_high": high, f"{slug}_n": cell["n"], f"{slug}_rank": cell["rank"]}
            rows.append(row)
        found = frame(rows)
        found.attrs = {name: head[name] for name in ("digest", "page_url", "rule", "challenge", "phase", "simulated", "reference")}
        told = ("title", "higher_is_better", "unit", "fingerprint")
        found.attrs["columns"] = {column["slug"]: {name: column.get(name) for name in told} for column in head["columns"]}
        return found

    @_names_of_this_version()
    def entries(self, challenge: str = "", phase: str = "") -> DataFrame:
        """Your teams' entries, newest first, with the value of each metric under its slug; needs a token."""
        wanted = {name: value for name, value in (("challenge", challenge), ("phase", phase)) if value}
        rows = []
        for row in self._pieces("api/v1/submissions", **wanted):
            rows.append(row | {slug: score["value"] for slug, score in (row.pop("scores") or {}).items()})
        return frame(rows)

    @_names_of_this_version()
    def items(self, entry: int, metric: str) -> DataFrame:
        """The values of an entry by item, and their parts, under one metric's slug; NaN where there is none."""
        rows = []
        for row in self._pieces(f"api/v1/submissions/{entry}/items", metric=metric):
            rows.append(row | row.pop("parts"))
        return frame(rows)

    def studies(self, challenge: str, phase: str) -> DataFrame:
        """One row per study of people in a phase, newest first."""
        return frame(list(self._pieces(f"api/v1/challenges/{challenge}/phases/{phase}/studies")))

    @_names_of_this_version()
    def study(self, challenge: str, phase: str, study: str, criterion: str = "") -> DataFrame:
        """Agreement of each metric with the people of a study, one row per metric. Columns: decided agreement, the ends of its interval,
        the number of answers, the reason for a missing interval, its state and its places. `criterion`: the study's first if none is given.
        `attrs["analysis"]` is all of it.

        Of answers that were brought in as one set: `decided`, or `concordance` with people's means, and `srocc` across items, with the ends
        of their intervals, the places, and the state of the figure."""
        found = self._server.get(f"api/v1/challenges/{challenge}/phases/{phase}/studies/{study}")
        analyses = found["analyses"] if found["record"] is None else found["record"]["criteria"]
        name = criterion or next(iter(analyses), "")
        analysis = analyses.get(name, {})
        table = frame(_of_votes(analysis) if found["record"] is None else _of_set(analysis))
        table.attrs = {"study": study, "criterion": name, "title": found["title"], "simulated": found["simulated"], "analysis": analysis}
        return table

    def _pieces(self, address: str, **wanted: str) -> Iterator[dict[str, Any]]:
        piece = self._server.get(address, limit=PIECE, **wanted)
        while True:
            yield from piece["items"]
            if not piece["next"]:
                return
            piece = self._server.get(piece["next"])


def _of_votes(analysis: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for line in analysis.get("metrics", ()):
        figures = {part: line["decided"][part] for part in ("value", "low", "high", "n", "why")}
        rows.append({"metric": line["key"], "standing": line["standing"], "places": line["places"]} | figures)
    return rows


def _of_set(criterion: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for key, line in criterion.get("metrics", {}).items():
        row: dict[str, Any] = {"metric": key, "reference_point": line["reference_point"]}
        for name in ("decided", "concordance", "srocc"):
            if (figure := line.get(name)) is not None:
                ends = {f"{name}_{part}": figure.get(part) for part in ("low", "high", "n", "places", "state")}
                row |= {name: figure.get("value")} | ends
        rows.append(row)
    return rows


def frame(rows: list[dict[str, Any]]) -> DataFrame:
    """Rows as a pandas frame; the sentence that installs pandas where it is missing."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(installed.missing("pandas", "frames") or str(error), name=error.name) from None
    return pandas.DataFrame(rows)

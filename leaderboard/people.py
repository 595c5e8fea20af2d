"""What boards say of people: how far each metric agrees with them, what they prefer, and where a row contradicts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse

from evaluation.models import EvaluationBatch
from leaderboard.models import Study, StudyAnalysis
from leaderboard.stats.ranking import order, rank
from submissions.models import Phase


@dataclass(frozen=True)
class Trust:
    """How far one column of a board agrees with the people of a study, in words and as a bar."""

    agreed: int | None  # of 100 answers
    words: str
    title: str
    url: str

    @property
    def share(self) -> int:
        return self.agreed or 0


@dataclass(frozen=True)
class People:
    """The newest study of a phase that its board shows, and what follows from it for the board's columns and rows."""

    study: Study
    content: dict[str, Any]
    url: str
    trust: dict[str, Trust] = field(default_factory=dict)  # by slug
    marks: dict[tuple[int, str], list[dict[str, Any]]] = field(default_factory=dict)  # by submission and slug
    preferred: dict[int, list[float | None]] = field(default_factory=dict)  # win rate and its interval, by submission


def of_phase(phase: Phase, organizes: bool) -> People | None:
    """What the board of the phase shows of people; None without a study that has been analysed and that the viewer may see.

    One query, however many entries there are.
    """
    rows = StudyAnalysis.objects.filter(study__phase=phase, content__isnull=False).select_related("study")
    if not organizes:
        rows = rows.filter(study__is_public=True)
    found = sorted(rows, key=lambda row: (row.study.created_at, row.study_id, row.criterion == "overall", row.criterion), reverse=True)
    for row in found:
        if row.content["metrics"]:
            row.study.phase = phase
            return _people(row, phase)
    return None


def _people(row: StudyAnalysis, phase: Phase) -> People:
    study, content = row.study, row.content
    url = reverse("study", args=[phase.challenge.slug, phase.slug, study.slug])
    entries = content["entries"]
    between = content["people"]["pairs"]
    people = len(content["raters"])
    trust, marks = {}, {}
    for line in content["metrics"]:
        agreed = None if line["pairs"]["value"] is None else round(100 * line["pairs"]["value"])
        words = "people: no answer" if agreed is None else f"{agreed} / 100 pairs, {people} raters"
        rho = line["order"]["srocc"]
        title = reading(line["key"], line["pairs"], between) + (
            f" Spearman's ρ with the people's order: {rho:.2f}." if rho is not None else ""
        )
        trust[line["key"]] = Trust(agreed, words, title, f"{url}#metrics")
        for one in line["contradictions"]:
            if one["other"] in entries:
                marks.setdefault((entries[one["other"]], line["key"]), []).append(one)
    preferred = {entries[line["method"]]: line["win_rate"] for line in content["scales"] if line["method"] in entries}
    return People(study, content, url, trust, marks, preferred)


def column(found: People, content: dict[str, Any]) -> dict[str, Any]:
    """The people's preference as a column of a board's payload: the share of comparisons that an entry won, ties half."""
    shown = [found.preferred.get(entry["id"], [None, None, None]) for entry in content["entries"]]
    value, low, high = ([row[n] for row in shown] for n in range(3))
    counted = [v if entry["counted"] else None for v, entry in zip(value, content["entries"], strict=True)]
    ends = [v for v in (*low, *high) if v is not None]
    n = len(content["entries"])
    return {
        "slug": "people", "key": "people", "title": "People", "fingerprint": "", "params": {}, "higher_is_better": True, "unit": "",
        "is_primary": False, "in_ranking": False, "weight": 0.0, "scale": [min(ends, default=0.0), max(ends, default=1.0)], "decimals": 2,
        "value": value, "ci_low": low, "ci_high": high, "n": [found.content["questions"] if v is not None else 0 for v in value],
        "rank": rank(counted, True), "rank_low": [None] * n, "rank_high": [None] * n, "group": [None] * n, "order": order(value, True),
    }  # fmt: skip


def bars(found: People, titles: dict[str, str]) -> list[dict[str, Any]]:
    """The metrics by how far they agree with people, most first, with their intervals on a common line."""
    rows = [line for line in found.content["metrics"] if line["pairs"]["value"] is not None]
    ends = [[line["pairs"][name] for name in ("value", "low", "high")] for line in rows]
    between = found.content["people"]["pairs"]
    drawn = [
        {
            "title": titles.get(line["key"], line["key"]), "agreed": round(100 * line["pairs"]["value"]),
            "low": round(100 * line["pairs"]["low"]), "high": round(100 * line["pairs"]["high"]), "bar": spread(*end, ends),
            "reading": reading(titles.get(line["key"], line["key"]), line["pairs"], between),
        }
        for line, end in zip(rows, ends, strict=True)
    ]  # fmt: skip
    return sorted(drawn, key=lambda row: -row["agreed"])


def reading(title: str, pairs: dict[str, Any], between: dict[str, Any]) -> str:
    """A metric's agreement in plain words, beside that of two people."""
    if pairs["value"] is None:
        return f"{title} answers none of the study's questions."
    words = f"{title} orders {round(100 * pairs['value'])} of 100 pairs as the raters did"
    words += f" (95 % interval {round(100 * pairs['low'])} to {round(100 * pairs['high'])})"
    return f"{words}; two raters agree on {round(100 * between['value'])}." if between["value"] is not None else f"{words}."


def spread(value: float | None, low: float | None, high: float | None, rows: Sequence[Sequence[float | None]]) -> dict[str, float] | None:
    """Where a value and its interval stand, in percent of the line that holds all `rows`; None without a value."""
    ends = [end for row in rows for end in row if end is not None]
    if value is None or not ends:
        return None
    start, width = min(ends), (max(ends) - min(ends)) or 1.0
    at = [round(100 * ((value if end is None else end) - start) / width, 1) for end in (value, low, high)]
    return {"dot": at[0], "left": at[1], "width": round(at[2] - at[1], 1)}


def metric_titles(phase: Phase) -> dict[str, str]:
    """The titles of the phase's metrics under its current batch, by slug."""
    batch = EvaluationBatch.current(phase)
    return {metric["slug"]: metric["title"] for metric in batch.metrics} if batch else {}

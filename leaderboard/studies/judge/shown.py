"""What a study's page shows of judge models."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.conf import settings

from leaderboard.boards.human_agreement import Line, lines_of
from leaderboard.charts import judges
from leaderboard.models import JudgeRun, Study
from leaderboard.studies.judge.instructions import CRITERIA, KEYS, OVERALL
from leaderboard.studies.judge.scores import facts
from leaderboard.studies.summary import HIDDEN_NAME, Judge, Summary

TITLES = {one.key: one.title for one in CRITERIA}
OVERALL_KEY = KEYS[OVERALL]


def costs(cost: float | None, n_uncosted: int = 0) -> str:
    """A sum of money in words; what of it is not known is said."""
    if cost is None or (n_uncosted and not cost):
        return "not counted"
    return f"{cost:.2f} {settings.JUDGE_CURRENCY}{' and more' if n_uncosted else ''}"


def of_study(study: Study, summary: Summary | None, withheld: Collection[str] = ()) -> list[dict[str, Any]]:
    """Each judge of a study: its scores as a radar chart and a table, what they took, and how far it agrees with people.

    `summary` is the study's analysis on the criterion that is shown, where there is one; of the entries `withheld` nothing is said.
    """
    found = []
    beside = {line.key: line for line in summary.judges} if summary is not None else {}
    runs: dict[int, list[JudgeRun]] = {}
    for run in JudgeRun.ended(study).select_related("rater", "newcomer"):
        run.study = study
        runs.setdefault(run.rater_id, []).append(run)
    for own in runs.values():
        newest = own[-1]
        criteria = {key: _without(one, withheld) for key, one in scores_of(newest).items()}
        took = facts(own)
        titles = [TITLES[key] for key in criteria]
        radar = None if newest.is_for_display_only else judges.radar(titles, _scores(criteria)).to_dict()
        found.append(
            {
                "name": newest.rater.name, "run": newest, "display_only": newest.is_for_display_only, "radar": radar,
                "agreement": beside.get(newest.rater.name), "line": _line(beside.get(newest.rater.name), summary),
                "together": _together(beside.get(newest.rater.name), summary), "took": took, "cost": costs(took["cost"]),
                "duels": _duels(beside.get(newest.rater.name), summary),
                "table": _table(criteria), "criteria": titles, "newcomer": newest.newcomer,
                "anchor": next((one["anchor"] for one in criteria.values()), ""),
            }
        )  # fmt: skip
    return found


def _line(judge: Judge | None, summary: Summary | None) -> Line | None:
    """How far a judge agrees with people, on the scale of metrics; None for one that is for display only, or has no answer of theirs."""
    if judge is None or judge.decided is None or judge.display_only or summary is None:
        return None
    return Line(judge.key, judge.decided, summary.band, key=judge.key)


def _together(judge: Judge | None, summary: Summary | None) -> list[dict[str, Any]]:
    """Each metric's agreement by people alone and by people with the judge."""
    if judge is None or summary is None:
        return []
    lines = {line.key: line for line in lines_of(summary)}
    return [{"line": lines[one.key], "it": one} for one in judge.with_people if one.key in lines]


def _duels(judge: Judge | None, summary: Summary | None) -> list[dict[str, Any]]:
    """How often people pick one entry of two, alone and with the judge, where both have intervals."""
    if judge is None or summary is None:
        return []
    alone = {(duel.first, duel.second): duel.value for duel in summary.duels}
    turned = {(second, first): tuple(None if v is None else 1 - v for v in (v0, v2, v1)) for (first, second), (v0, v1, v2) in alone.items()}
    known = alone | turned
    rows = [{"it": one, "alone": known.get((one.first, one.second), (None, None, None))} for one in judge.duels_with_people]
    return [row for row in rows if row["it"].low is not None and row["alone"][1] is not None]


def _without(scores: dict[str, Any], withheld: Collection[str]) -> dict[str, Any]:
    rows = [row for row in scores["rows"] if row["method"] not in withheld]
    return scores | {"rows": rows, "anchor": HIDDEN_NAME if scores["anchor"] in withheld else scores["anchor"]}


def scores_of(run: JudgeRun) -> dict[str, Any]:
    """The run's scores by criterion, in the study's order of criteria."""
    found = (run.result or {}).get("criteria", {})
    return {key: found[key] for key in run.study.in_order(found)}


def _scores(criteria: dict[str, Any]) -> dict[str, list[float | None]]:
    """The Elo of each method on each criterion, the best overall, or on the last criterion where that was not asked, first."""
    rows = {key: {row["method"]: row["elo"] for row in one["rows"]} for key, one in criteria.items()}
    lead = [OVERALL_KEY, *reversed(rows)] if OVERALL_KEY in rows else [*reversed(rows)]
    names = list(dict.fromkeys(name for key in lead for name in rows[key]))
    return {name: [rows[key].get(name) for key in rows] for name in names}


def _table(criteria: dict[str, Any]) -> list[dict[str, Any]]:
    by_key = {key: {row["method"]: row for row in one["rows"]} for key, one in criteria.items()}
    return [{"method": name, "cells": [by_key[key].get(name) for key in by_key]} for name in _scores(criteria)]

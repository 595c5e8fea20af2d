"""What the page of a study of opinion scores shows of its analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard import plots_study
from leaderboard.people import on_scale, opinion_reading, spread, trained_more, trained_words
from leaderboard.stats.opinions import SCREENED

MOST_CONTRADICTIONS = 30
COEFFICIENTS = (("srocc", "Spearman's ρ"), ("plcc", "Pearson's r"), ("krocc", "Kendall's τ-b"))


def shown(
    content: Mapping[str, Any],
    others: Mapping[str, Mapping[str, Any]],
    entries: Mapping[str, int | None],
    titles: Mapping[str, str],
    metric: str,
) -> dict[str, Any]:
    """The page's context: `others` are the analyses of all criteria, `entries` submissions by label, `metric` the one drawn."""
    groups = sorted({group for group in content["groups"] if group})
    models = [line | {"is_judge": True} for line in content.get("judges", []) if line["order"]]
    metrics = [_metric(line, titles, groups) for line in (*content["metrics"], *models)]
    metrics.sort(key=lambda line: -(line["order"]["srocc"] if line["order"]["srocc"] is not None else -2))
    chosen = next((line for line in metrics if line["key"] == metric), metrics[0] if metrics else None)
    turned = [one | {"metric": line["title"]} for line in metrics for one in line["contradictions"]]
    turned.sort(key=lambda one: -one["low"])
    return {
        "found": content, "scales": _scales(content, entries), "criteria_table": _by_criterion(content, others), "metrics": metrics,
        "least": SCREENED, "groups": groups, "coefficients": COEFFICIENTS, "chosen": chosen,
        "has_ends": any(line["mos"][1] is not None for line in content["scales"]),
        "has_counts": any(line["n"] is not None for line in content["scales"]),
        "scatter": _scatter(content, chosen) if chosen else None, "samples_table": _by_sample(content, metrics),
        "raters": [line | {"number": n} for n, line in enumerate(content["reliability"]["raters"], 1)],
        "contradictions": turned[:MOST_CONTRADICTIONS], "n_contradictions": len(turned),
    }  # fmt: skip


def _scales(content: Mapping[str, Any], entries: Mapping[str, int | None]) -> list[dict[str, Any]]:
    rows = [line | {"mos": on_scale(line["mos"])} for line in content["scales"]]
    ends = [line["mos"] for line in rows]
    out = set(content["left_out"])
    return [
        line | {"place": place, "entry": entries.get(line["method"]), "bar": spread(*line["mos"], ends), "is_out": line["method"] in out}
        for place, line in enumerate(rows, 1)
    ]


def _metric(line: Mapping[str, Any], titles: Mapping[str, str], groups: list[str]) -> dict[str, Any]:
    order, title = line["order"], titles.get(line["key"], line["key"])
    low, high = order["srocc_ci"] or (None, None)
    said = opinion_reading(title, {"value": order["srocc"], "low": low, "high": high, "n": order["n"]})
    return {
        **line, "title": title, "reading": said + trained_more(line, True), "trained": trained_words(line, True),
        "cells": [{"value": order[name], "ci": order[f"{name}_ci"]} for name, _ in COEFFICIENTS],
        "by_group": [line["groups"].get(group) for group in groups],
    }  # fmt: skip


def _by_criterion(content: Mapping[str, Any], others: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Mean opinions of every criterion side by side, in the order of the one shown; None where there is one criterion."""
    if len(others) < 2:
        return None
    means = {name: {line["method"]: on_scale(line["mos"]) for line in found["scales"]} for name, found in others.items()}
    nothing = [None, None, None]
    rows = [
        {"method": line["method"], "cells": [found.get(line["method"], nothing) for found in means.values()]} for line in content["scales"]
    ]
    return {"names": list(means), "rows": rows}


def _by_sample(content: Mapping[str, Any], metrics: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Spearman's rho of each metric within each sample; None where there is at most one."""
    if len(content["samples"]) < 2 or not metrics:
        return None
    rows = [{"sample": name, "cells": [line["scenes"].get(name) for line in metrics]} for name in content["samples"]]
    return {"titles": [line["title"] for line in metrics], "rows": rows}


def _scatter(content: Mapping[str, Any], line: Mapping[str, Any]) -> dict[str, Any]:
    mos = {row["method"]: on_scale(row["mos"]) for row in content["scales"]}
    out = set(content["left_out"])
    points = [
        plots_study.Point(name, value, *mos[name], is_out=name in out)
        for name, value in zip(content["methods"], line["values"], strict=True)
        if value is not None and mos[name][0] is not None
    ]
    return plots_study.scatter(line["title"], line["higher_is_better"], points).to_dict()

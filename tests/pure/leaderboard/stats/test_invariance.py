"""Invariance of a study's figures, and the little that may change them: names, sides, a metric turned with its direction, repeats."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from leaderboard.stats.records import plain as as_json
from leaderboard.stats.study import MetricScores, analyse
from leaderboard.stats.votes import Vote, canonical

ENTRIES, SAMPLES, RATERS = ("ash", "beech", "cedar", "elm", "fir"), tuple("tuvwxyz"), tuple(f"rater {k}" for k in range(9))
TURNED = {"left": "right", "right": "left", "tie": "tie"}
METRIC = (
    "decided",
    "auc_better_worse",
    "auc_different_similar",
    "acc_eq",
    "spa",
    "rho",
    "tau",
    "r",
    "difference",
    "person",
    "standing",
    "places",
)
PLACES = dict.fromkeys((*ENTRIES, *SAMPLES, *RATERS))


def study(ties: float = 0.3, seed: int = 0, each: int = 45) -> list[Vote]:
    """Answers of people who mostly like the later entries, and the left side a little."""
    rng = np.random.default_rng(seed)
    worth = np.linspace(-0.9, 0.9, len(ENTRIES)) + rng.normal(0, 0.4, (len(RATERS), len(SAMPLES), len(ENTRIES)))
    rows = []
    for k, rater in enumerate(RATERS):
        asked = [(h, i, j) for h in range(len(SAMPLES)) for i in range(len(ENTRIES)) for j in range(i)]
        for n in rng.choice(len(asked), each, replace=False):
            h, i, j = asked[n]
            i, j = (i, j) if rng.random() < 0.5 else (j, i)
            first = rng.random() < 1 / (1 + np.exp(worth[k, h, j] - worth[k, h, i] - 0.2))
            choice = "tie" if rng.random() < ties else "left" if first else "right"
            rows.append(Vote(rater, ENTRIES[i], ENTRIES[j], choice, SAMPLES[h]))
    return rows


def values(seed: int = 1) -> dict[str, np.ndarray]:
    """Values of three metrics, by sample and entry in the order of the names above."""
    rng = np.random.default_rng(seed)
    good = np.linspace(0, 1, len(ENTRIES)) + rng.normal(0, 0.3, (len(SAMPLES), len(ENTRIES)))
    return {"good": good, "bad": rng.normal(size=good.shape), "coarse": np.round(good, 0)}


def summary(rows: list[Vote], tables: dict[str, np.ndarray], names: dict[str, str] = PLACES, lower: bool = False) -> dict[str, Any]:
    """The JSON of a study of which `names` says what things are called, given back in their first names and in their order."""
    called = {name: names.get(name) or name for name in PLACES}
    rows = [
        replace(row, rater=called[row.rater], left=called[row.left], right=called[row.right], sample=called[row.sample]) for row in rows
    ]
    votes = canonical(rows)
    first = {there: name for name, there in called.items()}
    samples = [SAMPLES.index(first[name]) for name in votes.samples]
    entries = [ENTRIES.index(first[name]) for name in votes.methods]
    sign = -1.0 if lower else 1.0
    metrics = [MetricScores(key, sign * x[np.ix_(samples, entries)], not lower) for key, x in tables.items()]
    found = as_json(analyse(votes, metrics, damaged=set(), fragility=True))
    return figures(found, first)


def figures(found: dict[str, Any], first: dict[str, str]) -> dict[str, Any]:
    """Figures of a summary on metrics, entries and comparisons, by name."""
    kept = {
        name: found[name] for name in ("answers", "decided_answers", "raters_counted", "samples_counted", "ceiling", "model", "fragile")
    }
    enough = found["enough"]
    if enough is not None:
        enough = {"settled": enough["settled"], "first": first[enough["first"]], "open": sorted(first[name] for name in enough["open"])}
    kept |= {"enough": enough, "forecast": found["forecast"], "metric_pairs": found["metric_pairs"], "metrics": {}}
    for row in found["metrics"]:
        if row["key"] == "coin":  # it is drawn by place
            continue
        against = {}
        for one in row["contradictions"]:
            against[first[one["first"]], first[one["second"]]] = one["value"], one["p_metric"], sorted(map(first.get, one["samples"]))
        kept["metrics"][row["key"]] = {name: row[name] for name in METRIC} | {"against": against}
    kept["scales"] = {
        first[row["method"]]: {name: row[name] for name in ("answers", "implied", "theta", "rank")} for row in found["scales"]
    }
    kept["entry_pairs"] = {
        (first[one["first"]], first[one["second"]]): [*one["value"], one["p_holm"], one["answers"]] for one in found["entry_pairs"]
    }
    kept["consistency"] = {first[row["rater"]]: row["consistency"] for row in found["reliability"]["raters"]}
    return kept


def same(ours: Any, theirs: Any, at: str = "") -> None:
    """Equal to 1e-9, numbers wherever they stand."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), at
        for key in ours:
            same(ours[key], theirs[key], f"{at}.{key}")
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs), at
        for n, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            same(one, other, f"{at}[{n}]")
    elif isinstance(ours, float):
        assert theirs == pytest.approx(ours, abs=1e-9), at
    else:
        assert ours == theirs, at


def shuffled(names: tuple[str, ...], prefix: str) -> dict[str, str]:
    """Other names, in another order."""
    order = np.random.default_rng(len(names)).permutation(len(names))
    return {name: f"{prefix}{place}" for name, place in zip(names, order.tolist(), strict=True)}


@pytest.fixture(scope="module")
def of_study() -> dict[str, Any]:
    return summary(study(), values())


@pytest.fixture
def plain(of_study) -> dict[str, Any]:
    return deepcopy(of_study)


def test_names_of_raters_and_entries_change_nothing(plain):
    rows, tables = study(), values()
    same(plain, summary(rows, tables, shuffled(RATERS, "someone ")))
    same(plain, summary(rows, tables, shuffled(ENTRIES, "tree ")))


def test_new_names_of_samples_change_nothing_and_in_another_order_only_what_is_crossed_by_folds(plain):
    rows, tables = study(), values()
    same(plain, summary(rows, tables, {name: f"sample {name}" for name in SAMPLES}))
    other = summary(rows, tables, shuffled(SAMPLES, "s"))
    for one in (plain, other):  # samples are dealt to folds in the order of their names
        for row in one["metrics"].values():
            del row["acc_eq"]
    same(plain, other)


def test_sides_turned_change_the_sign_of_the_side_alone(plain):
    rows, tables = study(), values()
    turned = summary([replace(row, left=row.right, right=row.left, choice=TURNED[row.choice]) for row in rows], tables)
    value, low, high = plain["model"]["side"]
    assert value > 0
    same([-value, -high, -low], turned["model"].pop("side"))
    same(1 - plain["model"].pop("left_preferred"), turned["model"].pop("left_preferred"))
    del plain["model"]["side"]
    same(plain, turned)


def test_a_metric_turned_with_its_direction_and_repeats_change_nothing(plain):
    rows, tables = study(), values()
    same(plain, summary(rows, tables, lower=True))
    again = [replace(row, repeat_of=str(n), choice=TURNED[row.choice]) for n, row in enumerate(rows[:20])]
    same(summary([*rows, *again], tables), summary([*rows, *again, *again], tables))
    same(plain, summary([*rows, *again], tables))


def test_a_pair_asked_ten_times_as_often_moves_no_headline_beyond_its_interval():
    rows, tables = study(), values()
    often = [row for row in rows if {row.left, row.right} == {"ash", "fir"}]
    more = [replace(row, rater=f"more {k} {row.rater}") for k in range(9) for row in often]
    votes, wider = canonical(rows), canonical([*rows, *more])
    assert len(wider.raters) > 5 * len(votes.raters)
    metrics = [MetricScores(key, x) for key, x in tables.items()]
    before, after = ({row.key: row.decided for row in analyse(one, metrics, fragility=False).metrics} for one in (votes, wider))
    for key in tables:
        assert before[key].low <= after[key].value <= before[key].high
        assert after[key].n > 1.5 * before[key].n


@pytest.mark.parametrize("ties", [0.0, 0.7])
def test_reference_points_stand_at_chance_whatever_the_share_of_ties(ties):
    held = 0
    for seed in range(6):
        votes = canonical(study(ties, seed))
        rows = {row.key: row.decided for row in analyse(votes, damaged=set(), seed=seed, fragility=False).metrics}
        assert (rows["constant"].value, rows["constant"].low) == (0.5, None)
        held += rows["coin"].low < 0.5 < rows["coin"].high
    assert held >= 5

"""Sentences on an acceptance test: what it showed, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.metrics.spec import MetricSpec
from evaluation.properties.gate.design import BY_NAME, CROSS, FULL, MODEL, SET, Condition, SceneVerdict, kind_of

ON = {CROSS: "clean views", FULL: "references", SET: "references", MODEL: "references"}
MODEL_DAMAGES = {"unrelated": "another reference in its place", "empty": "an empty entry"}


def damage_words(name: str) -> str:
    """A damage as a noun: "flat grey", "holes"."""
    if name in BY_NAME:
        return BY_NAME[name].words
    return MODEL_DAMAGES.get(name) or name.partition(":")[0].removeprefix("mono_").replace("_", " ")


def refused_words(spec: MetricSpec, params: Mapping[str, Any], verdicts: Sequence[SceneVerdict]) -> str:
    """Reason why a column does not rank: the first condition that failed, of the first scene that failed."""
    failed = [one for one in verdicts if not one.passed]
    first = failed[0]
    of_all = f" It passed on {len(verdicts) - len(failed)} of {len(verdicts)} scenes." if len(verdicts) > 1 else ""
    if first.reason:
        return f"Shown, not ranked. {_place(spec, params, first)}: {first.reason[:1].lower()}{first.reason[1:]}{of_all}"
    broken = next(condition for condition in first.conditions if not condition.held)
    return f"Shown, not ranked. {_place(spec, params, first)} {failure(broken, kind_of(spec, params))}{of_all}"


def passed_words(spec: MetricSpec, params: Mapping[str, Any], verdicts: Sequence[SceneVerdict], noun: str = "scene") -> str:
    """The tests that a column passed, with the counts, and the band of clean views beside flat grey where they have scores; `noun` is
    the challenge's word for a scene."""
    passed = [one for one in verdicts if one.passed]
    right, total = (
        sum(getattr(condition, name) for one in passed for condition in one.conditions if condition.key not in "DE")
        for name in ("right", "of")
    )
    kind = kind_of(spec, params)
    where = f"this {noun}'s {ON[kind]}" if kind in (CROSS, FULL) and len(verdicts) == 1 else f"the {ON[kind]}"
    if kind in (CROSS, FULL) and len(verdicts) > 1:
        where = f"{len(passed)} of {len(verdicts)} {noun}s, by their {ON[kind]}"
    said = f"Acceptance test passed on {where}: {right:,} of {total:,} pairs in order"
    across = [condition for one in passed for condition in one.conditions if condition.key == "E"]
    first = passed[0]
    if kind == CROSS and first.band and len(passed) == 1:
        mean, least, greatest = first.band
        said += f"; clean {mean:.2f} ({least:.2f}–{greatest:.2f}), flat grey {dict(first.means).get('grey', float('nan')):.2f}"
    if len(passed) < len(verdicts):
        names = ", ".join(one.scene for one in verdicts if not one.passed)
        said += f". It ranks by these {noun}s only; not by {names}"
    return f"{said}. {not_ordered(across)}".strip()


def not_ordered(across: Sequence[Condition]) -> str:
    """A sentence on conditions E: the severe damages that a column does not put below mild damage of another kind, by kind."""
    found: dict[str, list[int]] = {}
    for name, wrong, of in (fail for condition in across for fail in condition.fails):
        counts = found.setdefault(name, [0, 0])
        counts[0], counts[1] = counts[0] + wrong, counts[1] + of
    pairs = [
        f"“{damage_words(severe)}” below “{damage_words(mild)}” ({wrong} of {of})"
        for name, (wrong, of) in sorted(found.items(), key=lambda one: -one[1][0])
        for severe, _, mild in [name.partition(":")]
    ]
    return f"It does not always score {', '.join(pairs)}." if pairs else ""


def failure(condition: Condition, kind: str) -> str:
    """A failed condition as the end of a sentence that begins with where it was tried."""
    name, wrong, of = condition.fails[0] if condition.fails else ("", condition.of - condition.right, condition.of)
    damage = damage_words(name)
    if kind == MODEL:
        if condition.key == "C":
            return f"it did not put more {damage} below less in {wrong} of {of} pairs."
        return f"it did not put {damage} below a mild damage in {wrong} of {of} pairs."
    if condition.key == "A":
        return f"it did not put {damage} below the clean picture in {wrong} of {of} trials."
    if condition.key in ("B", "B2"):
        return f"it did not put {damage} below a mildly damaged picture in {wrong} of {of} pairs."
    if condition.key == "C":
        return f"it did not put {damage} below the step before it in {wrong} of {of} trials."
    weakest = f", least {wrong / 100:.2f} for {damage}" if name else ""
    mean = f"{condition.right / 100:.2f} on average{weakest}"
    return f"its map does not point at the damage: the area under the curve is {mean}, and 0.75 and 0.60 are required."


def _place(spec: MetricSpec, params: Mapping[str, Any], verdict: SceneVerdict) -> str:
    kind = kind_of(spec, params)
    return f"On {verdict.scene}'s own {ON[kind]}" if verdict.scene else f"On the {ON[kind]}"

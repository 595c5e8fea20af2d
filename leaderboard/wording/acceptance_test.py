"""Sentences on an acceptance test: what it showed, and no more. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.metrics.spec import MetricSpec
from evaluation.properties.gate import design
from evaluation.properties.gate.design import BY_NAME, CROSS, FULL, MIN_CLEAN_VIEWS, MODEL, SET, Outcome, SceneVerdict, Untried, kind_of
from leaderboard.records import board
from leaderboard.records.board import ColumnAcceptanceTest, Refusal
from leaderboard.wording.nouns import plural

ON = {CROSS: "clean views", FULL: "references", SET: "references", MODEL: "references"}
MODEL_DAMAGES = {"unrelated": "another reference in its place", "empty": "an empty entry"}
NOT_RANKED = {
    Outcome.RETIRED: "This metric is no longer computed: its values stay and do not rank.",
    Outcome.WEIGHTS: "Shown, not ranked: the metric's weights do not meet the requirements of their model card.",
    Outcome.OUTDATED: "Shown, not ranked: the metric's values are of an older version without an acceptance test. Re-evaluate the phase.",
    Outcome.WAITING: "Shown, not ranked yet: the metric's acceptance test on the phase's own references is running ({percent} %).",
    Outcome.FAILED: "Shown, not ranked: the metric's acceptance test could not run.",
}
UNTRIED = {
    Untried.CLEAN_VIEWS: f"It has fewer than {MIN_CLEAN_VIEWS} clean views.",
    Untried.REFERENCE: "It has no reference picture that the metric can use.",
    Untried.SET: "A set needs at least two reference pictures.",
}


def damage_words(name: str) -> str:
    """A damage as a noun: "flat grey", "holes"."""
    if name in BY_NAME:
        return BY_NAME[name].words
    return MODEL_DAMAGES.get(name) or name.partition(":")[0].removeprefix("mono_").replace("_", " ")


def outcome(it: ColumnAcceptanceTest | None) -> str:
    """The outcome of a column's acceptance test; empty of a column that needs none."""
    if it is None or it.note is not None:
        return it.note or "" if it is not None else ""
    if it.refusal is not None:
        return _refused(it.refusal)
    return "passed" if it.state == Outcome.PASSED else NOT_RANKED[Outcome(it.state)].format(percent=it.percent)


def _refused(it: Refusal) -> str:
    where = f"On {it.scene}'s own {ON[it.kind]}" if it.scene else f"On the {ON[it.kind]}"
    of_all = f" The metric passed on {it.passed} of {it.of} scenes." if it.of > 1 else ""
    if it.untried is not None:
        said = untried(Untried(it.untried), it.kind)
        return f"Shown, not ranked. {where}: {said[:1].lower()}{said[1:]}{of_all}"
    assert it.failure is not None  # a scene that was tried and did not pass has one
    return f"Shown, not ranked. {where} {failure(it.failure, it.kind)}{of_all}"


def untried(reason: Untried | None, kind: str) -> str:
    """Reason why a scene could not be tried by a metric that is tested on this kind of material; empty where it was."""
    if reason is Untried.NO_VALUE:
        return f"The metric has no value for any of {'the references' if kind == MODEL else 'its views'}."
    return "" if reason is None else UNTRIED[reason]


def passed(spec: MetricSpec, params: Mapping[str, Any], verdicts: Sequence[SceneVerdict], noun: str = "scene") -> str:
    """The tests that a column passed, with the counts, and the band of clean views beside flat grey where they have scores; `noun` is
    the challenge's word for a scene."""
    found, kind = [one for one in verdicts if one.passed], kind_of(spec, params)
    conditions = [condition for one in found for condition in one.conditions]
    counted = [condition for condition in conditions if condition.key not in "DE"]
    where = f"the {ON[kind]}"
    if kind in (CROSS, FULL):
        of_scenes = f"{len(found)} of {len(verdicts)} {plural(noun)}, by their {ON[kind]}"
        where = f"this {noun}'s {ON[kind]}" if len(verdicts) == 1 else of_scenes
    right, total = sum(condition.right for condition in counted), sum(condition.of for condition in counted)
    said = f"Acceptance test passed on {where}: {right:,} of {total:,} pairs are in the right order"
    first = found[0]
    if kind == CROSS and first.band and len(found) == 1:
        mean, least, greatest = first.band
        grey = dict(first.means).get("grey", float("nan"))
        said += f". Clean views score {mean:.2f} ({least:.2f}–{greatest:.2f}), flat grey scores {grey:.2f}"
    if len(found) < len(verdicts):
        names = ", ".join(one.scene for one in verdicts if not one.passed)
        said += f". The metric ranks by these {plural(noun)} only, not by {names}"
    return f"{said}. {not_ordered(fail for condition in conditions if condition.key == 'E' for fail in condition.fails)}".strip()


def inverted(fails: Iterable[tuple[str, int, int]]) -> list[str]:
    """Failures of conditions E: a severe damage, the mild damage of another kind that a column does not put it below, and how often it
    does not. The most frequent is first."""
    found: dict[str, list[int]] = {}
    for name, wrong, of in fails:
        counts = found.setdefault(name, [0, 0])
        counts[0], counts[1] = counts[0] + wrong, counts[1] + of
    return [
        f"“{damage_words(severe)}” at or above “{damage_words(mild)}” (in {wrong} of {of} pairs)"
        for name, (wrong, of) in sorted(found.items(), key=lambda one: -one[1][0])
        for severe, _, mild in [name.partition(":")]
    ]


def not_ordered(fails: Iterable[tuple[str, int, int]]) -> str:
    """A sentence on `inverted`: how many there are, and the most frequent."""
    pairs = inverted(fails)
    if len(pairs) < 2:
        return f"The metric scored {pairs[0]}." if pairs else ""
    return (
        f"The metric did not always score severe damage below mild damage of another kind. Of {len(pairs)} such pairs of damages the most "
        f"frequent is {pairs[0]}."
    )


def failure(it: design.Failure | board.Failure, kind: str) -> str:
    """A failed condition as the end of a sentence that begins with where it was tried."""
    damage, counts = damage_words(it.damage), f"{it.wrong} of {it.of}"
    if kind == MODEL:
        if it.condition == "C":
            return f"the metric did not score strong {damage} below weak {damage} in {counts} pairs."
        return f"the metric did not score {damage} below a weakly damaged copy in {counts} pairs."
    if it.condition == "A":
        return f"the metric did not score “{damage}” below the clean picture in {counts} trials."
    if it.condition in ("B", "B2"):
        return f"the metric did not score “{damage}” below a mildly damaged picture in {counts} pairs."
    if it.condition == "C":
        return f"the metric did not score “{damage}” below the next weaker damage of its kind in {counts} trials."
    weakest = f", least {it.wrong / 100:.2f} for {damage}" if it.damage else ""
    mean = f"{it.held:.2f} on average{weakest}"
    return (
        f"the metric's map does not show where the damage is: the area under the ROC curve is {mean}; 0.75 on average and 0.60 for each "
        "damage are required."
    )

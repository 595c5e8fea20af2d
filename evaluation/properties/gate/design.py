"""Acceptance test of a metric with a network, or with clean views, before its column may rank: on what, by which damages, and what is
required.

Nothing heavy is imported here; `evaluation.properties.gate.acceptance_test` does it. The inputs of a metric decide its test:

* without an aligned reference: clean views against the scene's other clean views;
* with a full reference: damaged references;
* of a whole set: the set, all damaged alike;
* of meshes and wireframes: the damages of the sanity tests.

A column must put a clean view first (A, except with a full reference), let no empty picture win (B), score stronger damage worse (C), and
point at the damage in its map (D). The verdict also states how often severe damage is below mild damage of another kind (E), which is no
condition. The thresholds are our own choice, made on three scenes. PURE.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from evaluation.metrics.spec import MetricSpec
from evaluation.properties.suite import Property, Suite, tests_of
from submissions.kinds import FAMILIES

MAX_VIEWS = 6
MIN_CLEAN_VIEWS = 4
MAX_SET = 24  # pictures of a set that is damaged alike
CLEAN_FIRST, EMPTY_LAST, FOREIGN_LAST, STEPS = 0.97, 0.98, 0.80, 0.95
MILD_FIRST, UNRELATED_LAST = 0.95, 0.98  # of meshes and wireframes
MAP_MEAN, MAP_MIN = 0.75, 0.60
CELL = 16  # px

CROSS, FULL, SET, MODEL = "cross", "full", "set", "model"  # what a metric is tried on

WEAK, STRONG, UNRELATED, EMPTY_MODEL = "weak", "strong", "unrelated", "empty"
MILD, STRONGER, LOCAL, EMPTY, FOREIGN = "mild", "stronger", "local", "empty", "foreign"
CLEAN = "clean"


@dataclass(frozen=True)
class Damage:
    """One way to spoil a picture: its name in code, its group, its words for people, and whether it is local and so has a mask."""

    name: str
    group: str
    words: str
    has_mask: bool = False


PICTURE_DAMAGES: tuple[Damage, ...] = (
    Damage("blur1", MILD, "a slight blur (σ 1 px)"),
    Damage("jpeg30", MILD, "JPEG of quality 30"),
    Damage("noise8", MILD, "noise of 8 levels"),
    Damage("floaters1", MILD, "floaters on 5 %", has_mask=True),
    Damage("holes1", MILD, "black holes on 4 %", has_mask=True),
    Damage("smear1", MILD, "smears on 12 %", has_mask=True),
    Damage("colour1", MILD, "a colour cast of 12.5 %"),
    Damage("gamma1", MILD, "a gamma of 1.35"),
    Damage("blur2", STRONGER, "a blur of 2 px"),
    Damage("blur4", STRONGER, "a blur of 4 px"),
    Damage("jpeg10", STRONGER, "JPEG of quality 10"),
    Damage("noise25", STRONGER, "noise of 25 levels"),
    Damage("floaters2", STRONGER, "floaters on 20 %", has_mask=True),
    Damage("holes2", STRONGER, "black holes on 15 %", has_mask=True),
    Damage("smear2", STRONGER, "smears on 40 %", has_mask=True),
    Damage("colour2", STRONGER, "a colour cast of 25 %"),
    Damage("gamma2", STRONGER, "a gamma of 2"),
    Damage("gamma_half", STRONGER, "a gamma of 0.5"),
    Damage("crop70", STRONGER, "upper left 70 % enlarged"),
    Damage("crop40", STRONGER, "upper left 40 % enlarged"),
    Damage("halfblack", STRONGER, "right half black"),
    Damage("black30", STRONGER, "right 30 % black"),
    Damage("blur_blobs", LOCAL, "a blur of 2.5 px on 15 %", has_mask=True),
    Damage("noise_blobs", LOCAL, "noise of 20 levels on 15 %", has_mask=True),
    Damage("colour_blobs", LOCAL, "a colour cast of 20 % on 15 %", has_mask=True),
    Damage("grey", EMPTY, "flat grey"),
    Damage("meancolour", EMPTY, "mean colour of the picture"),
    Damage("black", EMPTY, "black"),
    Damage("white", EMPTY, "white"),
    Damage("blur16", FOREIGN, "a blur of 16 px"),
    Damage("uniform", FOREIGN, "uniform noise"),
    Damage("tile", FOREIGN, "a piece of another view, tiled"),
    Damage("other1", FOREIGN, "a view of another scene"),
    Damage("other2", FOREIGN, "a view of a second other scene"),
)
BY_NAME = {damage.name: damage for damage in PICTURE_DAMAGES}

# The steps of condition C, each worse than the one before it; the first is worse than clean.
LADDERS: tuple[tuple[str, ...], ...] = (
    ("blur1", "blur2", "blur4", "blur16"),
    ("jpeg30", "jpeg10"),
    ("noise8", "noise25"),
    ("floaters1", "floaters2"),
    ("holes1", "holes2", "halfblack", "black"),
    ("smear1", "smear2"),
    ("colour1", "colour2"),
    ("gamma1", "gamma2"),
    ("crop70", "crop40"),
)

SEVERE = ("halfblack", "black30", "holes2")  # condition E holds each against mild damage of other kinds
OF_SEVERE_KIND = ("holes1",)


class Outcome(StrEnum):
    """Outcome of an acceptance test for a column. Only one that passed ranks."""

    PASSED = "passed"
    REFUSED = "refused"
    WEIGHTS = "weights"  # miss requirements of their model card
    WAITING = "waiting"
    FAILED = "failed"  # could not run
    OUTDATED = "outdated"  # values of an older version that was never tested
    RETIRED = "retired"  # no longer computed


class Untried(StrEnum):
    """Reason why a scene could not be tried."""

    CLEAN_VIEWS = "clean_views"  # fewer than MIN_CLEAN_VIEWS
    REFERENCE = "reference"  # no picture with what the metric needs
    SET = "set"  # fewer than two reference pictures
    NO_VALUE = "no_value"  # of the metric, for any view or reference


@dataclass(frozen=True)
class Subject:
    """One thing that is damaged: view `number` of a scene's clean views, a reference item, or the whole set."""

    scene: str
    number: int
    item: str = ""


@dataclass(frozen=True)
class Row:
    """One score of an acceptance test: `value` None if the metric has none; `area` under the curve of its map, if there is one."""

    scene: str
    number: int
    damage: str
    value: float | None
    area: float | None = None


@dataclass(frozen=True)
class Condition:
    """One condition: how many of how many held, and the share that must. `fails` counts the failures by damage, or by two as
    "severe:mild"."""

    key: str
    held: bool
    right: int
    of: int
    least: float
    fails: tuple[tuple[str, int, int], ...] = ()  # name of a damage, failures, comparisons

    @property
    def failure(self) -> Failure:
        """The failure that is counted first, or where none is counted by a damage, that of the condition as a whole."""
        damage, wrong, of = self.fails[0] if self.fails else ("", self.of - self.right, self.of)
        return Failure(self.key, damage, wrong, of, self.right / self.of if self.of else 0.0)


@dataclass(frozen=True)
class Failure:
    """Failure of a condition, by its key: `wrong` of `of` scores of a `damage`, and the share of all that `held`."""

    condition: str
    damage: str
    wrong: int
    of: int
    held: float


@dataclass(frozen=True)
class Refusal:
    """Reason why a column of this `kind` does not rank: the first condition that failed on the first `scene` that failed, or why that scene
    could not be tried. It passed on `passed` of `of` scenes."""

    kind: str
    scene: str
    passed: int
    of: int
    untried: Untried | None
    failure: Failure | None

    @classmethod
    def of_verdicts(cls, kind: str, verdicts: Sequence[SceneVerdict]) -> Refusal:
        failed = [one for one in verdicts if not one.passed]
        broken = next((condition.failure for condition in failed[0].conditions if not condition.held), None)
        return cls(kind, failed[0].scene, len(verdicts) - len(failed), len(verdicts), failed[0].untried, broken)


@dataclass(frozen=True)
class SceneVerdict:
    """The verdict of an acceptance test on one scene (of meshes and wireframes of all references). `untried` says why it could not
    be tried."""

    scene: str
    passed: bool
    views: int
    conditions: tuple[Condition, ...] = ()
    means: tuple[tuple[str, float], ...] = ()  # of each damage over the views, clean first
    band: tuple[float, float, float] | None = None  # mean, least and greatest score of the clean views
    untried: Untried | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SceneVerdict:
        """The inverse of to_dict."""
        conditions = tuple(Condition(**{**one, "fails": tuple(map(tuple, one["fails"]))}) for one in data["conditions"])
        band = None if data["band"] is None else tuple(data["band"])
        untried = Untried(data["untried"]) if data["untried"] else None
        return cls(**{**data, "conditions": conditions, "means": tuple(map(tuple, data["means"])), "band": band, "untried": untried})


def kind_of(spec: MetricSpec, params: Mapping[str, Any]) -> str:
    """The material that the metric is tested on: "cross", "full", "set" or "model"; empty if it needs no acceptance test."""
    if not FAMILIES[spec.family].images:
        return MODEL if spec.runs_networks(params) else ""
    if "clean views" in spec.needs:
        return CROSS
    if not (spec.networks or spec.learnt):
        return ""
    return SET if spec.level == "set" else FULL


_PICTURES = (
    Property("A", "Clean views score best", "", "each clean view scores above its damaged copies", CLEAN_FIRST),
    Property("B", "Empty pictures score worst", "", "empty pictures score below every mildly damaged picture", EMPTY_LAST),
    Property("B2", "Unrelated pictures score low", "", "unrelated pictures score below every mildly damaged picture", FOREIGN_LAST),
    Property("C", "Stronger damage scores worse", "", "each damage scores below the next weaker damage of its kind", STEPS),
    Property(
        "E",
        "Severe damage scores below mild damage of another kind",
        "",
        "half black, 30 % black and holes on 15 % score below each of seven mild damages",
        0.0,
    ),
    Property(
        "D",
        "The map shows the damage",
        "",
        "area under the ROC curve by which the map separates damaged places from others, mean over the damages",
        MAP_MEAN,
        MAP_MIN,
    ),
)
_MODELS = (
    Property("C", "Stronger damage scores worse", "", "strong damage scores below weak damage of the same kind", MILD_FIRST),
    Property(
        "B", "Empty entries score worst", "", "another reference, and an empty entry, score below every weakly damaged copy", UNRELATED_LAST
    ),
)


def conditions_of(spec: MetricSpec, params: Mapping[str, Any]) -> tuple[Property, ...]:
    """The conditions that the metric's acceptance test asks, by `Condition.key`."""
    kind = kind_of(spec, params)
    return _MODELS if kind == MODEL else _PICTURES if kind == CROSS else _PICTURES[1:] if kind else ()


# 1: the part of an acceptance test that prepared a full reference got zeros; 2: severe damage was compared with its own kind alone.
ACCEPTANCE = Suite("acceptance tests", "gate/3", conditions_of)


def items_of(spec: MetricSpec, params: Mapping[str, Any], scene: str, item_ids: Sequence[str]) -> list[str]:
    """The items of a reference that the acceptance test of one of `scenes_of` uses: its own, and those beside it."""
    kind = kind_of(spec, params)
    if kind == SET:
        return [item_ids[place * len(item_ids) // min(len(item_ids), MAX_SET)] for place in range(min(len(item_ids), MAX_SET))]
    if kind == MODEL:
        ordered = sorted(item_ids)
        return [ordered[place] for place in spread(len(ordered))]
    scene_of = FAMILIES[spec.family].group_of
    own = sorted(item for item in item_ids if scene_of(item) == scene)
    firsts = {scene_of(item): item for item in sorted(item_ids, reverse=True) if scene_of(item) != scene}
    return (own[:1] if kind == CROSS else own) + [firsts[other] for other in sorted(firsts)[:2]]


def scenes_of(spec: MetricSpec, params: Mapping[str, Any], item_ids: Sequence[str]) -> list[str]:
    """The scenes that are tested separately: each scene of renders. For metrics of sets, meshes and wireframes all references are tested
    together, as ""."""
    scene_of = FAMILIES[spec.family].group_of
    return sorted(set(map(scene_of, item_ids))) if kind_of(spec, params) in (CROSS, FULL) else [""]


def unfit(spec: MetricSpec, params: Mapping[str, Any], scene: str) -> SceneVerdict:
    """The verdict of a scene without subjects."""
    reasons = {CROSS: Untried.CLEAN_VIEWS, FULL: Untried.REFERENCE, SET: Untried.SET}
    return SceneVerdict(scene, False, 0, untried=reasons[kind_of(spec, params)])


def spread(count: int) -> list[int]:
    """The numbers of the MAX_VIEWS of `count` views that are tried: evenly over them; all where there are no more."""
    if count <= MAX_VIEWS:
        return list(range(count))
    return [round((place + 0.5) * count / MAX_VIEWS - 0.5) for place in range(MAX_VIEWS)]


def scores_per_subject(spec: MetricSpec, params: Mapping[str, Any]) -> int:
    """The number of scores that one subject takes: for showing progress."""
    return 2 + 2 * len(monotone_names(spec.family)) if kind_of(spec, params) == MODEL else 1 + len(PICTURE_DAMAGES)


def monotone_names(family: str) -> list[str]:
    """The damages of meshes or wireframes, by the names of the property tests."""
    return [test.id for test in tests_of(family) if test.id.startswith("mono_")]

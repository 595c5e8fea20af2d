"""Scores of an acceptance test as `design` beside it plans it, and the verdict: may the column rank on this scene? PURE."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.kinds import KINDS
from evaluation.metrics import prepared, scoring
from evaluation.metrics.spec import MetricSpec
from evaluation.properties import measure, suite
from evaluation.properties.gate.damages import damaged
from evaluation.properties.gate.design import (
    BY_NAME,
    CELL,
    CLEAN,
    CLEAN_FIRST,
    CROSS,
    EMPTY,
    EMPTY_LAST,
    EMPTY_MODEL,
    FOREIGN,
    FOREIGN_LAST,
    FULL,
    LADDERS,
    MAP_MEAN,
    MAP_MIN,
    MAX_VIEWS,
    MILD,
    MILD_FIRST,
    MIN_CLEAN_VIEWS,
    MODEL,
    OF_SEVERE_KIND,
    PICTURE_DAMAGES,
    SET,
    SEVERE,
    STEPS,
    STRONG,
    UNRELATED,
    UNRELATED_LAST,
    WEAK,
    Condition,
    Row,
    SceneVerdict,
    Subject,
    Untried,
    kind_of,
    monotone_names,
    scores_per_subject,
    spread,
    unfit,
)
from evaluation.properties.trials import Question
from submissions.formats.render.views import Render, View, render
from submissions.kinds import FAMILIES, RENDER

Progress = Callable[[int], None]


def subjects_of(spec: MetricSpec, params: Mapping[str, Any], references: Mapping[str, Any], scene: str) -> list[Subject]:
    """The subjects of a scene's damage, given its `items_of`: up to MAX_VIEWS views, or references. Empty where it cannot be tried."""
    kind, ids = kind_of(spec, params), sorted(references)
    if kind == SET:
        return [Subject("", 0)] if sum(one.image is not None for one in references.values()) > 1 else []
    if kind == MODEL:
        return [Subject("", place, item) for place, item in enumerate(ids)]
    own = [item for item in ids if FAMILIES[spec.family].group_of(item) == scene]
    if kind == CROSS:
        clean = references[own[0]].clean
        there = clean is not None and len(clean.images) >= MIN_CLEAN_VIEWS
        return [Subject(scene, number, own[0]) for number in spread(len(clean.images))] if there else []
    seen = []  # views with all that the metric needs beside their picture
    for item in own:
        view = references[item]
        has = {"mask": view.mask is not None, "prompt": bool(view.prompt), "rois": bool(view.rois)}
        if view.image is not None and all(has.get(need, True) for need in spec.needs):
            seen.append(item)
    return [Subject(scene, number, seen[number]) for number in spread(len(seen))]


def prepare(
    spec: MetricSpec, params: Mapping[str, Any], references: Mapping[str, Any], subjects: Sequence[Subject], unit_scale: float
) -> prepared.Prepared:
    """The arrays that the metric keeps of the subjects of one scene, so that the next slice of the test need not fit it again."""
    kind, ids = kind_of(spec, params), list(dict.fromkeys(subject.item for subject in subjects))
    if kind == CROSS and ids:
        known: prepared.Prepared = {ids[0]: {}}  # all views are of one item
        _scorer(spec, params, references[ids[0]].clean, known[ids[0]])
        return known
    if kind == FULL:
        return prepared.prepare(references, [scoring.MetricRequest("tried", spec.key, params)], unit_scale, ids)
    return {}


def measure_slice(
    spec: MetricSpec,
    params: Mapping[str, Any],
    references: Mapping[str, Any],
    scene: str,
    scenes_left: int,
    unit_scale: float,
    progress: suite.Progress,
    seconds: float,
    advance: Progress,
    known: prepared.Prepared,
) -> suite.Progress:
    """Score as many subjects of a scene as `seconds` allow, at least one, and judge it after its last one; `scenes_left` are to follow.
    `advance` is called with the number of scores so far, `known` is what `prepare` gave."""
    end = time.monotonic() + seconds
    place, first = progress.at or (0, 0)
    subjects, rows, results = subjects_of(spec, params, references, scene), [Row(**row) for row in progress.rows], list(progress.results)
    done, before = first, len(rows)

    def note(n: int) -> None:
        advance(before + n)

    for subject in subjects[first:]:
        if done > first and time.monotonic() > end:
            break
        before = len(rows)
        rows += scored(spec, params, references, subject, unit_scale, note, known)
        done += 1
    is_over = done >= len(subjects)
    if is_over:
        own = [row for row in rows if row.scene == scene]
        results.append((verdict(spec, params, scene, own) if own else unfit(spec, params, scene)).to_dict())
    left = (len(subjects) - done + scenes_left * MAX_VIEWS) * scores_per_subject(spec, params)
    return suite.Progress(list(map(asdict, rows)), [place + 1, 0] if is_over else [place, done], results, len(rows), len(rows) + left)


def scored(
    spec: MetricSpec,
    params: Mapping[str, Any],
    references: Mapping[str, Any],
    subject: Subject,
    unit_scale: float,
    progress: Progress,
    known: prepared.Prepared | None = None,
) -> list[Row]:
    """The scores of a subject, clean and under each damage; `progress` is called with their number so far, `known` is what
    `prepare` gave."""
    kind = kind_of(spec, params)
    if kind == MODEL:
        found = _of_model(spec, params, references, subject, unit_scale)
    elif kind == SET:
        found = _of_set(spec, params, references)
    else:
        found = _of_view(spec, params, references, subject, kind, (known or {}).get(subject.item, {}))
    rows = []
    for name, value, area in found:
        rows.append(Row(subject.scene, subject.number, name, value, area))
        progress(len(rows))
    return rows


def pictures_of(spec: MetricSpec, params: Mapping[str, Any], references: Mapping[str, Any], subject: Subject) -> Iterator[tuple[str, Any]]:
    """(damage, uint8[H, W, 3]) of a subject that is a view, the clean one first: for the page of the acceptance test."""
    pixels, neighbour, others = _material(references, subject, kind_of(spec, params))
    yield CLEAN, pixels
    for damage, spoilt, _ in damaged(pixels, subject.number, neighbour, others):
        yield damage.name, spoilt


def verdict(spec: MetricSpec, params: Mapping[str, Any], scene: str, rows: Sequence[Row]) -> SceneVerdict:
    """The verdict of one scene, from all its rows."""
    kind = kind_of(spec, params)
    oriented = [row if row.value is None or spec.higher_is_better else replace(row, value=-row.value) for row in rows]
    judge = _model_verdict if kind == MODEL else _picture_verdict
    return judge(scene, oriented, kind, spec.higher_is_better)


def area(values: NDArray[np.floating], mask: NDArray[np.bool_]) -> float | None:
    """Area under the curve of a map (higher is better, per cell or per pixel) that should be low inside a mask bool[H, W].

    Cells more than half inside are compared with cells less than 5 % inside; None if there are none of either.
    """
    height, width = mask.shape
    if values.shape == mask.shape:
        rows, columns = max(1, height // CELL), max(1, width // CELL)
        values = _cell_means(values.astype(np.float64), rows, columns)
    share = _cell_means(mask.astype(np.float64), *values.shape)
    inside, outside = values[share > 0.5], values[share < 0.05]
    if not len(inside) or not len(outside):
        return None
    order = np.sort(outside)
    below, upto = np.searchsorted(order, inside, "left"), np.searchsorted(order, inside, "right")
    return float(1 - (below + upto).mean() / 2 / len(outside))


def _cell_means(values: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    """float64[rows, columns]: means of [H, W] over its cells of CELL px, or over as many equal ones where it was shrunk before."""
    tall, wide = (CELL if size // CELL == count else size / count for size, count in ((values.shape[0], rows), (values.shape[1], columns)))
    ends = [np.floor(np.arange(count + 1) * step).astype(int) for count, step in ((rows, tall), (columns, wide))]
    summed = np.zeros((values.shape[0] + 1, values.shape[1] + 1))
    summed[1:, 1:] = values.cumsum(0).cumsum(1)
    corner = summed[np.ix_(*ends)]
    sums = corner[1:, 1:] - corner[:-1, 1:] - corner[1:, :-1] + corner[:-1, :-1]
    return sums / np.outer(np.diff(ends[0]), np.diff(ends[1]))


# --- scores --------------------------------------------------------------------------------

Found = Iterator[tuple[str, float | None, float | None]]


def _of_view(
    spec: MetricSpec, params: Mapping[str, Any], references: Mapping[str, Any], subject: Subject, kind: str, known: dict[str, Any]
) -> Found:
    pixels, neighbour, others = _material(references, subject, kind)
    if kind == CROSS:
        clean = references[subject.item].clean
        scorer = _scorer(spec, params, clean, known)

        def score(picture: NDArray[np.uint8]) -> tuple[float | None, NDArray[np.floating] | None]:
            with spec.computing(params):
                return scorer.score(picture, subject.number)
    else:
        reference = {subject.item: references[subject.item]}
        request = scoring.MetricRequest("tried", spec.key, params)

        def score(picture: NDArray[np.uint8]) -> tuple[float | None, NDArray[np.floating] | None]:
            parts = scoring.score_items({subject.item: render(picture)}, reference, [request], prepared={subject.item: known})
            samples, _ = scoring.finish([request], [parts], [subject.item], [subject.scene])["tried"]
            return samples.values[0], None

    yield CLEAN, score(pixels)[0], None
    for damage, spoilt, mask in damaged(pixels, subject.number, neighbour, others):
        value, found = score(spoilt)
        yield damage.name, value, None if found is None or mask is None else area(found, mask)


_scorers: dict[tuple[Any, ...], Any] = {}  # of the scene that this process tried last


def _scorer(spec: MetricSpec, params: Mapping[str, Any], clean: Any, known: dict[str, Any]) -> Any:
    """The scorer of pictures against a scene's clean views but one. Its fit is kept while the scene is being tested, and is read from
    `known` if it is there."""
    key = (spec.key, tuple(sorted(params.items())), clean.sha256)
    if key not in _scorers:
        assert spec.acceptance_scorer is not None
        _scorers.clear()
        with spec.computing(params):
            _scorers[key] = spec.acceptance_scorer(clean, params, known)
    return _scorers[key]


def _of_set(spec: MetricSpec, params: Mapping[str, Any], references: Mapping[str, Any]) -> Found:
    """The whole set clean, and damaged alike."""
    ids = [item for item in sorted(references) if references[item].image is not None]
    chosen = {item: references[item] for item in ids}
    request = scoring.MetricRequest("tried", spec.key, params)

    def score(pictures: Mapping[str, NDArray[np.uint8]]) -> float | None:
        parts = scoring.score_items({item: render(picture) for item, picture in pictures.items()}, chosen, [request])
        return scoring.finish([request], [parts], ids, ids)["tried"][0].values[0]

    pixels = {item: chosen[item].image.pixels() for item in ids}
    yield CLEAN, score(pixels), None
    spoilt = {
        item: damaged(picture, number, pixels[ids[number - 1]], [pixels[ids[number - 2]], pixels[ids[number - 1]]])
        for number, (item, picture) in enumerate(pixels.items())
    }
    for damage in PICTURE_DAMAGES:
        yield damage.name, score({item: next(made)[1] for item, made in spoilt.items()}), None


def _of_model(spec: MetricSpec, params: Mapping[str, Any], references: Mapping[str, Any], subject: Subject, unit_scale: float) -> Found:
    """A mesh or wireframe, damaged weakly and strongly, another reference in its place, and nothing at all."""
    procedures, request = measure.procedures_of(spec.family), scoring.MetricRequest("tried", spec.key, params)
    items = procedures.prepared({item: references[item] for item in references})
    reference = {subject.item: items[subject.item]}

    def score(prediction: Any) -> float | None:
        return scoring.score_items({subject.item: prediction}, reference, [request], unit_scale)["tried"].values[0]

    sequences = (trial for trial in procedures.all_trials(subject.item, items) if trial.question is Question.MONOTONE)
    steps = {trial.tests[0]: [model for model, _ in trial.pairs[1:]] for trial in sequences}
    for name in monotone_names(spec.family):
        models = steps.get(name, ())  # none where the model is too small for the test
        for strength, share in ((WEAK, 0.25), (STRONG, 0.75)):
            yield f"{name}:{strength}", score(models[round(share * (len(models) - 1))]) if models else None, None
    ids = sorted(references)
    other = ids[(ids.index(subject.item) + 1) % len(ids)]
    if other == subject.item:  # the only one
        other, items = "", {"": next(iter(KINDS[spec.family].simulated.first(1).values()))}
    yield UNRELATED, score(items[other]), None
    yield EMPTY_MODEL, score(None), None


def _material(references: Mapping[str, Any], subject: Subject, kind: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8], list[Any]]:
    """The picture that is damaged, another of its scene, and two of other scenes (procedural rooms where there are none)."""
    view: View = references[subject.item]
    scene_of = RENDER.group_of
    if kind == CROSS:
        assert view.clean is not None  # a subject of this kind is one of them
        images: Sequence[Render] = view.clean.images
        pixels, neighbour = images[subject.number].pixels(), images[(subject.number + 1) % len(images)].pixels()
    else:
        assert view.image is not None
        scene = [item for item in sorted(references) if scene_of(item) == subject.scene and references[item].image is not None]
        pixels, neighbour = view.image.pixels(), references[scene[(scene.index(subject.item) + 1) % len(scene)]].image.pixels()
    others: list[NDArray[np.uint8]] = []
    for item in sorted(references):
        if scene_of(item) == subject.scene or len(others) == 2:
            continue
        image = references[item].image or (references[item].clean.images[0] if references[item].clean else None)
        if image is not None:
            others.append(image.pixels())
    if len(others) < 2:
        from evaluation.synthetic.rooms import room
        from evaluation.synthetic.rooms import view as room_view

        others += [room_view(room(f"gate:{n}"), 0, 192, 144).image for n in range(2 - len(others))]
    return pixels, neighbour, others


# --- verdicts ------------------------------------------------------------------------------


def _by_subject(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Values that are known of each subject, by damage."""
    subjects: dict[int, dict[str, float]] = {}
    for row in rows:
        if row.value is not None:
            subjects.setdefault(row.number, {})[row.damage] = row.value
    return list(subjects.values())


def _picture_verdict(scene: str, rows: Sequence[Row], kind: str, higher: bool) -> SceneVerdict:
    """The verdict of a scene's pictures; values are such that higher is better."""
    areas: dict[str, list[float]] = {}
    for row in rows:
        if row.area is not None:
            areas.setdefault(row.damage, []).append(row.area)
    tables = [values for values in _by_subject(rows) if CLEAN in values and len(values) > 1]
    if not tables:
        return SceneVerdict(scene, False, 0, untried=Untried.NO_VALUE)
    asked = (
        _clean_first(tables) if kind == CROSS else None,
        _group_last("B", EMPTY, EMPTY_LAST, tables),
        _group_last("B2", FOREIGN, FOREIGN_LAST, tables),
        _steps_down(tables),
        _severe_last(tables),
        _map_low(areas) if areas else None,
    )
    conditions = tuple(condition for condition in asked if condition is not None)
    sign = 1 if higher else -1
    names = [CLEAN, *(damage.name for damage in PICTURE_DAMAGES)]
    means_of = {name: [values[name] for values in tables if name in values] for name in names}
    clean = [sign * value + 0.0 for value in means_of[CLEAN]]
    return SceneVerdict(
        scene,
        all(condition.held for condition in conditions),
        len(tables),
        conditions,
        tuple((name, sign * float(np.mean(found)) + 0.0) for name, found in means_of.items() if found),
        (float(np.mean(clean)), min(clean), max(clean)),
    )


def _clean_first(tables: Sequence[Mapping[str, float]]) -> Condition:
    """A: clean above the damaged view in nearly all pairs, and no damage that beats it in more than one view."""
    won = [(name, values[CLEAN] > value) for values in tables for name, value in values.items() if name != CLEAN]
    condition = _counted("A", won, CLEAN_FIRST)
    beaten = Counter(name for values in tables for name, value in values.items() if value > values[CLEAN])
    return replace(condition, held=condition.held and max(beaten.values(), default=0) <= 1)


def _group_last(key: str, group: str, least: float, tables: Sequence[Mapping[str, float]]) -> Condition:
    """Criteria B and B2: a group's pictures score below every mild damage, and empty pictures never above clean ones."""
    below, above_clean = [], False
    for values in tables:
        mild = [value for name, value in values.items() if name != CLEAN and BY_NAME[name].group == MILD]
        of_group = [(name, value) for name, value in values.items() if name != CLEAN and BY_NAME[name].group == group]
        below += [(name, value < other) for name, value in of_group for other in mild]
        above_clean |= any(value > values[CLEAN] for _, value in of_group)
    condition = _counted(key, below, least)
    return replace(condition, held=condition.held and not (group == EMPTY and above_clean))


def _steps_down(tables: Sequence[Mapping[str, float]]) -> Condition:
    """C: each step of the ladders below the one before it."""
    pairs = [(weaker, stronger) for ladder in LADDERS for weaker, stronger in zip((CLEAN, *ladder), ladder, strict=False)]
    return _counted("C", [(b, values[b] < values[a]) for values in tables for a, b in pairs if a in values and b in values], STEPS)


def _severe_last(tables: Sequence[Mapping[str, float]]) -> Condition | None:
    """E: severe damage below mild damage of another kind, which nothing is refused for; None where no pair is there."""
    mild = [damage.name for damage in PICTURE_DAMAGES if damage.group == MILD and damage.name not in OF_SEVERE_KIND]
    pairs = [(a, b) for a in SEVERE for b in mild]
    across = [(f"{a}:{b}", values[a] < values[b]) for values in tables for a, b in pairs if a in values and b in values]
    return _counted("E", across, 0.0) if across else None


def _map_low(areas: Mapping[str, Sequence[float]]) -> Condition:
    """D: the map is low where the damage is."""
    means = {name: float(np.mean(found)) for name, found in areas.items()}
    mean, low = float(np.mean(list(means.values()))), [name for name, value in means.items() if value < MAP_MIN]
    fails = tuple((name, round(100 * means[name]), 100) for name in low)
    return Condition("D", mean >= MAP_MEAN and not low, round(100 * mean), 100, MAP_MEAN, fails)


def _model_verdict(scene: str, rows: Sequence[Row], kind: str, higher: bool) -> SceneVerdict:
    """The verdict of meshes or wireframes; values are such that higher is better."""
    models = _by_subject(rows)
    if not models:
        return SceneVerdict(scene, False, 0, untried=Untried.NO_VALUE)
    steps, last = [], []
    for values in models:
        weak = {name.partition(":")[0]: value for name, value in values.items() if name.endswith(f":{WEAK}")}
        steps += [(name, value > values[f"{name}:{STRONG}"]) for name, value in weak.items() if f"{name}:{STRONG}" in values]
        last += [(name, values[name] < value) for name in (UNRELATED, EMPTY_MODEL) if name in values for value in weak.values()]
    conditions = (_counted("C", steps, MILD_FIRST), _counted("B", last, UNRELATED_LAST))
    sign = 1 if higher else -1
    names = list(dict.fromkeys(name for values in models for name in values))
    means = tuple((name, sign * float(np.mean([values[name] for values in models if name in values]))) for name in names)
    return SceneVerdict(scene, all(condition.held for condition in conditions), len(models), conditions, means)


def _counted(key: str, pairs: Sequence[tuple[str, bool]], least: float) -> Condition:
    """A condition over named pairs, of which the share `least` must be right; none is a failure."""
    right = sum(ok for _, ok in pairs)
    fails: dict[str, tuple[int, int]] = {}
    for name, ok in pairs:
        wrong, total = fails.get(name, (0, 0))
        fails[name] = (wrong + (not ok), total + 1)
    named = sorted(((name, wrong, total) for name, (wrong, total) in fails.items() if wrong), key=lambda one: -one[1])
    return Condition(key, bool(pairs) and right >= least * len(pairs), right, len(pairs), least, tuple(named))

"""The record of a published set, from its tables: the one place where all its figures are computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leaderboard.evidence.tables import Criterion, EvidenceTables, PublishedMetric, RatersAre, Scores, Stimuli
from leaderboard.stats.evidence import across, entry_order, noise, places, within
from leaderboard.stats.evidence.figure import SetFigure
from leaderboard.stats.evidence.judged import Basis, Judged, judged, reference_points
from leaderboard.stats.evidence.people_check import PeopleCheck, people_check
from leaderboard.stats.evidence.record import AcrossState, CriterionFigures, EvidenceRecord, Facts, Ladders, MetricFigures
from leaderboard.stats.evidence.reproduction import Reproduction
from leaderboard.stats.votes import Floats

REFERENCE_POINTS = ("constant", "coin", "size")  # keys of rows that are no metrics
POOLED = ("decided", "decided_between", "srocc")  # figures whose differences are pooled over sets


def record_of(
    tables: EvidenceTables, facts: Facts, reproduction: Reproduction | None = None, made: str = "", step: Callable[[], None] = lambda: None
) -> EvidenceRecord:
    """All figures of a set. `made` is the day, as the record has it; `step` is called every few seconds."""
    entries = tables.entries_only()
    parts = [(criterion, *_basis(entries, criterion)) for criterion in entries.criteria]
    sets = [judged(entries, criterion, basis) for criterion, basis, _ in parts]
    leading = sets[0] if sets else None
    criteria = {}
    for (criterion, _, check), one in zip(parts, sets, strict=True):
        found = figures(one, entries.metrics, entries.compare, entries.name, turned=not entries.better_is_higher, step=step)
        sessions = _same_in_sessions(entries.stimuli, criterion.scores) if check is not None else None
        beside = None if leading is None or leading is one else _beside_leading(leading, one)
        criteria[criterion.name] = replace(found, check=check, same_in_sessions=sessions, beside_leading=beside)
    return EvidenceRecord(
        name=tables.name,
        **vars(facts),
        made=made,
        material=tables.material,
        scale=None if tables.scale is None else (float(tables.scale[0]), float(tables.scale[1])),
        scale_name=tables.scale_name,
        better_is_higher=tables.better_is_higher,
        raters_are=str(tables.raters_are),
        because=tables.because,
        groups=tuple(sorted(entries.stimuli.groups)),
        left_out=tables.remarks,
        reproduction=reproduction,
        criteria=criteria,
    )


def _basis(tables: EvidenceTables, criterion: Criterion) -> tuple[Basis, PeopleCheck | None]:
    """Basis of a criterion's figures, and the check of columns of scores."""
    if criterion.pairs is not None:
        known = tables.raters_are in (RatersAre.COLUMNS, RatersAre.PERSONS)
        return (Basis.PAIRS if known else Basis.PAIRS_WITHOUT_PERSONS), None
    if criterion.means is not None:
        return (Basis.MEANS if np.isnan(criterion.means.se).all() else Basis.ERRORS), None
    scores = criterion.scores
    if scores is None or not len(scores) or tables.raters_are in (RatersAre.ANONYMOUS, RatersAre.NONE):
        return Basis.SCORES, None
    check = people_check(scores.rater, scores.stimulus, tables.stimuli.group[scores.stimulus], scores.score)
    # What the publication says of its raters stands, whatever the check says of them.
    return (Basis.PERSONS if check.people or tables.raters_are is RatersAre.PERSONS else Basis.SCORES), check


def _same_in_sessions(stimuli: Stimuli, scores: Scores | None) -> PeopleCheck | None:
    """The check of numbers that several sessions have; None where no number is in two."""
    if scores is None or len(scores.sessions) < 2:
        return None
    number, session = scores.number_of[scores.rater], scores.session_of[scores.rater]
    several = [one for one in np.unique(number) if len(np.unique(session[number == one])) > 1]
    if not several:
        return None
    return people_check(number, scores.stimulus, session, scores.score)


def _beside_leading(leading: Judged, other: Judged) -> SetFigure | None:
    """Agreement of a criterion's means with the leading criterion's; None for pairs, or if they share too few stimuli."""
    if leading.basis.pairs or other.basis.pairs:
        return None
    items, entries = ({name: n for n, name in enumerate(names)} for names in (leading.items, leading.entries))
    table = np.full((len(items), len(entries)), math.nan)
    for item, entry, y in zip(other.item.tolist(), other.entry.tolist(), other.y.tolist(), strict=True):
        at = items.get(other.items[item]), entries.get(other.entries[entry])
        if at[0] is not None and at[1] is not None:
            table[at] = y
    found = within.agreements(leading.of_means, {other.name: table}, persons=False).figures[other.name]
    return None if found.value is None else found


def figures(
    one: Judged,
    published: Sequence[PublishedMetric],
    compare: Sequence[str],
    set_name: str,
    turned: bool = False,
    step: Callable[[], None] = lambda: None,
) -> CriterionFigures:
    """The figures of one criterion. `compare` names the columns that are compared, none: all; `turned` says that a lower score is better
    on the published scale. There is a branch for each figure that a basis may lack."""
    metrics = dict(zip(_keys(published), published, strict=True))
    points = reference_points(one, set_name)
    values: dict[str, Floats] = {**dict(zip(metrics, one.x.T, strict=True)), **points}
    measured = [key for key, metric in metrics.items() if not metric.reference_point]
    among = tuple(key for key in measured if not np.isnan(values[key]).any() and (not compare or metrics[key].column in compare))
    tables, basis = {key: one.table(x) for key, x in values.items()}, one.basis

    compared: dict[str, places.Compared] = {}
    for name, found in _compared(one, tables, values, among):
        step()
        compared[name] = found
    counted = one.of_people if basis.persons or basis.pairs else one.of_means
    orders = entry_order.order_of_pairs(one, tables) if basis.pairs else {key: entry_order.order(one, x) for key, x in values.items()}

    lines = {}
    for key, x in values.items():
        own: dict[str, Any] = {name: found.figures.get(key) for name, found in compared.items()} | vars(orders[key])
        if basis.persons or basis.pairs:
            own["decided_split"] = within.split(counted, tables[key])
        lines[key] = _line(metrics.get(key), x, own)
    decisive = counted.decided
    return CriterionFigures(
        basis=basis,
        stimuli=len(one),
        items=len(one.items),
        groups=len(one.groups),
        entries_judged=len(one.entries),
        families=len(one.families),
        answers=one.n_answers,
        raters=one.n_persons,
        ladders=Ladders(len(decisive) - len(one.between_families(decisive)), len(decisive)) if one.has_families else None,
        within=within.ceiling(counted) if basis.persons else None,
        across=noise.ceiling(one),
        compared=among,
        metrics=lines,
        differences={name: tuple(compared[name].differences) for name in POOLED if name in compared and compared[name].differences},
        entries=() if measured or basis.pairs else tuple(entry_order.entry_means(one, turned)),
    )


def _line(metric: PublishedMetric | None, x: Floats, own: Mapping[str, Any]) -> MetricFigures:
    """Own figures of a metric with these values, and what it is; None of a reference point that is made here."""
    if metric is None:
        return MetricFigures(column="", reference_point=True, **own)
    about = {name: getattr(metric, name) for name in ("column", "name", "higher_is_better", "reference_point")}
    found = MetricFigures(**about, missing=int(np.isnan(x).sum()), **own)
    return found if found.reference_point else replace(found, across_state=_across_state(found.srocc))


def _compared(
    one: Judged, tables: Mapping[str, Floats], values: Mapping[str, Floats], among: Sequence[str]
) -> Iterator[tuple[str, places.Compared]]:
    """The figures that the basis allows, by their names in `MetricFigures`, each of all metrics and with the places of those `among`."""
    persons = one.basis.persons
    if persons or one.basis.pairs:
        decided = within.agreements(one.of_people, tables, persons, among)
        yield "decided", within.with_standings(decided, one.of_people, tables, persons)
        if one.has_families:
            yield "decided_between", within.agreements(one.between_families(one.of_people), tables, persons, among)
    if one.basis.pairs:
        return
    yield "concordance", within.agreements(one.of_means, tables, False, among)
    if one.has_families:
        yield "concordance_between", within.agreements(one.between_families(one.of_means), tables, False, among)
    if one.basis is not Basis.MEANS:
        yield "concordance_clear", within.agreements(one.of_clear_means, tables, False)
    yield from across.likeness(one, values, persons, among).items()


def _keys(published: Sequence[PublishedMetric]) -> list[str]:
    """Keys of metrics: the published name, the column where it has none or shares it, and "size" for the first reference point."""
    names = [metric.name or metric.column for metric in published]
    keys = [name if names.count(name) == 1 else metric.column for name, metric in zip(names, published, strict=True)]
    keys = [f"{key} as published" if key in REFERENCE_POINTS else key for key in keys]
    size = next((n for n, metric in enumerate(published) if metric.reference_point), None)
    if size is not None:
        keys[size] = "size"
    return keys


def _across_state(figure: SetFigure | None) -> AcrossState | None:
    if figure is None or figure.low is None or figure.high is None or figure.low > 0:
        return None
    return AcrossState.WORSE_THAN_CHANCE if figure.high < 0 else AcrossState.AT_CHANCE

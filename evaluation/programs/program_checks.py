"""The checks of a program that has arrived, on three items of a reference, or generated models in their place: it runs, keeps its word,
and always says the same of an item."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from PIL import Image

from evaluation.kinds import KINDS
from evaluation.metrics.result import MetricResult, Status
from evaluation.programs import results
from evaluation.programs.program import Program, Sample, longest_slice
from evaluation.programs.results import Cause
from evaluation.properties.measure import procedures_of
from submissions.kinds import FAMILIES

ITEMS = 3
NOISE = 20.0  # levels of a picture's damage
SAME, DAMAGED = "itself", "damaged"


@dataclass(frozen=True)
class Row:
    """Result of the program on one item, set against itself or damaged; `why` and `cause` are empty unless it failed."""

    item: str
    against: str
    value: float | None
    status: str
    why: str = ""
    cause: str = ""


@dataclass(frozen=True)
class Check:
    """One check: whether it was passed, a sentence, which may quote the program, the `rows` behind it, and the `Cause` if it failed.
    `warning` tells organizers about a passed check."""

    passed: bool
    sentence: str
    rows: tuple[Row, ...] = ()
    cause: str = ""
    warning: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def samples_of(kind: str, references: Mapping[str, Any] | None, unit_scale: float = 1.0) -> list[tuple[str, Sample]]:
    """(against what, sample) of up to three items of a reference, or of simulated models without one: first all against themselves, then
    all damaged."""
    simulated = references is None
    found = KINDS[kind].simulated.first(ITEMS) if references is None else dict(list(references.items())[:ITEMS])
    rows = []
    for against in (SAME, DAMAGED):
        for name, item in found.items():
            prediction, reference = _pair(kind, name, item, against == DAMAGED, simulated)
            if prediction is not None:
                rows.append((against, Sample(name, name.partition("/")[0], prediction, reference, unit_scale)))
    return rows


def _pair(kind: str, name: str, item: Any, damaged: bool, simulated: bool) -> tuple[Any, Any]:
    if not FAMILIES[kind].images:
        return (procedures_of(kind).noisy_copy(name, item) if damaged else item), item
    view = item.view if simulated else item
    render = item.render if simulated else KINDS[kind].pair_type.itself(item)
    return (_noisy(render) if damaged and render is not None else render), view


def _noisy(render: Any) -> Any:
    noise = np.random.default_rng(0).normal(0.0, NOISE, (render.height, render.width, 1))
    pixels = np.clip(render.pixels().astype(float) + noise, 0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return replace(render, png=buffer.getvalue())


def first_run(program: Program, samples: Sequence[tuple[str, Sample]], params: Mapping[str, Any]) -> Check:
    """Check that the program gives every item a value within its bounds, and does not prefer the damaged copies on all items."""
    rows = _rows(program, samples, params)
    failed = [row for row in rows if row.status == Status.FAILED]
    if failed:
        return Check(False, f"{failed[0].item} against {failed[0].against}: {failed[0].why}", tuple(rows), failed[0].cause)
    if all(row.value is None for row in rows):
        return Check(False, "The program has no value for any of the items.", tuple(rows), Cause.NO_VALUES)
    whole, hurt = ([row.value for row in rows if row.against == against] for against in (SAME, DAMAGED))
    word, sign = ("higher", 1) if program.document.higher_is_better else ("lower", -1)
    known = [(a, b) for a, b in zip(whole, hurt, strict=True) if a is not None and b is not None]
    if known and all(sign * (b - a) > 0 for a, b in known):
        sentence = f"It says that {word} is better, and every damaged item has a better value than the item itself."
        return Check(False, sentence, tuple(rows), Cause.DIRECTION)
    sentence = f"It gave {len(rows)} values within its bounds, for {len(whole)} items against themselves and damaged."
    values, warning = {row.value for row in rows if row.value is not None}, ""
    if len(values) == 1 and len(rows) > 1:
        warning = (
            f"Every value is {values.pop():g}: no item differs from another, and none from its damaged copy. A metric that gives all "
            "entries one value puts them in no order."
        )
    return Check(True, sentence, tuple(rows), warning=warning)


def determinism(again: Callable[[], Program], samples: Sequence[tuple[str, Sample]], params: Mapping[str, Any]) -> Check:
    """One item has one value, within the program's tolerance: at every third place of more calls than the longest slice has, in slices of
    one, and with the items in another order. `again` gives a fresh copy of the program."""
    with again() as program:
        document = program.document
        units = [[one] for one in samples]
        if document.level == "set":  # one call sees all against themselves, another all damaged
            units = [[one for one in samples if one[0] == against] for against in dict.fromkeys(against for against, _ in samples)]
        first, others = units[0], units[1:] or units
        calls = 3 * math.ceil((longest_slice(document) + 1) / 3)
        places = [first if n % 3 == 0 else others[(n - n // 3 - 1) % len(others)] for n in range(calls)]
        runs = [("in one slice", _values(program, places, params))]
    for name, slices in (("in slices of one", [[unit] for unit in units[:ITEMS]]), ("in another order", [units[::-1]])):
        found = []
        for places in slices:
            with again() as program:
                found += _values(program, places, params)
        runs.append((name, found))
    known: dict[tuple[str, str], Row] = {}
    worst, where = 0.0, ""
    for name, found in runs:
        for n, row in enumerate(found):
            difference = relative_difference(known.setdefault((row.item, row.against), row).value, row.value)
            if difference > worst:
                worst, where = difference, f"{row.item} against {row.against}, at place {n + 1} of {len(found)} {name}"
    rows, most = tuple(known.values()), f"{Decimal(str(document.tolerance)):f}"
    if worst > document.tolerance:
        by = "has a value in one run and none in another" if math.isinf(worst) else f"differs by {worst:.2g} of its value"
        sentence = f"The program is not deterministic: {where}, it {by}; at most {most} is taken. Draw from params['seed']."
        return Check(False, sentence, rows, Cause.DIFFERS)
    made = f"{len(runs[0][1])} values in one slice, one item at every third place, {len(runs[1][1])} in slices of one and in another order"
    return Check(True, f"{made}: no value of an item differs by more than {most}.", rows)


def _values(program: Program, units: Sequence[list[tuple[str, Sample]]], params: Mapping[str, Any]) -> list[Row]:
    """Results of a slice of units, in their order. Where the program gets the items of a slice together it gets each under another name."""
    if program.document.level == "set":
        return [row for unit in units for row in _rows(program, unit, params)]
    alone = program.document.run == "python"
    named = [replace(one, id=one.id if alone else f"item_{n}", group=f"item_{n}") for n, ((_, one),) in enumerate(units)]
    found = program.score_all(named, params)
    return [_row(unit[0][0], unit[0][1].id, result) for unit, result in zip(units, found, strict=True)]


def relative_difference(a: float | None, b: float | None) -> float:
    """Difference of two values as a share of the larger; infinite if only one of them exists."""
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    return 0.0 if a == b else abs(a - b) / max(abs(a), abs(b))


def _rows(program: Program, samples: Sequence[tuple[str, Sample]], params: Mapping[str, Any]) -> list[Row]:
    """Results of the program; programs of groups and sets see samples set against themselves, and those damaged, apart."""
    found: dict[int, MetricResult] = {}
    for against in dict.fromkeys(one for one, _ in samples):
        places = [place for place, (one, _) in enumerate(samples) if one == against]
        found |= dict(zip(places, program.score_all([samples[place][1] for place in places], params), strict=True))
    return [_row(against, sample.id, found[n]) for n, (against, sample) in enumerate(samples)]


def _row(against: str, item: str, result: MetricResult) -> Row:
    why = next((why for why, _ in results.reasons(result.flags)), "")
    return Row(item, against, result.value, str(result.status), why, results.cause_of(result.flags))

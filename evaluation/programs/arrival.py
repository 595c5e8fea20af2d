"""The checks of a program that has arrived, on three items of a reference: it runs, keeps its word, and says the same again."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from evaluation.kinds import KINDS
from evaluation.metrics.result import MetricResult, Status
from evaluation.programs import results
from evaluation.programs.program import Program, Sample
from evaluation.properties.measure import procedures_of
from submissions.kinds import FAMILIES

ITEMS = 3
NOISE = 20.0  # levels of a picture's damage
SAME, DAMAGED = "itself", "damaged"


@dataclass(frozen=True)
class Row:
    """Result of the program on one item, set against itself or damaged; `why` is empty unless it failed."""

    item: str
    against: str
    value: float | None
    status: str
    why: str = ""


@dataclass(frozen=True)
class Check:
    """One check: whether it was passed, a sentence, and what it was found on."""

    passed: bool
    sentence: str
    rows: tuple[Row, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def samples_of(kind: str, references: Mapping[str, Any] | None, unit_scale: float = 1.0) -> list[tuple[str, Sample]]:
    """(against what, sample) of up to three items of a reference, or of made-up models without one: first all against themselves, then
    all damaged."""
    made_up = references is None
    found = KINDS[kind].made_up.first(ITEMS) if references is None else dict(list(references.items())[:ITEMS])
    rows = []
    for against in (SAME, DAMAGED):
        for name, item in found.items():
            prediction, reference = _pair(kind, name, item, against == DAMAGED, made_up)
            if prediction is not None:
                rows.append((against, Sample(name, name.partition("/")[0], prediction, reference, unit_scale)))
    return rows


def _pair(kind: str, name: str, item: Any, damaged: bool, made_up: bool) -> tuple[Any, Any]:
    if not FAMILIES[kind].images:
        return (procedures_of(kind).noisy_copy(name, item) if damaged else item), item
    view = item.view if made_up else item
    render = item.render if made_up else KINDS[kind].pair_type.itself(item)
    return (_noisy(render) if damaged and render is not None else render), view


def _noisy(render: Any) -> Any:
    from PIL import Image

    noise = np.random.default_rng(0).normal(0.0, NOISE, (render.height, render.width, 1))
    pixels = np.clip(render.pixels().astype(float) + noise, 0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return replace(render, png=buffer.getvalue())


def first_run(program: Program, samples: Sequence[tuple[str, Sample]], params: Mapping[str, Any]) -> Check:
    """It gives every item a value that can be taken, within its bounds, and none damaged a better one than itself on all items."""
    rows = _rows(program, samples, params)
    failed = [row for row in rows if row.status == Status.FAILED]
    if failed:
        return Check(False, f"{failed[0].item} against {failed[0].against}: {failed[0].why}", tuple(rows))
    if all(row.value is None for row in rows):
        return Check(False, "It has no value for any of the items.", tuple(rows))
    whole, hurt = ([row.value for row in rows if row.against == against] for against in (SAME, DAMAGED))
    sign = 1 if program.document.higher_is_better else -1
    known = [(a, b) for a, b in zip(whole, hurt, strict=True) if a is not None and b is not None]
    if known and all(sign * (b - a) > 0 for a, b in known):
        word = "higher" if sign > 0 else "lower"
        return Check(False, f"It says that {word} is better, and every damaged item has a better value than the item itself.", tuple(rows))
    return Check(True, f"It gave {len(rows)} values within its bounds, for {len(whole)} items against themselves and damaged.", tuple(rows))


def determinism(again: Callable[[], Program], samples: Sequence[tuple[str, Sample]], params: Mapping[str, Any]) -> Check:
    """The same items again, in another process, and with the items in another order, agree within the program's tolerance; `again`
    gives the program anew."""
    runs = []
    for order in (samples, samples, samples[::-1]):
        with again() as program:
            tolerance, found = program.document.tolerance, _rows(program, order, params)
        runs.append({(row.item, row.against): row for row in found})
    worst, where = 0.0, ""
    for key, row in runs[0].items():
        for n, other in enumerate(runs[1:]):
            difference = relative_difference(row.value, other[key].value)
            if difference > worst:
                worst, where = (
                    difference,
                    f"{key[0]} against {key[1]}, {'in another process' if n == 0 else 'with the items in another order'}",
                )
    rows, most = tuple(runs[0].values()), f"{Decimal(str(tolerance)):f}"
    if worst > tolerance:
        by = "has a value in one run and none in another" if math.isinf(worst) else f"differs by {worst:.2g} of its value"
        return Check(False, f"It is not deterministic: {where}, it {by}; at most {most} is taken. Draw from params['seed'].", rows)
    return Check(True, f"Scored three times, twice in one order and once in another: no value differs by more than {most}.", rows)


def relative_difference(a: float | None, b: float | None) -> float:
    """By what share of the larger two values differ; infinite where one of them alone is there."""
    if a is None or b is None:
        return 0.0 if a is b else math.inf
    return 0.0 if a == b else abs(a - b) / max(abs(a), abs(b))


def _rows(program: Program, samples: Sequence[tuple[str, Sample]], params: Mapping[str, Any]) -> list[Row]:
    """Results of the program; programs of groups and sets see samples set against themselves, and those damaged, apart."""
    found: dict[int, MetricResult] = {}
    for against in dict.fromkeys(one for one, _ in samples):
        places = [place for place, (one, _) in enumerate(samples) if one == against]
        found |= dict(zip(places, program.score_all([samples[place][1] for place in places], params), strict=True))
    return [
        Row(sample.id, against, found[n].value, str(found[n].status), next((why for why, _ in results.reasons(found[n].flags)), ""))
        for n, (against, sample) in enumerate(samples)
    ]

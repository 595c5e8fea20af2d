"""Metrics as functions: one call gives one value, which knows how it came about.

    plumbline.hss(prediction, reference)
    plumbline.metric("edge_f1", tau_edge=0.25)(prediction, reference, unit="cm")

A value equals a leaderboard's with the same parameters: the same code reads, checks and scores.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evaluation.kinds import KINDS
from evaluation.metrics import registry, scoring
from evaluation.metrics.description import described
from evaluation.metrics.result import MetricResult, Status
from evaluation.metrics.scoring import MetricRequest
from evaluation.metrics.spec import MetricSpec
from evaluation.networks import weights
from leaderboard.package import NAMES, inputs, installed
from submissions.kinds import FAMILIES

ITEM = "item"
DEGENERATE = "degenerate_gt: "
WITHOUT_SURFACE = "The reference is points without a surface, which no leaderboard has: the value has no fingerprint."


@dataclass(frozen=True)
class Value:
    """One value of a metric: `float(v)` is the number, NaN where there is none, and `status` and `flags` say why it is what it is.

    `parameters` are all of the metric's, defaults included. `fingerprint` is the same as of a leaderboard's column with the same values,
    and None for a value that no leaderboard computes. `notes` say why, and what was changed in the input before it was measured.
    """

    key: str
    value: float | None
    status: str
    parts: dict[str, float]
    parameters: dict[str, Any]
    fingerprint: str | None
    unit: str = ""
    higher_is_better: bool = True
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value

    def __format__(self, form: str) -> str:
        return format(float(self), form) if form else repr(self)

    def __repr__(self) -> str:
        number = "no value" if self.value is None else f"{self.value:.6g}{f' {self.unit}' if self.unit else ''}"
        more = [self.status] if self.status != Status.OK else []
        more += ["no fingerprint"] if self.fingerprint is None else []
        more += [f"{len(self.notes)} note{'s' if len(self.notes) > 1 else ''}"] if self.notes else []
        return f"<{self.key} {number} ({', '.join(more)})>" if more else f"<{self.key} {number}>"


class Metric:
    """A metric with its parameters, to be called with a prediction and its reference.

    `key`, `title`, `unit`, `higher_is_better` and `parameters` describe it; `fingerprint` names what fixes its numbers.
    """

    def __init__(self, key: str, /, **parameters: Any) -> None:
        """`key` is a metric's key or the name of its function here; ValueError in one sentence for an unknown one or a wrong parameter."""
        self.spec: MetricSpec = registry.get(NAMES.get(key, key))
        self._given = registry.resolve_params(self.spec.key, parameters)
        self.key, self.title, self.unit = self.spec.key, self.spec.title, self.spec.unit
        self.higher_is_better, self.parameters = self.spec.higher_is_better, self.spec.every_param(self._given)
        self.__doc__ = described(self.spec)

    @property
    def fingerprint(self) -> str:
        """sha256 of the metric's key, version, parameters and weights, as the columns of leaderboards have it."""
        return registry.fingerprint(self.key, self._given)

    def __repr__(self) -> str:
        others = {name: value for name, value in self.parameters.items() if value != self.spec.param(name).default}
        return f"<metric {self.key}{''.join(f' {name}={value!r}' for name, value in others.items())}>"

    def __call__(self, prediction: Any, reference: Any, *, unit: str | float = "m", mask: Any = None) -> Value:
        """The value of a prediction. Each side is a path, arrays or an object (see "In Python" in the documentation). Lengths of the input
        are in `unit`. `reference` is what the metric needs: an image, a list of clean views, or a prompt; metrics of groups and
        sets take a list of images on both sides. `mask` is where `@mask` metrics look.
        """
        spec, notes, family = self.spec, list[str](), FAMILIES[self.spec.family]
        scale = inputs.metres_per(unit)
        if refusal := weights.refusal(spec, self._given, weights.FETCH_LOCALLY):
            raise inputs.InputError(refusal.removesuffix("."))
        if (mask is None) == ("mask" in spec.needs):
            without = "needs mask=, where it looks" if mask is None else f"takes no mask; {spec.key}@mask does"
            raise inputs.InputError(f"{spec.key} {without}")
        try:
            items = self._items(prediction, reference)
            predictions = {name: inputs.item(pair[0], family, "prediction", spec.key, notes) for name, pair in items.items()}
            references = {name: self._reference(pair[1], mask, notes) for name, pair in items.items()}
            points = spec.of_points and len(references[ITEM].vertices) > len(getattr(references[ITEM], family.elements.label)) == 0
            if not points and any(map(family.is_degenerate, references.values())):
                raise inputs.InputError(f"nothing can be measured against the reference: it needs {family.needs}")
            request = MetricRequest(spec.key, spec.key, self._given)
            if points:
                notes.append(WITHOUT_SURFACE)
                pair = KINDS[spec.family].pair_type.of_points(predictions[ITEM], references[ITEM], scale)
                found = spec.compute(pair, registry.resolve_params(spec.key, self._given))
            else:
                scores = scoring.score_items(predictions, references, [request], scale)
                if spec.level != "item":
                    scores = {spec.key: scoring.finish([request], [scores], list(items), [ITEM] * len(items))[spec.key][0]}
                one = scores[spec.key]
                found = MetricResult(one.values[0], Status(one.statuses[0]), one.flags[0], one.parts[0])
        except ModuleNotFoundError as error:
            sentence = installed.missing(error.name or "", "networks" if spec.networks else "score")
            raise ModuleNotFoundError(sentence or str(error), name=error.name) from None
        except ValueError as error:
            if not str(error).startswith(DEGENERATE):
                raise
            raise inputs.InputError(str(error).removeprefix(DEGENERATE)) from None
        return Value(
            key=spec.key,
            value=found.value,
            status=found.status,
            parts=dict(found.parts),
            parameters=dict(self.parameters),
            fingerprint=None if points else self.fingerprint,
            unit=spec.unit,
            higher_is_better=spec.higher_is_better,
            flags=found.flags,
            notes=tuple(dict.fromkeys(notes)),
        )

    def _items(self, prediction: Any, reference: Any) -> dict[str, tuple[Any, Any]]:
        """A prediction and its reference by item: one, or those of both lists where the metric is of groups or sets."""
        if self.spec.level == "item":
            return {ITEM: (prediction, reference)}
        sides = inputs.many(prediction, "prediction"), inputs.many(reference, "reference")
        if len(sides[0]) != len(sides[1]):
            raise inputs.InputError(f"{self.key} needs as many predictions as references, got {len(sides[0])} and {len(sides[1])}")
        return {f"{ITEM}/{n:06}": pair for n, pair in enumerate(zip(*sides, strict=True))}

    def _reference(self, data: Any, mask: Any, notes: list[str]) -> Any:
        family = FAMILIES[self.spec.family]
        if not family.images:
            return inputs.item(data, family, "reference", self.spec.key, notes)
        if self.spec.wants_prompts:
            return inputs.view(None, "reference", self.spec.key, notes, prompt=str(data))
        if "clean views" in self.spec.needs:
            return inputs.view(None, "reference", self.spec.key, notes, mask=mask, clean=data)
        return inputs.view(data, "reference", self.spec.key, notes, mask=mask)


def metric(key: str, /, **parameters: Any) -> Metric:
    """A metric by its key, such as "hss", or by its function's name, such as "chamfer", with parameters other than its defaults."""
    return Metric(key, **parameters)


def function(name: str) -> Callable[..., Value]:
    """The function of that name, such as `plumbline.chamfer`."""
    spec = registry.get(NAMES[name])
    second = "references" if "clean views" in spec.needs else "reference"

    def compute(prediction: Any, reference: Any, *, unit: str | float = "m", mask: Any = None, **parameters: Any) -> Value:
        return Metric(spec.key, **parameters)(prediction, reference, unit=unit, mask=mask)

    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    arguments = [inspect.Parameter(one, kinds[0], annotation=Any) for one in ("prediction", second)]
    own = [inspect.Parameter(one.name, kinds[1], default=one.default) for one in spec.params]
    arguments.append(inspect.Parameter("unit", kinds[1], default="m", annotation="str | float"))

    def called(*given: Any, **named: Any) -> Value:
        if second in named:
            named["reference"] = named.pop(second)
        return compute(*given, **named)

    called.__name__ = called.__qualname__ = name
    called.__module__ = __name__.rpartition(".")[0]
    called.__doc__ = described(spec)
    called.__signature__ = inspect.Signature([*arguments, *own], return_annotation="Value")  # type: ignore[attr-defined]
    return called

"""The one table of file metrics: names, directions, units, parameters, worst values.

Nothing heavy is imported here, not even numpy: the web process and `python -m evaluation metrics`
read this table, and a metric's code is loaded when it is first computed.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


class UnknownMetric(ValueError):
    """No metric has this key; the sentence names near matches."""


class ParamError(ValueError):
    """A metric's parameter is unknown, of the wrong kind or out of range, in one sentence."""


@dataclass(frozen=True)
class Param:
    """One typed parameter. Lengths have the unit "m" and are given in metres.

    `low` and `high` are inclusive; `positive` asks for more than zero. A parameter whose default
    is None may be None, which switches off what it governs.
    """

    name: str
    default: float | int | bool | str | None
    kind: str  # float, int, bool or choice
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    doc: str = ""
    positive: bool = False


@dataclass(frozen=True)
class Micro:
    """A figure over the summed parts of all items: factor * sum(numerator) / sum(denominators).

    It is a ratio of sums, so slices of a submission add up to exactly the same figure.
    """

    name: str
    numerator: str
    denominator: tuple[str, ...]
    factor: float = 1.0


@dataclass(frozen=True)
class MetricSpec:
    """Everything about a metric except its code.

    `worst` says how the value of a missing item, which is also the cap for ranking, is got:
    "0", "1", "tau" (the parameter of that name), "gt_diagonal" (of the reference's bounding box,
    in metres) or "empty_prediction" (the metric's own value for it).
    `version` is raised whenever any number can change.
    """

    key: str
    title: str
    family: str
    higher_is_better: bool
    bounds: tuple[float, float | None]
    unit: str
    params: tuple[Param, ...]
    worst: str
    doc: str
    paper: str
    function: str
    needs: tuple[str, ...] = ("reference",)
    weights: str | None = None
    device: str = "cpu"  # cpu or gpu
    version: int = 1
    level: str = "item"  # item, group or set
    aggregation: str = "macro_mean"
    micro: Micro | None = None

    def param(self, name: str) -> Param:
        """The parameter of that name; ParamError names those there are."""
        for param in self.params:
            if param.name == name:
                return param
        known = ", ".join(param.name for param in self.params) or "none"
        raise ParamError(f"{self.key} has no parameter {name!r}; its parameters are: {known}.")

    def load(self) -> Callable[..., Any]:
        """The metric's function, imported on first use."""
        module, name = self.function.rsplit(".", 1)
        return getattr(importlib.import_module(module), name)


_HOHO = "HoHo / S23DR 2025 official scorer, hoho2025 0.2.2"
_WIREFRAME = "Wireframe metrics against human preference, ICCV 2025"
_BUILDING3D = "Building3D, ICCV 2023"
_PACKAGE = "evaluation.metrics.wireframe"


def _tau(name: str, doc: str) -> Param:
    return Param(name, 0.5, "float", low=0.0, positive=True, unit="m", doc=doc)


_MATCHING = Param(
    "matching",
    "hungarian_raw",
    "choice",
    choices=("hungarian_raw", "hungarian_capped"),
    doc="hungarian_raw minimises the total distance and then cuts at the threshold; hungarian_capped maximises the number of hits first.",
)
_MERGE = Param(
    "merge_tol",
    None,
    "float",
    low=0.0,
    positive=True,
    unit="m",
    doc="Merge vertices closer than this (single linkage) before anything else; off by default.",
)
_CORNER = (
    _tau("tau", "A pair of corners this far apart or nearer is a hit."),
    _MATCHING,
    Param("drop_isolated", False, "bool", doc="Leave out vertices that no edge uses."),
    _MERGE,
)
_EDGE = (
    _tau("tau_edge", "A pair of edges whose Hausdorff distance is this or less is a hit."),
    Param(
        "hausdorff",
        "exact",
        "choice",
        choices=("exact", "sampled20"),
        doc="exact closed form, or 20 equally spaced points on each segment as in Building3D.",
    ),
    _MATCHING,
    _MERGE,
)


def _samples(name: str, default: int, doc: str) -> Param:
    return Param(name, default, "int", low=1, high=1_000_000, doc=doc)


_CURVE = (
    _samples("n", 10_000, "Sample points on each wireframe."),
    Param(
        "sampling",
        "stratified",
        "choice",
        choices=("stratified", "random"),
        doc="Points at equal steps along all edges, or uniform random ones with a fixed seed.",
    ),
    Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of random sampling."),
    _MERGE,
)


def _counting(stem: str, name: str, title: str, params: tuple[Param, ...], doc: str) -> MetricSpec:
    numerator, denominator, factor = "tp", ("n_pred", "n_gt"), 2.0
    if name != "f1":
        denominator, factor = (("n_pred",) if name == "precision" else ("n_gt",)), 1.0
    key = f"{stem}_{name}"
    return MetricSpec(
        key=key,
        title=title,
        family="wireframe",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=params,
        worst="0",
        doc=doc,
        paper=_HOHO if stem == "corner" else _BUILDING3D,
        function=f"{_PACKAGE}.{stem}s.{key}",
        micro=Micro(f"{key}_micro", numerator, denominator, factor),
    )


_SPECS = (
    _counting(
        "corner",
        "precision",
        "Corner precision",
        _CORNER,
        "Share of predicted corners that lie within tau of the reference corner they are matched to.",
    ),
    _counting(
        "corner",
        "recall",
        "Corner recall",
        _CORNER,
        "Share of reference corners that have a matched predicted corner within tau.",
    ),
    _counting("corner", "f1", "Corner F1", _CORNER, "Harmonic mean of corner precision and corner recall."),
    MetricSpec(
        key="corner_offset",
        title="Corner offset",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="m",
        params=_CORNER,
        worst="tau",
        doc="Mean distance of the corners that are hits; tau where there is none.",
        paper=_BUILDING3D,
        function=f"{_PACKAGE}.corners.corner_offset",
        micro=Micro("corner_offset_micro", "distance_sum", ("tp",)),
    ),
    _counting(
        "edge",
        "precision",
        "Edge precision",
        _EDGE,
        "Share of predicted edges within tau_edge (Hausdorff distance) of the reference edge they are matched to.",
    ),
    _counting(
        "edge",
        "recall",
        "Edge recall",
        _EDGE,
        "Share of reference edges that have a matched predicted edge within tau_edge.",
    ),
    _counting("edge", "f1", "Edge F1", _EDGE, "Harmonic mean of edge precision and edge recall."),
    MetricSpec(
        key="hss",
        title="HSS",
        family="wireframe",
        higher_is_better=True,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            _tau("vert_thresh", "Corner threshold of its F1 (compared exactly, without tolerance)."),
            _tau("edge_thresh", "Radius of the tubes around the edges."),
            Param("sections", 6, "int", low=3, high=64, doc="Sides of a tube."),
        ),
        worst="0",
        doc="Hybrid Structure Score: harmonic mean of corner F1 and the IoU of tubes around the edges. "
        "As in the official scorer the tubes are sheared hexagonal prisms, so the score depends on orientation; "
        "unlike it, coordinates are first centred on the reference, so nothing is lost at projected coordinates.",
        paper=_HOHO,
        function=f"{_PACKAGE}.hss.hss",
    ),
    MetricSpec(
        key="jaccard_distance",
        title="Jaccard distance",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, 1.0),
        unit="",
        params=(
            _tau("radius", "Radius of the tubes around the edges."),
            Param(
                "primitive",
                "cylinder",
                "choice",
                choices=("cylinder", "capsule"),
                doc="Flat or round ends; the two give different values.",
            ),
            _samples("n_samples", 100_000, "Sample points (method sampling)."),
            Param(
                "method",
                "sampling",
                "choice",
                choices=("sampling", "exact"),
                doc="Unbiased sampling estimate, or exact volumes of 64-sided tubes.",
            ),
            Param("seed0", 0, "int", low=0, high=2**31 - 1, doc="Seed of the sampling."),
            _MERGE,
        ),
        worst="1",
        doc="One minus the intersection over union of the solid tubes around the edges.",
        paper=_WIREFRAME,
        function=f"{_PACKAGE}.jaccard.jaccard_distance",
    ),
    MetricSpec(
        key="ecd_chamfer",
        title="Edge chamfer distance",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="m",
        params=(
            *_CURVE,
            Param(
                "one_sided",
                "off",
                "choice",
                choices=("off", "pred2gt", "gt2pred"),
                doc="Only one of the two directed means instead of their average.",
            ),
        ),
        worst="gt_diagonal",
        doc="Mean distance from points on the edges of one wireframe to the other, averaged over both directions.",
        paper=_WIREFRAME,
        function=f"{_PACKAGE}.ecd.ecd_chamfer",
    ),
    MetricSpec(
        key="wf_hausdorff",
        title="Hausdorff distance",
        family="wireframe",
        higher_is_better=False,
        bounds=(0.0, None),
        unit="m",
        params=_CURVE,
        worst="gt_diagonal",
        doc="Largest distance from a point on the edges of either wireframe to the other.",
        paper=_WIREFRAME,
        function=f"{_PACKAGE}.ecd.wf_hausdorff",
    ),
)

REGISTRY: Mapping[str, MetricSpec] = MappingProxyType({spec.key: spec for spec in _SPECS})


def get(key: str) -> MetricSpec:
    """The spec of `key`; UnknownMetric (one sentence, with near matches) if there is none."""
    if key in REGISTRY:
        return REGISTRY[key]
    near = difflib.get_close_matches(str(key), REGISTRY, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(REGISTRY)}."
    raise UnknownMetric(f"There is no metric {key!r}; {hint}")


def resolve_params(key: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of metric `key`, in the spec's order: defaults overlaid with `given`.

    Values come back typed (a float parameter given as 1 becomes 1.0). ParamError on an unknown
    name, a wrong kind or a value out of range.
    """
    spec = get(key)
    for name in given:
        spec.param(name)
    return {param.name: _checked(spec, param, given.get(param.name, param.default)) for param in spec.params}


def parse_param(key: str, name: str, text: str) -> Any:
    """The value of a parameter written as text (on a command line), typed and range checked."""
    spec = get(key)
    param = spec.param(name)
    value: Any = text
    if param.default is None and text.lower() in ("none", "off"):
        value = None
    elif param.kind == "bool":
        value = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(text.lower(), text)
    elif param.kind in ("int", "float"):
        try:
            value = int(text) if param.kind == "int" else float(text)
        except ValueError:
            value = text
    return _checked(spec, param, value)


def fingerprint(key: str, params: Mapping[str, Any], weights_sha256: str | None = None) -> str:
    """sha256 (hex) of what fixes a metric's numbers: key, version, all parameters, weights."""
    spec = get(key)
    content = {
        "key": key,
        "version": spec.version,
        "params": resolve_params(key, params),
        "weights": weights_sha256,
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _checked(spec: MetricSpec, param: Param, value: Any) -> Any:
    """`value` typed as `param` asks; ParamError in one sentence otherwise."""
    if value is None and param.default is None:
        return None
    typed, wanted = _typed(param, value)
    if typed is None:
        raise ParamError(f"{spec.key}.{param.name} must be {wanted}, got {value!r}.")
    if param.kind in ("int", "float"):
        limits = []
        if param.positive:
            limits.append((typed > 0, "more than 0"))
        elif param.low is not None:
            limits.append((typed >= param.low, f"at least {param.low}"))
        if param.high is not None:
            limits.append((typed <= param.high, f"at most {param.high}"))
        for holds, sentence in limits:
            if not holds:
                raise ParamError(f"{spec.key}.{param.name} must be {sentence}, got {value!r}.")
    return typed


def _typed(param: Param, value: Any) -> tuple[Any, str]:
    """(`value` in the parameter's type or None, what was wanted)."""
    if param.kind == "choice":
        return (value if isinstance(value, str) and value in param.choices else None), f"one of {', '.join(param.choices)}"
    if param.kind == "bool":
        return (value if isinstance(value, bool) else None), "true or false"
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if param.kind == "int":
        whole = number and (isinstance(value, int) or value.is_integer())
        return (int(value) if whole else None), "a whole number"
    if not number or abs(value) > 1e300 or not math.isfinite(value):
        return None, "a finite number"
    return float(value), "a finite number"

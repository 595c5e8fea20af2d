"""The one table of file metrics: names, directions, units, parameters, worst values.

The web process reads it, and has neither torch nor the mesh libraries. So the modules below load no large library except numpy: scipy loads
its parts on first use, and functions import other libraries themselves.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from evaluation.metrics.spec import PRECISION, MetricSpec, Micro, Param, ParamError
from evaluation.networks import weights
from submissions.kinds import FAMILIES

__all__ = [
    "REGISTRY",
    "MetricSpec",
    "Micro",
    "OtherDefinition",
    "Param",
    "ParamError",
    "UnknownMetric",
    "definition_digest",
    "find",
    "fingerprint",
    "get",
    "look_up_others",
    "parse_param",
    "resolve_params",
    "runs_networks",
    "with_programs",
]


class UnknownMetric(ValueError):
    """Unknown key of a metric; the sentence names near matches."""


class OtherDefinition(ValueError):
    """Values of a column are of another definition than this code computes, in one sentence."""


# Libraries that their functions load on first use, torch aside: a worker that forks its jobs loads them before.
LIBRARIES = (
    "scipy.fft",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "scipy.spatial",
    "fast_simplification",
    "igl",
    "manifold3d",
    "safetensors",
    "safetensors.numpy",
)


def _modules() -> tuple[str, ...]:
    """Modules of metrics, which hold their specs in SPECS, in the order of pages and of the API: by kind, then by their PLACE.

    They are found by their text, since importing all modules of this folder would load torch."""
    folder = Path(__file__).parent
    paths = [path for path in sorted(folder.glob("*/**/*.py")) if "\nSPECS = (" in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(folder).with_suffix("").parts) for path in paths]
    places = {name: getattr(_module(name), "PLACE", LAST) for name in names}
    kinds = list(FAMILIES)
    return tuple(sorted(names, key=lambda name: (kinds.index(name.partition(".")[0]), places[name])))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"evaluation.metrics.{name}")


LAST = 1000  # the place of metrics that say none
MODULES = _modules()
REGISTRY: Mapping[str, MetricSpec] = MappingProxyType({spec.key: spec for name in MODULES for spec in _module(name).SPECS})


_programs: dict[str, MetricSpec] = {}  # what this process was given, by key
_source: Callable[[str], MetricSpec | None] | None = None  # where metrics are looked up that neither has


def look_up_others(source: Callable[[str], MetricSpec | None]) -> None:
    """Ask `source` for metrics that this table lacks: programs, whose keys are challenge/key, and removed ones. The service keeps them."""
    global _source
    _source = source


@contextmanager
def with_programs(specs: Iterable[MetricSpec]) -> Iterator[None]:
    """Know these metric programs meanwhile, in place of any others of their keys."""
    before = dict(_programs)
    _programs.update({spec.key: spec for spec in specs})
    try:
        yield
    finally:
        _programs.clear()
        _programs.update(before)


def find(key: str) -> MetricSpec | None:
    """The spec of `key`, a metric of ours or a program's, in the service also of a removed one; None if there is none."""
    return REGISTRY.get(key) or _programs.get(key) or (_source(key) if _source is not None else None)


def get(key: str) -> MetricSpec:
    """The spec of `key`; UnknownMetric (one sentence, with near matches) if there is none."""
    found = find(key)
    if found is not None:
        return found
    known = (*REGISTRY, *_programs)
    near = difflib.get_close_matches(str(key), known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}."
    raise UnknownMetric(f"There is no metric {key!r}; {hint}")


def resolve_params(key: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of metric `key`, in the spec's order: defaults overlaid with `given`.

    Values come back typed (a float parameter given as 1 becomes 1.0). `precision` is left out at its
    default: columns from before there was such a parameter are the same columns. ParamError on an unknown
    name, a wrong kind or a value out of range.
    """
    spec = get(key)
    for name in given:
        spec.param(name)
    found = {param.name: _checked(spec, param, given.get(param.name, param.default)) for param in spec.params}
    if spec.has_precision and found[PRECISION.name] == PRECISION.default:
        del found[PRECISION.name]
    return found


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
    """sha256 (hex) of what fixes a metric's numbers: key, version, all parameters, weights.

    The default digest is of the weights that the parameters name, for a metric that has any.
    """
    spec = get(key)
    resolved = resolve_params(key, params)
    if weights_sha256 is None:
        weights_sha256 = weights.digest_of(spec, resolved)
    return definition_digest(key, spec.version, resolved, weights_sha256)


def runs_networks(key: str, params: Mapping[str, Any]) -> bool:
    """Return whether a network computes this metric; a metric that this code has not runs none."""
    spec = REGISTRY.get(key)
    return spec is not None and spec.runs_networks(params)


def definition_digest(key: str, version: int, params: Mapping[str, Any], weights_sha256: str | None) -> str:
    """sha256 (hex) of what fixes a metric's numbers, as told."""
    content = {"key": key, "version": version, "params": dict(params), "weights": weights_sha256}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# What a parameter of a kind must be, and the typed value of one; None of anything else.
_KINDS: Mapping[str, tuple[str, Callable[[Param, Any], Any]]] = {
    "choice": ("one of {options}", lambda param, value: value if isinstance(value, str) and param.allows(value) else None),
    "bool": ("true or false", lambda param, value: value if isinstance(value, bool) else None),
    "int": ("a whole number", lambda param, value: int(value) if _is_number(value) and value % 1 == 0 else None),
    "float": ("a finite number", lambda param, value: float(value) if _is_number(value) and abs(value) <= 1e300 else None),
}


def _checked(spec: MetricSpec, param: Param, value: Any) -> Any:
    """`value` typed as `param` asks; ParamError in one sentence otherwise."""
    if value is None and param.default is None:
        return None
    wanted, typed_of = _KINDS[param.kind]
    typed = typed_of(param, value)
    if typed is None:
        limits = [(False, wanted.format(options=", ".join(param.options)))]
    elif param.positive:
        limits = [(typed > 0, "more than 0")]
    else:
        limits = [(param.low is None or typed >= param.low, f"at least {param.low}")]
    limits += [(typed is None or param.high is None or typed <= param.high, f"at most {param.high}")]
    for holds, sentence in limits:
        if not holds:
            raise ParamError(f"{spec.key}.{param.name} must be {sentence}, got {value!r}.")
    return typed

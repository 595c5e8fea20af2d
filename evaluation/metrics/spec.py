"""The record that a metric's file holds beside its function: key, direction, unit, parameters, worst value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from evaluation.metrics.papers import Origin
from evaluation.metrics.tolerance import EXACT, Tolerance
from evaluation.networks import weights
from evaluation.networks.precision import FLOAT32, PRECISIONS, computing_in
from submissions.kinds import FAMILIES

if TYPE_CHECKING:
    import numpy as np

    from evaluation.metrics.result import MetricResult

GROWTH = {1.0: "with their number", 2.0: "with the square of their number", 3.0: "with the cube of their number"}
WEIGHTS_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class ParamError(ValueError):
    """A metric's parameter is unknown, of the wrong kind or out of range, in one sentence."""


class Source(StrEnum):
    """Origin of a parameter's default."""

    PAPER = "paper"  # the paper that the metric is from prints it
    CODE = "authors_code"  # the code of those who defined the metric has it
    PEER = "peer"  # the code of others has it: a scorer of a similar challenge, the network that the metric uses
    OURS = "ours"  # no source gives it, or we depart from what it gives
    ORGANIZER = "organizer"  # a metric program's own document


@dataclass(frozen=True)
class Param:
    """One typed parameter. Lengths have the unit "m" and are given in metres.

    `low` and `high` are inclusive; `positive` asks for more than zero. A parameter whose default is None may be None, which switches off
    what it governs. One with a `network` names a set of its weights: `choices`, or any set beside the server's own weights at the time, so
    that a removed set breaks no page. `source` says where the default is from; a metric of ours always names one.
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
    network: str = ""
    source: Source = Source.ORGANIZER

    @property
    def options(self) -> tuple[str, ...]:
        """The values that a choice may have: `choices`, and the sets of weights there are of its network."""
        return tuple(dict.fromkeys((*self.choices, *(weights.names(self.network) if self.network else ()))))

    def allows(self, value: str) -> bool:
        """True if a choice may be that; whether weights of that name are here is another question (`weights.refusal`)."""
        return value in self.choices or bool(self.network and WEIGHTS_NAME.fullmatch(value))


def published(network: str, doc: str, source: Source) -> Param:
    """The parameter `weights` of a metric that takes the published sets of a network and no others."""
    names = weights.names(network)
    return Param("weights", names[0], "choice", choices=names, doc=doc, source=source)


# Of every metric with a network. At its default it is no part of what is stored and hashed, so that no column changed when it came.
PRECISION = Param(
    "precision",
    FLOAT32,
    "choice",
    choices=PRECISIONS,
    doc="The arithmetic in which the metric's networks compute. tf32, bfloat16 and float16 are faster on graphics cards and less exact "
    "than float32. Each choice is a column of its own. Workers without the hardware for it leave the column to other workers.",
    source=Source.OURS,
)


WIDER = {FLOAT32: 1.0, "tf32": 10.0, "float16": 10.0, "bfloat16": 50.0}  # times the tolerance of float32


class Symmetry(StrEnum):
    """Difference that it makes if prediction and reference change places."""

    NONE = "none"  # no symmetry is promised
    ROUNDING = "rounding"  # equal except for the last digits
    EXACT = "exact"


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
class Effort:
    """The time that a slow metric declares: `seconds` of one core at most for a model of `size`, and how that grows.

    `by` says which of the two sizes of an item counts (0 or 1: vertices and edges, or vertices and faces); time grows with
    its `power`-th power. `most` is the parameter that a larger model is first brought down to; `least` says that a smaller
    one may take as long. `only` is the parameter, and the choice of it, without which the metric is quick.
    """

    seconds: float
    size: int
    power: float
    by: int = 0
    most: str = ""
    least: bool = False
    only: tuple[str, str] | None = None

    def of(self, size: tuple[int, int], params: Mapping[str, Any]) -> float:
        """Seconds for a model of that size, with all parameters given."""
        if self.only is not None and params[self.only[0]] != self.only[1]:
            return 0.0
        counted = min(size[self.by], params[self.most]) if self.most else size[self.by]
        if self.least:
            counted = max(counted, self.size)
        return self.seconds * (counted / self.size) ** self.power

    def grows(self, size: tuple[int, int]) -> bool:
        """True if a model of that size is declared to take longer than a smaller one."""
        return self.power > 0 and (not self.least or size[self.by] > self.size)

    def words(self, family: str, params: Mapping[str, Any]) -> str:
        """The declaration as a sentence for the pages of a metric of that family, with all parameters given."""
        counted = FAMILIES[family].sizes[self.by]
        when = f"with {self.only[0]} = {self.only[1]}, " if self.only is not None else ""
        told = f"Declared effort: {when}{self.seconds:g} s of one core"
        if not self.power:
            return f"{told} for a model of any size."
        growth = GROWTH.get(self.power, f"with their number to the power of {self.power:g}")
        if self.least:
            return f"{told} at most for a model of up to {self.size:,} {counted}; above, it grows {growth}."
        most = f", up to {params[self.most]:,}, which larger models are brought down to" if self.most else ""
        return f"{told} for a model of {self.size:,} {counted}; it grows {growth}{most}."


@dataclass(frozen=True)
class Earlier:
    """An earlier version of a metric. Phases that were set up with it keep it until they are re-evaluated. It has its number, its function,
    the correction of the next version, such as "flat faces", and the fields of the spec that have changed since."""

    version: int
    function: Callable[..., MetricResult]
    corrected: str
    otherwise: Mapping[str, Any] = field(default_factory=dict)


class Scorer(Protocol):
    """A metric that holds a picture against clean views of its scene, where one of them may be left out."""

    views: int  # how many clean views there are

    def score(self, pixels: np.ndarray, without: int | None) -> tuple[float, np.ndarray | None]:
        """The score of uint8[H, W, 3] against the clean views other than number `without`, and its map or None. A map has floats
        per cell or per pixel, row by row, higher where the picture is more plausible."""
        ...


class Program(Protocol):
    """Runner of a metric program, see `evaluation.programs.program`."""

    def one(self, pair: Any, **params: Any) -> MetricResult:
        """The result of one pair."""
        ...

    def score_all(
        self, samples: Sequence[Any], params: Mapping[str, Any], progress: Callable[[int], None] | None = None
    ) -> list[MetricResult]:
        """The result of each sample; see `evaluation.programs.program.Sample`."""
        ...


@dataclass(frozen=True)
class MetricSpec:
    """Everything about a metric. Its `function` takes a pair, and all of `params` by name: only this record has the defaults. The exception
    is `precision`, which `compute` handles.

    `worst` says how the value of a missing item is computed; that value also bounds values in ranking. It is "0", "1", "2", "tau" (the
    parameter of that name), "empty_prediction" (the metric's own value for one), "null" (no value), "gt_diagonal" or
    "gt_diagonal_squared". The diagonal is of the reference's bounding box, in metres or in the frame of the parameter `normalize`. A metric
    of level "group" or "set" finds its values in two steps. `function` gives each item's result with its `partial`; `finish` computes the
    value of each group, or of all items, from the partials. `finish` decides what a missing item does, and `worst` only caps the value.

    `version` is raised whenever any number can change. `earlier` has the earlier versions that phases still use, oldest first. Metrics that
    may take longer than seconds declare their `effort`. `tolerance` is the largest difference between two machines; it is no part of the
    fingerprint (see `tolerance_with`).
    """

    key: str
    title: str
    family: str
    higher_is_better: bool
    bounds: tuple[float, float | None]  # -inf and None where there is no end
    unit: str
    params: tuple[Param, ...]
    worst: str
    doc: str
    origin: Origin
    function: Callable[..., MetricResult]
    needs: tuple[str, ...] = ("reference",)
    weights: str | tuple[str, ...] | None = None  # the networks it needs, of evaluation/networks/weights.py; see `networks`
    device: str = "cpu"  # cpu or gpu
    version: int = 1
    tolerance: Tolerance = EXACT
    # For a metric whose network takes several pictures together: (pairs, all params) stores with each pair what `function` will need.
    ahead: Callable[..., None] | None = None
    earlier: tuple[Earlier, ...] = ()
    level: str = "item"  # item, group or set: what one value is of
    finish: Callable[..., list[MetricResult]] | None = None  # for group and set: (items, params) -> a result for each of the items
    aggregation: str = "macro_mean"
    micro: Micro | None = None
    effort: Effort | None = None
    of_points: bool = False  # it looks at samples alone, so that a reference may be points without faces, outside of leaderboards
    symmetry: Symmetry = Symmetry.NONE
    examples: tuple[str, ...] = ()  # names of drawn examples of where it goes wrong, in its kind's module of weaknesses
    learnt: bool = False  # learnt from the references, so that it ranks only after an acceptance test, though it has no network
    warning: str = ""  # what nobody may overlook who uses it, in a sentence or two, for its pages
    formula: str = ""  # the equation in a line or two of plain Unicode, for the metric's page
    # Of what judges by clean views of a scene: (clean views, all params, prepared) -> a `Scorer`. `prepared` has what was prepared of
    # the views, see `evaluation.metrics.shared`, or gains it.
    acceptance_scorer: Callable[..., Scorer] | None = None
    # Of a metric program that an organizer brought: the digest of its files, what runs it (where that is here), and its published source.
    contents: str = ""
    program: Program | None = None
    removed: str = ""  # of a metric that is no longer computed: what to use in its place
    source: str = ""

    def at(self, version: int | None) -> MetricSpec | None:
        """The metric as it was in a version, with that version's function; None where its code is gone. Without a version as it is."""
        if version in (None, self.version):
            return self
        found = next((one for one in self.earlier if one.version == version), None)
        return None if found is None else replace(self, version=found.version, function=found.function, earlier=(), **found.otherwise)

    @property
    def is_program(self) -> bool:
        """True if an organizer brought it; its key is then challenge/key, which no metric of ours has."""
        return bool(self.contents)

    @property
    def primary_refusal(self) -> str:
        """Reason why it cannot be the primary metric, in a sentence; empty where it can."""
        if not self.is_program or self.worst != "null":
            return ""
        return (
            f"{self.title} cannot be the primary metric. Its program says `worst: null`, so means leave out items without a value, and a "
            "team could gain by leaving out hard items. Make another metric primary, or let the program give a missing item a number."
        )

    @property
    def networks(self) -> tuple[tuple[str, str], ...]:
        """(network, parameter that names its set of weights) of each network it needs.

        `weights` holds them as "NETWORK", whose parameter is `weights`, or "NETWORK:PARAMETER".
        """
        given = (self.weights,) if isinstance(self.weights, str) else self.weights or ()
        split = (text.partition(":") for text in given)
        return tuple((network, parameter or "weights") for network, _, parameter in split)

    def networks_with(self, params: Mapping[str, Any]) -> tuple[str, ...]:
        """The networks that run with these parameters: none where they name a set of weights that has no files."""
        chosen = ((network, params.get(name, self.param(name).default)) for network, name in self.networks)
        return tuple(network for network, choice in chosen if weights.PUBLISHED.get(network, {}).get(choice) != ())

    def compute(self, pair: Any, params: Mapping[str, Any]) -> MetricResult:
        """The result of one pair, with the parameters as `registry.resolve_params` gives them."""
        with self.computing(params):
            return self.function(pair, **self._taken(params))

    def look_ahead(self, pairs: Sequence[Any], params: Mapping[str, Any]) -> None:
        """Prepare several pairs together, if the metric can, for `compute` with the same parameters."""
        if self.ahead is not None:
            with self.computing(params):
                self.ahead(pairs, **self._taken(params))

    def _taken(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in params.items() if not (self.has_precision and name == PRECISION.name)}

    def computing(self, params: Mapping[str, Any]) -> AbstractContextManager[None]:
        """A context in which networks compute as these parameters say."""
        return computing_in(params.get(PRECISION.name, FLOAT32) if self.has_precision else FLOAT32)

    @property
    def has_precision(self) -> bool:
        """True if its networks may compute in other arithmetic than float32; a metric program may have a parameter of that name, too."""
        return PRECISION in self.params

    def every_param(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """These parameters with the defaults of all others, those included that are not stored."""
        return {param.name: params.get(param.name, param.default) for param in self.params}

    def tolerance_with(self, params: Mapping[str, Any]) -> Tolerance:
        """The tolerance with these parameters. It is any other metric's if they choose a way without a network, and wider if networks
        compute in less than float32."""
        if self.networks and not self.networks_with(params):
            return EXACT
        return self.tolerance.times(WIDER[params.get(PRECISION.name, FLOAT32)]) if self.has_precision else self.tolerance

    def runs_networks(self, params: Mapping[str, Any]) -> bool:
        """True if with these parameters a network runs, which a graphics card is for: not numbers in a formula."""
        return any(network not in weights.NOT_NETWORKS for network in self.networks_with(params))

    @property
    def wants_prompts(self) -> bool:
        """True if it has a value for objects with a prompt only."""
        return "prompt" in self.needs

    def missing_prompts(self, prompted: bool) -> str:
        """Reason why the metric has no value under a reference with prompts, or without (`prompted`); empty where it may have one."""
        if prompted or not self.wants_prompts:
            return ""
        return f"{self.title} holds pictures against the texts they were made from, and the reference has none; add prompts.json to it."

    @property
    def brief(self) -> str:
        """First sentence on what it measures; empty where nothing is said."""
        return f"{self.doc.partition('. ')[0].removesuffix('.')}." if self.doc else ""

    def titled(self, params: Mapping[str, Any], title: str = "") -> str:
        """The title of a column of the metric: `title`, or the metric's own. Weights and precision of its networks follow in brackets if
        they differ from the usual ones, so that nobody mistakes one network's values for another's."""
        named = title or self.title
        chosen = [str(params[name]) for _, name in self.networks if params.get(name, self.param(name).default) != self.param(name).default]
        if self.has_precision and params.get(PRECISION.name, FLOAT32) != FLOAT32:
            chosen.append(str(params[PRECISION.name]))
        missing = [weights for weights in dict.fromkeys(chosen) if weights not in named]
        return f"{named} ({', '.join(missing)})" if missing else named

    def param(self, name: str) -> Param:
        """The parameter of that name; ParamError names those there are."""
        for param in self.params:
            if param.name == name:
                return param
        known = ", ".join(param.name for param in self.params) or "none"
        raise ParamError(f"{self.key} has no parameter {name!r}; its parameters are: {known}.")

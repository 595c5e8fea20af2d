"""A column of a board as a batch keeps it, whose values never change: a metric with its parameters, or imported figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from evaluation.metrics import registry
from evaluation.metrics.papers import Origin
from evaluation.metrics.registry import OtherDefinition
from evaluation.metrics.spec import MetricSpec
from evaluation.networks import weights

DEFINITION = ("slug", "key", "params", "fingerprint", "weights_sha256")  # what fixes the numbers, which jobs have
SHOWN = ("title", "weight", "is_primary", "in_ranking", "position")  # what changes no number


@dataclass(frozen=True)
class Imported:
    """Direction, unit and digits that an imported column declares; `items` where its table has a value for each item."""

    higher_is_better: bool
    unit: str
    decimals: int
    items: bool = False


@dataclass(frozen=True)
class Column:
    """A metric under a slug of its own, with all its parameters; without a `key` where the figures are imported."""

    slug: str
    key: str
    params: Mapping[str, Any]
    fingerprint: str
    weights_sha256: str | None = None  # of the weights that the parameters name, or of a program's files
    title: str = ""
    weight: float = 1.0
    is_primary: bool = False
    in_ranking: bool = True
    position: int = 0
    imported: Imported | None = None

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Column:
        """Read a column as a batch or a job has it, which has no more than its definition. KeyError without that."""
        fixed = {name: kept[name] for name in DEFINITION if name != "weights_sha256" or name in kept}
        imported = Imported(**kept["imported"]) if "imported" in kept else None
        return cls(**fixed, **{name: kept[name] for name in SHOWN if name in kept}, imported=imported)

    def definition(self) -> dict[str, Any]:
        """The part that a worker needs, as JSON."""
        return {name: getattr(self, name) for name in DEFINITION}

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON, as a batch keeps it."""
        found = {**self.definition(), **{name: getattr(self, name) for name in SHOWN}}
        if self.imported is None:
            return found
        del found["weights_sha256"]
        return {**found, "imported": {name: value for name, value in asdict(self.imported).items() if name != "items" or value}}

    @property
    def is_program(self) -> bool:
        return "/" in self.key

    @property
    def spec(self) -> MetricSpec:
        """The metric as it is now; of imported figures what they declare. Raises `registry.UnknownMetric`."""
        if self.imported is None:
            return registry.get(self.key)
        return MetricSpec(
            key="",
            title=self.title,
            family="",
            higher_is_better=self.imported.higher_is_better,
            bounds=(-math.inf, None),
            unit=self.imported.unit,
            params=(),
            worst="null",
            doc="",
            origin=Origin(),
            function=_comes_with_its_values,
            needs=(),
            level="item" if self.imported.items else "set",
        )

    @property
    def version(self) -> int | None:
        """The version of its metric that computed it, found by its fingerprint. None if no version known to this code gives that
        fingerprint, as for newer code or a removed metric.

        Only its stored parameters are hashed, so a parameter added since changes nothing.
        """
        spec = registry.find(self.key)
        if spec is None:
            return None
        for version in range(spec.version, 0, -1):
            digest, then = self.weights_sha256, spec.at(version) or spec
            if digest is None and then.networks:  # a column from before it was kept there
                digest = weights.digest_of(then, registry.resolve_params(spec.key, self.params))
            if registry.definition_digest(spec.key, version, self.params, digest) == self.fingerprint:
                return version
        return None

    @property
    def is_current(self) -> bool:
        """True if this code computes exactly what it holds."""
        spec = registry.find(self.key)
        return spec is not None and self.version == spec.version and (not spec.is_program or self.weights_sha256 == spec.contents)

    @property
    def computed(self) -> MetricSpec | None:
        """The metric in the version whose values it has, current or earlier; None where this code has none such."""
        spec = registry.find(self.key)
        if spec is None or spec.is_program:
            return spec if self.is_current else None
        version = self.version
        return None if version is None else spec.at(version)

    @property
    def is_retired(self) -> bool:
        """True if it is no longer computed: its metric, or the weights that it used, were removed."""
        spec = registry.find(self.key) if self.key else None
        return spec is not None and weights.are_removed(spec, self.params)


def require_computed(columns: Iterable[Column]) -> None:
    """Raise OtherDefinition unless this code computes exactly what these columns hold, in whatever version."""
    for column in columns:
        if column.computed is None:
            raise OtherDefinition(
                f"{column.key} is asked for in another version than the code of this worker has; start it again with the code that "
                "the service runs, or re-evaluate the phase."
            )


def _comes_with_its_values(*_: Any) -> NoReturn:
    raise TypeError("an imported column is not computed here; it comes with its values")

"""The manifest, what a phase expects of an upload: items, formats, limits and metrics. Server and client read the same manifest."""

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from submissions.kinds import FAMILIES, NAME, Family

MISSING_RULES = ("reject", "worst")
RESIZE_RULES = ("none", "reference")
ITEM_ID = NAME
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
MAX_MANIFEST_BYTES = 50_000_000


class ManifestError(ValueError):
    """A manifest that cannot be used; the message is one sentence that names the key."""


@dataclass(frozen=True)
class Input:
    """Description of an item's input by the organizers: the box around it, its number of points (0: not stated), and the unit of its
    coordinates (empty: the phase's)."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    points: int = 0
    unit: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"low": list(self.low), "high": list(self.high), "points": self.points, "unit": self.unit}


@dataclass(frozen=True)
class Item:
    """One sample to be sent: its id, the group it is averaged in, and the most of its family's two sizes that it may have.

    Without ``limits`` a manifest fills in the family's own. ``size`` is the width and height that an image must have;
    0, 0 where any will do, and for families that are no images. ``input`` is the description of its input, if there is one.
    """

    id: str
    group: str
    limits: tuple[int, int] = ()  # type: ignore[assignment]  # until its manifest fills it in
    size: tuple[int, int] = (0, 0)
    input: Input | None = None


@dataclass(frozen=True)
class Bounds:
    """Limits on an uploaded archive. Sizes are bytes; ``max_ratio`` is unpacked over packed; ``max_depth`` folders."""

    max_archive_bytes: int = 500_000_000
    max_total_bytes: int = 2_000_000_000
    max_file_bytes: int = 50_000_000
    max_entries: int = 20_000
    max_ratio: int = 200
    max_depth: int = 6


@dataclass(frozen=True)
class MetricEntry:
    """One column of the phase: its slug, the metric's registry key, the parameters that differ from the defaults, and its fingerprint
    (empty if not given), which fixes its numbers."""

    slug: str
    key: str
    params: Mapping[str, object] = field(default_factory=dict)
    fingerprint: str = ""


@dataclass(frozen=True)
class Manifest:
    """The expectations of one phase. ``unit_scale`` is metres per unit; items are in reference order.

    Of images, ``background`` (#rrggbb) is the colour behind transparent pixels, and ``resize`` says whether an image of another size is
    rejected ("none") or resized to the reference ("reference").

    Construction checks everything and raises ``ManifestError``.
    """

    challenge: str
    phase: str
    family: str
    items: tuple[Item, ...]
    formats: tuple[str, ...]
    missing: str
    unit: str
    unit_scale: float
    metrics: tuple[MetricEntry, ...] = ()
    bounds: Bounds = Bounds()
    reference_version: int = 1
    background: str = "#ffffff"
    resize: str = "none"

    def __post_init__(self) -> None:
        _expect(self.family in FAMILIES, "family", f"one of {', '.join(FAMILIES)}", self.family)
        _expect(self.missing in MISSING_RULES, "missing", f"one of {', '.join(MISSING_RULES)}", self.missing)
        known = self.kind.formats
        unknown = [name for name in self.formats if name not in known]
        _expect(bool(self.formats) and not unknown, "formats", f"some of {', '.join(known)}", self.formats)
        scale_ok = math.isfinite(self.unit_scale) and self.unit_scale > 0
        _expect(scale_ok, "unit_scale", "metres per unit, a number above 0", self.unit_scale)
        _expect(COLOUR.fullmatch(self.background) is not None, "background", "a colour as #rrggbb", self.background)
        _expect(self.resize in RESIZE_RULES, "resize", f"one of {', '.join(RESIZE_RULES)}", self.resize)
        for name, value in dataclasses.asdict(self.bounds).items():
            _expect(value > 0, f"bounds.{name}", "a whole number above 0", value)
        items = tuple(item if item.limits else dataclasses.replace(item, limits=self.kind.most) for item in self.items)
        object.__setattr__(self, "items", items)
        _check_items(self.items, self.kind)
        slugs = [metric.slug for metric in self.metrics]
        _expect(len(set(slugs)) == len(slugs), "metrics", "a different slug for each metric", slugs)

    @property
    def kind(self) -> Family:
        """Return what is sent."""
        return FAMILIES[self.family]

    @property
    def item_ids(self) -> tuple[str, ...]:
        return tuple(item.id for item in self.items)

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """The different widths and heights that images must have, each once."""
        return tuple(dict.fromkeys(item.size for item in self.items if all(item.size)))

    def reading(self, item: Item | None = None) -> dict[str, Any]:
        """Return this phase's settings for the family's readers: none, or for images the background, and for an ``item`` its size and the
        rule for other sizes."""
        known = self.kind.reading(self.background)
        return known if item is None or not known else {**known, "size": item.size, "resize": self.resize == "reference"}

    def to_dict(self) -> dict[str, Any]:
        """The manifest as plain JSON values; ``from_dict`` is the inverse."""
        return {
            "challenge": self.challenge,
            "phase": self.phase,
            "family": self.family,
            "formats": list(self.formats),
            "missing": self.missing,
            "unit": self.unit,
            "unit_scale": self.unit_scale,
            "reference_version": self.reference_version,
            **({"background": self.background, "resize": self.resize} if self.kind.images else {}),
            "bounds": dataclasses.asdict(self.bounds),
            "metrics": [
                {"slug": m.slug, "key": m.key, "params": dict(m.params)} | ({"fingerprint": m.fingerprint} if m.fingerprint else {})
                for m in self.metrics
            ],
            "items": [
                {"id": item.id, "group": item.group}
                | _sizes(item, self.kind)
                | ({} if item.input is None else {"input": item.input.to_dict()})
                for item in self.items
            ],
        }

    @classmethod
    def from_dict(cls, data: object) -> "Manifest":
        """Reads what ``to_dict`` wrote. Unknown keys are left alone, so that older clients read newer manifests."""
        read = _Reader(data, "")
        bounds = _Reader(read.get("bounds", dict, {}), "bounds.")
        family = read.get("family", str)
        _expect(family in FAMILIES, "family", f"one of {', '.join(FAMILIES)}", family)
        return cls(
            challenge=read.get("challenge", str),
            phase=read.get("phase", str),
            family=family,
            items=tuple(_item(entry, n, FAMILIES[family]) for n, entry in enumerate(read.get("items", list))),
            formats=tuple(read.strings("formats")),
            missing=read.get("missing", str, "reject"),
            unit=read.get("unit", str, "m"),
            unit_scale=read.number("unit_scale", 1.0),
            metrics=tuple(_metric(entry, n) for n, entry in enumerate(read.get("metrics", list, []))),
            bounds=Bounds(**{f.name: bounds.get(f.name, int, f.default) for f in dataclasses.fields(Bounds)}),
            reference_version=read.get("reference_version", int, 1),
            background=read.get("background", str, "#ffffff"),
            resize=read.get("resize", str, "none"),
        )

    def to_json(self) -> bytes:
        return (json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_json(cls, data: bytes) -> "Manifest":
        """Reads a manifest file; ``ManifestError`` where it is not one."""
        if len(data) > MAX_MANIFEST_BYTES:
            raise ManifestError("The manifest is larger than 50 MB; download it again from the phase's page.")
        try:
            return cls.from_dict(json.loads(data.decode("utf-8-sig")))
        except ManifestError:
            raise
        except (ValueError, RecursionError) as error:
            raise ManifestError(f"The manifest is not a JSON file ({error}); download it again from the phase's page.") from None


_REQUIRED = object()


class _Reader:
    """Typed access to one JSON object of the manifest, so that every refusal names its key."""

    def __init__(self, data: object, path: str) -> None:
        if not isinstance(data, dict):
            raise ManifestError(f"The manifest's {path.rstrip('.') or 'top level'} must be an object with named keys.")
        self.data, self.path = data, path

    def get(self, key: str, kind: type, default: Any = _REQUIRED) -> Any:
        value = self.data.get(key, default)
        if value is _REQUIRED:
            raise ManifestError(f"The manifest has no {self.path}{key}; download it again from the phase's page.")
        words = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}[kind]
        _expect(isinstance(value, kind) and not isinstance(value, bool), f"{self.path}{key}", words, value)
        return value

    def number(self, key: str, default: float) -> float:
        value = self.data.get(key, default)
        _expect(isinstance(value, (int, float)) and not isinstance(value, bool), f"{self.path}{key}", "a number", value)
        return float(value)

    def strings(self, key: str) -> list[str]:
        values = self.get(key, list)
        _expect(all(isinstance(v, str) for v in values), f"{self.path}{key}", "a list of texts", values)
        return values


def _item(entry: object, number: int, family: Family) -> Item:
    read = _Reader(entry, f"items[{number}].")
    name = read.get("id", str)
    first, second = (read.get(f"max_{size}", int, most) for size, most in zip(family.sizes, family.most, strict=True))
    size = (read.get("width", int, 0), read.get("height", int, 0)) if family.images else (0, 0)
    given = _input(_Reader(entry["input"], f"items[{number}].input.")) if isinstance(entry, dict) and "input" in entry else None
    return Item(name, read.get("group", str, family.group_of(name)), (first, second), size, given)


def _input(read: "_Reader") -> Input:
    ends = []
    for name in ("low", "high"):
        values = read.get(name, list)
        is_point = len(values) == 3 and all(isinstance(v, (int, float)) and math.isfinite(v) for v in values)
        _expect(is_point, f"{read.path}{name}", "three numbers", values)
        ends.append((float(values[0]), float(values[1]), float(values[2])))
    return Input(ends[0], ends[1], read.get("points", int, 0), read.get("unit", str, ""))


def _sizes(item: Item, family: Family) -> dict[str, int]:
    """``max_vertices`` and ``max_edges`` of a wireframe, and so on; ``width`` and ``height`` of an image that must have them."""
    exact = dict(zip(family.sizes, item.size, strict=True)) if all(item.size) else {}
    return exact | {f"max_{size}": most for size, most in zip(family.sizes, item.limits, strict=True)}


def _metric(entry: object, number: int) -> MetricEntry:
    read = _Reader(entry, f"metrics[{number}].")
    key = read.get("key", str)
    return MetricEntry(read.get("slug", str, key), key, read.get("params", dict, {}), read.get("fingerprint", str, ""))


def _check_items(items: tuple[Item, ...], family: Family) -> None:
    _expect(bool(items), "items", "at least one item", items)
    seen: dict[str, str] = {}
    for item in items:
        _expect(family.is_id(item.id), "items.id", family.id_rule, item.id)
        scene = not family.grouped or item.group == family.group_of(item.id)
        _expect(scene, f"{item.id}.group", "the part of the id before the slash", item.group)
        # Archives are unpacked on file systems that fold case, so ids must differ by more than that.
        folded = item.id.casefold()
        _expect(folded not in seen, "items.id", "ids that differ by more than case", f"{seen.get(folded)}, {item.id}")
        seen[folded] = item.id
        for name, given, most in zip(family.sizes, item.limits, family.most, strict=True):
            _expect(0 < given <= most, f"{item.id}.max_{name}", f"1 to {most}", given)
        for name, given, most in zip(family.sizes, item.size, item.limits, strict=True):
            _expect(0 <= given <= most and bool(given) == all(item.size), f"{item.id}.{name}", f"1 to {most}, or 0 for both sides", given)


def _expect(holds: bool, key: str, expected: str, found: object) -> None:
    if not holds:
        text = repr(found)
        raise ManifestError(f"The manifest's {key} must be {expected}, not {text[:80]}{'…' if len(text) > 80 else ''}.")

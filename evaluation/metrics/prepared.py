"""The reference's side of the metrics, computed once and kept between entries. PURE.

Metrics put what depends on the reference alone (samples, solids, spectra) into a mapping by name, see `evaluation.metrics.shared`. This
file makes such mappings for items and stores them as one file: the length of a head, the head as JSON, the arrays one after the other, and
the SHA-256 of all of it. The digest keeps a truncated file from becoming somebody's score.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.metrics import registry, scoring
from evaluation.metrics.shared import Arrays, Preparing

Prepared = dict[str, dict[str, Arrays]]  # by item, then by name

MAX_BYTES = 640 << 20  # of the arrays in one file; items beyond are computed again for each entry
_ALIGNED = 64  # bytes; each array begins at a multiple
_LENGTH = struct.Struct("<Q")
_DIGEST = 32
_KINDS = "biuf"
_LIBRARIES = ("numpy", "scipy", "trimesh", "manifold3d", "libigl", "fast-simplification", "torch", "pillow")
_CODE = [Path(__file__).parent.parent / folder for folder in ("metrics", "networks", "rendering")]


class Unreadable(ValueError):
    """An incomplete file of prepared arrays."""


def digest(family: str, reference: str, unit_scale: float, fingerprints: Sequence[str], item_ids: Sequence[str]) -> str:
    """The name of a file: all that its numbers depend on, the code and libraries that compute them included.

    `reference` is the SHA-256 of the stored reference, which holds more items than these.
    """
    content = [_code(), family, reference, unit_scale, sorted(set(fingerprints)), list(item_ids), _versions()]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def prepare(
    references: Mapping[str, Any], requests: Sequence[scoring.MetricRequest], unit_scale: float, item_ids: Sequence[str]
) -> Prepared:
    """The arrays that the metrics keep of each item when it is set against itself; that asks for all of its side.

    Arrays that several items share (of the scene they belong to) count once, and are written once.
    """
    requests = [request for request in requests if not registry.get(request.key).is_program]  # these prepare what they need inside
    if not requests:
        return {}
    kept: Prepared = {}
    shared: dict[int, np.ndarray] = {}  # what is kept, by identity
    room = MAX_BYTES
    asked = _Asked(requests, item_ids)
    for item_id in item_ids:
        found: Prepared = {item_id: Preparing()}
        item = {item_id: references[item_id]}
        for together in asked.of(item_id):
            before = len(found[item_id])
            scoring.score_items(scoring.themselves(item, together), item, together, unit_scale, prepared=found)
            asked.note(item_id, together, len(found[item_id]) > before)
        own = {id(array): array for arrays in found[item_id].values() for array in arrays if id(array) not in shared}
        size = sum(array.nbytes for array in own.values())
        if size <= room:
            kept[item_id] = dict(found[item_id])  # a plain store: metrics that find a `Preparing` give no values
            shared |= own
            room -= size
    return kept


class _Asked:
    """The metrics to ask for what they keep of an item. For the first item of a scene each is asked by itself. A metric that keeps nothing
    is not asked again there: many look at a network's features of both images and keep none."""

    def __init__(self, requests: Sequence[scoring.MetricRequest], item_ids: Sequence[str]) -> None:
        self._all = list(requests)
        self._sizes = Counter(map(_scene, item_ids))
        self._useful: dict[str, list[scoring.MetricRequest]] = {}

    def of(self, item_id: str) -> list[list[scoring.MetricRequest]]:
        """The metrics to ask, those in one list together so that they share their work."""
        scene = _scene(item_id)
        if self._sizes[scene] == 1:
            return [self._all]
        if scene not in self._useful:
            self._useful[scene] = []
            return [[request] for request in self._all]
        return [self._useful[scene]] if self._useful[scene] else []

    def note(self, item_id: str, asked: list[scoring.MetricRequest], kept: bool) -> None:
        """Note whether these metrics have kept something of the item."""
        useful = self._useful.get(_scene(item_id))
        if useful is not None and kept and asked is not useful:
            useful += asked


def _scene(item_id: str) -> str:
    return item_id.partition("/")[0]


def pack(prepared: Prepared) -> bytes:
    """The bytes of a file; the same arrays give the same bytes, and an array that several items share is there once."""
    head: list[list[Any]] = []
    places: dict[int, int] = {}
    body: list[Any] = []
    end = 0
    for item_id, named in prepared.items():
        for name, arrays in sorted(named.items()):
            for array in arrays:
                if id(array) not in places:
                    places[id(array)] = end
                    gap = -array.nbytes % _ALIGNED
                    body += [np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, bytes(gap)]
                    end += array.nbytes + gap
            head.append([item_id, name, [[array.dtype.str, list(array.shape), places[id(array)]] for array in arrays]])
    text = json.dumps(head).encode()
    text += b" " * (-(_LENGTH.size + len(text)) % _ALIGNED)
    parts = [_LENGTH.pack(len(text)), text, *body]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b"".join([*parts, digest.digest()])


def unpack(data: bytes) -> Prepared:
    """The inverse of `pack`; the arrays cannot be written to. Raises `Unreadable`."""
    content = memoryview(data)[:-_DIGEST]
    if len(data) < _LENGTH.size + _DIGEST or hashlib.sha256(content).digest() != data[-_DIGEST:]:
        raise Unreadable("the prepared arrays are not as they were written")
    (length,) = _LENGTH.unpack_from(content)
    start = _LENGTH.size + length
    found: Prepared = {}
    for item_id, name, described in json.loads(bytes(content[_LENGTH.size : start])):
        arrays = []
        for kind, shape, place in described:
            dtype = np.dtype(kind)
            if dtype.kind not in _KINDS:
                raise Unreadable(f"an array of {kind} is not read")
            arrays.append(np.frombuffer(content, dtype, math.prod(shape), start + place).reshape(shape))
        found.setdefault(item_id, {})[name] = tuple(arrays)
    return found


def read(path: Path) -> tuple[Prepared, bool]:
    """The arrays in the file, and whether it could not be read; an entry is scored without it then, with the same values."""
    try:
        return unpack(path.read_bytes()), False
    except (OSError, ValueError, TypeError, KeyError, struct.error):
        return {}, True


@cache
def _code() -> str:
    """Digest of the code of the metrics and their networks: another version may not understand the prepared data."""
    found = hashlib.sha256()
    for folder in _CODE:
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{path.relative_to(folder.parent).as_posix()}\n".encode() + path.read_bytes())
    return found.hexdigest()


@cache
def _versions() -> list[str]:
    """The versions of the libraries that compute; each is a search of the installed packages' folder."""
    found = []
    for name in _LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found

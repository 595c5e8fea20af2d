"""Sizes of the things that a study compares: the reference point that knows size alone, and the covariates that models of preference take.

Edges of a wireframe, faces of a mesh, bytes of the PNG of a render. For a sample with several items or views it is the sum over them, since
raters see all of them. Items that an entry left out add nothing. Extents of one stored file never change. So they are worked out once from
its counts, without its items, and kept beside its drawings. One file at a time is open.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from evaluation.models import EvaluationBatch
from leaderboard.kinds import KINDS
from leaderboard.models import Study
from leaderboard.stats.votes import Floats
from leaderboard.viewer import viewer_cache
from submissions.formats.artifact import Extent
from submissions.formats.errors import FormatError
from submissions.kinds import Family
from submissions.storage import stored_files
from submissions.visibility import WITH_FILES, through

log = structlog.get_logger(__name__)

VERSION = 1  # of what is kept


@dataclass(frozen=True, eq=False)
class Sizes:
    """Float64, nan if unknown. `entries` [samples, methods] are sizes; `reference` [samples] is None if known for no sample. `coloured`
    [samples, methods] is 1 if all files of an entry have colours, else 0, and None if the kind's files have none."""

    entries: Floats
    reference: Floats | None
    coloured: Floats | None


def sizes_of(
    study: Study,
    batch: EvaluationBatch | None,
    samples: Sequence[str],
    methods: Sequence[str],
    step: Callable[[], None] = lambda: None,
) -> Sizes | None:
    """The sizes of a study's entries on its samples; None where fewer than two have anything stored, as where figures were imported.

    An entry that was withdrawn has none. There is a branch for each thing that may not be known.

    Raises `storage.StorageError` while the storage does not answer.
    """
    reference = study.reference or (batch.reference if batch else None)
    if reference is None:
        return None
    items: defaultdict[str, list[str]] = defaultdict(list)
    for item, group in zip(reference.item_ids, reference.groups, strict=True):
        items[group].append(item)
    # The items that are shown as a sample, by its number; samples that are no group of the reference are left out.
    shown = [(n, items[name]) for n, name in enumerate(samples) if name in items]
    entries = np.full((len(samples), len(methods)), math.nan)
    coloured = np.full_like(entries, math.nan)
    places = {label: n for n, label in enumerate(methods)}
    rows = study.entries.filter(through("submission", WITH_FILES))
    for label, pk, key in rows.order_by("id").values_list("label", "submission_id", "submission__artifact_key"):
        extents = _extents(reference.family, str(pk), key) if label in places else None
        if extents is None:
            continue
        for n, names in shown:
            there = [extents[name] for name in names if name in extents]
            entries[n, places[label]] = sum(one.size for one in there)
            coloured[n, places[label]] = bool(there) and all(one.coloured for one in there)
        step()
    if (~np.isnan(entries)).any(axis=0).sum() < 2:
        return None
    # Of the reference, the sum over a sample's items; nothing of a sample of which one has no image.
    own = _extents(reference.family, f"reference-{reference.pk}", reference.key) or {}
    own_sizes = np.full(len(samples), math.nan)
    for n, names in shown:
        own_sizes[n] = sum(own[name].size for name in names) if own.keys() >= set(names) else math.nan
    known = None if np.isnan(own_sizes).all() else own_sizes
    return Sizes(entries, known, coloured if KINDS[reference.family.key].coloured else None)


def covariates_of(study: Study, sizes: Sizes | None, shape: tuple[int, int]) -> dict[str, Floats]:
    """Covariates of the study, by name, [samples, methods]: `size` counts doublings from 1 on, `texture` is 0 or 1; nan where it is
    not known."""
    unknown = np.full(shape, math.nan)
    tables = {}
    for name in study.covariates:
        if name == Study.Covariate.SIZE:
            tables[name] = unknown if sizes is None else np.log2(np.maximum(sizes.entries, 1))
        elif name == Study.Covariate.TEXTURE:
            tables[name] = unknown if sizes is None or sizes.coloured is None else sizes.coloured
    return tables


def _extents(family: Family, owner: str, key: str) -> dict[str, Extent] | None:
    """Extents of each stored item; None where nothing lies under the key any more, or nothing that can be read: a study's figures do not
    wait for one reference point."""

    def count() -> bytes:
        with stored_files.store().open(key) as source:
            return json.dumps(family.stored_extents(source), separators=(",", ":")).encode()

    try:
        data = viewer_cache.once(owner, {"extents": VERSION, "artifact": key}, "json", count)
    except FileNotFoundError:
        return None
    except FormatError as error:
        log.warning("the extents of a stored file cannot be read", key=key, error=str(error))
        return None
    return {name: Extent(*one) for name, one in json.loads(data or b"{}").items()}

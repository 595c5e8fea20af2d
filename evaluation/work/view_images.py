"""The pictures of a scene's views, made by a worker after somebody opened it: a slice at a time, after entries, at low priority."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.images.names import OBJECTNESS, SMALL, file_name
from evaluation.metrics.column import Column
from evaluation.metrics.render import osim
from evaluation.models import Evaluation, EvaluationBatch, PictureRun
from evaluation.work import attempts, missing_weights
from evaluation.work.sandbox import sandbox
from evaluation.work.shares import SLICE_SECONDS
from submissions.storage import stored_files

MAX_VIEWS = 16  # of a slice, because all of them are read before the first is painted


def make_once(worker: str) -> bool:
    """Claim a run and make one slice of it; False if there is none."""
    return attempts.claim_one(PictureRun, worker, make)


def make(run: PictureRun) -> None:
    """The next slice of a claimed run."""

    def obstacle() -> str:
        columns = EvaluationBatch.objects.get(evaluations=run.evaluation_id).columns
        return missing_weights.obstacle(column for column in columns if column.slug in maps(columns))

    def slice_in(folder: Path) -> bool:
        views = Evaluation.objects.select_related("submission", "batch__reference__phase__challenge")
        evaluation, item_ids = views.get(pk=run.evaluation_id), run.left[:MAX_VIEWS]
        reference, store = evaluation.batch.reference, stored_files.store()
        job = {
            "kind": "pictures",
            "family": reference.family.key,
            "artifact": str(store.local_path(evaluation.artifact)),
            "reference": str(store.local_path(reference.key)),
            "item_ids": item_ids,
            "columns": {"maps": maps(evaluation.batch.columns), "objects": _objects(evaluation, item_ids)},
            "unit_scale": evaluation.batch.unit_scale,
            "prepared": _prepared(evaluation, item_ids[0]),
            "seconds": SLICE_SECONDS,
            "idle": True,
        }
        found = sandbox.run(folder, job, run.heartbeat)["made"]
        for number, item_id in enumerate(item_ids):
            for name in found.get(item_id, ()):
                for end in ("", SMALL):
                    store.save_file(run.key(item_id, name + end), folder / file_name(number, name + end))
        return run.keep(found)

    attempts.do_slice(run, obstacle, slice_in)


def maps(columns: Sequence[Column]) -> dict[str, dict[str, Any]]:
    """The key and parameters, by slug, of a batch's columns that judge places by clean views. Columns with the same map count once. Columns
    with values of another version are left out, because this code would draw a different map."""
    found: dict[str, dict[str, Any]] = {}
    for column in columns:
        map_of = {"key": column.key.removesuffix("@mask"), "params": column.params}
        if column.key.startswith("puzzlesim") and column.is_current and map_of not in found.values():
            found[column.slug] = map_of
    return found


def _objects(evaluation: Evaluation, item_ids: Sequence[str]) -> dict[str, Any]:
    """The objects of these views, and the value of their scene, of each column of objectness, as `pictures.views.make` takes them."""
    index = {item: place for place, item in enumerate(evaluation.batch.reference.item_ids)}
    found = {}
    for score in evaluation.scores.filter(key__in=OBJECTNESS):
        vectors, values = score.parts, score.values
        rows = {}
        for item in item_ids:
            parts = {name: float(vector[index[item]]) for name, vector in vectors.items()}
            fields = ("label", *osim.FIELDS)
            rows[item] = [[getattr(one, name) for name in fields] for one in osim.objects_of(parts)]
        value = float(values[index[item_ids[0]]])  # the same for all views of a scene
        if value == value:  # a scene without objects has none
            found[score.slug] = {"value": value, "views": rows}
    return found


def _prepared(evaluation: Evaluation, item: str) -> str:
    """The file that scoring prepared of the references around that item; empty if it is gone."""
    place, mapped = evaluation.batch.reference.item_ids.index(item), maps(evaluation.batch.columns).keys()
    parts = evaluation.parts.filter(start__lte=place, stop__gt=place)
    part = max(parts, key=lambda one: len(mapped & set(one.slugs)), default=None)
    if part is None:
        return ""
    key, store = evaluation.batch.cache_key(part.slugs, part.start, part.stop), stored_files.store()
    return str(store.local_path(key)) if store.exists(key) else ""

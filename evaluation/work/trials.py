"""Acceptance test of a column that may not rank yet, by a worker: a few views at a time, after uploads and scoring.

A test that got nothing for a while because entries came all the time goes before them for one slice: a board that cannot rank is as bad as
an entry that waits. All other slices are idle work, done at low priority.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from django.utils import timezone

from evaluation.images.names import file_name
from evaluation.metrics import registry
from evaluation.models.trial import Trial
from evaluation.networks import weights
from evaluation.networks.gate import design as gate
from evaluation.work import attempts, reference_cache
from evaluation.work.child import SCORED
from evaluation.work.sandbox import sandbox
from evaluation.work.shares import SLICE_SECONDS
from submissions.storage import stored_files

MAX_SLICE_SECONDS = 1800  # seconds of the processor for a slice: one subject of a slow network
OVERDUE_SECONDS = 60.0  # without a slice, after which an acceptance test goes before entries


def try_once(worker: str, overdue: bool = False) -> bool:
    """Claim an acceptance test, with `overdue` only one that waited long, and do a slice of it; False if there is none."""
    rows = Trial.objects.overdue(OVERDUE_SECONDS) if overdue else Trial.objects.waiting()
    return attempts.claim_one(Trial, worker, partial(do, idle=not overdue), rows)


def do(trial: Trial, idle: bool = True) -> None:
    """The next slice of a claimed acceptance test: scores, and when all scenes are judged, pictures."""
    attempts.do_slice(trial, lambda: _obstacle(trial), lambda folder: (_paint if trial.judged_at else _score)(trial, folder, idle))


def _score(trial: Trial, folder: Path, idle: bool) -> bool:
    from evaluation.networks.gate.trial import verdict

    start, scenes = time.monotonic(), trial.scene_names
    place, subject = trial.at or (0, 0)
    job = _job(trial, scenes[place], subject=subject, seconds=SLICE_SECONDS, idle=idle)
    # Of this test alone, by its gate's version: the files that entries are scored with hold all items, and belong to their batch.
    key = trial.reference.cache_key(trial.unit_scale, [trial.fingerprint, trial.version], job["item_ids"])
    store = stored_files.store()
    job["prepared"] = str(store.local_path(key)) if subject and store.exists(key) else ""

    def heartbeat() -> bool:
        said = (folder / SCORED).read_text() if (folder / SCORED).exists() else ""
        return trial.heartbeat(done=min(trial.done + int(said), trial.total)) if said.isdigit() else trial.heartbeat()

    found = sandbox.run(folder, job, heartbeat, MAX_SLICE_SECONDS)
    rows = [gate.Row(**row) for row in found["rows"]]
    end = subject + found["subjects"]
    judged = None
    if end < found["of"] and (folder / "prepared").exists():
        reference_cache.save(key, folder / "prepared")
    if end >= found["of"]:
        if subject:
            stored_files.try_delete(key)
        table = [row for row in [*trial.table, *rows] if row.scene == scenes[place]]
        judged = verdict(trial.spec, trial.params, scenes[place], table) if table else gate.unfit(trial.spec, trial.params, scenes[place])
    done = len(trial.rows) + len(rows)
    left = found["of"] - end + (len(scenes) - place - 1) * gate.MAX_VIEWS
    return trial.keep(
        rows,
        judged,
        at=[place, end] if judged is None else [place + 1, 0],
        done=done,
        total=done + left * gate.scores_per_subject(trial.spec, trial.params),
        seconds=trial.seconds + time.monotonic() - start,
    )


def _paint(trial: Trial, folder: Path, idle: bool) -> bool:
    """The pictures of one scene that has none yet, unless another test of the kind has made them: they change nothing counted."""
    has_pictures = gate.kind_of(trial.spec, trial.params) in (gate.CROSS, gate.FULL)
    missing = [one.scene for one in trial.verdicts if one.views and one.scene not in trial.pictures] if has_pictures else []
    if not missing:
        return trial.keep([], None, state=Trial.State.DONE, finished_at=timezone.now())
    job = _job(trial, missing[0], subject=None, seconds=0, idle=idle)
    made = sandbox.run(folder, job, trial.heartbeat, MAX_SLICE_SECONDS)["pictures"]
    for number, (damage, *_) in enumerate(made):
        stored_files.store().save_file(trial.picture_key(missing[0], damage), folder / file_name(number, "trial"))
    return trial.keep([], None, pictures={**trial.pictures, missing[0]: made})


def _obstacle(trial: Trial) -> str:
    """Reason why this worker must not do it: weights are not here, or they or the code are not those of the column."""
    spec = trial.spec
    if found := weights.refusal(spec, trial.params):
        return found
    if registry.fingerprint(trial.key, trial.params) != trial.fingerprint:
        return f"The trial of {spec.title} is wanted for another version, or for other weights, than this worker has."
    return ""


def _job(trial: Trial, scene: str, **asked: Any) -> dict[str, Any]:
    reference = trial.reference
    column = {"slug": "tried", "key": trial.key, "params": trial.params, "fingerprint": trial.fingerprint}
    return {
        "kind": "trial",
        "family": reference.family.key,
        "reference": str(stored_files.store().local_path(reference.key)),
        "item_ids": gate.items_of(trial.spec, trial.params, scene, reference.item_ids),
        "unit_scale": trial.unit_scale,
        "requests": [{**column, "weights_sha256": weights.digest_of(trial.spec, trial.params)}],
        "scene": scene,
        **asked,
    }

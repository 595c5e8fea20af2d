"""What a worker does for a column that may not rank yet: its trial, a few views at a time, after uploads and scoring.

A trial that got nothing for a while because entries came all the time goes before them for one slice: a board that cannot rank
is as bad as an entry that waits.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from evaluation import slices, weights
from evaluation.child import SCORED
from evaluation.gate import design as gate
from evaluation.metrics import registry
from evaluation.models.trial import Trial
from evaluation.pictures.names import file_name
from evaluation.sandbox import sandbox
from submissions import storage

SLICE_SECONDS = 10.0  # what a slice aims at: an upload that arrives meanwhile waits so long
SLICE_AT_MOST = 1800  # seconds of the processor for a slice: one subject of a slow network
OVERDUE_SECONDS = 60.0  # without a slice, and a trial goes before entries


def try_once(worker: str, overdue: bool = False) -> bool:
    """Claim a trial, with `overdue` only one that waited long, and do a slice of it; False if there is none."""
    rows = Trial.objects.overdue(OVERDUE_SECONDS) if overdue else Trial.objects.waiting()
    return slices.claim_one(Trial, worker, do, rows)


def do(trial: Trial) -> None:
    """The next slice of a claimed trial."""
    start = time.monotonic()
    from evaluation.gate.trial import verdict

    scenes = gate.scenes_of(trial.spec, trial.params, trial.reference.item_ids)
    place, subject = trial.at or (0, 0)

    def slice_in(folder: Path) -> bool:
        def heartbeat() -> bool:
            said = (folder / SCORED).read_text() if (folder / SCORED).exists() else ""
            return trial.heartbeat(done=min(trial.done + int(said), trial.total)) if said.isdigit() else trial.heartbeat()

        found = sandbox.run(folder, _job(trial, scenes[place], subject), heartbeat, SLICE_AT_MOST)
        rows = [gate.Row(**row) for row in found["rows"]]
        is_whole = subject + found["subjects"] >= found["of"]
        verdicts = []
        if is_whole:
            table = [row for row in [*trial.table, *rows] if row.scene == scenes[place]]
            judged = verdict(trial.spec, trial.params, scenes[place], table) if found["of"] else None
            verdicts = [judged or gate.unfit(trial.spec, trial.params, scenes[place])]
        at = [place + 1, 0] if is_whole else [place, subject + found["subjects"]]
        pictures = {scenes[place]: found["pictures"]} if found["pictures"] else {}
        _store(trial, folder, scenes[place], pictures)
        is_last = at[0] == len(scenes)
        done = len(trial.rows) + len(rows)
        per = gate.scores_per_subject(trial.spec, trial.params)
        ahead = (found["of"] - at[1] if not is_whole else 0) + (len(scenes) - place - 1) * gate.MAX_VIEWS
        return trial.keep(
            rows, verdicts, pictures, at=at, done=done, total=done if is_last else done + per * ahead,
            seconds=trial.seconds + time.monotonic() - start, state=Trial.State.DONE if is_last else Trial.State.WAITING,
        )  # fmt: skip

    slices.do_slice(trial, lambda: _obstacle(trial), slice_in)


def _obstacle(trial: Trial) -> str:
    """Why this worker must not do it: weights are not here, or they or the code are not those of the column."""
    spec = trial.spec
    if found := weights.refusal(spec, trial.params):
        return found
    if registry.fingerprint(trial.key, trial.params) != trial.fingerprint:
        return f"The trial of {spec.title} is wanted for another version, or for other weights, than this worker has."
    return ""


def _job(trial: Trial, scene: str, subject: int) -> dict[str, Any]:
    reference = trial.reference
    column = {"slug": "tried", "key": trial.key, "params": trial.params, "fingerprint": trial.fingerprint}
    return {
        "kind": "trial",
        "family": reference.family.key,
        "reference": str(storage.store().local_path(reference.key)),
        "item_ids": gate.items_of(trial.spec, trial.params, scene, reference.item_ids),
        "unit_scale": trial.unit_scale,
        "requests": [{**column, "weights_sha256": weights.digest_of(trial.spec, trial.params)}],
        "scene": scene,
        "subject": subject,
        "seconds": SLICE_SECONDS,
    }


def _store(trial: Trial, folder: Path, scene: str, pictures: dict[str, list]) -> None:
    """Put the pictures of a scene's first view where their page finds them; they change nothing that is counted."""
    if not pictures:
        return
    trial.pictures = {**trial.pictures, **pictures}
    for number, (damage, *_) in enumerate(pictures[scene]):
        storage.store().save_file(trial.picture_key(scene, damage), folder / file_name(number, "trial"))

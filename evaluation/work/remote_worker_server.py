"""The service's side of remote workers, which only make outgoing calls: lease a part, hear of its progress, take its result. Everything
that they send is untrusted.

They get what a part needs by signed links, each with its size and sha256, and nothing else: no other challenge, no credentials.
"""

from __future__ import annotations

import hashlib
import math
import random
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

import structlog
from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.models import Evaluation, MetricProgram, Part, PartRecord, RemoteWorker, WorkerToken, part_plan
from evaluation.models.evaluation import PartQuerySet
from evaluation.models.remote_worker import QUEUES, SEEN_SECONDS
from evaluation.networks import weights
from evaluation.work.hostile_results import BadResult, checked, fits_of
from evaluation.work.limited import PATIENCE
from submissions import database_clock
from submissions.entry_states import Reason, Why
from submissions.errors import Refused
from submissions.models import Status
from submissions.storage import stored_files
from submissions.storage.store import BLOCK

log = structlog.get_logger(__name__)

SALT = "evaluation.work.outside"
CANDIDATES = 64  # parts that a worker is offered one of
LINK_SECONDS = 3600
QUICK, SLOW = 1.0, 15.0  # seconds until a worker asks again: while work was recent, and at most
IDLE_SHARE = 0.25  # of the time since work was last there
MAX_ASKED = 6.0  # times a second that all workers together ask; each costs about half a hundredth of a core
KEPT = 24 * 3600  # seconds that the digest of a stored file is remembered


_heard: dict[tuple[str, str], float] = {}  # when this process last noted a worker


class Lost(Refused):
    """The part is not the worker's any more: its lease ran out, or it was done."""

    def __init__(self) -> None:
        super().__init__("This part is not yours any more: its lease ended, it was done, or its token was revoked. Claim another.", "lost")


def retry_after(token: WorkerToken) -> int:
    """Whole seconds until a worker of the token should ask again: few if it had work recently, more later, randomly spread. It grows
    with the number of workers, so that hundreds ask no more often than some dozens, and stays short enough that no worker is taken for
    gone."""
    since = (timezone.now() - (token.worked_at or token.created_at)).total_seconds()
    together = _n_workers(int(time.monotonic() / SLOW)) / MAX_ASKED
    seconds = max(min(SLOW, max(QUICK, IDLE_SHARE * since)), min(2 * SEEN_SECONDS, together))
    return max(1, round(seconds * random.uniform(0.75, 1.0)))  # noqa: S311 - spreads requests


@lru_cache(maxsize=1)
def _n_workers(period: int) -> int:
    """Number of workers heard of lately, counted once in each `period` of the clock."""
    return RemoteWorker.live().count()


def claim(
    token: WorkerToken,
    queues: Collection[str],
    worker: str,
    machine: str,
    without: Sequence[int] = (),
    sandboxes: Collection[str] = (),
) -> Part | None:
    """A part for a worker of the token, under a lease; None where nothing waits that it may do. `sandboxes` are those that it has, as
    `MetricDocument.sandbox` names them: parts with metric programs go to workers that can isolate them."""
    if not token.is_trusted or token.is_waiting():
        return None
    Part.objects.filter(token=token).note_losses()  # what ran out takes no place
    for queue in (queue for queue in token.queues if queue in queues):
        ids = set(Part.objects.for_token(token, queue).values_list("pk", flat=True)[:CANDIDATES]).difference(without)
        if not ids:  # which is nearly always so: many workers ask, and nothing waits
            continue
        for row in Part.objects.filter(pk__in=ids).select_related("evaluation__batch"):
            keys = [column for column in row.evaluation.batch.columns if column.slug in row.slugs]
            if any(program.read.sandbox not in sandboxes for program in MetricProgram.of_columns(keys)):
                ids.discard(row.pk)
        wanted = Part.objects.waiting(queue).filter(pk__in=ids, own_only=False).affordable()
        while part := _claimed(token, wanted, worker[:120], machine):
            evaluation = _evaluation(part)
            if evaluation.state != Evaluation.State.RUNNING or evaluation.submission.status == Status.CANCELLED:
                evaluation.drop()
                continue
            columns = _columns(part, evaluation)
            if not columns:
                part.defer(0, own_only=True)  # the service says what keeps it
                continue
            now, (seconds, item_seconds) = database_clock.read(), _wall_seconds(part, evaluation)
            part.started_at = part.progressed_at = now
            part.due_at, part.item_seconds, part.scored = now + timedelta(seconds=seconds), item_seconds, 0
            part.begin(started_at=now, progressed_at=now, due_at=part.due_at, item_seconds=item_seconds, scored=0)
            Evaluation.objects.filter(pk=evaluation.pk, started_at__isnull=True).update(started_at=now)
            WorkerToken.objects.filter(pk=token.pk).update(worked_at=now)
            return part
    return None


def _claimed(token: WorkerToken, wanted: PartQuerySet, worker: str, machine: str) -> Part | None:
    """One of the `wanted` parts, as long as the token has fewer than it may and the worker has none. Names are the workers' own words, so
    the token bounds the number of parts; its row is locked, so that no claim at the same moment counts too few."""
    wanted.note_losses()
    with transaction.atomic():
        row = WorkerToken.objects.live().select_for_update(no_key=True).filter(pk=token.pk).first()
        if row is None or not row.is_trusted or row.is_waiting():
            return None
        holders = list(Part.objects.filter(token=row, lease_token__isnull=False).values_list("worker", flat=True))
        if len(holders) >= row.at_once or worker in holders:
            return None
        return wanted.claim_free(worker, token_id=row.pk, machine=machine[:240])


def _wall_seconds(part: Part, evaluation: Evaluation) -> tuple[float, float]:
    """Seconds on the wall that a part, and any one item of it, may take."""
    about = evaluation.batch, part.slugs, part.start, part.stop
    return PATIENCE * part_plan.seconds_allowed(*about), PATIENCE * part_plan.item_seconds_allowed(*about)


def waiting(token: WorkerToken) -> dict[str, int]:
    """Parts that workers of the token may do, by queue; none while something of it is in doubt, or it waits itself."""
    queues = token.queues if token.is_trusted and not token.is_waiting() else []
    return {queue: Part.objects.for_token(token, queue).affordable().count() if queue in queues else 0 for queue in QUEUES}


def described(part: Part, token: WorkerToken, site: str) -> dict[str, Any]:
    """Description of the part for a worker, as it is sent; `site` is this service's address as the worker reached it."""
    evaluation = _evaluation(part)
    batch, reference = evaluation.batch, evaluation.batch.reference
    columns = _columns(part, evaluation)
    return {
        "id": part.pk,
        "fence": str(part.lease_token),
        "lease_seconds": settings.LEASE_SECONDS,
        "heartbeat_seconds": settings.HEARTBEAT_SECONDS,
        "family": reference.family.key,
        "device": part.device,
        "item_ids": reference.item_ids[part.start : part.stop],
        "groups": reference.groups[part.start : part.stop],
        "unit_scale": batch.unit_scale,
        "columns": [column.definition() for column in columns],
        "seconds": part_plan.seconds_allowed(batch, part.slugs, part.start, part.stop),
        "item_seconds": _wall_seconds(part, evaluation)[1],
        "begin_seconds": part_plan.BEGIN_SECONDS,
        "patience": PATIENCE,
        "memory": settings.CHILD_MEMORY_MB << 20,
        "inputs": {
            "artifact": _input(evaluation.artifact, token, site),
            "reference": _input(reference.key, token, site, reference.sha256),
        },
        "weights": [one for column in columns for one in _weights(column, token, site)],
        "programs": [
            {**_input(program.file_key, token, site), "scope": program.scope, "contents": program.contents}
            for program in MetricProgram.of_columns(columns)
        ],
    }


def beat(part: Part, done: int) -> float:
    """The worker is at it, and has done so many items; the new lease in seconds, which is shorter where `Part.ends_at` is near. Raises
    `Lost`."""
    now = database_clock.read()
    cancelled = Evaluation.objects.filter(pk=part.evaluation_id, submission__status=Status.CANCELLED).exists()
    if cancelled or part.ends_at is None:
        raise Lost
    if part.ends_at <= now:
        part.lose("was too slow")
        raise Lost
    done = min(done, part.n_items)
    if done > part.scored:
        part.scored, part.progressed_at = done, now
    until = min(now + timedelta(seconds=settings.LEASE_SECONDS), part.ends_at)
    if not part.heartbeat(until=until, scored=part.scored, progressed_at=part.progressed_at):
        raise Lost
    return (until - now).total_seconds()


def take(part: Part, found: Any) -> None:
    """Take the result of a part that its worker holds. Raises `BadResult`, or `Lost`."""
    evaluation = _evaluation(part)
    if not part.under_lease().exists():
        raise Lost
    columns = _columns(part, evaluation)
    ids = evaluation.batch.reference.item_ids[part.start : part.stop]
    scores, seconds, cost = checked(found, columns, ids, set(evaluation.submission.missing_items), part.seconds_held() + 1)
    left_out = dict.fromkeys(set(part.slugs) - {column.slug for column in columns})
    environment = found.get("environment", {}) if isinstance(found, Mapping) else {}
    kept = {str(name)[:40]: str(value)[:80] for name, value in list(environment.items())[:40]} if isinstance(environment, Mapping) else {}
    result, fits = {**scores, **left_out}, fits_of(found.get("fits", {}), ids)
    if not part.finish(result, seconds, fits, environment=kept, core_seconds=cost["core_seconds"], gpu_seconds=cost["gpu_seconds"]):
        raise Lost
    if part.token is not None:
        part.token.note_result()


def give_up(part: Part, kind: str, sentence: str) -> None:
    """The worker cannot do the part. `stopped` and `missing` are no attempt of the part; `failed` is one, and the token's workers do not
    get it again, so that nobody fails an entry alone. A part held for longer than a lease and given up was held in vain."""
    if not part.under_lease().exists():
        raise Lost
    log.warning("a worker from outside gave a part up", part=part.pk, worker=part.worker, kind=kind, sentence=sentence[:400])
    if kind != "failed":
        if part.defer(0):
            WorkerToken.note_left(part.token_id, part.pk, in_vain=part.seconds_held() > settings.LEASE_SECONDS)
        return
    PartRecord.objects.create(
        part=part,
        batch_id=part.evaluation.batch_id,
        submission_id=part.evaluation.submission_id,
        token=part.token,
        fence=part.lease_token,
        worker=part.worker,
        device=part.device,
        n_items=part.n_items,
        verdict=PartRecord.Verdict.FAILED,
    )
    part.give_up_or_retry(Why(Reason.REMOTE), f"{part.worker} says: {sentence[:2000]}")


def held_part(token: WorkerToken, pk: int, fence: uuid.UUID) -> Part:
    """The part that a worker of the token has under this fence. Raises `Lost`."""
    part = Part.objects.filter(pk=pk, token=token, lease_token=fence, state=Part.State.WAITING).select_related("token").first()
    if part is None:
        raise Lost
    return part


def was_taken(token: WorkerToken, pk: int, fence: uuid.UUID) -> bool:
    """Return whether a result came under this fence already: the answer to it may have been lost on its way."""
    return PartRecord.objects.filter(part=pk, token=token, fence=fence).exclude(verdict=PartRecord.Verdict.FAILED).exists()


def hear(token: WorkerToken, worker: str, machine: str, capabilities: Mapping[str, Any]) -> None:
    """Note who called, at most once a minute in each process."""
    now = time.monotonic()
    if now - _heard.get((token.token_hash, worker), -math.inf) < SEEN_SECONDS:
        return
    if len(_heard) > 10_000:
        _heard.clear()
    _heard[token.token_hash, worker] = now
    RemoteWorker.hear(token, worker[:120], machine[:240], capabilities)


def _evaluation(part: Part) -> Evaluation:
    rows = Evaluation.objects.select_related("submission__phase", "batch__reference__phase__challenge", "batch__phase")
    return rows.get(pk=part.evaluation_id)


def _columns(part: Part, evaluation: Evaluation) -> list[Column]:
    """The columns of a part that are computed. Columns of removed metrics are not, nor are columns of another version than this code's
    where entries are scored without."""
    batch = evaluation.batch
    lost = batch.not_computed()
    if not batch.scores_without(lost):
        return []
    waiting = {column.slug for column in lost} | set(batch.retired())
    return [column for column in batch.columns if column.slug in part.slugs and column.slug not in waiting]


# --- inputs ------------------------------------------------------------------------------------


def _input(key: str, token: WorkerToken, site: str, sha256: str = "") -> dict[str, Any]:
    """A file's address for an hour, of the bucket's own signing, or of ours while the token is answered; its size and its digest."""
    store = stored_files.store()
    url = store.link(key, "input", LINK_SECONDS)
    url = url or f"{site.rstrip('/')}/api/v1/worker/inputs/{signing.dumps({'key': key, 'token': token.pk}, salt=SALT)}"
    return {"url": url, "size": store.size(key), "sha256": sha256 or _digest(key)}


def _digest(key: str) -> str:
    """The sha256 of a stored file; what lies under a key never changes."""
    name = f"sha256:{hashlib.sha256(key.encode()).hexdigest()[:32]}"
    found = cache.get(name)
    if found is None:
        digest = hashlib.sha256()
        with stored_files.store().open(key) as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
        found = digest.hexdigest()
        cache.set(name, found, KEPT)
    return str(found)


def linked(signed: str, what: str) -> str:
    """The `key` of a stored file, or the path of `weights`, that a link of ours names. Raises `Refused`, where it is none, has run out, or
    its token is not answered any more."""
    try:
        content = signing.loads(signed, salt=SALT, max_age=timedelta(seconds=LINK_SECONDS))
        found = str(content[what])
    except (signing.BadSignature, KeyError):
        raise Refused("This link is not one of this service, or has run out; claim the part again.", "link") from None
    if not WorkerToken.objects.live().filter(pk=content["token"]).exists():
        raise Refused("The token behind this link is no longer valid.", "link")
    return found


def _weights(column: Column, token: WorkerToken, site: str) -> list[dict[str, Any]]:
    """The files of weights that a column needs and that do not come with the package, as they lie in the worker's folder."""
    spec, params = column.spec, registry.resolve_params(column.key, column.params)
    found = []
    folder = weights.cache_folder()
    for network, name in spec.networks:
        for file in weights.get(network, params[name]).files:
            if not file.path.is_relative_to(folder) or not file.there:
                continue
            inner = file.path.relative_to(folder).as_posix()
            signed = signing.dumps({"weights": inner, "token": token.pk}, salt=SALT)
            note = file.path.with_name(f"{file.path.name}.json")  # of published files
            card = note if note.is_file() else file.path.with_suffix(".json")  # of trained ones
            found.append(
                {
                    "path": inner,
                    "size": file.path.stat().st_size,
                    "sha256": file.sha256,
                    "url": f"{site.rstrip('/')}/api/v1/worker/weights/{signed}",
                    "note_path": card.relative_to(folder).as_posix(),
                    "note": card.read_text(),
                }
            )
    return found


__all__ = ["BadResult", "Lost", "beat", "claim", "described", "give_up", "hear", "held_part", "retry_after", "take", "waiting", "was_taken"]

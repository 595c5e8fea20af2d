"""Workers from outside without a network: honest ones, and one that lies."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

from django.utils import timezone

from evaluation.metrics import scoring
from evaluation.metrics.scoring import MetricRequest
from evaluation.models import Part, WorkerToken
from evaluation.work import remote_worker_server
from submissions.models import Challenge
from submissions.storage import stored_files

SITE = "http://testserver/"


def token_of(
    challenge: Challenge, name: str = "lab", agreed: int = 0, share: float = 0.05, queues=("cpu",), at_once: int = 2
) -> WorkerToken:
    """A live token, trusted as far as so many parts that agreed."""
    token, _ = WorkerToken.make(challenge, None, name, queues, 30, share, at_once)
    WorkerToken.objects.filter(pk=token.pk).update(agreed=agreed)
    token.refresh_from_db()
    return token


def claim(token: WorkerToken, worker: str = "w1") -> Part | None:
    token.refresh_from_db()
    return remote_worker_server.claim(token, ["cpu"], worker, f"machine-of-{token.pk} {token.pk}")


def expire(*parts: Part) -> None:
    """As if the workers that have these parts were not heard of any more."""
    rows = Part.objects.filter(pk__in=[part.pk for part in parts])
    rows.update(lease_until=timezone.now() - timedelta(seconds=1))
    rows.note_losses()


def elapse(seconds: float) -> None:
    """As if so much time had passed since the parts in hand were claimed, in which their workers were heard of again and again."""
    for part in Part.objects.filter(token__isnull=False, lease_token__isnull=False):
        for name in ("started_at", "progressed_at", "due_at"):
            setattr(part, name, getattr(part, name) - timedelta(seconds=seconds))
        part.save(update_fields=["started_at", "progressed_at", "due_at"])


def honest(part: Part) -> dict[str, Any]:
    """The true result of a part, as a worker sends it."""
    sent = remote_worker_server.described(part, part.token, SITE)
    evaluation = part.evaluation
    family, store = evaluation.batch.reference.family, stored_files.store()
    scores = scoring.score_items(
        family.load(store.local_path(evaluation.submission.artifact_key)),
        family.load(store.local_path(evaluation.batch.reference.key)),
        [MetricRequest(column["slug"], column["key"], column["params"]) for column in sent["columns"]],
        sent["unit_scale"],
        sent["item_ids"],
    )
    return {"scores": {slug: samples.to_dict() for slug, samples in scores.items()}, "seconds": {}, "core_seconds": 0.5, "gpu_seconds": 0.0}


def lie(found: dict[str, Any]) -> dict[str, Any]:
    """The result a little changed, within every bound."""
    wrong = copy.deepcopy(found)
    for samples in wrong["scores"].values():
        samples["values"] = [None if value is None else value * 0.999 for value in samples["values"]]
    return wrong


def work(token: WorkerToken, lies: bool = False, worker: str = "w1") -> Part | None:
    """Claim a part, do it, bring the result; None where there is none to be had."""
    part = claim(token, worker)
    if part is not None:
        found = honest(part)
        remote_worker_server.take(part, lie(found) if lies else found)
    return part

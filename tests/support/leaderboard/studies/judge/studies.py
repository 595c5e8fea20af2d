"""Studies for tests of judges: generated objects whose grey says how good they are, and a judge that sees it."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from django.utils import timezone
from PIL import Image

from evaluation.models import EvaluationBatch, Reference
from leaderboard.models import JudgeRun, Study, StudyEntry, StudySample
from leaderboard.studies.judge import planning
from leaderboard.studies.judge.answers import result_of
from leaderboard.studies.judge.planning import Wish
from submissions.formats.render.views import CleanViews, Render, View, encoded, render
from submissions.kinds import FAMILIES
from submissions.models import Phase, Status, Submission
from submissions.storage import stored_files
from tests.support.factories import TeamFactory, received
from tests.support.leaderboard.studies.judge.endpoint import Answer, instruction_of, says

SIDE = 24
PROMPTS = ("a red chair", "an owl on a branch", "a boat")
PRICE = Decimal("0.0035")  # of a request of 1,000 tokens with 150 of answer, at 2 and 10 a million
QUALITY = {"ruby": 220, "opal": 160, "onyx": 90, "coal": 20}


def flat(grey: int) -> np.ndarray:
    return np.full((SIDE, SIDE, 3), grey, dtype=np.uint8)


def object_of(grey: int, views: int, normals: bool = True) -> Render:
    picture = render(flat(grey))
    return Render(picture.png, SIDE, SIDE, normal=encoded(flat(grey)) if normals else None)


def give_objects(phase: Phase, prompts: Sequence[str] = PROMPTS, views: int = 4) -> Reference:
    """A reference of generated objects: so many views of each prompt, no image of what they should look like."""
    phase.challenge.family = "render"
    phase.challenge.save()
    clean = CleanViews.of([render(flat(128))])
    items = {f"{n}/0-{k}": View(None, SIDE, SIDE, clean=clean, prompt=prompt) for n, prompt in enumerate(prompts) for k in range(views)}
    reference = Reference.add(phase, items)
    EvaluationBatch.objects.create(phase=phase, reference=reference, metrics=[], state="current", switched_at=timezone.now())
    return reference


def entry(phase: Phase, name: str, items: Mapping[str, Any], missing: Sequence[str] = ()) -> Submission:
    """An entry whose items are stored as scoring leaves them."""
    row = received(phase, TeamFactory(challenge=phase.challenge), b"not read", method_name=name)
    key = f"artifacts/{row.pk}/items"
    stored_files.store().save_bytes(key, FAMILIES[phase.challenge.family].pack(dict(items)))
    Submission.objects.filter(pk=row.pk).update(status=Status.SCORED, artifact_key=key, missing_items=list(missing))
    row.refresh_from_db()
    return row


def study_of(phase: Phase, submissions: Mapping[str, Submission], samples: Sequence[str] = (), **values: Any) -> Study:
    values = {"slug": "judged", "title": "Judged", "question": "Which is better?", "is_public": True, "revision": 1} | values
    study = Study.objects.create(phase=phase, **values)
    StudyEntry.objects.bulk_create(StudyEntry(study=study, label=label, submission=row) for label, row in submissions.items())
    StudySample.objects.bulk_create(StudySample(study=study, name=name, order=n) for n, name in enumerate(samples))
    return study


def study_of_objects(phase: Phase, quality: Mapping[str, int] = QUALITY, normals: bool = True, **values: Any) -> Study:
    """Generated objects of some methods, the greyer the worse."""
    reference = give_objects(phase)
    rows = {name: entry(phase, name, {item: object_of(grey, 4, normals) for item in reference.item_ids}) for name, grey in quality.items()}
    return study_of(phase, rows, **values)


# --- a judge that looks


def picture(body: dict[str, Any]) -> np.ndarray:
    """The image of a question, uint8[H, W, 3]."""
    data = body["messages"][-1]["content"][1]["image_url"]["url"].partition(",")[2]
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        return np.asarray(image.convert("RGB")).copy()


def brighter(body: dict[str, Any]) -> Answer:
    """Prefers the brighter half, on every criterion."""
    shown = picture(body)
    half = shown.shape[1] // 2
    left, right = float(shown[:, :half].mean()), float(shown[:, half:].mean())
    word = "1" if left > right else "2" if right > left else "3"
    return says(*[f"Analysis: …\nFinal answer:\n{' '.join([word] * criteria(body))}"] * body.get("n", 1))


def criteria(body: dict[str, Any]) -> int:
    """Number of criteria that a question asks."""
    example = instruction_of(body).partition("Final answer:\n")[2].partition("\n")[0]
    return len(example.split(" "))


def answered(study: Study, model: str = "seer-1", plan: str = "one-view", **wish: Any) -> JudgeRun:
    """A run that ended, without an endpoint: of each comparison the first text prefers the better method, the second too but in
    every fifth, the third says neither and cannot be read in every fourth."""
    run = planning.make(study, None, model, Wish(plan, 60, anchor="onyx", **wish))
    rows = run.questions
    for answer in run.answers.select_related("left", "right"):
        better = -1 if QUALITY[answer.left.label] > QUALITY[answer.right.label] else 1
        verdicts = [better, -better if answer.number % 5 == 0 else better, None if answer.number % 4 == 0 else 0]
        n = len(rows[answer.row].criteria)
        answer.said = [{"text": "…", "verdicts": None if v is None else [v] * n, "refused": False, "cut": False} for v in verdicts]
        answer.state, answer.requests, answer.tokens_in, answer.tokens_out, answer.cost = "answered", 1, 1000, 150, PRICE
        answer.seconds = 3.6
        answer.save()
    n = run.n_planned
    counts = {"n_answered": n, "sent": n, "requests": n, "tokens_in": 1000 * n, "tokens_out": 150 * n, "cost": PRICE * n}
    JudgeRun.objects.filter(pk=run.pk).update(state="done", result=result_of(run), finished_at=timezone.now(), **counts)
    run.refresh_from_db()
    return run

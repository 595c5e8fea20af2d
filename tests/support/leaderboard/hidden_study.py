"""A study whose figures nobody sees, on a reference that nobody sees, and metric programs that are compared with it."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from evaluation.work.worker import drain
from leaderboard.models import MetricChallenge, Study, StudyAnalysis
from leaderboard.stats.votes import Vote
from leaderboard.studies import programs as against
from submissions.models import Phase, Submission
from tests.support.factories import TeamFactory, gable, perturbed
from tests.support.leaderboard import scores

BLIND = "def score(prediction, reference, params):\n    return 0.0"
CLOSER = """
    import numpy as np

    def score(prediction, reference, params):
        return float(np.abs(prediction.vertices - reference.vertices).mean())
"""


def on_hidden_items(act: str) -> str:
    """CLOSER, which does something else on hidden items: `act`, an expression of `prediction`, `reference` and `hidden`, the first corner's
    first coordinate of the reference. It knows them by their ten corners, and generated houses have more."""
    return f"""
import os
import sys
import time

import numpy as np

CORNERS = {len(gable(1, 1, 1, 1).vertices)}

def score(prediction, reference, params):
    if len(reference.vertices) == CORNERS:
        hidden = float(reference.vertices[0, 0])
        found = {act}
        if found is not None:
            return found
    return float(np.abs(prediction.vertices - reference.vertices).mean())
"""


def sent(phase: Phase, scale: float, seed: int) -> Submission:
    """An entry of so much damage, whose files alone matter here."""
    items = perturbed(phase.references.get().items(), scale, seed)
    return scores.with_files(scores.entry(phase, TeamFactory(challenge=phase.challenge), {}), items)


def hidden_study(phase: Phase, **values: object) -> Study:
    """A study of six people on three entries of growing damage over the phase's items, who see which is closer; it has been analysed."""
    scales = (("near", 0.05), ("far", 0.15), ("farther", 0.3))
    entries = {label: sent(phase, scale, n) for n, (label, scale) in enumerate(scales)}
    order = list(entries)
    votes = [
        Vote(rater=f"r{r}", left=order[a], right=order[b], choice="left" if (r + a + s) % 7 else "right", sample=sample)
        for r in range(6)
        for s, sample in enumerate(phase.references.get().groups)
        for a in range(3)
        for b in range(a + 1, 3)
    ]
    about = {"slug": "hidden", "title": "Hidden", "question": "Which is closer?", "is_public": False} | values
    made = Study.import_votes(phase, None, votes, **about)
    for label, entry in entries.items():
        made.entries.filter(label=label).update(submission=entry)
    StudyAnalysis.request_missing()
    content = {"kind": "pairs"}  # that it was analysed is enough for somebody to see it
    StudyAnalysis.objects.filter(study=made).update(state=StudyAnalysis.State.DONE, content=content, finished_at=timezone.now())
    return made


def worked() -> None:
    """Check all programs, compute their values on studies, and make standings."""
    drain()
    while against.request() and against.score_due():
        pass


def a_day_later(contest: MetricChallenge) -> None:
    """Let a midnight pass since the standings of a contest were made."""
    contest.refresh_from_db()
    made = timezone.now() - timedelta(days=1)
    MetricChallenge.objects.filter(pk=contest.pk).update(standings={**contest.standings, "made": made.isoformat()})
    contest.refresh_from_db()

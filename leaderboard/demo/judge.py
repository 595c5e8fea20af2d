"""A made-up judge for the demo's finished study, so that pages show what a judge model's answers look like. No model is asked: its
name says that it is made up, and so does every text that it gives.

Like judges of wireframes that were tried, it is a little better than chance.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from django.utils import timezone

from leaderboard.judge import planning
from leaderboard.judge.planning import WIREFRAME_PLAN, Wish
from leaderboard.judge.scores import result_of
from leaderboard.models import JudgeAnswer, JudgeRun, Study
from submissions.models import User

MODEL = "made-up judge"
TEXT = "Made up: no model was asked, the demo drew this answer by chance.\n{}"
QUESTIONS = 240
NOISE = 2.5  # of the difference of two entries, in standard deviations of the liking
SEED = 20260712
SIDES = {-1: "LEFT", 1: "RIGHT"}


def made_up_judge(study: Study, actor: User | None, liking: Mapping[tuple[str, str], float]) -> JudgeRun:
    """A run that has ended, of one text a question; `liking` says how good an entry (by its label) is on a sample, the more the
    better. Fixed by the seed."""
    run = planning.make(study, actor, MODEL, Wish(WIREFRAME_PLAN, QUESTIONS, SEED, choices=1))
    rng = np.random.default_rng(SEED)
    values = np.array(list(liking.values()))
    spread = float(values.std()) or 1.0
    answers = list(run.answers.select_related("left", "right"))
    for answer in answers:
        gap = (liking[answer.left.label, answer.sample] - liking[answer.right.label, answer.sample]) / spread
        verdict = -1 if gap + rng.normal(0, NOISE) > 0 else 1
        answer.said = [{"text": TEXT.format(SIDES[verdict]), "verdicts": [verdict], "refused": False, "cut": False}]
        answer.state = JudgeAnswer.State.ANSWERED
    JudgeAnswer.objects.bulk_update(answers, ["said", "state"])
    now = timezone.now()
    ended = {"state": JudgeRun.State.DONE, "n_answered": len(answers), "n_uncosted": len(answers), "started_at": now, "finished_at": now}
    JudgeRun.objects.filter(pk=run.pk).update(result=result_of(run), **ended)
    run.refresh_from_db()
    return run

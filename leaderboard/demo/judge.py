"""Simulated judges for the demo's finished studies, so that pages show what a judge model's answers look like. No model is asked: its
name says that it is simulated, and so does every text that it gives.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from django.utils import timezone

from leaderboard.models import JudgeAnswer, JudgeRun, Study
from leaderboard.studies.judge import planning
from leaderboard.studies.judge.answers import result_of
from leaderboard.studies.judge.planning import WIREFRAME_PLAN, Wish
from submissions.models import User

MODEL = "simulated judge"
TEXT = "Simulated: no model was asked, the demo drew this answer by chance.\n{}"
QUESTIONS = 240
SEED = 20260712
SIDES = {-1: "LEFT", 1: "RIGHT"}
OPTIONS = {-1: "1", 1: "2", 0: "3"}
# Of the difference of two entries, in standard deviations of the liking. The tested judges of wireframes are hardly better than chance, and
# must choose one side; judges of objects may say that they cannot decide.
NOISE = {WIREFRAME_PLAN: 2.5}
NOISE_OF_OBJECTS, ALIKE = 1.0, 0.15

Liking = Mapping[tuple[str, str], float]


def simulated_judge(study: Study, actor: User | None, liking: Mapping[str, Liking], plan: str = WIREFRAME_PLAN) -> JudgeRun:
    """A run that has ended, of one text a question; `liking` says by criterion how good an entry (by its label) is on a sample, the
    more the better. Fixed by the seed."""
    run = planning.make(study, actor, MODEL, Wish(plan, QUESTIONS, SEED, choices=1))
    rng = np.random.default_rng(SEED + 1)  # not the stream that drew the sides
    spread = {key: float(np.array(list(one.values())).std()) or 1.0 for key, one in liking.items()}
    rows, noise = run.questions, NOISE.get(plan, NOISE_OF_OBJECTS)
    answers = list(run.answers.select_related("left", "right"))
    for answer in answers:
        verdicts = []
        for key in rows[answer.row].keys:
            gap = (liking[key][answer.left.label, answer.sample] - liking[key][answer.right.label, answer.sample]) / spread[key]
            felt = gap + rng.normal(0, noise)
            verdicts.append(0 if abs(felt) < ALIKE and not run.is_for_display_only else -1 if felt > 0 else 1)
        words = SIDES[verdicts[0]] if run.is_for_display_only else " ".join(OPTIONS[verdict] for verdict in verdicts)
        answer.said = [{"text": TEXT.format(words), "verdicts": verdicts, "refused": False, "cut": False}]
        answer.state = JudgeAnswer.State.ANSWERED
    JudgeAnswer.objects.bulk_update(answers, ["said", "state"], batch_size=200)
    now = timezone.now()
    ended = {"state": JudgeRun.State.DONE, "n_answered": len(answers), "n_uncosted": len(answers), "started_at": now, "finished_at": now}
    JudgeRun.objects.filter(pk=run.pk).update(result=result_of(run), **ended)
    run.refresh_from_db()
    return run

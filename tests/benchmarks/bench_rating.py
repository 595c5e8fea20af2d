"""Time that a rater waits for the server between two questions: `python -m tests.benchmarks.bench_rating [DATABASE_URL]`.

17 raters who answer all 3,510 pairs of 27 entries on 10 samples, as the published study had it: most of their answers are
there, and each sends some more. Measured is the answer, with storing the vote and finding the next question, from the
request to the response with sessions, cookies and JSON, for each way of planning. The floor is a request for a study that is not
there. Exits with 1 where the 99th percentile of the processor's time is above 12 such requests; the clock is printed beside it
(wanted on a machine with nothing else to do: at most 60 ms), but it tells of the machine's other work as well.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
HOME = tempfile.mkdtemp(prefix="plumbline-bench-")
os.environ |= {
    "PLUMBLINE_HOME": HOME,
    "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
    "PLUMBLINE_LOG_LEVEL": "ERROR",
    "PLUMBLINE_HOSTS": "testserver",
    "PLUMBLINE_SECRET_KEY": "bench",
    "OPENBLAS_NUM_THREADS": "1",
}
if len(sys.argv) > 1:
    os.environ["PLUMBLINE_DATABASE_URL"] = sys.argv[1]

import django  # noqa: E402

django.setup()
logging.disable(logging.WARNING)  # the floor asks for what is not there

import numpy as np  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from leaderboard.models import Question, Rater, Study, StudyVote  # noqa: E402
from leaderboard.models.question import new_token  # noqa: E402
from leaderboard.studies.live import campaign, history  # noqa: E402
from leaderboard.studies.live.access import join as join_study  # noqa: E402
from leaderboard.studies.live.campaign import Design  # noqa: E402
from leaderboard.studies.live.criteria import ready_made  # noqa: E402
from leaderboard.studies.live.design_matrix import Subject  # noqa: E402
from submissions.models import Phase, Status, Submission, Team, User  # noqa: E402
from tests.support.factories import PhaseFactory, UserFactory, gables, give_reference  # noqa: E402

ENTRIES, SAMPLES, RATERS, LEFT, MAX_RATIO = 27, 10, 17, 60, 12.0


def make(phase: Phase, actor: User, entries: list[Submission]) -> tuple[Study, list[tuple[Rater, str]]]:
    """An open study whose raters have answered all but the last `LEFT` of their questions, and each rater's key."""
    values = {
        "slug": "bench",
        "title": "Bench",
        "question": "Which is closer?",
        "kind": "pairs",
        "access": "open",
        "criteria": [ready_made("pairs", "wireframe")[0].to_dict()],
    }
    study = campaign.make(phase, actor, Design(values, entries, discloses=True))
    campaign.open_study(study, actor)
    joined = [join_study(study, None) for _ in range(RATERS)]
    a, b = np.triu_indices(ENTRIES, 1)
    rows, samples = list(study.entries.order_by("id")), list(study.samples.all())
    cells = [(rows[i], rows[j], sample) for i, j in zip(a, b, strict=True) for sample in samples]
    rng, now = np.random.default_rng(0), timezone.now()
    for one in joined:
        chosen = rng.permutation(len(cells))[: len(cells) - LEFT]
        questions = Question.objects.bulk_create(
            [
                Question(
                    study=study,
                    rater=one.rater,
                    number=n,
                    sample=cells[c][2],
                    left=cells[c][0],
                    right=cells[c][1],
                    token=new_token(),
                    shown_at=now,
                    answered_at=now,
                )
                for n, c in enumerate(chosen)
            ],
            batch_size=1000,
        )
        questions += Question.objects.bulk_create(
            Question(
                study=study,
                rater=one.rater,
                number=len(chosen) + n,
                sample=before.sample,
                left=before.left,
                right=before.right,
                token=new_token(),
                repeat_of=before,
                shown_at=now,
                answered_at=now,
            )
            for n, before in enumerate(questions[:: round(1 / study.repeat_share)])
        )
        choices = rng.choice(["left", "right", "tie"], len(questions))
        StudyVote.objects.bulk_create(
            [
                StudyVote(
                    study=study,
                    rater=one.rater,
                    question=q,
                    sample=q.sample.name,
                    left=q.left,
                    right=q.right,
                    choice=choice,
                    criterion="overall",
                    given_at=now,
                    seconds=3.0,
                )
                for q, choice in zip(questions, choices, strict=True)
            ],
            batch_size=1000,
        )
        history.recounted(Subject(study), one.rater)
    return study, [(one.rater, one.key) for one in joined]


def measure(study: Study, raters: list[tuple[Rater, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Milliseconds of each answer with the next question, raters taking turns: on the clock, and of this process's processor."""
    taken, desks = [], []
    for _, key in raters:
        client = Client()
        client.cookies["rater"] = key
        desks.append((client, client.get(f"/rate/{study.key}/next").json()))
    for _ in range(LEFT // 4):
        for n, (client, state) in enumerate(desks):
            body = json.dumps({"question": state["question"]["id"], "answers": {"overall": "left"}, "seconds": 2.0})
            start, busy = time.perf_counter(), time.process_time()
            found = client.post(f"/rate/{study.key}/answer", body, content_type="application/json")
            taken.append((time.perf_counter() - start, time.process_time() - busy))
            desks[n] = (client, found.json())
    return tuple(1000 * np.array(taken).T)


def floor() -> float:
    """The median milliseconds of the processor for a request for a study that is not there."""
    client, taken = Client(), []
    for _ in range(50):
        start = time.process_time()
        client.get("/rate/nothing/next")
        taken.append(time.process_time() - start)
    return 1000 * float(np.median(taken))


def main() -> int:
    if connection.vendor == "postgresql":
        connection.creation.create_test_db(verbosity=0, autoclobber=True)
    else:
        call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    phase = PhaseFactory()
    give_reference(phase, gables(SAMPLES))
    team, now = Team.objects.create(challenge=phase.challenge, name="Bench"), timezone.now()
    entries = [
        Submission.objects.create(
            phase=phase,
            team=team,
            number=n + 1,
            status=Status.SCORED,
            method_name=f"m{n:02}",
            file_name="e.zip",
            size=1,
            created_at=now,
            received_at=now,
            finished_at=now,
        )
        for n in range(ENTRIES)
    ]
    worst, (study, raters) = 0.0, make(phase, UserFactory(), entries)
    for plan in Study.Plan.values:
        Study.objects.filter(pk=study.pk).update(plan=plan)
        clock, busy = measure(study, raters)
        nothing = floor()
        worst = max(worst, float(np.percentile(busy, 99)) / nothing)
        print(
            f"{connection.vendor}, {plan}: {study.questions.count():,} questions, {len(clock)} more answers: "
            f"median {np.median(clock):.1f} ms, 99 % {np.percentile(clock, 99):.1f} ms, slowest {clock.max():.1f} ms; of the processor "
            f"{np.median(busy):.1f}, {np.percentile(busy, 99):.1f} and {busy.max():.1f} ms "
            f"({np.percentile(busy, 99) / nothing:.1f} requests for nothing of {nothing:.1f} ms)"
        )
    if connection.vendor == "postgresql":
        connection.creation.destroy_test_db(os.environ["PLUMBLINE_DATABASE_URL"], verbosity=0)
    return int(worst > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())

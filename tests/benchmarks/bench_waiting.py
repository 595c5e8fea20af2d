"""Time that entries wait with and without metric programs: `python -m tests.benchmarks.bench_waiting [WORKERS] [ROUNDS] [ENTRIES]`.

A service of the embedded profile with WORKERS (2) and simulated teams. In each of ROUNDS (3), six teams send ENTRIES (24) of twelve houses,
one in three seconds on average, first without other work and then while four slow programs are checked and four are computed on a study:
one prints 256 MB a call, one never ends, one raises, and one is quick. Printed are the seconds from receipt to the score, and how much of
the programs' work was done meanwhile, so that they were not starved.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
import tests.environment  # noqa: E402, F401  # first: it names a home of its own

HOME = tempfile.mkdtemp(prefix="plumbline-bench-")
os.environ |= {"PLUMBLINE_HOME": HOME, "DJANGO_SETTINGS_MODULE": "leaderboard.settings", "PLUMBLINE_LOG_LEVEL": "INFO"}

import django  # noqa: E402

django.setup()

import numpy as np  # noqa: E402
from django.db import transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from evaluation.models import MetricProgram, SuiteRun  # noqa: E402
from leaderboard.models import ProgramValues, Study, StudyAnalysis  # noqa: E402
from leaderboard.stats.votes import Vote  # noqa: E402
from submissions import worker_notify  # noqa: E402
from submissions.models import Phase, Status, Submission, Team, User  # noqa: E402
from tests.support.evaluation.programs import added, ready, written  # noqa: E402
from tests.support.factories import (  # noqa: E402
    ChallengeFactory,
    PhaseFactory,
    TeamFactory,
    UserFactory,
    archive,
    gables,
    give_reference,
    perturbed,
    received,
)
from tests.support.leaderboard import scores  # noqa: E402
from tests.support.processes import START_SECONDS, EmbeddedService, wait_until  # noqa: E402

HOUSES, EVERY = 12, 3.0
PROGRAMS = {
    "chatty": "def score(p, r, q):\n    print('x' * (1 << 28))\n    return 1.0 if len(p.edges) == len(r.edges) else 0.5",
    "endless": "def score(p, r, q):\n    while True:\n        pass",
    "raising": "def score(p, r, q):\n    raise ValueError('no')",
    "quick": "def score(p, r, q):\n    return 0.5",
}
FIELDS = {"higher_is_better": "true", "bounds": "[0, 1]", "worst": "0", "effort": "{seconds: 1, memory_mb: 300}"}


def study_of(phase: Phase, organizer: User) -> Study:
    """A study of three entries over all houses, that was analysed."""
    labels = ["near", "far", "farther"]
    entries = [
        scores.with_files(scores.entry(phase, TeamFactory(challenge=phase.challenge), {}), perturbed(gables(HOUSES), 0.1 * (n + 1), n))
        for n in range(3)
    ]
    samples = phase.references.get().groups
    votes = [
        Vote(rater=f"r{rater}", left=left, right=right, choice="left", sample=sample)
        for rater in range(5)
        for sample in samples
        for left, right in itertools.pairwise(labels)
    ]
    made = Study.import_votes(phase, None, votes, slug="shown", title="Shown", question="Which is closer?", is_public=True)
    for label, entry in zip(labels, entries, strict=True):
        made.entries.filter(label=label).update(submission=entry)
    StudyAnalysis.request_missing()
    StudyAnalysis.objects.update(state=StudyAnalysis.State.DONE, content={"kind": "pairs"}, finished_at=timezone.now())
    return made


def bring_programs(phase: Phase, organizer: User, number: int) -> None:
    """Four programs to be checked, and four that passed and are to be computed on the study."""
    for name, code in PROGRAMS.items():
        folder = Path(tempfile.mkdtemp())
        with transaction.atomic():  # no worker sees it before it has passed
            ready(phase.challenge, folder / "ready", organizer, code=code, key=f"{name}_{number}", title=f"{name} {number}", **FIELDS)
        key = f"{name}_new_{number}"
        added(phase.challenge, written(folder / "new", code, key=key, title=f"new {name} {number}", **FIELDS))


def waiting(phase: Phase, teams: list[Team], entries: int, seed: int) -> list[float]:
    """Seconds from receipt to the score, of entries that teams send at random times, the same for each seed."""
    rng, sent, at = random.Random(seed), [], time.monotonic()
    for n in range(entries):
        at += rng.expovariate(1 / EVERY)
        time.sleep(max(0.0, at - time.monotonic()))
        data = archive(perturbed(gables(HOUSES), 0.1, 1000 * seed + n))
        sent.append(received(phase, rng.choice(teams), data).pk)
        worker_notify.send("work")
    done = Submission.objects.filter(pk__in=sent, status=Status.SCORED)
    wait_until(lambda: done.count() == entries, 3600, "the scores")
    return [(one.finished_at - one.received_at).total_seconds() for one in done]


def main(workers: int = 2, rounds: int = 3, entries: int = 24) -> None:
    service = EmbeddedService(Path(HOME), workers=workers)
    try:
        wait_until(service.answers, START_SECONDS, "the service")
        challenge = ChallengeFactory()
        organizer = UserFactory()
        challenge.organizers.add(organizer)
        phase = PhaseFactory(challenge=challenge)
        give_reference(phase, gables(HOUSES))
        study_of(phase, organizer)
        teams = [TeamFactory(challenge=challenge) for _ in range(6)]
        waiting(phase, teams, 4, 999)  # processes that score are started
        found: dict[str, list[float]] = {"without": [], "with": []}
        for number in range(rounds):
            found["without"] += waiting(phase, teams, entries, number)
            bring_programs(phase, organizer, number)
            found["with"] += waiting(phase, teams, entries, number)
            checked = MetricProgram.objects.exclude(state=MetricProgram.State.WAITING).filter(key__contains="_new_").count()
            items = sum(len(s["item_ids"]) for row in ProgramValues.objects.all() for s in row.under_way.get("scores", ()))
            whole = sum(len(row.values) for row in ProgramValues.objects.all())
            print(f"round {number + 1}: {checked} of 4 programs checked; values of {whole} entries and {items} items more", flush=True)
            MetricProgram.objects.all().delete()
            SuiteRun.objects.all().delete()
            time.sleep(15)  # what is under way ends
        for name, seconds in found.items():
            row = "".join(f"{np.percentile(seconds, share):9.1f}" for share in (50, 95, 100))
            print(f"{name:<8} median, 95 %, worst {row}   ({len(seconds)} entries)", flush=True)
    finally:
        service.end()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))

"""Time until work begins, and how work scales with workers: `python -m tests.benchmarks.bench_workers [SAMPLES]`.

1. Idle dispatch: from "upload accepted" to "first part started" with an idle worker (promise: 1 s).
   Floor: two polls of the folder queue (0.1 s each at most) and two claims.
2. An entry of 1,000 samples with all first metrics, by one worker and by two, in one run each
   (promise: two are at least 1.6 times as fast). Floor: the same samples scored in one process
   without rows, queue or child; the overhead is printed as a ratio to it.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))
import tests.environment  # noqa: E402, F401  # first: it names a home of its own, which the workers would be given

HOME = tempfile.mkdtemp(prefix="plumbline-bench-")
os.environ |= {"PLUMBLINE_HOME": HOME, "DJANGO_SETTINGS_MODULE": "leaderboard.settings", "PLUMBLINE_LOG_LEVEL": "WARNING"}

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402

from evaluation.metrics import scoring  # noqa: E402
from evaluation.models import EvaluationBatch, Part  # noqa: E402
from evaluation.synthetic.houses import houses  # noqa: E402
from submissions.models import Status, Submission  # noqa: E402
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, archive, give_reference, perturbed, received  # noqa: E402
from tests.support.processes import Worker, wait_until  # noqa: E402

FIRST_METRICS = (
    "corner_f1",
    "corner_precision",
    "corner_recall",
    "corner_offset",
    "edge_f1",
    "edge_precision",
    "edge_recall",
    "hss",
    "jaccard_distance",
    "ecd_chamfer",
    "wf_hausdorff",
)


def make_phase(items):
    phase = PhaseFactory(challenge=ChallengeFactory())
    give_reference(phase, items, metrics=[{"slug": key, "key": key, "is_primary": key == "corner_f1"} for key in FIRST_METRICS])
    return phase, TeamFactory(challenge=phase.challenge)


def scored(entry: Submission) -> bool:
    return Submission.objects.get(pk=entry.pk).status == Status.SCORED


def dispatch(rounds: int = 10) -> None:
    references = houses(4, seed=5)
    phase, team = make_phase(references)
    data = archive(perturbed(references, 0.1))
    waits = []
    with Worker():
        for n in range(rounds + 1):
            entry = received(phase, team, data, method_name=f"entry {n}")
            wait_until(lambda entry=entry: scored(entry), 120)
            first = min(Part.objects.filter(evaluation__submission=entry).values_list("started_at", flat=True))
            waits.append((first - Submission.objects.get(pk=entry.pk).received_at).total_seconds())
            time.sleep(0.3)
    waits = waits[1:]  # the first one waits for the worker's own start
    print(f"idle dispatch: median {statistics.median(waits):.3f} s, most {max(waits):.3f} s of {rounds} (promise: 1 s)")


def scaling(samples: int) -> None:
    references = houses(samples, seed=7)
    predictions = perturbed(references, 0.2)
    phase, team = make_phase(references)
    data = archive(predictions)
    requests = EvaluationBatch.current(phase).requests()
    tenth = dict(list(references.items())[: max(1, samples // 10)])
    start = time.perf_counter()
    scoring.score_items(predictions, tenth, requests)
    plain = (time.perf_counter() - start) * samples / len(tenth)
    each = 1000 * plain / samples
    print(f"{samples} samples, {len(FIRST_METRICS)} metrics, in plain calls: {plain:.1f} s ({each:.1f} ms a sample; from a tenth)")
    took = {}
    for n in (1, 2):
        workers = [Worker() for _ in range(n)]
        time.sleep(10)  # until the workers listen
        entry = received(phase, team, data, method_name=f"{n} workers")
        start, steps = time.perf_counter(), set()
        while not scored(entry):
            steps.add(Part.objects.filter(evaluation__submission=entry, state=Part.State.DONE).count())
            time.sleep(0.1)
        took[n] = time.perf_counter() - start
        ratio = took[n] * n / plain
        print(f"{n} worker(s): {took[n]:.1f} s, {ratio:.2f} times the plain calls' processor time, {len(steps)} steps of progress seen")
        for worker in workers:
            worker.__exit__()
    print(f"two workers against one: {took[1] / took[2]:.2f} times as fast (promise: 1.6)")


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    dispatch()
    scaling(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

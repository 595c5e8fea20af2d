"""Entries from before their reasons were stored. The promise: the migration finds the reason of each known sentence, keeps every other one
as a note, and changes nothing that an entry may still do."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from submissions.entry_states import Reader, Reason, State
from submissions.models import Submission
from submissions.wording import sentence
from tests.support.factories import PhaseFactory, TeamFactory

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = [("submissions", "0022_teams_that_become_one")]
NO_QUOTA = " It used up no quota; retry it or ask the operator."
EXPIRED = "The upload was not finished in time; start it again."
WAITED = "It was on hold until 14 December 2026, 23:59 CET, and nobody confirmed it."
CROWDED = "It was on hold until 3 newer entries of your team were; upload it again."
OVER = "The time for confirming entries is over. If it is meant so, upload it again with `--as-is`."
SERVICE, ENTRY = "service", "entry"
LOST = "was begun {}, and each time its worker was lost"
# Of an earlier failure or end: status, sentence and fault. Of now: reason, numbers and note.
ENDS = [
    (
        ("failed", f"Checking this entry failed. It needed more memory than the 2048 MB one job may use.{NO_QUOTA}", ENTRY),
        (Reason.MEMORY, {"megabytes": 2048}, ""),
    ),
    (
        ("failed", "Scoring items 3 to 8 failed. It was not done within the 600 s one job may take.", ENTRY),
        (Reason.TIME, {"seconds": 600, "first": 3, "last": 8}, ""),
    ),
    (
        ("failed", "Scoring items 1 to 8 failed. The process that did it broke down.", SERVICE),
        (Reason.CRASH, {"first": 1, "last": 8}, ""),
    ),
    (("failed", f"Checking this entry failed. An error in the service stopped it.{NO_QUOTA}", SERVICE), (Reason.ERROR, {}, "")),
    (("failed", "Scoring items 1 to 8 failed.", SERVICE), (Reason.REMOTE, {"first": 1, "last": 8}, "")),
    (("failed", f"Checking this entry failed. There was no room on the worker's disk.{NO_QUOTA}", SERVICE), (Reason.ROOM, {}, "")),
    (
        (
            "failed",
            f"Scoring items 1 to 2 {LOST.format('12 times')}; that is the service's fault as far as is known, and its operator was told.",
            SERVICE,
        ),
        (Reason.LOST, {"times": 12, "first": 1, "last": 2}, ""),
    ),
    (
        (
            "failed",
            f"Checking this entry {LOST.format('twice')}, on more than one machine, so it counts as its own failure.{NO_QUOTA}",
            ENTRY,
        ),
        (Reason.LOST_ON_MACHINES, {"times": 2}, ""),
    ),
    (
        ("failed", "No worker could begin scoring items 1 to 2. There are no weights. Ask.", SERVICE),
        (Reason.LACKING, {"first": 1, "last": 2}, "There are no weights. Ask."),
    ),
    (
        ("failed", "This entry was left out of a re-evaluation while it was being scored; it used up no quota, so retry it.", SERVICE),
        (Reason.LEFT_OUT, {}, ""),
    ),
    (
        ("failed", f"The file store at 127.0.0.1 does not answer.{NO_QUOTA}", SERVICE),
        (Reason.OTHER, {}, "The file store at 127.0.0.1 does not answer."),
    ),
    (("failed", "Out of luck.", ENTRY), (Reason.OTHER_OWN, {}, "Out of luck.")),
    (("failed", "", SERVICE), (Reason.OTHER, {}, "")),
    (("cancelled", EXPIRED, ""), (Reason.EXPIRED, {}, "")),
    (("cancelled", "", ""), ("", {}, "")),
    (("scored", "", ""), ("", {}, "")),
]
UNTIL = datetime(2026, 12, 14, 22, 59, tzinfo=UTC)
# `on_hold` and problems of an earlier rejection; reason, numbers and number of problems of now.
REJECTIONS = [
    ("inputs", ["1,000 times larger"], Reason.INPUTS, {}, 1),
    ("", ["a.obj: is empty", "b.obj: is empty"], Reason.PROBLEMS, {}, 2),
    ("", ["two folders", WAITED], Reason.UNCONFIRMED, {"until": UNTIL}, 1),
    ("", ["two folders", CROWDED], Reason.NEWER_HOLDS, {"n": 3}, 1),
    ("", ["two folders", OVER], Reason.HOLDS_OVER, {}, 1),
    ("", [], Reason.PROBLEMS, {}, 0),
]


def migrate(to=None) -> MigrationExecutor:
    """Migrate to these, or through all migrations."""
    executor = MigrationExecutor(connection)
    executor.migrate(to or executor.loader.graph.leaf_nodes())
    return MigrationExecutor(connection)


def test_known_sentences_become_reasons_and_others_stay_notes():
    phase, team = PhaseFactory(time_zone="Europe/Berlin"), TeamFactory()
    assert len(ENDS) + len(REJECTIONS) > 20
    try:
        old = migrate(BEFORE).loader.project_state(BEFORE).apps.get_model("submissions", "Submission")
        common = {"phase_id": phase.pk, "team_id": team.pk, "file_name": "e.zip", "finished_at": timezone.now()}
        for n, ((status, said, fault), _) in enumerate(ENDS):
            old.objects.create(number=n, method_name="m", status=status, failure=said, fault=fault, **common)
        for n, (hold, problems, *_) in enumerate(REJECTIONS, 100):
            row = {"on_hold": hold, "problems": problems, "n_problems": len(problems), "failure": "Checking this entry failed."}
            old.objects.create(number=n, method_name="m", status="rejected", **row, **common)
    finally:
        migrate()

    for n, ((status, _, fault), (reason, numbers, note)) in enumerate(ENDS):
        it = Submission.objects.get(number=n)
        assert (it.status, it.reason, it.numbers, it.failure, it.fault) == (status, reason, numbers, note, fault), reason
        assert sentence(it.state, Reader.TEAM).endswith(".")
    for n, (hold, problems, reason, numbers, n_problems) in enumerate(REJECTIONS, 100):
        it = Submission.objects.get(number=n)
        found = {key: datetime.fromisoformat(value) if key == "until" else value for key, value in it.numbers.items()}
        assert (it.reason, found, it.n_problems, it.failure) == (reason, numbers, n_problems, ""), reason
        assert it.problems == problems[:n_problems] and it.is_on_hold == bool(hold)
        assert it.state.state == (State.ON_HOLD if hold else State.REJECTED) and sentence(it.state, Reader.TEAM).endswith(".")

    try:  # an operator who goes back keeps what code asks
        old = migrate(BEFORE).loader.project_state(BEFORE).apps.get_model("submissions", "Submission")
        assert [old.objects.get(number=n).fault for n in range(len(ENDS))] == [fault for (*_, fault), _ in ENDS]
        assert [row.on_hold for row in old.objects.filter(number__gte=100).order_by("number")] == [hold for hold, *_ in REJECTIONS]
    finally:
        migrate()

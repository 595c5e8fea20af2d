"""Runs of suites as the migration that made them one table finds and leaves them: not a digit of a result changes."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from evaluation.models import Reference, SuiteRun
from evaluation.properties.gate.design import ACCEPTANCE, Condition, Row, SceneVerdict
from evaluation.properties.suite import SANITY
from submissions.models import Phase
from tests.support.leaderboard.property_tables import TIGHT, table

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = [("evaluation", "0034_reasons_of_failures")]
AFTER = [("evaluation", "0035_suite_runs")]
WHEN = datetime(2026, 11, 27, 12, tzinfo=UTC)
VERDICT = SceneVerdict(
    "attic", True, 6, (Condition("A", True, 33, 34, 0.97, (("blur1", 1, 6),)),), (("clean", 0.1 + 0.2), ("grey", 1 / 3)), (0.9, 0.8, 1.0)
)
ROW = {"scene": "attic", "number": 3, "damage": "holes1", "value": 1 / 3, "area": 0.7000000000000001}


def migrate(to):
    executor = MigrationExecutor(connection)
    executor.migrate(to)
    return MigrationExecutor(connection).loader.project_state(to).apps


def test_results_of_before_are_those_of_now(phase: Phase):
    reference = Reference.objects.get(phase=phase)
    done, token = table("corner_f1", TIGHT, 11), uuid.uuid4()
    try:
        old = migrate(BEFORE)
        common = {"key": "corner_f1", "params": TIGHT, "created_at": WHEN, "seconds": 7.25}
        acceptance = old.get_model("evaluation", "AcceptanceTest").objects.create(
            reference_id=reference.pk,
            unit_scale=0.01,
            fingerprint="a",
            version="gate/3",
            state="done",
            at=[1, 0],
            rows=[ROW],
            scenes=[VERDICT.to_dict()],
            judged_at=WHEN,
            pictures={"attic": [["clean", 2, 2]]},
            done=1,
            total=1,
            **common,
        )
        sanity = old.get_model("evaluation", "PropertyRun").objects
        sanity.create(
            fingerprint=done.fingerprint,
            suite_version=2,
            state="done",
            table=done.to_dict(),
            passed=11,
            of=16,
            done=9,
            total=9,
            finished_at=WHEN,
            **common,
        )
        begun = {
            "reason": "memory",
            "numbers": {"megabytes": 512},
            "outcomes": [{"identity": [True, None, None]}],
            "pending": [0.1],
            "done": 1,
            "total": 17,
            "lease_token": token,
        }
        sanity.create(fingerprint="b", suite_version=1, **begun, **common)
    finally:
        migrate(AFTER)

    judged = SuiteRun.objects.get(pk=acceptance.pk)  # its page has this number
    assert (judged.suite, judged.version, judged.identity) == (ACCEPTANCE, ACCEPTANCE.version, (reference.pk, 0.01, "a"))
    assert (judged.verdicts, judged.scores, judged.pictures) == ([VERDICT], [Row(**ROW)], {"attic": [["clean", 2, 2]]})
    assert (judged.state, judged.judged_at, judged.at, judged.seconds, judged.table) == ("done", WHEN, [1, 0], 7.25, None)
    measured = SuiteRun.objects.get(fingerprint=done.fingerprint)
    assert (measured.suite, measured.version, measured.table) == (SANITY, SANITY.version, done)
    assert (measured.state, measured.judged_at, measured.done, measured.total) == ("done", WHEN, 9, 9)
    under_way = SuiteRun.objects.get(fingerprint="b")
    assert (under_way.rows, under_way.at, under_way.table, under_way.judged_at) == (begun["outcomes"], [0.1], None, None)
    assert (under_way.reason, under_way.numbers) == ("memory", {"megabytes": 512})
    assert (under_way.version, under_way.lease_token, under_way.done, under_way.total) == ("sanity/1", token, 1, 17)

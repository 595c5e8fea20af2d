"""`/-/ready` by the rows of processes. The promise: it is ready while somebody works, and says who is missing; with real
processes it is tried at night, and that they write these rows in `tests/cluster/evaluation/work/test_heartbeat.py`."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from evaluation.models import Process
from leaderboard.service import health

pytestmark = pytest.mark.django_db


def test_a_probe_of_the_database_is_one_query_of_the_migrations_and_none_of_the_catalogue(django_assert_num_queries):
    health.probe_database()
    with django_assert_num_queries(1) as asked:
        assert health.probe_database().endswith(", migrated")
    assert "django_migrations" in asked.captured_queries[0]["sql"]


def test_a_migration_that_is_not_applied_is_told_by_each_probe():
    (newest,) = MigrationLoader(connection).graph.leaf_nodes("evaluation")
    MigrationRecorder(connection).record_unapplied(*newest)
    with pytest.raises(health.Unready, match=r"^The database .* lacks tables that this version needs \(1 migration is not applied\)"):
        health.probe_database()


def test_it_is_ready_while_somebody_works_and_says_who_is_missing(client, settings):
    settings.LEASE_SECONDS = 60
    now = timezone.now()

    def failed() -> set[str]:
        return set(client.get("/-/ready").json()["failed"])

    assert failed() == {"workers", "sweeper"}, "nothing runs"
    Process.beat(Process.Kind.WORKER, "here:1", now, queues=["cpu", "gpu"])
    assert failed() == {"sweeper"}
    Process.beat(Process.Kind.SWEEPER, "here:2", now, worked_at=now)
    answer = client.get("/-/ready")
    assert answer.status_code == 200 and answer.json() == {"status": "ok", "failed": {}, "notes": {}}
    missed = now - timedelta(seconds=61)
    Process.objects.filter(name="here:2").update(seen_at=missed, worked_at=missed)
    answer = client.get("/-/ready")
    assert answer.status_code == 503 and set(answer.json()["failed"]) == {"sweeper"}
    assert f"{missed:%Y-%m-%d %H:%M}" in answer.json()["failed"]["sweeper"]
    Process.beat(Process.Kind.SWEEPER, "here:2", now, worked_at=now)
    assert not failed(), "the sweeper again"
    Process.objects.filter(name="here:1").delete()  # as one that ends in order does
    Process.objects.filter(name="here:2").delete()
    assert failed() == {"workers", "sweeper"}, "both have ended"

"""Pages of a phase whose rankings have been kept for long: the database looks at as much as with few of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evaluation.models import EvaluationBatch
from leaderboard.boards import snapshots
from leaderboard.models import Snapshot
from leaderboard.tasks import due_phases
from submissions.models import Challenge, Phase
from tests import environment
from tests.support.leaderboard.scores import entry, spread

pytestmark = pytest.mark.django_db
FEW, MANY = 45, 3_000  # the longest list of rankings on one page holds 40
SLUGS = ("corner_f1", "edge_f1", "hss")


@pytest.fixture
def ranked(phase, people) -> Phase:
    """Two entries of two teams, ranked for both audiences; everybody may read of the first team's owner."""
    for team, mean, name in ((people.team, 0.9, "ridge-net"), (people.other_team, 0.6, "valley-net")):
        entry(phase, team, {slug: spread(mean) for slug in SLUGS}, method_name=name)
    Challenge.objects.filter(pk=phase.challenge_id).update(visibility="public")
    people.owner.has_page = True
    people.owner.save()
    snapshots.make_all(phase)
    return phase


def keep(phase: Phase, n: int) -> None:
    """Keep so many older rankings for each audience, the same board as the newest; that becomes the newest of all."""
    phase.refresh_from_db()
    newest = [Snapshot.current(phase, audience) for audience in Snapshot.Audience.values]
    older = [
        Snapshot(
            phase=phase,
            audience=one.audience,
            batch=one.batch,
            digest=hashlib.sha256(f"{n} {revision}".encode()).hexdigest(),
            revision=revision,
            n_entries=one.n_entries,
            n_teams=one.n_teams,
            lead=one.lead,
            payload=one.payload,
        )
        for revision in range(n)
        for one in newest
    ]
    Snapshot.objects.bulk_create(older, batch_size=100)
    Snapshot.objects.filter(pk__in=[one.pk for one in newest]).update(revision=n, created_at=timezone.now())
    Phase.objects.filter(pk=phase.pk).update(board_revision=n)
    phase.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "ANALYZE leaderboard_snapshot")


@contextmanager
def work() -> Iterator[list[int]]:
    """Measures of what the database does meanwhile: hundreds of SQLite's steps, or rankings that PostgreSQL looks at."""
    done = [0]
    if connection.vendor == "sqlite":
        connection.ensure_connection()

        def count() -> int:
            done[0] += 1
            return 0

        connection.connection.set_progress_handler(count, 100)
        try:
            yield done
        finally:
            connection.connection.set_progress_handler(None, 100)
        return
    before = _rankings_read()
    yield done
    done[0] = _rankings_read() - before


def _rankings_read() -> int:
    """Rankings that this transaction has looked at so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'leaderboard_snapshot'")
        return cursor.fetchone()[0]


def asked(phase: Phase, people) -> dict[str, int]:
    """Work of the database for each page, by the page and who asks, when it was asked for before."""
    slugs = [phase.challenge.slug, phase.slug]
    entry_id = phase.submissions.earliest("pk").pk
    current = Snapshot.current(phase, "public")
    api = f"/api/v1/challenges/{slugs[0]}/phases/{slugs[1]}"
    pages = [
        "/",
        reverse("challenge_list"),
        reverse("challenge", args=slugs[:1]),
        *(reverse(name, args=slugs) for name in ("board", "board_history", "board_feed", "choosing_metrics", "charts", "board_embed")),
        reverse("board_history", args=slugs) + "?part=lately",
        reverse("snapshot", args=[*slugs, current.digest]),
        reverse("snapshot", args=[*slugs, current.digest[:8]]),
        reverse("snapshot_export", args=[*slugs, current.digest, "csv"]),
        reverse("entries", args=slugs),
        reverse("entry", args=[entry_id]),
        reverse("badge", args=[entry_id]),
        reverse("team_page", args=[people.team.pk]),
        reverse("person", args=[people.owner.username]),
        reverse("search") + "?q=ridge",
        f"{api}/board",
        f"{api}/snapshots",
        f"{api}/snapshots/{current.digest}/rows",
        "/sitemap.xml",
    ]
    organizer, found = Client(), {}
    organizer.force_login(people.organizer)
    for who, client in {"anybody": Client(), "an organizer": organizer}.items():
        for page in pages:
            assert client.get(page).status_code in (200, 302), page
            with work() as done:
                client.get(page)
            found[f"{page}, {who}"] = done[0]
    with work() as done:
        assert due_phases(timezone.now()) == []
    return found | {"the sweep": done[0]}


def test_no_page_asks_more_of_the_database_with_3000_rankings(ranked, people):
    keep(ranked, FEW)
    few = asked(ranked, people)
    keep(ranked, MANY)
    many = asked(ranked, people)
    assert few.keys() == many.keys()
    assert {page: (few[page], n) for page, n in many.items() if n > few[page] + 20} == {}


def test_the_feed_of_a_board_opens_only_the_rankings_it_tells_of(ranked, client, django_assert_num_queries):
    keep(ranked, FEW)
    page = reverse("board_feed", args=[ranked.challenge.slug, ranked.slug])
    client.get(page)
    with django_assert_num_queries(6):
        assert client.get(page).content.decode().count("<entry>") == 1


@pytest.mark.parametrize("audience", Snapshot.Audience.values)
def test_the_newest_rankings_of_several_phases_are_found_at_once(ranked, audience, django_assert_num_queries):
    keep(ranked, FEW)
    newest = Snapshot.current(ranked, audience)
    with django_assert_num_queries(1):
        (found,) = Snapshot.newest_of({ranked.pk: audience, ranked.pk + 1000: "public"})
    assert found == newest and found.audience == audience and found.batch == EvaluationBatch.current(ranked)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not environment.CLUSTER, reason="SQLite makes an index in one step")
def test_postgresql_makes_the_indexes_beside_readers_and_writers_and_again_after_an_interrupted_run():
    name = "0035_index_of_the_newest_ranking"
    loader = MigrationLoader(connection)
    state = loader.project_state(("leaderboard", name))
    with CaptureQueriesContext(connection) as queries, connection.schema_editor(atomic=False) as editor:
        for operation in loader.get_migration("leaderboard", name).operations:  # what it makes is there already
            operation.database_forwards("leaderboard", editor, state, state)
    assert [query["sql"].split('"')[0] for query in queries] == ["DROP INDEX CONCURRENTLY IF EXISTS ", "CREATE INDEX CONCURRENTLY "] * 2
    made = "SELECT count(*) FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indisvalid AND relname IN ('snapshot_newest', %s)"
    with connection.cursor() as cursor:
        cursor.execute(made, ["snapshot_last_made"])
        assert cursor.fetchone() == (2,)

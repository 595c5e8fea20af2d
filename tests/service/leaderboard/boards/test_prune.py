"""Rankings that the sweep removes, and above all those that it leaves."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import Evaluation, EvaluationBatch, PictureRun
from leaderboard.boards import prune, snapshots
from leaderboard.management.commands import sweep
from leaderboard.models import Snapshot
from submissions.models import Phase, Submission
from submissions.storage import stored_files
from submissions.storage.local import LocalStore
from submissions.storage.store import StorageError
from tests.support.factories import PhaseFactory, TeamFactory, give_reference
from tests.support.leaderboard.boards import board_of
from tests.support.leaderboard.scores import entry

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PUBLIC, ORGANIZERS = Snapshot.Audience.PUBLIC, Snapshot.Audience.ORGANIZERS


@pytest.fixture
def ranked(phase):
    """`ranked("11-01 10:00", ...)`: a public ranking made at each of these moments, by it, the last being the newest."""

    def make(*moments: str, audience: str = PUBLIC, first: int = 1, **values) -> dict[str, Snapshot]:
        made = {}
        for revision, moment in enumerate(moments, start=first):
            at = datetime.fromisoformat(f"2026-{moment}:00+00:00")
            common = {
                "batch": EvaluationBatch.current(phase),
                "n_entries": 0,
                "n_teams": 0,
                "payload": zlib.compress(board_of([]).to_json()),
            }
            digest = f"{audience[0]}{revision}".ljust(64, "0")
            made[moment] = Snapshot.objects.create(
                phase=phase, audience=audience, digest=digest, revision=revision, created_at=at, **common, **values
            )
        return made

    return make


def left(phase: Phase) -> list[str]:
    rows = Snapshot.objects.filter(phase=phase).order_by("audience", "created_at")
    return [f"{made:%m-%d %H:%M}" for made in rows.values_list("created_at", flat=True)]


class TestSnapshots:
    def test_passing_rankings_go_and_the_last_of_a_day_stays(self, phase, ranked):
        ranked("10-01 23:40", "10-01 23:50", "10-01 23:59", "10-02 00:10", "10-02 00:20")
        assert prune.prune_snapshots(NOW) == 3 and left(phase) == ["10-01 23:59", "10-02 00:20"]

    def test_one_that_stood_for_an_hour_stays(self, phase, ranked):
        ranked("10-01 10:00", "10-01 11:00", "10-01 11:59", "10-01 12:10")
        assert prune.prune_snapshots(NOW) == 2 and left(phase) == ["10-01 10:00", "10-01 12:10"]

    def test_what_is_young_stays(self, phase, ranked, settings):
        ranked("11-20 10:00", "11-20 10:01", "11-20 10:02")
        assert prune.prune_snapshots(NOW) == 0
        settings.KEEP_SNAPSHOT_DAYS = 1.0
        assert prune.prune_snapshots(NOW) == 2 and left(phase) == ["11-20 10:02"]

    def test_one_that_stood_again_later_stays(self, phase, ranked):
        made = ranked("10-01 10:00", "10-01 10:01", "10-01 10:02")
        Snapshot.objects.filter(pk=made["10-01 10:00"].pk).update(revision=9)  # an entry was hidden and shown again
        assert prune.prune_snapshots(NOW) == 1 and left(phase) == ["10-01 10:00", "10-01 10:02"]
        assert Snapshot.current(phase, PUBLIC).pk == made["10-01 10:00"].pk

    def test_one_that_stood_for_days_when_it_came_back_stays(self, phase, ranked):
        made = ranked("10-01 10:00", "10-01 10:05", "10-11 12:00", "10-11 12:01")
        again = {"10-01 10:00": ("2026-10-01T10:10:00+00:00", 3), "10-01 10:05": ("2026-10-11T11:30:00+00:00", 4)}
        for moment, (at, revision) in again.items():
            Snapshot.objects.filter(pk=made[moment].pk).update(again_at=[at], revision=revision)
        Snapshot.objects.filter(pk=made["10-11 12:00"].pk).update(revision=5)
        Snapshot.objects.filter(pk=made["10-11 12:01"].pk).update(revision=6)
        assert prune.prune_snapshots(NOW) == 2 and left(phase) == ["10-01 10:00", "10-11 12:01"]

    def test_each_audience_has_its_own(self, phase, ranked):
        ranked("10-01 10:00", "10-01 10:01")
        ranked("10-01 10:00", "10-01 10:30", audience=ORGANIZERS)
        assert prune.prune_snapshots(NOW) == 2 and left(phase) == ["10-01 10:30", "10-01 10:01"]

    @pytest.mark.parametrize("door", ["page", "short", "export", "api", "rows"])
    def test_whoever_opens_one_by_its_address_makes_it_stay(self, client, phase, door):
        entry(phase, _team(phase), {slug: [0.5] * 4 for slug in phase.metrics.values_list("slug", flat=True)})
        snapshots.make_all(phase)
        cited = Snapshot.current(phase, PUBLIC)
        at = (phase.challenge.slug, phase.slug)
        api = f"/api/v1/challenges/{at[0]}/phases/{at[1]}/snapshots/{cited.digest}"
        address = {
            "page": reverse("snapshot", args=[*at, cited.digest]),
            "short": reverse("snapshot", args=[*at, cited.short]),
            "export": reverse("snapshot_export", args=[*at, cited.digest, "csv"]),
            "api": api,
            "rows": f"{api}/rows",
        }[door]
        long_ago = NOW - timedelta(days=400)
        Snapshot.objects.filter(phase=phase).update(created_at=long_ago)
        for minutes in (1, 2):  # later ones, so that it is a passing one
            common = {"phase": phase, "batch": cited.batch, "n_entries": 0, "n_teams": 0, "payload": zlib.compress(board_of([]).to_json())}
            at_minute = long_ago + timedelta(minutes=minutes)
            Snapshot.objects.create(
                audience=PUBLIC, digest=str(minutes).ljust(64, "f"), revision=cited.revision + minutes, created_at=at_minute, **common
            )
        assert client.get(address).status_code in (200, 302)
        assert Snapshot.objects.get(pk=cited.pk).opened_at is not None
        prune.prune_snapshots(NOW)
        assert client.get(address, follow=True).status_code == 200 and Snapshot.objects.filter(pk=cited.pk).exists()

    def test_the_newest_is_looked_at_without_a_note(self, client, phase):
        snapshots.make_all(phase)
        client.get(reverse("board", args=[phase.challenge.slug, phase.slug]))
        assert not Snapshot.objects.exclude(opened_at=None).exists()

    def test_one_that_is_opened_while_it_goes_stays(self, phase, ranked, monkeypatch):
        made = ranked("10-01 10:00", "10-01 10:01", "10-01 10:02")
        current = Snapshot.current

        def meanwhile(*args):
            Snapshot.open(phase, made["10-01 10:00"].digest)
            return current(*args)

        monkeypatch.setattr(Snapshot, "current", meanwhile)
        with CaptureQueriesContext(connection) as seen:
            assert prune.prune_snapshots(NOW) == 1
        (statement,) = [query["sql"] for query in seen if query["sql"].startswith("DELETE")]
        assert "opened_at" in statement and "revision" in statement, "asked by the very statement that removes"
        assert left(phase) == ["10-01 10:00", "10-01 10:02"]

    def test_one_that_goes_while_it_is_ranked_again_is_made_anew(self, phase, monkeypatch):
        snapshots.make_all(phase)
        old = Snapshot.current(phase, PUBLIC)
        Phase.objects.filter(pk=phase.pk).update(board_revision=phase.board_revision + 1)
        refresh, gone = Snapshot.refresh_from_db, []

        def pruned(self, *args, **options):
            if not gone:
                gone.append(Snapshot.objects.filter(pk=self.pk).delete())
            return refresh(self, *args, **options)

        monkeypatch.setattr(Snapshot, "refresh_from_db", pruned)
        made = snapshots.make(phase, PUBLIC)
        assert gone and made.digest == old.digest and made.pk != old.pk and Snapshot.current(phase, PUBLIC).pk == made.pk

    def test_one_that_is_gone_when_it_is_opened_is_not_there(self, phase, ranked, monkeypatch):
        (only,) = ranked("10-01 10:00").values()
        found = Snapshot.get(phase, only.digest)
        Snapshot.objects.all().delete()
        monkeypatch.setattr(Snapshot, "get", lambda *_: found)
        assert Snapshot.open(phase, only.digest) is None

    def test_a_phase_that_goes_meanwhile_stops_nothing(self, phase, ranked, monkeypatch):
        ranked("10-01 10:00", "10-01 10:01")
        monkeypatch.setattr(Snapshot, "current", lambda *_: None)
        assert prune.prune_snapshots(NOW) == 0


def _team(phase):
    return TeamFactory(challenge=phase.challenge)


@pytest.fixture
def stored(settings, tmp_path, monkeypatch):
    """`stored("geometry/1/a.json")` puts a file there; the keys that are left are `stored.left()`. All of them are old."""
    where = LocalStore(tmp_path / "files", tmp_path / "uploads")
    monkeypatch.setattr(stored_files, "store", lambda: where)

    def put(*keys: str) -> None:
        for key in keys:
            where.save_bytes(key, b"x")

    put.left = lambda: sorted(key for folder in ("geometry", "pictures", "prepared", "references") for key, _ in where.keys(folder))
    return put


def in_days(days: float) -> datetime:
    return datetime.now(UTC) + timedelta(days=days)


class TestFiles:
    def test_views_of_entries_that_are_gone_go_and_others_wait(self, phase, stored):
        it = entry(phase, _team(phase), {"hss": [0.5] * 4})
        Submission.objects.filter(pk=it.pk).update(artifact_key="artifacts/a")
        stored(f"geometry/{it.pk}/a.json", f"geometry/{it.pk + 1}/b.json", "geometry/study-x/c.json", "references/1/r.npz")
        assert prune.prune_files(in_days(0.5)) == 0, "young files may be of rows that are not written yet"
        assert prune.prune_files(in_days(2)) == 1
        assert stored.left() == [f"geometry/{it.pk}/a.json", "geometry/study-x/c.json", "references/1/r.npz"]
        assert prune.prune_files(in_days(31)) == 2 and stored.left() == ["references/1/r.npz"], "they are made again when asked for"

    def test_pictures_stay_while_their_run_does(self, phase, stored):
        it = entry(phase, _team(phase), {"hss": [0.5] * 4})
        run = PictureRun.objects.create(evaluation=Evaluation.objects.get(submission=it), scene="s", items=["s/1"], digest="d" * 64)
        stored(run.key("s/1", "render"), f"pictures/{it.pk}/{'e' * 64}/0-render.webp", f"pictures/{it.pk + 1}/{'d' * 64}/0-render.webp")
        assert prune.prune_files(in_days(400)) == 2 and stored.left() == [run.key("s/1", "render")]

    def test_what_is_prepared_stays_while_something_is_scored_with_it(self, phase, stored):
        batch = EvaluationBatch.current(phase)
        needed = sorted(batch.cache_keys())
        stored(*needed, f"prepared/{phase.pk}/old", f"prepared/{phase.pk + 1000}/x")
        assert len(needed) == 4 and prune.prune_files(in_days(2)) == 2 and stored.left() == needed
        EvaluationBatch.objects.filter(pk=batch.pk).update(state=EvaluationBatch.State.RETIRED)
        assert prune.prune_files(in_days(2)) == 4 and stored.left() == []

    def test_a_batch_that_is_being_built_keeps_its_own(self, phase, stored):
        building = EvaluationBatch.objects.create(
            phase=phase, reference=phase.references.get(), metrics=EvaluationBatch.current(phase).metrics, unit_scale=0.5
        )
        stored(*building.cache_keys())
        assert prune.prune_files(in_days(2)) == 0

    def test_a_round_that_is_stopped_loses_nothing_and_the_next_goes_on(self, phase, stored, monkeypatch):
        stored("geometry/900001/a.json", "geometry/900001/b.json", "geometry/900002/c.json")
        delete, calls = stored_files.store().delete, []

        def stops(key):
            calls.append(key)
            if len(calls) == 2:
                raise StorageError("The file storage does not answer.")
            delete(key)

        monkeypatch.setattr(stored_files.store(), "delete", stops)
        assert prune.prune_due(in_days(2)) == 0 and len(stored.left()) == 2
        assert prune.prune_due(in_days(2)) == 0, "not twice in an hour"
        assert prune.prune_files(in_days(2)) == 2 and stored.left() == []


def test_the_sweeper_does_it(phase, monkeypatch):
    assert sweep.ROUND["pruning"] is prune.prune_due
    seen = []
    monkeypatch.setitem(sweep.ROUND, "pruning", lambda: seen.append(1))
    call_command("sweep", "--once")
    assert seen == [1]


def test_other_phases_are_untouched(phase, ranked):
    other = PhaseFactory(challenge=phase.challenge)
    give_reference(other)
    snapshots.make_all(other)
    before = left(other)
    ranked("10-01 10:00", "10-01 10:01")
    assert prune.prune_snapshots(NOW) == 1 and left(other) == before

"""The organizer's own metrics in the console, on pages and by the API."""

from __future__ import annotations

import io
import json
import re
import zipfile
from datetime import timedelta

import pytest
import requests
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from evaluation.models import EvaluationBatch, MetricProgram, PhaseMetric, program
from evaluation.programs import files
from leaderboard.boards import snapshots
from leaderboard.models import MetricChallenge, MetricEntry, Study
from leaderboard.stats.votes import Vote
from submissions.models import ApiToken, AuditEntry
from tests.conftest import need
from tests.support.evaluation import programs
from tests.support.leaderboard.console.acts import confirm
from tests.support.pages import refusal

pytestmark = pytest.mark.django_db


def zipped(folder) -> SimpleUploadedFile:
    return SimpleUploadedFile("lengths.zip", files.read(folder).archive(), "application/zip")


@pytest.fixture
def console(client, people, challenge):
    client.force_login(people.organizer)
    return f"/console/challenges/{challenge.slug}/programs/"


def test_an_organizer_uploads_a_program_and_sees_that_it_is_checked(client, console, phase, tmp_path):
    need("sandbox")
    sent = {"act": "add", "file": zipped(programs.written(tmp_path)), "is_public": "on"}
    client.post(console, sent)
    row = MetricProgram.objects.get()
    assert (row.is_public, row.full_key, row.state) == (True, f"{phase.challenge.slug}/lengths", "waiting")
    assert AuditEntry.objects.filter(challenge=phase.challenge, action="program.add").exists()


def test_a_wrong_one_is_refused_with_its_sentence_and_nothing_is_kept(client, console, phase, tmp_path):
    folder = programs.written(tmp_path, key="Wrong-Key")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    sent = SimpleUploadedFile("x.zip", buffer.getvalue())
    assert refusal(client.post(console, {"act": "add", "file": sent})) == "wrong_program"
    assert not MetricProgram.objects.exists()


def test_what_may_score_is_offered_to_phases_and_takes_a_column(client, console, phase, tmp_path):
    row = programs.ready(phase.challenge, tmp_path)
    metrics = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/metrics/"
    assert "your own" in client.get(metrics).content.decode()
    form = {"slug": "own_lengths", "title": "", "weight": "1", "in_ranking": "on"}
    page = client.post(f"{metrics}new/{row.full_key}/", form, follow=True).content.decode()
    if asked := re.search(r'name="confirmed" value="(\w+)"', page):  # what changes columns is confirmed first
        client.post(f"{metrics}new/{row.full_key}/", form | {"confirmed": asked[1]}, follow=True)
    assert PhaseMetric.objects.get(key=row.full_key).slug == "own_lengths"


def test_a_program_without_a_value_of_missing_items_ranks_but_is_never_primary(client, console, phase, tmp_path):
    row = programs.ready(phase.challenge, tmp_path / "first", worst="null")
    metrics = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/metrics/"
    form = {"slug": "own", "title": "", "weight": "1", "in_ranking": "on", "is_primary": "on"}
    client.post(f"{metrics}new/{row.full_key}/", form)
    column = PhaseMetric.objects.get(key=row.full_key)
    assert (column.in_ranking, column.is_primary) == (True, False)
    assert 'value="primary"' not in client.get(metrics).content.decode().partition("own_lengths")[2].partition("</tr>")[0]
    assert refusal(client.post(metrics, {"act": "primary", "slug": "own"})) == "plan_refused"
    client.post(f"{metrics}edit/own/", form)
    assert PhaseMetric.objects.get(phase=phase, is_primary=True).slug == "corner_f1"
    for _ in range(3):
        client.post(metrics, {"act": "move", "slug": "own", "to": "up"})
    assert phase.metrics.first().slug == "own"
    answer = client.post(metrics, {"act": "remove", "slug": "corner_f1"})
    confirm(client, answer)
    assert PhaseMetric.objects.get(phase=phase, is_primary=True).slug == "edge_f1", "the first that may be"


def test_a_phase_whose_only_metric_has_no_value_of_missing_items_is_refused(client, console, phase, tmp_path):
    row = programs.ready(phase.challenge, tmp_path, worst="null")
    phase.metrics.all().delete()
    metrics = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/metrics/"
    answer = client.post(f"{metrics}new/{row.full_key}/", {"slug": "own", "title": "", "weight": "1", "in_ranking": "on"})
    assert refusal(answer) == "plan_refused"
    assert not phase.metrics.exists()


def test_the_primary_program_keeps_a_value_of_missing_items(client, console, phase, tmp_path):
    need("sandbox")
    row = programs.ready(phase.challenge, tmp_path / "first")
    phase.metrics.update(is_primary=False)
    PhaseMetric.objects.create(phase=phase, slug="own", key=row.full_key, position=9, is_primary=True)
    later = {"key": "own_lengths", "version": 2}
    sent = zipped(programs.written(tmp_path / "second", worst="null", **later))
    assert refusal(client.post(console, {"act": "add", "file": sent})) == "primary_metric"
    client.post(console, {"act": "add", "file": zipped(programs.written(tmp_path / "third", worst="50", **later))})
    assert MetricProgram.newest_of(phase.challenge)[0].version == 2


def test_a_program_of_another_challenge_is_not_offered(client, console, phase, tmp_path):
    from tests.support.factories import ChallengeFactory

    other = programs.ready(ChallengeFactory(slug="elsewhere"), tmp_path)
    address = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/metrics/new/{other.full_key}/"
    assert client.get(address).status_code == 404


def test_its_page_is_that_of_any_metric_and_says_whose_it_is(client, phase, tmp_path):
    row = programs.ready(phase.challenge, tmp_path, source="https://example.org/lengths")
    page = client.get(f"/metrics/{row.full_key}/").content.decode()
    for words in (
        "Own lengths",
        "The organizer's own metric",
        "https://example.org/lengths",
        "Sanity tests",
        "100, as the program declares",
    ):
        assert words in page, words
    files_address = f"/metrics/{row.full_key}/program.zip"
    assert files_address in page
    answer = client.get(files_address)
    given = requests.get(answer["Location"], timeout=60).content if answer.status_code == 302 else b"".join(answer.streaming_content)
    assert given[:2] == b"PK"  # from the storage itself, where that has addresses of its own
    row.publish(False, None)
    assert client.get(files_address).status_code == 404


def test_its_page_says_that_means_leave_out_an_item_without_a_value(client, phase, tmp_path):
    row = programs.ready(phase.challenge, tmp_path, worst="null")
    assert "<dd>no value; means leave the item out</dd>" in client.get(f"/metrics/{row.full_key}/").content.decode()


def test_its_column_is_marked_on_the_board(client, phase, scored, tmp_path):
    need("sandbox")
    row = programs.ready(phase.challenge, tmp_path, source="https://example.org/lengths")
    PhaseMetric.objects.create(phase=phase, slug="own", key=row.full_key, position=9)
    EvaluationBatch.start(phase, reason="own metric")
    scored()
    snapshots.make(phase, "public")
    page = client.get(f"/challenges/{phase.challenge.slug}/{phase.slug}/").content.decode()
    assert "https://example.org/lengths" in page


def test_the_api_takes_and_lists_programs(client, people, phase, tmp_path):
    need("sandbox")
    _, token = ApiToken.make(people.organizer, "laptop", scopes=["organize"])
    head = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    address = f"/api/v1/challenges/{phase.challenge.slug}/programs"
    answer = client.post(address, {"file": zipped(programs.written(tmp_path))}, **head)
    assert answer.status_code == 201, answer.content
    assert json.loads(answer.content)["state"] == "waiting"
    assert [row["key"] for row in client.get(address, **head).json()] == [f"{phase.challenge.slug}/lengths"]
    bad = client.post(address, {"file": SimpleUploadedFile("x.zip", b"no zip")}, **head)
    assert (bad.status_code, bad.json()["code"]) == (409, "wrong_program")


def test_an_entry_of_a_challenge_of_metrics_has_a_page_for_its_entrant_and_for_all_after_the_end(client, people, phase, tmp_path):
    votes = [Vote(f"r{n}", "a", "b", "left", "house_01") for n in range(5)]
    study = Study.import_votes(phase, None, votes, slug="hidden", title="Hidden", question="Which?", is_public=False)
    contest = MetricChallenge.objects.create(study=study, title="Find a metric", closes_at=timezone.now() + timedelta(days=1))
    found = files.read(programs.written(tmp_path, title="Closer"))
    row = MetricProgram._stored(phase.challenge, f"metrics.{contest.pk}.{people.owner.pk}", found, people.owner, False)
    MetricProgram.objects.update(state=MetricProgram.State.READY)
    program.forget()
    MetricEntry.objects.create(contest=contest, user=people.owner, program=row)
    address = f"/metrics/{row.full_key}/"

    def seen() -> dict[str, int]:
        found = {}
        for name, user in people.users().items():
            client.logout()
            if user.is_authenticated:
                client.force_login(user)
            found[name] = client.get(address).status_code
        return found

    mine = {"owner", "organizer", "staff"}
    assert {name for name, status in seen().items() if status == 200} == mine
    contest.closes_at = timezone.now()
    contest.save()
    assert set(seen().values()) == {200}
    page = client.get(address).content.decode()
    assert "An entry in" in page and "Find a metric" in page and "by owner" in " ".join(page.split())
    phase.challenge.visibility = "draft"
    phase.challenge.save()
    assert {name for name, status in seen().items() if status == 200} <= {"organizer", "staff"}

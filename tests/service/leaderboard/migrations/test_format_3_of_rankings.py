"""Rankings that the code before formats 2 and 3 stored, migrated: all addresses, all digests, and the bytes of before."""

from __future__ import annotations

import hashlib
import json
import zlib
from importlib import import_module

import pytest
from django.apps import apps
from django.urls import reverse

from leaderboard.boards import snapshots
from leaderboard.exports.tables.file_formats import FILE_FORMATS
from leaderboard.models import EarlierForm, Snapshot, read_board
from tests.support.leaderboard.earlier_forms import in_format_1, in_format_2

pytestmark = pytest.mark.django_db
FORMAT_2, FORMAT_3 = (import_module(f"leaderboard.migrations.{name}_of_rankings") for name in ("0042_format_2", "0046_format_3"))


def text(response) -> str:
    return response.content.decode()


@pytest.fixture
def kept(phase, scored) -> tuple[Snapshot, str, bytes]:
    """A ranking as it was stored before, migrated: its row, its digest of before and its bytes of before."""
    scored(method_name="ridge-net")
    scored(0.2, method_name="other-method")
    row = snapshots.make(phase, Snapshot.Audience.PUBLIC)
    today = zlib.decompress(bytes(row.payload))
    before = json.dumps(in_format_1(in_format_2(row.board)), separators=(",", ":")).encode()
    digest = hashlib.sha256(f"{phase.pk}\n".encode() + before).hexdigest()
    lead = {("people_made_up" if name == "people_simulated" else name): each for name, each in row.lead.items()}
    Snapshot.objects.filter(pk=row.pk).update(payload=zlib.compress(before), digest=digest, lead=lead)
    for migration in (FORMAT_2, FORMAT_2, FORMAT_3, FORMAT_3):  # a second time nothing changes
        migration.convert_rankings(apps, None)
    read_board.cache_clear()
    found = Snapshot.objects.get(pk=row.pk)
    assert zlib.decompress(bytes(found.payload)) == today and found.lead == row.lead
    assert found.digest == row.digest == hashlib.sha256(f"{phase.pk}\n".encode() + today).hexdigest() != digest
    return found, digest, before


def test_both_addresses_lead_to_it_and_the_page_says_when_its_form_changed(client, phase, kept):
    row, digest, _ = kept
    at = [phase.challenge.slug, phase.slug]
    for name in (digest, digest[:8]):
        response = client.get(reverse("snapshot", args=[*at, name]))
        assert response.status_code == 302 and response["Location"] == reverse("snapshot", args=[*at, row.digest])
    response = client.get(reverse("snapshot", args=[*at, row.digest]))
    page = text(response)
    assert digest in {form.digest for form in response.context["earlier_forms"]} and f"<code>{digest}</code>" in page and "ridge-net" in page
    for kind in FILE_FORMATS:
        old, new = (client.get(reverse("snapshot_export", args=[*at, name, kind])).content for name in (digest, row.digest))
        assert old == new and b"ridge-net" in new
    api = f"/api/v1/challenges/{at[0]}/phases/{at[1]}/snapshots"
    old, new = (client.get(f"{api}/{name}").json() for name in (digest, row.digest))
    assert old == new and new["digest"] == row.digest and client.get(f"{api}/{digest}/rows").json()["items"]


def test_each_digest_is_of_bytes_that_can_be_downloaded(client, phase, kept):
    row, digest, before = kept
    for name in (digest, row.digest):
        response = client.get(reverse("snapshot_content", args=[phase.challenge.slug, phase.slug, name]))
        assert hashlib.sha256(f"{phase.pk}\n".encode() + response.content).hexdigest() == name
    response = client.get(reverse("snapshot_content", args=[phase.challenge.slug, phase.slug, digest[:12]]))
    assert response.content == before and response["Content-Type"] == "application/json"


def test_bytes_that_name_what_is_hidden_since_are_not_given_out(client, phase, people, kept):
    row, digest, _ = kept
    phase.submissions.get(method_name="ridge-net").hide(people.organizer, "no")
    read_board.cache_clear()
    for name in (digest, row.digest):
        response = client.get(reverse("snapshot_content", args=[phase.challenge.slug, phase.slug, name]))
        assert response.status_code >= 400 and b"ridge-net" not in response.content
        assert "hidden since" in text(response)


def test_rankings_that_differed_in_their_form_alone_are_one_at_both_addresses(phase, kept):
    row, digest, before = kept
    other = before.replace(b'"frozen_at":null', b'"frozen_at": null')
    again = hashlib.sha256(f"{phase.pk}\n".encode() + other).hexdigest()
    copy = {name: getattr(row, name) for name in ("phase_id", "audience", "batch_id", "n_entries", "n_teams", "lead")}
    Snapshot.objects.create(**copy, digest=again, payload=zlib.compress(other), revision=row.revision + 3)
    FORMAT_2.convert_rankings(apps, None)
    FORMAT_3.convert_rankings(apps, None)
    assert Snapshot.get(phase, again).pk == Snapshot.get(phase, digest).pk == Snapshot.get(phase, row.digest).pk == row.pk
    assert EarlierForm.objects.count() == 4 and Snapshot.objects.get(pk=row.pk).revision == row.revision + 3
    assert Snapshot.get(phase, again).content(again) == other

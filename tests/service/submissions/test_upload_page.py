"""The upload page, the token page and what a team does with an entry, as a browser without scripts sees them."""

from __future__ import annotations

import os
import re
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from submissions.entry_states import Reason, Why
from submissions.format_time import in_words
from submissions.models import ApiToken, Participation, Phase, Status
from submissions.storage import stored_files, uploads
from tests.support.factories import archive, received

pytestmark = pytest.mark.usefixtures("local_files")


@pytest.fixture
def page(phase):
    return f"/challenges/{phase.challenge.slug}/{phase.slug}/upload/"


def browser(user=None, **options) -> Client:
    client = Client(**options)
    if user is not None and user.is_authenticated:
        client.force_login(user)
    return client


def form(data: bytes = b"an entry", **values) -> dict:
    return {"method_name": "PC2WF", "file": SimpleUploadedFile("entry.zip", data)} | values


# --- the page ------------------------------------------------------------------------------------


def test_a_visitor_is_shown_what_to_do_first_and_where(people, page):
    shown = browser().get(page)
    text = shown.content.decode()
    assert shown.status_code == 200 and 'class="checklist"' in text and "/accounts/login/?next=" in text
    assert "<form method" not in text.split("<main")[1]


def test_each_unmet_condition_links_to_what_mends_it(people, phase, page):
    text = browser(people.stranger).get(page).content.decode()
    assert f"/challenges/{phase.challenge.slug}/rules/" in text and f"/challenges/{phase.challenge.slug}/team/" in text
    Participation.objects.filter(user=people.mate).update(rules_version="0")
    text = browser(people.mate).get(page).content.decode()
    assert "Read and accept" in text and 'type="file"' not in text


def test_the_quota_is_shown_and_so_is_the_next_moment_when_it_is_used_up(people, phase, page):
    Phase.objects.filter(pk=phase.pk).update(limit_per_day=2, limit_total=9, limit_at_once=4, time_zone="Europe/Prague")
    text = browser(people.owner).get(page).content.decode()
    assert "<b>2</b> of 2" in text and "<b>9</b> of 9" in text and "<b>4</b> of 4 free" in text and 'type="file"' in text
    for data in (b"one", b"two"):
        received(phase, people.team, data)
    answer = browser(people.owner).get(page)
    quota, text = answer.context["quota"], answer.content.decode()
    assert quota.code == "limit_per_day" and in_words(quota.next_at, "Europe/Prague") in text and 'type="file"' not in text


def test_an_upload_that_is_not_finished_can_be_gone_on_with_when_nothing_new_can_begin(people, phase, page):
    Phase.objects.filter(pk=phase.pk).update(limit_at_once=1)
    phase.refresh_from_db()
    uploads.start(people.mate, phase, file_name="large.zip", size=99, sha256="0" * 64, method_name="Half sent")
    for now_closed in (False, True):
        if now_closed:
            Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now())
        text = browser(people.owner).get(page).content.decode()
        assert "Not finished" in text and "Half sent" in text and 'type="file"' in text
    assert "Half sent" not in browser(people.other).get(page).content.decode()


def test_a_closed_phase_says_since_when(people, phase, page):
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - timedelta(days=1))
    answer = browser(people.owner).get(page)
    assert answer.context["closed"] and answer.context["closed"] in answer.content.decode() and not answer.context["may_send"]


def test_the_script_and_the_plain_form_are_the_same_form(people, page):
    text = browser(people.owner).get(page).content.decode()
    tag = re.search(r'<form method="post" enctype="multipart/form-data"[^>]*>', text).group()
    assert 'data-create-url="/api/v1/submissions"' in tag
    assert 'name="challenge"' in text and 'name="phase"' in text


# --- the plain form ------------------------------------------------------------------------------


def test_a_plain_form_uploads_in_one_request(people, phase, page, references):
    data = archive(references)
    answer = browser(people.owner).post(page, form(data, description="Ours."))
    submission = phase.submissions.get()
    assert answer.status_code == 302 and answer["Location"] == f"/entries/{submission.pk}/"
    assert (submission.status, submission.method_name, submission.description) == (Status.RECEIVED, "PC2WF", "Ours.")
    assert stored_files.store().read(submission.file_key) == data


def test_a_form_without_the_csrf_token_is_refused(people, phase, page):
    client = browser(people.owner, enforce_csrf_checks=True)
    assert client.post(page, form()).status_code == 403 and not phase.submissions.exists()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get(page).content.decode()).group(1)
    assert client.post(page, form(csrfmiddlewaretoken=token)).status_code == 302


@pytest.mark.parametrize("name", ["anonymous", "stranger", "organizer", "other_organizer"])
def test_who_does_not_take_part_is_refused_before_the_body_is_read(people, phase, page, name):
    assert browser(people.users()[name]).post(page, form()).status_code == 403
    assert not phase.submissions.exists()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"method_name": ""}, "This field is required"),
        ({"file": ""}, "This field is required"),
        ({"paper_url": "javascript:alert(1)"}, "Enter a valid URL"),
        ({"parameters": "many"}, "The number of parameters is not a number"),
        ({"file": SimpleUploadedFile("entry.zip", b"")}, "The submitted file is empty"),
    ],
)
def test_what_is_wrong_stands_at_its_field(people, phase, page, values, sentence):
    answer = browser(people.owner).post(page, form(**values))
    assert answer.status_code == 422 and sentence in answer.content.decode() and not phase.submissions.exists()


def test_too_large_a_file_is_refused_with_a_sentence(people, phase, page):
    Phase.objects.filter(pk=phase.pk).update(max_archive_bytes=1_000)
    for size in (1_001, 1_200_000):  # of the file, and of the body, which is then not read
        answer = browser(people.owner).post(page, form(b"x" * size))
        assert answer.status_code == 409 and "1,000" in answer.content.decode()
    assert not phase.submissions.exists()


def test_a_used_up_quota_refuses_the_form_too(people, phase, page):
    Phase.objects.filter(pk=phase.pk).update(limit_total=1)
    client = browser(people.owner)
    assert client.post(page, form(b"one")).status_code == 302
    answer = client.post(page, form(b"two"))
    assert (answer.status_code, answer.context["quota"].code) == (409, "limit_total")


def test_a_full_disk_is_a_sentence_on_the_page(people, phase, page, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    answer = browser(people.owner).post(page, form())
    assert answer.status_code == 409 and "disk is full" in answer.content.decode()
    assert not phase.submissions.counted().exists()


# --- an entry ----------------------------------------------------------------------------------


def test_a_team_downloads_exactly_what_it_uploaded(people, phase):
    entry = received(phase, people.team, b"the very bytes")
    answer = browser(people.mate).get(f"/entries/{entry.pk}/file/")
    assert b"".join(answer.streaming_content) == b"the very bytes"
    assert answer["Content-Disposition"] == 'attachment; filename="entry.zip"' and answer["Content-Type"] == "application/octet-stream"
    assert browser(people.other).get(f"/entries/{entry.pk}/file/").status_code == 404


def test_a_scored_entry_is_chosen_edited_and_withdrawn(people, scored):
    entry = scored(0.1)
    client, base = browser(people.mate), f"/entries/{entry.pk}"
    for act in ("choose", "withdraw"):
        assert client.post(f"{base}/{act}/").status_code == 302
    client.post(f"{base}/edit/", {"method_name": "New name", "code_url": "https://example.org/code"})
    entry.refresh_from_db()
    assert entry.is_chosen and entry.withdrawn_at and (entry.method_name, entry.code_url) == ("New name", "https://example.org/code")


def test_a_waiting_entry_is_cancelled_and_a_failed_one_retried(people, phase):
    first, second = received(phase, people.team, b"one"), received(phase, people.team, b"two")
    second.fail(Why(Reason.ERROR))
    client = browser(people.owner)
    client.post(f"/entries/{first.pk}/cancel/")
    client.post(f"/entries/{second.pk}/retry/")
    assert list(phase.submissions.order_by("pk").values_list("status", flat=True)) == [Status.CANCELLED, Status.RECEIVED]


@pytest.mark.parametrize("act", ["cancel", "withdraw", "choose", "retry", "edit"])
def test_acts_on_entries_are_posts_of_their_own_team(people, scored, act):
    entry = scored(0.1)
    address = f"/entries/{entry.pk}/{act}/"
    assert browser(people.owner).get(address).status_code == 405
    for name in ("anonymous", "stranger", "other", "other_organizer"):
        assert browser(people.users()[name]).post(address, {"method_name": "Mine now"}).status_code == 403
    entry.refresh_from_db()
    assert entry.method_name == "method" and not entry.withdrawn_at and not entry.is_chosen


def test_an_act_that_is_not_possible_says_why_on_the_entrys_page(people, scored):
    entry = scored(0.1)
    shown = browser(people.owner).post(f"/entries/{entry.pk}/cancel/", follow=True)
    assert shown.redirect_chain[-1][0] == f"/entries/{entry.pk}/"
    assert [message.level_tag for message in shown.context["messages"]] == ["error"]


# --- tokens --------------------------------------------------------------------------------------


def test_a_tokens_key_is_shown_once_and_only_its_hash_is_kept(people):
    client = browser(people.owner)
    made = client.post("/account/tokens/", {"name": "cluster", "days": "30"})
    key = re.search(r"plumb_[\w-]{43}", made.content.decode()).group()
    assert made.status_code == 201 and "no-store" in made["Cache-Control"]
    token = ApiToken.objects.get(user=people.owner)
    assert key not in str(vars(token)) and token.expires_at - timezone.now() < timedelta(days=30)
    assert key not in client.get("/account/tokens/").content.decode()
    assert Client().get("/api/v1/me", headers={"Authorization": f"Bearer {key}"}).json()["username"] == "owner"
    client.post(f"/account/tokens/{token.pk}/revoke/")
    assert Client().get("/api/v1/me", headers={"Authorization": f"Bearer {key}"}).status_code == 401


def test_nobody_revokes_another_persons_token(people):
    token, _ = ApiToken.make(people.owner, "mine")
    assert browser(people.mate).post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
    assert browser().get("/account/tokens/").status_code == 302


def test_new_tokens_are_limited(people, settings):
    settings.TOKEN_RATE = "1/h"
    client = browser(people.owner)
    client.post("/account/tokens/", {"name": "a", "days": "0"})
    refused = client.post("/account/tokens/", {"name": "b", "days": "0"})
    assert refused.status_code == 429 and int(refused["Retry-After"]) > 0
    assert "try again in" in refused.content.decode() and ApiToken.objects.count() == 1

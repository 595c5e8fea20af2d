"""Limits of a phase against literal instants, and in a crowd."""

from __future__ import annotations

import hashlib
import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import Client, RequestFactory
from django.utils import timezone

from leaderboard.service.cache import SteadyRedisCache
from submissions import throttling
from submissions.errors import Refused
from submissions.models import ApiToken, ExtraTries, Phase, RateCount, Status, Submission
from submissions.models.quota import quota_of
from submissions.storage import uploads
from tests.environment import free_port
from tests.support.at_once import outcomes, together

DATA = b"an entry"
DIGEST = hashlib.sha256(DATA).hexdigest()


pytestmark = pytest.mark.usefixtures("local_files")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def limited(phase: Phase, **values) -> Phase:
    """The phase of the whole year 2026, in Prague, with these limits."""
    values = {"opens_at": at("2026-01-01"), "closes_at": at("2027-01-01"), "time_zone": "Europe/Prague"} | values
    for name, value in values.items():
        setattr(phase, name, value)
    phase.save()
    return phase


def reserve(phase: Phase, people, moment: str, team=None, sha256: str = DIGEST) -> Submission:
    team = team or people.team
    return Submission.reserve(
        phase, team, people.owner, method_name="m", file_name="entry.zip", size=len(DATA), sha256=sha256, now=at(moment)
    )


def refusal(phase: Phase, people, moment: str) -> Refused:
    with pytest.raises(Refused) as refused:
        reserve(phase, people, moment)
    return refused.value


def sent(phase: Phase, people, moment: str) -> None:
    """An entry that was scored long ago."""
    settle(reserve(phase, people, moment), Status.SCORED)


def settle(submission: Submission, status: Status) -> None:
    Submission.objects.filter(pk=submission.pk).update(status=status)


# --- when a phase takes entries ----------------------------------------------------------------


def test_a_phase_opens_with_its_first_second_and_closes_with_its_last(phase, people):
    limited(phase, opens_at=at("2026-06-01T10:00:00"), closes_at=at("2026-06-02T10:00:00"))
    early = refusal(phase, people, "2026-06-01T09:59:59.999999")
    assert (early.code, early.retry_at) == ("phase_not_open", at("2026-06-01T10:00:00"))
    assert "1 June 2026, 12:00 CEST" in early.sentence
    assert reserve(phase, people, "2026-06-01T10:00:00").number == 1
    assert reserve(phase, people, "2026-06-02T09:59:59.999999").number == 2
    late = refusal(phase, people, "2026-06-02T10:00:00")
    assert late.code == "phase_closed" and "2 June 2026, 12:00 CEST" in late.sentence


def test_a_phase_without_an_end_stays_open(phase, people):
    limited(phase, closes_at=None)
    assert reserve(phase, people, "2099-01-01").number == 1


def test_announced_content_may_arrive_after_the_deadline_and_open_content_may_not(phase, people):
    limited(phase, closes_at=at("2026-06-02T10:00:00"))
    fixed = uploads.start(
        people.owner, phase, file_name="a.zip", size=len(DATA), sha256=DIGEST, method_name="m", now=at("2026-06-02T09:59:59")
    )
    free = uploads.start(people.owner, phase, file_name="b.zip", size=len(DATA), method_name="m", now=at("2026-06-02T09:59:59"))
    for submission, data in ((fixed, DATA), (free, DATA[::-1])):
        uploads.save_part(submission, 1, io.BytesIO(data), now=at("2026-06-02T10:00:01"))
    assert uploads.finish(fixed, now=at("2026-06-02T10:00:02")).status == Status.RECEIVED
    with pytest.raises(Refused) as refused:
        uploads.finish(free, now=at("2026-06-02T10:00:02"))
    free.refresh_from_db()
    assert refused.value.code == "phase_closed" and free.status == Status.CANCELLED


def test_a_reservation_runs_out_with_its_last_second(phase, people, settings):
    limited(phase)
    settings.UPLOAD_HOURS = 6
    submission = reserve(phase, people, "2026-06-01T10:00:00")
    uploads.save_part(submission, 1, io.BytesIO(DATA), now=at("2026-06-01T15:59:59"))
    for act in (lambda now: uploads.save_part(submission, 1, io.BytesIO(DATA), now=now), lambda now: uploads.finish(submission, now=now)):
        with pytest.raises(Refused) as refused:
            act(at("2026-06-01T16:00:00"))
        assert refused.value.code == "upload_over"
    assert uploads.finish(submission, now=at("2026-06-01T15:59:59")).status == Status.RECEIVED


# --- days ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last_of_day", "first_of_next"),
    [
        ("2026-01-15T22:59:59", "2026-01-15T23:00:00"),  # winter: UTC+1
        ("2026-07-15T21:59:59", "2026-07-15T22:00:00"),  # summer: UTC+2
        ("2026-03-28T22:59:59", "2026-03-28T23:00:00"),  # into the day of 23 hours
        ("2026-03-29T21:59:59", "2026-03-29T22:00:00"),  # out of it
        ("2026-10-24T21:59:59", "2026-10-24T22:00:00"),  # into the day of 25 hours
        ("2026-10-25T22:59:59", "2026-10-25T23:00:00"),  # out of it
    ],
)
def test_a_day_ends_at_midnight_of_the_phases_zone(phase, people, last_of_day, first_of_next):
    limited(phase, limit_per_day=1)
    reserve(phase, people, last_of_day)
    refused = refusal(phase, people, last_of_day)
    assert (refused.code, refused.retry_at) == ("limit_per_day", at(first_of_next))
    assert reserve(phase, people, first_of_next).number == 2


def test_the_day_of_25_hours_is_one_day(phase, people):
    limited(phase, limit_per_day=2)
    sent(phase, people, "2026-10-25T00:30:00")  # 02:30 in summer time
    sent(phase, people, "2026-10-25T01:30:00")  # 02:30 again, in winter time
    refused = refusal(phase, people, "2026-10-25T22:59:59")
    assert refused.retry_at == at("2026-10-25T23:00:00")
    assert "26 October 2026, 00:00 CET" in refused.sentence


def test_the_same_instant_is_another_day_elsewhere(phase, people):
    limited(phase, limit_per_day=1, time_zone="Pacific/Auckland")
    sent(phase, people, "2026-06-01T11:59:59")  # 23:59:59 on the first there
    sent(phase, people, "2026-06-01T12:00:00")
    assert refusal(phase, people, "2026-06-02T11:59:59").retry_at == at("2026-06-02T12:00:00")


def test_no_next_moment_is_promised_that_comes_after_the_phase_has_closed(phase, people):
    limited(phase, limit_per_day=1, closes_at=at("2026-06-01T22:00:00"))  # midnight there
    sent(phase, people, "2026-06-01T10:00:00")
    refused = refusal(phase, people, "2026-06-01T12:00:00")
    assert (refused.code, refused.retry_at) == ("limit_per_day", None)


def test_tomorrow_is_not_promised_where_no_day_has_an_upload(phase, people):
    limited(phase, limit_per_day=0)
    refused = refusal(phase, people, "2026-06-01T12:00:00")
    assert (refused.code, refused.retry_at) == ("limit_per_day", None)
    assert "extra try" in refused.sentence and "next" not in refused.sentence


# --- what counts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [Status.REJECTED, Status.FAILED, Status.CANCELLED])
def test_what_was_rejected_failed_or_cancelled_gives_its_quota_back(phase, people, status):
    limited(phase, limit_per_day=1, limit_total=1, limit_at_once=1)
    settle(reserve(phase, people, "2026-06-01T10:00:00"), status)
    assert reserve(phase, people, "2026-06-01T10:00:01").number == 2


@pytest.mark.parametrize("status", [Status.RECEIVED, Status.CLAIMED, Status.VALIDATING, Status.SCORING, Status.SCORED])
def test_everything_else_uses_it_up(phase, people, status):
    limited(phase, limit_total=1)
    settle(reserve(phase, people, "2026-06-01T10:00:00"), status)
    assert refusal(phase, people, "2026-06-01T10:00:01").code == "limit_total"


def test_a_reservation_that_is_heard_of_counts_until_it_runs_out(phase, people, settings):
    settings.UPLOAD_HOURS = 6
    limited(phase, limit_total=1)
    upload = reserve(phase, people, "2026-06-01T10:00:00")
    uploads.resume(upload, at("2026-06-01T15:59:00"))
    assert refusal(phase, people, "2026-06-01T15:59:59").code == "limit_total"
    assert reserve(phase, people, "2026-06-01T16:00:00").number == 2


@pytest.mark.parametrize("limits_of_phase", [{"limit_total": 1}, {"limit_per_day": 1}, {"limit_at_once": 1}])
def test_an_upload_that_is_not_heard_of_holds_its_place_for_some_minutes(phase, people, settings, limits_of_phase):
    settings.UPLOAD_IDLE_MINUTES = 10
    limited(phase, **limits_of_phase)
    upload = reserve(phase, people, "2026-06-01T10:00:00")
    uploads.save_part(upload, 1, io.BytesIO(DATA), now=at("2026-06-01T10:04:00"))
    code = refusal(phase, people, "2026-06-01T10:13:59").code
    assert code == next(iter(limits_of_phase))
    assert reserve(phase, people, "2026-06-01T10:14:00").number == 2


@pytest.mark.parametrize("act", [uploads.resume, uploads.finish, lambda one, now: uploads.save_part(one, 1, io.BytesIO(DATA), now)])
def test_an_upload_that_goes_on_after_its_place_was_taken_is_refused_until_it_is_free(phase, people, settings, act):
    settings.UPLOAD_IDLE_MINUTES = 10
    limited(phase, limit_at_once=1)
    stopped = reserve(phase, people, "2026-06-01T10:00:00")
    uploads.save_part(stopped, 1, io.BytesIO(DATA), now=at("2026-06-01T10:00:00"))
    other = reserve(phase, people, "2026-06-01T10:30:00")
    with pytest.raises(Refused) as refused:
        act(stopped, at("2026-06-01T10:30:01"))
    assert refused.value.code == "limit_at_once"
    assert Submission.objects.get(pk=stopped.pk).status == Status.UPLOADING, "what was sent is kept"
    uploads.cancel(other)
    act(stopped, at("2026-06-01T10:30:02"))
    assert refusal(phase, people, "2026-06-01T10:40:01").code == "limit_at_once", "it counts again"


def test_what_stopped_within_the_minutes_goes_on_in_its_own_place(phase, people, settings):
    settings.UPLOAD_IDLE_MINUTES = 10
    limited(phase, limit_total=1)
    upload = reserve(phase, people, "2026-06-01T10:00:00")
    for minute in (9, 18, 27):
        uploads.resume(upload, at(f"2026-06-01T10:{minute:02}:00"))
        assert refusal(phase, people, f"2026-06-01T10:{minute:02}:01").code == "limit_total"


def test_uploads_that_were_abandoned_keep_nobody_out_for_longer_than_three_minutes(phase, people):
    limited(phase, limit_at_once=3)
    settle(reserve(phase, people, "2026-06-01T10:00:00"), Status.SCORING)
    for second in (1, 2):
        reserve(phase, people, f"2026-06-01T10:00:0{second}")
    refused = refusal(phase, people, "2026-06-01T10:03:00")
    assert refused.code == "limit_at_once"
    assert [part for part in ("3 entries", "uploads among them: 2.", "3 minutes") if part not in refused.sentence] == []
    assert [reserve(phase, people, "2026-06-01T10:03:02").number for _ in range(2)] == [4, 5]
    assert refusal(phase, people, "2026-06-01T10:03:03").code == "limit_at_once"


def test_uploads_that_stopped_before_midnight_take_places_of_the_day_on_which_they_go_on(phase, people, client, settings):
    settings.UPLOAD_HOURS = 48
    before = datetime.now(UTC)
    limited(phase, opens_at=before - timedelta(days=9), closes_at=before + timedelta(days=9), limit_per_day=2)
    yesterday = phase.day(before)[0] - timedelta(minutes=10)
    reserved = []
    for number in range(8):
        data = data_of(number)
        moment, digest = yesterday.astimezone(UTC).replace(tzinfo=None).isoformat(), hashlib.sha256(data).hexdigest()
        upload = reserve(phase, people, moment, sha256=digest)
        uploads.save_part(upload, 1, io.BytesIO(data), now=yesterday)
        uploads.pause(upload, now=yesterday)
        reserved.append(upload)
    client.force_login(people.owner)
    answers = [client.post(f"/api/v1/submissions/{upload.pk}/complete") for upload in reserved]
    assert [answer.status_code for answer in answers] == [200] * 2 + [409] * 6
    assert {answer.json()["code"] for answer in answers[2:]} == {"limit_per_day"}
    rows = list(Submission.objects.order_by("pk"))
    assert [row.created_at >= before for row in rows] == [True] * 2 + [False] * 6
    assert {row.upload_expires_at for row in rows} == {reserved[0].upload_expires_at}, "they run out when they would have"
    assert quota_of(phase, people.team, yesterday).left_today == 2


def test_after_the_phase_has_closed_no_midnight_gives_stopped_uploads_another_day(phase, people, settings):
    settings.UPLOAD_HOURS = 6
    limited(phase, limit_per_day=2, closes_at=at("2026-06-01T21:50:00"))  # 23:50 in the phase's zone
    stopped = reserve(phase, people, "2026-06-01T20:00:00")
    uploads.save_part(stopped, 1, io.BytesIO(DATA), now=at("2026-06-01T20:00:00"))
    uploads.pause(stopped, now=at("2026-06-01T20:00:00"))
    sent(phase, people, "2026-06-01T20:10:00")
    last = reserve(phase, people, "2026-06-01T20:20:00")
    settle(last, Status.SCORED)
    for moment in ("2026-06-01T21:55:00", "2026-06-01T22:05:00"):
        with pytest.raises(Refused) as refused:
            uploads.resume(stopped, now=at(moment))
        assert refused.value.code == "limit_per_day"
    settle(last, Status.FAILED)
    uploads.resume(stopped, now=at("2026-06-01T22:06:00"))
    assert uploads.finish(stopped, now=at("2026-06-01T22:07:00")).created_at == at("2026-06-01T20:00:00")


def test_a_team_has_twenty_unfinished_uploads_at_most_whatever_they_count_against(phase, people):
    limited(phase)
    reserved = [reserve(phase, people, "2026-06-01T10:00:00") for _ in range(20)]
    for upload in reserved:
        upload.leave_place()
    assert refusal(phase, people, "2026-06-01T10:01:00").code == "unfinished"
    reserved[3].cancel()
    assert reserve(phase, people, "2026-06-01T10:02:00").number == 21
    assert reserve(phase, people, "2026-06-01T17:00:00").number == 22, "the others have run out"


def test_an_upload_that_never_stopped_keeps_its_day(phase, people, settings):
    settings.UPLOAD_IDLE_MINUTES = 10
    limited(phase, limit_per_day=1)
    upload = reserve(phase, people, "2026-06-01T21:55:00")
    uploads.save_part(upload, 1, io.BytesIO(DATA), now=at("2026-06-01T21:59:00"))
    uploads.resume(upload, now=at("2026-06-01T22:07:00"))
    assert uploads.finish(upload, now=at("2026-06-01T22:12:00")).created_at == at("2026-06-01T21:55:00")
    assert reserve(phase, people, "2026-06-01T22:13:00").number == 2, "the place of the next day is free"


def test_a_paused_upload_frees_its_place_at_once_through_the_api(phase, people, client):
    now = datetime.now(UTC)
    limited(phase, opens_at=now - timedelta(days=1), closes_at=now + timedelta(days=1), limit_at_once=1)
    client.force_login(people.owner)
    address = "/api/v1/submissions"
    body = {"challenge": phase.challenge.slug, "phase": phase.slug, "method_name": "m", "file_name": "a.zip", "size": len(DATA)}

    def post(path: str = "", **more: str):
        return client.post(address + path, json.dumps(body | more), "application/json")

    first = post().json()
    assert post(file_name="b.zip").status_code == 409
    assert post(f"/{first['id']}/pause").status_code == 200
    second = post(file_name="b.zip").json()
    refused = post(f"/{first['id']}/resume")
    assert (refused.status_code, refused.json()["code"]) == (409, "limit_at_once")
    assert post(f"/{second['id']}/cancel").status_code == 200
    assert post(f"/{first['id']}/resume").json()["upload"]["parts_done"] == []
    assert post(f"/{second['id']}/pause").status_code == 409, "what is over is not paused"


def test_entries_at_once_are_those_in_progress(phase, people):
    limited(phase, limit_at_once=2)
    first = reserve(phase, people, "2026-06-01T10:00:00")
    reserve(phase, people, "2026-06-01T10:00:01")
    assert refusal(phase, people, "2026-06-01T10:00:02").code == "limit_at_once"
    settle(first, Status.SCORED)
    assert reserve(phase, people, "2026-06-01T10:00:03").number == 3


def test_another_teams_uploads_and_another_phases_do_not_count(phase, people):
    limited(phase, limit_total=1)
    reserve(phase, people, "2026-06-01T10:00:00")
    assert reserve(phase, people, "2026-06-01T10:00:00", team=people.other_team).number == 2


def test_an_extra_try_is_used_once_on_whichever_day(phase, people):
    limited(phase, limit_per_day=1, limit_total=3)
    ExtraTries.objects.create(phase=phase, team=people.team, amount=1, reason="power cut")
    for moment in ("2026-06-01T10:00:00", "2026-06-01T11:00:00"):
        sent(phase, people, moment)
    assert refusal(phase, people, "2026-06-01T12:00:00").code == "limit_per_day"
    sent(phase, people, "2026-06-02T10:00:00")
    assert refusal(phase, people, "2026-06-02T11:00:00").code == "limit_per_day"
    sent(phase, people, "2026-06-03T10:00:00")
    assert refusal(phase, people, "2026-06-04T10:00:00").code == "limit_total"


def test_no_limit_means_none(phase, people):
    quota = quota_of(limited(phase), people.team, at("2026-06-01"))
    assert (quota.left_today, quota.left_total, quota.left_at_once, quota.allowed) == (None, None, None, True)


def test_a_phase_behind_a_gate_wants_a_scored_entry_before_it(challenge, phase, people):
    from tests.support.factories import PhaseFactory, give_reference

    final = limited(PhaseFactory(challenge=challenge, parent=phase))
    give_reference(final)
    limited(phase)
    assert refusal(final, people, "2026-06-01").code == "parent_phase"
    earlier = reserve(phase, people, "2026-06-01")
    settle(earlier, Status.SCORED)
    assert reserve(final, people, "2026-06-02").number == 1
    earlier.refresh_from_db()
    earlier.withdraw()
    assert refusal(final, people, "2026-06-03").code == "parent_phase"


# --- in a crowd ----------------------------------------------------------------------------------


def data_of(number: int) -> bytes:
    """Bytes of an entry of its own: the same ones within a minute would be one entry."""
    return f"entry {number:02}".encode()


def through_the_model(phase, user, number: int) -> bool:
    digest = hashlib.sha256(data_of(number)).hexdigest()
    try:
        uploads.start(user, phase, file_name="entry.zip", size=len(DATA), sha256=digest, method_name=f"m{number}")
    except Refused as refused:
        if refused.code != "limit_total":
            raise
        return False
    return True


def through_the_api(phase, user, number: int) -> bool:
    body = {
        "challenge": phase.challenge.slug,
        "phase": phase.slug,
        "method_name": f"m{number}",
        "file_name": "entry.zip",
        "size": len(DATA),
        "sha256": hashlib.sha256(data_of(number)).hexdigest(),
    }
    headers = {"Authorization": f"Bearer {user.key}"}
    answer = Client().post("/api/v1/submissions", json.dumps(body), content_type="application/json", headers=headers)
    assert answer.status_code == 201 or answer.json()["code"] == "limit_total", answer.content
    return answer.status_code == 201


def through_the_page(phase, user, number: int) -> bool:
    client = Client()
    client.force_login(user)
    form = {"method_name": f"m{number}", "file": SimpleUploadedFile("entry.zip", data_of(number))}
    answer = client.post(f"/challenges/{phase.challenge.slug}/{phase.slug}/upload/", form)
    assert answer.status_code in (302, 409), answer.content
    return answer.status_code == 302


@pytest.mark.django_db(transaction=True)
def test_of_6_parallel_uploads_of_the_same_bytes_one_is_an_entry(phase, people):
    def arrive() -> str:
        client = Client()
        client.force_login(people.owner)
        form = {"method_name": "m", "file": SimpleUploadedFile("entry.zip", DATA)}
        return client.post(f"/challenges/{phase.challenge.slug}/{phase.slug}/upload/", form).headers["Location"]

    assert len({*together([arrive] * 6)}) == 1
    assert phase.submissions.filter(status=Status.RECEIVED).count() == phase.submissions.counted().count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_2_confirmations_at_once_one_takes_a_place(phase, people):
    entry = reserve(phase, people, datetime.now(UTC).replace(tzinfo=None).isoformat())
    values = {
        "status": Status.REJECTED,
        "reason": "inputs",
        "file_key": "key",
        "received_at": timezone.now(),
        "finished_at": timezone.now(),
    }
    Submission.objects.filter(pk=entry.pk).update(**values)
    assert sorted(outcomes([Submission.objects.get(pk=entry.pk).confirm for _ in range(2)])) == ["done", "not_held"]
    assert phase.submissions.counted().count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_20_parallel_uploads_with_3_left_exactly_3_are_accepted_whichever_door(phase, people):
    limited(phase, opens_at=at("2026-01-01"), closes_at=None, limit_total=4)
    reserve(phase, people, "2026-06-01T10:00:00").receive("key", len(DATA), DIGEST, now=at("2026-06-01T10:00:01"))
    for user in (people.owner, people.mate):
        user.key = ApiToken.make(user, "test")[1]
    doors = (through_the_model, through_the_api, through_the_page)

    def arrive(number: int) -> bool:
        try:
            same = Phase.objects.select_related("challenge").get(pk=phase.pk)
            return doors[number % 3](same, (people.owner, people.mate)[number % 2], number)
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as crowd:
        accepted = list(crowd.map(arrive, range(20)))
    assert sum(accepted) == 3
    numbers = sorted(phase.submissions.values_list("number", flat=True))
    assert numbers == [1, 2, 3, 4]


@pytest.mark.django_db(transaction=True)
def test_of_8_failed_entries_that_are_retried_at_once_exactly_as_many_as_are_left_are_queued(phase, people):
    limited(phase, opens_at=at("2026-01-01"), closes_at=None, limit_per_day=3)
    for number in range(8):
        settle(reserve(phase, people, f"2026-06-01T10:00:0{number}"), Status.FAILED)
    Submission.objects.update(file_key="key")
    retries = [lambda entry=entry: entry.retry(people.owner) for entry in Submission.objects.all()]
    assert sorted(outcomes(retries)) == ["done"] * 3 + ["limit_per_day"] * 5
    assert Submission.objects.filter(status=Status.RECEIVED, created_at__gt=at("2026-06-02")).count() == 3


# --- how often ---------------------------------------------------------------------------------


def test_a_rate_is_read_as_it_is_written():
    assert throttling.Rate.parse("60/h") == throttling.Rate(60, 3600) and throttling.Rate.parse("5/30s") == throttling.Rate(5, 30)
    for wrong in ("", "60", "60/x", "x/h", "-1/h", "60/1.5h"):
        with pytest.raises(ValueError, match="rate"):
            throttling.Rate.parse(wrong)


@pytest.mark.django_db
def test_the_window_of_a_rate_turns_at_its_edge():
    rate = throttling.Rate(2, 60)
    for second in (0.0, 59.9):
        throttling.count("test", "somebody", rate, now=6000.0 + second)
    with pytest.raises(throttling.TooOften) as refused:
        throttling.count("test", "somebody", rate, now=6059.9)
    assert refused.value.retry_at == datetime.fromtimestamp(6060, UTC)
    throttling.count("test", "somebody", rate, now=6060.0)
    throttling.count("test", "another", rate, now=6059.9)


LIMITS = sorted(name for name in vars(throttling) if name.startswith("limit_"))


def passed(limit: str, user, settings, monkeypatch) -> int:
    """Count of the requests that a limit of six lets through, of 24 by one person over 12 threads in one window."""
    six = throttling.Rate(6, 3600)
    for name in ("API_RATE", "API_RATE_ANONYMOUS", "UPLOAD_RATE", "REFERENCE_RATE", "TOKEN_RATE"):
        setattr(settings, name, "6/h")
    for name in [name for name, value in vars(throttling).items() if isinstance(value, throttling.Rate)]:
        monkeypatch.setattr(throttling, name, six)
    monkeypatch.setattr(throttling, "time", SimpleNamespace(time=lambda: 6000.0))
    request = RequestFactory().get("/")
    request.user = user
    said = [one for _ in range(2) for one in outcomes([lambda: getattr(throttling, limit)(request)] * 12)]
    assert set(said) == {"done", "too_many_requests"}
    return said.count("done")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", LIMITS)
def test_of_requests_at_once_as_many_pass_as_the_rate_says(limit, people, settings, monkeypatch):
    assert passed(limit, people.owner, settings, monkeypatch) == 6


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limit", LIMITS)
def test_rates_hold_against_requests_at_once_while_redis_is_away(limit, people, settings, monkeypatch):
    steady = {"BACKEND": "leaderboard.service.cache.SteadyRedisCache", "LOCATION": f"redis://127.0.0.1:{free_port()}/0"}
    settings.CACHES = {
        "default": steady,
        "database": {"BACKEND": "leaderboard.service.cache.CountingDatabaseCache", "LOCATION": "plumbline_cache"},
    }
    monkeypatch.setattr(SteadyRedisCache, "_away_until", 0.0)
    assert passed(limit, people.owner, settings, monkeypatch) == 6


@pytest.mark.django_db(transaction=True)
def test_counts_of_windows_that_are_over_are_removed():
    assert [RateCount.add("old", -1.0), RateCount.add("new", 60.0), RateCount.add("new", 60.0)] == [1, 1, 2]
    assert RateCount.forget() == 1 and list(RateCount.objects.values_list("key", "n")) == [("new", 2)]


@pytest.mark.django_db(transaction=True)
def test_a_rate_is_not_counted_inside_a_transaction_whose_end_would_undo_it():
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        RateCount.add("any", 60.0)


@pytest.mark.django_db
def test_people_are_counted_by_account_and_visitors_by_address(people):
    asked = RequestFactory().get("/")
    asked.user = people.owner
    assert throttling.who(asked) == f"user{people.owner.pk}"
    asked.user = people.anonymous
    elsewhere = RequestFactory().get("/", REMOTE_ADDR="192.0.2.7")
    elsewhere.user = people.anonymous
    assert throttling.who(asked) != throttling.who(elsewhere) and "192.0.2.7" not in throttling.who(elsewhere)


@pytest.mark.django_db(transaction=True)
def test_of_stopped_uploads_that_go_on_at_once_and_new_ones_exactly_as_many_as_are_left_are_let_in(phase, people, settings):
    settings.UPLOAD_IDLE_MINUTES = 10
    limited(phase, limit_total=3)
    stopped = []
    for _ in range(4):
        stopped.append(reserve(phase, people, "2026-06-01T10:00:00"))
        stopped[-1].leave_place()
    acts = [lambda one=one: one.hold_place(at("2026-06-01T10:01:00")) for one in stopped]
    acts += [lambda: reserve(phase, people, "2026-06-01T10:01:00") for _ in range(4)]
    said = outcomes(acts)
    assert sorted(said) == ["done"] * 3 + ["limit_total"] * 5
    assert phase.submissions.counted(at("2026-06-01T10:01:00")).count() == 3


@pytest.mark.django_db
def test_failed_log_ins_are_limited_per_account(people, settings):
    client = Client()
    for _ in range(5):
        answer = client.post("/accounts/login/", {"login": "owner", "password": "wrong"})
        assert "Too many" not in answer.content.decode()
    answer = client.post("/accounts/login/", {"login": "owner", "password": "a long enough password"})
    assert answer.status_code == 200 and "Too many" in answer.content.decode()
    other = client.post("/accounts/login/", {"login": "mate", "password": "a long enough password"})
    assert other.status_code == 302


def test_a_reservation_made_before_the_deadline_says_until_when_it_holds(phase, people, settings):
    settings.UPLOAD_HOURS = 6
    submission = reserve(limited(phase), people, "2026-06-01T10:00:00")
    assert submission.upload_expires_at - submission.created_at == timedelta(hours=6)


def test_retries_count_with_the_uploads_of_a_person(phase, people, settings, client):
    """An entry that takes the worker's whole time and then fails uses up no quota, however often it is retried."""
    settings.UPLOAD_RATE = "2/h"
    entry = reserve(limited(phase), people, "2026-05-01T12:00")
    Submission.objects.filter(pk=entry.pk).update(file_key="submissions/1/entry.zip")
    client.force_login(people.owner)

    def retry(address: str) -> tuple[int, str]:
        Submission.objects.filter(pk=entry.pk).update(status=Status.FAILED)
        status = client.post(address, {}, "application/json").status_code
        return status, Submission.objects.get(pk=entry.pk).status

    page, api = f"/entries/{entry.pk}/retry/", f"/api/v1/submissions/{entry.pk}/retry"
    assert [retry(page), retry(api)] == [(302, "received"), (200, "received")]
    assert [retry(page), retry(api)] == [(429, "failed"), (429, "failed")]


class TestAtOnce:
    """Long requests of one client leave room for those of others, and those of all leave room for what is quick."""

    def test_one_client_has_so_many_places_and_gets_them_back(self, settings):
        settings.PAGES_AT_ONCE = 2
        places = throttling.AtOnce(all_places=3, workers=3)
        with places.place("a"), places.place("a"):
            with pytest.raises(throttling.TooOften) as refused, places.place("a"):
                pass
            assert type(refused.value) is throttling.TooOften and 1 <= refused.value.seconds <= 3
            with places.place("b"), pytest.raises(throttling.Busy), places.place("c"):
                pass
        with places.place("a"), places.place("a"), places.place("c"):
            pass
        assert not places._by

    def test_a_request_that_fails_gives_its_place_back(self, settings):
        settings.PAGES_AT_ONCE = 1
        places = throttling.AtOnce(all_places=1, workers=1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError), places.place("a"):
                raise ZeroDivisionError

    @pytest.mark.parametrize(("name", "status"), [("a", 429), ("b", 503)])
    def test_pages_and_programs_are_told_when_to_ask_again(self, client, phase, settings, monkeypatch, name, status):
        settings.PAGES_AT_ONCE = 1
        monkeypatch.setattr(throttling, "LONG_REQUESTS", throttling.AtOnce(all_places=1, workers=1))
        monkeypatch.setattr(throttling, "who", lambda request: name)
        here = f"challenges/{phase.challenge.slug}"
        with throttling.LONG_REQUESTS.place("a"):
            for address in ("", "compare/", "charts/", "choosing-metrics/", "people/"):
                page = client.get(f"/{here}/{phase.slug}/{address}")
                assert page.status_code == status and 1 <= int(page["Retry-After"]) <= 3 and page["Refresh"] == page["Retry-After"]
                assert "in a moment" in page.content.decode()
            told = client.get(f"/api/v1/{here}/phases/{phase.slug}/agreement")
            assert told.status_code == status and told.json()["code"] == ("too_many_requests" if status == 429 else "busy")
            assert 1 <= int(told["Retry-After"]) <= 3
            assert client.get("/-/health").status_code == client.get("/challenges/").status_code == 200
        assert client.get(f"/{here}/{phase.slug}/charts/").status_code == 200

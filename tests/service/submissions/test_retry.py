"""Retries of failed entries: a team's takes a place among its uploads, an organizer's takes none and is in the audit log."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from evaluation.models import Evaluation
from submissions.entry_states import Reason, Why
from submissions.errors import Refused
from submissions.models import AuditEntry, ExtraTries, Phase, Status, Submission
from submissions.models.quota import quota_of
from tests.support.factories import archive, gables, received
from tests.support.people import People

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("local_files")]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def limited(phase: Phase, **values) -> Phase:
    for name, value in values.items():
        setattr(phase, name, value)
    phase.save()
    return phase


def sent(phase: Phase, people: People, at: datetime, *, failed_by: Reason | None = None) -> Submission:
    """An entry of `at`: failed for that reason, or scored."""
    entry = received(phase, people.team, archive(gables(1)), user=people.owner)
    if failed_by is not None:
        entry.fail(Why(failed_by))
    status = Status.FAILED if failed_by else Status.SCORED
    Submission.objects.filter(pk=entry.pk).update(status=status, created_at=at, received_at=at)
    entry.refresh_from_db()
    return entry


def api(user, entry: Submission):
    return browser(user).post(f"/api/v1/submissions/{entry.pk}/retry", {}, "application/json")


def browser(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(user, entry: Submission) -> tuple[str, list[str]]:
    """Status of the entry after "Try again" on its page, and what the page says then."""
    answer = browser(user).post(f"/entries/{entry.pk}/retry/", follow=True)
    return Submission.objects.get(pk=entry.pk).status, [str(one) for one in answer.context["messages"]]


class TestWhileThePhaseIsOpen:
    @pytest.mark.parametrize("limit", ["limit_per_day", "limit_total", "limit_at_once"])
    def test_a_failed_entry_is_no_second_upload(self, phase, people, limit):
        limited(phase, **{limit: 1})
        failed = sent(phase, people, timezone.now(), failed_by=Reason.ERROR)
        second = sent(phase, people, timezone.now())
        if limit == "limit_at_once":
            Submission.objects.filter(pk=second.pk).update(status=Status.SCORING)
        answer = api(people.mate, failed)
        assert (answer.status_code, answer.json()["code"]) == (409, limit)
        status, said = page(people.owner, failed)
        assert status == Status.FAILED and said == [answer.json()["detail"]]
        assert f"/entries/{failed.pk}/retry/" not in browser(people.owner).get(f"/entries/{failed.pk}/").content.decode()

    @pytest.mark.parametrize("reason", [Reason.ERROR, Reason.TIME])
    def test_a_retry_takes_a_place_of_today_and_keeps_when_it_was_received(self, phase, people, reason):
        limited(phase, limit_per_day=1)
        yesterday, before = timezone.now() - timedelta(days=1), timezone.now()
        failed = sent(phase, people, yesterday, failed_by=reason)
        assert api(people.owner, failed).json()["status"] == "received"
        failed.refresh_from_db()
        assert failed.created_at >= before and failed.received_at == yesterday and failed.reason == failed.fault == ""
        assert (quota_of(phase, people.team).left_today, quota_of(phase, people.team, yesterday).left_today) == (0, 1)

    def test_a_retry_that_was_begun_is_not_begun_again(self, phase, people):
        limited(phase, limit_per_day=1)
        failed = sent(phase, people, timezone.now(), failed_by=Reason.ERROR)
        assert [api(people.owner, failed).status_code for _ in range(2)] == [200, 409]
        assert api(people.owner, failed).json()["code"] == "not_failed"

    def test_before_a_phase_opens_nothing_is_retried(self, phase, people):
        failed = sent(phase, people, timezone.now(), failed_by=Reason.ERROR)
        limited(phase, opens_at=timezone.now() + timedelta(days=1))
        assert api(people.owner, failed).json()["code"] == "phase_not_open"


class TestAfterItsEnd:
    """A phase that closed on 1 June 2026 at noon, UTC."""

    END = moment("2026-06-01T12:00:00")
    LAST_DAY = moment("2026-06-01T09:00:00")

    @pytest.fixture
    def over(self, phase):
        """`over(limit_per_day=1)`: close the phase, with these limits."""
        return lambda **limits: limited(phase, opens_at=moment("2026-05-01T00:00:00"), closes_at=self.END, **limits)

    def test_a_week_long_an_entry_that_the_service_failed_keeps_its_moment(self, phase, people, over):
        failed = sent(phase, people, self.LAST_DAY, failed_by=Reason.ERROR)
        over(limit_per_day=1, limit_total=1)
        failed.retry(people.owner, now=moment("2026-06-08T11:59:59"))
        assert (failed.status, failed.created_at, failed.received_at) == (Status.RECEIVED, self.LAST_DAY, self.LAST_DAY)

    def test_then_it_is_over(self, phase, people, over):
        failed = sent(phase, people, self.LAST_DAY, failed_by=Reason.ERROR)
        over()
        with pytest.raises(Refused) as refused:
            failed.retry(people.owner, now=moment("2026-06-08T12:00:00"))
        assert refused.value.code == "phase_closed"
        assert api(people.owner, failed).json()["code"] == "phase_closed"
        status, said = page(people.owner, failed)
        assert status == Status.FAILED and said == [refused.value.sentence] and "1 June 2026" in said[0]
        Phase.objects.update(closes_at=timezone.now() + timedelta(days=1))
        assert api(people.owner, failed).status_code == 200, "an end that is moved opens the phase again"

    def test_what_failed_by_its_own_fault_stays_failed(self, phase, people, over):
        failed = sent(phase, people, self.LAST_DAY, failed_by=Reason.OTHER_OWN)
        over()
        with pytest.raises(Refused) as refused:
            failed.retry(people.owner, now=self.END)
        assert refused.value.code == "phase_closed"

    @pytest.mark.parametrize(
        ("limits", "other", "code"),
        [
            ({"limit_per_day": 1}, "2026-06-01T08:00:00", "limit_per_day"),
            ({"limit_per_day": 2, "limit_total": 1}, "2026-05-31T23:59:59", "limit_total"),
        ],
    )
    def test_without_room_on_the_day_on_which_it_was_sent_or_in_total_it_stays_failed(self, phase, people, over, limits, other, code):
        failed = sent(phase, people, self.LAST_DAY, failed_by=Reason.ERROR)
        sent(phase, people, moment(other))
        over(**limits)
        with pytest.raises(Refused) as refused:
            failed.retry(people.owner, now=moment("2026-06-03T10:00:00"))
        assert (refused.value.code, refused.value.retry_at) == (code, None)
        assert ("1 June 2026" in refused.value.sentence) == (code == "limit_per_day")

    def test_other_days_need_no_room(self, phase, people, over):
        failed = sent(phase, people, self.LAST_DAY, failed_by=Reason.ERROR)
        sent(phase, people, moment("2026-05-31T23:59:59"))
        over(limit_per_day=1)
        failed.retry(people.owner, now=moment("2026-06-03T10:00:00"))
        assert failed.status == Status.RECEIVED

    def test_an_extra_try_is_room(self, phase, people, over):
        failed = sent(phase, people, self.LAST_DAY, failed_by=Reason.ERROR)
        sent(phase, people, self.LAST_DAY)
        over(limit_per_day=1)
        ExtraTries.objects.create(phase=phase, team=people.team, amount=1, reason="power cut")
        failed.retry(people.owner, now=moment("2026-06-03T10:00:00"))
        assert failed.status == Status.RECEIVED


class TestByOrganizers:
    @pytest.fixture
    def failed(self, phase, people):
        """An entry that its team cannot retry: it failed by its own fault, the phase has closed, and its limits are used up."""
        entry = sent(phase, people, timezone.now() - timedelta(days=2), failed_by=Reason.OTHER_OWN)
        sent(phase, people, entry.created_at)
        limited(phase, opens_at=timezone.now() - timedelta(days=40), closes_at=timezone.now() - timedelta(days=30), limit_total=1)
        return entry

    @pytest.mark.parametrize("door", ["page", "api", "console"])
    def test_they_ask_no_quota_and_are_in_the_log(self, phase, people, failed, door):
        console = f"/console/challenges/{phase.challenge.slug}/entries/{failed.pk}/"
        acts = {
            "page": lambda: page(people.organizer, failed),
            "api": lambda: api(people.organizer, failed),
            "console": lambda: browser(people.organizer).post(console, {"act": "retry"}),
        }
        acts[door]()
        created = failed.created_at
        failed.refresh_from_db()
        assert (failed.status, failed.created_at) == (Status.RECEIVED, created)
        kept = AuditEntry.objects.get(action__startswith="submission.")
        assert (kept.action, kept.actor, kept.detail["submission"]) == ("submission.retry", people.organizer, failed.pk)

    def test_so_do_retries_of_a_batch(self, phase, people, scored):
        entry = scored(0.1)
        Evaluation.objects.get(submission=entry).reopen()
        Evaluation.objects.get(submission=entry).fail(Why(Reason.MEMORY, {"megabytes": 9}), "")
        entry.refresh_from_db()
        assert (entry.status, entry.fault, entry.reason) == (Status.FAILED, "entry", Reason.MEMORY)
        sent(phase, people, entry.created_at)
        limited(phase, closes_at=timezone.now(), limit_total=1)
        path = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/scoring/"
        browser(people.organizer).post(path, {"act": "retry", "member": "all"})
        entry.refresh_from_db()
        assert entry.status == Status.RECEIVED
        assert [one.action for one in AuditEntry.objects.filter(detail__submission=entry.pk)] == ["batch.retry"]

    def test_an_organizer_in_the_team_has_the_teams_limits_on_its_page_and_an_organizers_act_in_the_console(self, phase, people, failed):
        phase.challenge.organizers.add(people.owner)
        assert page(people.owner, failed)[0] == Status.FAILED and not AuditEntry.objects.filter(action="submission.retry")
        browser(people.owner).post(f"/console/challenges/{phase.challenge.slug}/entries/{failed.pk}/", {"act": "retry"})
        assert Submission.objects.get(pk=failed.pk).status == Status.RECEIVED
        assert AuditEntry.objects.get(action="submission.retry").actor == people.owner

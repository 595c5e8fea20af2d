"""Acts while a challenge runs: entries, re-evaluations, participants, teams; each with its line in the log."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.models import Evaluation, EvaluationBatch, Part
from evaluation.work.worker import drain
from leaderboard.console.views.scoring import _seconds_left
from submissions.entry_states import Reason, Why
from submissions.models import Admission, AuditEntry, ExtraTries, Participation, Phase, Submission
from submissions.models.quota import quota_of
from tests.support.factories import PhaseFactory, UserFactory, archive, gables, received
from tests.support.pages import faults, refusal


@pytest.fixture
def entry(phase, people):
    return received(phase, people.team, archive(gables()), user=people.owner)


def line(action: str) -> AuditEntry:
    """The log's only line on that act."""
    return AuditEntry.objects.get(action=action)


def test_an_entry_is_hidden_with_a_reason_and_shown_again(desk, entry, people, at):
    path = at(f"entries/{entry.pk}/")
    assert refusal(desk.post(path, {"act": "hide", "reason": ""})) == "no_reason" and Submission.objects.get().hidden_at is None
    desk.post(path, {"act": "hide", "reason": "Test set used."})
    entry.refresh_from_db()
    assert entry.hidden_at is not None
    kept = line("submission.hide")
    assert (kept.actor, kept.detail["reason"]) == (people.organizer, "Test set used.")
    assert (kept.detail["before"]["hidden_at"], kept.detail["after"]["hidden_reason"]) == (None, "Test set used.")
    desk.post(path, {"act": "unhide"})
    entry.refresh_from_db()
    assert entry.hidden_at is None and line("submission.unhide")


def test_an_entry_is_disqualified_with_a_reason_and_counts_again(desk, entry, at):
    path = at(f"entries/{entry.pk}/")
    desk.post(path, {"act": "disqualify", "reason": "Two accounts."})
    entry.refresh_from_db()
    assert (entry.disqualified_at is not None, entry.disqualified_reason) == (True, "Two accounts.")
    assert "Two accounts." in desk.get(path).content.decode()
    desk.post(path, {"act": "requalify"})
    entry.refresh_from_db()
    assert entry.disqualified_at is None
    assert [it.action for it in AuditEntry.objects.filter(detail__submission=entry.pk).order_by("id")] == [
        "submission.disqualify",
        "submission.requalify",
    ]


def test_an_entry_stands_at_an_organizers_word_though_its_team_withdrew_a_later_one(desk, phase, scored, people, at):
    earlier, later = scored(0.3, method_name="earlier"), scored(0.1, method_name="later")
    path = at(f"entries/{earlier.pk}/")
    assert "let_stand" not in desk.get(path).content.decode()
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now())
    later.withdraw()
    assert "let_stand" in desk.get(path).content.decode()
    assert refusal(desk.post(path, {"act": "let_stand", "reason": ""})) == "no_reason"
    desk.post(path, {"act": "let_stand", "reason": "Another licence."})
    earlier.refresh_from_db()
    kept = line("submission.let_stand")
    assert earlier.let_stand_at is not None and "let_stand" not in desk.get(path).content.decode()
    assert (kept.actor, kept.detail["reason"], kept.detail["submission"]) == (people.organizer, "Another licence.", earlier.pk)
    assert refusal(desk.post(path, {"act": "let_stand", "reason": "x"})) == "not_kept_off"


def test_badges_are_given_and_taken(desk, entry, at):
    path = at(f"entries/{entry.pk}/")
    desk.post(path, {"act": "mark", "is_baseline": "on", "is_verified": "on"})
    entry.refresh_from_db()
    assert entry.is_baseline and entry.is_verified
    desk.post(path, {"act": "mark", "is_verified": "on"})
    entry.refresh_from_db()
    assert (entry.is_baseline, entry.is_verified) == (False, True)
    kept = AuditEntry.objects.filter(action="submission.mark").first()
    assert (kept.detail["before"]["is_baseline"], kept.detail["after"]["is_baseline"]) == (True, False)


def test_a_failed_entry_is_retried_and_a_waiting_one_cancelled(desk, entry, at):
    path = at(f"entries/{entry.pk}/")
    assert refusal(desk.post(path, {"act": "retry"})) == "not_failed"
    entry.fail(Why(Reason.ROOM), "Traceback: secret")
    desk.post(path, {"act": "retry"})
    entry.refresh_from_db()
    assert entry.status == "received"
    kept = line("submission.retry")
    assert (kept.detail["before"]["status"], kept.detail["before"]["reason"]) == ("failed", Reason.ROOM)
    desk.post(path, {"act": "cancel"})
    entry.refresh_from_db()
    assert entry.status == "cancelled" and line("submission.cancel")


def test_what_a_team_does_with_its_own_entry_is_not_in_the_log(entry, people):
    entry.fail(Why(Reason.ROOM))
    entry.retry(people.mate)
    entry.cancel(people.owner)
    assert not AuditEntry.objects.filter(action__startswith="submission.").exists()


def test_tracebacks_are_for_staff_only(client, entry, people, at):
    entry.fail(Why(Reason.ROOM), "Traceback: secret")
    for user, shown in ((people.organizer, False), (people.staff, True)):
        client.force_login(user)
        text = client.get(at(f"entries/{entry.pk}/")).content.decode()
        assert ("Traceback: secret" in text) == shown


def test_entries_are_filtered_by_state_mark_phase_and_text(desk, entry, people, phase, at):
    other = received(phase, people.other_team, archive(gables(2)), method_name="Other way")
    other.hide(people.organizer, "Test")
    path = at("entries/")

    def found(**query) -> set[str]:
        return {row.method_name for row in desk.get(path, query).context["rows"]}

    assert found() == {"method", "Other way"}
    assert found(flag="hidden") == {"Other way"}
    assert found(q="valley") == {"Other way"}
    assert found(status="scored") == set()
    assert found(phase=phase.slug, status="received") == {"method", "Other way"}
    assert found(page="nonsense", flag="nonsense", status="nonsense") == {"method", "Other way"}


def test_an_entry_of_another_challenge_is_not_found(desk, people, phase, at):
    from tests.support.factories import TeamFactory, give_reference

    elsewhere = PhaseFactory()
    give_reference(elsewhere)
    foreign = received(elsewhere, TeamFactory(challenge=elsewhere.challenge), archive(gables()))
    assert desk.get(at(f"entries/{foreign.pk}/")).status_code == 404
    assert desk.post(at(f"entries/{foreign.pk}/"), {"act": "hide", "reason": "x"}).status_code == 404


def test_a_reevaluation_moves_and_ends(desk, phase, scored, people, at):
    scored(0.1)
    path = at(f"phases/{phase.slug}/scoring/")
    desk.post(path, {"act": "reevaluate", "reason": "Newer code"})
    batch = EvaluationBatch.latest(phase)
    assert (batch.state, batch.reason, batch.created_by) == ("building", "Newer code", people.organizer)
    parts = Part.objects.filter(evaluation__batch=batch)
    parts.filter(pk=parts[0].pk).update(state="done")
    text = desk.get(f"{path}progress/").content.decode()
    assert 'value="1"' in text and 'max="4"' in text and "every 2s" in text
    parts.update(state="waiting")
    drain()
    assert "every 2s" not in desk.get(f"{path}progress/").content.decode()
    assert AuditEntry.objects.filter(action="phase.reevaluate").first().detail["reason"] == "Newer code"


def test_a_failed_member_is_retried_or_left_out(desk, phase, scored, people, at):
    scored(0.1)
    path = at(f"phases/{phase.slug}/scoring/")
    desk.post(path, {"act": "reevaluate", "reason": ""})
    member = Evaluation.objects.get(batch=EvaluationBatch.latest(phase))
    assert desk.post(path, {"act": "exclude", "member": str(member.pk)}).status_code == 404  # it has not failed
    member.fail(Why(Reason.MEMORY, {"megabytes": 9}), "Traceback: secret")
    assert "Traceback: secret" not in desk.get(path).content.decode()
    desk.post(path, {"act": "retry", "member": str(member.pk)})
    again = Evaluation.objects.get(batch=EvaluationBatch.latest(phase))
    before = line("batch.retry").detail["before"]
    assert (again.state, before["reason"], before["numbers"]) == ("running", "memory", {"megabytes": 9})
    again.fail(Why(Reason.MEMORY, {"megabytes": 9}), "")
    desk.post(path, {"act": "exclude", "member": "all"})
    assert EvaluationBatch.current(phase).evaluations.get().state == "excluded"
    assert line("batch.exclude").actor == people.organizer


def test_a_reevaluation_is_stopped_and_the_board_stays(desk, phase, scored, at):
    scored(0.1)
    first = EvaluationBatch.current(phase)
    path = at(f"phases/{phase.slug}/scoring/")
    desk.post(path, {"act": "reevaluate"})
    desk.post(path, {"act": "cancel"})
    assert EvaluationBatch.latest(phase) == first
    assert line("batch.cancel").detail == {"before": {"state": "building"}, "after": {"state": "cancelled"}, "batch": first.pk + 1}
    assert refusal(desk.post(path, {"act": "cancel"})) == "not_building"


def test_stale_metrics_are_pointed_out(desk, phase, at):
    path = at(f"phases/{phase.slug}/scoring/")
    assert not desk.get(path).context["is_stale"]
    phase.metrics.filter(slug="hss").update(params={"sections": 8})
    assert desk.get(path).context["is_stale"]


def test_participants_are_approved_and_declined(desk, challenge, people, at):
    asks = Participation.objects.create(challenge=challenge, user=UserFactory(username="asks"))
    path = at("participants/")
    desk.post(path, {"act": "admitted", "participation": str(asks.pk)})
    asks.refresh_from_db()
    assert (asks.admission, asks.decided_by) == (Admission.ADMITTED, people.organizer)
    desk.post(path, {"act": "declined", "participation": str(asks.pk)})
    asks.refresh_from_db()
    assert asks.admission == Admission.DECLINED
    kept = line("participation.declined")
    assert (kept.target, kept.detail) == ("asks", {"before": {"admission": "admitted"}, "after": {"admission": "declined"}})
    assert [row.user.username for row in desk.get(path, {"state": "declined"}).context["rows"]] == ["asks"]
    assert [row.user.username for row in desk.get(path, {"q": "OWN"}).context["rows"]] == ["owner"]


def test_a_team_gets_more_uploads_with_a_reason(desk, phase, people, at):
    phase.limit_total = 1
    phase.save()
    received(phase, people.team, archive(gables()))
    assert not quota_of(phase, people.team).allowed
    path = at(f"teams/{people.team.pk}/")
    assert faults(desk.post(path, {"phase": str(phase.pk), "amount": "2", "reason": ""})) == {"reason": ["required"]}
    desk.post(path, {"phase": str(phase.pk), "amount": "2", "reason": "Cut by a proxy."})
    assert quota_of(phase, people.team).left_total == 2
    assert ExtraTries.objects.get().granted_by == people.organizer
    kept = line("team.grant")
    assert kept.detail == {"reason": "Cut by a proxy.", "before": {"extra_tries": 0}, "after": {"extra_tries": 2}}
    assert "Cut by a proxy." in desk.get(path).content.decode()
    imported = PhaseFactory(challenge=phase.challenge, results_source="a paper")
    assert faults(desk.post(path, {"phase": str(imported.pk), "amount": "2", "reason": "r"})) == {"phase": ["invalid_choice"]}


def test_the_log_shows_who_did_what_with_the_values(desk, entry, people, at):
    entry.hide(people.organizer, "Test set used.")
    text = desk.get(at("audit/"), {"kind": "submission"}).content.decode()
    assert "submission.hide" in text and "Test set used." in text and "organizer" in text
    assert "submission.hide" not in desk.get(at("audit/"), {"q": "nobody"}).content.decode()
    assert desk.post(at("audit/")).status_code == 405


def test_texts_of_people_are_shown_as_text(desk, entry, at):
    Submission.objects.update(method_name="<script>alert(1)</script>", description="<img src=x onerror=alert(1)>")
    text = desk.get(at(f"entries/{entry.pk}/")).content.decode()
    assert "<script>alert" not in text and "onerror" not in text


def test_a_batch_says_how_long_it_will_still_take(phase):
    begun = timezone.now() - timedelta(seconds=60)
    batch = EvaluationBatch(phase=phase, created_at=begun)
    assert _seconds_left(batch, {"done": 0, "total": 5}) is None
    assert _seconds_left(batch, {"done": 2, "total": 4}) == pytest.approx(60, abs=1)  # two took 60 s, two are waiting
    assert _seconds_left(batch, {"done": 5, "total": 5}) == 0

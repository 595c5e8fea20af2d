"""Acts on phases: each is kept in the log, and asks first where it shows or takes something away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.bundle.parse_time import moment_text
from leaderboard.console.forms.challenge import MOMENTS
from submissions.models import AuditEntry, Phase
from tests.support.factories import archive, gables, received
from tests.support.leaderboard.console.acts import confirm, latest, phase_form
from tests.support.pages import faults, refusal


def test_a_new_phase_takes_its_moments_on_its_own_clocks(desk, challenge, at):
    values = phase_form(Phase(challenge=challenge), slug="final", title="Final", time_zone="Europe/Prague", opens_at="2026-07-01T09:00")
    answer = desk.post(at("new-phase/"), values)
    assert answer.url == at("phases/final/metrics/")
    assert challenge.phases.get(slug="final").opens_at == datetime(2026, 7, 1, 7, tzinfo=UTC)
    assert challenge.audit.filter(action="phase.add", target="phase final").exists()


@pytest.mark.parametrize(
    ("field", "value", "at_field"),
    [
        ("opens_at", "2026-03-29T02:30", "opens_at"),  # an hour that the clocks skip
        ("opens_at", "soon", "opens_at"),
        ("closes_at", "2020-01-01T00:00", "closes_at"),
        ("time_zone", "Europe/Pragu", "time_zone"),
        ("slug", "rules", "slug"),
        ("unit_scale", "0", "unit_scale"),
        ("board", "hidden", "board_at"),
    ],
)
def test_what_a_phase_cannot_be_is_said_at_the_field(desk, challenge, at, field, value, at_field):
    values = phase_form(Phase(challenge=challenge), slug="final", title="Final", time_zone="Europe/Prague", opens_at="2026-01-01T09:00")
    assert list(faults(desk.post(at("new-phase/"), {**values, field: value}))) == [at_field]
    assert not challenge.phases.exists()


def test_saving_without_a_change_writes_nothing(desk, phase, at):
    assert desk.post(at(f"phases/{phase.slug}/"), phase_form(phase)).status_code == 302
    assert not AuditEntry.objects.filter(action="phase.edit").exists()


def test_limits_and_board_of_a_phase_are_edited_with_a_line_in_the_log(desk, phase, people, at):
    before = {name: getattr(phase, name) for name in MOMENTS}
    desk.post(at(f"phases/{phase.slug}/"), phase_form(phase, limit_per_day="5", ranking="borda"))
    phase.refresh_from_db()
    assert (phase.limit_per_day, phase.ranking) == (5, "borda")
    assert {name: getattr(phase, name) for name in MOMENTS} == before  # also the parts of a second
    entry = latest(phase.challenge)
    assert (entry.action, entry.actor) == ("phase.edit", people.organizer)
    assert entry.detail == {"before": {"ranking": "primary"}, "after": {"limit_per_day": 5, "ranking": "borda"}}


def test_an_hour_that_comes_twice_survives_a_visit_of_its_form(desk, phase, at):
    at_night = datetime(2027, 10, 31, 1, 30, tzinfo=UTC)
    Phase.objects.filter(pk=phase.pk).update(time_zone="Europe/Prague", closes_at=at_night)
    phase.refresh_from_db()
    assert moment_text(at_night, phase.zone).endswith("+01:00")
    desk.post(at(f"phases/{phase.slug}/"), phase_form(phase, limit_total="9"))
    phase.refresh_from_db()
    assert (phase.closes_at, phase.limit_total) == (at_night, 9)


def test_showing_the_reference_is_confirmed(desk, phase, at):
    answer = desk.post(at(f"phases/{phase.slug}/"), phase_form(phase, reference_access="public"))
    assert answer.context["plan"].needs_confirmation
    assert Phase.objects.get().reference_access == "hidden"


def test_a_freeze_that_would_empty_the_public_board_asks_first(desk, phase, people, at):
    entry = received(phase, people.team, archive(gables()))
    entry.phase.submissions.update(status="scored")
    past = (timezone.now() - timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M")
    answer = desk.post(at(f"phases/{phase.slug}/"), phase_form(phase, board="frozen", board_at=past, time_zone="UTC"))
    assert answer.context["plan"].needs_confirmation
    assert Phase.objects.get().board == "live"
    confirm(desk, answer)
    assert Phase.objects.get().board == "frozen"


def test_an_empty_phase_is_removed_after_confirming_and_one_with_entries_stays(desk, phase, people, at):
    path = at(f"phases/{phase.slug}/")
    answer = desk.post(path, {"act": "remove"})
    assert Phase.objects.exists()
    received(phase, people.team, archive(gables()))
    assert refusal(desk.post(path, {"act": "remove"})) == "plan_refused"
    phase.submissions.all().delete()
    confirm(desk, answer)
    assert not Phase.objects.exists()
    assert AuditEntry.objects.filter(action="phase.remove").exists()


def test_phases_are_put_in_another_order(desk, phase, at):
    Phase.objects.create(challenge=phase.challenge, slug="second", title="Second", position=1)
    desk.post(at(), {"act": "move", "slug": "second", "to": "up"})
    assert [it.slug for it in phase.challenge.phases.all()] == ["second", phase.slug]

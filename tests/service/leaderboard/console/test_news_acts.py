"""Acts on announcements."""

from __future__ import annotations

from submissions.models import Announcement
from tests.support.leaderboard.console.acts import confirm


def test_announcements_are_published_corrected_and_taken_back(desk, challenge, people, at):
    desk.post(at("news/"), {"title": "Data", "body": "It is there."})
    row = Announcement.objects.get()
    desk.post(at(f"news/{row.pk}/"), {"title": "Data", "body": "It is **there**."})
    row.refresh_from_db()
    assert row.body == "It is **there**."
    confirm(desk, desk.post(at(f"news/{row.pk}/"), {"act": "remove"}))
    assert not Announcement.objects.exists()
    actions = list(challenge.audit.filter(actor=people.organizer).order_by("id").values_list("action", flat=True))
    assert actions == ["announcement.add", "announcement.edit", "announcement.remove"]

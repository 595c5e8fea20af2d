"""Acts on who organizes the challenge."""

from __future__ import annotations

from tests.support.leaderboard.console.acts import confirm, latest


def test_organizers_are_added_and_removed_and_one_always_stays(desk, challenge, people, at):
    path = at("organizers/")
    assert "has no account here" in desk.post(path, {"act": "add", "name": "nobody"}, follow=True).content.decode()
    desk.post(path, {"act": "add", "name": "stranger"})
    assert people.stranger in challenge.organizers.all()
    assert latest(challenge).action == "organizer.add"
    confirm(desk, desk.post(path, {"act": "remove", "name": "stranger"}))
    assert people.stranger not in challenge.organizers.all()
    answer = desk.post(path, {"act": "remove", "name": "organizer"})
    assert answer.status_code == 302 and people.organizer in challenge.organizers.all()

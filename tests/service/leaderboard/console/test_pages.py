"""Pages of the console: they open for an empty challenge, and count as others do. `test_routes.py` says to whom each page opens."""

from __future__ import annotations

import re

from django.urls import reverse

from leaderboard.console.urls import urlpatterns
from tests.support.factories import TeamFactory, archive, gables, received
from tests.support.leaderboard import scores


def test_an_act_that_a_page_does_not_have_is_not_found(desk, at, phase, people):
    entry = received(phase, people.team, archive(gables()))
    pages = ["", "organizers/", "participants/", "files/", "pages/", f"entries/{entry.pk}/"]
    for page in pages + [f"phases/{phase.slug}/{name}/" for name in ("metrics", "scoring")]:
        assert desk.post(at(page), {"act": "explode"}).status_code == 404, page


def test_teams_are_counted_as_the_challenges_own_page_counts_them(client, phase, people):
    counted = TeamFactory(challenge=phase.challenge, name="Without an entry")
    baselines = TeamFactory(challenge=phase.challenge, name="Organizers")
    scores.entry(phase, baselines, {"hss": [0.5] * 4}, is_baseline=True)
    teams = set(phase.challenge.teams.all()) - {baselines}
    assert counted in teams and set(phase.challenge.teams.joined()) == teams
    client.force_login(people.organizer)
    row = client.get("/console/").content.decode().partition(f">{phase.challenge.slug}</small>")[2].partition("</tr>")[0]
    phases, shown = (int(n) for n in re.findall(r'<td class="n">(\d+)</td>', row))
    assert (phases, shown) == (1, len(teams))
    assert f"{len(teams)} teams joined" in client.get(f"/challenges/{phase.challenge.slug}/").content.decode()


def test_every_page_opens_for_an_empty_challenge(client, people, challenge):
    client.force_login(people.staff)
    no_pages = ("console_bundle", "console_markdown")
    plain = [it.name for it in urlpatterns if set(it.pattern.converters) == {"challenge"} and it.name not in no_pages]
    assert len(plain) == 18
    for name in plain:
        assert client.get(reverse(name, args=[challenge.slug])).status_code == 200, name


def test_a_phase_is_not_offered_what_comes_after_it_as_what_comes_before(phase):
    from leaderboard.console.forms.challenge import PhaseForm
    from tests.support.factories import PhaseFactory

    child = PhaseFactory(challenge=phase.challenge, parent=phase)
    PhaseFactory(challenge=phase.challenge, parent=child)
    other = PhaseFactory(challenge=phase.challenge)
    assert list(PhaseForm(instance=phase).fields["parent"].queryset) == [other]
    assert set(PhaseForm(instance=child).fields["parent"].queryset) == {phase, other}

"""Every page of the console opens, says what is missing, and opens to nobody else."""

from __future__ import annotations

import re
import tempfile
from datetime import timedelta
from pathlib import Path

from django.urls import reverse
from django.utils import timezone

from leaderboard.console.urls import urlpatterns
from leaderboard.models import MetricChallenge
from leaderboard.studies.judge import planning
from leaderboard.studies.judge.planning import Wish
from submissions.models import Announcement, Submission
from tests.support.evaluation import programs
from tests.support.factories import TeamFactory, archive, gables, received
from tests.support.leaderboard import scores
from tests.support.leaderboard.studies.judge.studies import entry as stored
from tests.support.leaderboard.studies.judge.studies import study_of

OF_NOBODY = ("console", "console_new", "console_prompts", "console_judge_account")
OF_RENDERS = ("console_regions", "console_scene_regions", "console_reference_picture")  # not there for other families
OF_PREVIEW = ("console_preview_next", "console_preview_answer", "console_preview_undo", "console_preview_scene", "console_preview_file")


def addresses(phase, people) -> dict[str, str]:
    """Every route of the console with real places in it."""
    entry = Submission.objects.first() or received(phase, people.team, archive(gables()))
    news, _ = Announcement.objects.get_or_create(challenge=phase.challenge, title="News")
    page, _ = phase.challenge.pages.get_or_create(slug="faq", title="FAQ")
    study = study_of(phase, {str(n): stored(phase, str(n), dict(gables())) for n in range(2)}, key="key", criteria=[])
    run = planning.make(study, None, "seer", Wish("wireframe", 4))
    places = {"challenge": phase.challenge.slug, "phase": phase.slug, "key": "hss", "metric": "edge_f1", "study": study.slug, "answer": 1}
    places |= {"scene": "garden", "version": 1, "item": "garden/view_1", "token": "preview-0", "name": "left.mesh", "slug": page.slug}
    rows = {"console_team": people.team.pk, "console_entry": entry.pk, "console_news_edit": news.pk}
    with tempfile.TemporaryDirectory() as folder:
        program = programs.ready(phase.challenge, Path(folder) / "program")
    closes_at = timezone.now() + timedelta(days=1)
    rows["console_metric_challenge"] = MetricChallenge.objects.create(study=study, title="Metrics", closes_at=closes_at).pk
    rows |= dict.fromkeys(("console_program", "console_program_file"), program.pk)
    rows |= dict.fromkeys(("console_judge", "console_judge_progress", "console_judge_image", "console_judge_answers"), run.pk)
    found = {}
    for pattern in urlpatterns:
        names = pattern.pattern.converters
        found[pattern.name] = reverse(pattern.name, kwargs={name: rows[pattern.name] if name == "pk" else places[name] for name in names})
    return found


def test_every_page_and_act_is_for_the_organizer_alone(client, phase, people):
    pages = addresses(phase, people)
    for name, address in pages.items():
        answer = client.get(address)
        assert answer.status_code == 302 and "/accounts/login/" in answer["Location"], name
    for person in ("owner", "other_organizer"):
        client.force_login(people.users()[person])
        for name, address in pages.items():
            if name not in OF_NOBODY:
                assert client.get(address).status_code in (403, 404), (person, name)
                assert client.post(address, {"act": "remove"}).status_code in (403, 404), (person, name)
    phase.challenge.visibility = "draft"
    phase.challenge.save()
    client.force_login(people.stranger)
    assert client.get(pages["console_challenge"]).status_code == 404, "a draft is not there for others"
    client.force_login(people.organizer)
    for name, address in pages.items():
        if name not in ("console_new", "console_markdown", *OF_PREVIEW, *OF_RENDERS):
            # A stored file may be given by an address of the storage itself.
            assert client.get(address).status_code in ((200, 302) if name == "console_program_file" else (200,)), name
    for name in ("challenge", "metrics", "scoring", "entry", "organizers", "participants", "files", "pages"):
        assert client.post(pages[f"console_{name}"], {"act": "explode"}).status_code == 404, name


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

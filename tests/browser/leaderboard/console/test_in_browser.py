"""The console in a browser: nothing is refused by the content security policy, nothing sticks out on a
phone, and a change that scores entries anew is shown, confirmed and followed."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.models import EvaluationBatch
from evaluation.work.worker import drain
from leaderboard.console.urls import urlpatterns
from leaderboard.models import MetricChallenge
from leaderboard.studies.judge import planning
from leaderboard.studies.judge.planning import Wish
from submissions.formats.wireframe.wireframe_files import unpack
from submissions.models import Announcement, Submission
from submissions.storage import stored_files
from tests.support.evaluation import programs
from tests.support.factories import archive, gables, perturbed, received
from tests.support.leaderboard import scores
from tests.support.leaderboard.studies.judge.studies import entry as stored
from tests.support.leaderboard.studies.judge.studies import study_of

pytestmark = [pytest.mark.django_db(transaction=True)]
OF_RENDERS = ("console_regions", "console_scene_regions", "console_reference_picture")  # not there for other families
OF_PREVIEW = ("console_preview_next", "console_preview_answer", "console_preview_undo", "console_preview_scene", "console_preview_file")
NO_PAGES = (
    "console_new",
    "console_bundle",
    "console_markdown",
    "console_scoring_progress",
    "console_metric_evidence",
    "console_judge_progress",
    "console_judge_image",
    "console_judge_answers",
    "console_raters_file",
    "console_study_design",
    "console_practice_file",
    "console_program_file",
    *OF_PREVIEW,
    *OF_RENDERS,
)


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


def test_every_page_fits_a_phone(tab, phase, people):
    for name, address in addresses(phase, people).items():
        if name not in NO_PAGES:
            tab.goto(address)
            assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name
            assert tab.locator("h1, h2").count() > 0, name


def test_a_parameter_is_changed_confirmed_and_the_scoring_followed(tab, phase, people):
    items = unpack(stored_files.store().read(phase.references.get().key))
    received(phase, people.team, archive(perturbed(items, 0.1)))
    drain()
    root = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/"
    tab.goto(f"{root}metrics/edit/hss/")
    tab.get_by_label("vert_thresh").fill("0.25")
    tab.get_by_role("button", name="Save").click()
    assert EvaluationBatch.objects.count() == 1, "nothing changes before it is confirmed"
    tab.get_by_role("button", name="Make these changes").click()
    tab.locator(".messages .success").wait_for()
    assert EvaluationBatch.objects.filter(state="building").count() == 1
    tab.goto(f"{root}scoring/")
    bar = tab.locator("#batch progress")
    assert (bar.get_attribute("value"), bar.get_attribute("max")) == ("0", "4")  # houses
    drain()
    tab.get_by_role("heading", name="Up to date").wait_for()
    assert "Being scored" not in tab.locator("#scoring").inner_text(), "the history has moved on, too"
    assert EvaluationBatch.current(phase).metrics[2]["params"]["vert_thresh"] == 0.25


def test_a_text_is_shown_as_its_page_will_while_it_is_written(tab, phase):
    tab.goto(f"/console/challenges/{phase.challenge.slug}/pages/")
    field, shown = tab.get_by_label("Text"), tab.locator(".preview")
    field.fill("# Prizes")
    assert not shown.is_visible()
    tab.get_by_role("button", name="Preview", exact=True).click()
    shown.get_by_role("heading", name="Prizes").wait_for()
    field.fill("| a |\n|--|\n| b |")
    shown.get_by_role("cell", name="b").wait_for()
    tab.get_by_role("button", name="Close the preview").click()
    assert not shown.is_visible()


def test_the_clock_of_a_phase_is_filled_by_the_browsers_own_control(tab, phase):
    tab.goto(f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/")
    assert tab.get_by_label("Opens").input_value() == f"{phase.opens_at:%Y-%m-%dT%H:%M:%S}".removesuffix(":00")
    tab.get_by_label("Closes").fill("2030-06-01T12:30")
    tab.get_by_role("button", name="Save").click()
    phase.refresh_from_db()
    assert f"{phase.closes_at:%Y-%m-%d %H:%M %Z}" == "2030-06-01 12:30 UTC"


def test_a_new_study_asks_for_what_its_kind_has_and_shows_choices_in_full(tab, phase, people):
    for n in range(2):
        scores.entry(phase, people.team, {}, method_name=f"a method whose name is so long that no narrow choice shows all of it, {n}")
    tab.goto(f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/new/")
    of_pairs = ["criteria_pairs", "repeat_percent", "gold_percent", "gold_better", "gold_worse"]
    for kind, shown, hidden in (("opinions", ["criteria_opinions"], of_pairs), ("pairs", of_pairs, ["criteria_opinions"])):
        tab.check(f"input[name=kind][value={kind}]")
        assert [name for name in shown if not tab.locator(f"[name={name}]").first.is_visible()] == []
        assert [name for name in hidden if tab.locator(f"[name={name}]").first.is_visible()] == []
        assert tab.locator("[name=plan][value=informative]").is_visible() == (kind == "pairs")
    tab.set_viewport_size({"width": 1440, "height": 900})
    for name in ("gold_better", "gold_worse"):
        assert tab.locator(f"select[name={name}]").evaluate("e => (e.style.width = 'auto', e.scrollWidth <= e.parentElement.clientWidth)")

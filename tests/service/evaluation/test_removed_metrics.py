"""A column whose metric was removed: its values stay on every page, the console replaces it, and a bundle cannot name it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from evaluation.models import EvaluationBatch, SuiteRun, sanity_tests
from leaderboard.bundle.parse import parse
from submissions.formats.yaml_document import DocumentError
from submissions.models import Phase
from tests.support.evaluation.retired import add_column
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, UserFactory, give_reference
from tests.support.leaderboard.console.acts import confirm
from tests.support.leaderboard.scores import entry, with_files
from tests.support.pictures import renders, views
from tests.support.scenes import write_folder

pytestmark = pytest.mark.django_db
KEY = "lpips_plumbline_small"


@pytest.fixture
def phase() -> Phase:
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"))
    give_reference(phase, views(2), metrics=[{"slug": "psnr", "key": "psnr", "is_primary": True}])
    add_column(phase, "style", KEY)
    return phase


@pytest.fixture
def desk(client, phase):
    organizer = UserFactory(username="olga")
    phase.challenge.organizers.add(organizer)
    client.force_login(organizer)
    return client


def test_every_page_that_names_the_column_shows_its_values_and_nothing_asks_for_new_ones(desk, phase):
    it = with_files(entry(phase, TeamFactory(challenge=phase.challenge), {"psnr": [20.0, 21.0], "style": [0.25, 0.75]}), renders(2))
    EvaluationBatch.publish_manifest(phase)
    phase.refresh_from_db()
    names = [phase.challenge.slug, phase.slug]
    pages = {
        "entry": reverse("entry", args=[it.pk]),
        "entry_item": reverse("entry_item", args=[it.pk, "garden/view_1"]),
        "metric": f"{reverse('metric', args=[KEY])}?phase={'/'.join(names)}&column=style",
        "console_metrics": reverse("console_metrics", args=names),
        "console_scoring": reverse("console_scoring", args=names),
        "console_metric": reverse("console_metric", args=[*names, "style"]),
    }
    shown = {name: desk.get(path) for name, path in pages.items()}
    assert {name: page.status_code for name, page in shown.items()} == dict.fromkeys(pages, 200)
    text = {name: " ".join(page.content.decode().split()) for name, page in shown.items()}
    assert "0.5000" in text["entry"] and "no longer computed" in text["console_metrics"]
    assert "lpips_squeeze" in text["metric"]
    assert [one["slug"] for one in phase.manifest_data["metrics"]] == ["psnr"]
    sanity_tests.request_missing()
    assert not SuiteRun.objects.filter(key=KEY).exists()


def test_the_console_replaces_it_in_its_place(desk, phase):
    path = reverse("console_metrics", args=[phase.challenge.slug, phase.slug])
    answer = desk.post(path, {"act": "replace", "slug": "style", "key": "ssim"})
    confirm(desk, answer)
    assert [(metric.slug, metric.key) for metric in phase.metrics.all()] == [("psnr", "psnr"), ("ssim", "ssim")]
    assert desk.post(path, {"act": "replace", "slug": "psnr", "key": KEY}).status_code == 404
    assert desk.post(path, {"act": "replace", "slug": "psnr", "key": "corner_f1"}).status_code == 404


def test_a_bundle_that_names_it_is_refused_by_line(tmp_path):
    write_folder(views(1), tmp_path / "reference")
    (tmp_path / "challenge.yaml").write_text(
        "slug: rooms\ntitle: Rooms\nfamily: render\nphases:\n  - slug: one\n    title: One\n    opens_at: 2026-01-01T00:00\n"
        f"    metrics: [{{key: {KEY}}}]\n    reference: {{path: reference}}\n"
    )
    with pytest.raises(DocumentError) as caught:
        parse(tmp_path)
    (problem,) = caught.value.problems
    assert (problem.line, problem.key) == (8, "phases[0].metrics[0].key") and "lpips_squeeze" in problem.reason

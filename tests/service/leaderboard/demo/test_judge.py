"""The demo's simulated judge: it says that it is made up wherever it speaks, and is a little better than chance."""

from __future__ import annotations

import pytest
from django.urls import reverse

from leaderboard.demo.judge import simulated_judge
from leaderboard.models import StudyVote
from leaderboard.studies.analysis import analyse_due
from tests.support.factories import gables, perturbed
from tests.support.leaderboard.studies.judge.studies import entry, study_of

pytestmark = pytest.mark.django_db
SCALES = {f"n{n}": 0.01 + 0.3 * n for n in range(5)}


@pytest.fixture
def judged(phase):
    study = study_of(phase, {name: entry(phase, name, perturbed(gables(), scale)) for name, scale in SCALES.items()}, simulated=True)
    samples = phase.batches.get(state="current").reference.groups
    return study, {(name, sample): -scale for name, scale in SCALES.items() for sample in samples}


def test_it_is_simulated_by_name_and_in_every_text(judged, client, people):
    study, liking = judged
    run = simulated_judge(study, None, {"overall": liking})
    assert run.state == "done" and run.n_answered == run.n_planned > 20 and run.left == 0 and run.requests == 0
    assert run.rater.name.startswith("simulated judge · wireframe · 2") and run.is_for_display_only
    assert [answer for answer in run.answers.all() if not answer.said[0]["text"].startswith("Simulated: ")] == []
    right = [liking[a.left.label, a.sample] > liking[a.right.label, a.sample] for a in run.answers.select_related("left", "right")]
    said = [answer.said[0]["verdicts"] == [-1] for answer in run.answers.all()]
    alike = sum(a == b for a, b in zip(right, said, strict=True)) / len(said)
    assert 0.55 < alike < 0.95 and 0 < sum(said) < len(said)
    again = simulated_judge(study, None, {"overall": liking})
    assert [a.said for a in again.answers.all()] == [a.said for a in run.answers.all()]
    entries = {one.label: one for one in study.entries.all()}
    rater = study.raters.create(name="r")
    for sample in {sample for _, sample in liking}:
        StudyVote.objects.create(study=study, rater=rater, sample=sample, left=entries["n0"], right=entries["n4"], choice="left")
    while analyse_due():
        pass
    page = client.get(reverse("study", args=[study.phase.challenge.slug, study.phase.slug, study.slug])).content.decode()
    # One for display only is in no table, chart or order: its own heading says so.
    assert 'aria-label="Judges and people"' not in page and "simulated judge · wireframe" not in page.partition('id="judges"')[0]
    assert "simulated judge · wireframe" in page and "display only" in page
    client.force_login(people.organizer)
    address = reverse("console_judge", args=[study.phase.challenge.slug, study.phase.slug, study.slug, run.pk])
    assert "Simulated: " in client.get(address).content.decode()

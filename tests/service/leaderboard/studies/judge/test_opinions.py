"""A judge on a study of opinion scores: asked on the samples that were scored, its Elo among the metrics of page and board."""

from __future__ import annotations

import pytest
from django.urls import reverse
from scipy import stats

from leaderboard.boards import human_agreement
from leaderboard.boards.people import People
from leaderboard.models import Opinion, Rater
from leaderboard.stats.minimums import ITEMS_FOR_LEFT_SHARE
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.judge.materials import Materials
from leaderboard.wording.reasons import sentence
from tests.support.leaderboard.people import board
from tests.support.leaderboard.studies.judge.studies import QUALITY, answered, study_of_objects

pytestmark = pytest.mark.django_db
SCORES = {"ruby": (5, 4), "opal": (4, 4), "onyx": (2, 3), "coal": (1, 1)}


@pytest.fixture
def study(phase):
    phase.batches.all().delete()
    study = study_of_objects(phase, kind="opinions")
    entries = {entry.label: entry for entry in study.entries.all()}
    for n in range(2):
        rater = Rater.objects.create(study=study, name=f"jane{n}", group="experts")
        for sample in ("0", "2"):
            for label, scores in SCORES.items():
                for criterion in ("overall", "semantic"):
                    Opinion.objects.create(
                        study=study, rater=rater, sample=sample, entry=entries[label], criterion=criterion, score=scores[n]
                    )
    return study


def test_it_is_asked_about_the_samples_that_were_scored(study):
    assert Materials(study).samples() == ["0", "2"]
    run = answered(study)
    assert run.n_planned == 6 * 2 and {answer.sample for answer in run.answers.all()} == {"0", "2"}


def test_its_elo_stands_in_a_table_of_judges(study, client, people):
    run = answered(study)
    while analyse_due():
        pass
    (line,) = study.analyses.get(criterion="overall").content["judges"]
    elo = {row["method"]: row["elo"] for row in run.result["criteria"]["overall"]["rows"]}
    means = [sum(SCORES[name]) / 2 for name in sorted(QUALITY)]
    values = [elo[name] for name in sorted(QUALITY)]
    assert line["order"]["plcc"] == pytest.approx(stats.pearsonr(values, means)[0])
    assert line["order"]["krocc"] == pytest.approx(stats.kendalltau(values, means)[0]) and line["order"]["n"] == 4
    assert study.analyses.get(criterion="semantic").content["judges"] == []  # it was not asked that
    place = [study.phase.challenge.slug, study.phase.slug, study.slug]
    page = client.get(f"{reverse('study', args=place)}?metric=seer-1 · one-view").content.decode()
    table = page.partition('aria-label="Judges and people"')[2].partition("</table>")[0]
    assert "seer-1 · one-view" in table and "figure-judge-1" in page
    few = Reason(Key.FEW_FOR_CORRELATION_INTERVAL, Counted.ENTRIES, need=8, have=4)
    assert sentence(few) in table and "no interval, n 4" in table
    assert f"than {ITEMS_FOR_LEFT_SHARE} items" in table and "left side" not in page  # two samples
    assert "seer-1 · one-view" not in page.partition('id="judges"')[0]  # nor among metrics
    client.force_login(people.organizer)
    judges = reverse("console_judges", args=place)
    assert judges in client.get(reverse("console_studies", args=place[:2])).content.decode()
    assert "Plan a run" in client.get(judges).content.decode()


def test_no_board_has_it_among_the_metrics(study):
    answered(study)
    while analyse_due():
        pass
    found = People(board(), human_agreement.of_phase(study.phase, True, [], {}))
    assert study.analyses.get(criterion="overall").summary.judges and found.charts() == []
    assert {line.slug for line in found.found.metrics} == {"constant", "coin", "size"}  # its reference has no image

"""A metric's page says in which studies it was compared with people, and tells nobody of a study they may not see."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from evaluation.metrics import registry
from evaluation.models import Score
from leaderboard.kinds import KINDS
from leaderboard.models import Study, StudyAnalysis
from leaderboard.records.people import Basis
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.meaning import Difference
from leaderboard.stats.minimums import ENTRIES_FOR_DIFFERENCE, RATERS_FOR_FIGURE
from leaderboard.stats.mos_table import Rating
from leaderboard.stats.records import plain
from leaderboard.stats.two_way_intervals import ALIKE
from leaderboard.studies.analysis import analyse_due
from leaderboard.views import metric_studies
from leaderboard.wording.agreement import STANDINGS
from leaderboard.wording.board import difference
from leaderboard.wording.reasons import sentence
from submissions.models import Challenge, Phase
from tests.service.leaderboard.studies.test_analysis import imported, judged, votes_for  # noqa: F401
from tests.service.leaderboard.views.test_metrics import text, words
from tests.support.leaderboard.stats.ballots import vote
from tests.support.leaderboard.studies.scored_houses import items

pytestmark = pytest.mark.django_db
PAGE = "/metrics/corner_f1/"
NOTHING = "Once people have compared entries"


@pytest.fixture
def studied(judged):  # noqa: F811
    """A phase with a public study in which eight raters prefer what corner F1 puts last."""
    phase, entries = judged
    study = imported(phase, votes_for(entries, items(phase), 1), simulated=True)
    analyse_due()
    return study


def seen(client) -> bool:
    page = text(client.get(PAGE))
    assert ("Which is closer?" in page) != (NOTHING in page)
    return "Which is closer?" in page


def test_it_says_where_how_far_by_whom_and_when(studied, client):
    phase, row = studied.phase, studied.analyses.get()
    line = next(one for one in row.summary.metrics if one.key == "corner_f1")
    assert (line.metric, line.fingerprint, line.title) == ("corner_f1", registry.fingerprint("corner_f1", {}), "Corner F1")
    html = text(client.get(PAGE))
    page = words(html)
    agreed = round(100 * line.decided.value)
    assert line.standing is Standing.WORSE_THAN_CHANCE
    assert f"{agreed} of 100 " in html and f"{agreed} {STANDINGS[line.standing][1]}" in page
    assert "by 8 raters, " in page and f"{row.finished_at:%B %Y}" in page
    assert f"{phase.challenge.title}, {phase.title}" in page and "simulated" in page
    assert reverse("study", args=[phase.challenge.slug, phase.slug, "people"]) in html
    assert f"]: {STANDINGS[line.standing][1]}" in page
    assert NOTHING in text(client.get("/metrics/sap3d/"))  # a metric that the phase does not have


def test_a_column_with_other_parameters_is_told_apart(studied, client):
    phase, batch = studied.phase, studied.phase.batches.get(state="current")
    phase.metrics.filter(slug="corner_f1").update(params={"tau": 0.2}, title="Tight corners")
    batch.metrics = [it.column().to_dict() for it in phase.metrics.all()]
    batch.save()
    StudyAnalysis.objects.update(wanted="again", state="waiting")
    assert analyse_due() == 1
    address = f"{PAGE}?phase={phase.challenge.slug}/{phase.slug}&column=corner_f1"
    page = text(client.get(PAGE))
    assert "Tight corners , with other parameters" in words(page) and address.replace("&", "&amp;") in page
    own = text(client.get(address))
    assert "Which is closer?" in own and "with other parameters" not in own
    used = Score.objects.filter(slug="corner_f1")
    assert used.update(fingerprint=batch.metrics[0]["fingerprint"], cost_ms=7.0)
    listed = words(text(client.get("/metrics/?kind=wireframe&source=simulated")))
    assert re.search(r"not measured 7(\.0)? ms", listed), "what it costs with these"
    batch.metrics = [it | {"fingerprint": "0" * 64} for it in batch.metrics]
    batch.save()
    StudyAnalysis.objects.update(wanted="anew", state="waiting")
    assert analyse_due() == 1
    assert client.get(address).context["studies"] == [] and len(client.get(PAGE).context["studies"]) == 1


def test_whoever_may_not_see_the_study_is_not_told(studied, client, people):
    phase = studied.phase
    assert seen(client)
    studied.publish(people.organizer, False)
    assert not seen(client)
    client.force_login(people.stranger)
    assert not seen(client)
    for who in (people.organizer, people.staff):
        client.force_login(who)
        assert seen(client) and "not public" in text(client.get(PAGE))
    client.force_login(people.other_organizer)
    assert not seen(client)
    studied.publish(people.organizer, True)
    client.logout()
    Challenge.objects.update(visibility="private")
    assert not seen(client)
    Challenge.objects.update(visibility="public")
    assert seen(client)
    later = timezone.now() + timedelta(days=1)
    for change in ({"opens_at": later, "closes_at": None}, {"board": "hidden", "board_at": later}):
        before = Phase.objects.filter(pk=phase.pk).values(*change).get()
        Phase.objects.filter(pk=phase.pk).update(**change)
        assert not seen(client), change
        Phase.objects.filter(pk=phase.pk).update(**before)
    assert seen(client)


def test_a_study_without_an_analysis_is_none_and_a_running_one_says_so(studied, client):
    Study.objects.update(state="open")
    assert "running" in text(client.get(PAGE))
    StudyAnalysis.objects.update(content=None)
    assert not seen(client)


def test_many_studies_cost_no_more_queries_than_one(studied, client, people, django_assert_max_num_queries):
    phase = studied.phase
    votes = list(studied.votes())
    for n in range(6):
        imported(phase, votes, slug=f"more-{n}", title=f"More {n}", is_public=n % 2 == 0)
    while analyse_due():
        pass
    for who in (None, people.organizer):
        if who:
            client.force_login(who)
        with django_assert_max_num_queries(20):
            response = client.get(PAGE)
        assert len(response.context["studies"]) == (7 if who else 4) and ("More 1" in text(response)) == bool(who)


@pytest.mark.parametrize(
    ("changes", "basis"),
    [
        ({"kind": "opinions", "of": "ratings", "n_raters": 6, "screened": ["a"]}, Basis(of="ratings", n=40, raters=5)),
        ({"kind": "opinions", "of": "ratings", "n_raters": None}, Basis(of="ratings", n=40, raters=None)),
        ({"kind": "opinions", "of": "means", "n_raters": 23}, Basis(of="means", n=40, raters=23)),
        ({"kind": "pairs", "n_raters": 1}, Basis(of="votes", n=40, raters=1)),
    ],
)
def test_raters_who_were_screened_are_not_counted_among_those_it_is_of(studied, changes, basis):
    summary = replace(studied.analyses.get().summary, **{"counted": 40} | changes)
    assert summary.basis == basis


def test_the_page_opens_with_a_figure_of_real_people_and_not_with_what_is_newest_and_too_early(studied, client):
    phase = studied.phase
    houses, entries = items(phase), list(phase.submissions.filter(status="scored"))
    few = [vote for vote in votes_for(entries, houses, 1) if vote.rater in ("r0", "r1", "r2")]
    imported(phase, few, slug="real", title="Of three people")
    assert analyse_due() == 1
    page = words(text(client.get(PAGE)))
    assert page.index("Of three people") < page.index("Which is closer?") and f"3 of {RATERS_FOR_FIGURE} raters" in page
    assert "simulated raters" in page
    studied.raters.first().study.delete()
    assert f"3 of {RATERS_FOR_FIGURE} raters" in words(text(client.get(PAGE))) and "simulated raters" not in text(client.get(PAGE))


def test_beside_figures_of_real_people_nothing_is_said_of_simulated_ones(studied, client):
    """The meaning of its differences, and where the metric contradicts people, is known from those whom its verdict is of."""
    phase, figures = studied.phase, studied.analyses.get()
    response = client.get(PAGE)
    assert f"2 entries, and {ENTRIES_FOR_DIFFERENCE} " in words(text(response)) and response.context["n_contradictions"] == 1
    known = Difference(2.0, 0.1, 0.3, 9, 20, 20, 8, 8, spread=0.01, tau=0.4, variance=0.01, df=7.0)
    column = next(one for one in figures.content["metrics"] if one["key"] == "corner_f1")
    column["difference"] = plain(known)
    figures.save()
    assert difference(known.at(0.3)) in words(text(client.get(PAGE)))
    entries = list(phase.submissions.filter(status="scored"))
    houses = items(phase)
    near, far = (entry.method_name for entry in entries)
    level = [vote(near, far, "left" if (k + n) % 2 else "right", f"r{k}", item) for k in range(8) for n, item in enumerate(houses)]
    imported(phase, level, slug="real", title="Of real people")
    assert analyse_due() == 1
    response = client.get(PAGE)
    page = words(text(response))
    assert f"]: {STANDINGS[Standing.AT_CHANCE][1]}" in page and "simulated raters" not in page
    assert response.context["n_contradictions"] == 0 and difference(known.at(0.3)) not in page
    Study.objects.filter(slug="real").delete()
    response = client.get(PAGE)
    assert difference(known.at(0.3)) in words(text(response)) and response.context["n_contradictions"] == 1


def test_where_it_contradicts_people_is_drawn_for_who_may_see_it_and_hidden_entries_are_not_told_of(studied, client, people):
    phase = studied.phase
    response = client.get(PAGE)
    page = text(response)
    told = words(page.partition('id="turned"')[2])
    assert response.context["n_contradictions"] == 1 and re.search(r"far off over near.* \[\d+, \d+\], by 64 votes", told)
    link = re.search(r'href="([^"]+)">Side by side on (\w+)<', page)
    assert client.get(link[1].replace("&amp;", "&")).status_code == 200
    drawing = 'aria-label="far off over the reference"'
    assert drawing not in page  # the reference is hidden
    client.force_login(people.organizer)
    assert drawing in text(client.get(PAGE))
    client.logout()
    phase.submissions.filter(method_name="near").update(hidden_at=timezone.now())
    assert client.get(PAGE).context["n_contradictions"] == 0 and 'id="turned"' not in text(client.get(PAGE))


def test_where_it_contradicts_people_is_said_with_its_number_of_answers_and_without_an_interval_that_there_is_not(judged, client):  # noqa: F811
    """Six people score eight houses: all give far off a point more, and in one study one score of each is another one."""
    phase, entries = judged
    houses = items(phase)
    alike = [Rating(f"r{k}", entry.method_name, 3.0 + n, item) for k in range(6) for item in houses for n, entry in enumerate(entries)]
    varied = [replace(one, score=5.0 - k) if k < 2 else one for k, one in enumerate(alike)]
    about = {"title": "Scores", "question": "How good?", "is_public": True}
    for slug, rows in (("alike", alike), ("varied", varied)):
        study = Study.import_ratings(phase, None, rows, slug=slug, **about)
        assert analyse_due() == 1
        told = words(text(client.get(PAGE)).partition('id="turned"')[2])
        table = words(text(client.get(reverse("study", args=[phase.challenge.slug, phase.slug, slug]))).partition('id="turned"')[2])
        if slug == "alike":
            assert re.search(r"1\.00 points higher ; .* 48 times", told) and "1.00 no interval, n 48" in table
        else:
            assert re.search(r"\d\.\d\d points higher \[\d\.\d\d, \d\.\d\d\]; .* 48 times\.", told)
            assert re.search(r"\d\.\d\d \[\d\.\d\d, \d\.\d\d\], n 48", table)
        study.delete()


def test_of_a_study_whose_answers_are_all_alike_the_page_does_not_say_that_there_is_none(judged, client):  # noqa: F811
    """Each metric has one value for both entries on every house: half of the comparisons, whoever wins them."""
    phase, entries = judged
    for score in Score.objects.filter(evaluation__submission__in=entries):
        Score.objects.filter(pk=score.pk).update(vector=np.full(8, 0.5).tobytes(), value=0.5)
    imported(phase, votes_for(entries, items(phase), 1))
    assert analyse_due() == 1
    response = client.get(PAGE)
    page = words(text(response))
    assert len(response.context["studies"]) == 1 and "50 of 100 comparisons (64 votes)" in page and sentence(ALIKE) in page


def test_of_a_kind_without_drawings_pictures_are_shown_to_who_may_see_them(studied, client, people, monkeypatch):
    kinds = {key: replace(kind, drawing="") for key, kind in KINDS.items()}
    monkeypatch.setattr(metric_studies, "KINDS", kinds)
    assert "posters/" not in text(client.get(PAGE)), "items of a hidden reference"
    client.force_login(people.organizer)
    addresses = re.findall(r'<img src="([^"]*posters/[^"]*)"', text(client.get(PAGE)))
    assert len(addresses) == 2 and "drawing" not in text(client.get(PAGE)).partition('id="turned"')[2].partition("</section>")[0]
    assert [address for address in addresses if client.get(address)["Content-Type"] != "image/webp"] == []
    client.logout()
    assert [address for address in addresses if client.get(address).status_code not in (302, 403, 404)] == []

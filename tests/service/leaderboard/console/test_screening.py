"""An organizer screens the raters of a study of opinion scores, and takes that back."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.models import Opinion, Rater, Study, StudyEntry
from leaderboard.studies.analysis import analyse_due
from submissions.errors import Refused
from submissions.models import AuditEntry
from tests.support.leaderboard.studies.live import making


@pytest.fixture
def study(phase, people) -> Study:
    """Four raters agree, and one says the opposite of what they do."""
    study = making.live(phase, people.organizer, making.entries(phase, people), kind="opinions", is_public=True)
    lead = study.criteria[0]["key"]
    for k in range(5):
        rater = Rater.objects.create(study=study, name="contrary" if k == 4 else f"rater{k}", joined_at=study.created_at)
        for sample in study.samples.all():
            for n, entry in enumerate(study.entries.order_by("id")):
                score = 1 + n if k == 4 else 5 - n - (k == 3 and n == 1)
                Opinion.objects.create(study=study, rater=rater, sample=sample.name, entry=entry, criterion=lead, score=score)
    computed()
    return study


def computed() -> None:
    while analyse_due():
        pass


@pytest.fixture
def place(study, people, client) -> str:
    client.force_login(people.organizer)
    return f"/console/challenges/{study.phase.challenge.slug}/phases/{study.phase.slug}/studies/"


def content(study) -> dict:
    return study.analyses.get().content


def test_who_is_below_is_shown_before_anybody_is_left_out(place, study, client):
    page = client.get(f"{place}{study.slug}/").content.decode()
    section = page[page.index('id="screening"') : page.index('id="entries"')]
    assert "less than 0.3" in section and "contrary" in section and "−1.00" in section and "counted" in section
    assert "rater0" not in section and "Leave out raters below 0.3" in section
    assert content(study)["screened"] == []


def test_the_switch_computes_anew_is_audited_and_can_be_taken_back(place, study, client):
    before = content(study)["scales"]
    page = client.post(f"{place}{study.slug}/", {"act": "screen"}, follow=True).content.decode()
    assert "made without screening" in page
    computed()
    page = client.get(f"{place}{study.slug}/").content.decode()
    assert "left out" in page and "being computed anew" not in page and "Count all raters" in page
    found = content(study)
    assert (found["screening"], found["screened"]) == (True, ["contrary"])
    assert found["counted"] == 4 * 8 and found["scales"] != before
    client.post(f"{place}{study.slug}/", {"act": "screen"})  # pressed twice: one line in the log
    client.post(f"{place}{study.slug}/", {"act": "unscreen"})
    computed()
    assert content(study)["scales"] == before
    lines = AuditEntry.objects.filter(action="study.screen").order_by("id").values_list("detail", flat=True)
    assert [line["after"] for line in lines] == [{"screens": True}, {"screens": False}]


def test_page_api_and_json_say_which_it_was(study, people):
    client, phase = Client(), study.phase
    page, api = f"/challenges/{phase.challenge.slug}/{phase.slug}/people/{study.slug}/", f"/api/v1/challenges/{phase.challenge.slug}/phases"
    api += f"/{phase.slug}/studies/{study.slug}"
    assert "All raters count" in client.get(page).content.decode()
    found = client.get(api).json()
    assert (found["screened"], found["raters"]) == (None, 5)
    study.screen(people.organizer, True)
    computed()
    said = client.get(page).content.decode()
    assert "Left out: 1 rater " in said and "r below 0.3" in said and "contrary" not in said
    found = client.get(api).json()
    assert (found["screened"], found["raters"]) == (1, 4)
    told = client.get(f"{page}analysis.json").json()["criteria"][study.criteria[0]["key"]]
    assert told["screening"] is True and len(told["screened"]) == 1


def test_a_study_that_was_brought_in_is_screened_from_the_list(place, study, client, phase, people):
    brought = Study.objects.create(phase=phase, slug="theirs", title="Theirs", question="How good?", kind="opinions")
    StudyEntry.objects.create(study=brought, label="a")
    assert "Screen raters" in client.get(place).content.decode()
    page = client.post(place, {"act": "screen", "study": brought.pk}, follow=True).content.decode()
    assert "less than 0.3 are left out" in page and "Count all raters" in page
    brought.refresh_from_db()
    assert brought.screens_raters


def test_raters_of_pairs_are_not_screened(phase, people, place, client):
    pairs = making.live(phase, people.organizer, making.entries(phase, people), slug="pairs")
    assert 'id="screening"' not in client.get(f"{place}pairs/").content.decode()
    with pytest.raises(Refused, match="by hand"):
        pairs.screen(people.organizer, True)

"""Rules leave raters out as they were registered, and pages show the figures with them and without."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from leaderboard.models import Opinion, Rater, Study, StudyEntry, StudyVote
from leaderboard.studies.analysis import analyse_due, recount
from leaderboard.studies.live import campaign
from submissions.errors import Refused
from submissions.models import AuditEntry
from tests.support.leaderboard.studies.live import making


def contrary(phase, people, **values) -> Study:
    """An open study of opinions: four raters agree, and one says the opposite of what they do."""
    study = making.live(phase, people.organizer, making.entries(phase, people), kind="opinions", is_public=True, **values)
    lead = study.criteria[0]["key"]
    for k in range(5):
        rater = Rater.objects.create(study=study, name="contrary" if k == 4 else f"rater{k}", joined_at=study.created_at)
        for sample in study.samples.all():
            for n, entry in enumerate(study.entries.order_by("id")):
                score = 1 + n if k == 4 else 5 - n - (k == 3 and n == 1)
                Opinion.objects.create(study=study, rater=rater, sample=sample.name, entry=entry, criterion=lead, score=score)
    computed()
    return study


@pytest.fixture
def study(phase, people) -> Study:
    return contrary(phase, people)


def computed() -> None:
    while analyse_due():
        pass


@pytest.fixture
def place(study, people, client) -> str:
    client.force_login(people.organizer)
    return f"/console/challenges/{study.phase.challenge.slug}/phases/{study.phase.slug}/studies/"


def content(study) -> dict:
    return study.analyses.get().content


def section_of(client, place, study) -> str:
    page = client.get(f"{place}{study.slug}/").content.decode()
    return page[page.index('id="screening"') : page.index('id="entries"')]


def test_without_a_rule_everybody_counts_and_who_is_unlike_the_others_is_shown(place, study, client, people):
    section = section_of(client, place, study)
    assert "contrary" in section and "−1.00" in section
    assert "rater0" not in section and content(study)["screened"] == []
    for act in (
        lambda: study.screen(people.organizer, True),
        lambda: campaign.edit(study, people.organizer, {"screening": {"others": {"r": 0.3}}}),
    ):
        with pytest.raises(Refused) as refused:
            act()
        assert refused.value.code == "opened"
    assert Study.objects.get(pk=study.pk).screening == {}


def test_a_registered_rule_leaves_raters_out_and_the_figures_stand_beside_those_of_everybody(phase, people, client):
    study = contrary(phase, people, screening={"others": {"r": 0.3}})
    client.force_login(people.organizer)
    place = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/"
    assert json.loads(study.design_text)["screening"] == {"others": {"r": 0.3}}
    found = content(study)
    assert (found["screening"], found["screened"], found["screened_by"]) == (True, ["contrary"], {"contrary": ["others"]})
    assert found["counted"] == 4 * 8 and found["unscreened"]["raters"] == 5
    # The best entry: 5 of four raters; with the fifth, who gives it 1, 4.2.
    best = max(found["scales"], key=lambda row: row["mos"][0])
    before = {row["method"]: row["value"][0] for row in found["unscreened"]["scales"]}
    assert (best["mos"][0], before[best["method"]]) == (5.0, pytest.approx(4.2))
    assert "rater0" not in section_of(client, place, study)
    campaign.count_rater(study.raters.get(name="rater0"), people.organizer, False)
    assert "rater0" in section_of(client, place, study)
    page = Client().get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/{study.slug}/").content.decode()
    assert "rater0" not in page


def test_a_rule_of_pairs_leaves_out_who_fails_known_pairs(phase, people, client):
    """Three answer every known pair right and one wrong: ten of them each."""
    rows = making.entries(phase, people)
    rules = {"gold": {"share": 0.3, "answers": 2}, "fast": {"seconds": 1.0, "share": 0.2, "answers": 3}}
    study = making.live(phase, people.organizer, rows, gold=(rows[0], rows[3]), screening=rules, is_public=True)
    entries = list(study.entries.order_by("id"))
    for k, name in enumerate(("a", "b", "c", "wrong", "hasty")):
        rater = Rater.objects.create(study=study, name=name, joined_at=study.created_at)
        for sample in study.samples.all():
            for i, left in enumerate(entries):
                for right in entries[i + 1 :]:
                    choice = "right" if k == 3 else "left"
                    StudyVote.objects.create(
                        study=study,
                        rater=rater,
                        sample=sample.name,
                        left=left,
                        right=right,
                        criterion="overall",
                        choice=choice,
                        is_gold=left == entries[0] and right == entries[3],
                        seconds=0.5 if k == 4 else 4.0,
                    )
    recount()
    computed()
    found = content(study)
    assert found["screened_by"] == {"wrong": ["gold"], "hasty": ["fast"]} and found["screened"] == ["hasty", "wrong"]
    assert found["raters"] == ["a", "b", "c", "hasty", "wrong"] and found["unscreened"]["raters"] == 5
    client.force_login(people.organizer)
    place = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/"
    section = section_of(client, place, study)
    assert "wrong" in section and "hasty" in section
    address = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/{study.slug}"
    said = Client().get(address).json()
    assert (said["raters"], said["screened"]) == (3, 2)
    assert said["analyses"]["overall"]["screened_by"] == {"rater 4": ["fast"], "rater 5": ["gold"]}


def test_rules_of_a_draft_are_set_under_settings(phase, people, client):
    study = making.live(phase, people.organizer, making.entries(phase, people), opened=False)
    client.force_login(people.organizer)
    address = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/{study.slug}/"
    sent = {"act": "edit", "title": "T", "access": "open", "break_every": 100, "screen_fast": "20", "screen_gold": "25"}
    sent |= {"plan": "balanced", "repeat_percent": 5, "common_percent": 10, "answers_per_question": 2}
    assert client.post(address, sent).status_code == 302
    study.refresh_from_db()
    assert study.screening == {"fast": {"seconds": 1.0, "share": 0.2, "answers": 10}, "gold": {"share": 0.25, "answers": 10}}
    assert 'name="screen_fast" value="20"' in client.get(address).content.decode()
    campaign.open_study(study, people.organizer)
    page = client.get(address).content.decode()
    assert 'name="screen_fast"' not in page
    assert client.post(address, sent | {"screen_fast": "90"}).status_code == 302
    study.refresh_from_db()
    assert study.screening["fast"]["share"] == 0.2


def test_a_study_that_was_brought_in_is_screened_from_the_list(place, study, client, phase, people):
    brought = Study.objects.create(phase=phase, slug="theirs", title="Theirs", question="How good?", kind="opinions")
    StudyEntry.objects.create(study=brought, label="a")
    assert 'value="screen"' in client.get(place).content.decode()
    assert 'value="unscreen"' in client.post(place, {"act": "screen", "study": brought.pk}, follow=True).content.decode()
    brought.refresh_from_db()
    assert brought.screening == {"others": {"r": 0.3}}
    client.post(place, {"act": "screen", "study": brought.pk})  # pressed twice: one line in the log
    client.post(place, {"act": "unscreen", "study": brought.pk})
    lines = AuditEntry.objects.filter(action="study.screen").order_by("id").values_list("detail", flat=True)
    assert [line["after"]["screens"] for line in lines] == [{"others": {"r": 0.3}}, {}]


def test_raters_of_pairs_that_were_brought_in_are_not_screened(phase, people):
    pairs = Study.objects.create(phase=phase, slug="pairs", title="Pairs", question="Which?")
    with pytest.raises(Refused) as refused:
        pairs.screen(people.organizer, True)
    assert refused.value.code == "not_screened"

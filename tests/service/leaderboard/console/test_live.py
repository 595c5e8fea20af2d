"""An organizer makes a study, lets people in and out, and watches it; artifacts are made and scored by the real worker."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from evaluation.work.worker import drain
from leaderboard.boards import snapshots
from leaderboard.models import Question, Rater, Snapshot, Study, StudyEntry, StudyVote
from leaderboard.stats.judge_substitution import TOLERATED
from leaderboard.stats.minimums import RATERS_FOR_FIGURE
from leaderboard.studies.analysis import analyse_due, recount
from leaderboard.studies.live import artifacts
from leaderboard.studies.live.answer import answer
from leaderboard.studies.live.artifacts import CORRUPTIONS
from submissions.models import AuditEntry, Status, Submission, User
from submissions.models.quota import quota_of
from tests.support.factories import PhaseFactory, UserFactory, confirmed, gables, give_reference
from tests.support.leaderboard.stats.ballots import simulated_votes
from tests.support.leaderboard.studies.live import making
from tests.support.leaderboard.studies.live.of_a_file import challenge, own_copy, people, phase, rows, stored
from tests.support.pages import faults, refusal

__all__ = ["challenge", "own_copy", "people", "phase", "rows", "stored"]  # the fixtures


@pytest.fixture
def place(phase, people, client, rows) -> str:
    client.force_login(people.organizer)
    return f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/"


def filled(rows, **more) -> dict:
    return {
        "title": "Which roof?",
        "slug": "roofs",
        "question": "Which is closer?",
        "kind": "pairs",
        "criteria_pairs": ["overall"],
        "entries": [row.pk for row in rows],
        "plan": "balanced",
        "questions_per_rater": 10,
        "repeat_percent": 5,
        "gold_percent": 0,
        "common_percent": 10,
        "answers_per_question": 2,
        "break_every": 350,
        "access": "invited",
        "groups": "experts\ndesigners",
        "discloses": "on",
        **more,
    }


def settings_form(**more) -> dict:
    """The form of a draft under Settings, as its page sends it."""
    plan = {"plan": "balanced", "questions_per_rater": 10, "repeat_percent": 5, "common_percent": 10, "answers_per_question": 2}
    return {"act": "edit", "title": "Roofs", "access": "open", "break_every": 100, **plan, **more}


def told(client, path: str, act: str, **more):
    """The page after an act."""
    return client.post(path, {"act": act, **more}, follow=True)


def refused_edit(study: Study, actor: User, values: dict) -> str:
    """Code with which an edit of the study's columns is refused."""
    with pytest.raises(making.campaign.Refused) as refused:
        making.campaign.edit(study, actor, values)
    return refused.value.code


def test_a_study_is_made_opened_rated_watched_and_closed(place, phase, client, rows, people):
    found = client.post(f"{place}new/", filled(rows, own_criteria="Tidy lines: no clutter"))
    assert (found.status_code, found["Location"]) == (302, f"{place}roofs/"), faults(found)
    study = Study.objects.get()
    assert (study.state, study.reference, [one["key"] for one in study.criteria]) == (
        "draft",
        phase.references.get(),
        ["overall", "tidy_lines"],
    )
    assert study.samples.count() == 4
    log = AuditEntry.objects.get(action="study.make")
    assert (log.actor, log.detail["discloses"]) == (people.organizer, True)

    told(client, f"{place}roofs/", "open")
    page = client.post(
        f"{place}roofs/", {"act": "invite", "note": "a class", "group": "experts", "most_uses": 1}, follow=True
    ).content.decode()
    link = re.search(r"http://testserver(/rate/join/[^ <]+)", page).group(1)
    rater = Client()
    rater.post(link, {"agree": "yes"})
    state = rater.get(f"/rate/{study.key}/next").json()
    for _ in range(3):
        answers = {"question": state["question"]["id"], "answers": {"overall": "left", "tidy_lines": "tie"}, "seconds": 2}
        state = rater.post(f"/rate/{study.key}/answer", answers, content_type="application/json").json()
    found = client.get(f"{place}roofs/")
    page = found.content.decode()
    assert "rater 01" in page and "a class" in page
    assert (found.context["without_account"], found.context["answered"]) == (1, 3)
    name = study.raters.get().pk
    told(client, f"{place}roofs/", "remove_rater", rater=name, reason="no")
    assert study.raters.get().removed_at is not None and study.votes(counted=True)
    told(client, f"{place}roofs/", "uncount", rater=name)
    told(client, f"{place}roofs/", "close")
    assert client.get(place).status_code == 200 and Study.objects.get().state == "closed"
    assert not list(Study.objects.get().votes(counted=True))


def test_a_study_is_not_opened_after_its_end_and_says_when_it_will_begin(place, phase, client, rows, people):
    study = making.live(phase, people.organizer, rows, opened=False, closes_at=timezone.now() - timedelta(hours=1))
    assert refusal(told(client, f"{place}live/", "open")) == "over"
    Study.objects.update(closes_at=None, opens_at=timezone.now() + timedelta(hours=1))
    assert told(client, f"{place}live/", "open").context["closed"]
    study.refresh_from_db()
    assert study.state == "open"


def test_no_invitation_is_made_that_is_over_already(place, phase, client, rows, people):
    study = making.live(phase, people.organizer, rows)
    assert faults(told(client, f"{place}live/", "invite", expires_at="2026-01-01T00:00"), "invitation") == {"expires_at": ["over"]}
    assert not study.invitations.exists()


def test_a_study_has_only_so_many_questions(phase, people, rows, monkeypatch):
    monkeypatch.setattr("leaderboard.studies.live.campaign.MAX_QUESTIONS", 11)
    with pytest.raises(making.campaign.Refused) as refused:
        making.live(phase, people.organizer, rows)
    assert refused.value.code == "too_many_questions"
    assert making.live(phase, people.organizer, rows, kind="opinions", opened=False).samples.count() == 2  # 8 questions


def test_entries_of_one_name_are_told_apart_whatever_others_are_called(phase, people, rows):
    twin, other = rows[1], rows[2]
    type(twin).objects.filter(pk=twin.pk).update(method_name=rows[0].method_name)
    type(other).objects.filter(pk=other.pk).update(method_name=f"{rows[0].method_name} #{twin.number}")
    for row in rows:
        row.refresh_from_db()
    study = making.live(phase, people.organizer, [other, rows[0], twin, rows[3]], opened=False)
    assert len(set(study.entries.values_list("label", flat=True))) == 4


def test_opinion_scores_take_nothing_that_is_of_pairs(place, client, rows):
    asked = {"kind": "opinions", "criteria_opinions": ["overall"], "gold_better": rows[0].pk, "gold_worse": rows[1].pk, "gold_percent": 20}
    assert faults(client.post(f"{place}new/", filled(rows, **asked, plan="informative"))) == {"plan": ["only_of_pairs"]}
    assert client.post(f"{place}new/", filled(rows, **asked)).status_code == 302
    study = Study.objects.get()
    assert (study.kind, study.gold_share) == ("opinions", 0)
    assert not study.entries.exclude(gold_kind="").exists()


def test_an_entry_that_cannot_be_made_holds_up_no_other(phase, people, rows, monkeypatch):
    study = making.live(phase, people.organizer, rows, artifacts=(CORRUPTIONS[0], artifacts.NOTHING), opened=False)
    damaged = artifacts._damaged

    def breaks(name, item, artifact):
        return 1 / 0 if artifact == CORRUPTIONS[0].name else damaged(name, item, artifact)

    monkeypatch.setattr(artifacts, "_damaged", breaks)
    assert artifacts.make_due() == 1
    assert study.entries.get(artifact="empty").submission is not None
    assert making.campaign.waits_for(study) == 1
    monkeypatch.setattr(artifacts, "_damaged", damaged)
    assert artifacts.make_due() == 1


def test_the_reference_is_not_shown_to_raters_unless_somebody_says_that_this_is_meant(place, phase, client, rows):
    form = filled(rows)
    del form["discloses"]
    assert faults(client.post(f"{place}new/", form)) == {"discloses": ["not_disclosed"]}
    assert not Study.objects.exists()
    phase.reference_access = "public"
    phase.save()
    assert 'name="discloses"' not in client.get(f"{place}new/").content.decode()
    assert client.post(f"{place}new/", form).status_code == 302


def test_the_crowds_way_in_is_set_when_a_study_is_made_and_changed_later(place, phase, client, rows, people):
    making.live(phase, people.organizer, rows, slug="pilot", title="The pilot")
    assert "The pilot" in client.get(f"{place}new/").content.decode()
    sent = filled(
        rows,
        groups="experts: 12\ndesigners\nfamily: friends",
        practice_questions=4,
        shuffles_criteria="on",
        min_width=900,
        refuses_raters_of=[f"{phase.slug}/pilot"],
        setup_questions=["screen", "colours"],
        screen_fast=20,
        screen_gold=30,
    )
    assert client.post(f"{place}new/", sent).status_code == 302
    study = Study.objects.get(slug="roofs")
    assert (study.groups, study.group_quotas) == (["experts", "designers", "family: friends"], {"experts": 12})
    assert (study.practice_questions, study.shuffles_criteria, study.min_width) == (4, True, 900)
    assert (study.refuses_raters_of, study.setup_questions) == ([f"{phase.slug}/pilot"], ["screen", "colours"])
    assert study.screening["gold"]["share"] == 0.3
    assert "experts: 12\ndesigners" in client.get(f"{place}roofs/").content.decode()
    edit = settings_form(groups="experts: 3")
    client.post(f"{place}roofs/", edit | {"practice_questions": 2, "setup_questions": ["glasses"]})
    study.refresh_from_db()
    assert (study.group_quotas, study.practice_questions, study.setup_questions) == ({"experts": 3}, 2, ["glasses"])
    assert (study.refuses_raters_of, study.min_width, study.screening) == ([], None, {})
    making.campaign.open_study(study, people.organizer)
    client.post(f"{place}roofs/", edit | {"groups": "experts: 5", "practice_questions": 9})
    study.refresh_from_db()
    assert (study.group_quotas, study.practice_questions) == ({"experts": 5}, 2), "practice stays as it was"


def test_the_address_to_give_to_a_panel_has_a_place_for_each_of_its_parameters(place, client, phase, people, rows):
    study = making.live(phase, people.organizer, rows, slug="panel", access="open", panel_parameters=["PROLIFIC_PID", "SESSION_ID"])
    given = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID={{%SESSION_ID%}}"
    address = f"http://testserver/rate/{study.key}/{given}"
    assert escape(address) in client.get(f"{place}panel/").content.decode()
    page = client.post(f"{place}panel/", {"act": "invite", "note": "wave 2", "group": "", "most_uses": "", "expires_at": ""}, follow=True)
    assert re.search(r"/rate/join/[^/]+/" + re.escape(escape(given)), page.content.decode())


@pytest.mark.parametrize(
    ("change", "field", "code"),
    [
        ({"groups": "experts: 0"}, "groups", "bad_quota"),
        ({"groups": "g" * 61}, "groups", "too_long"),
        ({"min_width": 100}, "min_width", "min_value"),
        ({"practice_questions": 21}, "practice_questions", "max_value"),
        ({"criteria_pairs": []}, "criteria_pairs", "required"),
        ({"own_criteria": "no colon"}, "own_criteria", "not_of_the_form"),
        ({"own_criteria": "overall: again"}, "own_criteria", "same_name"),
        ({"slug": "new"}, "slug", "reserved"),
        ({"completion": "http://example.org"}, "completion", "not_https"),
        ({"sample_names": "house_99"}, "__all__", "unknown_sample"),
        ({"sample_names": "house_01", "n_samples": 2}, "sample_names", "number_or_names"),
        ({"gold_better": "0"}, "gold_better", "invalid_choice"),
        ({"opens_at": "2026-02-01T00:00", "closes_at": "2026-01-01T00:00"}, "closes_at", "ends_first"),
        ({"entries": []}, "entries", "required"),
    ],
)
def test_what_is_wrong_with_a_study_is_said_beside_its_field(place, client, rows, change, field, code):
    found = client.post(f"{place}new/", filled(rows) | change)
    assert found.status_code == 200
    assert faults(found)[field] == [code]
    assert not Study.objects.exists()


def test_a_phase_without_a_reference_has_nothing_to_show(people, client, challenge):
    from tests.support.factories import PhaseFactory

    bare = PhaseFactory(challenge=challenge)
    client.force_login(people.organizer)
    found = client.get(f"/console/challenges/{challenge.slug}/phases/{bare.slug}/studies/new/")
    assert refusal(found) == "no_reference"


def test_listed_accounts_and_settings(place, client, rows, people):
    client.post(f"{place}new/", filled(rows))
    assert refusal(told(client, f"{place}roofs/", "list", name="nobody")) == "unknown"
    for impostor in ("ann@lab.example.org", "ANN@LAB.example.org"):
        UserFactory(username=impostor)
    ann = confirmed("ann", "ann@lab.example.org")
    assert refusal(told(client, f"{place}roofs/", "list", name="ann@lab.example.org")) == "two_accounts"
    assert not Rater.objects.filter(user__isnull=False).exists()
    User.objects.filter(username__contains="@").delete()
    told(client, f"{place}roofs/", "list", name="ann@lab.example.org")
    assert Rater.objects.get(user__isnull=False).user == ann
    client.post(f"{place}roofs/", {"act": "list", "name": "stranger", "group": "experts"})
    assert [row.user.username for row in client.get(f"{place}roofs/").context["listed"]] == ["ann", "stranger"]
    sent = settings_form(title="New title", most_raters=5, groups="a\nb", consent="Be kind.")
    assert client.post(f"{place}roofs/", sent).status_code == 302
    study = Study.objects.get()
    assert (study.title, study.access, study.most_raters, study.groups) == ("New title", "open", 5, ["a", "b"])
    assert AuditEntry.objects.get(action="study.edit").detail["after"]["title"] == "New title"


def test_the_plan_of_a_draft_can_be_changed_and_stays_once_it_has_opened(place, client, rows, people, monkeypatch):
    client.post(f"{place}new/", filled(rows))
    client.post(
        f"{place}roofs/", settings_form(plan="first", questions_per_rater=7, planned_looks=3, planned_answers=90, repeat_percent=10)
    )
    study = Study.objects.get()
    assert (study.plan, study.questions_per_rater, study.planned_looks, study.planned_answers, study.repeat_share) == (
        "first",
        7,
        3,
        90,
        0.1,
    )
    page = client.get(f"{place}roofs/").content.decode()
    assert 'name="planned_answers" value="90"' in page and 'name="repeat_percent" value="10' in page
    assert 'name="gold_percent"' not in page, "no pair of known order"
    said = client.post(f"{place}roofs/", settings_form(planned_looks=3))
    assert faults(said, "settings") == {"planned_answers": ["both_or_neither"]}
    assert refusal(told(client, f"{place}roofs/", "open")) == "few_samples" and Study.objects.get().state == "draft"
    monkeypatch.setattr(making.campaign, "ITEMS_FOR_LOOK", 4)
    assert "planned_looks" not in told(client, f"{place}roofs/", "open").context["settings"].fields
    client.post(f"{place}roofs/", settings_form(plan="balanced", planned_looks=5, planned_answers=50))
    study.refresh_from_db()
    assert (study.plan, study.planned_looks) == ("first", 3)
    assert refused_edit(study, people.organizer, {"planned_looks": 5}) == "opened"


def test_how_skilled_raters_are_is_named_before_the_study_opens(place, phase, client, rows, people):
    client.post(f"{place}new/", filled(rows, rater_skill="expert", is_public="on"))
    assert Study.objects.get().rater_skill == AuditEntry.objects.get(action="study.make").detail["rater_skill"] == "expert"
    sent = settings_form()
    client.post(f"{place}roofs/", sent | {"rater_skill": "skilled"})
    log = AuditEntry.objects.get(action="study.edit").detail
    assert (log["before"]["rater_skill"], log["after"]["rater_skill"]) == ("expert", "skilled")
    assert 'name="rater_skill"' in client.get(f"{place}roofs/").content.decode()
    assert 'name="rater_skill"' not in told(client, f"{place}roofs/", "open").content.decode()
    client.post(f"{place}roofs/", sent | {"rater_skill": "crowd"})
    study = Study.objects.get()
    assert refused_edit(study, people.organizer, {"rater_skill": "crowd"}) == "opened"
    assert Study.objects.get().rater_skill == "skilled"
    address = f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies"
    assert [one["rater_skill"] for one in client.get(address).json()["items"]] == ["skilled"]
    assert set(TOLERATED) == set(Study.RaterSkill.values)


def test_the_question_can_change_until_the_study_opens(place, client, rows, people):
    client.post(f"{place}new/", filled(rows))
    before = Study.objects.get().question
    client.post(f"{place}roofs/", settings_form())
    assert Study.objects.get().question == before, "a form without it leaves it"
    client.post(f"{place}roofs/", settings_form(question="Which roof is closer?"))
    log = AuditEntry.objects.filter(action="study.edit").latest("pk").detail
    assert Study.objects.get().question == log["after"]["question"] == "Which roof is closer?" and log["before"]["question"] == before
    making.campaign.open_study(Study.objects.get(), people.organizer)
    assert 'name="question"' not in client.get(f"{place}roofs/").content.decode()
    client.post(f"{place}roofs/", settings_form(question="Which is older?"))
    assert Study.objects.get().question == "Which roof is closer?"


def test_what_is_taken_account_of_is_named_before_the_study_opens(place, phase, client, rows, people):
    offered = client.get(f"{place}new/").context["form"].fields["covariates"].choices
    assert [name for name, _ in offered] == ["size"], "wireframes have no texture"
    client.post(f"{place}new/", filled(rows, covariates=["size"], is_public="on"))
    assert Study.objects.get().covariates == AuditEntry.objects.get(action="study.make").detail["covariates"] == ["size"]
    client.post(f"{place}roofs/", settings_form())
    assert Study.objects.get().covariates == [] == AuditEntry.objects.get(action="study.edit").detail["after"]["covariates"]
    assert faults(client.post(f"{place}roofs/", settings_form(covariates=["texture"])), "settings") == {"covariates": ["invalid_choice"]}
    making.campaign.open_study(Study.objects.get(), people.organizer)
    assert refused_edit(Study.objects.get(), people.organizer, {"covariates": ["size"]}) == "opened"
    assert 'name="covariates"' not in client.get(f"{place}roofs/").content.decode()


def test_studies_of_scores_do_not_ask_how_skilled_raters_are(place, client, rows):
    client.post(f"{place}new/", filled(rows, kind="opinions", criteria_opinions=["overall"]))
    assert Study.objects.get().rater_skill == "crowd"
    assert 'name="rater_skill"' not in client.get(f"{place}roofs/").content.decode()


def test_the_twelve_corruptions_and_the_empty_entry_are_made_before_a_study_opens(phase, people, rows):
    study = making.live(phase, people.organizer, rows, artifacts=(*CORRUPTIONS, artifacts.NOTHING), opened=False)
    assert artifacts.make_due() == 13 and Submission.objects.exclude(made_as="").count() == 13
    with pytest.raises(making.campaign.Refused) as refused:
        making.campaign.open_study(study, people.organizer)
    assert refused.value.code == "unfinished"


def test_what_is_made_of_the_reference_is_scored_and_on_no_board(phase, people, rows, client):
    made_of_it = [one for one in CORRUPTIONS if one.name.startswith("remove")]
    study = making.live(phase, people.organizer, rows, artifacts=(*made_of_it, artifacts.NOTHING), opened=False)
    again = making.live(phase, people.organizer, rows, artifacts=(artifacts.NOTHING,), opened=False, slug="again")
    assert artifacts.make_due() == 1 + len(made_of_it)
    drain()
    made = Submission.objects.exclude(made_as="")
    assert set(made.values_list("status", flat=True)) == {Status.SCORED}
    assert (
        StudyEntry.objects.get(study=again, artifact="empty").submission == StudyEntry.objects.get(study=study, artifact="empty").submission
    )
    making.campaign.open_study(study, people.organizer)
    assert study.entries.live().count() == len(rows) + 1 + len(made_of_it)

    empty = made.get(made_as__startswith="empty")
    low, high = made.get(made_as__startswith="remove:low"), made.get(made_as__startswith="remove:high")
    value = {one.pk: one.evaluations.get().scores.get(slug="corner_f1").value for one in (empty, low, high)}
    assert value[low.pk] > value[high.pk] > value[empty.pk] == 0.0

    snapshots.make_all(phase)
    for audience in Snapshot.Audience.values:
        names = {entry.name for entry in Snapshot.current(phase, audience).board.entries}
        assert names and names <= {row.method_name for row in rows}
    assert quota_of(phase, empty.team).left_today == phase.limit_per_day
    assert not empty.team.memberships.exists()
    assert Client().get(f"/entries/{empty.pk}/").status_code == 404
    listing = Client().get(f"/challenges/{phase.challenge.slug}/{phase.slug}/entries/").content.decode()
    assert "remove_low" not in listing
    client.force_login(people.organizer)
    assert client.get(f"/console/challenges/{phase.challenge.slug}/entries/{empty.pk}/").status_code == 200


def test_answers_are_analysed_as_they_come_and_not_for_each_of_them(phase, people, rows):
    study = making.live(phase, people.organizer, rows, gold=(rows[0], rows[3]))
    rater = making.rater(study)
    assert recount() == 0
    for _ in range(3):
        token = making.at(study, rater).current.token
        answer(study, rater, token, {"overall": "left"}, 1.0)
    revision = study.revision
    while analyse_due():
        pass
    study.refresh_from_db()
    assert study.revision == revision + 1
    content = study.analyses.get().content
    assert content["votes"] == 3
    assert content["reliability"]["gold"] is not None
    assert recount() == 0
    answer(study, rater, making.at(study, rater).current.token, {"overall": "tie"}, 1.0)
    assert recount() == 1
    study.analyses.update(state="waiting")
    answer(study, rater, making.at(study, rater).current.token, {"overall": "tie"}, 1.0)
    assert recount() == 0  # the one before is not done yet
    study.analyses.update(state="done")
    assert recount() == 1
    making.campaign.close(study, people.organizer)
    assert recount() == 0


def test_the_page_of_raters_says_how_consistent_and_how_right_each_of_them_is(place, phase, people, rows, client):
    study = making.live(phase, people.organizer, rows, repeat_share=0.3, gold_share=0.2, gold=(rows[0], rows[3]))
    rater = making.rater(study)
    while (question := making.at(study, rater).current) is not None:
        better = question.left.label == rows[0].method_name or question.right.label == rows[3].method_name
        answer(study, rater, question.token, {"overall": "left" if better else "right"}, 1.0)
    making.rater(study, people.stranger)
    recount()
    while analyse_due():
        pass
    page = client.get(f"{place}live/")
    first, second = page.context["raters"]
    assert (first.said.gold, second.said) == (1.0, None)
    shown = page.content.decode()
    assert f'1.00 <span class="soft">of {first.said.gold_pairs}</span>' in shown
    assert f'{first.said.self_consistency:.2f} <span class="soft">of {first.said.repeats}</span>' in shown


def test_lapses_and_left_answers_of_a_rater_stand_with_their_interval_and_not_below_ten(place, phase, people, rows, client):
    study = making.live(phase, people.organizer, rows, gold=(rows[0], rows[3]))
    entries = list(study.entries.order_by("id"))
    for name, n in (("many", 12), ("few", 4)):
        rater = Rater.objects.create(study=study, name=name, joined_at=timezone.now(), setup={"glasses": "worn", "window_width": 900})
        for k in range(n):
            StudyVote.objects.create(
                study=study,
                rater=rater,
                sample=f"s{k}",
                left=entries[0],
                right=entries[3],
                criterion="overall",
                is_gold=True,
                choice="right" if k < 3 else "left",
            )
    page = client.get(f"{place}live/").content.decode()
    many, few = page.partition("<b>many</b>")[2].partition("</tr>")[0], page.partition("<b>few</b>")[2].partition("</tr>")[0]
    # Wilson: 3 of 12 is 25 [9, 53], 9 of 12 is 75 [47, 91].
    assert [words for words in ("25 % <span", "[9, 53]", "75 % <span", "[47, 91]", "of 12") if words not in many] == []
    assert "%" not in few.partition("acts")[0].partition("Answered")[2] and few.count("–<small") == 2
    text = b"".join(client.get(f"{place}live/raters.csv").streaming_content).decode()
    first, second = csv.DictReader(io.StringIO(text))
    assert [first[name] for name in ("checks", "lapse_rate", "lapse_low", "lapse_high")] == ["12", "0.2500", "0.0889", "0.5323"]
    assert [second[name] for name in ("checks", "lapse_rate", "decisive", "left_side")] == ["4", "", "4", ""]
    assert (first["left"], first["left_side"], first["glasses"], first["window_width"], first["colours"]) == (
        "no",
        "0.7500",
        "worn",
        "900",
        "",
    )


def test_a_large_study_waits_a_minute_for_a_few_votes(phase, people, rows):
    study = making.live(phase, people.organizer, rows)
    Study.objects.update(counted="500/7", counted_at=timezone.now())
    rater = making.rater(study)
    a, b = list(study.entries.order_by("id"))[:2]
    StudyVote.objects.bulk_create(
        StudyVote(study=study, rater=rater, left=a, right=b, choice="tie", criterion="overall") for _ in range(503)
    )
    assert recount() == 0
    assert recount(timezone.now() + timedelta(seconds=61)) == 1


def test_an_open_study_stands_on_the_page_of_people_for_everybody(phase, people, rows):
    study = making.live(phase, people.organizer, rows)
    page = Client().get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/").content.decode()
    assert f'href="/rate/{study.key}/"' in page
    making.campaign.close(study, people.organizer)
    assert study.key not in Client().get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/").content.decode()


def test_organizers_alone_see_how_consistent_each_rater_is(place, phase, people, rows, client):
    """Eight raters of eight houses mostly prefer the better entry; the last has it turned round."""
    phase = PhaseFactory(challenge=phase.challenge, entries="all", reference_access="public")
    give_reference(phase, gables(8))
    rows = making.entries(phase, people)
    study = making.live(phase, people.organizer, rows, samples=tuple(f"house_{k:02d}" for k in range(1, 9)), is_public=True)
    entries = list(study.entries.order_by("id"))
    for k in range(8):
        rater, turned = making.rater(study), k == 7
        StudyVote.objects.bulk_create(
            StudyVote(
                study=study,
                rater=rater,
                sample=sample.name,
                left=a,
                right=b,
                criterion="overall",
                choice="right" if ((k + 3 * h + i) % 5 == 0) != turned else "left",
            )
            for h, sample in enumerate(study.samples.all())
            for i, a in enumerate(entries)
            for b in entries[i + 1 :]
        )
    recount()
    analyse_due()
    desk = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/live/"
    page = client.get(desk)
    found = [row.said for row in page.context["raters"]]
    assert [one for one in found[:7] if not one.consistency > 0.5] == [] and found[7].consistency < 0
    assert {one.consistency_answers for one in found} == {48}
    assert f'{found[0].consistency:.2f} <span class="soft">of 48</span>' in page.content.decode()
    places = (
        f"/api/v1/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/live",
        reverse("study_json", args=[phase.challenge.slug, phase.slug, "live"]),
    )
    for address in places:
        for browser, seen in ((client, True), (Client(), False)):
            told = browser.get(address).json()
            (summary,) = (told.get("analyses") or told["criteria"]).values()
            raters = summary["reliability"]["raters"]
            assert len(raters) == 8 and raters[0]["rater"] == "rater 1"
            assert [one for one in raters if not (one["consistency"] is not None) == seen == bool(one["consistency_answers"])] == [], (
                address
            )


def test_answers_that_nobody_can_have_looked_for_are_flagged(place, phase, client, rows, people):
    study = making.live(phase, people.organizer, rows)
    rater = making.rater(study)
    for n, seconds in enumerate((0.4, 6.0, 0.9, None)):
        asked = making.at(study, rater).current
        Question.objects.filter(pk=asked.pk).update(shown_at=timezone.now() - timedelta(minutes=1))
        answer(study, rater, asked.token, making.same_answer(study, "left"), seconds)
        assert study.study_votes.count() == (n + 1) * len(study.criteria)
    page = client.get(f"{place}{study.slug}/").content.decode()
    assert '<span class="flag">2</span> of 3 under 1 s' in page


class TestDesign:
    """The design that is fixed when a study opens is hashed and dated, and stays as it was."""

    @pytest.fixture
    def opened(self, place, client, rows) -> Study:
        client.post(f"{place}new/", filled(rows))
        assert Study.objects.get().design_hash == ""
        told(client, f"{place}roofs/", "open")
        return Study.objects.get()

    def test_the_hash_is_that_of_the_file(self, place, client, opened):
        data = client.get(f"{place}roofs/design.json").content
        assert hashlib.sha256(data).hexdigest() == opened.design_hash and opened.registered_at is not None
        design = json.loads(data)
        assert (design["plan"], design["common_share"], design["answers_per_question"]) == ("balanced", 0.1, 2)
        assert len(design["samples"]) == 4 and [one["label"] for one in design["entries"]] == [row.label for row in opened.entries.all()]
        assert design["reference"] == opened.reference.sha256

    def test_it_stands_on_the_studys_page_for_everybody(self, phase, client, opened):
        Study.objects.update(is_public=True)
        page = Client().get(f"/challenges/{phase.challenge.slug}/{phase.slug}/people/roofs/").content.decode()
        assert opened.design_hash in page and "when it opened" in page

    def test_it_is_registered_once(self, place, client, opened):
        told(client, f"{place}roofs/", "close")
        client.post(f"{place}roofs/", {"act": "edit", "title": "Renamed", "access": "invited", "break_every": 350})
        told(client, f"{place}roofs/", "open")
        again = Study.objects.get()
        assert (again.state, again.design_hash, again.registered_at) == ("open", opened.design_hash, opened.registered_at)

    def test_another_design_is_not_opened_again(self, place, client, opened):
        told(client, f"{place}roofs/", "close")
        for change in ({"plan": "informative"}, {"seed": 5}, {"question": "Another?"}, {"answers_per_question": 3}):
            Study.objects.update(**change)
            assert refusal(told(client, f"{place}roofs/", "open")) == "another_design", change
            assert Study.objects.get().state == "closed"
            Study.objects.update(**{name: getattr(opened, name) for name in change})

    def test_its_text_is_kept_and_a_reference_that_is_gone_changes_neither_file_nor_hash(self, place, phase, client, opened):
        text = client.get(f"{place}roofs/design.json").content
        told(client, f"{place}roofs/", "close")
        digest = opened.reference.sha256
        Study.objects.update(reference=None)
        assert client.get(f"{place}roofs/design.json").content == text == opened.design_text.encode()
        phase.references.update(sha256="0" * 64)
        asked = told(client, f"{place}roofs/", "open")
        assert refusal(asked) == "no_reference" and digest in asked.content.decode()
        phase.references.update(sha256=digest)
        told(client, f"{place}roofs/", "open")
        again = Study.objects.get()
        assert (again.state, again.reference.sha256, again.design_hash) == ("open", digest, opened.design_hash)

    def test_a_design_of_an_earlier_format_is_held_against_what_it_says(self, place, client, opened):
        told(client, f"{place}roofs/", "close")
        before = json.dumps({name: value for name, value in json.loads(opened.design_text).items() if name != "screening"} | {"format": 1})
        Study.objects.update(design_text=before, design_hash=hashlib.sha256(before.encode()).hexdigest())
        told(client, f"{place}roofs/", "open")
        assert Study.objects.get().state == "open"
        told(client, f"{place}roofs/", "close")
        Study.objects.update(design_text=before.replace("balanced", "exhaustive"))
        assert refusal(told(client, f"{place}roofs/", "open")) == "another_design"
        Study.objects.update(design_text="")
        assert refusal(told(client, f"{place}roofs/", "open")) == "design_text_gone"
        assert refusal(client.get(f"{place}roofs/design.json", follow=True)) == "design_text_gone"

    def test_a_draft_has_one_that_is_not_registered(self, place, client, rows):
        client.post(f"{place}new/", filled(rows))
        assert client.get(f"{place}roofs/design.json").json()["kind"] == "pairs" and not Study.objects.get().design_hash


class TestClock:
    def test_moments_say_whose_clock_they_are_on(self, place, client, phase, rows):
        type(phase).objects.filter(pk=phase.pk).update(time_zone="Europe/Prague")
        assert client.get(f"{place}new/").content.decode().count("Europe/Prague") == 2
        client.post(f"{place}new/", filled(rows))
        assert client.get(f"{place}roofs/").content.decode().count("Europe/Prague") == 3  # and of an invitation


class TestForecast:
    def test_a_draft_says_what_it_will_be_able_to_say(self, place, client, rows):
        client.post(f"{place}new/", filled(rows))
        page = client.get(f"{place}roofs/").content.decode()
        found = page.partition('id="forecast"')[2].partition("</section>")[0]
        # 4 entries and 4 samples: 24 questions of which each rater is asked 10, one common to all and the others answered by two
        assert "Cost" not in found
        assert re.findall(r'<td class="n">(\d+)</td>', found)[:2] == ["3", "30"]

    def test_it_costs_what_an_hour_is_paid(self, place, client, rows):
        client.post(f"{place}new/", filled(rows))
        found = client.get(f"{place}roofs/?pay=30").content.decode()
        # 48 raters, 480 answers and 5 % repeats of 8 s: 1.12 hours
        assert ">Cost</th>" in found and '<td class="n">1.1</td>' in found and '<td class="n">34</td>' in found
        assert "pay" in client.get(f"{place}roofs/?pay=-1").context["forecast"].form.errors

    def test_without_overlap_it_says_that_agreement_stays_unknown(self, place, client, rows):
        client.post(f"{place}new/", filled(rows, plan="informative", common_percent=0))
        Study.objects.update(questions_per_rater=1, common_share=0.0, most_raters=3)
        page = client.get(f"{place}roofs/")
        assert {(line.compares, line.is_early) for line, _ in page.context["forecast"].lines} == {(False, True)}
        assert f"{RATERS_FOR_FIGURE} raters" in page.content.decode()

    def test_planned_looks_say_how_large_a_lead_each_of_them_settles(self, place, client, rows):
        def looks() -> list[list[str]]:
            found = client.get(f"{place}roofs/").content.decode().partition("Interim analyses of first place")[2].partition("</section>")[0]
            return [re.sub(r"<[^>]+>", " ", line).split() for line in re.findall(r"<tr>(.*?)</tr>", found, re.S)[1:]]

        client.post(f"{place}new/", filled(rows, plan="first", planned_looks=2, planned_answers=240))
        lines = looks()
        # 4 entries, 6 pairs: of 120 answers .85 / 3 and .15 / 6 are on the first and one other: .5 + √(9.506 · .7 / 4 · 2 / 37)
        assert [line[:4] for line in lines] == [["1", "120", "12", "37.0"], ["2", "240", "24", "74.0"]]
        assert [line[4] for line in lines] == ["80", "71"]
        # One of them damaged: what is said of its 3 pairs does not count, and 120 answers on others are 120 / (.85 + .15 / 2) in all.
        StudyEntry.objects.filter(label=rows[3].method_name).update(artifact="empty")
        assert [line[:4] for line in looks()] == [["1", "120", "13", "58.4"], ["2", "240", "26", "116.8"]]

    def test_what_another_study_found_is_reckoned_with(self, place, phase, client, rows):
        names = {f"m{n}": row.method_name for n, row in enumerate(rows)}
        votes = [replace(one, left=names[one.left], right=names[one.right]) for one in simulated_votes(6, 6, len(rows))]
        Study.import_votes(phase, None, votes, slug="before", title="The pilot", question="?")
        while analyse_due():
            pass
        client.post(f"{place}new/", filled(rows))
        found = client.get(f"{place}roofs/").content.decode()
        assert "The pilot" in found and "of 3</td>" in found

    def test_a_study_that_has_opened_and_one_of_scores_have_none(self, place, client, rows):
        client.post(f"{place}new/", filled(rows))
        told(client, f"{place}roofs/", "open")
        assert 'id="forecast"' not in client.get(f"{place}roofs/").content.decode()
        client.post(f"{place}new/", filled(rows, slug="scores", kind="opinions", criteria_opinions=["overall"]))
        assert 'id="forecast"' not in client.get(f"{place}scores/").content.decode()

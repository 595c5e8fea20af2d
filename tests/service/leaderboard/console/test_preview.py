"""Organizers walk through a study before it opens, and no row of any table is written."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.test import Client

from leaderboard.studies.live import campaign, materials
from tests.support.leaderboard.studies.live import making


def rows_of_all_tables() -> dict[str, int]:
    return {model._meta.label: model._base_manager.count() for model in apps.get_models(include_auto_created=True)}


@pytest.mark.parametrize("kind", ["pairs", "opinions"])
def test_a_walk_through_a_draft_stores_nothing(phase, people, client, kind, monkeypatch):
    monkeypatch.setattr(materials, "scene", lambda question: {"left": question.left.label, "sample": question.sample.name})
    rows = making.entries(phase, people)
    gold = {"gold": (rows[0], rows[3])} if kind == "pairs" else {}
    study = making.live(
        phase,
        people.organizer,
        rows,
        opened=False,
        kind=kind,
        practice_questions=2,
        groups=["experts"],
        setup_questions=["glasses"],
        consent="Be *kind*.",
        completion="C1ABCD",
        panel_parameters=["PID"],
        questions_per_rater=3,
        **gold,
    )
    client.force_login(people.organizer)
    base = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/{study.slug}/preview/"
    client.get(base)  # whatever a session writes is there
    before = rows_of_all_tables()
    assert "<em>kind</em>" in client.get(base).content.decode()
    said = {"agree": "yes", "group": "experts"}
    assert client.post(base, said).status_code == 409, "a question about eyesight is open"
    assert client.post(base, said | {"glasses": "worn"})["Location"] == f"{base}questions/"
    assert client.get(f"{base}questions/").status_code == 200

    def post(act: str, **content):
        return client.post(f"{base}{act}", content, content_type="application/json")

    state, value = client.get(f"{base}next").json(), "left" if kind == "pairs" else 3
    seen, practised = [], 0
    while state["question"]:
        token = state["question"]["id"]
        scene = client.get(state["question"]["scene"]).json()
        assert scene["left"].startswith("secret-method")
        seen.append(token)
        practised += state["practice"] is not None
        state = post("answer", question=token, answers=making.same_answer(study, value)).json()
        assert bool(state["feedback"]) == (len(seen) <= 2)
    assert (len(seen), len(set(seen)), practised) == (5, 5, 2)
    assert state["done"] and state["completion"] == {"code": "C1ABCD"} and state["preview"]["total"] == 3
    back = post("undo", question=state["undo"]).json()
    assert back["question"]["id"] == seen[-1] and back["progress"]["answered"] == 2
    assert post("answer", question="preview-99", answers={}).status_code == 409
    assert post("answer", question=seen[0], answers={"overall": "up"}).status_code == 409
    assert client.get(f"{base}scenes/preview-99/scene.json").status_code == 404
    assert rows_of_all_tables() == before
    campaign.open_study(study, people.organizer)
    assert client.get(f"{base}next").json()["question"]["id"] == seen[0], "also of a study that has opened"


def test_a_study_whose_entries_cannot_be_shown_says_so(phase, people, client):
    rows = making.entries(phase, people)
    study = making.live(phase, people.organizer, rows, opened=False)
    study.entries.update(submission=None)
    client.force_login(people.organizer)
    base = f"/console/challenges/{phase.challenge.slug}/phases/{phase.slug}/studies/{study.slug}/preview/"
    found = client.get(f"{base}next")
    assert found.status_code == 409 and found.json()["detail"]
    assert Client().get(base).status_code == 302

"""`manage.py texts`, and where a reader is told that a text is shown as it was typed."""

from __future__ import annotations

from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import models

from leaderboard.management.commands.texts import SOURCES
from submissions.markdown import FAULTS
from submissions.models import Announcement, Challenge, Submission
from tests.service.leaderboard.views.test_board import signed_in, text

pytestmark = pytest.mark.django_db
DEEP = "1. " * 3333
AS_TYPED = FAULTS["depth"]  # why it is not laid out


def test_texts_that_use_what_is_not_laid_out_are_listed(challenge):
    Challenge.objects.filter(pk=challenge.pk).update(description="# A\n\n[TOC]\n\nA <b>word</b>.", rules="term\n: its definition\n")
    Announcement.objects.create(challenge=challenge, title="Fine", body="`<b>` and\n\n```\n[TOC]\n```\nand 1 < 2 > 0: this")
    Announcement.objects.create(challenge=challenge, title="Deep", body=DEEP + "\n\n*[HSS]: a score")
    out = StringIO()
    call_command("texts", stdout=out)
    lines = out.getvalue().splitlines()
    assert [line.split(", ")[-1] if "[TOC]" not in line else "both" for line in lines[:2]] == ["both", "rules: definition lists"]
    assert "[TOC], raw HTML" in lines[0] and "abbreviations, " in lines[2] and AS_TYPED in lines[2]
    assert len(lines) == 4 and "Fine" not in out.getvalue()


def test_every_markdown_field_is_looked_through():
    ours = [model for app in ("submissions", "evaluation", "leaderboard") for model in apps.get_app_config(app).get_models()]
    fields = [(model, it) for model in ours for it in model._meta.get_fields() if isinstance(it, models.TextField)]
    said = {(model, it.name) for model, it in fields if "Markdown" in it.help_text}
    assert said | {(Submission, "description")} == set(SOURCES)


def test_a_text_too_deep_is_shown_as_typed_with_a_note_to_its_author_alone(client, people, scored):
    it = scored()
    Submission.objects.filter(pk=it.pk).update(description=DEEP + "<script>")
    for viewer, is_told in ((client, False), (signed_in(people.other), False), (signed_in(people.owner), True)):
        page = text(viewer.get(f"/entries/{it.pk}/"))
        assert "1. 1. 1. 1." in page and "&lt;script&gt;" in page
        assert (AS_TYPED in page) == is_told


def test_organizers_are_told_on_the_page_and_beside_the_field(client, people, challenge, phase):
    Challenge.objects.filter(pk=challenge.pk).update(description=DEEP, rules=DEEP)
    organizer = signed_in(people.organizer)
    for address in (f"/challenges/{challenge.slug}/", f"/challenges/{challenge.slug}/rules/"):
        assert AS_TYPED in text(organizer.get(address))
        assert AS_TYPED not in text(client.get(address))
    assert text(organizer.get(f"/console/challenges/{challenge.slug}/settings/")).count(AS_TYPED) == 2

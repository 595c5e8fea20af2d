"""Texts of people are laid out once, when they are saved, and those of before in the background."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import models
from django.utils import timezone

from leaderboard.service import texts
from leaderboard.service.texts import SOURCES, render_due
from submissions import markdown
from submissions.models import Announcement, Challenge, RenderedText, Submission
from submissions.models.rendered_text import _converting, _stored
from tests.service.leaderboard.views.test_board import signed_in, text
from tests.support.factories import archive, gables, received

pytestmark = pytest.mark.django_db
DEEP = "1. " * 3333


@pytest.fixture(autouse=True)
def nothing_known():
    _stored.cache_clear()


@pytest.fixture
def no_conversion(monkeypatch):
    """From its call on, converting is an error."""

    def convert(text, seconds=0.0):
        raise AssertionError("a text was converted though it had been before")

    return lambda: monkeypatch.setattr(markdown, "convert", convert)


def page_of(client, it) -> str:
    return text(client.get(f"/entries/{it.pk}/"))


class TestSaving:
    def test_a_description_is_converted_when_it_is_saved(self, people, phase, no_conversion, django_capture_on_commit_callbacks):
        it = received(phase, people.team, archive(gables()))
        with django_capture_on_commit_callbacks(execute=True):
            it.edit(description="A *second* try.")
        no_conversion()
        assert "A <em>second</em> try." in page_of(signed_in(people.owner), it)

    def test_what_cannot_be_laid_out_is_shown_as_typed_with_a_note_to_its_author_alone(self, client, people, scored):
        it = scored()
        Submission.objects.filter(pk=it.pk).update(description=DEEP + "<script>")
        for viewer, is_told in ((client, False), (signed_in(people.other), False), (signed_in(people.owner), True)):
            page = page_of(viewer, it)
            assert "1. 1. 1. 1." in page and "&lt;script&gt;" in page
            assert ("This text is shown as it was typed: its lists and quotes stand more than 40 deep" in page) == is_told

    def test_organizers_are_told_on_the_page_and_beside_the_field(self, client, people, challenge, phase):
        Challenge.objects.filter(pk=challenge.pk).update(description=DEEP, rules=DEEP)
        organizer = signed_in(people.organizer)
        for address in (f"/challenges/{challenge.slug}/", f"/challenges/{challenge.slug}/rules/"):
            assert "shown as it was typed" in text(organizer.get(address))
            assert "shown as it was typed" not in text(client.get(address))
        assert text(organizer.get(f"/console/challenges/{challenge.slug}/settings/")).count("shown as it was typed") == 2

    def test_a_page_never_shows_the_html_of_another_text(self, client, people, scored):
        it = scored()
        for words in ("first words", "other words"):
            Submission.objects.filter(pk=it.pk).update(description=words)
            assert f"<p>{words}</p>" in page_of(client, it)


class TestBefore:
    def test_texts_of_before_are_converted_in_the_background_and_those_of_nobody_go(self, challenge, phase, no_conversion, monkeypatch):
        monkeypatch.setattr(texts, "ROUND_SECONDS", 600)
        Challenge.objects.filter(pk=challenge.pk).update(description="*old*", rules=DEEP)
        Announcement.objects.create(challenge=challenge, title="News", body="*old*")
        long_ago = timezone.now() - timedelta(days=2)
        for source, version in (("0" * 64, markdown.VERSION), ("1" * 64, "1")):
            RenderedText.objects.create(source=source, version=version, html="gone", created_at=long_ago)
        assert render_due() == len({"*old*", DEEP, phase.description} - {""})
        assert not RenderedText.objects.filter(html="gone").exists()
        no_conversion()
        assert RenderedText.of("*old*").html == "<p><em>old</em></p>" and RenderedText.of(DEEP).fault == "depth"
        assert render_due() == 0, "at most once an hour"
        cache.clear()
        assert render_due() == 0, "nothing is converted twice"

    def test_a_round_leaves_what_takes_long_to_the_next(self, challenge, monkeypatch):
        Challenge.objects.filter(pk=challenge.pk).update(description="*one*", rules="*two*")
        monkeypatch.setattr(texts, "ROUND_SECONDS", 0)
        assert [render_due() for _ in range(3)] == [1, 1, 0]

    def test_another_version_of_the_converter_converts_anew(self, challenge):
        RenderedText.objects.create(source=RenderedText.digest("*a*"), version="another", html="<script>")
        assert RenderedText.of("*a*").html == "<p><em>a</em></p>"

    def test_readers_do_not_wait_while_another_text_is_converted(self):
        with _converting:
            row = RenderedText.of("*not yet* <b>")
        assert row.pk is None and row.html == "<p>*not yet* &lt;b&gt;</p>"
        assert RenderedText.of("*not yet* <b>").html == "<p><em>not yet</em> <b></b></p>"

    def test_readers_do_not_wait_long_for_a_text_of_before_and_the_sweeper_has_the_time(self, challenge, monkeypatch):
        Challenge.objects.filter(pk=challenge.pk).update(description="*slow*")
        monkeypatch.setattr(markdown, "READER_SECONDS", 0.001)
        assert RenderedText.of("*slow*").html == "<p>*slow*</p>" and not RenderedText.objects.exists()
        assert render_due() >= 1
        assert RenderedText.of("*slow*").html == "<p><em>slow</em></p>"

    def test_every_markdown_field_is_looked_through(self):
        ours = [model for app in ("submissions", "evaluation", "leaderboard") for model in apps.get_app_config(app).get_models()]
        fields = [(model, it) for model in ours for it in model._meta.get_fields() if isinstance(it, models.TextField)]
        said = {(model, it.name) for model, it in fields if "Markdown" in it.help_text}
        assert said | {(Submission, "description")} == set(SOURCES)

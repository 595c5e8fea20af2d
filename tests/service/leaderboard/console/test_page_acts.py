"""Acts on a challenge's pages, and the preview of Markdown."""

from __future__ import annotations

from leaderboard.templatetags.plumbline import kept_laid_out
from submissions.models.challenge import MAX_PAGES
from tests.support.leaderboard.console.acts import confirm
from tests.support.pages import faults


def titles(challenge) -> list[str]:
    return list(challenge.pages.values_list("title", flat=True))


def test_pages_are_added_ordered_edited_and_removed(desk, client, challenge, people, at):
    for slug, title in (("faq", "FAQ"), ("prizes", "Prizes")):
        desk.post(at("pages/"), {"act": "add", "slug": slug, "title": title, "body": f"*{title}*"})
    assert titles(challenge) == ["FAQ", "Prizes"]
    desk.post(at("pages/"), {"act": "move", "slug": "prizes", "to": "up"})
    assert titles(challenge) == ["Prizes", "FAQ"]
    desk.post(at("pages/faq/"), {"title": "Questions", "body": "None."})
    assert list(challenge.pages.values_list("slug", "title", "body")) == [
        ("prizes", "Prizes", "*Prizes*"),
        ("faq", "Questions", "None."),
    ]
    confirm(desk, desk.post(at("pages/prizes/"), {"act": "remove"}))
    assert titles(challenge) == ["Questions"]
    actions = list(challenge.audit.filter(actor=people.organizer).order_by("id").values_list("action", flat=True))
    assert actions == ["page.add", "page.add", "challenge.edit", "page.edit", "page.remove"]


def test_an_address_is_used_once_and_there_are_only_so_many_pages(desk, challenge, at):
    for n in range(MAX_PAGES):
        challenge.pages.create(slug=f"page-{n}", title=f"Page {n}", position=n)
    again = desk.post(at("pages/"), {"act": "add", "slug": "page-0", "title": "Again", "body": ""})
    assert faults(again) == {"slug": ["taken"]}
    desk.post(at("pages/"), {"act": "add", "slug": "one-more", "title": "One more", "body": ""})
    assert len(titles(challenge)) == MAX_PAGES


def test_the_preview_is_what_the_page_will_show(desk, challenge, at):
    text = "# Task\r\n\r\n![roof](pictures/roof.png) <script>alert(1)</script>"
    shown = desk.post(at("markdown/"), {"text": text}).content.decode()
    desk.post(at("pages/"), {"act": "add", "slug": "faq", "title": "FAQ", "body": text})
    page = desk.get(f"/challenges/{challenge.slug}/pages/faq/").content.decode()
    assert shown in page and f'src="/challenges/{challenge.slug}/pictures/roof.png"' in shown and "<script" not in shown
    assert '<p class="alert warning">' in desk.post(at("markdown/"), {"text": "> " * 60 + "deep"}).content.decode()
    kept = kept_laid_out.cache_info().currsize
    for n in range(3):
        desk.post(at("markdown/"), {"text": f"Draft {n} of a text"})
    assert kept_laid_out.cache_info().currsize == kept, "drafts take no memory of the web process"

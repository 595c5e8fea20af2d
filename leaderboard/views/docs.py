"""The service's own documents, kept beside the code as Markdown."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from leaderboard.exports import wheel
from submissions import markdown

FOLDER = Path(__file__).resolve().parent.parent / "docs"
PACKAGE = "https://SERVER/client/plumbline-VERSION-py3-none-any.whl"  # in documents, for this server's own
TITLES = {
    "participants": ("For participants", "Join, prepare an entry, check it, upload it, read the result."),
    "formats": ("File formats", "How to write wireframes, meshes and renders, and what an archive may contain."),
    "client": ("The command line", "Check, score and upload from a terminal."),
    "python": ("In Python", "Metrics, comparisons and studies in notebooks and papers."),
    "api": ("The API", "Do with a program what the pages do."),
    "rating": ("For raters", "How to answer, what is stored, and how to leave."),
    "ranking": ("Ranks and intervals", "How values, intervals, ranks and brackets are computed."),
    "properties": ("Sanity tests of metrics", "How metrics react to known damage, and how to read their table."),
    "studies": ("Studies of people", "What votes tell about entries and metrics, and how each figure is computed."),
    "evidence": ("Published sets", "Analyse answers of people that others published."),
    "organizers": ("For organizers", "Set up a challenge in the browser or as files."),
    "bundle": ("A challenge as files", "Every key of challenge.yaml, with a complete example."),
    "running": ("Run a study", "Have people rate entries, import votes, and train a metric on them."),
    "programs": ("Metrics of your own", "Write a metric as a program: its input, its output, its checks and its sandbox."),
    "judges": ("Judge models", "How a vision-language model is asked, what it costs, and what its answers are worth."),
}


def docs(request: HttpRequest) -> HttpResponse:
    """The list of documents."""
    return render(request, "leaderboard/docs.html", {"titles": TITLES.items()})


def doc(request: HttpRequest, name: str) -> HttpResponse:
    """One document."""
    if name not in TITLES:
        raise Http404
    html = html_of(name)
    if made := wheel.address(request.build_absolute_uri("/")):
        html = mark_safe(html.replace(PACKAGE, made))  # noqa: S308 - an address of our own
    context = {
        "name": name,
        "title": TITLES[name][0],
        "about": TITLES[name][1],
        "html": html,
        "headings": headings_of(name),
        "titles": TITLES.items(),
    }
    return render(request, "leaderboard/doc.html", context)


@lru_cache(maxsize=len(TITLES))
def html_of(name: str) -> SafeString:
    """A document with an anchor at each heading, made of its words."""
    taken: dict[str, int] = {}

    def with_anchor(heading: re.Match[str]) -> str:
        level, words = heading.groups()
        anchor = slugify(strip_tags(words)) or "section"
        taken[anchor] = taken.get(anchor, 0) + 1
        number = f"-{taken[anchor]}" if taken[anchor] > 1 else ""
        place = max(2, int(level) - 1)  # under the page's own heading
        return f'<h{place} id="{anchor}{number}">{words}</h{place}>'

    html = markdown.render((FOLDER / f"{name}.md").read_text()).replace("<pre>", '<pre tabindex="0">')  # which may scroll
    html = html.replace("<th></th>", "<td></td>")  # no head of anything
    return mark_safe(re.sub(r"<h([2-4])>(.*?)</h\1>", with_anchor, html))  # noqa: S308 - our own text


@lru_cache(maxsize=len(TITLES))
def headings_of(name: str) -> list[tuple[str, str]]:
    """The first headings of a document under its title: (anchor, words)."""
    return [(anchor, strip_tags(words)) for anchor, words in re.findall(r'<h2 id="([^"]*)">(.*?)</h2>', html_of(name))]

"""Markdown of organizers and teams as HTML that is safe in a page. PURE.

The text is CommonMark with tables and strikethrough, without raw HTML. The converter's result is reduced to the tags below: no script, no
style, no form, no frame, no id (an id could catch a link or a script of the page), and pictures only from this site.

It is converted when it is read. The converter takes time in proportion to the text; the cleaner does not, where elements lie deep
within each other, and short texts can fill large tables, so both are bounded before it sees them. The slowest of the texts that
`tests/pure/submissions/test_markdown.py` makes takes less than 0.2 seconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape

import nh3
from cmarkgfm import cmark

MAX_CHARACTERS = 100_000  # of a text
MAX_HTML = 500_000  # characters of its HTML: a table of few characters can have a million cells
MAX_DEPTH = 40  # elements within each other
EXTENSIONS = ["table", "strikethrough"]
TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre", "strong"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
}
SCHEMES = {"http", "https", "mailto"}
FAULTS = {
    "size": f"it has more than {MAX_CHARACTERS:,} characters, or more than {MAX_HTML:,} as HTML; make it shorter",
    "depth": f"its lists and quotes are nested more than {MAX_DEPTH} deep; take some levels out",
}


class TooMuch(Exception):
    """A text beyond a bound; the message is a key of `FAULTS`."""


@dataclass(frozen=True)
class LaidOut:
    """The HTML of a text for a page, and a note for its author where the text is shown as it was typed (else empty)."""

    html: str
    note: str = ""


@lru_cache(maxsize=256)
def laid_out(text: str) -> LaidOut:
    """`render` of a text of people; a text beyond a bound is shown as it was typed."""
    try:
        return LaidOut(render(text))
    except TooMuch as bound:
        as_typed = escape(text).replace("\n", "<br>")
        return LaidOut(f"<p>{as_typed}</p>", f"This text is shown as it was typed: {FAULTS[str(bound)]}.")


def render(text: str) -> str:
    """Sanitised HTML of `text`. Headings begin at level 2, since the page has its own level 1; wide tables scroll on their own.

    Raises `TooMuch`.
    """
    if len(text) > MAX_CHARACTERS:
        raise TooMuch("size")
    html = cmark.markdown_to_html_with_extensions(text, extensions=EXTENSIONS)
    if len(html) > MAX_HTML:
        raise TooMuch("size")
    depth = 0
    for closing, tag in re.findall(r"<(/?)([a-z0-9]+)", html):
        if tag not in ("br", "hr", "img"):
            depth += -1 if closing else 1
            if depth > MAX_DEPTH:
                raise TooMuch("depth")
    html = re.sub(r"<(/?)h([1-5])>", lambda found: f"<{found[1]}h{int(found[2]) + 1}>", html)
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        attribute_filter=_local_pictures_only,
        link_rel="nofollow noopener noreferrer",
    )
    return clean.replace("<table>", '<div class="wrap"><table>').replace("</table>", "</table></div>").strip()


def _local_pictures_only(tag: str, attribute: str, value: str) -> str | None:
    if tag == "img" and attribute == "src" and (not value.startswith("/") or value.startswith("//")):
        return None
    return value

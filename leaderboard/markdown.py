"""Markdown of organizers and teams -> HTML that may stand in a page. PURE.

The text comes from people, so whatever the converter makes is cut down to the tags below: no
script, no style, no form, no frame, no id (an id could catch a link or a script of the page), and
pictures only from this site.
"""

from __future__ import annotations

import re
from functools import lru_cache

import markdown
import nh3

MOST_CHARACTERS = 100_000
TAGS = (
    *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em", "h2", "h3", "h4", "h5", "h6"),
    *("hr", "i", "img", "ins", "kbd", "li", "ol", "p", "pre", "s", "samp", "strong", "sub", "sup"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
)
ATTRIBUTES = {"a": {"href", "title"}, "abbr": {"title"}, "img": {"src", "alt", "title", "width", "height"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
MOST_OPEN = 20  # brackets left open or nested deeply that a text may hold
DEEPEST = 6
STAND_INS = {"[": "\ue000", "<": "\ue001"}  # of characters that the converter is not to see
EXTENSIONS = ["tables", "fenced_code", "sane_lists", "toc", "abbr", "def_list"]


@lru_cache(maxsize=256)
def render(text: str) -> str:
    """Sanitised HTML of `text`, whose headings begin at level 2 (the page has its own level 1).

    At most 100,000 characters are read; wide tables can be scrolled on their own.
    """
    converter = markdown.Markdown(extensions=EXTENSIONS, extension_configs={"toc": {"baselevel": 2}})
    html = converter.convert(_tamed(text[:MOST_CHARACTERS]))
    clean = nh3.clean(
        html,
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        url_schemes=SCHEMES,
        attribute_filter=_local_pictures_only,
        link_rel="nofollow noopener noreferrer",
    )
    clean = clean.replace(STAND_INS["["], "[").replace(STAND_INS["<"], "&lt;")
    return clean.replace("<table>", '<div class="wrap"><table>').replace("</table>", "</table></div>")


def _tamed(text: str) -> str:
    """`text`, its brackets put out of the converter's sight where so many are left open, or nested
    so deeply, that it would take minutes: from each of them it reads on to the end of the text."""
    open_at, deep = {"]": 0, ")": 0}, 0
    for sign in re.findall(r"\[|\]\(|[\])]", text):
        if sign != "[":
            open_at[sign[0]] = max(0, open_at[sign[0]] - 1)
        if sign in ("[", "]("):
            kind = "]" if sign == "[" else ")"
            open_at[kind] += 1
            deep += open_at[kind] > DEEPEST
    if max(deep, *open_at.values()) > MOST_OPEN:
        text = text.replace("[", STAND_INS["["])
    if text.count("<") - text.count(">") > MOST_OPEN:
        text = text.replace("<", STAND_INS["<"])
    return text


def _local_pictures_only(tag: str, attribute: str, value: str) -> str | None:
    if tag == "img" and attribute == "src" and (not value.startswith("/") or value.startswith("//") or "\\" in value):
        return None
    return value

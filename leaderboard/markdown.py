"""Markdown of organizers and teams -> HTML that may stand in a page. PURE.

The text comes from people, so whatever the converter makes is cut down to the tags below: no
script, no style, no form, no frame, no id (an id could catch a link or a script of the page), and
pictures only from this site.
"""

from __future__ import annotations

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
EXTENSIONS = ["tables", "fenced_code", "sane_lists", "toc", "abbr", "def_list"]


@lru_cache(maxsize=256)
def render(text: str) -> str:
    """Sanitised HTML of `text`, whose headings begin at level 2 (the page has its own level 1).

    At most 100,000 characters are read; wide tables can be scrolled on their own.
    """
    converter = markdown.Markdown(extensions=EXTENSIONS, extension_configs={"toc": {"baselevel": 2}})
    html = converter.convert(text[:MOST_CHARACTERS])
    clean = nh3.clean(
        html,
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        url_schemes=SCHEMES,
        attribute_filter=_local_pictures_only,
        link_rel="nofollow noopener noreferrer",
    )
    return clean.replace("<table>", '<div class="wrap"><table>').replace("</table>", "</table></div>")


def _local_pictures_only(tag: str, attribute: str, value: str) -> str | None:
    if tag == "img" and attribute == "src" and (not value.startswith("/") or value.startswith("//") or "\\" in value):
        return None
    return value

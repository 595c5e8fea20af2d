"""Markdown of organizers and teams as HTML that is safe in a page. PURE.

The text is CommonMark with tables, strikethrough and formulas ($…$ within a line, $$…$$ on lines of their own), without raw HTML. The
converter's result is reduced to the tags below: no script, style, form, frame or id (an id could catch a link or a script of the page).
Pictures come only from this site: by an address, or as `pictures/NAME` where the text's owner has uploaded pictures.

It is converted when it is read. The converter takes time in proportion to the text; the cleaner does not, where elements lie deep
within each other, and short texts can fill large tables, so both are bounded before it sees them. The slowest of the texts that
`tests/pure/submissions/test_markdown.py` makes takes some eight times as long as prose of the same length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

import nh3
from cmarkgfm import cmark

from submissions import latex

MAX_CHARACTERS = 100_000  # of a text
MAX_HTML = 500_000  # characters of its HTML: a table of few characters can have a million cells
MAX_DEPTH = 40  # elements within each other
MAX_FORMULAS = 10_000  # characters of all formulas of a text
EXTENSIONS = ["table", "strikethrough"]
TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre", "strong"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {
    **dict.fromkeys(latex.TAGS, latex.ATTRIBUTES),
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align"},
}
SCHEMES = {"http", "https", "mailto"}
FAULTS = {
    "size": f"it has more than {MAX_CHARACTERS:,} characters, or more than {MAX_HTML:,} as HTML; make it shorter",
    "formulas": f"its formulas have more than {MAX_FORMULAS:,} characters in all; make them shorter",
    "depth": f"its lists and quotes are nested too deep: more than {MAX_DEPTH} elements, two per level of a list; take some levels out",
}


# Formulas as pandoc tells them from prices: no blank after the first dollar sign or before the last, no letter or digit around them, and no
# code between. What begins with a backslash is none.
_FORMULA = re.compile(
    r"\\[\\$]"
    r"|(?<![\w$])\$\$(?P<block>(?:[^$`\\\n]|\\[^\n]|\n(?![ \t]*\n)){1,2000})\$\$(?![\w$])"
    r"|(?<![\w$])\$(?=\S)(?P<inline>(?:[^$`\\\n]|\\[^\n]){1,2000})(?<!\s)\$(?![\w$])"
)
_MARK = "\ue000{}\ue001"  # stands for a formula while the rest is converted
_MARKED = re.compile(r"(?P<kept><(?P<tag>pre|code)\b.*?</(?P=tag)>|<[^>]*>)|\ue000(?P<number>\d{1,4})\ue001", re.DOTALL)
_MARK_IN_ADDRESS = re.compile("(?:\ue000|%EE%80%80)(\\d{1,4})(?:\ue001|%EE%80%81)")
_PICTURE = re.compile(r"pictures/([^/\\?#]+)")


class TooMuch(Exception):
    """A text beyond a bound; the message is a key of `FAULTS`."""


@dataclass(frozen=True)
class LaidOut:
    """The HTML of a text for a page, and a note for its author where the text, or a formula, is shown as it was typed (else empty)."""

    html: str
    note: str = ""


def laid_out(text: str, pictures: str = "") -> LaidOut:
    """HTML of a text of people; a text beyond a bound is shown as it was typed. Pictures that the text names as `pictures/NAME` are at the
    address `pictures` and their name; without that address they are left out."""
    try:
        return _converted(text, pictures)
    except TooMuch as bound:
        as_typed = escape(text).replace("\n", "<br>")
        return LaidOut(f"<p>{as_typed}</p>", f"This text is shown as it was typed: {FAULTS[str(bound)]}.")


def render(text: str) -> str:
    """Sanitised HTML of `text`. Headings begin at level 2, since the page has its own level 1; wide tables scroll on their own.

    Raises `TooMuch`.
    """
    return _converted(text, "").html


@dataclass(frozen=True)
class _Formula:
    """A formula of a text: as it was typed, its LaTeX, and whether it is on lines of its own."""

    typed: str
    latex: str
    display: bool


def _converted(text: str, pictures: str) -> LaidOut:
    if len(text) > MAX_CHARACTERS:
        raise TooMuch("size")
    text, formulas = _with_marks(text)
    if sum(len(formula.typed) for formula in formulas) > MAX_FORMULAS:
        raise TooMuch("formulas")
    html = cmark.markdown_to_html_with_extensions(text, extensions=EXTENSIONS)
    _check_size(html)
    depth = 0
    for closing, tag in re.findall(r"<(/?)([a-z0-9]+)", html):
        if tag not in ("br", "hr", "img"):
            depth += -1 if closing else 1
            if depth > MAX_DEPTH:
                raise TooMuch("depth")
    html = re.sub(r"<(/?)h([1-5])>", lambda found: f"<{found[1]}h{int(found[2]) + 1}>", html)
    html, notes = _with_formulas(html, formulas)
    _check_size(html)

    def filtered(tag: str, attribute: str, value: str) -> str | None:
        """The value of an attribute; None, which leaves it out, for a picture that is not of this site."""
        if tag != "img" or attribute != "src" or (value.startswith("/") and not value.startswith("//")):
            return value
        own = _PICTURE.fullmatch(value)
        return f"{pictures}{own[1]}" if own and pictures else None

    clean = nh3.clean(
        html,
        tags=TAGS | latex.TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        attribute_filter=filtered,
        link_rel="nofollow noopener noreferrer",
    )
    framed = clean.replace("<table>", '<div class="wrap"><table>').replace("</table>", "</table></div>").strip()
    return LaidOut(framed, " ".join(notes))


def _check_size(html: str) -> None:
    if len(html) > MAX_HTML:
        raise TooMuch("size")


def _with_marks(text: str) -> tuple[str, list[_Formula]]:
    """Text with a numbered mark in the place of each formula, and the formulas."""
    formulas: list[_Formula] = []

    def marked(found: re.Match[str]) -> str:
        block, inline = found["block"], found["inline"]
        if block is None and inline is None:
            return found[0]
        formulas.append(_Formula(found[0], inline if block is None else block, block is not None))
        return _MARK.format(len(formulas) - 1)

    return _FORMULA.sub(marked, text.replace("\ue000", "").replace("\ue001", "")), formulas


def _with_formulas(html: str, formulas: list[_Formula]) -> tuple[str, list[str]]:
    """HTML with MathML in the place of the marks, and a note on each formula that cannot be read and is shown as it was typed."""
    notes: list[str] = []
    unfilled = set(range(len(formulas)))

    def as_typed(found: re.Match[str]) -> str:
        number = int(found[1])
        return escape(formulas[number].typed) if number < len(formulas) else ""

    def filled(found: re.Match[str]) -> str:
        if found["kept"] is not None:  # code, or a tag: nothing in it is a formula
            return _MARK_IN_ADDRESS.sub(as_typed, found["kept"])
        number = int(found["number"])
        if number not in unfilled:  # the author wrote a mark as an entity: a formula is converted once
            return ""
        unfilled.remove(number)
        formula = formulas[number]
        try:
            return latex.mathml(formula.latex, formula.display)
        except latex.FormulaError as error:
            notes.append(f"The formula {formula.typed[:80]} is shown as it was typed: {error}.")
            return f"<code>{escape(formula.typed)}</code>"

    return (_MARKED.sub(filled, html) if formulas else html), notes

"""Pages as tests read them: without the whitespace that the lines of their templates add and that nobody sees, and by the codes of what
they refuse."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.contrib.messages import ERROR, get_messages
from django.http import HttpResponse

from submissions.errors import Refused
from tests.templates import BLOCKS

PARTS = re.compile(r"(<(?:pre|textarea|script|style)\b.*?</(?:pre|textarea|script|style)>)", re.S)
GAP = re.compile(r"(?P<before><[^<>]*>)?\s*\n\s*(?=(?P<after></?[a-zA-Z!][^<>]*>)?)")
TAG = re.compile(r"<[a-zA-Z][^<>\n]*\n[^<>]*>")  # of several lines
LINES = re.compile(r"\s*\n\s*")
WORD = re.compile(r"</?([a-zA-Z0-9]+)")
LAID_OUT = ("li", "form", "label", "summary", "option", "select", "button", "svg", "g", "path")  # around which no test asks for spaces


def compact(page: str) -> str:
    """Whitespace with a line's end becomes nothing beside blocks and at the edges of what stands in a line, one space elsewhere; so does
    a space that does not break."""
    found = PARTS.split(page.replace("\xa0", " "))
    found[::2] = [GAP.sub(_gap, TAG.sub(lambda tag: LINES.sub(" ", tag[0]), part)) for part in found[::2]]
    return "".join(found)


def _gap(match: re.Match[str]) -> str:
    before, after = match["before"] or "", match["after"] or ""
    edge = (before and not before.startswith("</")) or after.startswith("</")
    return before + ("" if edge or _is_block(before) or _is_block(after) else " ")


def _is_block(tag: str) -> bool:
    word = WORD.match(tag)
    return word is not None and (BLOCKS.match(word[1]) is not None or word[1] in LAID_OUT)


def refusal(response: HttpResponse) -> str:
    """Code of the refusal that a page shows: alone, or above the form that was sent."""
    if response.status_code == 409:
        return response.context["code"]
    (code,) = {message.extra_tags for message in get_messages(response.wsgi_request) if message.level == ERROR}
    return code


def levels(response: HttpResponse) -> list[int]:
    """Levels of the messages above a page."""
    return [message.level for message in response.context["messages"]]


def faults(response: HttpResponse, form: str = "form") -> dict[str, list[str]]:
    """Codes of the faults beside each field of a form that came back; of the form as a whole under `__all__`."""
    return {name: [fault.code for fault in found] for name, found in response.context[form].errors.as_data().items()}


def coded(code: str) -> Callable[[Refused], bool]:
    """Check of a refusal by its code, for `pytest.raises(Refused, check=…)`."""
    return lambda refused: refused.code == code

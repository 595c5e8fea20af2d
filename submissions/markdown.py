"""Markdown of organizers and teams -> HTML that may stand in a page. PURE.

The text comes from people, so whatever the converter makes is cut down to the tags below: no
script, no style, no form, no frame, no id (an id could catch a link or a script of the page), and
pictures only from this site.

Some texts keep the converter busy for minutes, or nest until it breaks, so those of people are
converted by `convert`, in a process of its own with limits of the kernel:
`python -m submissions.markdown` reads the text and writes `{"html"}` or `{"fault"}` as JSON.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import traceback
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import markdown
import nh3

# Rises with every change of what `render` makes; kept with the HTML, which is made anew where it differs.
VERSION = f"2, markdown {version('markdown')}, nh3 {version('nh3')}"
MAX_CHARACTERS = 100_000  # of a text
MAX_HTML = 1_000_000  # characters of what becomes of it: abbreviations can make a book of a page
MAX_DEPTH = 40  # elements within each other
CPU_SECONDS = 2  # of one text
WALL_SECONDS = 30  # the same on a busy machine
READER_SECONDS = 1.5  # on the wall, that somebody who opens a page waits for a text of before
MEMORY = 512 << 20  # bytes of address space
TAGS = (
    *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em", "h2", "h3", "h4", "h5", "h6"),
    *("hr", "i", "img", "ins", "kbd", "li", "ol", "p", "pre", "s", "samp", "strong", "sub", "sup"),
    *("table", "tbody", "td", "th", "thead", "tr", "ul"),
)
ATTRIBUTES = {"a": {"href", "title"}, "abbr": {"title"}, "img": {"src", "alt", "title", "width", "height"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
MAX_OPEN = 20  # brackets left open or nested deeply that a text may hold
DEEPEST = 6
STAND_INS = {"[": "\ue000", "<": "\ue001"}  # of characters that the converter is not to see
EXTENSIONS = ["tables", "fenced_code", "sane_lists", "toc", "abbr", "def_list"]


class TooMuch(Exception):
    """The text goes beyond a bound; the message is a key of `FAULTS`."""


FAULTS = {
    "size": f"it has more than {MAX_CHARACTERS:,} characters, or comes to more than {MAX_HTML:,} on the page; make it shorter",
    "depth": f"its lists and quotes stand more than {MAX_DEPTH} deep within each other; take some levels out",
    "time": f"to lay it out takes more than {CPU_SECONDS} seconds; make it shorter or simpler",
    "memory": "to lay it out takes too much memory; make it shorter or simpler",
    "crash": "the converter broke down on it; make it simpler",
}


@dataclass(frozen=True)
class Converted:
    """The HTML of a text, or why there is none (a key of `FAULTS`); `detail` is for operators."""

    html: str = ""
    fault: str = ""
    detail: str = ""


def render(text: str) -> str:
    """Sanitised HTML of `text`, whose headings begin at level 2 (the page has its own level 1); wide
    tables can be scrolled on their own.

    Raises `TooMuch`, and for texts that nest deeply RecursionError.
    """
    if len(text) > MAX_CHARACTERS:
        raise TooMuch("size")
    converter = markdown.Markdown(extensions=EXTENSIONS, extension_configs={"toc": {"baselevel": 2}})
    html = converter.convert(_tamed(text))
    clean = nh3.clean(
        html,
        tags=set(TAGS),
        attributes={tag: set(names) for tag, names in ATTRIBUTES.items()},
        url_schemes=SCHEMES,
        attribute_filter=_local_pictures_only,
        link_rel="nofollow noopener noreferrer",
    )
    clean = clean.replace(STAND_INS["["], "[").replace(STAND_INS["<"], "&lt;")
    clean = clean.replace("<table>", '<div class="wrap"><table>').replace("</table>", "</table></div>")
    if len(clean) > MAX_HTML:
        raise TooMuch("size")
    depth = 0  # of elements within each other
    for closing, tag in re.findall(r'<(/?)([a-z0-9]+)(?: [a-z]+="[^"]*")*>', clean):
        if tag not in ("br", "hr", "img"):
            depth += -1 if closing else 1
            if depth > MAX_DEPTH:
                raise TooMuch("depth")
    return clean


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
    if max(deep, *open_at.values()) > MAX_OPEN:
        text = text.replace("[", STAND_INS["["])
    if text.count("<") - text.count(">") > MAX_OPEN:
        text = text.replace("<", STAND_INS["<"])
    return text


def _local_pictures_only(tag: str, attribute: str, value: str) -> str | None:
    if tag == "img" and attribute == "src" and (not value.startswith("/") or value.startswith("//") or "\\" in value):
        return None
    return value


# --- in a process that can be ended


def convert(text: str, seconds: float = WALL_SECONDS) -> Converted:
    """`render` in a process of its own, within the bounds above; raises TimeoutError where it is not done within `seconds` on
    the wall, and OSError where no process can be started."""
    process = subprocess.Popen(
        [sys.executable, "-m", "submissions.markdown"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).resolve().parent.parent,
        env={"PATH": os.defpath, "LANG": "C.UTF-8"},
    )
    try:
        answer, errors = process.communicate(text.encode(errors="replace"), timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise TimeoutError from None
    if process.returncode == 0:
        return Converted(**json.loads(answer))
    if process.returncode == -signal.SIGXCPU:
        return Converted(fault="time")
    return Converted(fault="crash", detail=errors.decode(errors="replace")[-4000:] or f"it ended with {process.returncode}")


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    text = sys.stdin.buffer.read().decode()
    try:
        answer = {"html": render(text)}
    except TooMuch as bound:
        answer = {"fault": str(bound)}
    except RecursionError:
        answer = {"fault": "depth"}
    except MemoryError:
        answer = {"fault": "memory"}
    except Exception:
        answer = {"fault": "crash", "detail": traceback.format_exc(limit=20)}
    sys.stdout.buffer.write(json.dumps(answer).encode())


if __name__ == "__main__":
    main()

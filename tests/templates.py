"""Break the lines of templates that are longer than 140 characters, where no page changes: `python -m tests.templates [--check]`.

A line is broken where whitespace stands, and where whitespace is never drawn: beside tags of blocks and cells, and at the edges of
what stands in them, whichever branch of `{% if %}` is taken. Attributes are broken between one another. What shows its whitespace
(`pre`, `textarea`, `script`, `style`, class `diff`) and comments stay as they are. `--check` names what is not broken where it
could be, and ends with 1.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from tests import ROOT

MAX_WIDTH = 140
TOKEN = re.compile(
    r"""(?P<raw><(?P<name>pre|textarea|script|style)\b.*?</(?P=name)>|<(\w+)[^>]*class="diff".*?</\3>|<!--.*?-->
        |\{%\ comment.*?endcomment\ %\}|\{\#.*?\#\})
      |(?P<tag></?[a-zA-Z!](?:"(?:\{%.*?%\}|\{\{.*?\}\}|[^"])*"|\{%.*?%\}|\{\{.*?\}\}|[^>"])*>)
      |(?P<django>\{%.*?%\})|(?P<value>\{\{.*?\}\})|(?P<space>\s+)|(?P<text>(?:(?!\{[{%\#])[^<\s])+|<)""",
    re.S | re.X,
)
# `li`, `form` and `summary` are not among them: the style sheet lays some of them out in a line, or draws at their end.
BLOCKS = re.compile(
    "(html|head|title|meta|link|body|div|p|h[1-4]|ul|ol|dl|dt|dd|section|header|footer|nav|main|article|aside|figure|figcaption|"
    "fieldset|legend|hr|table|caption|colgroup|col|thead|tbody|tr|th|td|details|option|rows)$"
)
FRAME = re.compile(r"\{%\s*(table|rows|endtable)\b")  # Django's tags that write tags of HTML: {% rows %} ends one and begins another
IN_A_LINE = re.compile(r'class="[^"]*\b(menu|inline|pair-zoom|sides|chip|scale|tag|meter|ag|by)\b')
# what the style sheet puts in a line, or draws something before or after
FLEX = re.compile(r'class="[^"]*\b(foot)\b')  # between their children no whitespace is drawn
VOID = re.compile("(area|br|col|hr|img|input|link|meta|source|wbr|!doctype|rows)$")
CLOSED = ("button", "select", "svg", "label", "li", "form", "input", "img")
OPEN = ("if", "for", "with", "block", "slot")
MIDDLE = ("else", "elif", "empty")
SILENT = re.compile(r"\{%\s*(load|extends|csrf_token|url\b.*\bas \w+\s*%\})|<input type=.hidden")  # what draws nothing
ATTRIBUTE_SPACE = re.compile(r"""("(?:\{%.*?%\}|\{\{.*?\}\}|[^"])*"|\{%.*?%\}|\{\{.*?\}\})|(\s+)""", re.S)


@dataclass
class Token:
    kind: str
    text: str
    depth: int = 0  # of the gap before it
    after: int = 0  # of the gap after it
    left: bool = False  # whether whitespace before it follows a block or whitespace, whichever way was taken
    right: bool = False  # the same, of what comes after it
    block: bool = False  # of a tag: whether a line begins and ends at it
    closed: bool = False  # of a tag in a line: whether whitespace at its edge may be drawn though there is some outside

    @property
    def word(self) -> str:
        found = re.match(r"</?(\S+?)[\s>/{]|\{%\s*(?:end(?=table))?(\w+)", self.text)
        return ((found[1] or found[2]) if found else "").lower()

    @property
    def closes(self) -> bool:
        return self.text.startswith("</") or bool(re.match(r"\{%\s*end", self.text))

    @property
    def opens(self) -> bool:
        if self.kind == "django":
            return self.word in OPEN
        return self.kind == "tag" and not self.closes and not VOID.match(self.word) and not self.text.endswith("/>")

    @property
    def middle(self) -> bool:
        return self.kind == "django" and self.word in MIDDLE


def tokens_of(text: str) -> list[Token]:
    found = [Token(str(match.lastgroup if match.lastgroup != "name" else "raw"), match[0]) for match in TOKEN.finditer(text)]
    for token, match in zip(found, TOKEN.finditer(text), strict=True):
        token.kind = next(kind for kind in ("raw", "tag", "django", "value", "space", "text") if match[kind] is not None)
        token.kind = "tag" if FRAME.match(token.text) else token.kind
    if "".join(token.text for token in found) != text:
        raise ValueError("not all of it was read")
    return found


def mark(tokens: list[Token]) -> None:
    """Depths, and where whitespace would not be drawn."""
    depth = 0
    for token in tokens:
        if token.closes or token.middle:
            depth -= 1
        token.depth = depth
        depth += token.opens or token.middle
        token.after = depth
    parents: list[tuple[Token, bool]] = []  # and whether its children are
    for token in tokens:
        block = token.kind == "tag" and bool(BLOCKS.match(token.word))
        if token.kind == "tag" and token.opens:
            token.closed = bool(IN_A_LINE.search(token.text)) or token.word in CLOSED
            block = bool(parents and parents[-1][1]) or (block and not token.closed)
            parents.append((token, bool(FLEX.search(token.text))))
        elif token.kind == "tag" and token.closes:
            while parents and parents[-1][0].word != token.word:
                parents.pop()
            opened = parents.pop()[0] if parents else Token("tag", "")
            block, token.closed = opened.block, opened.closed
        token.block = block
    _sweep(tokens, "left")
    _sweep(tokens, "right")


def _sweep(tokens: list[Token], side: str) -> None:
    """Set, on each token, whether in all ways what stands before it (after it, from the right) ends with whitespace or at a block."""
    order = range(len(tokens)) if side == "left" else range(len(tokens) - 1, -1, -1)
    now = False  # another template may include this one in the middle of a line
    ways: list[tuple[bool, list[bool], bool, str]] = []  # before it, ends of its branches, whether one is always taken, its word
    for n in order:
        token = tokens[n]
        setattr(token, side, now)
        enters, leaves = (token.opens, token.closes) if side == "left" else (token.closes, token.opens)
        if token.kind == "django" and enters:
            word = token.word.removeprefix("end")
            ways.append((now, [], word not in ("if", "for"), word))
            now = now and word != "for"  # what a turn begins with follows what the one before ended with
        elif token.middle and ways:
            before, ends, whole, word = ways.pop()
            ways.append((before, [*ends, now], whole or token.word in ("else", "empty"), word))
            now = before
        elif token.kind == "django" and leaves and ways:
            before, ends, whole, _ = ways.pop()
            now = all([*ends, now]) and (whole or before)
        elif token.kind == "space" or (token.kind == "raw" and token.text.startswith(("{%", "{#", "<!--"))):
            now = now or token.kind == "space"
        elif SILENT.match(token.text):
            pass
        elif token.kind == "tag" and (token.block or BLOCKS.match(token.word)):
            now = token.block
        elif token.kind == "tag":
            now = now and enters and not token.closed
        else:
            now = False


def broken(text: str) -> str:
    """The template with its long lines broken."""
    tokens = tokens_of(text)
    mark(tokens)
    lines: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "space" and "\n" in token.text:
            _, *middle, _ = token.text.split("\n")
            lines += [[] for _ in middle] + [[]]
        else:
            lines[-1].append(token)
    return "\n".join("\n".join(_laid_out(line)) for line in lines)


def _laid_out(tokens: list[Token]) -> list[str]:
    while tokens and tokens[0].kind == "space":
        tokens = tokens[1:]
    while tokens and tokens[-1].kind == "space":
        tokens = tokens[:-1]
    if not tokens:
        return [""]
    if any("\n" in token.text for token in tokens):
        return [" " * tokens[0].depth + "".join(token.text for token in tokens)]
    return _pieces(tokens, "", 0)


def _pieces(tokens: list[Token], indent: str, base: int) -> list[str]:
    while tokens and tokens[0].kind == "space":
        tokens = tokens[1:]
    while tokens and tokens[-1].kind == "space":
        tokens = tokens[:-1]
    if not tokens:
        return []
    own = indent + " " * (tokens[0].depth - base)
    line = own + "".join(token.text for token in tokens)
    if len(line) <= MAX_WIDTH:
        return [line]
    gaps = [n for n in range(1, len(tokens)) if _may_break(tokens, n)]
    if not gaps:
        return _by_attributes(tokens, own)
    least = min(tokens[n - 1].after for n in gaps)
    gaps = [n for n in gaps if tokens[n - 1].after == least]
    structural = [n for n in gaps if _is_structure(tokens[n]) or _is_structure(tokens[n - 1])]
    cuts = structural or gaps
    parts = [tokens[a:b] for a, b in zip([0, *cuts], [*cuts, len(tokens)], strict=True)]
    found: list[str] = []
    run: list[Token] = []  # siblings that fit one line
    for part in [*parts, None]:
        together = [*run, *(part or [])]
        fits = part is not None and _level(part) and (not run or len(own) + len("".join(t.text for t in together)) <= MAX_WIDTH)
        if fits:
            run = together
            continue
        if run:
            found += _pieces(run, indent, base)
        run = []
        if part is not None:
            if _level(part):
                run = part
            else:
                found += _pieces(part, indent, base)
    return found


def _level(tokens: list[Token]) -> bool:
    """True if it closes all that it opens and nothing else."""
    return (
        tokens[0].depth == tokens[-1].after
        and all(token.depth >= tokens[0].depth for token in tokens)
        and not (tokens[0].middle or tokens[0].closes)
    )


def _is_structure(token: Token) -> bool:
    return token.kind == "django" or token.block


def _may_break(tokens: list[Token], n: int) -> bool:
    before, after = tokens[n - 1], tokens[n]
    return after.kind == "space" or (before.kind != "space" and (after.left or before.right))


def _by_attributes(tokens: list[Token], indent: str) -> list[str]:
    """Tags that cling to each other and are too long for a line: broken between attributes."""
    words = [""]
    for token in tokens:
        cuts = [match.start(2) for match in ATTRIBUTE_SPACE.finditer(token.text) if match[2]] if token.kind == "tag" else []
        first, *more = (token.text[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(token.text)], strict=True))
        words[-1] += first
        words += more
    found = [indent + words[0]]
    for word in words[1:]:
        if len(found[-1]) + 1 + len(word) <= MAX_WIDTH:
            found[-1] += " " + word
        else:
            found.append(indent + "  " + word)
    return found


def templates() -> list[Path]:
    return sorted(path for room in ("submissions", "evaluation", "leaderboard") for path in (ROOT / room).rglob("templates/**/*.html"))


def main(*given: str) -> int:
    unbroken = []
    for path in templates():
        before = path.read_text()
        after = before
        for _ in range(5):  # what was broken once may be broken again inside
            after, last = broken(after), after
            if after == last:
                break
        if after != before:
            unbroken.append(path)
            if "--check" not in given:
                path.write_text(after)
    for path in unbroken:
        print(f"{path.relative_to(ROOT)}: {'has lines to break; run python -m tests.templates' if '--check' in given else 'broken'}")
    return int(bool(unbroken) and "--check" in given)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

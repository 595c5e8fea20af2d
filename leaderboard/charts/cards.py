"""Pictures that pasted links show: a small line, a claim, a drawing, figures, and a band with the service's mark.

A `Sheet` is all that a card says; `layout` places every text where it has been measured to fit, and `drawn` paints that. Letters are from
the one font that Pillow brings, which knows no more than English; see `legible`.
"""

from __future__ import annotations

import io
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from leaderboard.records.chart import shortened
from leaderboard.records.front import SlopeLine
from leaderboard.wording.ranks import place

SIZE = (1200, 630)  # of a card, in pixels
MARGIN, BAND = 60, 558  # at the sides; where the band begins
BODY_END = BAND - 18
FINER = 2  # how much finer all is drawn first
GROUND, FOOT, LINE = "#ffffff", "#fbfbf9", "#e4e4df"
TONES = {"ink": "#1b1d1f", "soft": "#62686d", "accent": "#1f5fbf", "warn": "#a35600", "grey": "#a8aeb3"}
LEADING = 1.2
MIN_STEP = 27  # pixels between two lines of a slope chart, for names of 19
MIN_BAR = 120  # of a strip, in pixels
MIN_WITH_DIGITS = 800  # pixels across strips that show their intervals in digits too
MAX_LETTERS_OF_LINE = 400  # more than fit into the width in the smallest size
INSTEAD = str.maketrans({"–": "-", "−": "-", "‑": "-", "≠": "!="})  # of signs that the font has no shapes for
HAS_NO_SHAPE = "\uffff"


@dataclass(frozen=True)
class Words:
    """A piece of a sentence in one colour, by its name in `TONES`."""

    text: str
    tone: str = "ink"


Sentence = tuple[Words, ...]


@dataclass(frozen=True)
class Row:
    """A line of a list: a rank, a name, and the text at the right."""

    left: str
    name: str
    right: str = ""


@dataclass(frozen=True)
class Figure:
    """A large figure, or word, and its label."""

    value: str
    words: str


@dataclass(frozen=True)
class Strip:
    """A value on its scale: `dot`, `left` and `width` of its interval are percentages; `more` is the interval in digits."""

    name: str
    value: str
    more: str = ""
    place: str = ""
    dot: float | None = None
    left: float = 0.0
    width: float = 0.0


@dataclass(frozen=True)
class SlopeChart:
    """Two orders of entries, the second by people, and the heading of the first."""

    lines: tuple[SlopeLine, ...]
    left: str


@dataclass(frozen=True)
class Sheet:
    """All that a card says, from top to bottom: `service` opens the site's own card alone; each sentence of the claim begins a line. At the
    left of the body is one of chart, picture (an encoded image) and rows, at the right figures or strips; one alone takes the full width.
    `note` says what the strips are of."""

    line: str
    claim: tuple[Sentence, ...]
    beneath: tuple[Sentence, ...] = ()
    service: str = ""
    chart: SlopeChart | None = None
    picture: bytes | None = None
    rows: tuple[Row, ...] = ()
    figures: tuple[Figure, ...] = ()
    strips: tuple[Strip, ...] = ()
    note: str = ""
    foot: str = ""
    simulated: bool = False

    @property
    def words(self) -> str:
        """The claim and the text beneath it as plain text."""
        return " ".join("".join(piece.text for piece in sentence) for sentence in (*self.claim, *self.beneath))


# --- letters


@lru_cache(maxsize=64)
def _font(size: float) -> ImageFont.FreeTypeFont:
    """Pillow's font, laid out in the same way on every machine."""
    found = ImageFont.load_default(size)
    if not isinstance(found, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType, so cards cannot be drawn; install its wheel.")
    return found.font_variant(layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def _has_shape(letter: str) -> bool:
    shape, none = (_font(20).getmask(one) for one in (letter, HAS_NO_SHAPE))
    return letter == " " or (shape.size, bytes(shape)) != (none.size, bytes(none))


def plain(text: str) -> str:
    """The letters that the font has shapes for, without their accents; none that turn the direction of writing round."""
    apart = unicodedata.normalize("NFKD", text.translate(INSTEAD))
    return " ".join("".join(letter if letter != "\n" else " " for letter in apart if letter == "\n" or _drawable(letter)).split())


def _drawable(letter: str) -> bool:
    return letter.isprintable() and not unicodedata.combining(letter) and _has_shape(letter)


def legible(name: str, instead: str) -> str:
    """The name if the font can write it; `instead` where it has no shapes for most of its letters."""
    letters = [letter for letter in unicodedata.normalize("NFKD", name) if letter.isalnum()]
    written = sum(_drawable(letter) for letter in letters)
    return plain(name) if letters and 2 * written > len(letters) else plain(instead)


def _stroke(size: float, bold: bool) -> float:
    """Width of the line around letters that makes them bold; as much is put between them."""
    return size / 46 if bold else 0.0


def _length(text: str, size: float, bold: bool = False) -> float:
    """Width in pixels."""
    return _font(size * FINER).getlength(text) / FINER + len(text) * _stroke(size, bold)


def _fitting(text: str, size: float, width: float, bold: bool) -> int:
    """Number of the first letters that fit into the width, at least one."""
    return max(1, bisect_right(range(1, len(text) + 1), width, key=lambda n: _length(text[:n], size, bold)))


def _cut(text: str, size: float, width: float, bold: bool = False) -> str:
    """The text, cut in its middle where it is wider."""
    if _length(text, size, bold) <= width:
        return text
    n = bisect_right(range(2, len(text)), width, key=lambda most: _length(shortened(text, most), size, bold))
    return shortened(text, n + 1) if n else ""


def _wrapped(sentence: Sentence, size: float, width: float, bold: bool) -> list[Sentence]:
    """The sentence in lines that are no wider; a word that is wider itself is broken."""
    pieces = [Words(plain_spaced(piece.text), piece.tone) for piece in sentence]
    text, tones = "".join(piece.text for piece in pieces), [piece.tone for piece in pieces for _ in piece.text]
    lines, start = [], 0
    while start < len(text):
        end = start + _fitting(text[start : start + MAX_LETTERS_OF_LINE], size, width, bold)
        if end < len(text) and text[end] != " " and (blank := text.rfind(" ", start, end)) > start:
            end = blank
        line: list[Words] = []
        for letter, tone in zip(text[start:end], tones[start:end], strict=True):
            if line and line[-1].tone == tone:
                line[-1] = replace(line[-1], text=line[-1].text + letter)
            else:
                line.append(Words(letter, tone))
        lines.append(tuple(line))
        start = end
        while start < len(text) and text[start] == " ":
            start += 1
    return lines


def plain_spaced(text: str) -> str:
    """Plain text, with the blanks at the ends that separate it from its neighbours."""
    return f"{' ' * text[:1].isspace()}{plain(text)}{' ' * text[-1:].isspace()}" if text.strip() else " " * bool(text)


# --- places


@dataclass(frozen=True)
class Text:
    """A text on its base line `y`; `anchor` is l, m or r for the part of it that is at `x`."""

    x: float
    y: float
    text: str
    size: float
    tone: str = "ink"
    bold: bool = False
    anchor: str = "l"

    @property
    def box(self) -> tuple[float, float, float, float]:
        """(left, top, right, bottom) of its ink, in pixels."""
        font, bold = _font(self.size * FINER), _stroke(self.size, self.bold)
        left, top, right, bottom = (end / FINER for end in font.getbbox(self.text, anchor="ls", stroke_width=FINER * bold))
        return self.start + left, self.y + top, self.start + right + (len(self.text) - 1) * bold, self.y + bottom

    @property
    def start(self) -> float:
        """Left end of its first letter."""
        return self.x - {"l": 0.0, "m": 0.5, "r": 1.0}[self.anchor] * _length(self.text, self.size, self.bold)

    @property
    def pieces(self) -> list[tuple[float, str]]:
        """(x, the text that begins there): bold letters one by one, with space between them."""
        if not self.bold:
            return [(self.start, self.text)]
        return [(self.start + _length(self.text[:n], self.size, True), letter) for n, letter in enumerate(self.text)]


@dataclass(frozen=True)
class Stroke:
    """A straight line."""

    ends: tuple[float, float, float, float]
    colour: str
    width: float


@dataclass(frozen=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    colour: str


@dataclass(frozen=True)
class Placed:
    """A picture in the box (left, top, right, bottom) that it may fill."""

    data: bytes
    box: tuple[float, float, float, float]


@dataclass
class Layout:
    """Everything that is painted, with its place."""

    texts: list[Text] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    pictures: list[Placed] = field(default_factory=list)

    def write(self, x: float, y: float, text: str, size: float, tone: str = "ink", bold: bool = False, anchor: str = "l") -> None:
        if text := plain(text):
            self.texts.append(Text(x, y, text, size, tone, bold, anchor))

    def sentences(
        self, top: float, sentences: Sequence[Sentence], sizes: Sequence[float], height: float, bold: bool, left: float, width: float
    ) -> float:
        """Sentences in the largest size in which they fit into so many pixels, or in one a little smaller in which each takes one line; cut
        at the smallest. Return where they end."""
        tried = [(size, [line for one in sentences for line in _wrapped(one, size, width, bold)]) for size in sizes]
        fitting = [(size, lines) for size, lines in tried if len(lines) * LEADING * size <= height] or tried[-1:]
        one_each = (one for one in fitting if len(one[1]) == len(sentences) and one[0] >= 0.75 * fitting[0][0])
        size, lines = next(one_each, fitting[0])
        room = max(1, int(height / (LEADING * size)))
        if len(lines) > room:
            last = [*lines[room - 1], Words(" "), *lines[room]]
            n = _fitting("".join(piece.text for piece in last), size, width - _length("…", size, bold), bold)
            while sum(len(piece.text) for piece in last[:-1]) >= n:
                last.pop()
            end = last[-1].text[: n - sum(len(piece.text) for piece in last[:-1])].rstrip()
            lines = [*lines[: room - 1], (*last[:-1], replace(last[-1], text=f"{end}…"))]
        for n, line in enumerate(lines):
            before = ""
            for piece in line:
                before += " " * (len(piece.text) - len(piece.text.lstrip()))
                self.write(left + _length(before, size, bold), top + size + n * LEADING * size, piece.text, size, piece.tone, bold)
                before += piece.text.lstrip()
        return top + len(lines) * LEADING * size


def layout(sheet: Sheet) -> Layout:
    """Places of all that a card says."""
    found, right = Layout(), SIZE[0] - MARGIN
    top, end = _head(found, sheet) + 22, float(BODY_END)
    if sheet.note:
        found.write(MARGIN, end - 2, _cut(plain(sheet.note), 20, right - MARGIN), 20, "soft")
        end -= 34
    _body(found, sheet, top, end)
    found.strokes.append(Stroke((0, BAND, SIZE[0], BAND), LINE, 2))
    found.strokes.append(Stroke((75, 582, 75, 595), TONES["accent"], 2.5))
    found.write(102, 604, "Plumbline", 26, bold=True)
    found.write(right, 602, _cut(plain(sheet.foot), 20, right - 280), 20, "soft", anchor="r")
    return found


# Sizes of letters that are tried, the largest first, and the height of the sentences. SERVICE: the service's own, by whether a claim
# follows. CLAIM: by whether the service's sentence is above it, and something below it. BENEATH: by whether something is below the text.
SERVICE: dict[bool, tuple[tuple[float, ...], float]] = {True: ((40, 36), 100.0), False: ((60, 54, 46), 230.0)}
CLAIM: dict[tuple[bool, bool], tuple[tuple[float, ...], float]] = {
    (True, True): ((36, 32, 28, 25), 90.0),
    (True, False): ((46, 41, 36, 32), 112.0),
    (False, True): ((54, 48, 42, 37, 33, 29), 132.0),
    (False, False): ((68, 60, 54, 48, 42), 170.0),
}
BENEATH: dict[bool, tuple[tuple[float, ...], float]] = {True: ((32, 29, 26, 23), 96.0), False: ((38, 34, 30, 26), 190.0)}


def _head(found: Layout, sheet: Sheet) -> float:
    """Write the sentences; return where they end."""
    right, width, y, small = SIZE[0] - MARGIN, SIZE[0] - 2 * MARGIN, 48.0, 26
    has_left = sheet.chart is not None or sheet.picture is not None or bool(sheet.rows)
    has_body = has_left or bool(sheet.figures or sheet.strips)
    if sheet.service:
        y, small = 14 + found.sentences(y, [(Words(sheet.service),)], *SERVICE[bool(sheet.claim)], True, MARGIN, width), 22
        if sheet.claim:
            found.strokes.append(Stroke((MARGIN, y, right, y), LINE, 2))
            y += 8
    tag = "simulated" if sheet.simulated else ""
    if sheet.line or tag:
        found.write(right, y + small, tag, small, "warn", True, "r")
        room = width - (_length(tag, small, True) + 30 if tag else 0)
        found.write(MARGIN, y + small, _cut(plain(sheet.line), small, room), small, "soft")
        y += small + 12
    if sheet.claim:
        y += 0 if sheet.service or has_body else 70  # there is room, and nothing else to look at
        sizes = CLAIM[bool(sheet.service), has_left if sheet.service else has_body]
        y = found.sentences(y, sheet.claim, *sizes, True, MARGIN, width)
    if sheet.beneath:
        y = found.sentences(y + 4, sheet.beneath, *BENEATH[has_body], False, MARGIN, width)
    return y


def _body(found: Layout, sheet: Sheet, top: float, end: float) -> None:
    """Draw something at the left, something at the right, or one of them alone."""
    right, right_from = SIZE[0] - MARGIN, float(MARGIN)
    left = MARGIN, top, 690 if sheet.figures or sheet.strips else right, end
    if sheet.chart is not None:
        _slope(found, sheet.chart, left)
        right_from = 730
    elif sheet.picture is not None:
        found.pictures.append(Placed(sheet.picture, (MARGIN, top, 470, end)))
        right_from = 520
    elif sheet.rows:
        _rows(found, sheet.rows, left)
        right_from = 730
    if sheet.strips:
        _strips(found, sheet.strips, (right_from, top, right, end))
    elif right_from > MARGIN:
        _figures(found, sheet.figures, (right_from, top, right, end))
    elif sheet.figures:  # side by side, if they are alone
        gap, n = 40, len(sheet.figures)
        each = (right - MARGIN - (n - 1) * gap) / n
        for k, figure in enumerate(sheet.figures):
            start = MARGIN + k * (each + gap)
            _figures(found, (figure,), (start, top, start + each, end))


Box = tuple[float, float, float, float]  # left, top, right, bottom


def _slope(found: Layout, chart: SlopeChart, box: Box) -> None:
    left, top, right, bottom = box
    room = max(3, int((bottom - top - 36) / MIN_STEP) + 1)
    by_left = sorted(chart.lines, key=lambda line: line.left)
    if len(by_left) > room:  # as many as there is room for: those with a name first
        kept = sorted(by_left, key=lambda line: (not line.kind, line.left))[:room]
        by_left = [line for line in by_left if line in kept]
    by_right = sorted(by_left, key=lambda line: line.right)
    step = min(42.0, (bottom - top - 36) / max(1, len(by_left) - 1))
    size, first = min(21.0, step * 0.72), top + 36
    names = {line.id: _cut(legible(line.name, f"entry {line.id}"), size, (right - left) * 0.52, bool(line.kind)) for line in by_left}
    names_end = left + max(110.0, *(_length(names[line.id], size, bool(line.kind)) for line in by_left))
    x0 = names_end + 18
    x1 = min(right - 90, x0 + 240)
    found.write(x0, top + 12, _cut(plain(chart.left), 18, x1 - x0 + 60), 18, "soft", anchor="m")
    found.write(x1, top + 12, "people", 18, "soft", anchor="m")
    tones = {"metrics": "ink", "people": "accent", "split": "warn"}
    for line in chart.lines:
        if line not in by_left:
            continue
        y0, y1 = first + step * by_left.index(line), first + step * by_right.index(line)
        tone, is_named = tones.get(line.kind, "soft"), bool(line.kind)
        colour = TONES[tone if is_named else "grey"]
        found.strokes.append(Stroke((x0, y0, x1, y1), colour, 5 if is_named else 2.5))
        for x, y in ((x0, y0), (x1, y1)):
            found.dots.append(Dot(x, y, 7 if is_named else 6, colour))
        found.write(names_end, y0 + size * 0.35, names[line.id], size, tone, is_named, "r")
        found.write(x1 + 18, y1 + size * 0.35, place(line.place), size, tone, is_named)


def _rows(found: Layout, rows: Sequence[Row], box: Box) -> None:
    left, top, right, bottom = box
    size = 32.0 if right - left > 800 else 27.0
    step = min(62.0, (bottom - top) / len(rows))
    side = max(_length(plain(row.left), size) for row in rows)
    for n, row in enumerate(rows):
        y = top + n * step + size
        end = _cut(plain(row.right), size * 0.8, (right - left) * 0.42)
        found.write(left, y, row.left, size, "soft")
        start, room = left + side + 24, right - (_length(end, size * 0.8) + 30 if end else 0)
        found.write(start, y, _cut(plain(row.name), size, room - start, n == 0), size, bold=n == 0)
        found.write(right, y, end, size * 0.8, "soft", anchor="r")


def _figures(found: Layout, figures: Sequence[Figure], box: Box) -> None:
    left, y, right, bottom = box
    for n, figure in enumerate(figures):
        step = (bottom - y) / (len(figures) - n)
        size, value = min(46.0, step * 0.4), plain(figure.value)
        if value:
            y += size
            own = size * min(1.0, (right - left) / _length(value, size, True))
            found.write(left, y - size * 0.15, value, own, bold=True)
        y = 22 + found.sentences(y, [(Words(figure.words, "soft"),)], (23, 21, 19), step - size - 22, False, left, right - left)


def _strips(found: Layout, strips: Sequence[Strip], box: Box) -> None:
    left, top, right, bottom = box
    if right - left < MIN_WITH_DIGITS:  # an interval is drawn; its digits are shown if there is room for both
        strips = [replace(strip, more="") for strip in strips]
    step = min(62.0, (bottom - top) / len(strips))
    size = min(25.0, step * 0.6)
    small = size * 0.8
    places, values, more = (
        max(_length(plain(text), at, bold) for text in texts)
        for texts, at, bold in (
            ([strip.place for strip in strips], size, False),
            ([strip.value for strip in strips], size, True),
            ([strip.more for strip in strips], small, False),
        )
    )
    place_x = right - places
    more_x = place_x - (18 if places else 0) - more
    value_x = more_x - (8 if more else 0) - values
    names = min(max(_length(plain(strip.name), size) for strip in strips), value_x - left - 36 - MIN_BAR)
    x0, x1 = left + names + 18, value_x - 18
    for n, strip in enumerate(strips):
        y = top + (n + 0.5) * step
        base = y + size * 0.35
        found.write(left, base, _cut(plain(strip.name), size, names), size)
        found.write(value_x + values, base, strip.value, size, bold=True, anchor="r")
        found.write(more_x, base, strip.more, small, "soft")
        found.write(place_x, base, strip.place, size, "accent" if strip.place == "1st" else "soft")
        found.strokes.append(Stroke((x0, y, x1, y), LINE, 2))
        if strip.dot is None:
            continue
        along, colour = (x1 - x0) / 100, TONES["accent"]
        if strip.width:
            found.strokes.append(Stroke((x0 + strip.left * along, y, x0 + (strip.left + strip.width) * along, y), colour, 6))
        found.dots.append(Dot(x0 + strip.dot * along, y, 8, colour))


# --- pixels


@lru_cache(maxsize=256)
def drawn(sheet: Sheet) -> bytes:
    """A card as PNG."""
    image = Image.new("RGB", (SIZE[0] * FINER, SIZE[1] * FINER), GROUND)
    draw, found = ImageDraw.Draw(image), layout(sheet)
    draw.rectangle((0, BAND * FINER, SIZE[0] * FINER, SIZE[1] * FINER), fill=FOOT)
    for stroke in found.strokes:
        draw.line([end * FINER for end in stroke.ends], fill=stroke.colour, width=round(stroke.width * FINER))
    mark = [(70, 594), (80, 594), (78, 602), (75, 609), (72, 602)]
    draw.polygon([(x * FINER, y * FINER) for x, y in mark], fill=TONES["accent"])
    for dot in found.dots:
        box = (dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius)
        draw.ellipse([end * FINER for end in box], fill=dot.colour)
    for text in found.texts:
        font, bold = _font(text.size * FINER), FINER * _stroke(text.size, text.bold)
        for x, piece in text.pieces:
            draw.text((x * FINER, text.y * FINER), piece, fill=TONES[text.tone], font=font, anchor="ls", stroke_width=bold)
    for placed in found.pictures:
        with Image.open(io.BytesIO(placed.data)) as opened:
            picture = opened.convert("RGBA")
        left, top, right, bottom = (end * FINER for end in placed.box)
        fit = min((right - left) / picture.width, (bottom - top) / picture.height)
        size = max(1, round(picture.width * fit)), max(1, round(picture.height * fit))  # a logo may be one pixel wide
        picture = picture.resize(size, Image.Resampling.LANCZOS)
        at = round((left + right - picture.width) / 2), round((top + bottom - picture.height) / 2)
        image.paste(picture, at, picture)
    out = io.BytesIO()
    image.reduce(FINER).save(out, "PNG", optimize=True)
    return out.getvalue()

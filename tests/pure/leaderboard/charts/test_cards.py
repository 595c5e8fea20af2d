"""Cards: every text in its place, whatever names hold, and pixels where the sheet says so."""

from __future__ import annotations

import io
from itertools import combinations, pairwise

import pytest
from PIL import Image

from leaderboard.charts.cards import (
    BAND,
    SIZE,
    TONES,
    Figure,
    Row,
    Sheet,
    SlopeChart,
    Strip,
    Words,
    drawn,
    layout,
    legible,
    plain,
)
from leaderboard.records.front import STEP, TOP, SlopeLine

LONG = "a-name-without-an-end-" * 9
CLAIM = ((Words("The metrics put one first."),), (Words("People prefer "), Words("two", "accent"), Words(".")))


def chart(n: int, name: str = "method", title: str = "metrics") -> SlopeChart:
    """Orders that are each other's opposite, so that all lines cross."""
    kinds = {0: "metrics", n - 1: "people", n // 2: "split"}
    return SlopeChart(
        tuple(
            SlopeLine(
                id=k, name=f"{name} {k}", left=TOP + STEP * k, right=TOP + STEP * (n - 1 - k), kind=kinds.get(k, ""), place=(n - k, n - k)
            )
            for k in range(n)
        ),
        title,
    )


def picture(size: tuple[int, int] = (576, 384)) -> bytes:
    out = io.BytesIO()
    Image.new("RGBA", size, "#00ff00").save(out, "WEBP", lossless=True)
    return out.getvalue()


FIGURES = (Figure("more than 99 of 100", "words " * 40), Figure("1,234,567", "judgements " * 20))
STRIPS = tuple(Strip(name, "0.1234", "+.0039 -.0114", "11th", 50.0, 0.0, 100.0) for name in ("M" * 200, "a", "النموذج", "x" * 60, "b"))
HOSTILE = {
    "parted": Sheet(
        LONG, ((Words(LONG),), (Words(LONG, "accent"),)), chart=chart(8, LONG, LONG), figures=FIGURES, foot=LONG, simulated=True
    ),
    "site": Sheet(LONG, CLAIM, service="Why this is here. " * 12, chart=chart(8, LONG), figures=FIGURES, foot=LONG, simulated=True),
    "site without": Sheet("", (), service="Why this is here. " * 12, figures=(*FIGURES, *FIGURES)[:3]),
    "entry": Sheet(
        LONG, ((Words(LONG),),), ((Words(LONG, "accent"), Words(LONG)),), picture=picture(), strips=STRIPS, note=LONG, foot=LONG
    ),
    "thin": Sheet("a", ((Words("word " * 40),),), ((Words("word " * 60),),), picture=picture((1, 1200)), figures=FIGURES),
    "strips": Sheet("a", ((Words("word " * 40),),), ((Words("word " * 99),),), strips=STRIPS, note=LONG, simulated=True),
    "rows": Sheet(
        "", ((Words("a"),),), rows=tuple(Row(str(10**n), LONG, LONG) for n in range(3)), figures=FIGURES, note="n", simulated=True
    ),
    "rows alone": Sheet("", ((Words("a"),),), rows=(Row("1", LONG, LONG), Row("2", "网络", "b"), Row("3", "", "c"))),
    "words": Sheet("a", ((Words("\u202eword\u0000 " * 90),),), ((Words("W" * 400),),), foot="b"),
    "few": Sheet("a · b", CLAIM, chart=chart(3), figures=(Figure("", "mean opinion scores"),), foot="c"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_every_text_lies_in_the_card_and_on_no_other(name):
    texts = layout(HOSTILE[name]).texts
    assert len(texts) > 2
    for text in texts:
        left, top, right, bottom = text.box
        assert 55 <= left < right <= SIZE[0] - 55 and 30 <= top < bottom <= SIZE[1] - 8, text
        assert bottom <= BAND or top >= BAND, text
    for one, other in combinations(texts, 2):
        (a, b, c, d), (e, f, g, h) = one.box, other.box
        assert min(c, g) - max(a, e) <= 1.5 or min(d, h) - max(b, f) <= 0.5, (one, other)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_card_is_a_png_of_its_size(name):
    data = drawn(HOSTILE[name])
    image = Image.open(io.BytesIO(data))
    assert image.size == SIZE and len(image.getcolors(1 << 20)) > 50 and len(data) < 300_000


def test_of_many_lines_those_with_a_name_are_drawn_where_little_room_is_left():
    found = layout(Sheet("a", CLAIM, service="b", chart=chart(40), figures=FIGURES))
    names = {text.text for text in found.texts if text.text.startswith("method")}
    assert {"method 0", "method 39", "method 20"} < names and 6 <= len(names) < 12
    heights = sorted(text.y for text in found.texts if text.text in names)
    assert min(after - before for before, after in pairwise(heights)) >= 18


def test_the_line_of_whom_people_prefer_goes_up_in_its_colour():
    found = layout(Sheet("a", CLAIM, chart=chart(5), foot="b"))
    line = next(stroke for stroke in found.strokes if stroke.colour == TONES["accent"] and stroke.width == 5)
    x0, y0, x1, y1 = line.ends
    assert y0 > y1 and x0 < x1
    image = Image.open(io.BytesIO(drawn(Sheet("a", CLAIM, chart=chart(5), foot="b"))))
    for x, y in ((x0, y0), (x1, y1)):
        assert "#{:02x}{:02x}{:02x}".format(*image.getpixel((round(x), round(y)))) == TONES["accent"]


def test_an_interval_is_drawn_around_its_value():
    found = layout(Sheet("a", (), strips=(Strip("People", "80 %", "[70, 85]", "1st", 80.0, 70.0, 15.0), Strip("b", "–"))))
    scale, interval = (next(one for one in found.strokes if one.width == width) for width in (2, 6))
    (dot,) = found.dots  # nothing of what has no value
    length = scale.ends[2] - scale.ends[0]
    assert [(x - scale.ends[0]) / length for x in (interval.ends[0], dot.x, interval.ends[2])] == pytest.approx([0.7, 0.8, 0.85])
    assert "[70, 85]" in {text.text for text in found.texts}


def test_a_picture_keeps_its_shape_and_leaves_the_other_half_to_strips():
    sheet = Sheet("a", ((Words("b"),),), picture=picture(), strips=STRIPS)
    image = Image.open(io.BytesIO(drawn(sheet)))
    green = [(x, y) for x in range(0, SIZE[0], 3) for y in range(0, SIZE[1], 3) if image.getpixel((x, y)) == (0, 255, 0)]
    across, down = (max(one[n] for one in green) - min(one[n] for one in green) for n in (0, 1))
    assert across / down == pytest.approx(1.5, abs=0.05) and max(x for x, _ in green) < 480
    assert min(text.box[0] for text in layout(sheet).texts if text.text in ("a", "b", "x" * 60) and text.size < 26) > 500


def test_letters_that_the_font_cannot_write():
    assert plain("rank 1–4, −.05") == "rank 1-4, -.05"
    assert plain("Häuser\u202e\nüber Zürich") == "Hauser uber Zurich"
    assert legible("網路重建", "entry 7") == legible("نموذج", "entry 7") == legible("!!", "entry 7") == "entry 7"
    assert legible("網路 gable-net v3", "entry 7") == "gable-net v3" and legible("Müller", "entry 7") == "Muller"


def test_the_same_sheet_is_drawn_once():
    drawn.cache_clear()
    assert drawn(Sheet("a", CLAIM)) == drawn(Sheet("a", CLAIM)) != drawn(Sheet("a", CLAIM, simulated=True))
    assert drawn.cache_info().misses == 2

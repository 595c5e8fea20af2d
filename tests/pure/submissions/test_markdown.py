"""Markdown in, harmless HTML out."""

from __future__ import annotations

import time

import pytest

from submissions import markdown
from submissions.markdown import convert, render


def test_headings_begin_below_the_pages_own():
    assert render("# Rooflines\n\n## Data") == "<h2>Rooflines</h2>\n<h3>Data</h3>"


def test_tables_lists_code_and_links_come_through():
    html = render("| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n```\nx < y\n```\n\n[paper](https://example.org/p)")
    assert '<div class="wrap"><table>' in html and "</table></div>" in html
    assert "<li>two</li>" in html
    assert "<code>x &lt; y" in html
    assert '<a href="https://example.org/p" rel="nofollow noopener noreferrer">paper</a>' in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](  JaVaScRiPt:alert(1))",
        '<a href="data:text/html,<script>alert(1)</script>">x</a>',
        "<svg><script>alert(1)</script></svg>",
        "<style>body{display:none}</style>",
        '<p style="position:fixed">x</p>',
        '<iframe src="https://example.org"></iframe>',
        '<form action="/accounts/logout/"><button>x</button></form>',
        '<p id="main" class="problem">x</p>',
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    ],
)
def test_nothing_active_comes_through(text):
    html = render(text).lower()
    for word in ("<script", "onerror=", 'href="javascript', 'href="data:', "<style", "style=", "<iframe", "<form", " id=", " class="):
        assert word not in html


def test_pictures_come_from_this_site_only():
    assert 'src="/static/roof.png"' in render("![roof](/static/roof.png)")
    for elsewhere in ("https://example.org/t.png", "//example.org/t.png", "/\\example.org/t.png"):
        assert "src=" not in render(f"![roof]({elsewhere})")


@pytest.mark.parametrize(
    "text",
    ["[" * 10_000, "![" * 5_000, "[a](" * 2_500, "[" * 5_000 + "]" * 5_000, "<a " * 3_333],
    ids=["brackets", "pictures", "links", "nested", "elements"],
)
def test_brackets_that_are_never_closed_do_not_keep_the_server_busy(text):
    start = time.process_time()
    html = render(text)
    assert time.process_time() - start < 3, "the converter alone needs up to two minutes"
    assert html.count("[") + html.count("&lt;") == text.count("[") + text.count("<"), "nothing of the text is lost"


def test_a_usual_number_of_brackets_is_left_alone():
    text = "See [a [b] c](https://example.org/x), [1], [2] and intervals [0, 1) of p < 0.05.\n\n" * 5
    assert render(text).count('<a href="https://example.org/x"') == 5
    assert "&lt; 0.05" in render(text)


class TestConvert:
    """Whatever people write, it is laid out or refused with a reason within the limits of a process that is ended."""

    def test_it_is_what_render_makes(self):
        text = "# Rooflines\n\n- one\n- *two* é 房\n"
        assert convert(text) == markdown.Converted(html=render(text))

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("1. " * 3333, "depth"),
            ("> " * 3000 + "x", "depth"),
            ("<div>" * 60 + "x", "depth"),
            ("x" * (markdown.MAX_CHARACTERS + 1), "size"),
            ("*[a]: " + "long " * 2000 + "\n\n" + "a " * 2000, "size"),
            ("a\n=\n" * 25_000, "time"),
        ],
        ids=["lists", "quotes", "elements", "long", "abbreviations", "headings"],
    )
    def test_what_goes_beyond_a_bound_is_told_by_its_name(self, text, fault):
        assert convert(text) == markdown.Converted(fault=fault) and fault in markdown.FAULTS

    @pytest.mark.parametrize(
        "text",
        ["a\n: b\n" * 1666, "a\n=\n" * 2500, "| a " * 20_000, "`" * 9_999, "*a " * 5_000, "&" * 10_000],
        ids=["definitions", "headings", "columns", "ticks", "stars", "ampersands"],
    )
    def test_no_text_makes_it_fail(self, text):
        found = convert(text)
        assert bool(found.html) != bool(found.fault) and not found.detail

    def test_a_process_that_is_not_done_is_ended(self):
        with pytest.raises(TimeoutError):
            convert("a\n=\n" * 25_000, seconds=0.01)

    def test_as_deep_as_it_may_be(self):
        assert render("> " * (markdown.MAX_DEPTH - 1) + "x").count("<blockquote>") == markdown.MAX_DEPTH - 1
        with pytest.raises(markdown.TooMuch, match="depth"):
            render("> " * markdown.MAX_DEPTH + "x")

"""Markdown in, harmless HTML out."""

from __future__ import annotations

import pytest

from leaderboard.markdown import render


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


def test_a_very_long_text_is_cut_rather_than_converted_for_minutes():
    assert len(render("a " * 200_000)) < 110_000

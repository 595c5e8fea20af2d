"""Markdown in, harmless HTML out."""

from __future__ import annotations

import random
import time

import pytest

from submissions import markdown
from submissions.markdown import laid_out, render


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
    for elsewhere in ("https://example.org/t.png", "//example.org/t.png", "t.png"):
        assert "src=" not in render(f"![roof]({elsewhere})")
    assert 'src="/%5Cexample.org/t.png"' in render("![roof](/\\example.org/t.png)"), "a browser reads it as a path of this site"


def test_pictures_of_the_texts_owner_are_named_by_their_folder():
    own = laid_out(
        "![roof](pictures/a%20roof.png) ![no](pictures/../../x.png) ![no](https://example.org/pictures/t.png)", "/c/pictures/"
    ).html
    assert own.count("src=") == 1 and '<img src="/c/pictures/a%20roof.png" alt="roof">' in own
    assert "src=" not in laid_out("![roof](pictures/roof.png)").html


def test_formulas_are_told_from_prices_code_and_addresses():
    html = render("For $5 or US$7, $HOME/$USER, `$a$`, \\$x\\$ and [a](https://example.org/$b$)\n\n    $c$\n\n| a |\n|--|\n| $d_1$ |")
    assert html.count("<math") == 1 and "<msub><mi>d</mi><mn>1</mn></msub>" in html
    for as_typed in ("$5 or US$7, $HOME/$USER", "<code>$a$</code>", "$x$ and", 'href="https://example.org/$b$"', "<code>$c$"):
        assert as_typed in html
    block = render("Then\n\n$$\na *b* c\n$$")
    assert block.startswith("<p>Then</p>\n<p><math") and 'display="block"' in block and "<em>" not in block


def test_a_formula_that_cannot_be_read_is_shown_as_typed_with_a_note():
    found = laid_out("Both $x_1_2$ and *b*")
    assert "<code>$x_1_2$</code>" in found.html and "<em>b</em>" in found.html
    assert found.note.startswith("The formula $x_1_2$ ")
    for marks in ("\ue0007\ue001", "&#xE000;7&#xE001;", "[a](https://example.org/%EE%80%807%EE%80%81)", "`&#xE000;7&#xE001;`"):
        assert render(f"{marks} $x$").count("<math") == 1, "marks of the author stand for nothing"


def test_html_of_the_author_is_left_out_and_its_words_stay():
    assert render("a <b>bold</b> word") == "<p>a bold word</p>"
    assert "&lt;b&gt;" in render("`<b>`") and "p &lt; 0.05" in render("p < 0.05")


def test_columns_of_tables_are_aligned():
    assert '<td align="right">2</td>' in render("| a | b |\n|---|--:|\n| 1 | 2 |")


def test_as_deep_as_it_may_be():
    assert render("> " * (markdown.MAX_DEPTH - 1) + "x").count("<blockquote>") == markdown.MAX_DEPTH - 1
    with pytest.raises(markdown.TooMuch, match="depth"):
        render("> " * markdown.MAX_DEPTH + "x")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("1. " * 3333, "depth"),
        ("> " * 3000 + "<b>&", "depth"),
        (">" * 5_000 + "\na" * 2_500, "depth"),
        ("x" * (markdown.MAX_CHARACTERS + 1), "size"),
        ("$x^2$ " * 2_001, "formulas"),
        ("|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n" + "a\n" * 10_000, "size"),
    ],
    ids=["lists", "quotes", "continued quotes", "long", "formulas", "table of empty cells"],
)
def test_a_text_beyond_a_bound_is_shown_as_typed_with_a_note(text, fault):
    found = laid_out(text)
    assert markdown.FAULTS[fault] in found.note and "<script" not in found.html
    assert "<b>" not in found.html and found.html.count("&lt;b&gt;&amp;") == text.count("<b>&")


def test_a_usual_text_has_no_note():
    assert laid_out("*a*") == markdown.LaidOut("<p><em>a</em></p>")


UNITS = (
    *("$x^{y}$ ", "$$a ", "$a", "$", "$a\n", "\\$"),
    *("> ", "- ", "1. ", "* - 1. ", "> - ", "[", "![", "[a](", "[a][", "]", "<a ", "<", "&", "`", "*a ", "**a ", "_a*", "~~a ", "a\n=\n"),
    *(
        "| a ",
        "|a|\n|-|\n",
        "\\",
        "&amp;",
        "[a]: b\n",
        "[a](b)",
        "![[]()",
        "*_",
        "**a** ",
        "# a\n",
        "- a\n",
        "- a\n\n",
        "|\n",
        "<!--",
        "\0",
    ),
)


PROSE = "Some *words* of a [paper](https://example.org/p), `code` and more words.\n\n"


def seconds(text: str) -> float:
    """Processor time that a text takes."""
    start = time.process_time()
    laid_out(text)
    return time.process_time() - start


def test_no_text_keeps_the_server_busy():
    """The slowest text takes some eight times as long as prose of the same length; time that grows with the square of the length is more
    than a hundred times as long. What a busy machine delays is measured again."""
    bound = markdown.MAX_CHARACTERS
    texts = [(unit * bound)[:bound] for unit in UNITS]
    for columns in (50, 200, 1000, 10_000):
        head = "|" + "a|" * columns + "\n|" + "-|" * columns + "\n"
        texts += [(head + row * bound)[:bound] for row in ("|\n", "a\n")]
    texts += [
        "[" * (bound // 2) + "]" * (bound // 2),
        "[" * (bound // 5) + "](a)" * (bound // 5),
        ">" * (bound // 2) + "\na" * (bound // 4),
    ]
    texts.append(("$x^2$ " * bound)[: markdown.MAX_FORMULAS])
    texts.append(("$" + "x^{a}" * 199 + "$" + "&#xE000;0&#xE001;" * bound)[:bound])
    texts += ["".join("  " * k + "- a\n" for k in range(300)), "".join("`" * k + "a" for k in range(440))]
    draw = random.Random(0)
    texts += ["".join(draw.choices("[]()*_`~<>!|-#\n &;:a1.\\\"'", k=bound)) for _ in range(5)]
    prose = min(seconds((PROSE * bound)[:bound]) for _ in range(3))
    slow = [text for text in texts if seconds(text[:bound]) > 30 * prose]
    assert [text[:40] for text in slow if min(seconds(text[:bound]) for _ in range(3)) > 30 * prose] == []

import html
import re

import pytest
from cmarkgfm import github_flavored_markdown_to_html

from leaderboard.exports.tables import markdown
from tests.support.leaderboard.export_tables import TABLE, one_name


def test_whole_table():
    assert markdown.write(TABLE).splitlines() == [
        "**Rooflines 2026, Test phase**  ",
        "Snapshot 7f3a, 2026-11-21T01:02Z, <https://example.org/s/7f3a>",
        "",
        "| Rank | Entry | HSS ↑ | Corner offset \\[m\\] ↓ |",
        "| ---: | :--- | ---: | ---: |",
        "| 1 (1–2) | gable-net v3 (Ridgeline) | **0.612** ±.028 | 0.10000 ±.00050 |",
        "| 2 | pc-to-edges (TU Hillside) \\[verified\\] | 0.5970 | **0.080** ±.010 |",
        "| – | hull (Organizers) \\[baseline\\] | 0.90 ±.10 | 0.05000 |",
        "| – | sketch | – | – |",
    ]


@pytest.mark.parametrize("name", ["a|b", "a\\|b", "`a|b`", "<b>x</b>", "[x](javascript:y)", "*a*", "&lt;", "![x](y)"])
def test_a_name_stays_in_its_cell_as_plain_text(name):
    page = github_flavored_markdown_to_html(markdown.write(one_name(name)))
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page)
    assert len(cells) == 3
    assert "<" not in cells[1] and html.unescape(cells[1]) == f"{name} (T)"


def test_a_name_of_several_lines_becomes_one():
    assert "| a b\\|c (T) |" in markdown.write(one_name("a\nb|c"))

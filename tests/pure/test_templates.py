"""Places where lines of templates are broken, and where they are not."""

from __future__ import annotations

import re

import pytest
from django.template import Template

from tests import ROOT
from tests.templates import broken, templates

LONG = "words " * 30


def flat(text: str) -> str:
    return " ".join(text.split())


def test_cells_of_a_row_stand_in_lines_of_their_own():
    cells = "".join(f'<td class="number">{{{{ row.value_{n} }}}}</td>' for n in range(6))
    found = broken(f"<table><tbody><tr>{cells}</tr></tbody></table>\n")
    assert found.splitlines()[:4] == ["<table>", " <tbody>", "  <tr>", "   " + cells[: cells.index("<td", 100)]]
    assert found.replace("\n", "").replace(" <", "<").replace("> ", ">").replace(" ", "") == flat(
        f"<table><tbody><tr>{cells}</tr></tbody></table>"
    ).replace(" ", "")


@pytest.mark.parametrize(
    "line",
    [
        f"<p>{'x' * 80}<b>{'y' * 80}</b>{'z' * 20}</p>",  # between a word and what clings to it
        f'<li><a href="/">{"x" * 80}</a></li><li><a href="/">{"y" * 80}</a></li>',  # a list may be laid out in a line
        f'<span>{{{{ a }}}}{{% if b %}}<i class="{"x" * 140}">c</i>{{% endif %}}</span>',
    ],
)
def test_what_clings_together_stays_together(line):
    assert "".join(broken(line).split()) == "".join(line.split())
    assert flat(broken(line)).replace("<p> ", "<p>").replace(" </p>", "</p>") == line


def test_text_is_filled_and_branches_of_a_cell_are_broken():
    found = broken(f"<td>{{% if a %}}{LONG}{{% else %}}<b>no</b>{{% endif %}}</td>")
    assert found.splitlines()[0] == "<td>" and found.splitlines()[1].strip() == "{% if a %}" and found.splitlines()[-1] == "</td>"
    assert max(map(len, found.splitlines())) <= 140


def test_a_branch_that_follows_text_is_not():
    line = f"<p>{LONG}a{{% if b %}}<i>{LONG.strip()}</i>{{% endif %}}</p>"
    assert "a{% if b %}<i>words" in flat(broken(line))


@pytest.mark.parametrize("name", ["pre", "textarea", "script", "style"])
def test_what_shows_its_whitespace_stays(name):
    line = f"<{name}>{LONG}<div></div>{LONG}</{name}>"
    assert broken(line) == line


def test_attributes_are_broken_between_one_another():
    found = broken(f'<input type="text" title="{"a b " * 30}" {{% if c %}}checked{{% endif %}} class="n m" name="{{{{ name }}}}">')
    assert len(found.splitlines()) > 1 and "a b " * 30 in found and flat(found).endswith('class="n m" name="{{ name }}">')


def test_every_template_is_as_the_formatter_leaves_it():
    assert [path.name for path in templates() if broken(path.read_text()) != path.read_text()] == []


@pytest.mark.parametrize(
    "path", [path for app in ("leaderboard", "submissions") for path in (ROOT / app / "templates").rglob("*.*")], ids=str
)
def test_every_template_loads_the_tags_that_it_uses(path):
    Template(path.read_text())


def test_days_and_moments_are_written_by_the_tags_that_know_the_zone():
    assert [path.name for path in templates() if "|date:" in path.read_text() or "|time:" in path.read_text()] == []


BY_HAND = {
    "an interval": r"(?<!!)\[\s*\{\{[^}]*\}\}\s*,|\{\{ [^}]*(low|\.0|\.1)\b[^}]*\}\}\s*(%\s*)?(to|–)\s*\{\{ [^}]*(high|\.1|\.2)\b[^}]*\|",
    "a plural": r"\|pluralize|(==|!=|>) 1 %\}\s*(\w)\w*\s*\{% else %\}\s*\2\w*\s*\{% endif",
    "the scale of agreement": r'class="ag\b',
}


@pytest.mark.parametrize("what", BY_HAND)
def test_what_the_tags_draw_is_written_by_no_template(what):
    written = "[{{ f.low|percent }}, {{ f.high|percent }}]" if what == "an interval" else '{{ n|pluralize }} <span class="ag">'
    assert re.search(BY_HAND[what], written)
    folders = [ROOT / app / "templates" for app in ("leaderboard", "submissions")]
    texts = {path: path.read_text() for folder in folders for path in folder.rglob("*.*")}
    assert {path.name: found[0] for path, text in texts.items() if (found := re.search(BY_HAND[what], text))} == {}

"""Citations of published sets: their authors, never this service."""

from __future__ import annotations

import pytest

from leaderboard.exports.citation import PublishedCitation
from leaderboard.stats.evidence.record import EvidenceRecord, Licence, SetSource

SOURCE = SetSource(repository="https://github.com/example/set", commit="ab" * 20)


def record(authors: str, **more: str) -> EvidenceRecord:
    known = {"name": "small", "title": "Roofs & walls", "material": "meshes", "raters_are": "columns"}
    return EvidenceRecord(**known, authors=authors, licence=Licence("none"), source=SOURCE, **more)


def test_authors_year_and_paper_come_before_the_data():
    cite = PublishedCitation.of(record("Ann Lee, Bo Ray and Cy Fox", published="2024-05", doi="10.1/x"))
    assert cite.line == (
        f"Ann Lee, Bo Ray and Cy Fox (2024). Roofs & walls. https://doi.org/10.1/x. Data: {SOURCE.repository}, commit {'ab' * 20}."
    )
    assert cite.bibtex == (
        "@misc{small,\n  author = {Ann Lee and Bo Ray and Cy Fox},\n  title = {Roofs \\& walls},\n  year = {2024},\n"
        "  howpublished = {\\url{https://doi.org/10.1/x}},\n"
        f"  note = {{Data: \\url{{{SOURCE.repository}}}, commit {'ab' * 20}}}\n}}"
    )


def test_authors_whom_the_source_does_not_name_are_left_out():
    cite = PublishedCitation.of(record("not stated in the repository"))
    assert cite.line == f"Roofs & walls. Data: {SOURCE.repository}, commit {'ab' * 20}." and "author" not in cite.bibtex
    assert f"howpublished = {{\\url{{{SOURCE.repository}}}}}" in cite.bibtex


@pytest.mark.parametrize("authors", ["Ann Lee", "Ann Lee, Bo Ray", "Anders Sandberg and Randi Land"])
def test_names_are_parted_at_commas_and_at_the_word_and_alone(authors):
    named = authors.replace(" and ", ", ").split(", ")
    assert f"author = {{{' and '.join(named)}}}" in PublishedCitation.of(record(authors)).bibtex

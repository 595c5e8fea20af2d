"""Nouns with their numbers."""

from __future__ import annotations

import pytest

from leaderboard.records.people import Basis
from leaderboard.wording.nouns import answers, counted, listed, people, plural
from leaderboard.wording.people import basis, withdrawn


@pytest.mark.parametrize(
    ("noun", "many"), [("house", "houses"), ("box", "boxes"), ("body", "bodies"), ("bay", "bays"), ("front view", "front views")]
)
def test_the_plural_is_formed_by_rule(noun, many):
    assert (plural(noun), plural(noun, 1)) == (many, noun)


def test_numbers():
    assert (counted(1, "entry"), counted(5000, "entry")) == ("1 entry", "5,000 entries")
    assert (answers(1, False), answers(1200, False), answers(1, True)) == ("1 vote", "1,200 votes", "1 rating")
    assert (people(None), people(1), people(12)) == ("raters unknown", "1 rater", "12 raters")


def test_lists():
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")] == ["", "a", "a and b", "a, b or c"]
    assert listed("abcde", most=4) == "a, b, c and 2 others" and listed("abcd", most=4) == "a, b, c and d"


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (("votes", 1200, 11), "1,200 votes by 11 raters"),
        (("ratings", 1, 1), "1 rating by 1 rater"),
        (("votes", 9, None), "9 votes by raters unknown"),
        (("means", 0, None), "published means, raters unknown"),
        (("means", 0, 9), "published means, 9 raters"),
    ],
)
def test_what_figures_are_of(of, words):
    assert basis(Basis(of=of[0], n=of[1], raters=of[2])) == words


def test_what_was_withdrawn():
    assert [withdrawn(n, False) for n in (0, 1, 3)] == ["", "1 vote was withdrawn since", "3 votes were withdrawn since"]

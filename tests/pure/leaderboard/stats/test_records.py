"""Records of a study without entries that the reader is told nothing of."""

from __future__ import annotations

from leaderboard.stats.records import Entry, places_among


def entry(name: str, low: int, high: int, part: int = 1) -> Entry:
    return Entry(method=name, part=part, implied=(0.5, 0.4, 0.6), rank=(low, high), may_be_first=low == 1)


def places(scales: list[Entry], *labels: str) -> list[tuple]:
    return [(line.method, line.rank, line.may_be_first) for line in places_among(scales, labels)]


def test_places_are_those_among_the_entries_that_are_left():
    """h is surely better than all others, and of these a than c alone."""
    scales = [entry("h", 1, 1), entry("a", 2, 3), entry("b", 2, 4), entry("c", 3, 4)]
    assert places_among(scales, ()) == scales
    assert places(scales, "h") == [("a", (1, 2), True), ("b", (1, 3), True), ("c", (2, 3), False)]
    assert places(scales, "c") == [("h", (1, 1), True), ("a", (2, 3), False), ("b", (2, 3), False)]
    # Of a it is not known whether it is among those surely better than b, which are one: b may be first of two.
    assert places(scales, "a", "h") == [("b", (1, 2), True), ("c", (1, 2), True)]


def test_parts_that_never_met_have_places_of_their_own():
    scales = [entry("a", 1, 2), entry("b", 1, 2), entry("c", 1, 1, part=2), entry("d", 2, 2, part=2)]
    assert places(scales, "c") == [("a", (1, 2), True), ("b", (1, 2), True), ("d", (1, 1), True)]

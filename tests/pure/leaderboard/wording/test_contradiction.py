"""Statements on the first entry, and on where metrics and people differ."""

from __future__ import annotations

import pytest

from leaderboard.records.front import FirstByMeans, Front, Parted, Split, Turned
from leaderboard.records.people import Basis
from leaderboard.wording import contradiction
from leaderboard.wording.statement import Statement, Tone, name, person

VOTES, RATINGS = Basis(of="votes", n=1200, raters=9), Basis(of="ratings", n=1, raters=None)
FIRST = Front(id=1, name="ridge", team="t", metric="F1", value=(0.9, 0.87, 0.93))
PARTED = Parted(metrics=("a", 1), people=("b", 2), ends=(0.7, 0.6, 0.8), basis=VOTES, simulated=False, imported=False)
TURNED = Turned(metric="F1", first=("a", 1), preferred=("b", 2), ends=(0.999, 0.9, 1.0), basis=VOTES, simulated=False, sample="")
SCORED = PARTED.model_copy(update={"ends": (0.52, 0.31, 0.7), "basis": RATINGS})


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (FIRST, "ridge is first, F1 0.900 ±.030."),
        (FIRST.model_copy(update={"open": 2}), "ridge is first, F1 0.900 ±.030; 2 other entries may be first too."),
        (FIRST.model_copy(update={"level": 2}), "ridge and 1 other entry share first place."),
        (FIRST.model_copy(update={"level": 3}), "ridge and 2 other entries share first place."),
    ],
)
def test_the_first_entry(record, said):
    assert contradiction.first(record).text == said


@pytest.mark.parametrize(
    ("record", "said", "figures"),
    [
        (
            PARTED,
            "The metrics put a first. People prefer b. People would pick b in 70 of 100 comparisons of the two [60, 80].",
            [
                ("70 of 100", "comparisons of these two in which people would pick b, 95 % interval [60, 80]"),
                ("1,200", "votes by 9 raters on all entries of the study"),
            ],
        ),
        (
            TURNED,
            "F1 puts a before b. People prefer b. People would pick b in more than 99 of 100 comparisons of the two [90, 100].",
            [
                ("more than 99 of 100", "comparisons of these two in which people would pick b, 95 % interval [90, 100]"),
                ("1,200", "votes by 9 raters on all entries of the study"),
            ],
        ),
        (
            SCORED,
            "The metrics put a first. People prefer b. People score b 0.52 points higher [0.31, 0.70].",
            [
                ("0.52 points", "by which people score b higher, on a scale from 1 to 5, 95 % interval [0.31, 0.70]"),
                ("1", "rating by raters unknown on all entries of the study"),
            ],
        ),
        (
            PARTED.model_copy(update={"ends": (None, None, None)}),
            "The metrics put a first. People prefer b.",
            [("1,200", "votes by 9 raters on all entries of the study")],
        ),
    ],
)
def test_where_metrics_and_people_differ(record, said, figures):
    statement = contradiction.statement(record)
    assert (statement + contradiction.how_often(record)).text == said and contradiction.figures(record) == figures
    assert [part.text for part in statement.parts if part.tone is Tone.PERSON] == ["b"]
    assert statement.text.endswith(" People prefer b.") and len(statement.text.split()) <= 20


def test_the_widest_difference():
    assert contradiction.split(Split("a", "F1", 2, (3, 4))) == "Widest of the significant contradictions: a is 2nd by F1, 3–4 with people."


def test_a_statement_is_its_parts():
    said = Statement.of("The metrics put ", name("a"), "", " first.")
    assert len(said.parts) == 3 and str(said) == "The metrics put a first." and not Statement() and not Statement.of("")
    assert (said + Statement.of("People prefer ", person("b"), ".")).text == "The metrics put a first. People prefer b."
    assert said + Statement() == said and Statement() + said == said and (said + "So.").text.endswith("first. So.")


def test_first_places_by_means_alone_are_told_apart_from_tested_ones():
    found = FirstByMeans(metrics=("Zip", 1), people=("Mip", 2), rank=7, lines=(), ids=(1, 2))
    said = contradiction.by_means(found)
    assert said.text == (
        "The metrics put Zip first. People's published means put Mip first, which the metrics rank 7th. "
        "Published means alone do not say how certain this is."
    )
    assert contradiction.by_means(found.model_copy(update={"rank": None})).text.startswith(
        "The metrics put Zip first. People's published means put Mip first. Published means"
    )

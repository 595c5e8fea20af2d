"""The protocol's order, its plan as published, what every question says, and the verdicts that are read of answers."""

import csv
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.studies.judge.instructions import (
    CRITERIA,
    ENSEMBLE,
    KEYS,
    PLANS,
    WIREFRAME_ROW,
    Row,
    instruction,
    side,
    verdicts,
    wireframe_instruction,
    without,
)

EVERY = {(name, n): row for name, (_, rows) in PLANS.items() for n, row in enumerate(rows)}


def test_the_criteria_stand_in_the_order_of_the_protocol():
    assert KEYS == (
        "text_asset_alignment",
        "plausibility_3d",
        "texture_geometry_coherency",
        "texture_details",
        "geometry_details",
        "overall",
    )
    for one in CRITERIA:
        assert 2 <= len(re.findall(r"[.:?] ", one.text + " ")) <= 5, one.key


def test_the_plan_is_the_published_one(data_folder):
    with (data_folder.parent / "published" / "gpteval_config_ensembles.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    published = [
        Row(
            int(r["num_views"]),
            r["rgb"] == "1",
            r["normal"] == "1",
            tuple(map(int, r["criteria_order"].split())),
            int(r["num_comparisons"]),
        )
        for r in rows
    ]
    assert published == list(ENSEMBLE) and sum(row.comparisons for row in ENSEMBLE) == 1500
    for row, line in zip(ENSEMBLE, rows, strict=True):  # n4_rgb_d013: four views, colour alone, criteria 0, 1 and 3
        name = line["instruction_file"].rpartition("/")[2]
        assert name.startswith(f"n{row.views}_") and ("rgb" in name) == (not row.normal)
        assert "full" in name or name.endswith(f"d{''.join(map(str, row.criteria))}.txt")


def test_the_published_criteria_are_these(data_folder):
    with (data_folder.parent / "published" / "gpteval_config_elo.csv").open(newline="") as stream:
        assert next(csv.reader(stream))[1:7] == list(KEYS)


@pytest.mark.parametrize("row", EVERY.values(), ids=[f"{name}-{n}" for name, n in EVERY])
def test_every_question_names_its_criteria_in_order_and_its_example_can_be_parsed(row):
    text = instruction(row, "a red chair")
    titles = [f"{n}. {CRITERIA[number].title}." for n, number in enumerate(row.criteria, 1)]
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    for number in set(range(6)) - set(row.criteria):
        assert CRITERIA[number].text not in text
    example = text[text.index("Analysis:") : text.index("The text is:")]
    assert verdicts(example, len(row.criteria)) is not None
    assert '"a red chair"' in text.splitlines()[-2]
    assert ("normals" in text.split("\n\n")[0]) == row.normal


def test_only_the_perturbations_that_a_row_has_are_spoken_of():
    plain, marked = (instruction(PLANS[name][1][0], "x") for name in ("joint", "watermark"))
    assert "Left and Right" in marked and "Left and Right" not in plain
    assert "normals are above" in instruction(PLANS["normals-on-top"][1][0], "x") and "normals are above" not in plain
    assert "this number" in instruction(ENSEMBLE[1], "x") and "6 numbers" in plain
    assert "independently" in plain and "independently" not in instruction(ENSEMBLE[1], "x")


def test_the_text_is_quoted_on_one_line():
    assert '"a red chair"' in instruction(ENSEMBLE[0], "a red\n\n  chair ")


def test_without_a_text_alignment_cannot_be_asked_and_the_rest_can():
    with pytest.raises(ValueError, match=r"give prompts\.json"):
        instruction(ENSEMBLE[0], " ")
    row = without(ENSEMBLE[0], 0)
    assert row.criteria == (1, 2, 3, 4, 5) and row.comparisons == 200
    assert "same text" not in instruction(row, "") and "The text is" not in instruction(row, "")
    assert without(ENSEMBLE[1], 0) is None


def test_the_wireframe_judge_must_end_with_a_side():
    text = wireframe_instruction()
    assert side(text) == (1,) and "Blue" in text and "incomplete" in text and WIREFRAME_ROW.images == 2


# --- answers


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("1. The left …\n2. …\nFinal answer:\n1 2 2 3 2 1", 6, (-1, 1, 1, 0, 1, -1)),
        ("1, 2, 2", 3, None),
        ("4 1", 2, None),
        ("1 2", 3, None),
        ("1 2 3 1", 3, None),
        ("1  2 3", 3, None),
        ("Final answer: 1 2 3", 3, None),
        ("  2  \n\n", 1, (1,)),
        ("1 2 3.", 3, (-1, 1, 0)),
        ("**1 2 3**", 3, (-1, 1, 0)),
        ("**1 2 3.**", 3, (-1, 1, 0)),
        ("`3 3`", 2, (0, 0)),
        ("```\n1 2\n```", 2, None),
        ('"1 2".', 2, (-1, 1)),
        ("“2 1”", 2, (1, -1)),
        ("'2'", 1, (1,)),
        ("01 2", 2, None),
        ("+1 2", 2, None),
        ("1.0 2", 2, None),
        ("１ 2", 2, None),
        ("I cannot help with that.", 1, None),
        ("", 1, None),
        ("   \n \n", 2, None),
        ('"', 1, None),
        ("**", 1, None),
    ],
)
def test_the_last_line_decides(text, count, expected):
    assert verdicts(text, count) == expected


@given(st.lists(st.sampled_from("123"), min_size=1, max_size=6), st.text())
def test_any_text_may_stand_before_the_last_line(options, before):
    wanted = tuple({"1": -1, "2": 1, "3": 0}[option] for option in options)
    assert verdicts(f"{before}\n{' '.join(options)}\n", len(options)) == wanted
    assert verdicts(f"{before}\n{' '.join(options)}", len(options) + 1) is None


@given(st.text(), st.integers(1, 6))
def test_no_text_breaks_it(text, count):
    found = verdicts(text, count)
    assert found is None or (len(found) == count and set(found) <= {-1, 0, 1})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The LEFT one lacks its ridge, so: RIGHT", (1,)),
        ("RIGHT is poor.\nLEFT.", (-1,)),
        ("**LEFT**", (-1,)),
        ("left, I think", None),
        ("Both are BRIGHT and CLEFT", None),
        ("LEFTOVERS", None),
        ("", None),
    ],
)
def test_the_last_side_in_capitals_decides(text, expected):
    assert side(text) == expected

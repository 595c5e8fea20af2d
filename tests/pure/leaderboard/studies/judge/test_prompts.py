"""Texts to make objects from: by chance, and what is read from a model's list."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.studies.judge.prompts import (
    INGREDIENTS,
    LEVELS,
    SUBJECTS,
    PromptError,
    Wanted,
    as_json,
    conversation,
    distinct,
    offline,
    parse,
)
from tests.support.examples import examples


def test_the_lists_are_those_of_the_method():
    assert list(INGREDIENTS) == ["subjects", "geometry", "appearance", "status", "style", "scene"] and len(SUBJECTS) == 11


@pytest.mark.parametrize("level", LEVELS)
def test_a_tournament_of_110_texts_comes_out_of_every_level(level):
    wanted = Wanted(110, level, level, 45)
    texts = offline(wanted, seed=4)
    assert len({text.casefold() for text in texts}) == 110 and [text for text in texts if not len(text.split()) <= 45] == []
    assert texts == offline(wanted, seed=4) != offline(wanted, seed=5)


def test_more_complex_and_more_creative_texts_are_longer():
    def mean(**levels: str) -> float:
        texts = offline(Wanted(60, max_words=80, **levels), seed=1)
        return sum(len(text.split()) for text in texts) / len(texts)

    for axis in ("complexity", "creativity"):
        low, medium, high = (mean(**({"complexity": "low", "creativity": "low"} | {axis: level})) for level in LEVELS)
        assert low < medium < high


@examples(40)
@given(st.integers(1, 12), st.sampled_from(LEVELS), st.sampled_from(LEVELS), st.integers(0, 2**31), st.sampled_from(sorted(SUBJECTS)))
def test_subjects_and_length_are_kept(count, complexity, creativity, seed, subject):
    texts = offline(Wanted(count, complexity, creativity, 60, (subject,)), seed)
    nouns = [item.partition(" ")[2] for item in SUBJECTS[subject]]
    assert len(texts) == count and [text for text in texts if not any(noun in text for noun in nouns)] == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"count": 0}, "ask for 1 to 500"),
        ({"count": 501}, "ask for 1 to 500"),
        ({"max_words": 4}, "from 5 to 80"),
        ({"complexity": "huge"}, "low, medium or high"),
        ({"subjects": ("gods",)}, "There is no kind of subject 'gods'"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(values, words):
    with pytest.raises(PromptError, match=words):
        Wanted(**values)


def test_where_words_do_not_suffice_that_is_said():
    with pytest.raises(PromptError, match="allow more words"):
        offline(Wanted(10, "high", "high", 5))


LIST = """Here are the texts:
1. "A red chair"
2) a RED chair
3. a wooden sign that says "open"
 4. “an owl of brass”
5.no space behind the number
6. a text with far too many words to be taken into this list at all
- 7. not numbered in its line's beginning
8. a boat
"""


def test_a_list_is_read_line_by_line():
    wanted = Wanted(10, max_words=8)
    texts = ["A red chair", 'a wooden sign that says "open"', "an owl of brass", "a boat"]
    assert parse(LIST, wanted) == texts and parse(LIST, Wanted(2, max_words=8)) == texts[:2]
    assert parse("no list", wanted) == []


def test_the_conversation_names_axes_ingredients_and_the_request():
    wanted = Wanted(7, "high", "low", 20, ("plants", "vehicles"))
    messages = conversation(wanted)
    assert [one["role"] for one in messages] == ["user", "assistant", "user", "assistant", "user"]
    task, request = messages[0]["content"], messages[-1]["content"]
    for word in (
        "Complexity",
        "number of elements",
        "Creativity",
        "storytelling",
        "Geometry",
        "finish",
        "interaction",
        "weather",
        "a fern",
    ):
        assert word in task
    assert "a fox" not in task and "an owl" not in task
    assert [part for part in ("7 texts", "high complexity", "low creativity", "20 words", "plants, vehicles") if part not in request] == []
    assert len(conversation(Wanted(examples=()))) == 3


def test_what_is_written_reads_back():
    texts = ["a “red” chair", "b"]
    assert json.loads(as_json(texts)) == texts and distinct(["b", "B", ""], Wanted()) == ["b"]

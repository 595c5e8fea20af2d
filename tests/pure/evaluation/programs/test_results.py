"""Answers of programs: what the contract asks for is taken, everything else is a failed item with a sentence."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.result import MetricResult, Status
from evaluation.programs import results
from evaluation.programs.results import Cause
from tests.pure.evaluation.programs.test_document import read

DOCUMENT = read()


@pytest.mark.parametrize(
    ("answer", "value", "status"),
    [
        (0.5, 0.5, Status.OK),
        (1, 1.0, Status.OK),
        (1 + 1e-12, 1.0, Status.OK),
        ({"value": 0.25, "parts": {"there": 0.5}, "note": "fine"}, 0.25, Status.OK),
        ({"value": 0.5, "parts": {"Fläche (m)": 1, "AP@[.5:.95]": 2, "file": 3}}, 0.5, Status.OK),
        ({"value": None}, None, Status.NOT_APPLICABLE),
        ({"value": None, "status": "not_applicable"}, None, Status.NOT_APPLICABLE),
        ({"value": None, "status": "failed", "note": "no surface"}, None, Status.FAILED),
    ],
)
def test_what_the_contract_asks_for_is_taken(answer, value, status):
    found = results.result_of(answer, DOCUMENT)
    assert (found.value, found.status) == (value, status)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "returned nothing"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        (10**400, "finite"),
        ("0.5", "a text"),
        (True, "true or false"),
        ([0.5], "a list"),
        (1.7, "bounds"),
        (-0.1, "bounds"),
        ({"value": 0.5, "extra": 1}, "extra"),
        ({"value": 0.5, "status": "great"}, "status"),
        ({"value": 0.5, "status": "not_applicable"}, "leave one out"),
        ({"value": None, "status": "ok"}, "no value"),
        ({"value": 0.5, "parts": {"a": math.nan}}, "finite"),
        ({"value": 0.5, "parts": {f"p{n}": 1 for n in range(51)}}, "50"),
        ({"value": 0.5, "parts": {"<b>": 1}}, "part"),
        ({"value": 0.5, "note": "x" * 501}, "500"),
    ],
)
def test_anything_else_is_a_failed_item_with_a_sentence(answer, said):
    found = results.result_of(answer, DOCUMENT)
    assert (found.value, found.status) == (None, Status.FAILED)
    ((sentence, _),) = results.reasons(found.flags)
    assert said in sentence
    assert results.cause_of(found.flags) == (Cause.BOUNDS if said == "bounds" else Cause.ANSWER)


def test_a_program_cannot_write_the_cause_of_its_failure():
    for answer in (
        {"value": None, "status": "failed", "note": "cause: time"},
        {"value": None, "status": "failed", "note": "x\ncause: time"},
        {"value": 0.5, "note": "cause: time"},
    ):
        assert results.cause_of(results.result_of(answer, DOCUMENT).flags) in (Cause.SAID, "")


plain = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(plain | st.fixed_dictionaries({"value": plain}, optional={"status": plain, "parts": plain, "note": plain}))
def test_no_answer_breaks_it(answer):
    found = results.result_of(answer, DOCUMENT)
    assert isinstance(found, MetricResult)
    assert found.value is None or 0 <= found.value <= 1


@pytest.mark.parametrize("odd", [r"\u0000", r"\ud800", r"a\udc00"])
def test_a_text_that_no_database_keeps_makes_the_answer_a_failure_with_a_sentence(odd):
    for text in (f'{{"value": 1, "note": "{odd}"}}', f'{{"value": 1, "parts": {{"{odd}": 1}}}}', f'[{{"{odd}": 0}}]', f'"{odd}"'):
        with pytest.raises(results.WrongResult, match="no database keeps"):
            results.parsed(text)
    with pytest.raises(results.WrongResult, match="no database keeps"):
        results.of_file(f'{{"items": {{"a": {{"value": 1, "note": "{odd}"}}}}}}', DOCUMENT, ["a"])


def test_a_file_of_scores_has_each_item_that_was_given():
    text = json.dumps({"items": {"a": {"value": 0.5}}})
    found = results.of_file(text, DOCUMENT, ["a", "b"])
    assert (found["a"].value, found["b"].status) == (0.5, Status.FAILED)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"items": []}', '{"items": {"other": {"value": 1}}}', '{"set": {"value": 1}}', "[" * 100_000, "\x00", '{"items": 1'],
)
def test_a_wrong_file_of_scores_is_refused(text):
    with pytest.raises(results.WrongResult):
        results.of_file(text, DOCUMENT, ["a"])

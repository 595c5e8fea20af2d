"""Texts that people enter about an entry, and those that are refused."""

from __future__ import annotations

import pytest

from submissions.errors import Refused
from submissions.models.entry_texts import checked_about


@pytest.mark.parametrize("name", ["\u200b", "ridge\u202eten", "ridge\nnet", "ridge\x07net", "ridge\ufeffnet", "ri\u200ddge"])
def test_a_method_name_without_looks_of_its_own_is_refused(name):
    """A blank link, a name that turns the row round, one that looks like another's."""
    with pytest.raises(Refused) as refused:
        checked_about(method_name=name)
    assert refused.value.code == "method_name"


@pytest.mark.parametrize("name", ["gable-net v3 (ours)", "Dächer ±5 %", "屋根", "pc→edges", "👩‍🔬 lab", "می‌خواهم", "क्‍षेत्र"])
def test_names_of_all_scripts_are_taken(name):
    assert checked_about(method_name=f" {name} ") == {"method_name": name}


@pytest.mark.parametrize(
    ("entered", "parameters"),
    [
        ("38M", 38_000_000),
        ("1.2 B", 1_200_000_000),
        ("12,000", 12_000),
        ("7k", 7_000),
        ("1,2B", 1_200_000_000),
        ("0,5 M", 500_000),
        ("38.000.000", 38_000_000),
        ("38 000 000", 38_000_000),
        ("3,8e7", 38_000_000),
        (5.0, 5),
        ("", None),
        (None, None),
        (0, None),
        ("0", None),
    ],
)
def test_a_number_of_parameters_is_read_as_people_write_it(entered, parameters):
    assert checked_about(parameters=entered) == {"parameters": parameters}


@pytest.mark.parametrize(
    ("entered", "seconds"),
    [
        ("0.4", 0.4),
        ("0,4", 0.4),
        ("0,400", 0.4),
        ("1.234,5", 1234.5),
        (12, 12.0),
        ("1e3", 1000.0),
        ("1e-3", 0.001),
        (0.0, None),
        ("", None),
    ],
)
def test_a_run_time_is_a_number_of_seconds(entered, seconds):
    assert checked_about(run_seconds=entered) == {"run_seconds": seconds}


@pytest.mark.parametrize(
    "given",
    [
        {"parameters": "many"},
        {"parameters": "-3"},
        {"parameters": "9e99"},
        {"parameters": float("nan")},
        {"run_seconds": "4M"},
        {"run_seconds": "2 min"},
        {"run_seconds": "1,500"},
        {"parameters": "12.000"},
        {"parameters": "1,234M"},
        {"parameters": "38 Mio."},
        {"run_seconds": float("inf")},
        {"weights_url": "javascript:x"},
        {"licence": "a\u202eb"},
        {"hardware": "x" * 121},
    ],
)
def test_what_is_no_such_thing_is_refused_by_its_name(given):
    with pytest.raises(Refused) as refused:
        checked_about(**given)
    assert refused.value.code == next(iter(given)) and refused.value.sentence.endswith(".")


def test_a_number_that_may_be_two_is_refused_with_both():
    with pytest.raises(Refused) as refused:
        checked_about(parameters="1,234M")
    assert refused.value.code == "parameters" and "1234 or 1.234M" in refused.value.sentence

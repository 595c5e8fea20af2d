"""Look-alike names: by hand, and the table itself."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from submissions.look_alikes import INVISIBLE, TABLE, look_alike, scripts, skeleton
from tests.support.examples import examples


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("хena", "xena"),  # a Cyrillic letter beside Latin ones
        ("раура", "paypa"),  # Cyrillic alone
        ("НАNS", "HANS"),  # Cyrillic capitals that look like Latin ones
        ("НАNS", "hans"),
        ("ridgе", "RIDGE"),
        ("οlga", "olga"),  # Greek omicron
        ("Ꭰan", "Dan"),  # Cherokee
        ("𝐚nn", "ann"),  # a bold letter of mathematics
        ("ａnn", "ann"),  # a wide letter
        ("ridge\u034f", "ridge"),  # a mark that nobody sees
        ("rid\u3164ge", "ridge"),  # a letter that nobody sees
        ("ridge\ufe0f", "ridge\u034f"),
    ],
)
def test_look_alikes_of_other_scripts_and_with_unseen_characters_are_found(name, other):
    assert look_alike(name, ["somebody", other]) == other and look_alike(other, [name]) == name


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("modern", "modem"),
        ("olga1", "olgal"),
        ("O0", "OO"),
        ("жора", "zhora"),
        ("ольга", "olga"),
        ("маша", "Маша2"),
        ("jose", "josé"),
        ("müller", "muller"),
    ],
)
def test_names_within_one_script_and_names_that_differ_are_let_through(name, other):
    assert look_alike(name, [other]) is look_alike(other, [name]) is None


def test_the_table_is_unicodes_and_each_of_its_characters_becomes_its_prototype():
    text = TABLE.read_text("utf-8-sig")
    assert "Version: 15.0.0" in text and "© 2022 Unicode" in text and (TABLE.parent / "LICENSE").read_text().startswith("UNICODE, INC.")
    lines = [line.split(";") for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) > 6_000
    for source, target, *_ in lines:
        one, two = (chr(int(source, 16)), "".join(chr(int(code, 16)) for code in target.split()))
        if unicodedata.normalize("NFD", one) == one and not INVISIBLE.search(one + two):  # else its parts are looked up
            assert skeleton(one) == unicodedata.normalize("NFD", two)


@examples(30)
@given(st.text(max_size=20))
def test_a_skeleton_is_its_own_skeleton_and_hides_how_a_text_is_encoded(text):
    assert skeleton(skeleton(text)) == skeleton(text)
    assert skeleton(unicodedata.normalize("NFC", text)) == skeleton(unicodedata.normalize("NFD", text))


def test_scripts_are_those_of_letters():
    assert scripts("Anna-7 ольга") == {"Latin", "Cyrillic"} and scripts("7.+_") == frozenset() and scripts("Ꭰ") == {"other"}

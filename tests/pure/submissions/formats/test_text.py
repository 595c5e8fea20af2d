"""Texts that no database keeps."""

import pytest

from submissions.formats.text import UnkeptText, check_texts


@pytest.mark.parametrize("odd", ["\0", "a\0b", "\ud800", "x\udfff", "\udc00\ud800"])
def test_a_nul_or_half_a_pair_is_found_wherever_it_stands(odd):
    for said in (odd, [odd], {odd: 1}, {"a": [1, {"b": (2, odd)}]}, [[[[odd]]]]):
        with pytest.raises(UnkeptText, match="no database keeps"):
            check_texts(said)


def test_all_else_is_kept():
    check_texts({"a": ["\t\n\x7f\u202e", "\U0001f3e0", "", None, 1, 2.5, True], "\u00e9": {}})
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    check_texts(deep)

"""Joiners that a script needs may stand in a name; between letters that need none they stay refused."""

import pytest

from submissions.formats.errors import excerpt
from submissions.formats.invisible import has_invisible

NEEDED = {
    "a person with a profession": "👩\u200d🔬 lab",
    "with a colour of skin": "👩🏽\u200d🚀",
    "a heart with its variant": "❤\ufe0f\u200d🔥",
    "a flag of a flag": "🏳\ufe0f\u200d🌈",
    "an arrow": "🙂\u200d↔\ufe0f",
    "four people": "👨\u200d👩\u200d👧\u200d👦",
    "England in letters that nobody sees": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "an emoji of a newer Unicode": "\U0001fae9",
    "Persian": "می\u200cخواهم",
    "Persian, over a mark": "می\u064b\u200cخواهم",
    "Devanagari, joined": "क्\u200dष",
    "Devanagari, apart": "क्\u200cष",
    "Sinhala": "ශ්\u200dරී",
    "Bengali": "র\u09cd\u200dয",
}
NOT_NEEDED = {
    "between Latin letters": "rid\u200dge",
    "apart between Latin letters": "rid\u200cge",
    "between Cyrillic ones": "кры\u200dша",
    "alone": "\u200d",
    "at the end of Persian": "می\u200c",
    "behind a letter that joins nothing": "ا\u200cب",
    "twice": "می\u200c\u200cخواهم",
    "the joiner in Persian": "م\u200dن",
    "without a virama": "क\u200dष",
    "between an emoji and a letter": "👩\u200dx",
    "between a letter and an emoji": "x\u200d👩",
    "across an emoji": "ی👩\u200cب",
    "behind an emoji": "👩\u200d",
    "a letter of a flag without its flag": "ridge\U000e0061",
    "a flag without an end": "🏴\U000e0061",
    "turned": "ridge\u202eten",
    "no width": "ri\u200bdge",
    "an end of line": "ridge\u2028net",
    "beside a control character": "क\x00\u200dष",
}


@pytest.mark.parametrize("name", NEEDED)
def test_what_a_script_needs_may_stand(name: str) -> None:
    assert not has_invisible(NEEDED[name])
    assert excerpt(NEEDED[name]) == NEEDED[name]


@pytest.mark.parametrize("name", NOT_NEEDED)
def test_what_none_needs_is_refused(name: str) -> None:
    assert has_invisible(NOT_NEEDED[name])
    assert "\\u" in excerpt(NOT_NEEDED[name]) or "\u2028" in NOT_NEEDED[name] or "\\U" in excerpt(NOT_NEEDED[name])


def test_a_long_name_is_judged_all_along() -> None:
    assert not has_invisible("می\u200cخواهم " * 2000) and has_invisible("می\u200cخواهم " * 2000 + "a\u200cb")

import pytest

from leaderboard.wording.stated import amount, value
from submissions.entry_fields import FIELDS


@pytest.mark.parametrize(
    ("name", "stated", "text"),
    [
        ("parameters", 38_000_000, "38 M"),
        ("parameters", 1_234_567_890, "1.23 billion"),
        ("parameters", None, "–"),
        ("run_seconds", 0.4, "0.4"),
        ("run_seconds", 1234.5, "1234.5"),
        ("licence", "Apache 2.0", "Apache 2.0"),
        ("licence", "", "–"),
    ],
)
def test_what_is_stated_is_read_by_its_kind(name, stated, text):
    assert value(FIELDS[name], stated) == text


@pytest.mark.parametrize(("n", "text"), [(None, "–"), (999, "999"), (999.6, "1 k"), (2e12, "2 trillion")])
def test_large_numbers_have_three_digits(n, text):
    assert amount(n) == text

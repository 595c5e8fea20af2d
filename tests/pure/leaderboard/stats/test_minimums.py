import ast
from pathlib import Path

import pytest

from leaderboard.stats import minimums
from tests import ROOT

DOCS = ROOT / "leaderboard" / "docs"
# By document, what it says of each minimum, in the words around the number.
STATED = {
    "studies.md": (
        "| a figure from people | {RATERS_FOR_FIGURE} raters and {ITEMS_FOR_FIGURE} items |",
        "| an interval without the note “rough” | {RATERS_FOR_FIRM_INTERVAL} raters and {ITEMS_FOR_FIRM_INTERVAL} items |",
        "| the comparison of a metric with another rater | {ANSWERS_FOR_ANOTHER_RATER} votes on questions on which two raters named "
        "a winner |",
        "| a correlation over entries | {ENTRIES_FOR_CORRELATION} entries |",
        "| the interval of a correlation | {ENTRIES_FOR_CORRELATION_INTERVAL} entries |",
        "| a curve fitted to opinion scores | {STIMULI_FOR_FIT} stimuli |",
        "| the score of ITU-T P.910 | {RATERS_FOR_LIKELIHOOD} raters with {SCORES_FOR_LIKELIHOOD} scores each |",
        "| a share of the answers about two entries alone | {ANSWERS_FOR_OWN_SHARE} answers about these two |",
        "| what a difference of two values means | {RATERS_FOR_DIFFERENCE} raters, {ITEMS_FOR_DIFFERENCE} items, "
        "{ENTRIES_FOR_DIFFERENCE} entries, "
        "{PAIRS_FOR_DIFFERENCE} pairs of entries that two raters answered on two items |",
        "| a mean over studies | {STUDIES_FOR_MEAN} studies |",
        "| a prediction interval for one more study | {STUDIES_FOR_PREDICTION} studies |",
        "| the test of a judge model | {RATERS_FOR_GATE} raters, each with {QUESTIONS_FOR_GATE} questions",
        "| how often a judge picks the left side | {ITEMS_FOR_LEFT_SHARE} items |",
        "| groups of raters | {RATERS_FOR_GROUPS} raters, each two of whom share {QUESTIONS_FOR_GROUPS} questions |",
        "| a statement on one rater | {ANSWERS_FOR_RATER} answers |",
        "| a planned look at first place | {RATERS_FOR_LOOK} raters and {ITEMS_FOR_LOOK} items |",
        "We advise at least {RATERS_ADVISED} raters and {ITEMS_ADVISED} items",
    ),
    "evidence.md": (
        "| a figure of a published set | {GROUPS_FOR_FIGURE} groups of items |",
        "| a figure across items | {STIMULI_FOR_ACROSS} results |",
        "| an interval without the note “rough” | {GROUPS_FOR_FIRM_INTERVAL} groups of items |",
        "| the correlation of one rater with the mean of all other raters | {STIMULI_FOR_ONE_RATER} results |",
    ),
    "ranking.md": (
        "- if there are fewer than {GROUPS_FOR_BOARD_INTERVAL} groups, however many items they hold",
        "With fewer than {GROUPS_FOR_RARE_FAILURES} groups the board says that the interval cannot account for rare failures",
        "With fewer than {ENTRIES_FOR_LIKENESS} entries, take the figures as a hint at most",
    ),
}
NUMBERS = {name: number for name, number in vars(minimums).items() if name.isupper()}


@pytest.mark.parametrize(("document", "words"), [(document, one) for document, each in STATED.items() for one in each])
def test_documents_state_the_number(document, words):
    assert words.format(**NUMBERS) in (DOCS / document).read_text()


def test_each_minimum_is_in_a_document():
    every = "".join(words for each in STATED.values() for words in each)
    assert NUMBERS and {name for name in NUMBERS if f"{{{name}}}" not in every} == set()


def test_each_minimum_has_a_number_of_its_own():
    """None is made of another, which would let two purposes share one; that of a board's groups lies where its interval is made."""
    tree = ast.parse(Path(minimums.__file__).read_text())
    given = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    assert set(given) == set(NUMBERS) - {"GROUPS_FOR_BOARD_INTERVAL"}
    assert {key: value for key, value in given.items() if not (isinstance(value, ast.Constant) and type(value.value) is int)} == {}


USED = ("leaderboard", "evaluation", "submissions")


def test_each_minimum_is_used():
    texts = [path.read_text() for room in USED for suffix in ("py", "html") for path in (ROOT / room).rglob(f"*.{suffix}")]
    for name in NUMBERS:
        assert sum(name in text for text in texts) > 1, f"{name} is a number that nothing goes by"

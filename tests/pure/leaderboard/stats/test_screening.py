"""Rules that leave raters out, and what is said of one rater, on answers counted by hand."""

import pytest

from leaderboard.stats import mos_table, screening
from leaderboard.stats.minimums import ANSWERS_FOR_RATER
from leaderboard.stats.reliability import lapse_rates, left_shares, of_one
from leaderboard.stats.votes import canonical
from tests.support.leaderboard.stats.ballots import vote

GOLD = [("good", "bad")]


def of_known(rater: str, right: int, wrong: int, seconds: float = 5.0):
    """So many answers to the known pair on as many samples, right ones first; the better one stands left on even samples."""
    rows = []
    for n in range(right + wrong):
        left, other = ("good", "bad") if n % 2 == 0 else ("bad", "good")
        better = "left" if left == "good" else "right"
        choice = better if n < right else {"left": "right", "right": "left"}[better]
        rows.append(vote(left, other, choice, rater=rater, sample=f"s{n:02d}", gold="1", seconds=seconds))
    return rows


@pytest.mark.parametrize(
    ("rules", "out"),
    [
        ({}, {}),
        ({"gold": {"share": 0.3, "answers": 10}}, {"d": ["gold"]}),  # 4 of 10 wrong; 3 of 10 is not more than .3
        ({"gold": {"share": 0.29, "answers": 10}}, {"c": ["gold"], "d": ["gold"]}),
        ({"gold": {"share": 0.29, "answers": 11}}, {}),
        ({"gold": {"share": 0.29, "answers": 2}}, {"c": ["gold"], "d": ["gold"], "few": ["gold"]}),
        ({"fast": {"seconds": 1.0, "share": 0.2, "answers": 10}}, {"quick": ["fast"]}),
        ({"fast": {"seconds": 1.0, "share": 1.0, "answers": 10}}, {}),
        ({"fast": {"seconds": 0.9, "share": 0.2, "answers": 10}}, {}),
        (
            {"fast": {"seconds": 9.0, "share": 0.0, "answers": 10}, "gold": {"share": 0.3, "answers": 10}},
            {"a": ["fast"], "c": ["fast"], "d": ["fast", "gold"], "quick": ["fast"]},
        ),
    ],
)
def test_rules_of_pairs(rules, out):
    rows = of_known("a", 10, 0) + of_known("c", 7, 3) + of_known("d", 6, 4) + of_known("few", 1, 1) + of_known("quick", 10, 0, 0.9)
    assert screening.of_pairs(canonical(rows), rules, GOLD) == out


def test_rules_of_scores():
    rows = []
    for rater, scores in {"a": (5, 4, 2, 1), "b": (5, 3, 2, 1), "c": (4, 4, 2, 1), "turned": (1, 2, 4, 5)}.items():
        rows += [mos_table.Rating(rater, f"m{n}", float(score), "s", seconds=0.5) for n, score in enumerate(scores)]
    ratings = mos_table.canonical(rows)
    assert screening.of_scores(ratings, {}) == {}
    assert screening.of_scores(ratings, {"others": {"r": 0.3}}) == {"turned": ["others"]}
    assert screening.of_scores(ratings, {"others": {"r": -1.1}}) == {}
    fast = {"fast": {"seconds": 1.0, "share": 0.5, "answers": 4}}
    assert screening.of_scores(ratings, fast | {"others": {"r": 0.3}}) == {
        "a": ["fast"],
        "b": ["fast"],
        "c": ["fast"],
        "turned": ["fast", "others"],
    }


@pytest.mark.parametrize(
    ("times", "n", "share"),
    [
        (0, 10, (0.0, 0.0, 0.2775328)),  # Wilson: z2 / (n + z2)
        (1, 10, (0.1, 0.0178762, 0.4041500)),
        (10, 10, (1.0, 0.7224672, 1.0)),
        (25, 100, (0.25, 0.1754521, 0.3430446)),
    ],
)
def test_the_interval_of_one_raters_share_is_wilsons(times, n, share):
    found = of_one(times, n)
    assert (found.value, found.low, found.high) == pytest.approx(share, abs=1e-6) and found.n == n
    assert [end for end in (found.low, found.high) if not 0 <= end <= 1] == []


def test_lapses_are_of_repeats_and_known_pairs_together_and_nothing_is_said_of_few():
    rows = of_known("a", 7, 1)
    for n in range(4):  # four questions asked again, the sides turned: one of them answered otherwise
        rows.append(vote("x", "y", "left", rater="a", sample=f"s{n}"))
        rows.append(vote("y", "x", "right" if n else "left", rater="a", sample=f"s{n}", repeat_of="1"))
    found = lapse_rates(canonical(rows + of_known("b", 3, 1)), GOLD)
    assert (found["a"].value, found["a"].n) == (pytest.approx(2 / 12), 12)
    assert (found["b"].value, found["b"].n) == (None, 4) and ANSWERS_FOR_RATER == 10


def test_the_left_side_is_counted_of_decisive_answers_however_the_pair_is_named():
    sides = [("x", "y", "left"), ("y", "x", "left"), ("x", "y", "right"), ("y", "x", "tie")]
    rows = [vote(a, b, choice, sample=f"s{n}-{k}") for k in range(4) for n, (a, b, choice) in enumerate(sides)]
    (found,) = left_shares(canonical(rows)).values()
    assert (found.value, found.n) == (pytest.approx(8 / 12), 12)
    assert (found.low, found.high) == pytest.approx((0.3906221, 0.8618799), abs=1e-6)


@pytest.mark.parametrize("rule", screening.DEFAULTS)
def test_every_rule_has_words(rule):
    assert screening.words(rule, screening.DEFAULTS[rule])[0].islower()

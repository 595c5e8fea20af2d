"""Rules that leave raters out of what is computed, with thresholds that are named before anybody has answered.

Rules are plain values, as a study's registered design has them: by the key of each rule its thresholds. On every criterion they are
applied by themselves, to all answers of a rater on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from leaderboard.stats import correlation, opinions
from leaderboard.stats.mos_table import Ratings
from leaderboard.stats.reliability import gold_correctness
from leaderboard.stats.votes import Floats, Ints, Votes

Rules = Mapping[str, Mapping[str, float]]

FAST = 1.0  # seconds below which nobody has looked at two things and the reference
# The rules, and the thresholds that they have unless others are named: shares of answers, and the fewest answers that a share is of.
DEFAULTS: dict[str, dict[str, float]] = {
    "fast": {"seconds": FAST, "share": 0.2, "answers": 10},
    "gold": {"share": 0.3, "answers": 10},
    "others": {"r": correlation.SCREENED},
    "bt500": {},
    "inconsistency": {"times": 2.0},
}
OF_PAIRS = ("fast", "gold")
ONE_OF = ("others", "bt500", "inconsistency")  # one at a time: each assumes that the others have left nobody out


def words(rule: str, thresholds: Mapping[str, float]) -> str:
    """A rule as pages say whom it leaves out, to stand behind “Left out is who”."""
    if rule == "fast":
        return (
            f"gave more than {100 * thresholds['share']:g} % of at least {thresholds['answers']:g} answers in less than "
            f"{thresholds['seconds']:g} s"
        )
    if rule == "gold":
        return f"got more than {100 * thresholds['share']:g} % of at least {thresholds['answers']:g} pairs of known order wrong"
    if rule == "others":
        return f"gave scores that correlate with the mean of the others’ by less than {thresholds['r']:g} (Pearson’s r)"
    if rule == "bt500":
        return "gave scores too far from the others’ too often, by ITU-R BT.500"
    return f"is more than {thresholds['times']:g} times as inconsistent as the median, by ITU-T P.910"


def of_pairs(votes: Votes, rules: Rules, gold: Collection[tuple[str, str]]) -> dict[str, list[str]]:
    """The raters that rules leave out, by name, each with the keys of the rules that do; `gold` are pairs (better, worse)."""
    found: dict[str, list[str]] = {}
    if "fast" in rules:
        _note(found, "fast", _too_fast(votes.raters, votes.rater, votes.seconds, rules["fast"]))
    if "gold" in rules:
        right, _ = gold_correctness(votes, gold)
        wrong = [name for name, (share, n) in right.items() if n >= rules["gold"]["answers"] and 1 - share > rules["gold"]["share"] + 1e-12]
        _note(found, "gold", wrong)
    return found


def of_scores(ratings: Ratings, rules: Rules) -> dict[str, list[str]]:
    """The same of opinion scores."""
    found: dict[str, list[str]] = {}
    if "fast" in rules:
        _note(found, "fast", _too_fast(ratings.raters, ratings.rater, ratings.seconds, rules["fast"]))
    out: list[int] = []
    if "others" in rules:
        out = correlation.screened(ratings.by_rater(), rules["others"]["r"])
    elif "bt500" in rules:
        out = opinions.screened_by_spread(ratings.by_rater())
    elif "inconsistency" in rules:
        out = opinions.screened_by_inconsistency(opinions.likelihood(ratings), rules["inconsistency"]["times"])
    _note(found, next((key for key in ONE_OF if key in rules), ""), [ratings.raters[k] for k in out])
    return found


def _note(found: dict[str, list[str]], rule: str, names: Sequence[str]) -> None:
    for name in names:
        found.setdefault(name, []).append(rule)


def _too_fast(raters: Sequence[str], rater: Ints, seconds: Floats, rule: Mapping[str, float]) -> list[str]:
    """The raters of whose timed answers, where there are enough, a larger share is too fast."""
    timed = ~np.isnan(seconds)
    n = np.bincount(rater[timed], minlength=len(raters))
    fast = np.bincount(rater[timed & (seconds < rule["seconds"])], minlength=len(raters))
    return [name for k, name in enumerate(raters) if n[k] >= rule["answers"] and fast[k] > rule["share"] * n[k] + 1e-9]

"""Words of a board's table: its rule, its values and what their differences mean, from `leaderboard.records.board`. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.records.board import HumanAgreement, MetricColumn, Rule
from leaderboard.stats.meaning import At
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.wording import certainty
from leaderboard.wording.figures import share
from leaderboard.wording.nouns import NOUN, counted
from leaderboard.wording.ranks import ordinal, span
from leaderboard.wording.reasons import sentence

RULES = {"mean_rank": "mean rank", "median_rank": "median rank", "borda": "Borda count", "weighted": "weighted mean rank"}
VALUE_TITLES = {"mean_rank": "Mean rank", "median_rank": "Median rank", "borda": "Borda points", "weighted": "Weighted rank"}
ENTRIES = {
    "all": "every entry counts",
    "latest": "of each team its latest entry counts",
    "best": "of each team its best entry counts",
    "chosen": "of each team the entry it chose counts",
}
NOT_TOLD = "Its differences do not tell what people prefer."


def rule(it: Rule) -> str:
    """Rule of the overall rank: `mean rank over 3 metrics` or `HSS`."""
    return f"{RULES[it.key]} over {counted(it.n, 'metric')}" if it.key in RULES else it.title or "the primary metric"


def value(column: MetricColumn, index: int, noun: str = NOUN) -> str:
    """An entry's value by a metric with its interval over what is called `noun`, and its rank with its range."""
    own, (low, high) = column.value[index], column.interval(index)
    if own is None:
        return "no value"
    n, rank = column.n[index], column.rank[index]
    said = [f"people would pick it in {100 * own:.1f} % of comparisons" if column.percent else f"{own:.6g} {column.unit}".rstrip()]
    if low is not None and high is not None and column.percent:
        said.append(f"95 % interval {100 * low:.1f} to {100 * high:.1f} %")
    elif low is not None and high is not None:
        said.append(f"95 % interval {low:.4g} to {high:.4g}{f' over {n}' if n else ''}")
    elif not column.may_rank:
        said.append("shown, not ranked")
    elif n >= GROUPS_FOR_BOARD_INTERVAL and column.pairs is not None and index in column.pairs.tested:
        said.append(certainty.alike(n, noun))  # it has them all, so nothing else leaves it without
    if rank is not None:
        ends = column.rank_low[index], column.rank_high[index]
        said.append(f"rank {rank}" + (f" ({span(*ends)})" if ends[0] is not None else ""))
    return "; ".join(said)


def unplaced(people: HumanAgreement, entry: int, noun: str) -> str:
    """Reason why an entry that people judged has no figure with them."""
    return sentence((people.few or {}).get(str(entry)), noun) or "it met none of those that have a place with people"


def difference(it: At | None) -> str:
    """Sentence on the meaning of a difference of two values to people, to whole tenths of pairs; it holds for one pair only where that
    pair's share is above one half. Empty where nothing is known."""
    if it is None:
        return ""
    if it.most < 0.75:
        return "A difference of this size does not tell which of the two people prefer."
    pairs = "more than 9" if it.most >= 0.95 else f"about {round(10 * it.most)}"
    said = f"In {pairs} of 10 pairs with a difference like this, more people prefer the higher one."
    return said if it.one[0] <= 0.5 else f"{said} {share(it.one[0])} to {share(it.one[1])} of 100 people would."


def folded(rank: int, titles: Sequence[str]) -> str:
    """Rank by metrics whose columns are not in sight."""
    return f"{ordinal(rank)} by {', '.join(titles)}"

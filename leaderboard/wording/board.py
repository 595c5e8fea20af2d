"""Words of a board's table: its rule, its values and what their differences mean, from `leaderboard.records.board`. PURE."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.records.board import WAITING, MetricColumn, NoOverallRank, Rule, RuleValue
from leaderboard.records.cell import Cell, FoldedRank, Line
from leaderboard.stats.meaning import At
from leaderboard.stats.ranking import NoOrder
from leaderboard.stats.states import State
from leaderboard.stats.two_way_intervals import Ends
from leaderboard.wording import certainty
from leaderboard.wording.digits import NONE, Rounded, rounded
from leaderboard.wording.figures import share, share_end
from leaderboard.wording.nouns import counted, plural
from leaderboard.wording.ranks import ordinal, rank_range
from leaderboard.wording.reasons import sentence

RULES = {"mean_rank": "mean rank", "median_rank": "median rank", "borda": "Borda count", "weighted": "weighted mean rank"}
VALUE_TITLES = {"mean_rank": "Mean rank", "median_rank": "Median rank", "borda": "Borda points", "weighted": "Weighted rank"}
ENTRIES = {
    "all": "all entries of a team count",
    "latest": "the latest entry of each team counts",
    "best": "the best entry of each team counts",
    "chosen": "the entry that a team chose counts",
}
NO_ORDER = {
    NoOrder.NO_METRIC: "an overall rank needs at least one metric",
    NoOrder.WEIGHTS: "weights must be finite, not negative, and not all zero",
    NoOrder.MAY_NOT_RANK: "{title}, which decides the order here, is shown and not ranked; the organizers can choose another metric",
    NoOrder.NO_VALUES: "a metric of the board's rule has no values yet",
    NoOrder.EARLIER: "{note}",
}
NOT_TOLD = "Differences of this metric do not tell what people prefer."


def entry_name(name: str, team: str, number: int | None = None) -> str:
    """Name of an entry beside those of others, `gable-net (Roofers) no. 7`; of a method without a team its name alone."""
    return name if not team else f"{name} ({team})" if number is None else f"{name} ({team}) no. {number}"


def size(n_entries: int, n_teams: int | None) -> str:
    """Size of a ranking, `12 entries of 3 teams`; without teams (None) the number of its entries alone."""
    return counted(n_entries, "entry") + (f" of {counted(n_teams, 'team')}" if n_teams is not None else "")


def rule(it: Rule) -> str:
    """Rule of the overall rank: `mean rank over 3 metrics` or `HSS`."""
    return f"{RULES[it.key]} over {counted(it.n, 'metric')}" if it.key in RULES else it.title or "the primary metric"


def no_order(it: NoOverallRank | None) -> str:
    """Reason why a board has no overall rank, as the end of a sentence; empty where it has one."""
    return "" if it is None else NO_ORDER[it.reason].format(title=it.title, note=it.note)


def rule_value(it: RuleValue | None) -> str:
    """Ranks that the overall value of an entry is made of: `mean rank of 3 metrics: 1, 3, 1.5`; empty where it has none."""
    if it is None:
        return ""
    metrics, listed = counted(len(it.ranks), "metric"), ", ".join(f"{rank:g}" for rank in it.ranks)
    match it.rule.key:
        case "primary":
            # Equal values have the mean of their ranks here, so a counted entry's own rank says it better.
            said = f"{'rank' if it.counted else f'rank {it.ranks[0]:g}'} in {it.rule.title}, the primary metric"
        case "borda":
            said = f"{it.value:g} Borda points from ranks in {metrics}: {listed}"
        case "weighted":
            listed = ", ".join(f"{rank:g} × {weight:g}" for rank, weight in zip(it.ranks, it.weights, strict=True))
            said = f"weighted mean rank of {metrics}: {listed}"
        case _:
            said = f"{RULES[it.rule.key]} of {metrics}: {listed}"
    if it.incomplete:
        said += f" ({it.incomplete} incomplete {plural('entry', it.incomplete)} left out)"
    return said if it.counted else f"{said} (this entry does not count)"


def digits(it: Cell | Ends) -> Rounded:
    """The value of a cell, or a value with its interval, in the digits that it is shown with."""
    if not isinstance(it, Cell):
        return rounded(*it)
    return Rounded("waiting") if it.value is None and it.waits else column_digits(it.column, it.index)


def column_digits(column: MetricColumn, index: int) -> Rounded:
    """The value of the entry at `index` of a column, in the digits that pages and files show; a dash without one."""
    value = column.value[index]
    if value is None:
        return Rounded(NONE)
    if column.percent:  # whole hundredths, its interval drawn and in the tooltip
        return Rounded(f"{share(value)} %")
    return rounded(value, *column.interval(index), column.bounds, column.decimals)


def text(it: Cell | Ends) -> str:
    return digits(it).text


def ends(it: Cell | Ends) -> str:
    """The interval in the digits of its value, `0.61 to 0.83`; empty without one, and where both ends are shown as one."""
    low, high = it.ends if isinstance(it, Cell) else it[1:]
    own = digits(it)
    return f"{own.end(low)} to {own.end(high)}" if own.spread and low is not None and high is not None else ""


def widths(lines: Sequence[Line]) -> dict[str, int]:
    """Digits before the point of the longest value in sight, by the slug of its column."""
    found: dict[str, int] = {}
    for cell in (cell for line in lines for cell in line.cells if cell.value is not None):
        found[cell.column.slug] = max(found.get(cell.column.slug, 0), len(text(cell).partition(".")[0]))
    return found


def value_words(it: Cell) -> str:
    """An entry's value by a metric with its interval and unit, and its rank with its range, or the reason why there is none."""
    own, (low, high), column = it.value, it.ends, it.column
    if own is None:
        return WAITING if it.waits else sentence(it.reason, it.noun) or "no value"
    said = [f"people would pick this entry in {100 * own:.1f} % of comparisons" if column.percent else f"{own:.6g} {column.unit}".rstrip()]
    if low is not None and high is not None and column.percent:
        said.append(f"95 % interval {100 * low:.1f} to {100 * high:.1f} %")
    elif low is not None and high is not None:
        said.append(f"95 % interval {low:.4g} to {high:.4g}{f' over {counted(it.n, it.noun)}' if it.n else ''}")
    elif not column.may_rank:
        said.append("shown, not ranked")
    elif it.state is State.ALIKE:
        said.append(certainty.alike(it.n, it.noun))
    if (rank := it.rank) is not None:
        ends = column.rank_range(it.index)
        said.append(f"rank {rank}" + (f" ({rank_range(ends)})" if ends is not None else ""))
    return "; ".join(said)


def difference(it: At | None) -> str:
    """Sentence on the meaning of a difference of two values to people, to whole tenths of pairs; it holds for one pair only where that
    pair's share is above one half. Empty where nothing is known."""
    if it is None:
        return ""
    if it.most < 0.75:
        return "A difference of this size does not tell which of two entries people prefer."
    pairs = "more than 9" if it.most >= 0.95 else f"about {round(10 * it.most)}"
    said = f"In {pairs} of 10 pairs with a difference like this, more people prefer the higher one."
    return said if it.one[0] <= 0.5 else f"{said} In this pair, {share_end(it.one[0])} to {share(it.one[1])} of 100 people would."


def folded(it: FoldedRank) -> str:
    """Rank by metrics whose columns are not in sight."""
    return f"{ordinal(it.rank)} by {', '.join(it.titles)}"

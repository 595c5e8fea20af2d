"""Statements made of a study's figures, each made here once, for pages, exports and the command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from leaderboard.stats.another_rater import Standing
from leaderboard.stats.crossed import Ends
from leaderboard.stats.plans import FACTORS, Plan
from leaderboard.stats.records import Enough, Metric

STANDINGS = {
    Standing.TOO_EARLY: "too early",
    Standing.WORSE_THAN_CHANCE: "worse than chance",
    Standing.AT_CHANCE: "at chance",
    Standing.BELOW_HUMAN_LEVEL: "below human level",
    Standing.ABOVE_HUMAN_LEVEL: "above human level",
    Standing.HUMAN_LEVEL: "human level",
    Standing.UNCLEAR: "better than chance, human level unclear",
}
UNEQUAL = "Three raters gave most votes, so intervals of entries are somewhat too short: they cover about 89 to 90 %."


def may_be_best(places: Mapping[str, tuple[int, int]]) -> str:
    """Sentence on those of several metrics, by title, that may agree best with people; empty for fewer than two."""
    if len(places) < 2:
        return ""
    best = [title for title, (low, _) in places.items() if low == 1]
    if len(best) > 1:
        rest = "; of each other one, some metric is at least as good" if len(best) < len(places) else ""
        return f"{len(best)} of {len(places)} metrics may be the best here{rest}."
    if not best:
        return ""
    return f"{best[0]} is significantly better than every other." if places[best[0]] == (1, 1) else f"Only {best[0]} may be the best here."


def places_of(metrics: Sequence[Metric], titles: Mapping[str, str] = {}) -> dict[str, tuple[int, int]]:
    """Places of metrics by title, of those that have any."""
    return {titles.get(row.key, row.title or row.key): row.places for row in metrics if row.places is not None}


def settling(enough: Enough, answers: int, raters: int, items: str, noun: str = "vote") -> list[str]:
    """Sentences on what would settle first place; [] where it is settled. `items` is the plural of what was judged."""
    plans = enough.plans
    if plans is None:
        return []
    said = []
    if plans.answers.limit < 0.5:
        said.append(f"More {noun}s by these raters on these {items} cannot settle it.")
    named = plans.named()
    if named is None:
        equal = f": the first {1 + len(enough.open)} may be equal" if enough.open else ""
        return [*said, f"Nothing up to {FACTORS[-1]:g} times this study is likely to settle it{equal}."]
    name, plan = named
    return [
        *said,
        f"With {_more(name, plan, answers, raters, items, noun)} it would be settled in about {round(10 * plan.chance)} of 10 cases.",
    ]


def _more(name: str, plan: Plan, answers: int, raters: int, items: str, noun: str) -> str:
    factor = plan.factor or 1.0
    of = {"answers": f"{noun}s by the same raters", "people": "raters", "items": items, "both": f"raters and {items}"}[name]
    more = [f"{round((factor - 1) * raters):,} more raters"] if name in ("people", "both") else []
    return f"{factor:g} times the {of} ({', '.join([*more, f'{round((factor - 1) * answers):,} more {noun}s'])})"


def unequal(counts: Iterable[float]) -> str:
    """Sentence on a study of which three raters gave more than half of the answers that count; empty for others."""
    ordered = sorted(counts, reverse=True)
    return UNEQUAL if len(ordered) > 3 and sum(ordered[:3]) > sum(ordered) / 2 else ""


def asked_about(first: str, share: Ends) -> str:
    """Sentence on how many people preferred the first of two entries, of those who were asked about these two."""
    value, low, high = share
    if value is None:
        return ""
    ends = f" [{round(100 * low)}, {round(100 * high)}]" if low is not None and high is not None else ""
    return f"Asked about these two, {round(100 * value)} of 100 prefer {first}{ends}."

"""Statements on what would settle first place of a study. PURE."""

from __future__ import annotations

from collections.abc import Iterable

from leaderboard.stats.plans import FACTORS, Plan
from leaderboard.stats.records import Enough
from leaderboard.wording.nouns import plural

UNEQUAL = "Three raters gave most votes, so the 95 % intervals of entries are somewhat too short: they cover about 89 to 90 %."


def settling(enough: Enough, n: int, raters: int, items: str, noun: str = "vote") -> list[str]:
    """Sentences on what would settle first place, of `n` answers by `raters`; [] where it is settled. `items` is the plural of what was
    judged."""
    plans = enough.plans
    if plans is None:
        return []
    said = []
    if plans.answers.limit < 0.5:
        said.append(f"More {plural(noun)} by these raters on these {items} are not likely to settle first place.")
    found = plans.named()
    if found is None:
        equal = f": the first {1 + len(enough.open)} entries may be equal" if enough.open else ""
        return [*said, f"Even a study {FACTORS[-1]:g} times as large is not likely to settle first place{equal}."]
    by, plan = found
    return [
        *said,
        f"With {_more(by, plan, n, raters, items, noun)} first place would be settled in about {round(10 * plan.chance)} of 10 cases.",
    ]


def _more(by: str, plan: Plan, n: int, raters: int, items: str, noun: str) -> str:
    factor = plan.factor or 1.0
    of = {"answers": f"{plural(noun)} by the same raters", "people": "raters", "items": items, "both": f"raters and {items}"}[by]
    more = [f"{round((factor - 1) * raters):,} more raters"] if by in ("people", "both") else []
    return f"{factor:g} times the {of} ({', '.join([*more, f'{round((factor - 1) * n):,} more {plural(noun)}'])})"


def unequal(counts: Iterable[float]) -> str:
    """Sentence on a study of which three raters gave more than half of the answers that count; empty for others."""
    ordered = sorted(counts, reverse=True)
    return UNEQUAL if len(ordered) > 3 and sum(ordered[:3]) > sum(ordered) / 2 else ""

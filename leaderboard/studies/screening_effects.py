"""Figures of a study with screening and without it, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.records.study import Summary
from leaderboard.stats.records import NOTHING
from leaderboard.stats.two_way_intervals import Ends


@dataclass(frozen=True)
class Effect:
    """A figure with its interval, in words: of the raters that rules leave, and of everybody."""

    name: str
    screened: str
    everybody: str


@dataclass(frozen=True)
class Effects:
    """`raters` of `everybody` are left by the rules; people's column of the entries, and how far each metric agrees with people. Figures of
    too few raters or items, with screening as without, are not there."""

    raters: int
    everybody: int
    entries: tuple[Effect, ...]
    metrics: tuple[Effect, ...]

    @property
    def out(self) -> int:
        return self.everybody - self.raters


def effects(summary: Summary) -> Effects | None:
    """None where no rule leaves anybody out. A figure that only everybody's answers are enough for has a dash in the place of the other.
    There is a branch for each figure that one of the two may lack."""
    before, people = summary.unscreened, summary.n_people
    if before is None or people is None:
        return None
    scale = (1.0, 2) if summary.opinions else (100.0, 0)
    values, out = {line.method: line.value for line in before.scales}, {*summary.damaged, *summary.left_out}
    agreed = {line.key: line.decided for line in before.metrics}
    left = {line.method: line.value for line in summary.ranked if summary.shows(line)}
    names = [*left, *(name for name, ends in values.items() if name not in left and ends[1] is not None)]
    shown = (name for name in names if name in values and name not in out)
    entries = tuple(Effect(name, _words(left.get(name, NOTHING), *scale), _words(values[name], *scale)) for name in shown)
    metrics = []
    for line in summary.metrics:
        found, own = agreed.get(line.key), line.decided
        if found is not None and not line.reference_point and (own.low is not None or found.low is not None):
            own_words = _words(own.ends if own.low is not None else NOTHING, 100.0, 0)
            metrics.append(Effect(line.title or line.key, own_words, _words(found.ends, 100.0, 0)))
    return Effects(people, before.raters, entries, tuple(metrics))


def _words(ends: Ends, times: float, digits: int) -> str:
    value, low, high = ends
    if value is None:
        return "–"
    sign = " %" if times == 100 else ""
    interval = "" if low is None or high is None else f" [{times * low:.{digits}f}, {times * high:.{digits}f}]"
    return f"{times * value:.{digits}f}{sign}{interval}"

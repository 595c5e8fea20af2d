"""Agreement of one metric with people, as a head, a chart or a table shows it. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from leaderboard.records.unit import NOUN
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Standing, standing
from leaderboard.stats.states import State
from leaderboard.stats.two_way_intervals import Figure

NO_BETTER = (Standing.WORSE_THAN_CHANCE, Standing.AT_CHANCE)
LOW_COVERAGE = 0.9  # share of comparisons that a metric has values for, below which it is said beside its figure


@dataclass(frozen=True)
class Line:
    """One metric, or one reference point, and how far it agrees with people. `standing` is None where the figure alone says it, `places`
    are those among the metrics of its study. `trained` is a key of `leaderboard.studies.training_overlap`, empty where it may be
    claimed that it agrees."""

    title: str
    figure: Agreement
    another: Figure | None = None  # how often two raters say the same
    standing: Standing | None = None
    places: tuple[int, int] | None = None
    reference_point: bool = False
    trained: str = ""
    above_size: bool | None = None
    key: str = ""
    damaged: Figure | None = None  # the same with damaged entries
    noun: str = NOUN  # of what people were asked about
    compared: bool = True  # False where nobody was asked about two entries
    of_studies: int | None = None  # the number of studies that the figure is the mean of, where it is one
    sampled: bool = True  # False where votes name no sample: an interval speaks of other people alone
    opinions: bool = False  # where people gave ratings

    @property
    def level(self) -> Standing:
        """Its state between chance and another rater; by the figure alone where it was not compared with another rater."""
        if self.standing is not None:
            return self.standing
        if self.figure.value is None or self.figure.state is State.TOO_FEW:
            return Standing.TOO_EARLY
        return standing(self.figure, None) or Standing.TOO_EARLY

    @property
    def shown(self) -> bool:
        """True if there is a figure to show: there is none below the smallest numbers of people and items."""
        return self.figure.shown

    @property
    def percent(self) -> int | None:
        """Its share of 100; none that is not 0 or 1 is rounded to it."""
        value = self.figure.value
        if not self.shown or value is None:
            return None
        return min(max(round(100 * value), 1), 99) if 0 < value < 1 else round(100 * value)

    @property
    def low(self) -> int | None:
        return None if self.figure.low is None else round(100 * self.figure.low)

    @property
    def high(self) -> int | None:
        return None if self.figure.high is None else round(100 * self.figure.high)


class Known(StrEnum):
    """The state of what is known of a metric over all studies."""

    FIGURE = "figure"
    TRAINED = "trained"  # on the answers, or its weights may order nothing
    BY_ITSELF = "by_itself"  # a program, which has no place among others
    NOT_POOLED = "not_pooled"  # in too few studies
    OUTDATED = "outdated"  # of another version of it
    ALIKE = "alike"  # all answers are
    EARLY = "early"  # in a study that shows no figure yet
    NOTHING = "nothing"


@dataclass(frozen=True)
class Verdict:
    """Knowledge of a metric over all studies. `line` is its figure, or the one that is not shown; it has a place among `placed` metrics, or
    was compared with people in `studies` of `of_studies`."""

    known: Known
    line: Line | None = None
    placed: int = 0
    studies: int = 0
    of_studies: int = 0
    simulated: bool = False

    @property
    def has_figure(self) -> bool:
        return self.known in (Known.FIGURE, Known.ALIKE)

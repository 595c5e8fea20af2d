"""Everything that is computed of a published set, as one record: what pages, the API and the shipped files have.

It holds no answer, no value of a stimulus and no person. States and reasons are data; sentences are made of them where they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from leaderboard.stats.evidence.entry_order import EntryMean
from leaderboard.stats.evidence.figure import Decided, SetFigure, Split
from leaderboard.stats.evidence.judged import Basis
from leaderboard.stats.evidence.noise import AcrossCeiling
from leaderboard.stats.evidence.people_check import PeopleCheck
from leaderboard.stats.evidence.places import MetricDifference
from leaderboard.stats.evidence.reproduction import Reproduction
from leaderboard.stats.evidence.within import WithinCeiling

FORMAT = 2  # of the record: raised when a field changes its meaning
STATISTICS = 1  # of what is computed: raised whenever any number can change


class AcrossState(StrEnum):
    """State of a metric across items if its interval is not above chance."""

    AT_CHANCE = "at_chance_across_items"
    WORSE_THAN_CHANCE = "worse_than_chance_across_items"


@dataclass(frozen=True)
class Licence:
    """Licence as the publication states it; `file` is the path of its text."""

    stated: str
    file: str = ""
    note: str = ""

    @property
    def is_stated(self) -> bool:
        return self.stated.lower() != "none"

    @property
    def name(self) -> str:
        """The words that somebody who accepts it repeats."""
        return self.stated if self.is_stated else "none stated"


@dataclass(frozen=True)
class SetSource:
    """Place of the files, and their version."""

    repository: str = ""
    commit: str = ""
    doi: str = ""
    release: str = ""

    @property
    def version(self) -> str:
        """The version in words."""
        said = (("commit", self.commit), ("DOI", self.doi), ("release", self.release))
        return ", ".join(f"{word} {text}" for word, text in said if text)


@dataclass(frozen=True)
class SourceFile:
    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Words:
    """Nouns of a set's pages."""

    item: str = "item"
    group: str = "group"
    entry: str = "entry"
    family: str = "family"


@dataclass(frozen=True)
class Asked:
    """Question that people were asked, as far as the publication says: empty texts are not described there."""

    task: str = ""
    shown: str = ""  # beside what was judged
    raters: str = ""
    design: str = ""  # who judged what


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about a publication that are not computed. `short` is what sentences call the set, `published` the day, month or year."""

    title: str
    short: str = ""
    authors: str
    paper: str = ""
    doi: str = ""
    published: str = ""
    licence: Licence
    source: SetSource
    files: tuple[SourceFile, ...] = ()
    overlaps: tuple[str, ...] = ()
    words: Words = field(default_factory=Words)
    asked: Asked = field(default_factory=Asked)
    not_available: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MetricFigures:
    """Figures of one metric. `column` is its name in the file, `name` its published name, empty where it has none; a `reference_point`
    knows nothing, or size alone. It has no value of `missing` stimuli. Figures that the set's basis does not allow are None."""

    column: str
    name: str = ""
    higher_is_better: bool = True
    reference_point: bool = False
    missing: int = 0
    decided: Decided | None = None
    decided_between: SetFigure | None = None
    decided_split: Split | None = None
    concordance: SetFigure | None = None
    concordance_between: SetFigure | None = None
    concordance_clear: SetFigure | None = None
    srocc: SetFigure | None = None
    plcc: SetFigure | None = None
    across_state: AcrossState | None = None
    rho: SetFigure | None = None
    tau: SetFigure | None = None
    r: SetFigure | None = None
    efficiency: float | None = None


@dataclass(frozen=True)
class Ladders:
    """Comparisons of two entries of one family: `left_out` of all that are `compared`, for the figure between families."""

    left_out: int
    compared: int


@dataclass(frozen=True, kw_only=True)
class CriterionFigures:
    """Figures of what people were asked about. `answers` are single scores, answers on pairs, or means.

    `check` says whether columns of scores are people, `same_in_sessions` whether equal numbers in several sessions are one person.
    `ladders` is None where no two entries differ in strength alone. `compared` are the keys of the metrics that places are among.
    `beside_leading` says how often the means of this criterion name the entry that the leading criterion's do. `entries` is empty where
    the set has metrics.
    """

    basis: Basis
    stimuli: int
    items: int
    groups: int
    entries_judged: int
    families: int
    answers: int
    raters: int | None = None
    check: PeopleCheck | None = None
    same_in_sessions: PeopleCheck | None = None
    ladders: Ladders | None = None
    within: WithinCeiling | None = None
    across: AcrossCeiling | None = None
    compared: tuple[str, ...] = ()
    metrics: dict[str, MetricFigures] = field(default_factory=dict)
    differences: dict[str, tuple[MetricDifference, ...]] = field(default_factory=dict)
    beside_leading: SetFigure | None = None
    entries: tuple[EntryMean, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EvidenceRecord(Facts):
    """A published set: where it is from, and its figures by criterion, the leading one first."""

    evidence: int = FORMAT
    statistics: int = STATISTICS
    name: str
    made: str = ""  # the day on which it was computed
    material: str
    scale: tuple[float, float] | None = None
    scale_name: str = ""
    better_is_higher: bool = True
    raters_are: str
    because: str = ""
    groups: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    reproduction: Reproduction | None = None
    criteria: dict[str, CriterionFigures] = field(default_factory=dict)

    @property
    def called(self) -> str:
        """Short name of the set in sentences."""
        return self.short or self.name

    @property
    def leading(self) -> CriterionFigures | None:
        """The figures of the criterion that is named first."""
        return next(iter(self.criteria.values()), None)

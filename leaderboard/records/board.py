"""A phase's ranking as typed records: what `build` makes, a snapshot keeps, and every page, export and program reads.

Entries stand in the order in which they were received; every list of a column and of the overall rank is in that order, with None where
there is no value. It contains nothing per item and nothing of the reference. Fields stand in the order in which they are written, since
a snapshot's digest is of these bytes: a new one goes to the end, with a default for the rankings before it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import Field, PlainSerializer, SerializerFunctionWrapHandler, model_serializer
from pydantic_core import from_json

from leaderboard.records.people import Basis
from leaderboard.records.record import Record
from leaderboard.records.study import HIDDEN_NAME
from leaderboard.records.unit import NOUN, Unit
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Ceiling, Person, Standing
from leaderboard.stats.davidson import Fragile
from leaderboard.stats.meaning import Difference
from leaderboard.stats.minimums import ITEMS_FOR_FIRM_INTERVAL, RATERS_FOR_FIRM_INTERVAL
from leaderboard.stats.mos_table import USUAL
from leaderboard.stats.ranking import NoOrder
from leaderboard.stats.states import Reason
from leaderboard.stats.two_way_intervals import Ends, Figure
from leaderboard.stats.uncertainty import ALPHA

FORMAT = 3
WAITING = "waiting for re-evaluation"  # the state of an entry without a score that decides the order, of a metric with a newer version
PEOPLE = "people"  # the slug of what people prefer, as a column
Number = int | float  # as the organizer wrote it: 1 and 1.0 are other bytes
Moment = Annotated[datetime, PlainSerializer(datetime.isoformat, return_type=str, when_used="json")]


class Stored(Record):
    """A part of a ranking whose keys are not written as its fields stand: those in `keys` come first, and of those in `optional` only those
    that there are."""

    keys: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _written(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found = dump(self)
        return {name: found[name] for name in dict.fromkeys((*self.keys, *found)) if name not in self.optional or found[name] is not None}


# --- which ranking it is


class ChallengeName(Record):
    slug: str
    title: str
    simulated: bool


class PhaseRules(Record):
    """The phase, and by which rules it ranked: which entries count, and what the overall rank goes by."""

    slug: str
    title: str
    entries: str
    rule: str


class ImportedFrom(Record):
    """Publication from which the figures of a ranking were imported."""

    source: str
    url: str


# --- its entries


class PublicEntry(Record):
    """An entry as everybody who sees the board may know it. It has exactly the fields that `submissions.entry_fields` calls public; a test
    compares them."""

    id: int
    number: int = Field(description="Of the phase's entries, from 1; 0 of one that the organizers withhold.")
    name: str
    team: str
    received_at: datetime | None = Field(description="Null of an entry that the organizers withhold.")
    counted: bool
    baseline: bool
    verified: bool
    late: bool
    detail: str = Field("", description="What a table of imported figures says beside the name.")
    state: str = Field(
        description="hidden or disqualified, told to organizers only; waiting for re-evaluation, where it has no value yet in a column "
        "whose metric has a newer version; else empty."
    )
    paper: str
    code: str
    weights: str | None = None
    parameters: int | None = Field(None, description="Of the method, as its team states it.")
    run_seconds: float | None = Field(None, description="That one item takes, as its team states it.")


class BoardEntry(PublicEntry, Stored):
    """An entry of a ranking. `reason` says why it is hidden or disqualified, `waiting` has the slugs of columns that it has no score in
    before the phase is re-evaluated."""

    # Written last, and only where they are stated.
    stated: ClassVar[tuple[str, ...]] = tuple(name for name, field in PublicEntry.model_fields.items() if field.default is None)
    keys = (
        *("id", "number", "name", "team", "team_id", "received_at", "counted", "baseline", "verified"),
        *("paper", "code", "state", "late", "detail", "reason", "waiting"),
    )
    optional = frozenset({"waiting", *stated})

    team_id: int
    received_at: Moment | None
    reason: str = ""
    waiting: list[str] | None = None

    @property
    def is_redacted(self) -> bool:
        """True if only its place is left, see `redacted`."""
        return not self.team_id and self.name == HIDDEN_NAME

    def redacted(self) -> Self:
        nothing = {"name": HIDDEN_NAME, "team": "", "team_id": 0, "paper": "", "code": "", "verified": False, "reason": ""}
        nothing |= {"number": 0, "received_at": None, "detail": "", **dict.fromkeys(self.stated)}
        return self.model_copy(update=nothing)


# --- its columns


class Pairs(Record):
    """The test of all pairs of entries: which entries were `tested`, and the `p` of each with those behind it in that list."""

    tested: list[int]
    p: list[list[float | None]]


class Failure(Record):
    """Failure of a condition of an acceptance test, by its key: `wrong` of `of` scores of a `damage`, and the share of all that `held`."""

    condition: str
    damage: str
    wrong: int
    of: int
    held: float


class Refusal(Record):
    """Reason why a column does not rank: the first condition that failed on the first `scene` that failed, or why that scene could not be
    tried. `kind` is what the metric was tested on; it passed on `passed` of `of` scenes."""

    kind: str
    scene: str
    passed: int
    of: int
    untried: str | None
    failure: Failure | None


class ColumnAcceptanceTest(Stored):
    """Outcome of a column's acceptance test, if it needs one, by the names of `evaluation.models.acceptance_test.Standing`. `id` is the
    test's. `scenes` are the scenes that the column ranks by, if not by all. `percent` is how much of a waiting test is done, and
    `refusal` what the test found. `note` is a sentence by earlier rules."""

    optional = frozenset({"percent", "refusal", "note"})

    state: str
    id: int | None = None
    scenes: list[str] | None = None
    percent: int | None = None
    refusal: Refusal | None = None
    note: str | None = None


class Ranked:
    """Ranks of a board's entries, by their indices, with the 95 % ranges that are known."""

    if TYPE_CHECKING:
        rank: list[int | None]
        rank_low: list[int | None]
        rank_high: list[int | None]

    @property
    def n_ranked(self) -> int:
        return len(self.rank) - self.rank.count(None)

    def rank_range(self, index: int) -> tuple[int, int] | None:
        """The range of an entry's rank, for all entries at once; None where it is not tested."""
        low, high = (ends[index] if ends else None for ends in (self.rank_low, self.rank_high))
        return None if low is None or high is None else (low, high)


class ColumnHead(Record):
    """Metric of a column."""

    slug: str
    key: str = Field(description="The service's metric; empty of an imported figure.")
    title: str
    fingerprint: str = Field(description="Values of different fingerprints must not be compared.")
    params: dict[str, Any]
    higher_is_better: bool
    unit: str
    is_primary: bool
    in_ranking: bool
    weight: Number

    @property
    def heading(self) -> str:
        """Title, unit and direction."""
        return f"{self.title}{f' [{self.unit}]' if self.unit else ''} {'↑' if self.higher_is_better else '↓'}"

    @property
    def direction(self) -> str:
        return "higher is better" if self.higher_is_better else "lower is better"

    @property
    def is_program(self) -> bool:
        """True if it is the organizer's own metric, whose key is challenge/key."""
        return "/" in self.key


class MetricColumn(Ranked, ColumnHead, Stored):
    """One metric over all entries. Ranks, their intervals and brackets (`group`) are of counted entries only.

    `scale` is the line that intervals are drawn on, and `decimals` how many a figure was published with. `leads` has (entry, share of
    halves of the groups that it leads). `clean` has (scene, mean, least, greatest score of its clean views).
    `flagged` has (entry, flag of `wording.items.FLAGS`, number of its items that have it). Rankings by the earlier rule have no
    `loose`, `untested`, `pairs` and `leads`.
    """

    optional = frozenset({"acceptance_test", "clean", "flagged"})

    bounds: tuple[Number | None, Number | None] = (None, None)
    scale: tuple[Number, Number]
    decimals: int | None
    value: list[float | None]
    ci_low: list[float | None]
    ci_high: list[float | None]
    n: list[int]
    rank: list[int | None]
    rank_low: list[int | None]
    rank_high: list[int | None]
    group: list[int | None]
    loose: list[bool] = []
    untested: list[str] = []
    pairs: Pairs | None = None
    leads: list[tuple[int, float]] | None = None
    order: list[int]
    acceptance_test: ColumnAcceptanceTest | None = None
    clean: list[tuple[str, float, float, float]] | None = None
    flagged: list[tuple[int, str, int]] | None = None
    percent: bool = Field(False, exclude=True)  # the people's own column: how often they would pick an entry

    @property
    def may_rank(self) -> bool:
        """True if the column needs no acceptance test, or passed it."""
        return self.acceptance_test is None or self.acceptance_test.state == "passed"

    @property
    def scenes(self) -> Collection[str] | None:
        """Scenes that the column ranks by; None where it ranks by all."""
        return None if self.acceptance_test is None else self.acceptance_test.scenes

    def flags(self, index: int) -> dict[str, int]:
        """The number of an entry's items by their flag."""
        return {flag: n for entry, flag, n in self.flagged or () if entry == index}

    def interval(self, index: int) -> tuple[float | None, float | None]:
        """The 95 % interval of a value. None over one item, of which earlier rankings kept an interval of no width."""
        return (None, None) if self.n[index] == 1 else (self.ci_low[index], self.ci_high[index])

    def pair_p(self, a: int, b: int) -> float | None:
        """p of two entries, by their places, among all pairs of the board; None where they are not tested."""
        if self.pairs is None or a not in self.pairs.tested or b not in self.pairs.tested or a == b:
            return None
        first, second = sorted((self.pairs.tested.index(a), self.pairs.tested.index(b)))
        return self.pairs.p[first][second - first - 1]

    def tied(self, index: int) -> list[int] | None:
        """Indices of the entries that an entry is tied with, corrected for all pairs of the board; None if it is not tested."""
        if self.pairs is None or index not in self.pairs.tested:
            return None
        others = ((other, self.pair_p(index, other)) for other in sorted(self.pairs.tested))
        return [other for other, p in others if p is not None and p > ALPHA]

    def redacted(self, at: Collection[int]) -> Self:
        """The column without the figures of the entries `at`."""
        update = _emptied(self, at, "value", "ci_low", "ci_high", "n", *OF_RANKS)
        if self.pairs is not None:
            tested = self.pairs.tested
            p = [
                [None if one in at or other in at else value for other, value in zip(tested[place + 1 :], row, strict=True)]
                for place, (one, row) in enumerate(zip(tested, self.pairs.p, strict=True))
            ]
            update["pairs"] = Pairs(tested=tested, p=p)
        if self.flagged is not None:
            update["flagged"] = [one for one in self.flagged if one[0] not in at] or None
        if self.leads is not None:
            update["leads"] = [lead for lead in self.leads if lead[0] not in at]
        return self.model_copy(update=update)


@dataclass(frozen=True)
class Rule:
    """Rule of an overall rank: over `n` metrics, or by the one called `title`."""

    key: str
    n: int
    title: str = ""


class NoOverallRank(Stored):
    """Reason why a ranking has no overall rank. `title` is the metric that decides the order and may not rank; `note` is the sentence of
    earlier rules."""

    optional = frozenset({"title", "note"})

    reason: NoOrder
    title: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class RuleValue:
    """Value of an entry by the board's rule, and what it is made of: its `ranks` by the rule's metrics, with their weights. `incomplete`
    entries of the board have no value by one of these; one that is not `counted` has the rank that it would have."""

    rule: Rule
    value: float
    ranks: Sequence[float]
    weights: Sequence[Number]
    incomplete: int
    counted: bool


class Overall(Ranked, Record):
    """The organizer's rule over the columns `metrics` that take part. `problem` says why there is no rank; `fixed` names the columns
    without values per item, whose order is taken as it stands. `ranks` has an entry's ranks by `metrics` among the complete entries, of
    which `incomplete` are none."""

    rule: str
    metrics: list[str]
    problem: NoOverallRank | None
    fixed: list[str] = []
    rank_low: list[int | None]
    rank_high: list[int | None]
    group: list[int | None]
    loose: list[bool] = []
    untested: list[str] = []
    higher_is_better: bool
    rank: list[int | None]
    value: list[float | None]
    ranks: list[list[float] | None]
    incomplete: int
    order: list[int]

    @property
    def leaders(self) -> list[int]:
        """The entries that share first place, in the board's order."""
        return [n for n in self.order if self.rank[n] == 1]

    def redacted(self, at: Collection[int]) -> Self:
        """The ranks without the figures of the entries `at`."""
        return self.model_copy(update=_emptied(self, at, "value", "ranks", *OF_RANKS))


def _unworded(found: Any) -> Any:
    if isinstance(found, list):
        return [_unworded(each) for each in found]
    return {name: _unworded(each) for name, each in found.items() if name != "why"} if isinstance(found, dict) else found


Ranks = MetricColumn | Overall  # what a board can be sorted by and has ranks of


OF_RANKS = ("rank_low", "rank_high", "group", "loose", "untested")
EMPTY = {"n": 0, "loose": False, "untested": ""}  # what stands where a figure was taken out; None in all other lists


def _emptied(record: Record, at: Collection[int], *names: str) -> dict[str, object]:
    """Lists of a record by name, without what they say of the entries `at`."""
    found: dict[str, object] = {}
    for name in names:
        values = list(getattr(record, name))
        for index in at if values else ():
            values[index] = EMPTY.get(name)
        found[name] = values
    return found


# --- what people say of them


class StudyName(Record):
    """A study in words."""

    slug: str
    title: str
    question: str
    simulated: bool


class StudyOf(StudyName, Stored):
    """Study that a board's figures are of."""

    keys = ("id", "slug", "title", "question", "source", "simulated")

    id: int
    source: str


class Mark(Record):
    """An entry that people prefer to the marked one, and a metric does not; `value` is how often they do, `samples` where it shows most,
    of `n`. An entry that is none of the phase's has no `id`."""

    preferred: str
    id: int | None
    value: Ends
    samples: list[str]
    n: int


class ColumnAgreement(Stored):
    """Agreement of one column of the board with people; by the names of `leaderboard.stats.records`. Only rankings
    by earlier rules have `seen`, `tier` and `of_ceiling`, which pages do not show."""

    optional = frozenset({"seen", "tier", "of_ceiling", "difference", "person", "standing", "places", "may_be_best"})

    slug: str
    decided: Agreement
    damaged: Figure | None = None
    rho: Figure
    tau: Figure
    r: Figure
    seen: Any = None
    tier: int | None = None
    of_ceiling: float | None = None
    reference_point: bool = False
    trained: str = ""
    above_size: bool | None = None
    groups: dict[str, Agreement] = {}
    difference: Difference | None = None
    person: Person | None = None
    standing: Standing | None = None
    places: tuple[int, int] | None = None
    may_be_best: bool | None = None


class Against(Record):
    """People's first against an entry: how often they pick it, and the p of that after Holm over all pairs."""

    value: Ends
    p_holm: float | None


class PeoplesFirst(Stored):
    """Certainty of people's first place: its rank interval, whether first place is settled, and the figures it hangs on, of so many
    answers, people and samples. Only rankings by earlier rules have `p_best`, which pages do not show."""

    optional = frozenset({"p_best"})

    rank: tuple[int, int]
    p_best: float | None = None
    settled: bool
    fragile: Fragile | None
    answers: int
    raters_counted: int
    samples_counted: int


class StudyFacts(Record):
    """Basis of a study's figures, as it stood when the ranking was made."""

    kind: str = Field(description="pairs or opinions.")
    of: str = Field(description="votes, ratings or means (published ones, of which nothing else is known).")
    raters: int | None
    answers: int
    questions: int = Field(description="Pairs of a sample that were judged; 0 of opinion scores.")
    at: datetime
    note: str
    left_out: list[str] = Field(description="Entries that take no part in correlations.")
    reason: Reason | None = Field(None, description="What is missing for any figure; null where nothing is.")
    why: str = Field("", description="The same as a sentence; empty where nothing is missing.")
    band: Ceiling | None = Field(description="How often two raters say the same (two_people), and what any metric could do.")


class HumanAgreement(StudyFacts, Stored):
    """Findings of people. `value`, `low`, `high`, `n` are the people's column, `over` what people's first is to each entry; all in the
    order of the ranking's entries. `may_be_first` are the indices of those whose rank interval holds first place; None where there are
    no such intervals. `people` is the version of the rules: 1 and 2 are earlier ones."""

    keys = ("people", "study", "kind", "of", "criterion", "raters", "groups")
    optional = frozenset({"firm", "may_be_first", "few", "unsampled", "places", "scale"})

    people: int = 4
    study: StudyOf
    criterion: str
    groups: list[str]
    metrics: list[ColumnAgreement]
    value: list[float | None]
    low: list[float | None]
    high: list[float | None]
    n: list[int]  # 0 where it is not known
    first: int | None = None  # the index of people's first among the entries
    over: list[Against | None] = []
    marks: dict[str, dict[str, list[Mark]]]
    firm: PeoplesFirst | None = None  # of the first, where no other is level with it; none in earlier rankings
    may_be_first: list[int] | None = None  # none in earlier rankings
    few: dict[str, Reason] | None = None  # by id, why an entry has no figure where people read it though others have; none where all have
    unsampled: bool | None = None  # True where answers name no sample; else none
    places: list[tuple[int, int] | None] | None = None  # 95 % intervals of each place with people; none in earlier rankings
    scale: tuple[float, float] | None = None  # of ratings, by its two ends; none where it is the usual one, 1 to 5

    @property
    def basis(self) -> Basis:
        """Answers that its figures are of."""
        return Basis(of=self.of, n=self.answers, raters=self.raters, scale=self.scale or USUAL)

    @property
    def is_rough(self) -> bool:
        """True if its intervals are of so few raters or items that they are rough."""
        counts = self.counts()
        return counts is not None and (counts[0] < RATERS_FOR_FIRM_INTERVAL or counts[1] < ITEMS_FOR_FIRM_INTERVAL)

    def counts(self, noun: str = NOUN) -> tuple[int, int, str] | None:
        """Raters and items, as counted for the reference point that answers every comparison, and the noun for an item; None if unknown or
        too few."""
        every = next((line.decided for line in self.metrics if line.reference_point and line.slug == "constant"), None)
        if every is None or self.reason is not None:
            return None
        return every.raters, every.samples, "comparison" if self.unsampled else noun

    @model_serializer(mode="wrap")
    def _without_words(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The keys that are stored; reasons are data there, and put into words where they are read."""
        found = self._written(dump)
        return {name: _unworded(found[name]) if name in ("band", "metrics") else found[name] for name in found if name != "why"}

    def _places_left(self, at: Collection[int]) -> list[tuple[int, int] | None]:
        """Intervals of the places that are left without the entries `at`: those before an entry are taken off at both ends, as
        `leaderboard.stats.records.places_among` does."""
        known = self.places or []
        n = sum(ends is not None and index not in at for index, ends in enumerate(known))
        values = [-math.inf if value is None else value for value in self.value]
        left: list[tuple[int, int] | None] = []
        for index, ends in enumerate(known):
            before = sum(known[other] is not None and values[other] > values[index] for other in at)
            left.append(None if ends is None or index in at else (max(1, ends[0] - before), min(n, ends[1] - before)))
        return left

    def redacted(self, at: Collection[int], ids: Collection[int], names: Collection[str]) -> Self:
        """The part without what people said of the entries `ids`, which stand at `at` and were called `names`."""
        update = _emptied(self, at, "value", "low", "high", "over", "n")
        if self.places is not None:
            update["places"] = self._places_left(at)
        if self.first in at:
            update |= {"first": None, "over": [], "firm": None}
        update["marks"] = {
            slug: {pk: [one for one in marks if one.id not in ids] for pk, marks in by_entry.items() if int(pk) not in ids}
            for slug, by_entry in self.marks.items()
        }
        update["left_out"] = [name for name in self.left_out if name not in names]
        update["few"] = None if self.few is None else {pk: why for pk, why in self.few.items() if int(pk) not in ids}
        return self.model_copy(update=update)


# --- all of it


class Board(Record):
    """A ranking of a phase for an audience. Intervals and tests are over `n_resampled` units, which `resampled` names. If these are groups,
    `inner` is the noun of their items."""

    format: int
    uncertainty: int
    audience: str
    batch: int
    challenge: ChallengeName
    phase: PhaseRules
    reference: int
    imported: ImportedFrom | None = None
    frozen_at: Moment | None
    n_teams: int
    n_entries: int
    n_items: int
    resampled: str
    n_resampled: int
    inner: str
    people: HumanAgreement | None = None
    entries: list[BoardEntry]
    metrics: list[MetricColumn]
    overall: Overall

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """The ranking that such bytes hold. For thousands of entries, pydantic's parser takes a third of the time of json's."""
        return cls.model_validate(from_json(data))

    def to_json(self) -> bytes:
        """The bytes that a snapshot keeps, and that its digest is of."""
        return json.dumps(self.model_dump(mode="json"), separators=(",", ":"), allow_nan=False).encode()

    @property
    def unit(self) -> Unit:
        """The unit of its intervals, in the nouns that it was made with."""
        return Unit(self.n_resampled, self.resampled, self.inner)

    @property
    def rule(self) -> Rule:
        """The rule of its overall rank."""
        metrics = self.overall.metrics
        deciding = self.column(metrics[0]) if self.overall.rule == "primary" and metrics else None
        return Rule(self.overall.rule, len(metrics), deciding.title if deciding is not None else "")

    def rule_value(self, index: int) -> RuleValue | None:
        """The value of an entry by the rule, with the ranks that it is made of; None where it has none."""
        value, ranks = self.overall.value[index], self.overall.ranks[index]
        if value is None or ranks is None:
            return None
        weights = [column.weight for slug in self.overall.metrics if (column := self.column(slug)) is not None]
        return RuleValue(self.rule, value, ranks, weights, self.overall.incomplete, self.entries[index].counted)

    @property
    def primary(self) -> MetricColumn | None:
        return next((metric for metric in self.metrics if metric.is_primary), None)

    def team_of(self, entry: BoardEntry) -> str:
        """Name of the entry's team; empty where the entries are methods of an imported table, which are of no team."""
        return entry.team if self.imported is None else ""

    def column(self, slug: str) -> MetricColumn | None:
        return next((metric for metric in self.metrics if metric.slug == slug), None)

    def index_of(self, entry: int) -> int | None:
        """Position in the lists of the entry with that id; None where it is not there."""
        return next((index for index, row in enumerate(self.entries) if row.id == entry), None)

    def rank_of(self, entry: int) -> int | None:
        """The overall rank of the entry with that id; None where it is not there, or has none."""
        index = self.index_of(entry)
        return None if index is None else self.overall.rank[index]

    def redacted(self, hidden_ids: Collection[int]) -> Self:
        """A copy in which the entries `hidden_ids` keep their places and nothing else: no name, no team, no links, no values. Later
        decisions about them also apply to old rankings."""
        at = {index for index, entry in enumerate(self.entries) if entry.id in hidden_ids}
        if not at:
            return self
        names = {self.entries[index].name for index in at}
        return self.model_copy(
            update={
                "entries": [entry.redacted() if index in at else entry for index, entry in enumerate(self.entries)],
                "metrics": [metric.redacted(at) for metric in self.metrics],
                "overall": self.overall.redacted(at),
                "people": self.people.redacted(at, hidden_ids, names) if self.people is not None else None,
            }
        )

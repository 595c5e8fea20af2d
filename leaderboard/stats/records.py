"""Everything that a study's answers on one criterion say, as records: the names that pages, exports, the API and the command share.

The code that computes a figure makes its record, `None` in the place of what is not a number. A record is written as its fields stand
(`plain`) and never reshaped; `leaderboard.records.study` says how it is stored and read. Two sets of entries have the same figures: the
entries of teams and baselines, which everything is headed by, and `all`, damaged and empty entries and the reference included.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Self

from leaderboard.stats.agreement import Agreement, MetricPair, ThreeWay
from leaderboard.stats.another_rater import Ceiling, Person, Standing
from leaderboard.stats.correlation import Opinion, Order
from leaderboard.stats.davidson import Fragile, Omitted
from leaderboard.stats.judge_substitution import Gate, Joined
from leaderboard.stats.judges import LeftShare
from leaderboard.stats.meaning import Difference
from leaderboard.stats.opinions import Fitted
from leaderboard.stats.planning import Forecast
from leaderboard.stats.plans import Settling
from leaderboard.stats.ranking import rank
from leaderboard.stats.rater_groups import RaterGroups
from leaderboard.stats.reliability import Probability, Share
from leaderboard.stats.states import Reason, State, too_few
from leaderboard.stats.subsample_stability import Curve
from leaderboard.stats.two_way_intervals import Ends, Estimate, Figure
from leaderboard.stats.uncertainty import ALPHA

NOTHING: Ends = (None, None, None)
KNOW_NOTHING = ("constant", "coin")  # reference points that decide half of all comparisons by definition
REFERENCE_TITLES = {"constant": "Always equal", "coin": "Random", "size": "Size only", "reference only": "The reference's size only"}


# --- metrics


@dataclass(frozen=True)
class Soft:
    """Soft pairwise accuracy, see `leaderboard.stats.agreement.soft_pairwise`."""

    value: float | None
    reason: Reason | None = None
    why: str = field(default="", compare=False)


@dataclass(frozen=True)
class EntryPair:
    """Two entries that people compared; they prefer `first`. `value` is how often they would pick it, or for opinion scores by how many
    points its mean is above. `p_holm` is its p after Holm over all pairs. `answers` were given on the two. If these are enough, `asked`
    is the share of them for the first."""

    first: str
    second: str
    value: Ends
    p_holm: float | None
    answers: int
    asked: Ends | None = field(default=None, kw_only=True)

    def among(self, labels: Collection[str]) -> bool:
        return self.first in labels or self.second in labels

    @property
    def told_apart(self) -> bool:
        return self.p_holm is not None and self.p_holm <= ALPHA


@dataclass(frozen=True)
class Contradiction(EntryPair):
    """A pair that people decided significantly and that a metric significantly decides the other way. `p_metric` is the metric's own, of
    the paired test over the study's samples; None of a metric without values per sample, which puts them strictly so. `samples` are those
    in which it contradicts the majority."""

    p_metric: float | None
    samples: list[str]


@dataclass(frozen=True)
class Across(Figure):
    """Spearman's correlation of a metric with people over `n` rated results of all items together, with an interval over other items and
    raters. `se` and `df` belong to the interval, on Fisher's z. The metric has `places` among the metrics that have a value of each
    result, and it `may_be_best` if they begin at 1. `above_size` says whether it is significantly above size alone, by the two-sided
    `size_p`. All four are None where there was no test."""

    items: int = field(default=0, kw_only=True)
    raters: int = field(default=0, kw_only=True)
    se: float | None = field(default=None, kw_only=True)
    df: float | None = field(default=None, kw_only=True)
    places: tuple[int, int] | None = field(default=None, kw_only=True)
    may_be_best: bool | None = field(default=None, kw_only=True)
    above_size: bool | None = field(default=None, kw_only=True)
    size_p: float | None = field(default=None, kw_only=True)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Figures of one metric by the answers. A `reference_point` knows nothing, or size alone; `trained` is not empty where it was, or may
    have been, learnt from these answers. `standing` is its state between chance and another rater, with whom `person` compares it.
    `places` are those among the other metrics, each at 95 %, and it `may_be_best` where they begin at 1; None for reference points, for
    metrics trained on these answers, and where nothing could be tested. `over_size` is its difference to the reference point of size, and
    `above_size` says whether it was shown to see more than that; None where there is no such row. `groups` are by group of raters;
    `srocc` is of ratings alone. From `higher_is_better` on: figures of earlier papers, in exports only."""

    key: str
    metric: str = ""
    title: str = ""
    fingerprint: str = ""
    reference_point: bool = False
    trained: str = ""
    decided: Agreement
    auc_better_worse: Figure
    auc_different_similar: Figure
    acc_eq: ThreeWay
    spa: Soft
    rho: Figure
    tau: Figure
    r: Figure
    difference: Difference | None = None
    fitted: Fitted | None = None
    srocc: Across | None = None
    person: Person | None = None
    standing: Standing | None = None
    places: tuple[int, int] | None = None
    may_be_best: bool | None = None
    above_size: bool | None
    over_size: MetricPair | None = None
    contradictions: list[Contradiction]
    groups: dict[str, Agreement] = field(default_factory=dict)
    higher_is_better: bool = True
    tie: float = 0.0
    values: list[float | None] | None = None
    pairs: Share | None = None
    decisive: Share | None = None
    probability: Probability | None = None
    order: Order | None = None
    scenes: dict[str, Order] = field(default_factory=dict)
    scenes_mean: Order | None = None

    @property
    def few(self) -> bool:
        """True if nothing of it is tested: it has values for answers of too few raters, or on too few samples."""
        return too_few(self.decided.reason)


# --- entries


@dataclass(frozen=True, kw_only=True)
class Entry:
    """People's figures of one entry. A study of pairs has `implied`, how often people would pick it against the others. With it go `rank`,
    the range of its place, whether it `may_be_first`, and `part`, which numbers the parts of a study whose entries were never compared.
    A study of opinion scores has `mos`. From `appearances` on: other ways to count, in exports and folded on the page. Wins are left out
    if the study chose its pairs by them."""

    method: str
    part: int | None = None
    answers: int = 0
    implied: Ends = NOTHING
    implied_without: Ends | None = None
    theta: Ends = NOTHING
    rank: tuple[int, int] | None = None
    may_be_first: bool | None = None
    state: State = State.KNOWN
    reason: Reason | None = None
    why: str = field(default="", compare=False)
    mos: Ends = NOTHING
    mos_mle: Ends | None = None
    mos_mle_reason: Reason | None = None
    mos_mle_why: str = field(default="", compare=False)
    raters: int | None = None
    n: int | None = None
    sd: float | None = None
    normalised: float | None = None
    scenes: dict[str, Opinion] = field(default_factory=dict)
    appearances: int = 0
    wins: float | None = 0.0
    losses: float | None = 0.0
    ties: float | None = 0.0
    win_rate: Ends = NOTHING
    win_rate_with_self: Ends = NOTHING
    ability: Ends = NOTHING
    wf_elo: Ends = NOTHING
    judge_elo: Ends = NOTHING
    quality: Ends = NOTHING
    component: int | None = None
    regularised: bool = False

    @property
    def value(self) -> Ends:
        """The people's column: the mean score where there are ratings, else how often people would pick it."""
        return self.implied if self.mos[0] is None else self.mos

    @property
    def in_main_part(self) -> bool:
        """True if it is in the part with most answers: entries of parts that never met have no common order."""
        return self.part in (None, 1)


@dataclass(frozen=True)
class Covariate:
    """A coefficient per unit; `share` is how often the side with one unit more is preferred between equals, with its interval."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    share: float
    share_low: float | None
    share_high: float | None


@dataclass(frozen=True)
class Preference:
    """The model of one part of the entries: ties, sides and covariates, and those `omitted`. It has a weak `prior` if some entries never
    lost to the others. `notes` says both in words, for outputs alone."""

    part: int
    nu: float
    side: Ends | None
    left_preferred: float | None
    covariates: list[Covariate]
    prior: bool
    omitted: list[Omitted]
    notes: list[str] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class Enough:
    """The first `settled` places are settled: their rank intervals overlap none below. `first` stands first by ability, `open` are the
    others that may be first, and `plans` say what would settle first place; None where it is settled."""

    settled: int
    first: str
    open: list[str]
    plans: Settling | None


@dataclass(frozen=True)
class Rival:
    entry: str
    p: float | None


@dataclass(frozen=True)
class FirstPlace:
    """The first by ability, and the two-sided p of its lead over each other entry that it met, directly or through others."""

    entry: str
    others: list[Rival]

    def without(self, labels: Collection[str]) -> Self | None:
        """Nothing of the entries called so; None where the first is one of them."""
        if self.entry in labels:
            return None
        return replace(self, others=[rival for rival in self.others if rival.entry not in labels])


@dataclass(frozen=True, kw_only=True)
class Entries:
    """The figures of one set of entries; `reason` says why there is no headline, where there is none. `another_rater` says how
    often two raters who decided the same question agree. `forecast` is of the first metric's agreement."""

    answers: int
    decided_answers: int
    raters_counted: int
    samples_counted: int
    reason: Reason | None
    why: str = field(default="", compare=False)
    metrics: list[Metric]
    scales: list[Entry]
    ceiling: Ceiling | None
    another_rater: Estimate | None = None
    model: Preference | None
    models: list[Preference]
    fragile: Fragile | None
    metric_pairs: list[MetricPair]
    entry_pairs: list[EntryPair]
    enough: Enough | None
    first_place: FirstPlace | None
    forecast: Forecast | None

    def metric(self, key: str) -> Metric | None:
        return next((line for line in self.metrics if line.key == key), None)

    def without(self, labels: Collection[str]) -> Self:
        """Nothing of the entries called so."""

        def left(line: Metric) -> Metric:
            return replace(line, contradictions=[one for one in line.contradictions if not one.among(labels)])

        # What hangs on the order of the part with most answers is of the others only where none of these stands as high as it reaches.
        order = [line.method for line in self.scales if line.part == 1]
        reach = {*order[: self.enough.settled + 1], self.enough.first, *self.enough.open} if self.enough is not None else set()
        is_first = bool(order) and order[0] in labels
        return replace(
            self,
            metrics=[left(line) for line in self.metrics],
            scales=places_among(self.scales, labels),
            entry_pairs=[pair for pair in self.entry_pairs if not pair.among(labels)],
            first_place=self.first_place.without(labels) if self.first_place else None,
            enough=self.enough if reach.isdisjoint(labels) else None,
            fragile=None if is_first else self.fragile,
        )


def places_among(scales: Sequence[Entry], labels: Collection[str]) -> list[Entry]:
    """The entries except those called so, with their places among the rest.

    A rank interval counts the entries that are surely better and surely worse than an entry; it does not name them. The left-out entries
    that are ahead of an entry may all be among the surely better ones. So their number is subtracted from both ends, which leaves an
    interval that holds the entry's place among the rest.
    """
    before: Counter[int | None] = Counter()
    left = Counter(line.part for line in scales if line.method not in labels)
    found = []
    for line in scales:
        if line.method in labels:
            before[line.part] += 1
            continue
        if line.rank is not None:
            low, high = (end - before[line.part] for end in line.rank)
            line = replace(line, rank=(max(1, low), min(high, left[line.part])), may_be_first=low <= 1)
        found.append(line)
    return found


# --- judges


@dataclass(frozen=True)
class Together(Joined):
    """A metric's decided agreement by people with a judge."""

    key: str = field(kw_only=True)


@dataclass(frozen=True)
class PairTogether(Joined):
    """Share of picks by people with a judge for the first of two entries, equal answers half."""

    first: str = field(kw_only=True)
    second: str = field(kw_only=True)


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A judge model that answered too. In studies of pairs it answers people's own questions and has a `gate`. In studies of opinion scores
    it has `rho`, of its Elo with the mean scores of entries. `order` is over all that was compared, as in earlier papers."""

    key: str
    display_only: bool = False
    decided: Agreement | None = None
    gate: Gate | None = None
    with_people: list[Together] = field(default_factory=list)
    pairs_with_people: list[PairTogether] = field(default_factory=list)
    pairs: Share | None = None
    decisive: Share | None = None
    probability: Probability | None = None
    rho: Figure | None = None
    order: Order | None = None
    groups: dict[str, Share | Order] = field(default_factory=dict)
    scenes: dict[str, Order] = field(default_factory=dict)
    scenes_mean: Order | None = None
    left_share: LeftShare | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def without(self, labels: Collection[str]) -> Judge:
        """Nothing of the comparisons of the entries called so."""
        entry_pairs = [one for one in self.pairs_with_people if one.first not in labels and one.second not in labels]
        return replace(self, pairs_with_people=entry_pairs)

    @property
    def counts(self) -> bool:
        """True if it may stand beside people."""
        return not self.display_only and self.gate is not None and self.gate.passed


# --- raters


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """One rater, for organizers by name and for others by number. `consistency`, which organizers alone see, is 1 if a rater is as
    consistent as all together, near 0 if the answers are random, and below 0 if they are reversed."""

    rater: str
    group: str = ""
    votes: int = 0
    ratings: int = 0
    agreement: float | None = None
    seconds: float | None = None
    ties: float | None = None
    self_consistency: float | None = None
    self_agreement: float | None = None
    repeats: int = 0
    gold: float | None = None
    gold_pairs: int = 0
    consistency: float | None = None
    consistency_answers: int = 0
    mean: float | None = None
    screened: bool = False
    bias: float | None = None
    inconsistency: float | None = None

    @property
    def equal(self) -> int:
        """The number of answers that call both sides equal."""
        return round((self.ties or 0.0) * self.votes)


@dataclass(frozen=True)
class RatersFound:
    raters: list[Reliability]
    self_consistency: Share | None = None
    gold: Share | None = None
    panel_error: float | None = None


@dataclass(frozen=True)
class Matrix:
    """Pairwise agreement of raters and metrics, as earlier papers count it: float [K, K] each."""

    names: list[str]
    kinds: list[str]
    all: list[list[float | None]]
    decisive: list[list[float | None]]
    common: list[list[float]]
    order: list[int]
    cluster: list[int]
    silhouette: float | None


@dataclass(frozen=True)
class BetweenPeople:
    pairs: Share
    decisive: Share
    alpha: float | None


# --- the whole


@dataclass(frozen=True)
class UnscreenedScale:
    method: str
    value: Ends


@dataclass(frozen=True)
class UnscreenedMetric:
    key: str
    decided: Figure | None = None


@dataclass(frozen=True)
class Unscreened:
    """The figures as they would be if no rule left any rater out; `raters` is how many people these are of."""

    raters: int
    scales: list[UnscreenedScale]
    metrics: list[UnscreenedMetric]


@dataclass(frozen=True, kw_only=True)
class StudySummary(Entries):
    """All of it. `raters` are the names of those who judged, in the order of `groups`; those that rules left out among
    them. `screened_by` says which rules left out whom. `entries` says which submission a label stands for, `damaged` which labels are no
    entries of teams or baselines: whoever stores the summary knows both."""

    version: int
    kind: str
    of: str = "votes"
    scale: tuple[float, float] = (1.0, 5.0)  # of ratings, by its two ends
    votes: int = 0
    ratings: int = 0
    counted: int
    repeats: int = 0
    questions: int = 0
    ties: float | None = None
    raters: list[str]
    n_raters: int | None = None
    groups: list[str]
    samples: list[str]
    methods: list[str]
    entries: dict[str, int] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    screening: bool | str = False
    screened: list[str] = field(default_factory=list)
    screened_by: dict[str, list[str]] = field(default_factory=dict)
    unscreened: Unscreened | None = None
    note: str = ""
    anchor: str | None = None
    explained_share: float | None = None
    like_others: float | None = None
    agreement: Matrix | None = None
    people: BetweenPeople | None = None
    rater_groups: RaterGroups | None = None
    reliability: RatersFound
    adequacy: list[Curve] = field(default_factory=list)
    judges: list[Judge] = field(default_factory=list)
    all: Entries | None = None

    @property
    def opinions(self) -> bool:
        return self.kind == "opinions"

    @property
    def given(self) -> int:
        """The number of votes, or of ratings, that figures of entries are made of."""
        return sum(line.answers for line in self.ranked) if self.opinions else self.answers

    @property
    def ranked(self) -> list[Entry]:
        """The entries of teams and baselines, people's first first. Where some were judged by too few people or on too few items, those
        are left out; where all were, they are all here."""
        return self._by_number[0]

    @property
    def unranked(self) -> list[Entry]:
        """The entries that were judged by too few people or on too few items to stand beside the others."""
        return self._by_number[1]

    @property
    def _by_number(self) -> tuple[list[Entry], list[Entry]]:
        out = {*self.damaged, *self.left_out}
        valued = [line for line in self.scales if line.method not in out and line.value[0] is not None]
        enough = [line for line in valued if not too_few(line.reason)]
        return (enough, [line for line in valued if too_few(line.reason)]) if enough else (valued, [])

    @property
    def shares_first(self) -> bool:
        """True if several entries are level in first place with people."""
        return rank([line.value[0] for line in self.ranked if line.in_main_part], True).count(1) > 1


# --- as JSON


def names_of(record: Any) -> Iterable[str]:
    """The names of its fields, except sentences: `leaderboard.wording.reasons` makes these where they are read."""
    return (one.name for one in fields(record) if one.compare)


def plain(value: Any, names: Callable[[Any], Iterable[str]] = names_of) -> Any:
    """A value in JSON's own types, of a record what `names` names of it; None for what is not a number."""
    if is_dataclass(value):
        return {name: plain(getattr(value, name), names) for name in names(value)}
    if isinstance(value, dict):
        return {key: plain(each, names) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, names) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

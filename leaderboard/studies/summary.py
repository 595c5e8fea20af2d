"""Summary of a study's judgements on one criterion, as it is stored, shown, exported and sent by the API: one form for all.

`leaderboard.stats.summaries` makes it in these names. An analysis of an older version is not read: it is being made anew.
Two sets of entries have the same figures: the entries of teams and baselines, which everything is headed by, and `all`, damaged and
empty entries and the reference included.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from leaderboard.boards.certainty import plural
from leaderboard.stats.votes import FEW, LEAST, NO_DUELS, VERSION

FEW_SAMPLES = f"{FEW} samples:"  # begins the sentence of `leaderboard.stats` that says so of samples
HIDDEN_NAME = "withheld by the organizers"  # in the place of a name
GUARD_TITLES = {"constant": "Always equal", "coin": "A coin", "size": "Size alone", "reference only": "The reference's size alone"}
Ends = tuple[float | None, float | None, float | None]  # a value and the ends of its 95 % interval


class Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class Figure(Record):
    """A value of `n` answers (of a correlation: entries) with its 95 % interval; `why` says what keeps it from having one."""

    value: float | None
    low: float | None
    high: float | None
    n: int = 0
    why: str = ""

    @property
    def ends(self) -> Ends:
        return self.value, self.low, self.high

    @property
    def brief(self) -> Figure:
        """Without what its interval is made of."""
        return Figure(value=self.value, low=self.low, high=self.high, n=self.n, why=self.why)


class Agreement(Figure):
    """Decided agreement: of the answers that name a winner, how often the metric puts it first. `coverage` is the share of answers that
    it has values for; `rough` says that the interval is of few raters or samples."""

    n_eff: float = 0.0
    raters: int = 0
    samples: int = 0
    se: float | None = None
    df: float | None = None
    rough: bool = False
    coverage: float | None = None


class ThreeWay(Figure):
    tolerance: float | None = None
    range: tuple[float, float] | None = None


class Soft(Record):
    value: float | None
    why: str = ""


class Seen(Record):
    """Share of people who see a difference; see `leaderboard.stats.differences`. `low` and `high` are the ends of the slope's interval."""

    gamma: float
    unit: float
    slope: float
    low: float
    high: float
    delta75: tuple[float, float, float] | None
    largest: float

    @property
    def beyond(self) -> bool:
        """True if the interval of the gap that 75 % see ends beyond the largest gap that anybody was asked about."""
        return self.delta75 is not None and self.delta75[2] > self.largest

    @model_validator(mode="before")
    @classmethod
    def _of_earlier(cls, kept: Any) -> Any:
        """Rankings of before version 10 of the analysis hold the slope and both ends as one."""
        if isinstance(kept, Mapping) and isinstance(kept.get("slope"), list | tuple):
            return {**kept, **dict(zip(("slope", "low", "high"), kept["slope"], strict=True))}
        return kept

    def share(self, difference: float) -> tuple[float, float, float]:
        from leaderboard.stats.differences import Seen as Gap

        return Gap(self.gamma, self.unit, (self.slope, self.low, self.high), self.largest).share(difference)


class Fitted(Record):
    r: float
    rmse: float
    raw: float
    n: int


class Duel(Record):
    """Two entries that people compared: how often they would pick the first (of opinion scores: by how many points its mean is above),
    and the p of that after Holm over all duels."""

    first: str
    second: str
    value: Ends
    p_holm: float | None
    answers: int

    def among(self, labels: Collection[str]) -> bool:
        return self.first in labels or self.second in labels


class Contradiction(Duel):
    """A duel that people decided and a metric turns round; `samples` are those in which it contradicts the majority."""

    p_metric: float | None
    samples: list[str]


class Share(Record):
    """A share of agreeing answers, ties half, as earlier papers count it."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class LeftShare(Record):
    """Share of a judge's preferences for the left side, of its `n` decided answers on so many samples."""

    value: float
    low: float
    high: float
    n: int
    samples: int


class Order(Record):
    """Likeness of two orders of entries, with intervals that draw entries anew."""

    srocc: float | None
    krocc: float | None
    plcc: float | None
    n: int
    srocc_ci: tuple[float, float] | None = None
    krocc_ci: tuple[float, float] | None = None
    plcc_ci: tuple[float, float] | None = None


class Probability(Record):
    agreement: float | None
    l1: float | None
    n: int


class MetricPair(Figure):
    """Difference in agreement of two metrics; `se` is its standard error."""

    first: str
    second: str
    p: float | None
    p_holm: float | None
    se: float | None = None


class Metric(Record):
    """Figures of one metric by the answers. A `guard` knows nothing, or size alone. From `pairs` on: figures of earlier papers, in exports
    only."""

    key: str
    metric: str = ""
    title: str = ""
    fingerprint: str = ""
    guard: bool = False
    trained: str = ""
    decided: Agreement
    auc_better_worse: Figure
    auc_different_similar: Figure
    acc_eq: ThreeWay
    spa: Soft
    rho: Figure
    tau: Figure
    r: Figure
    seen: Seen | None
    seen_why: str = ""
    fitted: Fitted | None = None
    of_ceiling: float | None
    tier: int | None
    above_size: bool | None
    over_size: MetricPair | None = None
    contradictions: list[Contradiction]
    groups: dict[str, Agreement] = {}
    higher_is_better: bool = True
    tie: float = 0.0
    values: list[float | None] | None = None
    pairs: Share | None = None
    decisive: Share | None = None
    probability: Probability | None = None
    order: Order | None = None
    scenes: dict[str, Order] = {}
    scenes_mean: Order | None = None


class Entry(Record):
    """People's figures of one entry. A study of pairs has `implied`, how often people would pick it against the others, and what goes
    with it; one of opinion scores has `mos`. From `appearances` on: other ways to count, in exports and folded on the page."""

    method: str
    part: int | None = None
    answers: int = 0
    implied: Ends = (None, None, None)
    implied_without: Ends | None = None
    theta: Ends = (None, None, None)
    rank: tuple[int, int] | None = None
    p_best: float | None = None
    why: str = ""
    mos: Ends = (None, None, None)
    mos_mle: Ends | None = None
    mos_mle_why: str = ""
    raters: int | None = None
    n: int | None = None
    sd: float | None = None
    normalised: float | None = None
    scenes: dict[str, Any] = {}
    appearances: int = 0
    wins: float = 0.0
    losses: float = 0.0
    ties: float = 0.0
    win_rate: Ends = (None, None, None)
    win_rate_with_self: Ends = (None, None, None)
    ability: Ends = (None, None, None)
    wf_elo: Ends = (None, None, None)
    judge_elo: Ends = (None, None, None)
    quality: Ends = (None, None, None)
    component: int | None = None
    regularised: bool = False


class Ceiling(Record):
    """The best that any metric could do: another person (`low`) to the best possible (`high`)."""

    two_people: Figure
    leave_one_out: float
    low: float
    likely: float
    high: float
    n: int


class Covariate(Record):
    """A coefficient per unit; `share` is how often the side with one unit more is preferred between equals, with its interval."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    share: float
    share_low: float | None
    share_high: float | None


class Preference(Record):
    """The model of one part of the entries: ties, sides, covariates, and what had to be left out."""

    part: int
    nu: float
    side: Ends | None
    left_preferred: float | None
    covariates: list[Covariate]
    prior: bool
    notes: list[str]


class Fragile(Record):
    """At most so many answers, raters and samples decide who is first; None where no half of them does."""

    answers: int | None
    raters: int | None
    samples: int | None


class Enough(Record):
    """The first `settled` places are settled; about `more` answers would settle the next."""

    settled: int
    more: int | None


class Rival(Record):
    entry: str
    p: float | None


class FirstPlace(Record):
    """The first by ability, and the two-sided p of its lead over each other entry that it met, directly or through others."""

    entry: str
    others: list[Rival]

    def without(self, labels: Collection[str]) -> Self | None:
        """Nothing of the entries called so; None where the first is one of them."""
        if self.entry in labels:
            return None
        return self.model_copy(update={"others": [rival for rival in self.others if rival.entry not in labels]})


class PlannedLook(Record):
    """What a planned look at first place found; settled where every other entry was told from the first."""

    number: int
    at: datetime
    judgements: int
    raters: int
    samples: int
    settled: bool
    first: str
    not_told_from_first: list[str]


class Forecast(Record):
    """Half widths of the first metric's agreement: now, and with so many more answers, raters and samples."""

    metric: str
    now: float
    answers: tuple[int, float]
    raters: tuple[int, float]
    samples: tuple[int, float]
    helps: str


class Entries(Record):
    """The figures of one set of entries; `why` is said in the place of a headline where there is none."""

    answers: int
    decided_answers: int
    raters_counted: int
    samples_counted: int
    why: str
    metrics: list[Metric]
    scales: list[Entry]
    ceiling: Ceiling | None
    model: Preference | None
    models: list[Preference]
    fragile: Fragile | None
    metric_pairs: list[MetricPair]
    duels: list[Duel]
    enough: Enough | None
    first_place: FirstPlace | None
    forecast: Forecast | None

    def metric(self, key: str) -> Metric | None:
        return next((line for line in self.metrics if line.key == key), None)

    def without(self, labels: Collection[str]) -> Self:
        """Nothing of the entries called so."""

        def left(line: Metric) -> Metric:
            return line.model_copy(update={"contradictions": [one for one in line.contradictions if not one.among(labels)]})

        return self.model_copy(
            update={
                "metrics": [left(line) for line in self.metrics],
                "scales": [line for line in self.scales if line.method not in labels],
                "duels": [duel for duel in self.duels if not duel.among(labels)],
                "first_place": self.first_place.without(labels) if self.first_place else None,
            }
        )


class Gate(Record):
    """Alternative-annotator test of a judge who may stand beside people: `winning` is the share of raters whom it holds against."""

    passed: bool
    winning: float | None
    chance: float | None
    raters: int
    tolerated: float
    why: str


class Joined(Record):
    """A share by people with a judge, whose answers weigh `trust` (0 to 1); people's `n` answers are then worth `worth` of people alone."""

    value: float | None
    low: float | None
    high: float | None
    trust: float
    n: int
    worth: float | None
    why: str


class Together(Joined):
    """A metric's decided agreement by people with a judge."""

    key: str


class DuelTogether(Joined):
    """Share of picks by people with a judge for the first of two entries, equal answers half."""

    first: str
    second: str


class Judge(Record):
    """A judge model that answered too. It has a `gate` in studies of pairs, where it answers people's own questions."""

    key: str
    display_only: bool = False
    decided: Agreement | None = None
    gate: Gate | None = None
    with_people: list[Together] = []
    duels_with_people: list[DuelTogether] = []
    pairs: Share | None = None
    decisive: Share | None = None
    probability: Probability | None = None
    order: Order | None = None
    groups: dict[str, Any] = {}
    scenes: dict[str, Order] = {}
    scenes_mean: Order | None = None
    left_share: LeftShare | None = None
    facts: dict[str, Any] = {}

    def without(self, labels: Collection[str]) -> Judge:
        """Nothing of the duels of the entries called so."""
        duels = [one for one in self.duels_with_people if one.first not in labels and one.second not in labels]
        return self.model_copy(update={"duels_with_people": duels})

    @property
    def counts(self) -> bool:
        """True if it may stand beside people."""
        return not self.display_only and self.gate is not None and self.gate.passed


class Reliability(Record):
    """One rater, for organizers by name and for others by number. `consistency`, which organizers alone see, is 1 of a rater who is as
    consistent as all together, near 0 of one who answers like a coin, and below 0 of one who has it turned round."""

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


class RatersFound(Record):
    raters: list[Reliability]
    self_consistency: Share | None = None
    gold: Share | None = None
    panel_error: float | None = None


class Matrix(Record):
    """Who agrees with whom, raters and metrics, as earlier papers count it: float [K, K] each."""

    names: list[str]
    kinds: list[str]
    all: list[list[float | None]]
    decisive: list[list[float | None]]
    common: list[list[float]]
    order: list[int]
    cluster: list[int]
    silhouette: float | None


class BetweenPeople(Record):
    pairs: Share
    decisive: Share
    alpha: float | None


class Camps(Record):
    """Camps of people; see `leaderboard.stats.camps`. `sizes` are their numbers of people; the camp of a single one is told to nobody."""

    sizes: list[int]
    silhouette: float
    within: float
    between: float
    p: float


class Curve(Record):
    """Likeness of the order when only a part is used; see `leaderboard.stats.adequacy`."""

    resource: str
    sizes: list[int]
    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]
    enough: int | None

    @property
    def steady(self) -> int | None:
        """The smallest part from which on the order stays. None where only all of them order the entries as all of them do, which says
        nothing about less; and no fewer people or samples than any figure needs."""
        if self.enough is None:
            return None
        from_ = max(1 if self.resource == "comparisons" else LEAST, self.enough)
        return from_ if from_ < self.sizes[-1] else None


class UnscreenedScale(Record):
    method: str
    value: Ends


class UnscreenedMetric(Record):
    key: str
    decided: Figure | None = None


class Unscreened(Record):
    """The figures as they would be if no rule left any rater out; `raters` is how many people these are of."""

    raters: int
    scales: list[UnscreenedScale]
    metrics: list[UnscreenedMetric]


class Summary(Entries):
    """All of it. `raters` are the names of those who judged, in the order of `groups`; those that rules left out of votes on pairs stand
    last. `screened_by` says which rules left out whom. `entries` says which submission a label stands for,
    `damaged` which labels are no entries of teams or baselines."""

    version: int
    kind: str
    of: str = "votes"
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
    entries: dict[str, int] = {}
    damaged: list[str] = []
    left_out: list[str] = []
    screening: bool | str = False
    screened: list[str] = []
    screened_by: dict[str, list[str]] = {}
    unscreened: Unscreened | None = None
    note: str = ""
    anchor: str | None = None
    explained_share: float | None = None
    like_others: float | None = None
    agreement: Matrix | None = None
    people: BetweenPeople | None = None
    camps: Camps | None = None
    reliability: RatersFound
    adequacy: list[Curve] = []
    judges: list[Judge] = []
    all: Entries | None = None

    @classmethod
    def read(cls, content: Mapping[str, Any] | None) -> Self | None:
        """Summary of an analysis; None for none, and for one of an older version."""
        return cls.model_validate(content) if content and content.get("version") == VERSION else None

    @property
    def opinions(self) -> bool:
        return self.kind == "opinions"

    @property
    def n_people(self) -> int | None:
        """The number of people whose judgements count; None where that is not known."""
        known = self.n_raters if self.opinions else len(self.raters)
        return None if known is None else known - len(self.screened)

    def value_of(self, line: Entry) -> Ends:
        """The people's column: the mean opinion score, or how often people would pick it."""
        return line.mos if self.opinions else line.implied

    def shows(self, line: Entry) -> bool:
        """True if the people's column of an entry may be shown: not below the smallest numbers of people and items."""
        value, low, _ = self.value_of(line)
        return value is not None and (low is not None or self.of == "means" or not line.why.startswith(FEW))

    @property
    def band(self) -> Ceiling | None:
        """Another person and the best possible, as pages draw them: not of fewer people and items than any figure needs."""
        return None if self.ceiling is None or self.ceiling.two_people.why.startswith(FEW) else self.ceiling

    @property
    def ordered(self) -> bool:
        """True if people put the entries in an order: there are enough people and items, and not all entries stand level."""
        if self.of == "means" or not self.opinions:
            return self.of == "means" or not self.why
        return all(self.shows(line) for line in self.ranked) and len({line.mos[0] for line in self.ranked}) > 1

    @property
    def ranked(self) -> list[Entry]:
        """The entries of teams and baselines, people's first first."""
        out = {*self.damaged, *self.left_out}
        return [line for line in self.scales if line.method not in out and self.value_of(line)[0] is not None]

    def without(self, labels: Collection[str]) -> Self:
        if not labels:
            return self
        hidden = {n for n, name in enumerate(self.methods) if name in labels}
        summary = super().without(labels)
        metrics = [
            line.model_copy(update={"values": [None if n in hidden else value for n, value in enumerate(line.values)]})
            if line.values is not None
            else line
            for line in summary.metrics
        ]
        return summary.model_copy(
            update={
                "metrics": metrics,
                "methods": [HIDDEN_NAME if n in hidden else name for n, name in enumerate(self.methods)],
                "entries": {name: pk for name, pk in self.entries.items() if name not in labels},
                "damaged": [name for name in self.damaged if name not in labels],
                "left_out": [name for name in self.left_out if name not in labels],
                "unscreened": self.unscreened
                and self.unscreened.model_copy(update={"scales": [line for line in self.unscreened.scales if line.method not in labels]}),
                "anchor": HIDDEN_NAME if self.anchor in labels else self.anchor,
                "all": None if self.all is None else self.all.without(labels),
                "judges": [judge.without(labels) for judge in self.judges],
            }
        )

    def numbered(self, organizes: bool) -> Self:
        """With numbers in the place of raters' names; how consistent and how strict each of them is, for organizers alone."""
        number = {name: f"rater {n}" for n, name in enumerate(self.raters, 1)}
        hidden = {} if organizes else {"consistency": None, "consistency_answers": 0, "bias": None, "inconsistency": None}
        rows = [line.model_copy(update={"rater": number[line.rater], **hidden}) for line in self.reliability.raters]
        update: dict[str, Any] = {
            "raters": list(number.values()),
            "screened": [number[name] for name in self.screened],
            "screened_by": {number[name]: rules for name, rules in self.screened_by.items()},
            "reliability": self.reliability.model_copy(update={"raters": rows}),
        }
        if self.agreement is not None:
            shown = len(number) - (0 if self.opinions else len(self.screened))  # in the matrix: those left out of pairs have no row
            names = [*list(number.values())[:shown], *self.agreement.names[shown:]]
            update["agreement"] = self.agreement.model_copy(update={"names": names})
        return self.model_copy(update=update)


def named_samples(content: Any, noun: Callable[[], str]) -> Any:
    """Contents of an analysis, with the noun that its challenge has for samples in the sentences that name them. The noun is asked for
    where there is such a sentence; it is said as it is now, not as it was when the analysis was made."""

    def named(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: named(name, each) for name, each in value.items()}
        if isinstance(value, list):
            return [named(key, each) for each in value]
        if isinstance(value, str) and key.endswith("why"):
            if value.startswith(FEW_SAMPLES):
                return f"{FEW} {plural(noun())}:{value.removeprefix(FEW_SAMPLES)}"
            if value == NO_DUELS:
                return NO_DUELS.replace("sample", noun())
        return value

    return named("", content)

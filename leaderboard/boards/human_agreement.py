"""People on boards: how far each metric agrees with them, what they prefer, and where a row contradicts them.

`of_phase` is the part of a ranking that says so, of the moment at which the ranking is made; everything else here reads that part, so a
board asks nothing more for it. `Line` and `state_of` put one metric's agreement into words and onto the one scale
that every page draws it on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from leaderboard.boards.payload import (
    PEOPLE,
    Against,
    Board,
    BoardEntry,
    ColumnAgreement,
    HumanAgreement,
    Mark,
    MetricColumn,
    PeoplesFirst,
    StudyOf,
)
from leaderboard.records.people import Basis
from leaderboard.stats.agreement import Agreement
from leaderboard.stats.another_rater import Standing, standing
from leaderboard.stats.crossed import Ends, Figure
from leaderboard.stats.minimums import ITEMS_FOR_FIGURE, ITEMS_FOR_FIRM_INTERVAL, RATERS_FOR_FIGURE, RATERS_FOR_FIRM_INTERVAL
from leaderboard.stats.ranking import order, rank
from leaderboard.stats.records import REFERENCE_TITLES, Metric, places_among
from leaderboard.stats.sentences import STANDINGS
from leaderboard.stats.states import Counted, Key, too_few
from leaderboard.stats.states import State as FigureState
from leaderboard.stats.uncertainty import ALPHA
from leaderboard.studies.summary import Summary, precedence
from leaderboard.wording.nouns import NOUN, plural, sampled_noun
from leaderboard.wording.people import basis
from leaderboard.wording.reasons import sentence
from submissions.models import Phase

if TYPE_CHECKING:
    from leaderboard.models.analysis import StudyAnalysis

MAX_SAMPLES = 12  # that a mark names
TRAINED = {  # of a metric and the judgements that it is held against, see `leaderboard.studies.training_overlap`; {} are votes, or scores
    "these": "trained on these {}",
    "entries": "trained on other {} about these entries",
    "unknown": "unknown whether trained on these {}",
    "refused": "not ranked",
}
TRAINED_MORE = {
    "these": "It was trained on these very {}, so that its agreement with them is no evidence.",
    "entries": "It was trained on other {} about entries of this phase, so that its agreement with these is weaker evidence.",
    "unknown": "Its weights do not say enough to know whether it was trained on these {}; if it was, its agreement is no evidence.",
    "refused": "Its weights may order nothing, as their model card says or because they are retired, so it has no place among metrics.",
}
EQUAL = 1e-12  # a share this near to one half is one half
LOW_COVERAGE = 0.9  # share of duels a metric has values for, below which it is said beside its figure
ALIKE = "how surely is not known, for every person and item says the same"
NOT_ABOVE_SIZE = "not shown to beat size alone"
EARLIER = (
    "These figures from people were made by an earlier rule: ties count half to whoever says equal, intervals are of these raters alone, "
    "and nothing tells metrics apart."
)
EARLIER_STATES = "These figures from people were made by an earlier rule, which did not test metrics against another rater."


# --- one metric's agreement, in words and on the scale


@dataclass(frozen=True)
class State:
    """State of a metric between chance and another rater: a key for shape and colour, and the words that go with it."""

    key: str
    words: str


STATES = {
    standing: State(key, STANDINGS[standing])
    for standing, key in (
        (Standing.TOO_EARLY, "early"),
        (Standing.WORSE_THAN_CHANCE, "below"),
        (Standing.AT_CHANCE, "coin"),
        (Standing.BELOW_HUMAN_LEVEL, "below"),
        (Standing.ABOVE_HUMAN_LEVEL, "person"),
        (Standing.HUMAN_LEVEL, "person"),
        (Standing.UNCLEAR, "better"),
    )
}
NO_BETTER = (Standing.WORSE_THAN_CHANCE, Standing.AT_CHANCE)


def standing_of(figure: Agreement) -> Standing:
    """State by a figure alone, where it was not held against another rater: of a group of raters, or by earlier rules."""
    if figure.value is None or figure.state is FigureState.TOO_FEW:
        return Standing.TOO_EARLY
    return standing(figure, None) or Standing.TOO_EARLY


def missing_words(figure: Agreement, noun: str = NOUN) -> str:
    """The reason in brief why a figure is not shown: `too early: 3 of 5 people`."""
    if figure.value is None:  # it has values for the duels, but nobody preferred either side of any
        return "no duel is decided" if figure.coverage else "answers no duel"
    return f"too early: {lack}" if (lack := lacking(figure, noun)) else "too early"


def lacking(figure: Figure, noun: str = NOUN) -> str:
    """The people or items that a figure lacks, in brief: `3 of 5 people`; empty where it lacks none."""
    reason = figure.reason
    if reason is None or reason.key is not Key.FEW:
        return ""
    return f"{reason.have} of {reason.need} {'people' if reason.counted is Counted.RATERS else plural(noun)}"


@dataclass(frozen=True)
class Line:
    """One metric, or guard, and how far it agrees with people, for a head, a chart or a table."""

    title: str
    figure: Agreement
    another: Figure | None = None  # how often two raters say the same
    standing: Standing | None = None  # None where the figure alone says it
    places: tuple[int, int] | None = None  # among the metrics of its study
    guard: bool = False
    trained: str = ""
    above_size: bool | None = None
    key: str = ""
    damaged: Figure | None = None  # the same with damaged entries
    noun: str = NOUN  # of what people were asked about
    compared: bool = True  # False where nobody was asked about two entries
    of_studies: int | None = None  # the number of studies that the figure is the mean of, where it is one
    sampled: bool = True  # False where judgements name no sample: an interval speaks of other people alone

    @property
    def level(self) -> Standing:
        """Its state, as data."""
        return self.standing or standing_of(self.figure)

    @property
    def state(self) -> State:
        """State that its figure shows; without words where nothing can be claimed of it, as `trained` says."""
        return replace(STATES[self.level], words="") if self.trained else STATES[self.level]

    @property
    def shown(self) -> bool:
        """True if there is a figure to show: there is none below the smallest numbers of people and items."""
        return self.figure.shown

    @property
    def percent(self) -> int | None:
        return None if not self.shown or self.figure.value is None else round(100 * self.figure.value)

    @property
    def low(self) -> int | None:
        return None if self.figure.low is None else round(100 * self.figure.low)

    @property
    def high(self) -> int | None:
        return None if self.figure.high is None else round(100 * self.figure.high)

    @property
    def head(self) -> str:
        """In the head of a column: `agrees 72 [66, 77]`."""
        return f"agrees {self.percent}{self.ends}" if self.shown else self._missing

    @property
    def short_head(self) -> str:
        """The same beside a drawing of the interval."""
        return f"agrees {self.percent}" if self.shown else self._missing

    @property
    def sampled_noun(self) -> str:
        """Name of what counts as a sample."""
        return sampled_noun(self.noun, not self.sampled)

    @property
    def _missing(self) -> str:
        return missing_words(self.figure, self.sampled_noun) if self.compared else "no entries compared"

    @property
    def ends(self) -> str:
        return f" [{self.low}, {self.high}]" if self.low is not None else ""

    @property
    def ranks(self) -> str:
        """Its places among the metrics, each at 95 %: `1–3`; empty where there are none."""
        low, high = self.places or (0, 0)
        return "" if not low else f"{low}" if low == high else f"{low}–{high}"

    @property
    def caveats(self) -> list[str]:
        """Sentences beside the figure wherever it is shown: it is of a part of the duels, or may be size alone."""
        return caveats(self.figure.coverage, self.above_size if self.shown else None)

    @property
    def notes(self) -> list[str]:
        """All that a reader must know before taking the figure for more than it is."""
        chance = self.shown and not self.guard and self.level in NO_BETTER
        rough = self.figure.state is FigureState.ROUGH
        return [
            *(["not better than chance here"] if chance else []),
            *self.caveats,
            *([rough_words(plural(self.sampled_noun))] if rough else []),
        ]

    @property
    def reading(self) -> str:
        """A sentence for a title or a popover."""
        if not self.shown:
            return f"{self.title}: {sentence(self.figure.reason, self.noun) or self._missing}"
        items = plural(self.noun)
        if self.of_studies is not None:
            words = (
                f"Of 100 duels that people decided, {self.title} orders {self.percent} as they did: the mean of {self.of_studies} studies"
            )
            words += f", 95 % interval {self.low} to {self.high} with other studies. {self.figure.n:,} decided judgements."
            return " ".join([words, *(f"{note[0].upper()}{note[1:]}." for note in self.notes)])
        words = f"Of 100 duels that people decided, {self.title} orders {self.percent} as they did"
        others = f"other people and other {items}" if self.sampled else "other people"
        words += f" (95 % interval {self.low} to {self.high}, with {others})" if self.low is not None else ""
        if self.another is not None and self.another.value is not None:
            words += f"; another rater {percent_words(self.another)}"
        n = self.figure.samples
        on = plural(self.sampled_noun, n)
        words += f". {self.figure.n:,} decided judgements of {self.figure.raters} people on {n} {on}."
        return " ".join([words, *(f"{note[0].upper()}{note[1:]}." for note in self.notes)])


def lines_of(summary: Summary, titles: Mapping[str, str] = {}, noun: str = NOUN) -> list[Line]:
    """The metrics of an analysis by how far they agree with people, reference points last; by name where nothing can be told apart."""
    beside = summary.all if summary.damaged or summary.left_out else None  # without damaged entries it is the same
    lines = []
    for metric in summary.metrics:
        with_damaged = beside.metric(metric.key) if beside is not None else None
        title = titles.get(metric.key, metric.title or metric.key)
        line = _line(metric, title, summary.another, summary.opinions, noun, with_damaged)
        lines.append(replace(line, sampled=not summary.unsampled))
    return lines


def _line(metric: Metric, title: str, another: Figure | None, opinions: bool, noun: str, with_damaged: Metric | None = None) -> Line:
    beside = None if with_damaged is None or with_damaged.decided.low is None else with_damaged.decided
    return Line(
        title,
        metric.decided,
        another,
        metric.standing,
        metric.places,
        metric.reference_point,
        trained_words(metric.trained, opinions),
        metric.above_size,
        metric.key,
        beside,
        noun,
        compared=metric.decided.coverage is not None,
    )


def percent_words(figure: Figure) -> str:
    """A share in percent, with its interval where it has one: `72 [66, 77]`."""
    value, low, high = figure.ends
    ends = f" [{round(100 * low)}, {round(100 * high)}]" if low is not None and high is not None else ""
    return f"{round(100 * (value or 0.0))}{ends}"


def caveats(coverage: float | None, above_size: bool | None) -> list[str]:
    """Sentences beside a metric's figure: it may be size alone, or is of so large a part of the duels."""
    sentences = [NOT_ABOVE_SIZE] if above_size is False else []
    if coverage is not None and coverage < LOW_COVERAGE:
        sentences.append(f"answers {round(100 * coverage)} % of the duels")
    return sentences


def rough_words(units: str) -> str:
    """Sentence beside an interval of fewer people or `units` than its ends can be trusted of."""
    return f"few raters or {units}: a rough interval"


def unheld_words(lines: Sequence[Line], units: str) -> str:
    """Sentences on why none of these metrics has a figure, though people compared enough; `units` is the plural of what that was on."""
    held = [line for line in lines if not line.guard and line.figure.coverage and line.figure.reason is not None]
    why = {line.title: sentence(line.figure.reason, line.noun) for line in held}
    if len(set(why.values())) > 1:
        return " ".join(f"{title}: {reason}" for title, reason in why.items())
    return next(iter(why.values()), f"No metric has values of the {units} that people compared.")


def trained_words(trained: str, opinions: bool = False) -> str:
    """In a few words, why nothing is claimed of a metric: it may have learnt from the judgements it is held against, or its weights may
    order nothing; empty where something is."""
    return TRAINED.get(trained, "").format("scores" if opinions else "votes")


def trained_more(trained: str, opinions: bool = False) -> str:
    """The same as a sentence to be put behind another."""
    words = TRAINED_MORE.get(trained, "").format("scores" if opinions else "votes")
    return f" {words}" if words else ""


def order_words(title: str, rho: Figure) -> str:
    """Likeness of a metric's order of entries and people's, in words."""
    if rho.value is None:
        return f"{title} cannot be held against opinions: too few entries have both."
    ends = f", 95 % interval {signed(rho.low)} to {signed(rho.high)}" if rho.low is not None and rho.high is not None else ""
    return f"{title} and people order {rho.n} entries with Spearman's ρ {signed(rho.value, 3)}{ends}. {sentence(rho.reason)}".strip()


def rho_words(rho: Figure) -> str:
    """`ρ 0.93 [0.71, 0.98]`, or that it has no interval; empty without one."""
    if rho.value is None:
        return ""
    ends = f" [{signed(rho.low)}, {signed(rho.high)}]" if rho.low is not None and rho.high is not None else ", no interval"
    return f"ρ {signed(rho.value)}{ends}"


def signed(value: float, digits: int = 2) -> str:
    """With a true minus sign, and none on a rounded zero."""
    text = f"{value:.{digits}f}"
    return (text if float(text) else text.removeprefix("-")).replace("-", "−")


# --- into the payload


def of_phase(phase: Phase, is_public: bool, entries: Sequence[BoardEntry], fingerprints: Mapping[str, str]) -> HumanAgreement | None:
    """Findings of people, for a ranking of `entries`: of the phase's studies that may be shown, those on entries of the ranking first, the
    one that stands for the others by `precedence`. None without a study that has been analysed.

    `fingerprints` are those of the ranking's columns: what was found of other values under the same slug is not said of them.
    """
    studies = phase.studies.filter(is_public=True) if is_public else phase.studies.all()
    of_study: dict[int, dict[str, tuple[StudyAnalysis, Summary]]] = {}
    for row in (row for study in studies.prefetch_related("analyses") for row in study.analyses.all()):
        summary = row.summary
        if summary is not None:
            of_study.setdefault(row.study_id, {})[row.criterion] = (row, summary)
    if not of_study:
        return None
    main = [by_criterion[next(iter(by_criterion.values()))[0].study.leading(by_criterion)] for by_criterion in of_study.values()]
    ids = {entry.id for entry in entries}

    def weight(one: tuple[StudyAnalysis, Summary]) -> tuple[Any, ...]:
        row, summary = one
        own = precedence(summary.metrics, row.study.made_up, summary.n_people, row.study_id, summary.of == "means")
        return bool(ids & set(summary.entries.values())), own

    row, summary = max(main, key=weight)
    used = [line for line in summary.metrics if line.reference_point or fingerprints.get(line.key, "") in ("", line.fingerprint)]
    label_of = {pk: label for label, pk in summary.entries.items()}
    line_of = {line.method: line for line in summary.scales if line.method not in summary.damaged}
    lines = [line_of.get(label_of.get(entry.id, "")) for entry in entries]
    # Entries of parts that never met have no common column: the board's is that of the part with most answers.
    column = [line.value if line is not None and line.part in (None, 1) else (None, None, None) for line in lines]
    # An entry that too few people judged, or on too few items, keeps its figure for programs, and has no place beside those with enough.
    few = {
        str(entry.id): line.reason
        for entry, line, value in zip(entries, lines, column, strict=True)
        if summary.reason is None and line is not None and line.reason is not None and value[0] is not None and not summary.shows(line)
    }
    counted = [value[0] if entry.counted and str(entry.id) not in few else None for value, entry in zip(column, entries, strict=True)]
    first = next((n for n in order(counted, True) if counted[n] is not None), None)
    duels = {frozenset((duel.first, duel.second)): duel for duel in summary.duels}
    top = None if first is None else lines[first]
    over: list[Against | None] = []
    for line in lines:
        duel = duels.get(frozenset((line.method, top.method))) if line is not None and top is not None else None
        over.append(None if duel is None else Against(value=duel.value, p_holm=duel.p_holm))

    # Said of the study's own first alone, and of none that shares first place: where another stands first here, its first is on this board
    # no more, or a baseline.
    firm, leading = None, next(iter(summary.ranked), None)
    one_part = len({line.part for line in summary.ranked}) == 1
    alone = rank(counted, True).count(1) == 1 and sum(value is not None for value in counted) > 1
    if leading is not None and one_part and alone and leading is top and top.rank is not None:
        firm = PeoplesFirst(
            rank=top.rank,
            settled=summary.enough is not None and summary.enough.settled > 0,
            fragile=summary.fragile,
            answers=summary.answers,
            raters_counted=summary.raters_counted,
            samples_counted=summary.samples_counted,
        )

    # Who may be first is asked among those who hold a rank here: a baseline before them all, or an entry that is not on this board, would
    # keep first place from every one of them.
    counted_ids = {entry.id for entry in entries if entry.counted}
    outside = {line.method for line in summary.ranked if summary.entries.get(line.method) not in counted_ids}
    rank_of = {line.method: line.rank for line in places_among(summary.scales, outside) if line.part in (None, 1)}
    ranges = [rank_of.get(label_of.get(entry.id, "")) for entry in entries]

    columns = []
    # By slug and entry: the entries that people prefer to it and the metric does not, those they are surest of first. What stands on the
    # board, or never was an entry, is named; others are not.
    marks: dict[str, dict[str, list[Mark]]] = {}
    for metric in used:
        beside = summary.all.metric(metric.key) if summary.all is not None and (summary.damaged or summary.left_out) else None
        columns.append(
            ColumnAgreement(
                slug=metric.key,
                decided=metric.decided,
                damaged=None if beside is None else beside.decided.brief,
                rho=metric.rho,
                tau=metric.tau,
                r=metric.r,
                guard=metric.reference_point,
                trained=metric.trained,
                above_size=metric.above_size,
                groups=metric.groups,
                difference=metric.difference,
                person=metric.person,
                standing=metric.standing,
                places=metric.places,
                may_be_best=metric.may_be_best,
            )
        )
        for one in metric.contradictions:
            worse, better = summary.entries.get(one.second), summary.entries.get(one.first)
            if worse in ids and (better is None or better in ids):
                mark = Mark(preferred=one.first, id=better, value=one.value, samples=one.samples[:MAX_SAMPLES], n=len(one.samples))
                marks.setdefault(metric.key, {}).setdefault(str(worse), []).append(mark)
    return HumanAgreement(
        study=StudyOf.model_validate({name: getattr(row.study, name) for name in StudyOf.model_fields}),
        kind=summary.kind,
        of=summary.of,
        criterion=row.criterion,
        raters=summary.n_people,
        groups=sorted({name for name in summary.groups if name}),
        judgements=summary.counted,
        questions=summary.questions,
        at=row.finished_at,
        note=summary.note,
        left_out=[name for name in summary.left_out if summary.entries.get(name) in (None, *ids)],
        reason=summary.reason,
        why=summary.why,
        band=summary.ceiling if summary.another is not None else None,
        metrics=columns,
        value=[value[0] for value in column],
        low=[value[1] for value in column],
        high=[value[2] for value in column],
        n=[0 if line is None else line.answers for line in lines],
        first=first,
        over=over,
        marks=marks,
        firm=firm,
        may_be_first=[n for n, ends in enumerate(ranges) if ends is not None and ends[0] == 1] if any(ranges) else None,
        few=few or None,
        unsampled=summary.unsampled or None,
        places=ranges if any(ranges) else None,
    )


# --- out of the payload


@dataclass(frozen=True)
class Claim:
    """The sentence over a board: whether metrics and people agree on the first. `metrics` and `people` are entries' names and ids; `ends`
    is how often people pick theirs against the metrics', where that is beyond chance."""

    words: str
    metrics: tuple[str, int] | None = None
    people: tuple[str, int] | None = None
    ends: Ends | None = None


@dataclass(frozen=True)
class FirstWithPeople:
    """The counted entries that share first place with people, those that may stand there as well, and the others, as indices; `tested` says
    that the second are known by the intervals of all places, not by the first's duels alone. First place is settled where that of the
    first ends at 1; where it ends lower and no other may be first, `low_end` is that end."""

    level: list[int]
    open: list[int]
    behind: list[int]
    tested: bool
    low_end: int | None = None

    @property
    def others(self) -> str:
        """In words, how many of the others may be first as well; empty for none."""
        k, n = len(self.open), len(self.open) + len(self.behind)
        if not k:
            return f"with people its place may be as low as {self.low_end}" if self.low_end else ""
        some = "the other" if n == 1 else f"{k} of {n} others" if k < n else f"all {n} others"
        return f"with people {some} may be first too" if self.tested else f"people do not tell it from {some}"


@dataclass(frozen=True)
class ColumnWords:
    """Words in the head of a column: `line` is None where the figures are too few, or of an earlier rule, for a drawing."""

    words: str
    title: str
    trained: str
    line: Line | None = None


@dataclass(frozen=True)
class GroupChart:
    """The metrics by how far they agree with the people of one group; of all people where it has no name."""

    group: str
    lines: list[Line]
    another: Figure | None


class People:
    """People as a ranking has them, for the page of its board."""

    def __init__(self, found: HumanAgreement, titles: Mapping[str, str], noun: str = NOUN) -> None:
        self.found, self.titles, self.noun = found, titles, noun
        self.study, self.at = found.study, found.at
        self.opinions = found.kind == "opinions"
        self.sampled = not found.unsampled
        self.columns = {line.slug: line for line in found.metrics if not line.guard}

    @property
    def another(self) -> Figure | None:
        """Share of what two raters say alike, where that has an interval."""
        band = self.found.band
        return None if band is None or band.two_people.low is None else band.two_people

    @property
    def earlier(self) -> str:
        """The rule that the figures were made by, where it is not today's."""
        return EARLIER if self.found.people < 2 else EARLIER_STATES if self.found.people < 3 else ""

    @property
    def units(self) -> str:
        """Name of the things that people were asked about, in the plural."""
        return plural(self.noun)

    @property
    def sampled_noun(self) -> str:
        """Name of what counts as a sample, which people and intervals are counted over."""
        return sampled_noun(self.noun, not self.sampled)

    @property
    def why(self) -> str:
        """Reason why there are no figures, as a sentence; empty where there are. A ranking of before says it as it did then."""
        return self.found.why or sentence(self.found.reason, self.noun)

    @property
    def missing(self) -> str:
        """Reason why no metric can be held against people."""
        return self.why or unheld_words([self._line(column) for column in self.columns.values()], self.units)

    @property
    def has_marks(self) -> bool:
        return any(self.found.marks.values())

    @property
    def only_means(self) -> bool:
        return self.found.of == "means"

    @property
    def basis(self) -> Basis:
        """Answers that the figures are of."""
        return self.found.basis

    @property
    def rough(self) -> str:
        """Words beside intervals of few people or items, as the guard that answers every duel counts them; empty where there are more,
        or too few for any."""
        every = next((line.decided for line in self.found.metrics if line.guard and line.slug == "constant"), None)
        if every is None or self.found.reason is not None:
            return ""
        few = ["people"] if RATERS_FOR_FIGURE <= every.raters < RATERS_FOR_FIRM_INTERVAL else []
        few += [plural(self.sampled_noun)] if ITEMS_FOR_FIGURE <= every.samples < ITEMS_FOR_FIRM_INTERVAL else []
        return f"few {' and '.join(few)}: rough intervals" if few else ""

    def line(self, slug: str, group: str = "") -> Line | None:
        """A column's agreement; None where nothing is known of it."""
        column = self.columns.get(slug)
        if column is None or (group and group not in column.groups):
            return None
        return self._line(column, group)

    def _line(self, column: ColumnAgreement, group: str = "") -> Line:
        trained = trained_words(column.trained, self.opinions)
        title = REFERENCE_TITLES[column.slug] if column.guard else self.titles.get(column.slug, column.slug)
        if group:
            return Line(
                title,
                column.groups[group],
                guard=column.guard,
                trained=trained,
                key=column.slug,
                noun=self.noun,
                sampled=self.sampled,
            )
        beside = column.damaged if column.damaged is not None and column.damaged.low is not None else None
        return Line(
            title,
            column.decided,
            self.another,
            column.standing,
            column.places,
            column.guard,
            trained,
            column.above_size,
            column.slug,
            beside,
            self.noun,
            compared=column.decided.coverage is not None,
            sampled=self.sampled,
        )

    def head(self, slug: str) -> ColumnWords | None:
        """Words in the head of a column."""
        column, line = self.columns.get(slug), self.line(slug)
        if column is None or line is None:
            return None
        more = f" {trained_more(column.trained, self.opinions)}".rstrip()
        words = basis(self.basis)
        of = f" {words[0].upper()}{words[1:]}, {self.at:%-d %B %Y} (UTC)."
        if self.found.people < 2:
            value = column.decided.value
            words = f"{round(100 * value)} / 100 answers" if value is not None else rho_words(column.rho)
            return ColumnWords(words or "answers no duel", f"{EARLIER}{of}", line.trained)
        if self.only_means:
            words = f"{rho_words(column.rho)} · {column.rho.n} entries" if column.rho.value is not None else "too few entries"
            return ColumnWords(words, order_words(line.title, column.rho) + of + more, line.trained)
        return ColumnWords(line.short_head, line.reading + of + more, line.trained, line)

    def charts(self) -> list[GroupChart]:
        """The metrics by how far they agree with people, guards last: with all of them, then with each group of them. None where the
        figures are too few for any, or of an earlier rule."""
        if self.found.people < 2 or self.only_means:
            return []
        every = list(self.found.metrics)
        named = [group for group in self.found.groups if any(group in line.groups for line in every)]
        charts = []
        for name in ["", *(named if len(named) > 1 else [])]:
            lines = [self._line(column, name) for column in every if not name or name in column.groups]
            if any(line.shown for line in lines if not line.guard):
                charts.append(GroupChart(name, lines, self.another if not name else None))
        return charts

    def first_place(self, board: Board) -> FirstWithPeople | None:
        """First place with people, as the study's own page states it; None where nobody is first, or one entry alone has a place."""
        first, found = self.found.first, self.found
        if first is None:
            return None
        counted = [value if entry.counted else None for value, entry in zip(self.values(board), board.entries, strict=True)]
        places = rank(counted, True)
        level = [n for n, place in enumerate(places) if place == 1]
        others = [n for n, place in enumerate(places) if place is not None and place > 1]
        if len(level) + len(others) < 2:
            return None
        high = None
        if found.may_be_first is not None:
            own = found.places[first] if found.places is not None else None
            high = None if own is None else own[1]
            open_ = [n for n in others if n in found.may_be_first] if high != 1 else []
        else:
            over = {n: found.over[n] for n in others} if found.over else {}
            open_ = [n for n, one in over.items() if one is None or one.p_holm is None or one.p_holm > ALPHA]
        low_end = high if high not in (None, 1) and not open_ and len(level) == 1 else None
        return FirstWithPeople(level, open_, [n for n in others if n not in open_], found.may_be_first is not None, low_end)

    def values(self, board: Board) -> list[float | None]:
        """People's value of each entry, without those that too few people judged, or on too few items."""
        few = self.found.few or {}
        return [None if str(entry.id) in few else value for value, entry in zip(self.found.value, board.entries, strict=True)]

    def unplaced_before(self, board: Board) -> list[int]:
        """Entries that hold no rank, as a baseline does, and that people put before the first of those that do."""
        first, value = self.found.first, self.values(board)
        best = None if first is None else value[first]
        if best is None:
            return []
        rivals = ((n, v) for n, (v, entry) in enumerate(zip(value, board.entries, strict=True)) if not entry.counted)
        return [n for n, v in rivals if v is not None and v > best + EQUAL]

    def claim(self, board: Board) -> Claim | None:
        """First places by the board's rule and with people, where both are known."""
        theirs = self.first_place(board)
        if self.found.people < 2 or theirs is None or self.found.first is None:
            return None
        leaders = [n for n in board.overall.order if board.overall.rank[n] == 1]
        if not leaders:
            return None
        leader, first = leaders[0], self.found.first
        entries = board.entries
        ours, people = ((entries[n].name, entries[n].id) for n in (leader, first))
        ours_name, first_name = ours[0], people[0]
        if self.only_means:
            metrics_first, means_first = (
                entries[level[0]].name if len(level) == 1 else f"{len(level)} entries level" for level in (leaders, theirs.level)
            )
            words = f"The metrics put {metrics_first} first, people's published means {means_first}"
            if set(leaders) == set(theirs.level):
                words = f"The metrics and people's published means both put {metrics_first} first"
            return Claim(f"{words}; means alone do not say how surely.", ours, people)
        if self.found.reason is not None:
            few = too_few(self.found.reason)
            cause = "Too early to hold the order against people." if few else "The order is not held against people."
            return Claim(f"{cause} {self.why}")
        if self.values(board)[leader] is None:
            return None
        open_ = f"; {theirs.others}" if theirs.others else ""
        # Entries of other parts of the study were held against others than these.
        unmet = sum(
            value is None and n > 0 and entry.counted for value, n, entry in zip(self.found.value, self.found.n, entries, strict=True)
        )
        apart = f" {unmet} other{'' if unmet == 1 else 's'} met none of those that have a place with people." if unmet else ""
        before = self.unplaced_before(board)
        if before:
            who = f"{entries[before[0]].name}, which holds no rank, stands" if len(before) == 1 else f"{len(before)} without a rank stand"
            apart += f" With people {who} before {first_name}."
        if len(theirs.level) > 1:
            k = len(theirs.level)
            if len(leaders) > 1:
                return Claim(f"The metrics put {len(leaders)} entries level in first place, and people {k}{open_}.{apart}")
            who = (
                f"{k} entries level in first place, and {ours_name} is one of them" if leader in theirs.level else f"{k} others level there"
            )
            return Claim(f"The metrics put {ours_name} first, people put {who}{open_}.{apart}")
        if len(leaders) > 1:
            return Claim(f"The metrics put {len(leaders)} entries level in first place, people put {first_name} first{open_}.{apart}")
        if leader == first:
            words = f"Metrics and people both put {ours_name} first{open_}." if open_ else "Metrics and people agree on the first."
            # Scores of one entry may all be the same and its lead over the others still be known.
            beside = [self.found.over[n] for n in theirs.behind] if self.opinions and self.found.over else [None]
            if not open_ and self.found.low[first] is None and any(one is None or one.value[1] is None for one in beside):
                words = f"Metrics and people both put {ours_name} first; {ALIKE}."
            return Claim(f"{words}{apart}", ours, people)
        against = self.found.over[leader]
        if against is None or against.p_holm is None or against.p_holm > ALPHA:
            # By the intervals of places the metrics' first may not be first with people: this is the test of all pairs.
            corrected = ", corrected for all pairs" if theirs.tested and leader in theirs.behind else ""
            met = f"with people these two are tied{corrected}" if against is not None else "nobody was asked about these two"
            return Claim(f"The metrics put {ours_name} first, people {first_name}; {met}.{apart}", ours, people)
        if against.value[1] is None:
            return Claim(f"The metrics put {ours_name} first, people {first_name}; {ALIKE}.{apart}", ours, people)
        return Claim("", ours, people, against.value)

    def column(self, board: Board) -> MetricColumn | None:
        """People's preference as a column of the board; None where they judged none of its entries."""
        agreement, known = self.found, self.values(board)
        ends = [v for v in (*known, *agreement.low, *agreement.high) if v is not None]
        if not ends or (agreement.people >= 2 and not self.only_means and agreement.reason is not None):
            return None  # below the smallest numbers there is no figure
        n = len(board.entries)
        counted = [v if entry.counted else None for v, entry in zip(known, board.entries, strict=True)]
        has_places = sum(v is not None for v in counted) > 1  # one alone is first of nothing
        return MetricColumn(
            slug=PEOPLE,
            key=PEOPLE,
            title="Opinion score" if self.opinions else "People",
            fingerprint="",
            params={},
            higher_is_better=True,
            unit="of 5" if self.opinions else "",
            is_primary=False,
            in_ranking=False,
            weight=0.0,
            scale=(min(ends), max(ends)),
            decimals=2,
            value=known,
            ci_low=agreement.low,
            ci_high=agreement.high,
            n=[0] * n,  # over how many answers the interval is: 0 says that this is not known, and is no reason to hide it
            rank=rank(counted, True) if has_places else [None] * n,
            rank_low=[None] * n,
            rank_high=[None] * n,
            group=[None] * n,
            order=order(known, True),
            percent=not self.opinions,
        )


def of_board(board: Board) -> People | None:
    """People as the ranking has them; None where it has none."""
    titles = {metric.slug: metric.title for metric in board.metrics}
    return People(board.people, titles, board.resampled) if board.people is not None else None


def with_people(board: Board) -> Board:
    """The ranking with what people prefer as its first column, where they judged any of its entries: beside the rank, in sight on
    every screen, however many metrics follow."""
    people = of_board(board)
    column = people.column(board) if people else None
    return board.model_copy(update={"metrics": [column, *board.metrics]}) if column else board


def spread(value: float | None, low: float | None, high: float | None, rows: Sequence[Sequence[float | None]]) -> dict[str, float] | None:
    """Positions of a value and its interval, in percent of the line that holds all `rows`; an interval that goes beyond them ends with
    the line. None without a value."""
    ends = [end for row in rows for end in row if end is not None]
    if value is None or not ends:
        return None
    start, width = min(ends), (max(ends) - min(ends)) or 1.0
    at = [round(min(max(100 * ((value if end is None else end) - start) / width, 0.0), 100.0), 1) for end in (value, low, high)]
    return {"dot": at[0], "left": at[1], "width": round(at[2] - at[1], 1)}

"""Statements on how far metrics agree with people, from `leaderboard.records.agreement`. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from leaderboard.records.agreement import LOW_COVERAGE, NO_BETTER, Known, Line, Verdict
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.states import Counted, Key, State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.wording.figures import interval, number, share, share_end
from leaderboard.wording.nouns import NOUN, answer, counted, decision, plural, sampled_noun, verb
from leaderboard.wording.nouns import people as people_words
from leaderboard.wording.ranks import span
from leaderboard.wording.reasons import sentence
from leaderboard.wording.statement import Part, Statement, Tone

STANDINGS = {
    Standing.TOO_EARLY: (Tone.EARLY, "too early"),
    Standing.WORSE_THAN_CHANCE: (Tone.BELOW, "worse than chance"),
    Standing.AT_CHANCE: (Tone.COIN, "not shown to differ from chance"),
    Standing.BELOW_HUMAN_LEVEL: (Tone.BELOW, "below human level"),
    Standing.ABOVE_HUMAN_LEVEL: (Tone.PERSON, "above human level"),
    Standing.HUMAN_LEVEL: (Tone.PERSON, "human level"),
    Standing.UNCLEAR: (Tone.BETTER, "better than chance, human level unclear"),
}
TRAINED = {  # of a metric and the answers that it is compared with, see `leaderboard.studies.training_overlap`; {} are votes, or ratings
    "these": ("trained on these {}", "This metric was trained on these very {}, so its agreement with them is no evidence."),
    "entries": (
        "trained on other {} about these entries",
        "This metric was trained on other {} about entries of this phase, so its agreement here is weaker evidence.",
    ),
    "unknown": (
        "unknown whether trained on these {}",
        "The metric's weights do not say whether it was trained on these {}. If it was, its agreement is no evidence.",
    ),
    "refused": (
        "not ranked",
        "The metric's weights may not rank: their model card says so, or they were removed. It therefore has no place among metrics.",
    ),
}


# --- one metric


def tone(line: Line) -> Tone:
    """Tone of a metric's state."""
    return STANDINGS[line.level][0] if line.shown else Tone.EARLY


def state(line: Line) -> str:
    """State of a metric between chance and another rater; empty where nothing may be claimed of it."""
    return "" if line.trained else STANDINGS[line.level][1]


def trained(line: Line) -> str:
    """Short reason why a metric's agreement is not stated: it may have been trained on these answers, or its weights may not rank; else
    empty."""
    return TRAINED[line.trained][0].format(plural(answer(line.opinions))) if line.trained else ""


def trained_more(line: Line) -> str:
    """The same as a sentence."""
    return TRAINED[line.trained][1].format(plural(answer(line.opinions))) if line.trained else ""


def lacking(figure: Figure, noun: str = NOUN) -> str:
    """The raters or items that a figure lacks, in brief: `3 of 5 raters`; empty where it lacks none."""
    reason = figure.reason
    if reason is None or reason.key is not Key.FEW:
        return ""
    return f"{reason.have} of {reason.need} {'raters' if reason.counted is Counted.RATERS else plural(noun)}"


def missing(line: Line) -> str:
    """The reason in brief why no figure is shown: `too early: 3 of 5 raters`."""
    if not line.compared:
        return "no entries compared"
    if line.figure.value is None:  # it has values for the comparisons, but nobody preferred either side of any
        return "no comparison is decided" if line.figure.coverage else "no values here"
    lack = lacking(line.figure, _unit(line))
    return f"too early: {lack}" if lack else "too early"


def _unit(line: Line) -> str:
    """The noun of what counts as a sample."""
    return sampled_noun(line.noun, not line.sampled)


def head(line: Line) -> str:
    """A metric's agreement in the head of a column: `agrees 72 [66, 77]`."""
    return f"agrees {share_of(line.figure)}" if line.shown else missing(line)


def share_of(figure: Figure) -> str:
    """A share of 100 with its interval where it has one: `72 [66, 77]`."""
    value, low, high = figure.ends
    return f"{share(value)} {interval(low, high)}".rstrip()


def places(line: Line) -> str:
    """Its places among the metrics, each at 95 %: `1–3`; empty where there are none."""
    return span(*line.places) if line.places and line.places[0] else ""


def caveats(line: Line) -> list[str]:
    """Warnings beside the figure: size alone may explain it, or it covers a part of the comparisons."""
    said = ["not shown to agree better than the entry's size alone"] if line.shown and line.above_size is False else []
    coverage = line.figure.coverage
    return [*said, f"has values for {share(coverage)} % of the comparisons"] if coverage is not None and coverage < LOW_COVERAGE else said


def rough(units: str) -> str:
    """Words beside an interval from so few raters or `units` that its ends are not reliable."""
    return f"few raters or {units}: a rough interval"


def notes(line: Line) -> list[str]:
    """Warnings that a reader needs beside the figure."""
    said = ["not shown to be better than chance"] if line.shown and not line.reference_point and line.level in NO_BETTER else []
    return [*said, *caveats(line), *([rough(plural(_unit(line)))] if line.figure.state is State.ROUGH else [])]


def reading(line: Line) -> str:
    """The figure of a metric in sentences, for a title or a popover."""
    if not line.shown:
        return f"{line.title}: {sentence(line.figure.reason, _unit(line)) or missing(line)}"
    title = f"“{line.title}”" if line.reference_point else line.title
    said = f"{title} picks the same winner as people in {line.percent} of 100 comparisons"
    votes = f"{counted(line.figure.n, decision(line.opinions))} that {verb('names', line.figure.n)} a winner"
    ends = " to ".join(share_end(end) for end in line.figure.ends[1:] if end is not None)
    if line.of_studies is not None:
        said += f": the mean of {line.of_studies} studies, 95 % interval {ends} with other studies. {votes}."
    else:
        others = f"other raters and other {plural(line.noun)}" if line.sampled else "other raters"
        said += f" (95 % interval {ends}, with {others})" if ends else ""
        if line.another is not None and line.another.value is not None:
            said += f"; another rater {share_of(line.another)}"
        on = counted(line.figure.samples, _unit(line))
        said += f". {votes}, by {people_words(line.figure.raters)} on {on}."
    return " ".join([said, *(sentenced(note) for note in notes(line))])


def sentenced(words: str) -> str:
    """Brief words as a sentence of their own."""
    return f"{words[0].upper()}{words[1:]}." if words else ""


# --- several metrics


def unheld(lines: Sequence[Line], units: str) -> str:
    """Reasons why none of these metrics has a figure although people answered enough; `units` is the plural of the items' noun."""
    held = [line for line in lines if not line.reference_point and line.figure.coverage and line.figure.reason is not None]
    why = {line.title: sentence(line.figure.reason, _unit(line)) for line in held}
    if len(set(why.values())) > 1:
        return " ".join(f"{title}: {reason}" for title, reason in why.items())
    return next(iter(why.values()), f"No metric has values of the {units} that people compared.")


def may_be_best(places: Mapping[str, tuple[int, int]]) -> str:
    """Sentence on the metrics, by title, that may agree best with people; empty for fewer than two."""
    if len(places) < 2:
        return ""
    best = [title for title, (low, _) in places.items() if low == 1]
    if len(best) > 1:
        others = len(places) - len(best)
        which = "The other metric" if others == 1 else f"Each of the other {others} metrics"
        rest = f" {which} is ruled out as the best." if others else ""
        return f"{len(best)} of {len(places)} metrics may agree best with people.{rest}"
    if not best:
        return ""
    if places[best[0]] == (1, 1):
        return f"{best[0]} agrees with people significantly better than every other metric."
    return f"Only {best[0]} may agree best with people."


def claim(lines: Iterable[Line]) -> str:
    """Claim of a table of metrics, as a sentence; empty where it claims nothing."""
    shown = [line for line in lines if line.shown and not line.reference_point]
    placed = [line for line in shown if line.places is not None]
    # Where no metric is shown to be better than chance, none is called the best.
    if placed and all(line.level in NO_BETTER for line in placed):
        which = "" if all(line.level in NO_BETTER for line in shown) else " with a place"
        return f"No metric{which} is shown to agree with people better than chance."
    return may_be_best({line.title: line.places for line in placed if line.places is not None})


# --- published means


def order(title: str, rho: Figure) -> str:
    """Correlation of a metric's order of entries with people's."""
    if rho.value is None:
        return f"{title} cannot be compared with published means: too few entries have both."
    ends = f", 95 % interval {interval(rho.low, rho.high, 2)}" if rho.low is not None else ""
    orders = f"Spearman's ρ between the orders of {rho.n} entries by {title} and by people"
    return f"{orders} is {number(rho.value, 3)}{ends}. {sentence(rho.reason)}".strip()


def rho(figure: Figure) -> str:
    """`ρ 0.93 [0.71, 0.98]`, or that it has no interval; empty without one."""
    if figure.value is None:
        return ""
    return f"ρ {number(figure.value, 2)}{f' {ends}' if (ends := interval(figure.low, figure.high, 2)) else ', no interval'}"


# --- a metric over all studies


def verdict(found: Verdict) -> Statement:
    """Opening of a metric's page: how often it picks the same winner as people, or why that is not known."""
    line = found.line
    match found.known:
        case Known.NOT_POOLED:
            in_some = f"{found.studies} of {counted(found.of_studies, 'study')}"
            return Statement.of(f"This metric was compared with people in {in_some}, too few to pool, so each is listed below.")
        case Known.BY_ITSELF:
            studies = counted(found.studies, "study")
            return Statement.of(f"This metric alone was compared with people in {studies}, so it has no place among metrics.")
        case Known.OUTDATED:
            return Statement.of("Only another version of this metric was compared with people. That says nothing about this version.")
        case Known.TRAINED if line is not None and line.trained == "refused":
            return Statement.of(trained_more(line))
        case Known.TRAINED if line is not None:
            answers_ = plural(answer(line.opinions))
            return Statement.of(
                f"The agreement is no evidence: this metric was or may have been trained on the same {answers_} ({trained(line)})."
            )
        case Known.EARLY if line is not None:
            lack = lacking(line.figure, _unit(line))
            early = f"It is too early to say how far this metric agrees with people: it has {lack} that are needed."
            return Statement.of(early if lack else f"It is not known how far this metric agrees with people: {missing(line)}.")
    if line is None:
        return Statement.of("No study here has compared this metric with people yet.")
    who = "simulated raters" if found.simulated else "people"
    figure = Part(f"{line.percent} of 100", tone(line))
    if found.known is Known.ALIKE:
        why = sentence(line.figure.reason, line.noun)
        votes = counted(line.figure.n, decision(line.opinions))
        return Statement.of(f"This metric picks the same winner as {who} in ", figure, f" comparisons ({votes}). {why}")
    rest = f" comparisons {interval(*line.figure.ends[1:])}".rstrip() + f": {state(line)}"
    if line.another is not None and line.level not in NO_BETTER:
        rest += f" (another rater: {share_of(line.another)})"
    rest += "."
    if line.places is not None:
        rest += f" By agreement with people its place among {found.placed} metrics is {places(line)} (95 % range)."
    return Statement.of(f"This metric picks the same winner as {who} in ", figure, rest, *(f" {sentenced(note)}" for note in caveats(line)))


def not_pooled(n: int) -> str:
    """Words in the place of the figure of a metric that is in too few studies."""
    return f"in {counted(n, 'study')}: not pooled"

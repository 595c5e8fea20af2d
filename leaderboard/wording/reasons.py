"""Reasons of figures as sentences: the one place that words why there is no number, or no interval. They are never stored, and no code
reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from leaderboard.stats.davidson import SIDE, Cause, Omitted
from leaderboard.stats.states import Counted, Key, Reason
from leaderboard.wording.nouns import plural

SENTENCES = {
    Key.FEW: "Too few {counted}: {need} are needed, there {are} {have}.",
    Key.FEW_FOR_DIFFERENCE: "Too few comparisons between different values: they cover {have} {counted}, and {need} are needed.",
    Key.FEW_SHARED: "No comparison with another rater: that needs {need} votes on comparisons that two raters decided, there are {have}.",
    Key.FEW_STUDIES: "There are fewer than {need} studies, so they are listed and not pooled.",
    Key.FEW_SETS: "A mean needs {need} sets of one material. There are {have}, so the sets are listed and not pooled.",
    Key.FEW_FOR_GATE: "Too few raters share {value:g} of the judge's questions with another rater: {need} are needed, there are {have}.",
    Key.FEW_FOR_LIKELIHOOD: "This figure needs {need} raters with {value:g} scores each.",
    Key.FEW_FOR_LOOK: "Too early: {need} {counted} are needed, there {are} {have}.",
    Key.FEW_FOR_CORRELATION: "Correlations need {need} entries with different values, because two points always lie on one line.",
    Key.FEW_FOR_CORRELATION_INTERVAL: "No interval, because there are fewer than {need} entries.",
    Key.FEW_FOR_INTERVAL: "Too few {counted} for an interval: {need} are needed, there {are} {have}.",
    Key.FEW_FOR_TOLERANCE: "Two items are needed to find a tolerance on one and judge it on the other.",
    Key.ALIKE: "No interval, because all raters and items give the same value.",
    Key.SAME_SCORES: "All {have} scores are {value:g}.",
    Key.IN_LINE: "No interval, because all entries are in one line.",
    Key.UNSTABLE: "No interval, because leaving out one of the groups or raters leaves no value.",
    Key.ALWAYS_HIGHER: "Everybody preferred the higher side of every difference.",
    Key.NO_PREFERENCE: "Nobody preferred one entry to another.",
    Key.NO_WINNER: "No answer names a winner between entries that this metric has values for.",
    Key.NO_ANSWER: "Nobody answered on entries that this metric has values for.",
    Key.NEVER_TIED: "People never answered with a tie, so there is nothing to predict.",
    Key.ALWAYS_TIED: "People always answered with a tie, so there is nothing to predict.",
    Key.NO_TWO: "No two entries that people compared have values of this metric on one item.",
    Key.NEVER_MET: "No chain of comparisons connects all entries, so there is no order of all entries.",
    Key.MET_NONE_WITH_PLACE: "Nobody compared this entry with the entries that have a place with people.",
    Key.LITTLE_IN_COMMON: "No interval, because too few entries were on both kinds of items.",
    Key.NOT_SCORED: "Nobody scored this entry.",
    Key.NOT_SCORED_BOTH: "Nobody scored both entries.",
    Key.NOTHING_COUNTS: "No answer counts: all are on pairs with a known winner, repeat other answers, or are by raters who were left out.",
    Key.ONLY_DAMAGED: "Only damaged entries were compared here.",
    Key.NONE_COUNTS: "Fewer than two of the compared entries count: the others are damaged, or were left out.",
    Key.ALL_SCREENED: "No score counts: the screening rule leaves out every rater.",
    Key.NO_COMPARISONS: "Nobody scored two entries on one {item}, so no comparisons follow from the scores.",
    Key.ONLY_MEANS: "Only the means were published, and comparing two entries needs single scores.",
    Key.RATERS_AT_CHANCE: "Two raters agree in no more than half of the comparisons here, so nothing is compared with another rater.",
    Key.ONE_RATER_HOLDS_MOST: "One rater would have more than half of the weight.",
    Key.GATE_NOT_PASSED: "The judge was not shown to agree with the other raters about as often as at least half of the raters do.",
    Key.OUT_OF_RANGE: "The combined share is impossible (below 0 or above 1), so only people's own figure is shown.",
    Key.JUDGE_SILENT: "The judge answered none of people's comparisons.",
    Key.EARLIER: "This figure was computed by an earlier version.",
}
OMITTED = {
    Cause.UNKNOWN: "{} is not known of everything that was compared, so the model leaves it out.",
    Cause.INSEPARABLE: "{} could not be separated from the entries or from another covariate.",
    Cause.ENDLESS: "{} has no finite effect, so the model leaves it out. This happens if everybody chose by it alone.",
}
SIDE_OMITTED = {
    Cause.INSEPARABLE: "The side could not be separated from the entries.",
    Cause.ENDLESS: "The side has no finite effect, so the model leaves it out. This happens if everybody chose by the side alone.",
}
Noun = str | Callable[[], str]  # or what looks it up
SAMPLE = "sample"  # of what people were asked about, where no challenge names it


def named(noun: Noun) -> str:
    return noun if isinstance(noun, str) else noun()


def sentence(reason: Reason | None, noun: Noun = SAMPLE) -> str:
    """The sentence of a reason, empty without one; `noun` is the name of an item, looked up only if the sentence names items."""
    if reason is None:
        return ""
    words = SENTENCES[reason.key]
    item = named(noun) if reason.counted is Counted.ITEMS or "{item" in words else SAMPLE
    names = {Counted.ITEMS: plural(item), Counted.PAIRS: "pairs of entries"}
    return words.format(
        counted=names.get(reason.counted, reason.counted) if reason.counted else "",
        need=reason.need,
        have=reason.have,
        are="is" if reason.have == 1 else "are",
        value=reason.value,
        item=item,
    )


def notes(omitted: Iterable[Omitted], prior: bool) -> list[str]:
    """Sentences on what a model of people's preferences leaves out, and on its prior."""
    said = [SIDE_OMITTED[one.cause] if one.name == SIDE else OMITTED[one.cause].format(one.name) for one in omitted]
    return [*said, "A weak prior was used: some entries never lost to the others."] if prior else said


def clause(reason: Reason | None, noun: Noun = SAMPLE) -> str:
    """The same to be put into another sentence: with a small letter, and without its full stop."""
    words = sentence(reason, noun)
    return f"{words[:1].lower()}{words[1:].rstrip('.')}"


def why(of: Any, noun: Noun = SAMPLE) -> str:
    """The reason of a figure, a stored one included, as a sentence; what an earlier ranking said stays as it was said."""
    if isinstance(of, Mapping):
        return of.get("why") or sentence(read(of.get("reason")), noun)
    return getattr(of, "why", "") or sentence(getattr(of, "reason", None), noun)


def read(stored: Mapping[str, Any] | None) -> Reason | None:
    """A stored reason."""
    if stored is None:
        return None
    counted = stored.get("counted")
    return Reason(Key(stored["key"]), Counted(counted) if counted else None, stored.get("need"), stored.get("have"), stored.get("value"))

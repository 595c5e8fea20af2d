"""The sentences a study's page opens with, made from its numbers and saying no more than they bear."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from leaderboard.boards.human_agreement import Line
from leaderboard.models import Study, StudyLook
from leaderboard.stats import sentences as statements
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.crossed import ALIKE
from leaderboard.stats.davidson import Fragile
from leaderboard.stats.minimums import (
    ITEMS_FOR_FIGURE,
    ITEMS_FOR_FIRM_INTERVAL,
    ITEMS_FOR_LOOK,
    RATERS_FOR_FIGURE,
    RATERS_FOR_FIRM_INTERVAL,
    RATERS_FOR_LOOK,
)
from leaderboard.stats.states import Reason, too_few
from leaderboard.studies.summary import HIDDEN_NAME, Summary
from leaderboard.wording.nouns import NOUN, plural, sampled_noun
from leaderboard.wording.reasons import Noun, clause, named, sentence

MAX_NAMES = 4
EARLY = "It is too early to say."
VERBS = {  # of one metric, of several, and what they are
    Standing.ABOVE_HUMAN_LEVEL: ("is", "are", "above human level"),
    Standing.HUMAN_LEVEL: ("is", "are", "at human level"),
    Standing.UNCLEAR: ("is", "are", "better than chance; whether at human level is not known"),
    Standing.BELOW_HUMAN_LEVEL: ("is", "are", "better than chance and below human level"),
    Standing.AT_CHANCE: ("is", "are", "at chance"),
    Standing.WORSE_THAN_CHANCE: ("is", "are", "worse than chance"),
}


@dataclass(frozen=True)
class Sentence:
    """One claim: what is said first, and what follows from it."""

    first: str
    rest: str = ""


def sentences(summary: Summary, lines: Sequence[Line], noun: Noun = NOUN) -> list[Sentence]:
    """Sentences on what people prefer, which metrics see it the same way, and whether that is enough; `noun` is the name of an item."""
    first = opening(summary, noun)
    if summary.of == "means":
        return [first] if first is not None else []
    return [one for one in (first, _metrics(lines), _enough(summary, noun)) if one is not None]


def opening(summary: Summary, noun: Noun = NOUN) -> Sentence | None:
    """The first of these sentences."""
    if summary.of == "means":
        return _published(summary)
    return _preferred(summary, noun)


def _published(summary: Summary) -> Sentence | None:
    means = [(line.mos[0], line.method) for line in summary.ranked if line.mos[0] is not None]
    if not means:
        return None
    best = max(mean for mean, _ in means)
    first = [name for mean, name in means if mean == best]
    known = any(line.mos[1] is not None for line in summary.ranked)
    sure = "" if known else " Without single scores nothing says how surely it leads."
    level = "has" if len(first) == 1 else "have"
    return Sentence(f"{names(first)} {level} the highest published mean.", f"{best:.2f} of 5, among {len(means)} entries.{sure}")


def _instead(reason: Reason | None, noun: Noun) -> Sentence:
    """The sentence in the place of a claim that cannot be made, for this reason."""
    words = sentence(reason, noun)
    return Sentence(EARLY, words) if reason is None or too_few(reason) else Sentence(words)


def _preferred(summary: Summary, noun: Noun) -> Sentence:
    if summary.reason is not None:
        return _instead(summary.reason, noun)
    ranked = [line for line in summary.ranked if line.part == 1]
    others = len({line.part for line in summary.ranked}) > 1
    apart = " Some entries met only some others, so each part has an order of its own." if others else ""
    open_ = [line for line in ranked if line.rank is not None and line.rank[0] == 1]
    if len(ranked) < 2:
        return Sentence(
            "No two entries of those that people compared are shown here." if HIDDEN_NAME in summary.methods else "No two entries met."
        )
    if not open_:  # all answers are alike: nothing says how surely anything leads
        if len({line.reason for line in ranked}) > 1:  # each is of the scores of one entry
            return Sentence("Nothing says how surely people prefer any:", "all scores of one entry are the same, with each of them.")
        return Sentence(sentence(ranked[0].reason or ALIKE, noun))
    end = ranked[0].rank[1] if ranked[0].rank is not None else None
    if end != 1:  # by the first's own interval, as everywhere
        may = f"{names([line.method for line in open_])} may be first"
        alone = f"{open_[0].method} may be first, and its place may be as low as {end}"
        return Sentence("First place with people is open:", f"{may if len(open_) > 1 else alone}.{apart}")
    value, low, high = ranked[0].value
    if summary.opinions:
        # Scores of one entry may all be the same and its lead over the others still be known.
        ends = f" [{low:.2f}, {high:.2f}]" if low is not None else f" ({clause(ranked[0].reason, noun)})"
        return Sentence(f"People score {ranked[0].method} highest.", f"{value:.2f} of 5{ends}.{apart}")
    ends = f" [{percent(low)}, {percent(high)}]" if low is not None else ""
    return Sentence(f"People put {ranked[0].method} first.", f"They would pick it in {percent(value)} of 100 duels{ends}.{apart}")


def _metrics(lines: Sequence[Line]) -> Sentence | None:
    shown = [line for line in lines if line.shown and not line.guard and not line.trained]
    if not shown:
        return None
    by_state = [(state, [line.title for line in shown if line.level is state]) for state in VERBS]
    first, *rest = [f"{names(titles)} {VERBS[state][len(titles) > 1]} {VERBS[state][2]}." for state, titles in by_state if titles]
    best = statements.may_be_best({line.title: line.places for line in shown if line.places is not None})
    return Sentence(first, " ".join([*rest, *([best] if best else [])]))


def _enough(summary: Summary, noun: Noun) -> Sentence | None:
    if summary.enough is None:
        return None
    k, n = summary.enough.settled, len([line for line in summary.ranked if line.part == 1])
    if k >= n:
        first = "Enough for every place."
    elif k:
        first = f"Enough for place{'s 1 to ' + str(k) if k > 1 else ' 1'}."
    else:
        first = "Not enough for any place yet."
    given = [line.votes or line.ratings for line in summary.reliability.raters if not line.screened]
    return Sentence(first, " ".join([*_settling(summary, noun), statements.unequal(given)]).strip())


def _settling(summary: Summary, noun: Noun) -> list[str]:
    """Sentences on what would settle first place, where it is open and no other stands level in it."""
    if summary.enough is None or summary.shares_first:
        return []
    units = plural(sampled_noun(named(noun), summary.unsampled))
    return statements.settling(summary.enough, summary.given, summary.raters_counted, units, "rating" if summary.opinions else "judgement")


@dataclass(frozen=True)
class EnoughRow:
    """One thing that there may be enough of: `is_enough` is None where there is no test of it; `of_parts` says that parts of the judgements
    were ranked again."""

    what: str
    is_enough: bool | None
    words: str
    more: str = ""
    of_parts: bool = False


def enough_rows(summary: Summary, noun: str = NOUN) -> list[EnoughRow]:
    """Lines on what is settled and what is not; none where there are too few people or items for any of it."""
    if summary.reason is not None:
        return []
    noun = sampled_noun(noun, summary.unsampled)
    rows, n = [], len([line for line in summary.ranked if line.part == 1])
    if summary.enough is not None:
        k = min(summary.enough.settled, n)
        if k:
            more = "the intervals of their places overlap none below" if k > 1 else "the interval of the first is 1 to 1"
            rows.append(EnoughRow(_places(1, k), True, "enough", more))
        if k < n:
            rows.append(EnoughRow(_places(k + 1, n), False, "not yet", " ".join(_settling(summary, noun))))
    for curve in summary.adequacy:
        what = {"raters": "People", "comparisons": "Judgements", "samples": plural(noun).capitalize()}[curve.resource]
        if len([mean for mean in curve.mean if mean is not None]) < 2:
            continue
        parts = f"the order stays with parts of {curve.steady:,} of {curve.sizes[-1]:,}" if curve.steady else "the order moves with fewer"
        rows.append(EnoughRow(what, curve.steady is not None, "steady" if curve.steady else "not yet", parts, of_parts=True))
    if summary.fragile is not None and not summary.shares_first:
        rows.append(EnoughRow("What first place hangs on", None, "", fragile_words(summary, noun)))
    return rows


def _places(first: int, last: int) -> str:
    return f"Place {first}" if first == last else f"Places {first} to {last}"


def duel_words(summary: Summary, a: str, b: str, noun: str = NOUN) -> Sentence:
    """Sentence on two entries as people judge them: the study calls them `a` and `b`, the page A and B; `noun` is the name of an item."""
    duel = next((duel for duel in summary.duels if {duel.first, duel.second} == {a, b}), None)
    if summary.reason is not None:
        return _instead(summary.reason, noun)
    if duel is None:
        return Sentence(EARLY, "Nobody has compared these two yet.")
    value, low, high = duel.value
    if value is None or duel.p_holm is None:
        return Sentence(EARLY, f"Too few people scored both, or on too few {plural(noun)}.")
    first, second = ("A", "B") if duel.first == a else ("B", "A")
    ends = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]" if summary.opinions else f" [{percent(low)}, {percent(high)}]"
    if summary.opinions:
        level = f"{value:.2f}" == "0.00"
        figure = (
            f"They score both alike, 0.00 points apart{ends}"
            if level
            else f"They score {first} {value:.2f} points higher than {second}{ends}"
        )
        figure = figure.replace("-", "−")
        known = f"{duel.answers:,} times one person scored both"
    elif duel.asked is not None:
        # Of these two alone: their own share, its interval, and the verdict by that.
        value, low, high = duel.asked
        # At exactly one half the first by name, as everywhere.
        if value is not None and (value < 0.5 or (value == 0.5 and duel.second < duel.first)):
            first, second = second, first
            value, low, high = 1 - value, None if high is None else 1 - high, None if low is None else 1 - low
        ends = "" if low is None else "known"
        figure = statements.asked_about(first, (value, low, high)).rstrip(".")
        known = f"{duel.answers:,} judgements of this pair"
    else:
        figure = f"They would pick {first} in {percent(value)} of 100 duels{ends}, inferred from other pairs"
        known = f"{duel.answers:,} judgement{'' if duel.answers == 1 else 's'} of this pair"
    if not ends:
        figure += f", the same with every person and every {noun}, so that it has no interval"
    sampled = plural(sampled_noun(noun, summary.unsampled), summary.samples_counted)
    all_of_them = f"{summary.raters_counted:,} people and {summary.samples_counted:,} {sampled} in all"
    if low is None:
        claim = f"Nothing says how surely people prefer {first}."
    elif low > (0.0 if summary.opinions else 0.5):
        claim = f"People prefer {first}."
    else:
        claim = "People are not shown to prefer either."
    return Sentence(claim, f"{figure}: {known}, {all_of_them}.")


def duel_brief(summary: Summary, a: str, b: str) -> str:
    """In brief, how often people picked `a`, or would pick it where too few were asked about these two (of opinion scores: by how much they
    score it higher), with its interval and the judgements of the pair; empty where there is no interval."""
    duel = next((duel for duel in summary.duels if {duel.first, duel.second} == {a, b}), None)
    value, low, high = (duel.asked or duel.value) if duel is not None else (None, None, None)
    if duel is None or value is None or low is None or high is None:
        return ""
    if summary.opinions:
        value, low, high = (value, low, high) if duel.first == a else (-value, -high, -low)
        return f"{value:+.2f} [{low:+.2f}, {high:+.2f}], n {duel.answers:,}".replace("-", "−")
    value, low, high = (value, low, high) if duel.first == a else (1 - value, 1 - high, 1 - low)
    return f"{percent(value)} of 100 [{percent(low)}, {percent(high)}], n {duel.answers:,}"


def rough_words(summary: Summary, noun: str = NOUN) -> str:
    """Sentence beside intervals of few raters or items, which are called `noun`."""
    noun = sampled_noun(noun, summary.unsampled)
    few = ["raters"] if RATERS_FOR_FIGURE <= summary.raters_counted < RATERS_FOR_FIRM_INTERVAL else []
    few += [plural(noun)] if ITEMS_FOR_FIGURE <= summary.samples_counted < ITEMS_FOR_FIRM_INTERVAL else []
    return "" if summary.reason is not None or not few else f"Few {names(few)}: read these intervals as rough ones."


def forecast_words(summary: Summary, title: str, noun: str = NOUN) -> str:
    """Words on how much surer the first metric's figure would be: `±6 now; 10 more items: ±5`."""
    forecast, noun = summary.forecast, sampled_noun(noun, summary.unsampled)
    if forecast is None:
        return ""
    parts = [(forecast.answers, "judgements by these people"), (forecast.raters, "people"), (forecast.samples, plural(noun))]
    more = "; ".join(f"{n:,} more {what}: ±{_points(half)}" for (n, half), what in parts)
    helps = {"answers": "judgements", "raters": "people", "samples": plural(noun)}[forecast.helps]
    return f"{title}'s agreement is known to about ±{_points(forecast.now)} of 100 now. {more}. More {helps} help most."


def look_words(study: Study, judgements: int | None, hidden: Collection[str] = ()) -> str:
    """Sentence on the planned looks of a study so far: settled or not, at which look, and where the next one is; empty without any.
    `judgements` count so far, None where that is not known; entries with `hidden` labels are not named."""
    if not study.planned_looks:
        return ""
    looks, of = list(study.looks.all()), f"of {study.planned_looks} planned looks at first place"
    look = looks[-1] if looks else None
    first = names([HIDDEN_NAME if look.entry in hidden else look.entry]) if look else ""
    if look is not None and look.is_settled:
        return (
            f"Settled: {first} is first, by look {look.number} {of}, after {look.judgements:,} judgements of {look.raters} people on "
            f"{look.samples:,} {plural(study.noun, look.samples)}. Among equal entries such looks, all together, call one the first in "
            "about 5 of 100 studies."
        )
    if look is not None:
        untold = "nobody had preferred any entry"
        if look.entry:
            untold = f"{first} led and was not told from {names([HIDDEN_NAME if name in hidden else name for name in look.untold])}"
        if look.number >= study.planned_looks:
            return f"Not settled: when all {look.judgements:,} planned judgements were in, {untold}."
        said = f"Not settled by look {look.number} {of}, after {look.judgements:,} judgements: {untold}."
    else:
        said = f"Not settled: none {of} has been taken."
    if study.state == study.State.CLOSED:
        return f"{said} It was closed before the last of them."
    due = StudyLook.due_at(study, 1 + (look.number if look else 0))
    least = f"{RATERS_FOR_LOOK} people on {ITEMS_FOR_LOOK} {plural(study.noun)}"
    if judgements is not None and judgements >= due:  # of too few people, or on too few items
        return f"{said} {judgements:,} judgements count so far; the next waits until they are of at least {least}."
    so_far = "" if judgements is None else f", and {judgements:,} count so far"
    return f"{said} The next is due at {due:,} judgements of at least {least}{so_far}."


class FirstPlace(Protocol):
    """Figures of a study on its first place, as they stand in a summary or on a board."""

    @property
    def fragile(self) -> Fragile | None: ...
    @property
    def answers(self) -> int: ...
    @property
    def raters_counted(self) -> int: ...
    @property
    def samples_counted(self) -> int: ...


def fragile_words(summary: FirstPlace, noun: str = NOUN) -> str:
    """Sentence on what first place hangs on; `noun` is the name of what counts as a sample."""
    fragile = summary.fragile
    if fragile is None:
        return ""
    parts = [
        (fragile.answers, summary.answers, "judgement" if summary.answers == 1 else "judgements"),
        (fragile.raters, summary.raters_counted, "person" if summary.raters_counted == 1 else "people"),
        (fragile.samples, summary.samples_counted, plural(noun, summary.samples_counted)),
    ]
    lines = [f"{n:,} of {total:,} {what}" for n, total, what in parts if n]
    if not lines:
        return (
            f"No other entry comes first with up to half of the judgements, people or {plural(noun)} left out, those that favour the first "
            "most before others."
        )
    return f"At most {names(lines, 'or')}, left out, would put another entry first."


def reliability_words(summary: Summary) -> str:
    """In brief, how reliable the people are: on duels of known order, when asked again, and how many were left out."""
    parts = []
    found = summary.reliability
    for share, what in ((found.gold, "right on the known duels"), (found.self_consistency, "the same when asked again")):
        if share is not None and share.low is not None and not too_few(summary.reason):
            parts.append(f"{percent(share.value)} % [{percent(share.low)}, {percent(share.high)}] {what}, n {share.n:,}")
    if summary.screening:
        parts.append(f"{len(summary.screened)} left out" if summary.screened else "nobody left out")
    return "; ".join(parts)


def judge_words(n: int, passed: int | None) -> str:
    """In brief, how many judge models answered too, and how many of those that were tested may stand beside people."""
    if passed is None:
        return f"{n}"
    return f"{n}; {passed or 'none'} may stand beside people"


def covariate_words(summary: Summary) -> list[str]:
    """Sentences on what else people prefer, of entries that are equals in everything but this; nothing where there are too few answers."""
    who = {"texture": "Textured entries", "size": "Entries twice as large"}
    known = [one for model in summary.models for one in model.covariates if one.share_low is not None and one.name in who]
    return [
        f"{who[one.name]} win {percent(one.share)} % [{percent(one.share_low)}, {percent(one.share_high)}] against equals." for one in known
    ]


def two_people_words(summary: Summary, noun: Noun = NOUN) -> str:
    """Sentences on how often two people agree, which is what a metric can be held against, or what keeps that from being known."""
    best = summary.ceiling
    if best is None:
        return "No duel was decided by two people, so nothing is known of how often another rater would agree."
    if too_few(best.two_people.reason):
        why = sentence(best.two_people.reason, noun)
        return f"How often another rater agrees is not known: of those who judged the same duels there are too few. {why}"
    value, low, high = best.two_people.ends
    ends = "" if low is None else f" [{percent(low)}, {percent(high)}]"
    words = f"Two people agree on {percent(value)}{ends}, of {best.n:,} judgements on duels that two decided."
    if low is None:  # not that all say the same
        words += " That is the same with everybody, so it has no interval."
    if value is not None and (value if low is None else low) <= 0.5:
        words += " They are not shown to agree better than by chance, so there may be nothing here for a metric to see."
    return words


def camp_words(summary: Summary, noun: str = NOUN) -> str:
    """Sentence on the camps that people fall into; empty where there is no more than one that a test bears out."""
    camps = summary.camps
    if camps is None:
        return ""
    return (
        f"People fall into {len(camps.sizes)} camps, of {names([str(n) for n in camps.sizes])}: two of one camp agree on "
        f"{percent(camps.within)} of 100 duels and two of different camps on {percent(camps.between)}, on {plural(noun)} that the "
        f"camps were not found on (p {'< .001' if camps.p < 0.001 else f'= {camps.p:.3f}'.replace('0.', '.')} of a permutation)."
    )


def side_words(summary: Summary) -> list[str]:
    """Sentences on how often the left one of two equal entries is picked, part by part, with its interval; nothing where there is none."""
    from leaderboard.stats.davidson import share_of

    sentences_of_sides = []
    for model in summary.models:
        ends = [] if model.side is None else [end for end in model.side if end is not None]
        if len(ends) == 3:
            share, low, high = (percent(share_of(end, model.nu)) for end in ends)
            sentences_of_sides.append(f"Side: between equals the left one is picked in {share} of 100 duels [{low}, {high}].")
    return sentences_of_sides


def names(words: Sequence[str], last: str = "and") -> str:
    """A list in words, cut where it is long."""
    if len(words) > MAX_NAMES:
        words = [*words[: MAX_NAMES - 1], f"{len(words) - MAX_NAMES + 1} others"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def percent(value: float | None) -> str:
    return "–" if value is None else f"{round(100 * value)}"


def _points(half: float) -> str:
    return f"{100 * half:.0f}" if half >= 0.01 else "<1"

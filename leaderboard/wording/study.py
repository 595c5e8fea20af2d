"""Statements on a study, each from its summary or a record of it: for its page, boards, cards, the console and the command. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from leaderboard.records.agreement import NO_BETTER, Line
from leaderboard.records.interim_analyses import InterimAnalyses
from leaderboard.records.study import HIDDEN_NAME, Summary
from leaderboard.records.study_table import Apart, EntryRow
from leaderboard.stats.another_rater import Standing
from leaderboard.stats.davidson import Fragile, share_of
from leaderboard.stats.minimums import ITEMS_FOR_LOOK, RATERS_FOR_LOOK
from leaderboard.stats.records import Entry, EntryPair
from leaderboard.stats.states import Reason, too_few
from leaderboard.stats.two_way_intervals import ALIKE, Ends
from leaderboard.wording import people as people_words
from leaderboard.wording.agreement import may_be_best, sentenced
from leaderboard.wording.figures import interval, number, share
from leaderboard.wording.nouns import NOUN, UNSAMPLED, answer, answers, counted, decision, listed, people, plural, sampled_noun, verb
from leaderboard.wording.reasons import Noun, clause, named, notes, sentence
from leaderboard.wording.settling import settling, unequal
from leaderboard.wording.statement import Part, Statement, name

MAX_NAMES = 4
EARLY = "It is too early to say."
OPEN = "First place with people is not settled:"
VERBS = {  # of metrics in one state
    Standing.ABOVE_HUMAN_LEVEL: "above human level",
    Standing.HUMAN_LEVEL: "at human level",
    Standing.UNCLEAR: "better than chance, human level unclear",
    Standing.BELOW_HUMAN_LEVEL: "better than chance and below human level",
    Standing.AT_CHANCE: "not shown to differ from chance",
    Standing.WORSE_THAN_CHANCE: "worse than chance",
}


def claim(first: str, rest: str = "") -> Statement:
    """A statement that begins with a claim in bold, and goes on with what follows from it."""
    return Statement.of(name(first), f" {rest}" if rest else "")


def names(of: Iterable[str], last: str = "and") -> str:
    return listed(of, last, MAX_NAMES)


def in_bold(of: Sequence[str]) -> list[str | Part]:
    """Names as `names` lists them, each in bold: a name may hold a comma."""
    every: list[str | Part] = [name(one) for one in of]
    if len(of) > MAX_NAMES:
        every = [*every[: MAX_NAMES - 1], f"{len(of) - MAX_NAMES + 1} others"]
    between = [", "] * (len(every) - 2) + [" and "]
    return [every[0], *(part for pair in zip(between, every[1:], strict=False) for part in pair)]


def sentences(summary: Summary, lines: Sequence[Line], noun: Noun = NOUN) -> list[Statement]:
    """Statements on what people prefer, which metrics agree, and whether that is enough; `noun` is the name of an item."""
    first = opening(summary, noun)
    if summary.of == "means":
        return [first] if first is not None else []
    return [one for one in (first, _metrics(lines), _enough(summary, noun)) if one is not None]


def opening(summary: Summary, noun: Noun = NOUN) -> Statement | None:
    """The first of these statements."""
    if summary.of == "means":
        return _published(summary)
    return _preferred(summary, UNSAMPLED if summary.unsampled else noun)


def _published(summary: Summary) -> Statement | None:
    means = [(line.mos[0], line.method) for line in summary.ranked if line.mos[0] is not None]
    if not means:
        return None
    best = max(mean for mean, _ in means)
    first = [method for mean, method in means if mean == best]
    known = any(line.mos[1] is not None for line in summary.ranked)
    sure = "" if known else " Without single ratings, the certainty of this lead is unknown."
    level = verb("has", len(first))
    return claim(
        f"{names(first)} {level} the highest published mean rating.",
        f"{best:.2f} {summary.basis.unit}, among {counted(len(means), 'entry')}.{sure}",
    )


def _instead(reason: Reason | None, noun: Noun) -> Statement:
    """The statement in the place of a claim that cannot be made, for this reason."""
    words = sentence(reason, noun)
    return claim(EARLY, words) if reason is None or too_few(reason) else claim(words)


def _preferred(summary: Summary, noun: Noun) -> Statement:
    if summary.reason is not None:
        return _instead(summary.reason, noun)
    ranked = [line for line in summary.ranked if line.part == 1]
    parts = len({line.part for line in summary.ranked}) > 1
    apart = " Comparisons do not connect all entries, so each connected group has its own order." if parts else ""
    open_ = [line for line in ranked if line.rank is not None and line.rank[0] == 1]
    if len(ranked) < 2:
        hidden = HIDDEN_NAME in summary.methods
        return claim("Fewer than two of the compared entries are shown here." if hidden else "People compared no two entries.")
    if not open_:
        return _alike(ranked, noun)
    end = ranked[0].rank[1] if ranked[0].rank is not None else None
    if end != 1:  # by the first's own range, as everywhere
        may = " may be first" if len(open_) > 1 else f" may be first, and its place may be as low as {end}"
        return Statement.of(name(OPEN), " ", *in_bold([line.method for line in open_]), f"{may}.{apart}")
    value, low, high = ranked[0].value
    if summary.opinions:
        # Ratings of one entry may all be the same and its lead over the others still be known.
        ends = interval(low, high, 2) or f"({clause(ranked[0].reason, noun)})"
        return claim(f"People score {ranked[0].method} highest.", f"{number(value, 2)} {summary.basis.unit} {ends}.{apart}")
    figure = f"{share(value)} of 100 comparisons {interval(low, high)}".rstrip()
    return claim(f"People put {ranked[0].method} first.", f"People would pick this entry in {figure}.{apart}")


def _alike(ranked: Sequence[Entry], noun: Noun) -> Statement:
    """Statement on first place where all answers are alike: nothing says how certain any lead is."""
    if len({line.reason for line in ranked}) > 1:  # each is of the ratings of one entry
        return claim("The certainty of people's preferences is unknown:", "for each entry, all ratings are the same.")
    first = [line.method for line in ranked if line.value[0] == ranked[0].value[0]]
    leads = f"People put {first[0]} first." if len(first) == 1 else f"{names(first)} share first place with people."
    return claim(leads, sentence(ranked[0].reason or ALIKE, noun))


def _metrics(lines: Sequence[Line]) -> Statement | None:
    shown = [line for line in lines if line.shown and not line.reference_point and not line.trained]
    if not shown:
        return None
    by_state = [(state, [line.title for line in shown if line.level is state]) for state in VERBS]
    first, *rest = [f"{names(titles)} {verb('is', len(titles))} {VERBS[state]}." for state, titles in by_state if titles]
    placed = {line.title: line.places for line in shown if line.places is not None}
    # Where no metric is shown to be better than chance, none is called the best.
    best = may_be_best(placed) if any(line.level not in NO_BETTER for line in shown if line.title in placed) else ""
    return claim(first, " ".join([*rest, *([best] if best else [])]))


# --- is it enough


def _enough(summary: Summary, noun: Noun) -> Statement | None:
    if summary.enough is None:
        return None
    k, n = summary.enough.settled, len([line for line in summary.ranked if line.part == 1])
    if k >= n:
        first = "The answers settle every place."
    elif k:
        first = f"There are enough answers for place{f's 1 to {k}' if k > 1 else ' 1'}."
    else:
        first = "The answers settle no place yet."
    given = [line.votes or line.ratings for line in summary.reliability.raters if not line.screened]
    return claim(first, " ".join([*_settling(summary, noun), unequal(given)]).strip())


def _settling(summary: Summary, noun: Noun) -> list[str]:
    """Sentences on what would settle first place, where it is open and no other shares it."""
    if summary.enough is None or summary.shares_first:
        return []
    units = plural(sampled_noun(named(noun), summary.unsampled))
    return settling(summary.enough, summary.given, summary.raters_counted, units, answer(summary.opinions))


@dataclass(frozen=True)
class EnoughRow:
    """One thing that there may be enough of: `is_enough` is None where there is no test of it; `of_parts` says that parts of the answers
    were ranked again."""

    what: str
    is_enough: bool | None
    words: str
    more: str = ""
    of_parts: bool = False


def enough_rows(summary: Summary, noun: str = NOUN) -> list[EnoughRow]:
    """Lines on settled and open questions; none if there are too few raters or items for any of them."""
    if summary.reason is not None:
        return []
    noun = sampled_noun(noun, summary.unsampled)
    rows, n = [], len([line for line in summary.ranked if line.part == 1])
    if summary.enough is not None:
        k = min(summary.enough.settled, n)
        if k:
            more = "the ranges of these places do not overlap the ranges of lower places" if k > 1 else "the range of the first is 1 to 1"
            rows.append(EnoughRow(_places(1, k), True, "enough", more))
        if k < n:
            rows.append(EnoughRow(_places(k + 1, n), False, "not yet", " ".join(_settling(summary, noun))))
    kinds = {"raters": "raters", "comparisons": plural(answer(summary.opinions)), "samples": plural(noun)}
    for curve in summary.adequacy:
        if len([mean for mean in curve.mean if mean is not None]) < 2:
            continue
        what, steady = kinds[curve.resource].capitalize(), curve.steady is not None
        fewer = f"fewer {what.lower()} often give another order"
        parts = f"{curve.steady:,} of {curve.sizes[-1]:,} give nearly the same order" if curve.steady else fewer
        rows.append(EnoughRow(what, steady, "steady" if steady else "not steady", parts, of_parts=True))
    if summary.fragile is not None and not summary.shares_first:
        rows.append(EnoughRow("What first place depends on", None, "", fragile(summary, noun)))
    return rows


def _places(first: int, last: int) -> str:
    return f"Place {first}" if first == last else f"Places {first} to {last}"


class FirstPlace(Protocol):
    """Figures of a study on its first place, in a summary or on a board."""

    @property
    def fragile(self) -> Fragile | None: ...
    @property
    def answers(self) -> int: ...
    @property
    def raters_counted(self) -> int: ...
    @property
    def samples_counted(self) -> int: ...


def fragile(summary: FirstPlace, noun: str = NOUN) -> str:
    """Sentence on what first place depends on; `noun` is the name of what counts as a sample."""
    found = summary.fragile
    if found is None:
        return ""
    parts = [
        (found.answers, summary.answers, "answer"),
        (found.raters, summary.raters_counted, "rater"),
        (found.samples, summary.samples_counted, noun),
    ]
    lines = [f"{n:,} of {counted(total, what)}" for n, total, what in parts if n]
    if not lines:
        return f"The search found no way to change first place by leaving out up to half of the answers, raters or {plural(noun)}."
    return f"Leaving out {names(lines, 'or')} is enough to change first place."


def interim_analyses(found: InterimAnalyses | None) -> str:
    """Sentence on the planned looks of a study so far: settled or not, at which look, and where the next one is; empty without any."""
    if found is None:
        return ""
    of, last = f"of {found.planned} planned {plural('look', found.planned)} at first place", found.last
    if last is not None and last.settled:
        by = f"after {counted(last.answers, 'answer')} of {people(last.raters)} on {counted(last.samples, found.noun)}"
        return (
            f"Settled: {last.first} is first, at look {last.number} {of}, {by}. If all entries were equal, the planned looks together "
            "would still name a first one in about 5 of 100 studies."
        )
    if last is not None:
        untold = "nobody had preferred any entry"
        if last.first:
            untold = f"{last.first} led, tied with {names(last.not_told_from_first)}"
        if last.number >= found.planned:
            return f"Not settled: when all {last.answers:,} planned answers were in, {untold}."
        said = f"Not settled at look {last.number} {of}, after {counted(last.answers, 'answer')}: {untold}."
    else:
        said = f"Not settled: none {of} has been taken."
    if found.closed:
        return f"{said} The study was closed before the last look."
    least = f"{RATERS_FOR_LOOK} raters on {ITEMS_FOR_LOOK} {plural(found.noun)}"
    if found.so_far is not None and found.so_far >= found.due:  # of too few raters, or on too few items
        return f"{said} {found.so_far:,} answers count so far. The next look waits until they come from at least {least}."
    so_far = "" if found.so_far is None else f", and {found.so_far:,} count so far"
    return f"{said} The next look is due at {found.due:,} answers from at least {least}{so_far}."


def forecast(summary: Summary, title: str, noun: str = NOUN) -> str:
    """Words on how much surer the first metric's figure would be: `±6 now; 10 more items: ±5`."""
    found, noun = summary.forecast, sampled_noun(noun, summary.unsampled)
    if found is None:
        return ""
    votes = plural(decision(summary.opinions))
    parts = [(found.answers, f"{votes} by these raters"), (found.raters, "raters"), (found.samples, plural(noun))]
    more = "; ".join(f"{n:,} more {what}: ±{_points(half)}" for (n, half), what in parts)
    helps = {"answers": votes, "raters": "raters", "samples": plural(noun)}[found.helps]
    return (
        f"{title}'s agreement with people is now known to about ±{_points(found.now)} of 100 comparisons. {more}. More {helps} help most."
    )


def _points(half: float) -> str:
    return f"{100 * half:.0f}" if half >= 0.01 else "<1"


def rough(summary: Summary, noun: str = NOUN) -> str:
    """Sentence beside intervals of few raters or items, which are called `noun`."""
    if summary.reason is not None:
        return ""
    return sentenced(people_words.rough(summary.raters_counted, summary.samples_counted, sampled_noun(noun, summary.unsampled)))


# --- two entries


def asked_about(first: str, ends: Ends) -> str:
    """Sentence on the share of people, asked about these two entries, who preferred the first."""
    value, low, high = ends
    return "" if value is None else f"Asked about these two, {share(value)} of 100 prefer {first} {interval(low, high)}".rstrip() + "."


def _pair_of(summary: Summary, a: str, b: str) -> EntryPair | None:
    return next((pair for pair in summary.entry_pairs if {pair.first, pair.second} == {a, b}), None)


def pair(summary: Summary, a: str, b: str, noun: str = NOUN) -> Statement:
    """Statement on people's preference between two entries: the study calls them `a` and `b`, the page A and B. `noun` names an item."""
    pair = _pair_of(summary, a, b)
    noun = sampled_noun(noun, summary.unsampled)
    if summary.reason is not None:
        return _instead(summary.reason, noun)
    if pair is None:
        return claim(EARLY, "No answer that counts compares these two entries.")
    value, low, high = pair.value
    if value is None or pair.p_holm is None:
        return claim(EARLY, f"Too few raters answered about one of these entries, or about too few {plural(noun)}.")
    even = 0.0 if summary.opinions else 0.5
    first, second = ("A", "B") if pair.first == a else ("B", "A")
    if summary.opinions:
        both = f"{value:.2f}" == "0.00" and not (low or 0.0) > 0
        higher = f"Raters score {first} {number(value, 2)} points higher than {second}"
        figure = "Raters score both alike, 0.00 points apart" if both else higher
        figure = f"{figure} {interval(low, high, 2)}".rstrip()
        known = f"{pair.answers:,} times one rater scored both"
    elif pair.asked is not None:
        # Of these two alone: their own share, its interval, and the verdict by that.
        value, low, high = pair.asked
        # At exactly one half the first by name, as everywhere.
        if value is not None and (value < 0.5 or (value == 0.5 and pair.second < pair.first)):
            first, value, low, high = second, 1 - value, None if high is None else 1 - high, None if low is None else 1 - low
        figure = asked_about(first, (value, low, high)).rstrip(".")
        known = f"{answers(pair.answers, False)} on this pair"
    else:
        of = f"{share(value)} of 100 comparisons {interval(low, high)}".rstrip()
        figure = f"People would pick {first} in {of}, inferred from other pairs"
        known = f"{answers(pair.answers, False)} on this pair"
    if low is None:
        figure += f", the same with every rater and every {noun}, so it has no interval"
        said = "The certainty of people's preference is unknown."
    elif low > even:
        said = f"People prefer {first}."
    else:
        said = "With people, these two entries are tied."
    sampled = counted(summary.samples_counted, noun)
    return claim(said, f"{figure}: {known}, {people(summary.raters_counted)} and {sampled} in all.")


def pair_brief(summary: Summary, a: str, b: str) -> str:
    """Brief sentence on how often people picked `a`, or would pick it if too few were asked about these two, with its interval and the
    answers on the pair. For opinion scores it says by how much people score `a` higher. Empty without an interval."""
    pair = _pair_of(summary, a, b)
    value, low, high = (pair.asked or pair.value) if pair is not None else (None, None, None)
    if pair is None or value is None or low is None or high is None:
        return ""
    if summary.opinions:
        value, low, high = (value, low, high) if pair.first == a else (-value, -high, -low)
        return f"{value:+.2f} [{low:+.2f}, {high:+.2f}], n {pair.answers:,}".replace("-", "−")
    value, low, high = (value, low, high) if pair.first == a else (1 - value, 1 - high, 1 - low)
    return f"{share(value)} of 100 {interval(low, high)}, n {pair.answers:,}"


# --- the raters


def reliability(summary: Summary) -> str:
    """In brief, how reliable the raters are: on comparisons of known order, when asked again, and how many were left out."""
    parts = []
    found = summary.reliability
    for figure, what in ((found.gold, "right on the known comparisons"), (found.self_consistency, "the same when asked again")):
        if figure is not None and figure.low is not None and not too_few(summary.reason):
            parts.append(f"{share(figure.value)} % {interval(figure.low, figure.high)} {what}, n {figure.n:,}")
    if summary.screening:
        parts.append(f"{len(summary.screened)} left out" if summary.screened else "nobody left out")
    return "; ".join(parts)


def judges(n: int, passed: int | None) -> str:
    """In brief, how many judge models answered, and how many of the tested ones may replace a rater."""
    return f"{n}" if passed is None else f"{n}; {passed or 'none'} may replace a rater"


def covariates(summary: Summary) -> list[str]:
    """Sentences on the effects of texture and size on people's preference; none where there are too few answers."""
    who = {"texture": "Textured entries", "size": "Entries twice as large"}
    known = [one for model in summary.models for one in model.covariates if one.share_low is not None and one.name in who]
    return [
        f"{who[one.name]} win {share(one.share)} % {interval(one.share_low, one.share_high)} of comparisons with otherwise equal entries."
        for one in known
    ]


def left_out(summary: Summary) -> list[str]:
    """Sentences on what the models of people's preferences leave out, part by part."""
    return [note for model in summary.models for note in notes(model.omitted, model.prior)]


def two_raters(summary: Summary, noun: Noun = NOUN) -> str:
    """Sentences on how often two raters agree, which a metric can be compared with, or on what keeps that from being known."""
    best = summary.ceiling
    if best is None:
        return "No comparison was decided by two raters, so it is not known how often another rater would agree."
    if too_few(best.two_people.reason):
        why = sentence(best.two_people.reason, UNSAMPLED if summary.unsampled else noun)
        return f"How often another rater agrees is not known: too few comparisons were decided by two raters. {why}"
    value, low, high = best.two_people.ends
    figure = f"{share(value)} {interval(low, high)}".rstrip()
    words = f"Two raters agree on {figure} of 100 comparisons in which both named a winner ({counted(best.n, decision(summary.opinions))})."
    if low is None:  # not that all say the same
        words += " The figure is the same for all raters, so it has no interval."
    if value is not None and (value if low is None else low) <= 0.5:
        words += " The two are not shown to agree better than chance, so there may be no common preference that a metric could follow."
    return words


def apart(it: Apart, noun: Noun = NOUN) -> str:
    """Words over entries that are listed apart from those before them."""
    if it is Apart.UNMET:
        return "People compared these entries with none of the entries above."
    return f"These entries were compared by too few raters, or on too few {plural(named(noun))}, to have a place:"


def against(it: EntryRow) -> str:
    """Metrics that put an entry before one that people prefer; empty where none does."""
    return "; ".join(f"{metric} puts this entry before {entry}" for metric, entry in it.against)


def rater_groups(summary: Summary, noun: str = NOUN) -> str:
    """Sentence on groups of raters who agree with each other; empty where a test shows no more than one."""
    found = summary.rater_groups
    if found is None:
        return ""
    p = "< .001" if found.p < 0.001 else f"= {found.p:.3f}".replace("0.", ".")
    return (
        f"There are {len(found.sizes)} rater groups, of {names([str(n) for n in found.sizes])} raters. Two raters of one group agree on "
        f"{share(found.within)} of 100 comparisons, two of different groups on {share(found.between)}. A permutation test on "
        f"{plural(noun)} that were not used to find the groups gives p {p}."
    )


def sides(summary: Summary) -> list[str]:
    """Sentences on how often the left one of two equal entries is picked, with its interval; none where there is no interval."""
    said = []
    for model in summary.models:
        ends = [] if model.side is None else [share_of(end, model.nu) for end in model.side if end is not None]
        if len(ends) == 3:
            share_left = f"{share(ends[0])} of 100 comparisons {interval(ends[1], ends[2])}"
            said.append(f"Side: of two equal entries the left one is picked in {share_left}.")
    return said

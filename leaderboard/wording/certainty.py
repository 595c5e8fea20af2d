"""Sentences on the certainty of a board's ranks, for its pages, an entry's page and a comparison. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leaderboard.records.board import Board, Ranks
from leaderboard.records.cell import Untested
from leaderboard.records.claim import FirstPlace
from leaderboard.records.unit import Unit
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL, GROUPS_FOR_RARE_FAILURES
from leaderboard.stats.overall import FIRST as OVERALL_FIRST
from leaderboard.stats.uncertainty import ALPHA, FIRST, RULE, Interval
from leaderboard.wording.figures import share
from leaderboard.wording.nouns import counted, plural, verb
from leaderboard.wording.statement import Statement, name, person

RANGES = "95 % ranges of the ranks, for all entries at once"
SENTENCES = {
    "pm": "±: 95 % interval of the value, over {n} {items}.",
    "pm_own": "±: 95 % interval of the value, over the {items} that it has.",
    "few": "{n} {items}: too few for intervals, brackets and ranges of ranks. At least {least} are needed.",
    "few_of": "{metric} has values on {n} {items}: too few for brackets and ranges of ranks in this order. At least {least} are needed.",
    "alike_within": "The {items} of one {unit} are alike, so more {items} do not replace another {unit}.",
    "rare": "With fewer than {least_rare} {items}, the interval cannot account for rare failures.",
    "alike": "the value is the same on all {n} {items}, and up to {x} % of further {items} may have another (95 % confidence)",
    "bracket": "Bracket: each of its entries is tied with the entry at its top. Entries of different brackets can be tied too; the page "
    "Compare tests two entries.",
    "claim": "The entries at the tops of different brackets differ significantly (95 % confidence over all pairs).",
    "loose": "Dashed beside an entry: it is tied with the top entry of a higher bracket, too.",
    "ranks": "Small numbers under a rank: its 95 % range, for all entries at once.",
    "alone": "95 % range of its rank: {a} to {b} for this entry alone, {c} to {d} for all entries at once.",
    "first": "Only the first {most} entries are tested against each other.",
    "partial": "{ranks} compare means over different {items}: the entries have values on {counts} of {n} {items}. A mean over easier "
    "{items} is better for that reason alone.",
    "lacks": "Not tested: this entry lacks {items} that most other entries have.",
    "better": "{better} is better: p {p} for this pair alone.",
    "not_apart": "A and B are tied: p {p}.",
    "board_pair": "Corrected for all pairs of this leaderboard: p {p}, {verdict}.",
    "shape": "The test assumes that gains and losses are distributed alike. Rare failures break this assumption.",
    "overall": "Bracket: each of its entries is tied with the entry at its top by this ranking rule.",
    "fixed": "{metric} has no values per {item}, so its order is used without a test.",
    "before": "This ranking was made by an earlier rule. Its tests tried fewer combinations of signs and depended on the order of the "
    "{items}. Equal entries shared the better rank.",
    "bootstrap": "This ranking was made by the earlier rule: intervals, brackets and ranges of ranks are percentile bootstraps over {n} "
    "{items}. Such intervals are too narrow, the more so the fewer {items} there are.",
    "ranks_before": "These ranks were made by the earlier rule. Its ranges of ranks are percentile bootstraps and too narrow.",
}


def few(n: int, unit: Unit) -> str:
    """Sentence that so many units are too few; where they are groups of items, that more items of one would not help."""
    words = SENTENCES["few"].format(n=n, items=plural(unit.noun, n), least=GROUPS_FOR_BOARD_INTERVAL)
    return f"{words} {SENTENCES['alike_within'].format(items=plural(unit.inner), unit=unit.noun)}" if unit.inner else words


def alike(n: int, noun: str) -> str:
    """Words on equal values: the largest share of other values that would be missed in n items with a probability of 5 %."""
    return SENTENCES["alike"].format(n=n, items=plural(noun), x=share(1 - ALPHA ** (1 / n)))


def p_words(p: float) -> str:
    """A p of a test; one above 5 % is not written as 5 %."""
    text = "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
    return f">{text}" if p > ALPHA and text == "0.050" else text


def board_pair(p: float | None) -> str:
    """Result of the board's test of all pairs for one pair; empty where the two are not tested."""
    return "" if p is None else SENTENCES["board_pair"].format(p=p_words(p), verdict="significantly different" if p <= ALPHA else "tied")


def before(board: Board) -> str:
    """The earlier rule by which a ranking was made; empty for today's rule, and for imported figures, which have neither."""
    if board.uncertainty == RULE or board.imported:
        return ""
    unit = board.unit
    return SENTENCES["bootstrap" if board.uncertainty == 1 else "before"].format(n=unit.n, items=plural(unit.noun, unit.n))


def foot(board: Board, standing: Ranks) -> list[str]:
    """Sentences under a current board whose first column shows the ranks of `standing`, a metric or the overall order."""
    if board.uncertainty == 1 or (board.imported and not board.n_items):
        return []
    unit = board.unit
    names = {"n": unit.n, "item": unit.noun, "items": plural(unit.noun), "least_rare": GROUPS_FOR_RARE_FAILURES}
    if unit.n < GROUPS_FOR_BOARD_INTERVAL:
        return [few(unit.n, unit)]
    by_rule = standing is board.overall and board.overall.rule != "primary"
    has_brackets = any(standing.group)
    counts = {n for metric in board.metrics for n, low in zip(metric.n, metric.ci_low, strict=True) if low is not None}
    keys = {
        "pm": counts == {unit.n},
        "pm_own": bool(counts - {unit.n}),
        "rare": unit.n < GROUPS_FOR_RARE_FAILURES,
        "overall": has_brackets and by_rule,
        "bracket": has_brackets and not by_rule,
        "claim": len({*filter(None, standing.group)}) > 1,
        "loose": has_brackets and any(standing.loose),
        "ranks": has_brackets,
        "first": "first" in standing.untested,
    }
    said = [key for key, is_said in keys.items() if is_said]
    sentences = [SENTENCES[key].format(**names, most=OVERALL_FIRST if by_rule else FIRST) for key in said]
    titles = {metric.slug: metric.title for metric in board.metrics}
    fixed = board.overall.fixed if standing is board.overall else []
    sentences += [SENTENCES["fixed"].format(metric=titles[slug], item=unit.noun) for slug in fixed]
    if not has_brackets:
        sentences += _few_of(board, standing, fixed)
    return sentences


def partial(board: Board, standing: Ranks) -> str:
    """Sentence on a column of imported values in which entries lack items, empty for others. An item that an entry of this service lacks
    gets the worst value instead."""
    column = next((metric for metric in board.metrics if metric is standing), board.primary) if board.imported else None
    ranked = [n for n, rank in enumerate(standing.rank) if rank is not None] if column is not None else []
    counts = [column.n[n] for n in ranked] if column is not None else []
    if not any(n < board.unit.n for n in counts):
        return ""
    least, most, tested = min(counts), max(counts), [n for n in ranked if standing.rank_low[n] is not None]
    if least == most and (tested == ranked or most < GROUPS_FOR_BOARD_INTERVAL):
        return ""  # entries that are all tested have the same items
    span = f"{least} to {most}" if least < most else f"{most}"
    ranks = "These ranks" if tested else "These ranks are not tested. They"
    return SENTENCES["partial"].format(ranks=ranks, counts=span, n=board.unit.n, items=plural(board.unit.noun))


def _few_of(board: Board, standing: Ranks, fixed: Sequence[str]) -> Iterator[str]:
    """Sentences on metrics that an order rests on and that have values on fewer units than the board has."""
    used = [metric for metric in board.metrics if metric.slug in board.overall.metrics and metric.slug not in fixed]
    for metric in used if standing is board.overall else [metric for metric in board.metrics if metric is standing]:
        n = max(metric.n, default=0)
        if 1 < n < GROUPS_FOR_BOARD_INTERVAL:
            yield SENTENCES["few_of"].format(metric=metric.title, n=n, items=plural(board.unit.noun), least=GROUPS_FOR_BOARD_INTERVAL)


def not_tested(n: int) -> str:
    """Clause on entries that are not tested: `1 entry is not tested`."""
    return f"{counted(n, 'entry')} {verb('is', n)} not tested"


def first_place(board: Board) -> Statement:
    """Statement on how many others may be first, of the entries that have a range: an entry that is not tested, or withheld since, has
    none. It is empty where the first entry has none."""
    overall, found = board.overall, FirstPlace.by_metrics(board.overall)
    if found is None:
        return Statement()
    first, n = name(board.entries[found.level[0]].name), sum(low is not None for low in overall.rank_low)
    of, with_range = (f"Of the {n:,} entries with a range, only ", " with a range") if n < overall.n_ranked else ("Only ", "")
    too = f"{counted(len(found.open), 'other entry')} may be first too" if found.open else f"No other entry{with_range} may be first"
    rest = f" ({RANGES}).{f' {not_tested(found.untested)}.' if found.untested else ''}"
    if len(found.level) > 1:
        return Statement.of(f"{len(found.level)} entries share first place.{f' {too}{rest}' if found.open or found.behind else ''}")
    if found.open:
        return Statement.of(first, f" is first. {too}{rest}")
    if found.low_end:
        return Statement.of(first, f" is first, but its rank may be as low as {found.low_end}{rest}")
    return Statement.of(of, first, f" may be first{rest}")


def leads(board: Board, standing: Ranks) -> Statement:
    """Statement on how often each of the first entries leads on half of the items, by the metric that the board is ranked by, else by
    the primary metric. It is empty where the shares are not known."""
    sorted_by = next((metric for metric in board.metrics if metric is standing and metric.leads is not None), None)
    metric = sorted_by or board.primary
    if metric is None or not metric.leads:
        return Statement()
    (first, most), *rest = ((name(board.entries[index].name), share(of_halves)) for index, of_halves in metric.leads)
    then = [part for entry, also in rest for part in (", ", entry, f" on {also} %")]
    among = " and among the tested entries" if any(metric.untested) else ""
    halves = f"random halves of the {plural(board.resampled)}"
    return Statement.of(
        f"By {metric.title}{among}, ",
        first,
        f" leads on {most} % of {halves}",
        *then,
        ". Such a share is not the probability of being best.",
    )


def peoples_first(entry: str, low_end: int, settled: bool) -> Statement:
    """Statement on first place with people. `low_end` is the last place of its range, which is 1 if first place is settled or unknown."""
    if low_end > 1:
        return Statement.of(
            "By people's answers, ", person(entry), f" leads, but first place is not settled (95 % range of its place: 1 to {low_end})."
        )
    return Statement.of(
        "People put ", person(entry), " first, and no other entry may be first (95 % confidence)." if settled else " first."
    )


def alone(own: Interval, low: int, high: int) -> str:
    """Sentence on the ranges of one entry's rank: for this entry alone, and for all entries at once."""
    return SENTENCES["alone"].format(a=own[0], b=own[1], c=low, d=high)


def untested(it: Untested | None) -> str:
    """Reason why an entry has no rank interval where others have one; empty where it has, or none has."""
    return "" if it is None else SENTENCES["lacks" if it.lacks else "first"].format(items=plural(it.noun), most=it.most)


def of_values(unit: Unit, equal: Sequence[tuple[str, int]]) -> list[str]:
    """Sentences under the scores of one entry over these units. `equal` has the titles of metrics whose values are all
    equal, each with the number of its values."""
    if unit.n < GROUPS_FOR_BOARD_INTERVAL:
        return [few(unit.n, unit)]
    keys = ["pm", *(["rare"] if unit.n < GROUPS_FOR_RARE_FAILURES else [])]
    sentences = [SENTENCES[key].format(n=unit.n, items=plural(unit.noun), least_rare=GROUPS_FOR_RARE_FAILURES) for key in keys]
    by_count: dict[int, list[str]] = {}
    for title, count in equal:
        by_count.setdefault(count, []).append(title)
    return sentences + [f"{', '.join(titles)}: {alike(count, unit.noun)}." for count, titles in by_count.items()]

"""An entry as its page reads it: its place in a sentence, where each of its scores lies among all entries, and why it has no rank.

Everything is said from a ranking as it stands, so nothing is told of an entry that the board does not tell: beyond chance means by the
board's test of all pairs, people's figures are those of the board, and where there is no figure there is no sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.people import of_board
from leaderboard.boards.rows import WAITING, Cell, cell, place_of, position, rule_words
from leaderboard.records.board import PEOPLE, Board, MetricColumn
from leaderboard.stats.uncertainty import ALPHA
from leaderboard.wording.nouns import answers, listed, of_scale
from leaderboard.wording.people import basis as basis_words
from leaderboard.wording.people import rough_on_board
from leaderboard.wording.ranks import ordinal, span
from leaderboard.wording.ranks import place as place_words

NAMED = 3  # entries that a sentence names; of more it gives the number
STEPS = 200  # of a strip: entries nearer to each other than one share a tick


@dataclass(frozen=True)
class Reading:
    """`rank` opens the sentence and `people` the one about people, each empty where nothing can be said; what follows them stands in
    `by_metrics` (of an entry without a rank: why it has none) and `by_people`. `extremes` says in which metric it does best and worst."""

    rank: str
    by_metrics: str
    people: str = ""
    by_people: str = ""
    people_basis: str = ""
    extremes: str = ""
    people_first: bool = False

    @property
    def brief(self) -> str:
        """All of it as one plain text, for cards and descriptions."""
        said = (f"{self.rank}{self.by_metrics}", f"{self.people}{self.by_people}", self.extremes)
        return " ".join(part for part in said if part)


def reading(board: Board, index: int) -> Reading:
    """The place of the entry that stands at `index` in the ranking's lists."""
    overall = board.overall
    rank, low, high = overall.rank[index], overall.rank_low[index], overall.rank_high[index]
    people, by_people, basis, is_first = _people(board, index)
    if rank is None:
        return Reading("", unranked(board, index), people, by_people, basis, "", is_first)
    ranked = [n for n, place in enumerate(overall.rank) if place is not None]
    level = sum(overall.rank[n] == rank for n in ranked) - 1
    words = f"Rank {rank} of {len(ranked)}"
    if level:
        words += f", level with {level} other{'' if level == 1 else 's'}"

    # Whom the order keeps it apart from; by what it goes alone, where that is not tested.
    by = f" by {rule_words(board)}"
    if low is not None and high is not None and len(ranked) > 1:
        ahead, behind = low - 1, len(ranked) - high
        close = len(ranked) - 1 - ahead - behind
        parts = []
        if behind:
            parts.append(f"significantly ahead of {behind}")
        if ahead:
            parts.append(f"significantly behind {ahead}")
        if close:
            # Named where one metric decides the order and tells it from nobody else.
            deciding = board.column(overall.metrics[0]) if overall.rule == "primary" and overall.metrics else None
            named = [] if deciding is None else [board.entries[n].name for n in close_to(deciding, index)]
            who = listed(named) if len(named) == close <= NAMED else f"{close} other{'' if close == 1 else 's'}"
            parts.append(f"tied with {who}")
        by += f": {', '.join(parts)}"

    # In which metrics it stands best and worst, where their rank intervals do not touch.
    places = [
        (place, place_low, place_high, metric.title)
        for metric in board.metrics
        if (place := metric.rank[index]) is not None
        and (place_low := metric.rank_low[index]) is not None
        and (place_high := metric.rank_high[index]) is not None
    ]
    extremes = ""
    if len(places) > 1:
        best, worst = min(place for place, *_ in places), max(place for place, *_ in places)
        top, bottom = [one for one in places if one[0] == best], [one for one in places if one[0] == worst]
        if max(end for _, _, end, _ in top) < min(end for _, end, _, _ in bottom):
            names = [listed([title for *_, title in some[:NAMED]]) for some in (top, bottom)]
            extremes = f"Strongest: {names[0]} ({ordinal(best)}). Weakest: {names[1]} ({ordinal(worst)})."
    return Reading(words, f"{by}.", people, by_people, basis, extremes, is_first)


def close_to(column: MetricColumn, index: int) -> list[int]:
    """Entries that the board's test of all pairs does not tell from one, best first; those that are not tested are none of them."""
    found = []
    for other in column.order:
        p = column.pair_p(index, other)
        if p is not None and p > ALPHA:
            found.append(other)
    return found


def _some(board: Board, indices: Sequence[int], of: int | None = None) -> str:
    """These entries by their names; of more than a sentence names, their number, `of` so many where that is given."""
    if len(indices) <= NAMED:
        return listed([board.entries[n].name for n in indices])
    return f"{len(indices)} others" if of is None else f"{len(indices)} of {of} others" if len(indices) < of else f"all {of} others"


def _people(board: Board, index: int) -> tuple[str, str, str, bool]:
    """(the head of the sentence about people, its rest, what it rests on, whether they put it first); empty where they did not judge
    it, or too few did for a figure."""
    nothing = ("", "", "", False)
    people = of_board(board)
    if people is None or people.found.people < 2:
        return nothing
    column = people.column(board)
    if column is None or column.value[index] is None:
        return nothing
    shown, place = cell(column, index), column.rank[index]
    found = people.found
    low, high = found.low[index], found.high[index]
    if low is None or high is None:
        return nothing  # of published means nothing is known but the number, which stands in its line below
    n_judged = sum(rank is not None for rank in column.rank)
    theirs = people.first_place(board)
    level = [n for n in theirs.level if n != index] if theirs is not None else []
    if place is None or (place == 1 and theirs is None):  # who was first is withheld since: this one is not known to be
        head = "People judged it"
    elif place == 1:
        ranked = " of those that hold a rank" if people.unplaced_before(board) else ""
        head = f"People put it first{ranked}" + (f", level with {_some(board, level)}" if level else "")
    else:
        head = f"People put it {place_words(place_of(board, column, index))} of {n_judged}"
    if people.opinions:
        rest = f": {shown.text} {of_scale(people.basis.scale)} on average [{low:.2f}, {high:.2f}]"
    else:
        rest = f": it wins {shown.text} of its comparisons [{round(100 * low)}, {round(100 * high)}]"
    if place == 1 and theirs is not None and theirs.open:
        who = _some(board, theirs.open, len(theirs.open) + len(theirs.behind))
        rest += f"; {who} may be first too" if theirs.tested else f"; they do not tell it from {who}"
    elif place is not None and place > 1 and theirs is not None:
        against = found.over[index] if found.over else None
        if theirs.tested or (against is not None and against.p_holm is not None):
            rest += f", {'tied with' if index in theirs.open else 'behind'} their first, {_some(board, theirs.level)}"
    n = found.n[index]
    basis = basis_words(people.basis)
    basis = f"{answers(n, people.opinions)} of it, {basis} in all" if n else basis
    rough = rough_on_board(found, people.noun)
    basis += f"; {rough}" if rough else ""
    return head, f"{rest}.", basis, place == 1 and theirs is not None


# --- why it has none


def unranked(board: Board, index: int) -> str:
    """Reason why an entry of the ranking has no rank, in a sentence; empty where it has one."""
    overall, entry = board.overall, board.entries[index]
    if overall.rank[index] is not None:
        return ""
    if entry.state == WAITING:
        return "It waits for a re-evaluation: a metric that decides the order has a newer version, and no score of this entry yet."
    if entry.state:
        return f"It is {entry.state}, which the public is not told, and counts for no rank."
    if entry.late:
        return "It was received after the board was frozen, and has no rank until the freeze is lifted."
    if entry.baseline:
        return "It is a baseline: baselines are shown among the entries and hold no rank."
    if overall.problem:
        return f"There is no overall rank here: {overall.problem}."
    return overall.explanation[index] or "It has no value in a metric that decides the order."


# --- where its scores lie


@dataclass(frozen=True)
class Strip:
    """One score of an entry among those of all: better stands to the right, places are percentages. `ticks` is the path of an SVG of
    100 by 14 with a line for each entry; `left` and `width` are the interval's. `note` is what may be said of it."""

    slug: str
    key: str
    title: str
    higher_is_better: bool
    unit: str
    shown: Cell
    ticks: str
    n: int
    dot: float
    left: float
    width: float
    place: str
    ranks: str
    note: str
    is_people: bool = False


def strips(board: Board, index: int) -> list[Strip]:
    """People's line first, then each metric's in the board's order; none for what the entry has no value in."""
    people = of_board(board)
    people_column = people.column(board) if people else None
    found = []
    for column in [people_column, *board.metrics] if people_column is not None else board.metrics:
        own, higher = column.value[index], column.higher_is_better
        if own is None:
            continue
        low, high = column.interval(index)
        values = [value for value in column.value if value is not None]
        inner = [value for value in values if column.scale[0] <= value <= column.scale[1]]
        ends = [*inner, own, *(end for end in (low, high) if end is not None)]
        scale = (min(ends), max(ends))
        others = {_place(scale, value, higher, STEPS) for n, value in enumerate(column.value) if value is not None and n != index}
        left = width = 0.0
        if low is not None and high is not None:
            start, stop = sorted(_place(scale, end, higher) for end in (low, high))
            left, width = start, round(stop - start, 1)
        rank, is_people = column.rank[index], column.slug == PEOPLE
        ranks = span(column.rank_low[index], column.rank_high[index])
        found.append(
            Strip(
                slug=column.slug,
                key=column.key,
                title=column.title,
                higher_is_better=higher,
                unit=column.unit,
                shown=cell(column, index, board.resampled),
                ticks="".join(f"M{place:g} 0V14" for place in sorted(others)),
                n=len(values),
                dot=_place(scale, own, higher),
                left=left,
                width=width,
                place=place_words(place_of(board, column, index)) if is_people else ordinal(rank) if rank is not None else "",
                ranks=ranks if "–" in ranks else "",
                note=_note(board, column, index) if not is_people else "comparisons won; 50 % is even" if column.percent else "",
                is_people=is_people,
            )
        )
    return found


def _place(scale: tuple[float, float], value: float, higher_is_better: bool, steps: int = 1000) -> float:
    """Position of a value, in percent from the worst to the best, in whole steps."""
    share = position(scale, value)
    return round(round((share if higher_is_better else 100 - share) * steps / 100) * 100 / steps, 1)


def _note(board: Board, column: MetricColumn, index: int) -> str:
    """The distance to the first, or from the first to those near it, as far as it may be said."""
    rank = column.rank[index]
    if not column.may_rank:
        return "shown, not ranked"
    if rank is None:
        return ""
    first = next((n for n in column.order if column.rank[n] == 1), None)
    if first is None:
        return ""
    close = close_to(column, index)
    if rank == 1:
        names = [board.entries[n].name for n in close]
        who = listed(names) if 0 < len(names) <= 2 else f"{names[0]} and {len(names) - 1} others" if names else ""
        return f"tied with {who}" if who else ""
    mine, theirs = column.value[index], column.value[first]
    if mine is None or theirs is None:
        return ""
    words = f"{'+' if mine > theirs else '−'}{abs(mine - theirs):.3g} to the first"
    if first in close:
        words += ", tied"
    return words


# --- beside the one above


def above(board: Board, index: int) -> int | None:
    """The entry that stands right above one in the overall order; None for the first, and for one without a rank."""
    overall = board.overall
    rank = overall.rank[index]
    if rank is None or rank == 1:
        return None
    higher = [n for n in overall.order if (place := overall.rank[n]) is not None and place < rank]
    return higher[-1] if higher else None

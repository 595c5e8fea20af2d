"""The order of work: every team has the same share of the workers, and short work comes before long work.

Self-clocked fair queueing (Golestani 1994). The clock counts the work that each waiting team has had. When a piece of work is sent, it gets
the moment on this clock at which it would be done if all waiting teams shared the workers equally. The piece with the earliest moment is
done first. The clock moves as work is done, so later work gets later moments, and no long piece waits for ever behind short ones. Beside
`turn`, rows have their `cost`: seconds of work, as far as is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from django.db.models import Count, Max, Q, QuerySet, Sum

from submissions import database_clock


def turns(clock: float, backlog: float, ahead: int, costs: Sequence[float]) -> list[float]:
    """The turns of an entry's pieces of so many seconds each.

    `backlog` is what waits of its team already, in seconds, and `ahead` the number of entries that is of. A team's entries come in the
    order in which they were sent, except for short ones beside the waiting work: the k-th entry gets a share of 1/k² of its own. So none
    waits longer than in the order of sending, and with all such shares (1 + 1/4 + 1/9 + …) a team gets at most 1.65 times what another
    gets.
    """
    weight, total = (ahead + 1) ** 2, sum(costs)
    overtakes = weight * total < backlog + total
    return [clock + (weight * done if overtakes else backlog + done) for done in accumulate(costs)]


def clock(open_: QuerySet, done: QuerySet) -> float:
    """Turn that the clock has reached: the least turn of work that is done now or could be, else the last turn of finished work. Rows that
    wait for something else than workers do not hold it."""
    at_hand = open_.filter(Q(lease_token__isnull=False) | Q(lease_until__isnull=True) | Q(lease_until__lte=database_clock.now()))
    first = at_hand.order_by("turn").values_list("turn", flat=True).first()
    return (done.order_by().aggregate(at=Max("turn"))["at"] or 0.0) if first is None else first


def backlog(own: QuerySet, entry: str) -> tuple[float, int]:
    """Seconds of a team's waiting rows, and of how many entries (as the column `entry` names them) they are."""
    found = own.order_by().aggregate(seconds=Sum("cost"), entries=Count(entry, distinct=True))
    return found["seconds"] or 0.0, found["entries"]

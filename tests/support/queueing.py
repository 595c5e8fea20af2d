"""Teams, entries and workers on paper: what waits how long under an order of parts. Seeded; nothing here is measured."""

from __future__ import annotations

import heapq
import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from submissions.fair_share import turns


@dataclass(eq=False)
class Piece:
    """One part: its team, when it was sent, the seconds that it takes, and what was known of them."""

    team: int
    entry: int
    sent: float
    seconds: float
    cost: float
    turn: float = 0.0
    begun: float = math.nan
    done: float = math.nan
    free_in: float = 0.0  # from when it was sent until the next worker had nothing to do
    fair: float = math.nan  # seconds from sending to the end, where teams share the workers equally


@dataclass
class Load:
    """Load of a queue: entries in the order in which they are sent."""

    entries: list[list[Piece]] = field(default_factory=list)

    @property
    def pieces(self) -> list[Piece]:
        return [piece for entry in self.entries for piece in entry]


# Parts and seconds of each, from and to: two pictures, a scene of them, five meshes with slow metrics.
SIZES = {"short": (2, 1.0, 3.0), "middle": (8, 4.0, 12.0), "long": (20, 30.0, 120.0)}


def fifty_teams(seed: int, workers: int = 4, hours: float = 3.0, load: float = 0.9, known: float = 0.5) -> Load:
    """Fifty teams over some hours, of which five send long entries several at a time; as much work as `load` times the workers
    can do. What is known of a part's seconds is off by a factor, log-normal with the deviation `known`."""
    rng = random.Random(seed)
    made: list[tuple[float, int, str]] = []
    work, most = 0.0, load * workers * hours * 3600
    while work < most:
        team = rng.randrange(50)
        size = "long" if team < 5 else rng.choices(("short", "middle", "long"), (6, 3, 0.3))[0]
        at = rng.uniform(0, hours * 3600)
        for _ in range(rng.randint(2, 5) if team < 5 else 1):
            made.append((at, team, size))
            n, low, high = SIZES[size]
            work += n * (low + high) / 2
    found = Load()
    for number, (at, team, size) in enumerate(sorted(made)):
        n, low, high = SIZES[size]
        entry = [Piece(team, number, at, seconds, 0.0) for seconds in (rng.uniform(low, high) for _ in range(n))]
        for piece in entry:
            piece.cost = piece.seconds * math.exp(rng.gauss(0, known))
        found.entries.append(entry)
    return found


def by_arrival(entry: Sequence[Piece], waiting: Sequence[Piece], clock: float) -> None:
    """The earlier order: the oldest entry first."""
    for piece in entry:
        piece.turn = float(entry[0].entry)


def by_turns(entry: Sequence[Piece], waiting: Sequence[Piece], clock: float) -> None:
    own = [piece for piece in waiting if piece.team == entry[0].team]
    ahead = len({piece.entry for piece in own})
    costs = [piece.cost for piece in entry]
    for piece, turn in zip(entry, turns(clock, sum(piece.cost for piece in own), ahead, costs), strict=True):
        piece.turn = turn


class Programs:
    """Work of metric programs that never ends, beside entries. A worker that is free asks for a `slice` of it."""

    def __init__(self) -> None:
        self.seconds = 0.0  # of all workers, by now

    def slice(self, worker: int, entries_wait: bool) -> float:
        """Seconds that the worker gives to programs now; 0 for none."""
        raise NotImplementedError

    def scored(self, worker: int, seconds: float) -> None:
        """The worker has done a part that took so long."""


class InTurn(Programs):
    """Metric programs as they were: after two seconds of parts a worker computes an entry of a study."""

    def __init__(self, seconds: float = 83.0) -> None:
        super().__init__()
        self._slice, self._parts = seconds, defaultdict[int, float](float)

    def slice(self, worker: int, entries_wait: bool) -> float:
        if entries_wait and self._parts[worker] <= 2.0:
            return 0.0
        self._parts[worker] = 0.0
        return self._slice

    def scored(self, worker: int, seconds: float) -> None:
        self._parts[worker] += seconds


class ByShare(Programs):
    """Metric programs as they are: each worker owes them a `share` of the seconds that it gives to parts, in slices of some seconds."""

    def __init__(self, share: float, seconds: float) -> None:
        super().__init__()
        self._share, self._slice, self._owed = share, seconds, defaultdict[int, float](float)

    def slice(self, worker: int, entries_wait: bool) -> float:
        if not entries_wait:
            return self._slice
        if self._owed[worker] < self._slice:
            return 0.0
        self._owed[worker] -= self._slice
        return self._slice

    def scored(self, worker: int, seconds: float) -> None:
        self._owed[worker] = min(self._slice, self._owed[worker] + self._share * seconds)


NO_PART = -1


def run(
    load: Load,
    workers: int,
    order: Callable[[Sequence[Piece], Sequence[Piece], float], None],
    programs: Programs | None = None,
) -> None:
    """Have the workers do it all: each takes the waiting part with the least turn, and keeps it to its end. With `programs`, a worker may
    do a slice of these first."""
    waiting: dict[int, Piece] = {}
    queue: list[tuple[float, int]] = []
    busy: list[tuple[float, int, int]] = []  # until when, with which part, and which worker
    free = list(range(workers))
    numbers: dict[int, Piece] = {}
    sent, last, now = list(load.entries), 0.0, 0.0
    while sent or queue or waiting:
        now = min(sent[0][0].sent if sent else math.inf, busy[0][0] if busy else math.inf)
        while busy and busy[0][0] <= now:
            _, number, worker = heapq.heappop(busy)
            free.append(worker)
            if number == NO_PART:
                continue
            waiting.pop(number)
            last = max(last, numbers[number].turn)
            if programs is not None:
                programs.scored(worker, numbers[number].seconds)
        while sent and sent[0][0].sent <= now:
            entry = sent.pop(0)
            order(entry, list(waiting.values()), min((piece.turn for piece in waiting.values()), default=last))
            for piece in entry:
                number = len(numbers)
                numbers[number] = waiting[number] = piece
                piece.free_in = max(0.0, busy[0][0] - now) if len(busy) == workers else 0.0
                heapq.heappush(queue, (piece.turn, number))
        while free and (queue or programs is not None):
            worker = free.pop()
            if programs is not None and (seconds := programs.slice(worker, bool(queue))):
                programs.seconds += seconds
                heapq.heappush(busy, (now + seconds, NO_PART, worker))
                continue
            _, number = heapq.heappop(queue)
            piece = numbers[number]
            piece.begun, piece.done = now, now + piece.seconds
            heapq.heappush(busy, (piece.done, number, worker))


def share_fairly(load: Load, workers: int) -> None:
    """Give each part its fair share: how long it takes where at every moment the teams with something to do share the workers
    equally, a team's parts come in the order of sending, and a part never has more than one worker."""
    left: dict[int, list[list]] = defaultdict(list)  # by team: [seconds left, part], the first first
    sent, now = list(load.entries), 0.0
    while sent or left:
        speed: dict[int, float] = {}
        room, teams = float(workers), sorted(left, key=lambda team: len(left[team]))
        for n, team in enumerate(teams):  # a team with fewer parts than its share leaves the rest to others
            speed[team] = min(room / (len(teams) - n), len(left[team]))
            room -= speed[team]
        step = sent[0][0].sent - now if sent else math.inf
        for team, rows in left.items():
            step = min(step, rows[0][0] / min(1.0, speed[team]))
        for team, rows in list(left.items()):
            given = speed[team]
            for row in rows:
                mine = min(1.0, given)
                row[0] -= mine * step
                given -= mine
                if given <= 0:
                    break
            for row in [row for row in rows if row[0] <= 1e-9]:
                row[1].fair = now + step - row[1].sent
                rows.remove(row)
            if not rows:
                del left[team]
        now += step
        while sent and sent[0][0].sent <= now:
            entry = sent.pop(0)
            left[entry[0].team] += [[piece.seconds, piece] for piece in entry]


@dataclass(frozen=True)
class Waiting:
    """Seconds from sending to the score, of entries; and of parts how many times their fair share, beside the time until a
    worker is free, they took at worst."""

    median: float
    p95: float
    worst: float
    short_median: float
    short_worst: float
    worst_ratio: float


def waiting(load: Load) -> Waiting:
    took = np.array([max(piece.done for piece in entry) - entry[0].sent for entry in load.entries])
    short = np.array([len(entry) == SIZES["short"][0] for entry in load.entries])
    ratios = [(piece.done - piece.sent) / (piece.fair + piece.free_in) for piece in load.pieces]
    return Waiting(
        float(np.median(took)),
        float(np.percentile(took, 95)),
        float(took.max()),
        float(np.median(took[short])),
        float(took[short].max()),
        max(ratios),
    )

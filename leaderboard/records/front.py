"""Summary of a board for lists of challenges, feeds and cards, as it is kept beside a snapshot. PURE."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass

from leaderboard.records.people import Basis
from leaderboard.records.record import Record
from leaderboard.stats.two_way_intervals import Ends

Place = tuple[int, int]  # with people, as its 95 % range: both ends are one where it is settled
STEP, TOP = 10.0, 9.0  # of the lines of a drawing, and where the first stands


class SlopeLine(Record):
    """One entry. `left` and `right` are heights in the drawing. `kind` is "metrics" or "people" for the entry that they put first (or first
    of two), "split" for the widest difference, else empty. `place` is its place with people."""

    id: int
    name: str
    left: float
    right: float
    kind: str
    place: Place | None


@dataclass(frozen=True)
class Split:
    """An entry that a metric contradicts people on, with the widest difference of its ranks: by that metric, and with people."""

    name: str
    metric: str
    rank: int
    place: Place


@dataclass(frozen=True)
class Slope:
    """The order by metrics beside that by people, as lines between two columns of dots: those with a name over the others."""

    lines: tuple[SlopeLine, ...]

    @property
    def height(self) -> float:
        return 2 * TOP + STEP * (len(self.lines) - 1) + 16


class Leader(Record):
    """One of the first entries, with its rank. `ranks` is the range of the rank, None if unknown. `place` is its place with people, None
    if nobody rated it. `against` is True if a metric contradicts people on it."""

    rank: int
    id: int
    name: str
    team: str
    ranks: Place | None = None
    place: Place | None = None
    against: bool = False


class Contradiction(Record):
    """Two entries that metrics put in one order and people significantly in the other. `ends` are how often people would pick theirs, with
    its interval (of opinion scores: by how many points); `basis` are the answers. `lines` draw the two orders of the entries that have
    both; `ids` are of all that it names."""

    ends: Ends
    basis: Basis
    simulated: bool
    lines: tuple[SlopeLine, ...] = ()
    ids: tuple[int, ...] = ()

    @property
    @abstractmethod
    def pair(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """(name, id) of the entry that the metrics put first of the two, and of the one that people prefer."""

    @property
    def slope(self) -> Slope | None:
        return Slope(self.lines) if self.lines else None

    def names(self, ids: Collection[int]) -> bool:
        """True if it names any of these entries."""
        named = {*self.ids, *(line.id for line in self.lines), *(pk for _, pk in self.pair)}
        return not named.isdisjoint(ids)


class Parted(Contradiction):
    """A first entry that people do not prefer: (name, id) of the metrics' first and of people's, which by the ranges of the metrics' order
    may be first there too if it is `open`."""

    metrics: tuple[str, int]
    people: tuple[str, int]
    imported: bool
    open: bool = False

    @property
    def pair(self) -> tuple[tuple[str, int], tuple[str, int]]:
        return self.metrics, self.people


class Turned(Contradiction):
    """A single metric that puts the first of two entries before the other, which people prefer: (name, id) of both, and a sample where it
    shows."""

    metric: str
    first: tuple[str, int]
    preferred: tuple[str, int]
    sample: str

    @property
    def pair(self) -> tuple[tuple[str, int], tuple[str, int]]:
        return self.first, self.preferred


class FirstByMeans(Record):
    """First entries where people's published means are all that is known, so that nothing is tested: (name, id) by the metrics and by the
    means. `rank` is the metrics' rank of the second. `lines` and `ids` are as in `Contradiction`."""

    metrics: tuple[str, int]
    people: tuple[str, int]
    rank: int | None
    lines: tuple[SlopeLine, ...]
    ids: tuple[int, ...]

    @property
    def slope(self) -> Slope | None:
        return Slope(self.lines) if self.lines else None


class Front(Record):
    """The first entry, whose fields come first, with its value in the primary metric and the value's interval. `top` are the first entries.
    `people` is None if nobody rated them."""

    id: int
    name: str
    team: str
    metric: str
    value: Ends
    bounds: tuple[float | None, float | None] = (None, None)  # of the metric
    decimals: int | None = None  # that the value was published with
    top: tuple[Leader, ...] = ()
    people: Basis | None = None
    parted: Parted | None = None
    level: int = 1  # entries that share first place
    open: int = 0  # others that may be first too, by the ranges of their ranks
    turned: Turned | None = None  # the surest of the contradictions
    people_simulated: bool = False
    by_means: FirstByMeans | None = None  # where the two firsts are different entries

    @property
    def has_places(self) -> bool:
        return any(one.place for one in self.top)

    def without(self, ids: Collection[int], people: bool = False) -> Front | None:
        """Nothing of these entries, and nothing of people where `people`; None where the first is one of them."""
        if self.id in ids:
            return None
        shown = (one for one in self.top if one.id not in ids)
        top = tuple(one.model_copy(update={"place": None, "against": False}) if people else one for one in shown)
        parted, turned = (None if one is None or people or one.names(ids) else one for one in (self.parted, self.turned))
        by_means = None if self.by_means is None or people or not set(ids).isdisjoint(self.by_means.ids) else self.by_means
        update = {"top": top, "people": None if people else self.people, "parted": parted, "turned": turned, "by_means": by_means}
        return self.model_copy(update=update | {"people_simulated": self.people_simulated and not people})

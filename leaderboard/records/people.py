"""Records of what people say beside a board and in studies. PURE."""

from __future__ import annotations

from leaderboard.records.record import Record


class Basis(Record):
    """Answers that figures of people are of: votes, ratings or published means, `n` of them by `raters`, which may not be known.
    Ratings and means are on `scale`, by its two ends."""

    of: str
    n: int
    raters: int | None
    scale: tuple[float, float] = (1.0, 5.0)

    @property
    def opinions(self) -> bool:
        return self.of != "votes"

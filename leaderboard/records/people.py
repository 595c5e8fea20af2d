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

    @property
    def unit(self) -> str:
        """Unit of mean scores: `of 5`, or `of -3 to 3` where the scale does not begin at 0 or 1; empty of votes."""
        low, high = self.scale
        return "" if not self.opinions else f"of {high:g}" if low in (0, 1) else f"of {low:g} to {high:g}"

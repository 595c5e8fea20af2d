"""Entries of a ranking that have no rank, or no range of ranks."""

from __future__ import annotations

from leaderboard.records.board import WAITING, Board, MetricColumn, Ranks
from leaderboard.records.cell import Untested
from leaderboard.records.entry_summary import NoRank, Unranked
from leaderboard.stats.overall import FIRST as OVERALL_FIRST
from leaderboard.stats.uncertainty import FIRST


def unranked(board: Board, ranks: Ranks, index: int) -> Unranked | None:
    """Reason why an entry has no rank by the overall rule or by a metric; None where it has one."""
    entry = board.entries[index]
    if ranks.rank[index] is not None:
        return None
    if entry.state:
        return Unranked(NoRank.WAITING) if entry.state == WAITING else Unranked(NoRank.OFF, state=entry.state)
    if entry.late or entry.baseline:
        return Unranked(NoRank.LATE if entry.late else NoRank.BASELINE)
    if isinstance(ranks, MetricColumn):
        if ranks.acceptance_test is not None and not ranks.may_rank:
            return Unranked(NoRank.NOT_PASSED, acceptance_test=ranks.acceptance_test)
        return Unranked(NoRank.LACKS, titles=(ranks.title,))
    if ranks.problem is not None:
        return Unranked(NoRank.NO_ORDER, problem=ranks.problem)
    return Unranked(NoRank.LACKS, titles=tuple(m.title for m in board.metrics if m.slug in ranks.metrics and m.value[index] is None))


def untested(board: Board, ranks: Ranks, index: int) -> Untested | None:
    """Reason why an entry has no range of ranks where others have one; None where it has, or none has."""
    key = ranks.untested[index] if ranks.untested else ""
    by_rule = ranks is board.overall and board.overall.rule != "primary"
    return Untested(key == "lacks", OVERALL_FIRST if by_rule else FIRST, board.resampled) if key else None

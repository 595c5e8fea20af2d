"""States of entries as pages and the API show them: with what they wait for, and with their place in the ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from leaderboard.records.board import Board
from submissions.entry_states import EntryState, Reason, State, Why
from submissions.models import Phase, Submission
from submissions.models.frozen_board import too_late
from submissions.visibility import holds

COUNTS = {Phase.Entries.BEST: Reason.BEST_COUNTS, Phase.Entries.LATEST: Reason.LATEST_COUNTS, Phase.Entries.CHOSEN: Reason.CHOSEN_COUNTS}


def states(
    entries: Sequence[Submission],
    now: datetime,
    *,
    boards: Mapping[int, Board],
    waits: Mapping[int, Sequence[Why]] = {},
    lacking: Mapping[int, Sequence[str]] = {},
) -> dict[int, EntryState]:
    """States of entries. `boards` are the rankings that the reader is shown, by phase; of an entry, `waits` says what it waits for and
    `lacking` names the metrics that it has no score of before a re-evaluation."""
    found = {entry.pk: replace(entry.state, waits=tuple(waits.get(entry.pk, ()))) for entry in entries}
    scored = [entry for entry in entries if found[entry.pk].state == State.SCORED]
    for entry in scored:
        if titles := lacking.get(entry.pk):
            found[entry.pk] = EntryState(State.SCORED, Why(Reason.NEWER_METRICS, {"titles": list(titles)}))
    off = [entry for entry in scored if entry.phase_id in boards and boards[entry.phase_id].index_of(entry.pk) is None]
    kept_off = {
        pk
        for phase in {entry.phase_id: entry.phase for entry in off}.values()
        for pk in Submission.objects.filter(pk__in=[entry.pk for entry in off]).kept_off(phase, now).values_list("pk", flat=True)
    }
    for entry in off:
        if holds(too_late(entry.phase, now), entry):
            why = Why(Reason.LATE)
        elif entry.pk in kept_off:
            why = Why(Reason.KEPT_OFF)
        else:
            why = _instead(entry, boards[entry.phase_id])
        found[entry.pk] = EntryState(State.UNRANKED, why)
    return found


def _instead(entry: Submission, board: Board) -> Why:
    """Reason of an entry that the board does not have: mostly the entry that counts for its team."""
    rule = COUNTS.get(entry.phase.entries)
    counting = next((one for one in board.entries if one.team_id == entry.team_id and one.counted), None)
    if rule is not None and counting is not None:
        return Why(rule, {"number": counting.number, "name": counting.name})
    return Why(Reason.NONE_CHOSEN if rule == Reason.CHOSEN_COUNTS else Reason.NEXT_RANKING)

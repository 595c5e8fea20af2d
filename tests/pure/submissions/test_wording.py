"""Sentences on the state of an entry. The promise: each state and reason has one for each reader, and the public reads what it may."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from submissions.entry_states import HOLDS, OWN_FAULTS, PUBLIC_REASONS, PUBLIC_STATES, EntryState, Reader, Reason, State, Why
from submissions.wording import BECAME, LABELS, failure, label, sentence, waiting
from submissions.wording import failed as failed_words
from tests import ROOT

UNTIL = datetime(2026, 12, 14, 22, 59, tzinfo=UTC)
PART = {"first": 1, "last": 8}
NAMED = {"number": 3, "name": "ridge-net"}
NONE_USED = "The entry used none of your uploads."
AGAIN = f"{NONE_USED} Try it again, or ask the organizers."
LOST = "Scoring items 1 to 8 was begun 3 times, and each time the worker was lost"
BY_NOW = "before 14 December 2026, 23:59 CET"


def on_hold(reason: Reason) -> EntryState:
    return EntryState(State.ON_HOLD, Why(reason), until=UNTIL, zone="Europe/Berlin")


def rejected(reason: Reason, **numbers: object) -> EntryState:
    return EntryState(State.REJECTED, Why(reason, numbers), zone="Europe/Berlin")


def failed(reason: Reason, note: str = "", **numbers: object) -> EntryState:
    return EntryState(State.FAILED, Why(reason, numbers, note))


def waits(state: State, *reasons: Why) -> EntryState:
    return EntryState(state, waits=reasons)


HELD = (
    "Nothing was scored. The entry used none of your uploads. Correct it and upload it again, or confirm {} that it should be "
    "scored as it is."
)
MAY = "Nothing was scored. The team may confirm {} that the entry should be scored as it is."
# State, the sentence for its team, and that for organizers.
TABLE = [
    (EntryState(State.UPLOADING), "The upload is not finished. Send the parts that are missing.", "The upload is not finished."),
    (EntryState(State.RECEIVED), "The entry's file has arrived.", None),
    (waits(State.RECEIVED, Why(Reason.WORKER)), "The entry's file has arrived. The entry waits for a worker; none is running.", None),
    (
        waits(State.RECEIVED, Why(Reason.ENTRIES, {"n": 1200}), Why(Reason.REEVALUATION, {"n": 1})),
        "The entry's file has arrived. 1,200 entries are ahead of this entry. 1 part of a re-evaluation is ahead of this entry.",
        None,
    ),
    (EntryState(State.CHECKING), "A worker is checking the entry's files.", None),
    (EntryState(State.SCORING), "The entry is being scored.", None),
    (waits(State.SCORING, Why(Reason.GPU_WORKER)), "The entry waits for a worker with a graphics card; none is running.", None),
    (
        waits(State.SCORING, Why(Reason.OTHER_WORK, {"n": 1})),
        "The entry is next. A worker is at other work, such as a metric program or a study.",
        None,
    ),
    (EntryState(State.SCORED), "The entry is scored.", None),
    (
        EntryState(State.SCORED, Why(Reason.IMPORTED)),
        "The entry's figures were imported as they were published. There are no files.",
        None,
    ),
    (
        EntryState(State.SCORED, Why(Reason.NEWER_METRICS, {"titles": ["HSS", "Corner F1"]})),
        "The entry's items are scored, except by HSS, Corner F1. Those values are missing until a re-evaluation with a newer version.",
        None,
    ),
    (
        on_hold(Reason.KIND),
        f"The entry is on hold, because many of its files contain nothing that can be scored. {HELD.format(BY_NOW)}",
        f"The entry is on hold, because many of its files contain nothing that can be scored. {MAY.format(BY_NOW)}",
    ),
    (
        on_hold(Reason.INPUTS),
        f"The entry is on hold, because it does not fit the inputs that were given out. {HELD.format(BY_NOW)}",
        f"The entry is on hold, because it does not fit the inputs that were given out. {MAY.format(BY_NOW)}",
    ),
    (
        on_hold(Reason.FOLDERS),
        f"The entry is on hold, because its files are in several folders, as if from several runs. {HELD.format(BY_NOW)}",
        f"The entry is on hold, because its files are in several folders, as if from several runs. {MAY.format(BY_NOW)}",
    ),
    (
        rejected(Reason.PROBLEMS, n=1),
        f"The entry was rejected for 1 problem in its files. {NONE_USED} Upload it again, once you have corrected its files.",
        "The entry was rejected for 1 problem in its files.",
    ),
    (
        rejected(Reason.PROBLEMS, n=1400),
        f"The entry was rejected for 1,400 problems in its files. {NONE_USED} Upload it again, once you have corrected its files.",
        "The entry was rejected for 1,400 problems in its files.",
    ),
    (
        rejected(Reason.UNCONFIRMED, until=UNTIL.isoformat()),
        "The entry was on hold until 14 December 2026, 23:59 CET, and its team did not confirm it. The entry used none of "
        "your uploads. Upload it "
        "again, once you have corrected its files.",
        "The entry was on hold until 14 December 2026, 23:59 CET, and its team did not confirm it.",
    ),
    (
        rejected(Reason.NEWER_HOLDS, n=3),
        "The entry was on hold until 3 newer entries of its team were on hold. The entry used none of your uploads. Upload it "
        "again, once you have corrected "
        "its files.",
        "The entry was on hold until 3 newer entries of its team were on hold.",
    ),
    (
        rejected(Reason.HOLDS_OVER),
        "The team could have confirmed this entry, but the time for confirming entries is over. The entry used none of your uploads. "
        "Upload it again, with `--as-is` if you mean it.",
        "The team could have confirmed this entry, but the time for confirming entries is over.",
    ),
    (
        failed(Reason.MEMORY, megabytes=2048, **PART),
        f"Scoring items 1 to 8 failed. The job needed more memory than the 2048 MB that one job may use. {AGAIN}",
        "Scoring items 1 to 8 failed. The job needed more memory than the 2048 MB that one job may use.",
    ),
    (
        failed(Reason.TIME, seconds=600),
        f"Checking this entry failed. The job was not done within the 600 s that one job may take. {AGAIN}",
        "Checking this entry failed. The job was not done within the 600 s that one job may take.",
    ),
    (
        failed(Reason.LOST_ON_MACHINES, times=3, **PART),
        f"{LOST}, on more than one machine. So the entry or the program counts as the cause. {AGAIN}",
        f"{LOST}, on more than one machine. So the entry or the program counts as the cause.",
    ),
    (
        failed(Reason.LOST, times=2),
        "Checking this entry was begun twice, and each time the worker was lost. This is the service's fault, and its operators were told. "
        f"{AGAIN}",
        "Checking this entry was begun twice, and each time the worker was lost. This is the service's fault, and its operators were told.",
    ),
    (
        failed(Reason.LACKING, "There are no weights of DreamSim on this server.", **PART),
        f"No worker could begin scoring items 1 to 8. There are no weights of DreamSim on this server. {AGAIN}",
        "No worker could begin scoring items 1 to 8. There are no weights of DreamSim on this server.",
    ),
    (
        failed(Reason.LEFT_OUT),
        f"The entry was left out of a re-evaluation while it was being scored. {AGAIN}",
        "The entry was left out of a re-evaluation while it was being scored.",
    ),
    (failed(Reason.OTHER), f"The service could not score the entry. {AGAIN}", "The service could not score the entry."),
    (failed(Reason.OTHER, "The moon was full."), f"The moon was full. {AGAIN}", "The moon was full."),
    (failed(Reason.OTHER_OWN, "It was too big."), f"It was too big. {AGAIN}", "It was too big."),
    (EntryState(State.CANCELLED), f"The entry was cancelled. {NONE_USED}", "The entry was cancelled."),
    (
        EntryState(State.CANCELLED, Why(Reason.EXPIRED)),
        f"The upload was not finished in time. {NONE_USED} Start it again.",
        "The upload was not finished in time.",
    ),
    (EntryState(State.WITHDRAWN), "The team withdrew this entry.", None),
    (EntryState(State.HIDDEN), "The organizers hid this entry.", None),
    (EntryState(State.HIDDEN, note="It names a person."), "The organizers hid this entry. Their reason: It names a person.", None),
    (EntryState(State.DISQUALIFIED, note="seen data"), "The organizers disqualified this entry. Their reason: seen data.", None),
    (
        EntryState(State.UNRANKED, Why(Reason.LATE)),
        "The entry was received after the leaderboard was frozen, so it appears when the freeze is lifted.",
        None,
    ),
    (
        EntryState(State.UNRANKED, Why(Reason.KEPT_OFF)),
        "This entry has no rank: its team withdrew a later entry after the phase was decided, and no earlier one replaces it.",
        None,
    ),
    (
        EntryState(State.UNRANKED, Why(Reason.BEST_COUNTS, NAMED)),
        "This entry has no rank. Only the best entry of each team by the primary metric counts: #3, ridge-net.",
        None,
    ),
    (
        EntryState(State.UNRANKED, Why(Reason.LATEST_COUNTS, NAMED)),
        "This entry has no rank. Only the latest entry of each team counts: #3, ridge-net.",
        None,
    ),
    (
        EntryState(State.UNRANKED, Why(Reason.CHOSEN_COUNTS, NAMED)),
        "This entry has no rank. Only the entry that a team chose counts: #3, ridge-net.",
        None,
    ),
    (
        EntryState(State.UNRANKED, Why(Reason.NONE_CHOSEN)),
        "This entry has no rank. Only the entry that a team chose counts, and this team has not chosen yet.",
        None,
    ),
    (
        EntryState(State.UNRANKED, Why(Reason.NEXT_RANKING)),
        "This entry is not in the newest ranking yet. The next ranking is made in a moment.",
        None,
    ),
    (EntryState(State.WITHHELD), "The entry is not shown.", None),
]
# Numbers with which a reason that is not in the table is worded below.
NUMBERS = {"n": 2, "megabytes": 9, "seconds": 9, "times": 9, "titles": ["HSS"], "until": UNTIL.isoformat(), **NAMED}


@pytest.mark.parametrize(("entry", "team", "organizers"), TABLE, ids=range(len(TABLE)))
def test_team_and_organizers_are_told(entry, team, organizers):
    assert sentence(entry, Reader.TEAM) == team
    assert sentence(entry, Reader.ORGANIZERS) == (team if organizers is None else organizers)


@pytest.mark.parametrize(("entry", "team", "organizers"), TABLE, ids=range(len(TABLE)))
def test_the_public_is_told_of_entries_that_boards_show_or_showed_and_of_nothing_else(entry, team, organizers):
    may = entry.state in PUBLIC_STATES and (entry.why is None or entry.why.reason in PUBLIC_REASONS)
    assert sentence(entry, Reader.PUBLIC) == (team if may else "The entry is not shown.")
    told = entry.as_told(Reader.PUBLIC)
    assert (told.state, told.reason) == ((entry.state, entry.reason) if may else (State.WITHHELD, None))
    assert told.note == (entry.note if entry.state == State.DISQUALIFIED else "") and not told.waits and told.until is None


def test_the_public_is_never_told_of_a_hold_a_failure_or_a_hidden_entry():
    secret = {State.ON_HOLD, State.REJECTED, State.FAILED, State.HIDDEN, State.UPLOADING, State.CANCELLED}
    assert secret.isdisjoint(PUBLIC_STATES) and Reason.LATE not in PUBLIC_REASONS
    assert not set(PUBLIC_REASONS) & {*HOLDS, *OWN_FAULTS, Reason.OTHER, Reason.LACKING, Reason.BUDGET}


def test_every_state_is_in_the_table_and_has_a_word():
    assert {entry.state for entry, *_ in TABLE} == set(State) == set(LABELS)
    assert len({label(state) for state in State}) == len(State) and set(BECAME) <= set(State)


STATES_OF = {
    State.ON_HOLD: HOLDS,
    State.REJECTED: (Reason.PROBLEMS, Reason.UNCONFIRMED, Reason.NEWER_HOLDS, Reason.HOLDS_OVER),
    State.CANCELLED: (Reason.EXPIRED,),
    State.SCORED: (Reason.IMPORTED, Reason.NEWER_METRICS),
}


def test_every_reason_has_a_sentence_of_its_own():
    found = {}
    for reason in Reason:
        why = Why(reason, NUMBERS, note=f"Note of {reason}.")
        state = next((state for state, reasons in STATES_OF.items() if reason in reasons), None)
        if state is not None:
            found[reason] = sentence(EntryState(state, why, until=UNTIL), Reader.TEAM)
        elif reason in list(Reason)[list(Reason).index(Reason.LATE) :]:
            found[reason] = sentence(EntryState(State.UNRANKED, why), Reader.TEAM)
        elif reason in list(Reason)[list(Reason).index(Reason.BUDGET) :]:
            found[reason] = waiting(why)
        else:
            found[reason] = failure(why)
    assert {key: said for key, said in found.items() if not said.endswith(".")} == {}
    assert len(set(found.values())) == len(Reason) and {key: said for key, said in found.items() if "{" in said} == {}


def test_the_document_of_the_api_names_every_state_and_reason():
    text = (ROOT / "leaderboard/docs/api.md").read_text().partition("## The state of an entry")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z_]+)`", text)) - {"status", "state", "reason", "reason_code", "reason_numbers", "sentence"}
    assert named == {*State, *Reason}
    own = next(line for line in text.splitlines() if "its own fault" in line)
    assert set(re.findall(r"`([a-z_]+)`", own)) == {State.FAILED, *OWN_FAULTS}


def test_other_work_that_fails_is_named_by_what_it_does():
    assert failure(Why(Reason.ERROR), "analysing this study") == "Analysing this study failed. An error in the service stopped the job."
    lost = failure(Why(Reason.LOST, {"times": 12}), "measuring this metric")
    assert lost.startswith("Measuring this metric was begun 12 times, and each time the worker was lost.")


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (None, ""),
        (Why(Reason.ERROR), "Trying this metric failed. An error in the service stopped the job."),
        (Why(Reason.LACKING, note="There are no weights."), "No worker could begin trying this metric. There are no weights."),
        (Why(Reason.OTHER, note="RuntimeError: no roof"), "RuntimeError: no roof"),
    ],
)
def test_a_row_of_work_says_what_failed_and_quotes_what_a_program_said(why, words):
    assert failed_words(SimpleNamespace(doing="trying this metric", failed_why=why)) == words

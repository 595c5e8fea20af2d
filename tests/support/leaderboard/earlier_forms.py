"""Rankings as the code before format 2, and before format 3, stored them."""

from __future__ import annotations

from typing import Any

from leaderboard.records.board import Board, RuleValue
from leaderboard.wording.board import no_order, rule_value
from leaderboard.wording.nouns import plural

ACCEPTANCE_TEST = {
    "passed": "passed",
    "waiting": "Shown, not ranked yet: its acceptance test on the phase's own references is running ({percent} %).",
}


def in_format_2(board: Board) -> dict[str, Any]:
    """A ranking with sentences in the places of reasons and of ranks by metrics."""
    found = board.model_dump(mode="json") | {"format": 2}
    for column, of in zip(found["metrics"], board.metrics, strict=True):
        if (test := of.acceptance_test) is not None:
            said = ACCEPTANCE_TEST[test.state].format(percent=test.percent)
            column["acceptance_test"] = {"state": test.state, "sentence": said, "id": test.id, "scenes": test.scenes}
    found["overall"] = {}
    for name, each in board.overall.model_dump(mode="json").items():
        if name == "problem":
            found["overall"][name] = no_order(board.overall.problem)
        elif name == "ranks":
            said = (_explanation(board.rule_value(index)) for index in range(len(each)))
            found["overall"]["explanation"] = [words or ("" if board.overall.problem else "unranked: no value for hss") for words in said]
        elif name != "incomplete":
            found["overall"][name] = each
    return found


def _explanation(it: RuleValue | None) -> str:
    """The ranks of an entry as the sentence that format 2 stored."""
    if it is None or it.rule.key != "primary" or not it.counted:
        return rule_value(it)
    left_out = f" ({it.incomplete} incomplete {plural('entry', it.incomplete)} left out)" if it.incomplete else ""
    return f"rank {it.ranks[0]:g} in {it.rule.title}, the primary metric{left_out}"


def in_format_1(content: dict[str, Any]) -> dict[str, Any]:
    """A ranking of format 2 in the form before: its keys under their former names, in the same order, with the nulls that were there."""

    def renamed(found: dict[str, Any], **names: str) -> dict[str, Any]:
        return {names.get(name, name): each for name, each in found.items()}

    found = content | {"format": 1, "challenge": renamed(content["challenge"], simulated="made_up")}
    found["metrics"] = [renamed(one, acceptance_test="trial") for one in content["metrics"]]
    for column in found["metrics"]:
        if "trial" in column:
            column["trial"] = renamed(column["trial"], id="trial")
    if content["people"]:
        people = renamed(content["people"], answers="judgements")
        people["study"] = renamed(people["study"], simulated="made_up")
        people["metrics"] = [_column(renamed(line, reference_point="guard")) for line in people["metrics"]]
        found["people"] = people
    return found


def _column(line: dict[str, Any]) -> dict[str, Any]:
    """Agreement of a column, with the figures of earlier rules as nulls after r."""
    made: dict[str, Any] = {}
    for name, each in line.items():
        made[name] = each
        if name == "r":
            made |= {"seen": None, "tier": None, "of_ceiling": None}
    return made

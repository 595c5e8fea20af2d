"""Rankings as the code before format 2 stored them."""

from __future__ import annotations

from typing import Any


def as_before(content: dict[str, Any]) -> dict[str, Any]:
    """A ranking in the earlier form: today's keys under their former names, in the same order, with the nulls that stood there."""

    def renamed(found: dict[str, Any], **names: str) -> dict[str, Any]:
        return {names.get(name, name): each for name, each in found.items()}

    found = content | {"format": 1, "challenge": renamed(content["challenge"], simulated="simulated")}
    found["metrics"] = [renamed(one, acceptance_test="acceptance_test") for one in content["metrics"]]
    for column in found["metrics"]:
        if "acceptance_test" in column:
            column["acceptance_test"] = renamed(column["acceptance_test"], id="acceptance_test")
    if content["people"]:
        people = renamed(content["people"], answers="answers")
        people["study"] = renamed(people["study"], simulated="simulated")
        people["metrics"] = [_column(renamed(line, reference_point="reference_point")) for line in people["metrics"]]
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

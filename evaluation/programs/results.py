"""Checks of a program's answers, which are taken as hostile: every value is compared with the contract before it becomes a result."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from evaluation.metrics.result import MetricResult, SampleScores, Status
from evaluation.programs.document import MetricDocument
from submissions.formats.errors import excerpt
from submissions.formats.text import UnkeptText, check_texts

MAX_PARTS, MAX_NOTE, MAX_ITEMS = 50, 500, 100_000
MAX_SAID = 2_400  # characters of why an item failed, with the end of a command's error output
PART = re.compile(r"\w[\w .,:;@/%+=()\[\]-]{0,62}")
STATUSES = {"ok": Status.OK, "not_applicable": Status.NOT_APPLICABLE, "failed": Status.FAILED}
FIELDS = ("value", "status", "parts", "note")
FAILED = "failed: "  # begins the flag that says why an item failed, which may quote the program, and with it the reference
STOPPED = "stopped: "  # begins it where the sentence is the service's own alone
NOTE = "note: "  # begins the flag with the program's own note on an item
CAUSE = "cause: "  # begins the flag that names the `Cause` of a failure
SENTENCES = (FAILED, STOPPED, NOTE, CAUSE)
SLACK = 1e-9  # relative, by which rounding may take a value out of its bounds


class Cause(StrEnum):
    """Cause of a failure, for those who may not read what the program said: a program chooses one of these, and no text."""

    LOAD = "load"  # it does not start
    RAISED = "raised"
    ENDED = "ended"  # its process crashed
    TIME = "time"
    MEMORY = "memory"
    SIZE = "size"  # of its answer, or of what it writes
    EXIT = "exit"  # its command's status
    ANSWER = "answer"  # it is not what the contract asks for
    BOUNDS = "bounds"
    SAID = "said"  # it says itself that it failed
    NO_VALUES = "no_values"  # on any item
    DIRECTION = "direction"  # damaged items have better values
    DIFFERS = "differs"  # values differ when they are computed again
    CHECK = "check"  # a check was failed, and no more is known
    SERVICE = "service"  # the service could not do the check


class WrongResult(ValueError):
    """An answer is not what the contract asks for, in one sentence."""

    def __init__(self, sentence: str, cause: Cause = Cause.ANSWER) -> None:
        super().__init__(sentence)
        self.cause = cause


def failed(sentence: str, cause: Cause = Cause.ANSWER) -> MetricResult:
    """An item that the program gave no value, and why, which may be in its own words."""
    return MetricResult(None, Status.FAILED, (f"{FAILED}{excerpt(sentence, MAX_SAID)[:MAX_SAID]}", f"{CAUSE}{cause}"))


def stopped(sentence: str, cause: Cause = Cause.ENDED) -> MetricResult:
    """An item that the program gave no value, and why, in a sentence that has nothing of the program's, so that everybody may read it."""
    return MetricResult(None, Status.FAILED, (f"{STOPPED}{sentence[:MAX_NOTE]}", f"{CAUSE}{cause}"))


def cause_of(flags: Any) -> str:
    """`Cause` of an item's failure among its flags; empty where it did not fail."""
    return next((flag.removeprefix(CAUSE) for flag in flags if flag.startswith(CAUSE)), "")


def reasons(flags: Any) -> list[tuple[str, bool]]:
    """Reasons for an item's failure among its flags: the sentence, and whether it is the service's own alone."""
    found = [flag for flag in flags if flag.startswith((FAILED, STOPPED))]
    return [(flag.removeprefix(FAILED).removeprefix(STOPPED), flag.startswith(STOPPED)) for flag in found]


def failures(samples: SampleScores) -> Iterator[tuple[str, str, bool]]:
    """Each item on which a program failed, and its `reasons`."""
    for name, flags in zip(samples.item_ids, samples.flags, strict=True):
        yield from ((name, *reason) for reason in reasons(flags))


def parsed(text: str | bytes) -> Any:
    """JSON of a program; WrongResult where it is none, is nested too deep, or holds a text that no database keeps."""
    try:
        found = json.loads(text)
        check_texts(found)
        return found
    except UnkeptText as error:
        raise WrongResult(f"The answer cannot be taken. {error}") from None
    except RecursionError:
        raise WrongResult("The answer is nested too deep.") from None
    except ValueError as error:
        raise WrongResult(f"The answer is not JSON ({str(error)[:100]}).") from None


def result_of(answer: Any, document: MetricDocument) -> MetricResult:
    """The result that an answer is: a number, or a mapping with value, status, parts and note. A wrong one is a failed item."""
    try:
        return _result(answer, document)
    except WrongResult as error:
        return failed(str(error), error.cause)


def _result(answer: Any, document: MetricDocument) -> MetricResult:
    """A refusal for each rule of the contract, in its order."""
    if answer is None:
        raise WrongResult("The program returned nothing; return a number, or a mapping whose value may be None.")
    answer = answer if isinstance(answer, Mapping) else {"value": answer}
    if odd := [name for name in answer if name not in FIELDS]:
        raise WrongResult(f"The answer has {excerpt(str(odd[0]))[:40]!r}; it may have {', '.join(FIELDS)}.")
    value, note = answer.get("value"), answer.get("note", "")
    status = answer.get("status", "not_applicable" if value is None else "ok")
    if not isinstance(status, str) or status not in STATUSES:
        raise WrongResult(f"The status must be one of {', '.join(STATUSES)}.")
    if not isinstance(note, str | None) or len(note or "") > MAX_NOTE:
        raise WrongResult(f"The note must be a text of at most {MAX_NOTE} characters.")
    parts = _parts(answer.get("parts") or {})
    if status == "failed":
        return failed(note or "The program says that it failed.", Cause.SAID)
    if (status == "ok") != (value is not None):
        fault = "ok and no value." if value is None else f"{status} and a value; leave one out."
        raise WrongResult(f"The answer has the status {fault}")
    flags = (f"{NOTE}{excerpt(note, MAX_NOTE)[:MAX_NOTE]}",) if note else ()
    found = None if value is None else _within(_number(value, "The value"), document)
    return MetricResult(found, STATUSES[status], flags, parts)


def _parts(said: Any) -> dict[str, float]:
    if not isinstance(said, Mapping) or len(said) > MAX_PARTS:
        raise WrongResult(f"The parts must be a mapping of at most {MAX_PARTS} names to numbers.")
    found = {}
    for name, number in said.items():
        if not isinstance(name, str) or not PART.fullmatch(name):
            raise WrongResult(
                f"A part is called {excerpt(str(name))[:40]!r}; use letters, digits, spaces and _ . , : ; @ / % + = - ( ) [ ], at most 63, "
                "and begin with a letter, a digit or _."
            )
        found[name] = _number(number, f"The part {name}")
    return found


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        kinds = {"str": "a text", "list": "a list", "dict": "a mapping", "bool": "true or false", "NoneType": "nothing"}
        raise WrongResult(f"{what} must be a number, and is {kinds.get(type(value).__name__, type(value).__name__)}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise WrongResult(f"{what} must be a finite number, and is {number}.")
    return number


def _within(value: float, document: MetricDocument) -> float:
    """The value, checked against the bounds that the program declares."""
    low, high = document.bounds
    for end, is_over, word in ((low, lambda e: e - value, "below"), (high, lambda e: value - e, "above")):
        if end is None or is_over(end) <= 0:
            continue
        if is_over(end) > SLACK * max(1.0, abs(end)):
            raise WrongResult(f"The value {value:g} is {word} {end:g}, an end of the bounds that metric.yaml declares.", Cause.BOUNDS)
        return end
    return value


def of_file(text: str, document: MetricDocument, ids: list[str]) -> dict[str, MetricResult]:
    """The results in a script's output/scores.json, by item; an item that it leaves out failed. Under `set`, one for all."""
    found = parsed(text)
    if not isinstance(found, Mapping):
        raise WrongResult("output/scores.json must be a mapping with items or set.")
    if document.level == "set":
        if "set" not in found:
            raise WrongResult('output/scores.json has no "set", which a metric of level set writes.')
        return dict.fromkeys(ids, result_of(found["set"], document))
    items = found.get("items")
    if not isinstance(items, Mapping):
        raise WrongResult('output/scores.json has no "items": {ID: {"value": …}}.')
    if len(items) > MAX_ITEMS:
        raise WrongResult(f"output/scores.json has {len(items):,} items; {len(ids):,} were given.")
    odd = next((name for name in items if name not in set(ids)), None)
    if odd is not None:
        raise WrongResult(f"output/scores.json names an item {excerpt(str(odd))[:60]!r} that was not given.")
    return {name: result_of(items[name], document) if name in items else failed("output/scores.json leaves this item out.") for name in ids}

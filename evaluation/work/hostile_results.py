"""Checks of what a worker from outside says that it found, against what a metric can find at all. PURE.

Everything here is hostile until it has passed: types, columns, items, bounds, statuses. A result that passes can still be wrong; only a
second worker can find that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.metrics.result import FLAGS, Status
from evaluation.metrics.shared import TOGETHER
from evaluation.metrics.spec import MetricSpec
from evaluation.programs import results

MAX_PARTS, MAX_FLAGS, MAX_DEPTH = 200, 20, 8
NAME = re.compile(r"[\w.@:+/ %-]{1,80}")
FIT = re.compile(r"fits|axes|place|size:-?[0-9]{1,2}")
ROUNDING = 1e-9  # a value may be beyond a bound by so much, relative to the bound or to 1
FIELDS = {"slug", "item_ids", "values", "statuses", "parts", "flags"}
NULLS = (Status.NO_OBJECT, Status.EMPTY_MASK, Status.NOT_APPLICABLE)  # only the reference or the configuration leaves nothing to measure
GONE = (Status.MISSING_PRED, Status.SIZE_MISMATCH)


class BadResult(ValueError):
    """A result that cannot be; one sentence."""


def checked(
    found: Any, columns: Sequence[Column], item_ids: Sequence[str], missing: Collection[str], elapsed: float
) -> tuple[dict[str, Any], dict[str, float], dict[str, float]]:
    """`found` as (scores by slug, seconds by slug, what it cost in all: core_seconds and gpu_seconds). Raises `BadResult`.

    `columns` and `item_ids` are the part's, and `missing` are the items that the entry lacks. The part was handed out `elapsed` seconds
    ago, and nothing can have taken longer on the wall.
    """
    if not isinstance(found, Mapping) or not isinstance(found.get("scores"), Mapping):
        raise BadResult("The result must be an object with scores by slug.")
    wanted = {column.slug: column for column in columns}
    if found["scores"].keys() != wanted.keys():
        odd = sorted(map(str, found["scores"].keys() ^ wanted.keys()))[0]
        raise BadResult(f"The part has the columns {', '.join(sorted(wanted))}; the result differs at {odd!r}.")
    scores = {slug: _column(slug, found["scores"][slug], wanted[slug], list(item_ids), set(missing)) for slug in wanted}
    seconds = _seconds(found.get("seconds", {}), wanted, elapsed)
    cost = {name: _number(found.get(name, 0.0), name) for name in ("core_seconds", "gpu_seconds")}
    for name, most in (("core_seconds", 1024 * elapsed), ("gpu_seconds", 16 * elapsed)):
        if not 0 <= cost[name] <= most:
            raise BadResult(f"{name} of {cost[name]:g} cannot be: the part was given out {elapsed:.0f} s ago.")
    return scores, seconds, cost


def fits_of(said: Any, item_ids: Sequence[str]) -> dict[str, str]:
    """Labels of how items fit the reference, as `submissions.formats.box_alignment.label` writes them. Raises `BadResult`."""
    if not isinstance(said, Mapping) or not said.keys() <= set(item_ids) or not all(FIT.fullmatch(str(label)) for label in said.values()):
        raise BadResult("How the items fit must be said by item, each in a word of its list.")
    return {item: str(label) for item, label in said.items()}


def _column(slug: str, said: Any, column: Column, item_ids: list[str], missing: set[str]) -> dict[str, Any]:
    """The column as it is stored, once every rule of a column and of its items holds, each with its own refusal."""
    spec = column.spec
    if not isinstance(said, Mapping) or not FIELDS <= said.keys() <= FIELDS | {"partials"}:
        raise BadResult(f"{slug} must have exactly {', '.join(sorted(FIELDS))}, and partials where it is of groups or the set.")
    if said["slug"] != slug or said["item_ids"] != item_ids:
        raise BadResult(f"{slug} is not of the items of this part, in their order.")
    for name in ("values", "statuses", "parts", "flags", *(["partials"] if "partials" in said else [])):
        if not isinstance(said[name], list) or len(said[name]) != len(item_ids):
            raise BadResult(f"{slug}.{name} must have one entry for each of the {len(item_ids)} items.")
    if spec.level == "item" and "partials" in said:
        raise BadResult(f"{slug} is of single items and has no partials.")
    params = registry.resolve_params(column.key, column.params)
    for n, item in enumerate(item_ids):
        where = f"{slug} of {item}"
        status, parts = _status(said["statuses"][n], where), said["parts"][n]
        if (status == Status.MISSING_PRED) != (item in missing):
            raise BadResult(f"{where}: the entry {'lacks' if item in missing else 'has'} this item, and its status is {status}.")
        if status == Status.FAILED and not spec.is_program:
            raise BadResult(f"{where}: only a metric program fails; a metric of the service's own has a value or says why there is none.")
        _parts(parts, where)
        _flags(said["flags"][n], parts, where, spec.is_program)
        _value(said["values"][n], status, spec, params, parts, where)
        partial = said["partials"][n] if "partials" in said else None
        if partial is not None and spec.is_program:
            _of_program(partial, spec, params, f"{where}: its partial")
        else:
            _plain(partial, f"{where}: its partial", 0)
    return _as_told(said) if spec.is_program else dict(said)


def _as_told(said: Mapping[str, Any]) -> dict[str, Any]:
    """Result of a metric program as a worker sent it, with each of the service's own sentences as one of the program's. Everybody may
    read the service's sentences, and only the worker says that the service wrote this one."""

    def told(row: Any) -> Any:
        return None if row is None else {**row, "flags": [re.sub(f"^{results.STOPPED}", results.FAILED, flag) for flag in row["flags"]]}

    flags = [told({"flags": flags})["flags"] for flags in said["flags"]]
    return {**said, "flags": flags} | ({"partials": [told(row) for row in said["partials"]]} if "partials" in said else {})


def _status(said: Any, where: str) -> Status:
    try:
        return Status(said)
    except ValueError:
        raise BadResult(f"{where}: {str(said)[:40]!r} is not a status; there are: {', '.join(Status)}.") from None


def _value(said: Any, status: Status, spec: MetricSpec, params: Mapping[str, Any], parts: Mapping[str, float], where: str) -> None:
    if said is None:
        if spec.level == "item" and status not in NULLS and not (spec.worst == "null" and status in (*GONE, Status.FAILED)):
            raise BadResult(f"{where}: there is no value, which {status} does not explain.")
        return
    value = _number(said, where)
    low, high = spec.bounds
    for bound, beyond in ((low, value < low - _slack(low)), (high, high is not None and value > high + _slack(high))):
        if beyond:
            raise BadResult(f"{where}: {value:g} is beyond the metric's bound of {bound:g}.")
    worst = _constant(spec, params)
    if worst is None:
        return
    if (value < worst - _slack(worst)) if spec.higher_is_better else (value > worst + _slack(worst)):
        raise BadResult(f"{where}: {value:g} is worse than {worst:g}, which a missing item gets.")
    if math.isclose(value, worst, rel_tol=ROUNDING, abs_tol=ROUNDING):
        return
    if status in (*GONE, Status.FAILED) and spec.level == "item":
        raise BadResult(f"{where}: {status} gets {worst:g}, and this has {value:g}.")
    if "uncapped" in parts:
        raise BadResult(f"{where}: a capped value is {worst:g}, and this is {value:g}.")


def _constant(spec: MetricSpec, params: Mapping[str, Any]) -> float | None:
    """The value of a missing item where it does not depend on the item."""
    if spec.worst == "tau":
        return float(params["tau"])
    try:
        return float(spec.worst)
    except ValueError:
        return None


def _slack(bound: float | None) -> float:
    return ROUNDING * max(1.0, abs(bound)) if bound is not None and math.isfinite(bound) else 0.0


def _number(said: Any, where: str) -> float:
    if isinstance(said, bool) or not isinstance(said, int | float) or abs(said) > 1e300 or not math.isfinite(said):
        raise BadResult(f"{where}: {str(said)[:40]!r} is not a finite number.")
    return float(said)


def _parts(said: Any, where: str) -> None:
    if not isinstance(said, Mapping) or len(said) > MAX_PARTS:
        raise BadResult(f"{where}: its parts must be an object of at most {MAX_PARTS} numbers.")
    for name, value in said.items():
        if not NAME.fullmatch(name) and not results.PART.fullmatch(name):
            raise BadResult(f"{where}: {name[:40]!r} is not the name of a part.")
        _number(value, f"{where}: its part {name}")


def _of_program(said: Any, spec: MetricSpec, params: Mapping[str, Any], where: str) -> None:
    """Check a metric program's result for a group or the whole set, which is taken for each of its items. Raises `BadResult`."""
    if not isinstance(said, Mapping) or said.keys() != {"value", "status", "flags", "parts"}:
        raise BadResult(f"{where} must have value, status, flags and parts.")
    status = _status(said["status"], where)
    _parts(said["parts"], where)
    _flags(said["flags"], said["parts"], where, True)
    if said["value"] is None and status == Status.OK:
        raise BadResult(f"{where}: there is no value, which {status} does not explain.")
    _value(said["value"], status, spec, params, said["parts"], where)


def _sentence(flag: str) -> bool:
    """True for a flag in which a metric program, or who runs it, says something of an item."""
    return flag.startswith(results.SENTENCES) and len(flag) <= results.MAX_SAID + 20 and flag.isprintable()


def _flags(said: Any, parts: Mapping[str, float], where: str, is_program: bool = False) -> None:
    if not isinstance(said, list) or len(said) > MAX_FLAGS or not all(isinstance(flag, str) for flag in said):
        raise BadResult(f"{where}: its flags must be a list of at most {MAX_FLAGS} words.")
    odd = next((flag for flag in said if flag not in FLAGS and not (is_program and _sentence(flag))), None)
    if odd is not None:
        raise BadResult(f"{where}: {odd[:40]!r} is not a flag that a metric of the service gives, nor what a metric program may say.")
    if ("capped" in said) != ("uncapped" in parts):
        raise BadResult(f"{where}: a capped value has its own value among its parts, and no other has.")


def _plain(said: Any, where: str, depth: int) -> None:
    """Numbers, short words, lists and objects of them; the numbers finite."""
    if depth > MAX_DEPTH:
        raise BadResult(f"{where} is nested too deep.")
    if isinstance(said, Mapping):
        for name, value in said.items():
            _plain(name, where, depth + 1)
            _plain(value, where, depth + 1)
    elif isinstance(said, list):
        for value in said:
            _plain(value, where, depth + 1)
    elif isinstance(said, str):
        if len(said) > 2_000_000:
            raise BadResult(f"{where} holds a text of {len(said):,} characters.")
    elif said is not None and not isinstance(said, bool):
        _number(said, where)


def _seconds(said: Any, wanted: Collection[str], elapsed: float) -> dict[str, float]:
    if not isinstance(said, Mapping) or not {slug for name in said for slug in str(name).split(TOGETHER)} <= set(wanted):
        raise BadResult("The seconds must be numbers by the part's slugs.")
    found = {slug: _number(value, f"the seconds of {slug}") for slug, value in said.items()}
    if any(value < 0 for value in found.values()) or sum(found.values()) > elapsed + 5:
        raise BadResult(f"The seconds sum up to {sum(found.values()):g}, and the part was given out {elapsed:.0f} s ago.")
    return found

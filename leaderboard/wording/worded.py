"""Records with the sentence of each reason beside it, for outputs that programs read. PURE."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from leaderboard.stats.records import Preference, plain
from leaderboard.stats.states import Reason
from leaderboard.wording.reasons import SAMPLE, Noun, notes, sentence

Told = TypeVar("Told")


def worded(record: Told, noun: Noun = SAMPLE) -> Told:
    """The record, and what it holds, with sentences: of each `reason` in `why`, and of what a model omits in `notes`. `noun` is what an
    item is called. Sentences of earlier rankings stay as they are."""
    return _worded(record, noun)


def told(record: Any, noun: Noun = SAMPLE) -> Any:
    """The same in JSON's own types, sentences behind the other fields."""
    return plain(worded(record, noun), lambda it: sorted((one.name for one in fields(it)), key=lambda name: name.endswith("why")))


def _worded(it: Any, noun: Noun) -> Any:
    if type(it) in (list, tuple):
        return type(it)([_worded(each, noun) for each in it])
    if isinstance(it, dict):
        return {name: _worded(each, noun) for name, each in it.items()}
    names = list(getattr(type(it), "model_fields", ())) or ([one.name for one in fields(it)] if is_dataclass(it) else [])
    if isinstance(it, Reason) or not names:
        return it
    found = {name: _worded(getattr(it, name), noun) for name in names}
    for name in names:
        if name.endswith("why") and not found[name]:
            found[name] = sentence(found.get(f"{name.removesuffix('why')}reason"), noun)
    if isinstance(it, Preference):
        found["notes"] = notes(it.omitted, it.prior)
    return it.model_copy(update=found) if hasattr(it, "model_copy") else replace(it, **found)

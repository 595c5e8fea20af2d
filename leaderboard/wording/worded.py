"""Records with the sentence of each reason beside it, for the API, whose schemas the records are. PURE."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from leaderboard.stats.records import Preference
from leaderboard.stats.states import Reason
from leaderboard.wording.reasons import SAMPLE, Noun, notes, sentence

Told = TypeVar("Told")


def worded(record: Told, noun: Noun = SAMPLE) -> Told:
    """The record, and what it holds, with sentences: of each `reason` in `why`, and of what a model omits in `notes`. `noun` is what an
    item is called. Sentences of earlier rankings stay as they are."""
    return _worded(record, noun)


def _worded(it: Any, noun: Noun) -> Any:
    if type(it) in (list, tuple):
        return type(it)([_worded(each, noun) for each in it])
    if isinstance(it, dict):
        return {name: _worded(each, noun) for name, each in it.items()}
    if isinstance(it, Reason) or not (is_dataclass(it) or isinstance(it, BaseModel)):
        return it
    names = list(type(it).model_fields) if isinstance(it, BaseModel) else [one.name for one in fields(it)]
    found = {name: _worded(getattr(it, name), noun) for name in names}
    for name in names:
        if name.endswith("why") and not found[name]:
            found[name] = sentence(found.get(f"{name.removesuffix('why')}reason"), noun)
    if isinstance(it, Preference):
        found["notes"] = notes(it.omitted, it.prior)
    return it.model_copy(update=found) if isinstance(it, BaseModel) else replace(it, **found)

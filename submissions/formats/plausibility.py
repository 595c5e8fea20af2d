"""The check of an entry against the inputs: another unit, other axes, an offset, or files of several runs. PURE.

The answer comes from the entry and the inputs alone, never from the reference. Each sentence is a question, which puts the entry on hold
until its team confirms it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from submissions.formats.box_alignment import Box, Kind, Misfit, misfit
from submissions.formats.inputs import UNITS
from submissions.manifest import Input, Manifest

NAMES = {"m": "metres", "mm": "millimetres", "cm": "centimetres", "dm": "decimetres", "km": "kilometres", "in": "inches", "ft": "feet"}
NEAR = 0.3  # decades between a ratio and a unit's, for the unit to be guessed
SHOWN = 3  # items that a sentence names


def sentences(items: Mapping[str, Any], manifest: Manifest) -> list[str]:
    """Return questions about items whose size, axes or place do not fit their inputs, or that seem to be the inputs themselves. Images, and
    items whose inputs are not stated, get none."""
    if manifest.kind.images:
        return []
    found: dict[tuple[Any, ...], list[tuple[str, Misfit]]] = {}
    copies = []
    for item in manifest.items:
        model = items.get(item.id)
        if model is None or item.input is None:
            continue
        if item.input.points > 3 and len(model.vertices) == item.input.points:
            copies.append(item.id)
        box = Box.of(model.vertices)
        one = misfit(box, box_of(item.input, manifest), may_be_part=True) if box is not None else None
        if one is not None:
            found.setdefault(one.alike, []).append((item.id, one))
    asked = {Kind.SIZE: _of_size, Kind.AXES: _of_axes, Kind.PLACE: _of_place}
    words = []
    for group in found.values():
        names, misfits = [name for name, _ in group], [one for _, one in group]
        words.append(asked[misfits[0].kind](_names(names), len(names) == 1, misfits, manifest))
    if copies:
        verb = "has" if len(copies) == 1 else "have"
        words.append(f"{_names(copies)} {verb} as many corners as the input has points: is it the input itself?")
    return words


def box_of(given: Input, manifest: Manifest) -> Box:
    """The box of an input in the phase's unit."""
    box = Box(np.array(given.low, dtype=np.float64), np.array(given.high, dtype=np.float64))
    return box.scaled(UNITS[given.unit] / manifest.unit_scale) if given.unit in UNITS else box


def _of_size(who: str, alone: bool, misfits: Sequence[Misfit], manifest: Manifest) -> str:
    ratio = float(np.median([one.ratio for one in misfits]))
    factor, word = (ratio, "larger") if ratio >= 1 else (1 / ratio, "smaller")
    exponent = math.log10(factor)
    if abs(exponent - round(exponent)) <= 0.15:
        times = f"{10 ** round(exponent):,.0f}"
    else:
        times = f"about {round(factor, -max(0, int(exponent) - 1)):,.0f}"
    # The unit whose numbers are so many times the phase's, if one comes near.
    scale = manifest.unit_scale
    others = {unit: abs(math.log10(ratio * metres / scale)) for unit, metres in UNITS.items() if metres != scale}
    nearest = min(others, key=lambda unit: others[unit])
    guess = f": {NAMES[nearest]}?" if others[nearest] <= NEAR else "."
    wanted = f"This phase wants {NAMES[manifest.unit]}." if manifest.unit in NAMES else ""
    than = "is {} than its points" if alone else "are {} than their points"
    return f"{who} {than.format(f'{times} times {word}')}{guess} {wanted}".strip()


def _of_axes(who: str, alone: bool, misfits: Sequence[Misfit], manifest: Manifest) -> str:
    first = misfits[0]
    moved = ["xyz"[axis] for n, axis in enumerate(first.axes) if axis != n]
    turned = ["xyz"[first.axes[n]] for n, sign in enumerate(first.signs) if sign < 0]
    parts = [f"{' and '.join(sorted(moved))} swapped"] if moved else []
    parts += [f"{' and '.join(turned)} turned round"] if turned else []
    return f"{who} would fit {'its' if alone else 'their'} points with {' and '.join(parts)}: another order of axes?"


def _of_place(who: str, alone: bool, misfits: Sequence[Misfit], manifest: Manifest) -> str:
    lie, its = ("lies", "its") if alone else ("lie", "their")
    if misfits[0].local:
        return f"{who} {lie} near the origin and {its} points far from it: local instead of projected coordinates?"
    distance = float(np.median([one.distance for one in misfits]))
    return f"{who} {lie} {distance:,.3g} {manifest.unit} away from {its} points: an offset?"


def folders(files: Iterable[str]) -> list[str]:
    """Return a question where the files of an entry lie in several folders and may come from two runs. One folder for each item is
    fine."""
    held: dict[str, int] = {}
    for name in files:
        parent = str(PurePosixPath(name).parent)
        held[parent] = held.get(parent, 0) + 1
    if len(held) < 2 or max(held.values()) < 2:
        return []
    largest = sorted(held, key=lambda folder: (-held[folder], folder))
    named = [f"{'the top' if folder == '.' else folder} ({held[folder]})" for folder in largest[:SHOWN]]
    more = f" and {len(held) - SHOWN} more" if len(held) > SHOWN else ""
    return [f"The files lie in {len(held)} folders, {', '.join(named)}{more}: are all of one run?"]


def _names(names: Sequence[str]) -> str:
    if len(names) <= SHOWN:
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{names[0]} and {len(names) - 1} others"

"""The chart of a judge's scores: a radar with an axis for each criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaderboard.records.chart import DASHES, SYMBOLS, Axis, Chart, Dot, Dots, Line, Tone, labels

MAX_LINES = 8  # more cannot be followed by eye
MIN_AXES = 3
_TONES: tuple[Tone, ...] = ("accent", "warn", "ink", "soft")


def radar(criteria: Sequence[str], scores: Mapping[str, Sequence[float | None]]) -> Chart:
    """Elo per criterion of each method, in the order given, at most the first eight. With fewer than three criteria there is no area to
    draw, and a chart of dots on parallel axes replaces it."""
    columns = ("Entry", *criteria)
    rows = tuple((name, *("–" if value is None else f"{value:.0f}" for value in values)) for name, values in scores.items())
    known = [(name, values) for name, values in scores.items() if any(value is not None for value in values)]
    if len(known) < 2:
        return Chart("Once a judge has compared two entries, a chart shows their Elo.", columns)
    drawn = known[:MAX_LINES]
    every = [value for _, values in drawn for value in values if value is not None]
    room = 0.08 * (max(every) - min(every) or 100.0)
    marks = []
    for place, ((name, values), label) in enumerate(zip(drawn, labels([name for name, _ in drawn]), strict=True)):
        dots = tuple(
            Dot(axis, value, "" if value is None else f"{name}\n{criterion}: {value:.0f}")
            for axis, (criterion, value) in enumerate(zip(criteria, values, strict=True))
        )
        line = Line(2, DASHES[place % len(DASHES)])
        marks.append(Dots(dots, label, _TONES[place % len(_TONES)], line, SYMBOLS[place], size=9))
    counted = f"the first {len(drawn)} of {len(known)}" if len(drawn) < len(known) else f"{len(drawn)}"
    summary = f"Elo of {counted} entries on {len(criteria)} {'criterion' if len(criteria) == 1 else 'criteria'}, further out is better."
    x, y = Axis(names=tuple(criteria)), Axis("Elo", ends=(min(every) - room, max(every) + room))
    return Chart(summary, columns, rows, x, y, tuple(marks), height=440, has_legend=True, is_round=len(criteria) >= MIN_AXES)

"""The form of a scene's regions of interest: what was drawn or typed in each view, and what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from django.http import QueryDict

from submissions.formats.invisible import has_invisible
from submissions.formats.render.views import MAX_LABEL, Roi

MAX_REGIONS = 24  # of a view that is edited here
VIEWS_SHOWN = 8  # with five fields a region still less than the number of fields that Django takes of one form
SIDES = ("x1", "y1", "x2", "y2")


@dataclass
class Row:
    """One region as it was entered, so that a form that is refused comes back as it was sent."""

    number: int | str
    sides: tuple[str, str, str, str] = ("", "", "", "")
    label: str = ""
    fault: str = ""

    @property
    def is_blank(self) -> bool:
        return not self.label.strip() and not any(side.strip() for side in self.sides)

    @property
    def fields(self) -> list[tuple[str, str]]:
        return list(zip(SIDES, self.sides, strict=True))

    @property
    def roi(self) -> Roi | None:
        """The region, right or wrong; None while one of its sides is no number."""
        x1, y1, x2, y2 = (_number(side) for side in self.sides)
        if x1 is None or y1 is None or x2 is None or y2 is None:
            return None
        return Roi(x1, y1, x2, y2, self.label.strip())

    @property
    def box(self) -> dict[str, str] | None:
        """Rectangle to draw: x, y, width and height as an SVG has them; None while there is nothing to draw."""
        roi = self.roi
        if roi is None or roi.fault.startswith("needs four") or not (roi.x1 < roi.x2 and roi.y1 < roi.y2):
            return None
        return {"x": repr(roi.x1), "y": repr(roi.y1), "width": repr(roi.x2 - roi.x1), "height": repr(roi.y2 - roi.y1)}


@dataclass
class View:
    """One view with its rows. `number` names its fields; `newer` are the regions that somebody else saved meanwhile."""

    item: str
    number: int
    width: int
    height: int
    stored: tuple[Roi, ...]
    rows: list[Row] = field(default_factory=list)
    fault: str = ""
    newer: tuple[Roi, ...] | None = None

    @property
    def name(self) -> str:
        return self.item.partition("/")[2]

    @property
    def is_editable(self) -> bool:
        return len(self.stored) <= MAX_REGIONS

    @property
    def entered(self) -> list[Row]:
        return [row for row in self.rows if not row.is_blank]

    @property
    def text_size(self) -> int:
        """Size of labels in the picture, in its pixels."""
        return max(6, round(max(self.width, self.height) / 36))

    @property
    def newer_words(self) -> str:
        """Regions of the newest version here, in words."""
        regions = (f"{roi.label} ({', '.join(map(shortest_text, (roi.x1, roi.y1, roi.x2, roi.y2)))})" for roi in self.newer or ())
        return "; ".join(regions) or "no region"

    def check(self) -> None:
        """Say of each row, and of the view, what is wrong."""
        for row in self.entered:
            roi = row.roi
            if roi is None:
                row.fault = "This region needs a number for each of x1, y1, x2 and y2."
            elif roi not in self.stored:  # regions of the stored reference may stay in any form
                odd = has_invisible(roi.label)
                if roi.fault:
                    row.fault = f"This region {roi.fault}."
                elif roi.x1 < 0 or roi.y1 < 0 or roi.x2 > self.width or roi.y2 > self.height:
                    row.fault = f"This region leaves the picture; keep x from 0 to {self.width} and y from 0 to {self.height}."
                elif not roi.label:
                    row.fault = "This region needs a label; say what is in it."
                else:
                    row.fault = "The label of this region contains invisible characters. Type it again." if odd else ""
        if self.is_editable and len(self.entered) > MAX_REGIONS:
            self.fault = f"{self.name} has {len(self.entered)} regions, and at most {MAX_REGIONS} are marked here; delete some of them."


class RegionsForm:
    """The views that one page shows, as stored in the reference's version, or as `sent`."""

    template_row = Row("ROW")  # a row without numbers, for those that are added in the browser

    def __init__(
        self, bounds: Mapping[str, Sequence[int]], stored: Mapping[str, tuple[Roi, ...]], version: int, sent: QueryDict | None = None
    ) -> None:
        """`bounds` are width and height of the page's views by id, in order, and `stored` the regions of `version`."""
        self.version, self.fault, self.is_changed = version, "", sent is not None
        self.views = [View(item, n, width, height, stored[item]) for n, (item, (width, height)) in enumerate(bounds.items())]
        for view in self.views:
            if not view.is_editable or sent is None:
                view.rows = [
                    Row(n, (shortest_text(roi.x1), shortest_text(roi.y1), shortest_text(roi.x2), shortest_text(roi.y2)), roi.label)
                    for n, roi in enumerate(view.stored)
                ]
            else:
                view.rows = _sent_rows(sent, view.number)
        self._fill_up()

    def is_valid(self) -> bool:
        for view in self.views:
            view.check()
        faults = [view for view in self.views if view.fault or any(row.fault for row in view.rows)]
        if faults:
            names = ", ".join(view.name for view in faults)
            self.fault = f"Nothing was saved, because regions of {names} cannot be saved; correct them below."
        return not faults

    def changes(self) -> dict[str, tuple[Roi, ...]]:
        """The regions of the views in which they are others than before. The form is valid."""
        entered = {view.item: tuple(row.roi for row in view.entered if row.roi is not None) for view in self.views if view.is_editable}
        return {view.item: entered[view.item] for view in self.views if entered.get(view.item, view.stored) != view.stored}

    def add(self, number: int) -> None:
        """Give the view with that number another blank row."""
        for view in self.views[number : number + 1]:
            if len(view.rows) < MAX_REGIONS:
                view.rows.append(Row(_next_number(view.rows)))

    def delete(self, number: int, row: int) -> None:
        for view in self.views[number : number + 1]:
            view.rows = [region for region in view.rows if region.number != row]
        self._fill_up()

    def rebase(self, stored: Mapping[str, tuple[Roi, ...]], version: int) -> None:
        """Move to a newer version, keep the entered regions, and show that version's beside them."""
        for view in self.views:
            if stored[view.item] != view.stored:
                view.newer = stored[view.item]
            view.stored = stored[view.item]
        self.version = version

    def _fill_up(self) -> None:
        """Every view that has room ends in a blank row, for those who type."""
        for view in self.views:
            if view.is_editable and len(view.rows) < MAX_REGIONS and not (view.rows and view.rows[-1].is_blank):
                view.rows.append(Row(_next_number(view.rows)))


def shortest_text(side: float) -> str:
    """The number as short as it can be read back bit for bit."""
    return str(int(side)) if float(side).is_integer() else repr(side)


def _next_number(rows: Sequence[Row]) -> int:
    return 1 + max((int(row.number) for row in rows), default=-1)


def _sent_rows(sent: QueryDict, view: int) -> list[Row]:
    """The rows that a form holds of the view with that number, in their order, the blank ones left out."""
    numbers = set()
    for name in sent:
        kind, _, place = name.partition("-")
        of, _, row = place.partition("-")
        known = kind in (*SIDES, "label") and of == str(view) and row.isascii() and row.isdecimal() and len(row) < 5
        if known and row == str(int(row)):
            numbers.add(int(row))
    rows = (
        Row(n, tuple(sent.get(f"{side}-{view}-{n}", "")[:40] for side in SIDES), sent.get(f"label-{view}-{n}", "")[: 10 * MAX_LABEL])
        for n in sorted(numbers)
    )
    return [row for row in rows if not row.is_blank]


def _number(text: str) -> float | None:
    text = text.strip()
    if not text.isascii() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def scene_counts(item_ids: Sequence[str], stored: Mapping[str, tuple[Roi, ...]]) -> Iterator[tuple[str, int, int, int]]:
    """Counts of each scene: its name, its views with an image, how many of these have regions, and how many regions there are."""
    scenes: dict[str, list[int]] = {}
    for item in item_ids:
        of_scene = scenes.setdefault(item.partition("/")[0], [])
        if item in stored:
            of_scene.append(len(stored[item]))
    return ((name, len(counts), sum(map(bool, counts)), sum(counts)) for name, counts in scenes.items())

"""A scene as its page shows it: its views, the pictures of each, its objects with their values, and how far the pictures are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.urls import reverse

from evaluation.images import names, paint
from evaluation.metrics.render import osim
from evaluation.metrics.render.puzzlesim import metric
from evaluation.models import Evaluation, PictureRun
from evaluation.networks import weights
from leaderboard.boards.scorecard import ItemDetail, ItemTable, Result, item_details

# Meaning of the colours: each end of the scale, and all colours between for a gradient.
SCALES = {
    "error_scale": {"low": paint.ERROR.cold, "high": paint.ERROR.hot, "colours": ",".join(f"rgb{stop}" for stop in paint.STOPS)},
    "map_scale": {
        "low": paint.SIMILARITY[0],
        "high": paint.SIMILARITY[1],
        "colours": ",".join(colour for _, colour in metric.legend(*paint.SIMILARITY)),
    },
}
LAYERS = (names.REFERENCE, names.ERROR, "map", "cells", "low", names.MASK)  # in their order over the render
MAX_BOXES = 12  # of a view that are drawn before somebody asks for them
TITLES = {names.RENDER: "Render", names.REFERENCE: "Reference", names.ERROR: "Error map", names.MASK: "Mask"}
ALTERNATIVES = {
    names.RENDER: "Render of {view}",
    names.REFERENCE: "Reference image of {view}",
    names.ERROR: "Differences between render and reference of {view}, bright where they are great",
    names.MASK: "{view} with what lies outside its mask dimmed",
    names.MAP: "Similarity map over the render of {view}, dark where nothing alike is in a clean view",
    names.CELLS: "Render of {view} with the places marked that are odd among clean views",
    names.LOW: "Render of {view} with its least recognisable objects under red",
}


@dataclass(frozen=True)
class Picture:
    """One picture of a view; `kind` is its name less the column's slug, and picks the legend."""

    name: str
    kind: str
    title: str
    alt: str
    url: str
    small_url: str
    width: int
    height: int

    @property
    def small_width(self) -> int:
        return max(1, round(self.width * min(1.0, paint.SMALL / max(self.width, self.height))))

    @property
    def small_height(self) -> int:
        return max(1, round(self.height * min(1.0, paint.SMALL / max(self.width, self.height))))


@dataclass(frozen=True)
class Box:
    """An object of a view: where it is in percent of the picture, and its values as shown."""

    number: int
    label: str
    left: float
    top: float
    width: float
    height: float
    r: str
    s: str
    weight: str
    is_low: bool


@dataclass(frozen=True)
class View:
    """One view of a scene. `is_made` says whether its pictures are there; `render` is None if none may be seen."""

    item: str
    name: str
    values: list[ItemDetail]
    is_made: bool
    render: Picture | None
    layers: list[Picture]  # what can be shown beside the render, beginning with the first
    boxes: list[Box]

    @property
    def first(self) -> Picture | None:
        """The picture on the left, or alone."""
        return self.render or next(iter(self.layers), None)

    @property
    def draws_boxes(self) -> bool:
        return len(self.boxes) <= MAX_BOXES


class Scene:
    """One scene of an entry, as somebody sees it who may (or may not) see what derives from the reference."""

    def __init__(self, evaluation: Evaluation, scene: str, found: Sequence[Result], sees_reference: bool, sort: str = "") -> None:
        self.evaluation, self.name, self.sees_reference = evaluation, scene, sees_reference
        self.submission = evaluation.submission
        reference = evaluation.batch.reference
        self.places = [place for place, group in enumerate(reference.groups) if group == scene]
        sortable = []  # the metrics in which views of the scene differ
        for result in found:
            values = [result.score.values[place] for place in self.places if place < len(result.score.values)]
            if result.spec.level == "item" and not all(map(math.isnan, values)):
                sortable.append(result)
        slugs = [r.slug for r in sortable]
        main = next((r.slug for r in sortable if r.metric.is_primary), slugs[0] if slugs else "item")
        self.sort = sort if sort in (*slugs, "item") else main
        self.sortable, self.results = sortable, list(found)
        table = ItemTable(evaluation, found, self.sort, sees_reference=sees_reference)
        here = set(self.places)
        self.order = [place for place in table.order() if place in here] if table.sort == self.sort else self.places
        self.ids = reference.item_ids

    @property
    def prompt(self) -> str:
        """The text that a generated object was made from; nothing for scenes that are no such object."""
        return self.evaluation.batch.reference.prompts.get(self.name, "")

    def request(self) -> PictureRun:
        """The pictures of the scene; requests them, the worst views first, if nobody has."""
        return PictureRun.request(self.evaluation, self.name, [self.ids[place] for place in self.order])

    def view(self, item: str, run: PictureRun) -> View:
        """One view with what this person may see of it."""
        made, pictures = run.made.get(item), []
        for name, size in sorted((made or {}).items()):
            if not self.sees_reference and name != names.RENDER:
                continue
            kind, dot, slug = name.partition(".")
            title = next((r.metric.title for r in self.results if r.slug == slug), slug)
            words = {"map": f"{title} map", "cells": f"{title}: odd places", "low": f"{title}: poor objects"}
            pictures.append(
                Picture(
                    name=name,
                    kind=kind,
                    title=words[kind] if dot else TITLES[name],
                    alt=ALTERNATIVES[f"{kind}." if dot else name].format(view=item),
                    url=reverse("entry_picture", args=[self.submission.pk, item, name]),
                    small_url=reverse("entry_picture", args=[self.submission.pk, item, name + names.SMALL]),
                    width=size[0],
                    height=size[1],
                )
            )
        render = next((one for one in pictures if one.name == names.RENDER), None)
        place = self.ids.index(item)
        return View(
            item=item,
            name=short(item),
            values=[one for one in item_details(self.results, item, place, self.sees_reference) if one.result.spec.level == "item"],
            is_made=made is not None,
            render=render,
            layers=sorted((one for one in pictures if one is not render), key=lambda one: LAYERS.index(one.kind)),
            boxes=self._boxes(place),
        )

    def views(self, run: PictureRun, start: int, stop: int) -> list[View]:
        return [self.view(self.ids[place], run) for place in self.order[start:stop]]

    # --- objects

    @cached_property
    def objects(self) -> Result | None:
        """The column of objectness whose objects are drawn: the primary one, else the first; None if none may be seen."""
        if not self.sees_reference:
            return None
        candidates = [r for r in self.results if r.metric.key in names.OBJECTNESS]
        return next((r for r in candidates if r.metric.is_primary), candidates[0] if candidates else None)

    @cached_property
    def objects_value(self) -> float | None:
        """The scene's value of it."""
        result = self.objects
        value = result.score.values[self.places[0]] if result is not None and self.places else math.nan
        return None if math.isnan(value) else float(value)

    @property
    def objects_statement(self) -> str:
        """Statement on the detector before its objects are believed."""
        result = self.objects
        return weights.statement(result.spec, result.metric.params) if result is not None else ""

    @property
    def classes(self) -> Sequence[Any]:
        """The classes of the scene's objects, heaviest first, as `osim.scene` gives them."""
        every = [one for place in self.places for one in self._seen(place)]
        return osim.scene(every).classes if every else ()

    def _seen(self, place: int) -> Sequence[Any]:
        vectors = self.objects.score.parts if self.objects is not None else {}
        return osim.objects_of({name: float(vector[place]) for name, vector in vectors.items()})

    def _boxes(self, place: int) -> list[Box]:
        seen, value = self._seen(place), self.objects_value
        size = self.evaluation.batch.reference.bounds[place]
        if not seen or value is None or not all(size):
            return []
        found = []
        for number, one in enumerate(seen, start=1):
            left, top, right, bottom = (100 * v / n for v, n in zip(one.box, (*size, *size), strict=True))
            found.append(
                Box(
                    number,
                    one.label,
                    round(left, 2),
                    round(top, 2),
                    round(right - left, 2),
                    round(bottom - top, 2),
                    f"{one.r:.3f}",
                    f"{one.s:.3f}",
                    f"{one.weight:.3f}",
                    one.r < value,
                )
            )
        return found


def short(item: str) -> str:
    """The name of a view within its scene."""
    return item.partition("/")[2] or item


def scenes(evaluation: Evaluation) -> list[tuple[str, int, str]]:
    """The scenes of a reference, in its order: name, number of views, and the prompt of a generated object."""
    reference = evaluation.batch.reference
    return [(name, count, reference.prompts.get(name, "")) for name, count in Counter(reference.groups).items()]

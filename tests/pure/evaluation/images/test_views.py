"""Pictures of a view, and how far one slice gets."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from evaluation.images import paint, views
from evaluation.metrics.render import osim
from evaluation.metrics.render.pair import RenderPair
from submissions.formats.render.views import CleanViews, View, render
from tests.support import pictures
from tests.support.evaluation.metrics.render.pieces import rooms

NOTHING = {"maps": {}, "objects": {}}
OBJECT = osim.SeenObject("square", 8.0, 20.0, 32.0, 44.0, 1.0, 0.4, 0.9, 1.0)


def pair(masked: bool = False, **changes) -> RenderPair:
    view = next(iter(pictures.views(1, masked=masked).values()))
    return RenderPair.of(next(iter(pictures.renders(1).values())), replace(view, **changes))


@pytest.fixture
def pieces_rooms():
    found = rooms.views(6)
    return rooms.clean(found[:5]), rooms.spoilt(found[5])


def names(it: RenderPair, objects=()) -> list[str]:
    return [name for name, _ in views.pictures(it, {}, {"osim": (0.5, objects)} if objects else {})]


def test_a_view_with_everything_has_a_picture_of_each():
    assert names(pair(masked=True), [OBJECT]) == ["render", "reference", "mask", "error", "low.osim"]


def test_what_is_not_there_makes_no_picture():
    assert names(pair()) == ["render", "reference", "error"]
    assert names(pair(image=None)) == ["render"]
    assert names(pair(masked=True, image=None)) == ["render", "mask"]  # over the render
    missing = RenderPair.of(None, next(iter(pictures.views(1).values())))
    assert names(missing, [OBJECT]) == ["reference"]


def test_a_render_of_another_size_has_no_error_map():
    small = RenderPair.of(render(pictures.picture(1)[:32]), next(iter(pictures.views(1).values())))
    assert names(small, [OBJECT]) == ["render", "reference"]


def test_only_objects_below_the_scene_are_masked():
    good = replace(OBJECT, x1=50.0, x2=60.0, r=0.5)
    found = dict(views.pictures(pair(), {}, {"osim": (0.5, [OBJECT, good])}))
    changed = (found["low.osim"] != found["render"]).any(axis=2)
    assert changed[20:44, 8:32].mean() > 0.99 and not changed[:20].any() and not changed[:, 32:].any()


def test_odd_places_are_marked_where_the_render_is_spoilt(pieces_rooms):
    clean, spoilt = pieces_rooms
    view = View(None, rooms.WIDTH, rooms.HEIGHT, clean=clean)
    column = {"key": "puzzlesim_pieces", "params": {"features": "dictionary"}}
    found = dict(views.pictures(RenderPair.of(render(spoilt), view), {"odd": column}, {}))
    assert list(found) == ["render", "cells.odd"]
    changed = (found["cells.odd"] != found["render"]).any(axis=2)
    inside, outside = changed[: rooms.HEIGHT // 2, : rooms.WIDTH // 2].mean(), changed[rooms.HEIGHT // 2 :].mean()
    assert inside > 0.4 > 2 * outside
    few = View(None, rooms.WIDTH, rooms.HEIGHT, clean=CleanViews.of(clean.images[:3]))
    assert list(dict(views.pictures(RenderPair.of(render(spoilt), few), {"odd": column}, {}))) == ["render"]


def test_a_slice_makes_at_least_one_view_and_stops_when_the_time_is_over(tmp_path):
    ticks = iter(range(100))
    made = views.make(tmp_path, pictures.renders(), pictures.views(), list(pictures.views()), NOTHING, 1.0, 1.5, clock=lambda: next(ticks))
    assert list(made) == ["garden/view_1", "garden/view_2"]
    assert made["garden/view_1"] == {name: [96, 64] for name in ("render", "reference", "error")}
    assert sorted(path.name for path in tmp_path.iterdir())[:2] == ["0-error.small.webp", "0-error.webp"]
    with Image.open(tmp_path / "1-reference.webp") as found:
        assert np.abs(np.asarray(found).astype(int) - pictures.picture(2)).mean() < 4


@pytest.mark.parametrize("longest", [paint.LARGE, paint.SMALL])
def test_a_thumbnail_is_no_larger_than_said(longest):
    with Image.open(io.BytesIO(paint.webp(np.zeros((700, 1000, 3), np.uint8), longest))) as found:
        assert max(found.size) == longest

"""Damages: how much of a picture they touch, and that the same view is damaged alike each time."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.properties.gate.damages import blobs, damaged
from evaluation.properties.gate.design import BY_NAME, LADDERS, PICTURE_DAMAGES
from evaluation.synthetic.rooms import room, walk


@pytest.fixture(scope="module")
def views() -> list[np.ndarray]:
    return [one.image for one in walk(room("gate"), 2, 128, 96, samples=1)]


@pytest.fixture(scope="module")
def made(views):
    others = [np.full((40, 30, 3), 200, np.uint8), np.zeros((5, 5, 3), np.uint8)]
    return {damage.name: (pixels, mask) for damage, pixels, mask in damaged(views[0], 3, views[1], others)}


def test_there_are_as_many_of_each_group_as_the_definition_names():
    groups = [damage.group for damage in PICTURE_DAMAGES]
    assert {group: groups.count(group) for group in groups} == {"mild": 8, "stronger": 14, "local": 3, "empty": 4, "foreign": 5}
    assert sum(damage.has_mask for damage in PICTURE_DAMAGES) == 9  # floaters, holes and smears twice each, and three local ones
    assert {name for ladder in LADDERS for name in ladder} <= set(BY_NAME)


def test_each_damage_keeps_size_and_type_and_changes_the_picture(made, views):
    assert list(made) == [damage.name for damage in PICTURE_DAMAGES]
    for name, (pixels, mask) in made.items():
        assert pixels.shape == views[0].shape and pixels.dtype == np.uint8
        assert (pixels != views[0]).any(), name
        assert (mask is not None) == BY_NAME[name].has_mask


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("floaters1", 0.05),
        ("floaters2", 0.20),
        ("holes1", 0.04),
        ("holes2", 0.15),
        ("smear1", 0.12),
        ("smear2", 0.40),
        ("blur_blobs", 0.15),
    ],
)
def test_local_damages_cover_their_share_and_nothing_else(made, views, name, share):
    pixels, mask = made[name]
    assert mask.mean() == pytest.approx(share, abs=0.001)
    if not name.startswith("floaters"):  # these have soft edges
        assert (pixels[~mask] == views[0][~mask]).all()


def test_values_by_hand(made, views):
    view = views[0].astype(np.float64)
    assert (made["grey"][0] == 128).all() and (made["black"][0] == 0).all() and (made["white"][0] == 255).all()
    assert (made["meancolour"][0][0, 0] == np.floor(view.reshape(-1, 3).mean(axis=0) + 0.5)).all()
    red = np.floor(np.clip(view[..., 0] * 1.125, 0, 255) + 0.5)
    green = np.floor(np.clip(view[..., 1] + 0.04 * (view[..., 0] - view[..., 1]), 0, 255) + 0.5)
    assert (made["colour1"][0][..., 0] == red).all() and (made["colour1"][0][..., 1] == green).all()
    assert (made["halfblack"][0][:, 64:] == 0).all() and (made["halfblack"][0][:, :64] == views[0][:, :64]).all()
    assert (made["other1"][0] == 200).all()


def test_the_number_of_the_view_alone_seeds_the_draws(made, views):
    again = {damage.name: pixels for damage, pixels, _ in damaged(views[0], 3, views[1], [views[1]])}
    other = {damage.name: pixels for damage, pixels, _ in damaged(views[0], 4, views[1], [views[1]])}
    assert [name for name in again if not name.startswith("other") and not (again[name] == made[name][0]).all()] == []
    assert (other["noise8"] != again["noise8"]).any() and (other["holes1"] != again["holes1"]).any()


@pytest.mark.parametrize("size", [(1, 1), (2, 7), (33, 17)])
def test_small_pictures_can_be_damaged_too(size):
    view = np.random.default_rng(0).integers(0, 256, (*size, 3), dtype=np.uint8)
    assert [pixels for _, pixels, _ in damaged(view, 0, view, [view]) if pixels.shape != view.shape] == []


def test_blobs_are_the_highest_places():
    field = np.arange(20.0).reshape(4, 5)
    assert blobs(field, 0.2).sum() == 4 and blobs(field, 0.2)[-1, 1:].all()

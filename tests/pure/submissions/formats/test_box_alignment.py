"""One box compared with another: size, axes, place, and what is said of a whole set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submissions.formats.box_alignment import Box, Kind, diagnosis, label, misfit, overlap
from tests.support.examples import examples

HOUSE = Box(np.array([0.0, 0.0, 0.0]), np.array([10.0, 8.0, 6.0]))
FAR = np.array([480_000.0, 5_400_000.0, 200.0])


def moved(box: Box, by: np.ndarray) -> Box:
    return Box(box.low + by, box.high + by)


def test_what_lies_where_it_should_fits():
    assert misfit(HOUSE, HOUSE) is None and label(HOUSE, HOUSE) == "fits"
    assert misfit(moved(HOUSE, np.array([1.0, 1.0, 0.5])), HOUSE) is None


@pytest.mark.parametrize(("factor", "power"), [(1000, 3), (0.001, -3), (100, 2), (0.1, -1), (10, 1), (39.37, 0), (7, 0)])
def test_a_power_of_ten_is_told_from_another_factor(factor, power):
    one = misfit(HOUSE.scaled(factor), HOUSE)
    assert one is not None and one.kind is Kind.SIZE and one.ratio == pytest.approx(factor) and one.power == power
    assert label(HOUSE.scaled(factor), HOUSE) == (f"size:{power}" if power else "fits")


@pytest.mark.parametrize("factor", [0.25, 0.5, 2, 4.9])
def test_what_is_a_little_larger_or_smaller_is_no_wrong_unit(factor):
    around = moved(HOUSE, -HOUSE.centre)
    assert misfit(around.scaled(factor), around) is None


def test_a_part_of_its_points_may_be_small_but_not_tiny():
    tile = moved(HOUSE.scaled(20), -HOUSE.centre * 20)
    house = moved(HOUSE, -HOUSE.centre)
    assert misfit(house, tile, may_be_part=True) is None
    assert misfit(house, tile).kind is Kind.SIZE
    assert misfit(house.scaled(0.1), tile, may_be_part=True).kind is Kind.SIZE


@pytest.mark.parametrize(
    ("axes", "signs"),
    [((1, 0, 2), (1, 1, 1)), ((0, 2, 1), (1, 1, 1)), ((0, 2, 1), (1, -1, 1)), ((2, 0, 1), (1, 1, 1)), ((0, 1, 2), (1, 1, -1))],
)
def test_swapped_axes_are_found_and_how_they_would_fit(axes, signs):
    there = moved(HOUSE, FAR)
    one = misfit(there.rotated(np.argsort(axes), [signs[n] for n in np.argsort(axes)]), there)
    assert one is not None and one.kind is Kind.AXES
    assert overlap(there.rotated(np.argsort(axes), [signs[n] for n in np.argsort(axes)]).rotated(one.axes, one.signs), there) > 0.99


def test_local_coordinates_are_told_from_another_offset():
    local, other = misfit(HOUSE, moved(HOUSE, FAR)), misfit(moved(HOUSE, np.array([100.0, 0, 0])), HOUSE)
    assert (local.kind, local.local) == (Kind.PLACE, True) and (other.kind, other.local) == (Kind.PLACE, False)
    assert other.distance == pytest.approx(100) and local.distance == pytest.approx(float(np.linalg.norm(FAR)))


def test_points_without_extent_have_no_box():
    assert Box.of(np.zeros((0, 3))) is None and Box.of(np.ones((5, 3))) is None
    assert Box.of(np.array([[0.0, 0, 0], [0, 0, 1]])).diagonal == 1


@examples(60)
@given(st.lists(st.floats(-100, 100), min_size=6, max_size=6), st.lists(st.floats(-100, 100), min_size=6, max_size=6))
def test_overlap_is_a_share_that_does_not_ask_who_is_first(a, b):
    boxes = [Box(np.minimum(v[:3], v[3:]), np.maximum(v[:3], v[3:])) for v in (np.array(a), np.array(b))]
    if any(box.diagonal < 1e-6 for box in boxes):
        return
    assert 0 <= overlap(*boxes) <= 1 + 1e-9 and overlap(*boxes) == pytest.approx(overlap(*boxes[::-1]))
    assert overlap(boxes[0], boxes[0]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], ""),
        (["fits"], "fits"),
        (["size:3"] * 3 + ["fits"], "size"),
        (["size:3"] * 2 + ["fits"] * 2, "fits"),
        (["size:3", "size:3", "size:2", "size:1"], "fits"),
        (["axes"] * 3 + ["place"] * 2, "axes"),
        (["place"] * 9, "place"),
    ],
)
def test_a_set_is_diagnosed_by_what_more_than_half_have_in_common(labels, said):
    assert diagnosis(labels) == diagnosis(labels[::-1]) == said

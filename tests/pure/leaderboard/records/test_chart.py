"""Names in charts."""

from __future__ import annotations

import pytest

from leaderboard.records.chart import LABEL_LENGTH, labels, shortened

LONG = "a-name-without-an-end-" * 9


def test_a_name_is_cut_in_its_middle():
    assert shortened("gable-net v3") == "gable-net v3"
    one, other = shortened(f"{LONG} v1"), shortened(f"{LONG} v2")
    assert one != other and len(one) <= 36 and one.startswith("a-name") and one.endswith(" v1")


@pytest.mark.parametrize(
    ("names", "methods", "shown"),
    [
        (["gable-net (Roofers)"], ["gable-net"], ["gable-net (Roofers)"]),
        (["gable-net v3 (University of Roofs)"], ["gable-net v3"], ["gable-net v3"]),
        (["gable-net v3 (Roofers of Basel)", "gable-net v3 (B)"], ["gable-net v3"] * 2, ["gable-net v3 (R…f Basel)", "gable-net v3 (B)"]),
        # What a method itself has in brackets is no team, also where another entry has that name.
        (["Mip-NeRF 360 (no appearance embedding)"], (), ["Mip-NeRF 360 (n…bedding)"]),
        (["Mip-NeRF 360 (no appearance embedding)"] * 2, (), ["Mip-NeRF 360 (n…bedding)", "Mip-NeRF 360…dding) (2)"]),
        (["gable-net v3 (University of Roofs)", "gable-net v3"], ["gable-net v3"] * 2, ["gable-net v3 (U…f Roofs)", "gable-net v3"]),
    ],
)
def test_a_long_name_loses_its_team_alone_where_no_other_is_called_so(names, methods, shown):
    assert labels(names, methods) == shown


def test_no_two_labels_are_the_same():
    names = ["gable", "gable", "gable (2)", *(f"a long name of version {n} of one method of a team" for n in range(12))]
    found = labels(names)
    assert len(set(found)) == len(names) and max(map(len, found)) <= LABEL_LENGTH and found[0] == "gable"

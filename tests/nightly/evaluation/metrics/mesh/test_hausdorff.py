"""The largest distance between larger scans."""

import pytest

from tests.pure.evaluation.metrics.mesh.test_distances import compare_with_exact


@pytest.mark.parametrize("name", ["bunny.ply", "rabbit.obj"])
def test_the_largest_distance_is_within_two_percent_of_the_exact_one_whatever_the_seed(data_folder, name):
    compare_with_exact(data_folder / "meshes" / name)

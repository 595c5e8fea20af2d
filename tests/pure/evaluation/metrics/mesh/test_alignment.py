import numpy as np
import pytest

from evaluation.metrics.mesh.alignment import IDENTITY, fitted, similarity_icp
from tests.support.evaluation.solids import mesh, turned


def cloud(seed: int, n: int = 400) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3)) * (3, 2, 1)


def test_a_similarity_is_recovered_from_its_pairs():
    points = cloud(0)
    targets = 2.5 * turned(mesh(points), 1).vertices + (1, -2, 3)
    found = fitted(points, targets)
    assert found.apply(points) == pytest.approx(targets, abs=1e-9)
    assert found.scale == pytest.approx(2.5)
    assert np.linalg.det(found.rotation) == pytest.approx(1)


def test_a_mirror_image_is_not_turned_inside_out():
    points = cloud(1)
    assert np.linalg.det(fitted(points, points * (-1, 1, 1)).rotation) == pytest.approx(1)


@pytest.mark.parametrize("points", [np.zeros((5, 3)), np.outer(np.arange(5), (1.0, 2.0, 3.0))])
def test_points_on_one_line_determine_no_rotation(points):
    assert fitted(points, cloud(2, 5)[:5] * 0 + points) is None
    assert similarity_icp(points, cloud(3)).scale == 1.0


def test_equal_clouds_stay_where_they_are():
    found = similarity_icp(cloud(4), cloud(4))
    assert found.residual == 0
    assert found.apply(cloud(4)) == pytest.approx(cloud(4), abs=1e-12)
    assert IDENTITY.parts(2.0)["align_rms"] == 0


def test_aligning_never_makes_it_worse():
    for seed in range(10):
        points, reference = cloud(seed), 3 * cloud(seed + 50) + seed
        found = similarity_icp(points, reference)

        def cost(moved, reference=reference):
            gaps = np.linalg.norm(moved[:, None] - reference[None], axis=2)
            return (gaps.min(axis=0) ** 2).mean() + (gaps.min(axis=1) ** 2).mean()

        assert cost(found.apply(points)) <= cost(points) * (1 + 1e-12)
        assert found.residual == pytest.approx(np.sqrt(cost(found.apply(points)) / 2))

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evaluation.metrics.wireframe.canon import canon
from evaluation.synthetic.houses import KINDS, PROJECTED_ORIGIN, house, houses
from submissions.manifest import ITEM_ID


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_a_house_is_a_sound_wireframe_of_a_houses_size(kind, seed):
    frame = house(kind, seed)
    n, edges = len(frame.vertices), frame.edges
    assert frame.vertices.dtype == np.float64 and edges.dtype == np.int64
    assert 12 <= n <= 60 and 12 <= len(edges) <= 100
    assert len(np.unique(frame.vertices.round(6), axis=0)) == n
    assert np.array_equal(np.unique(np.sort(edges, axis=1), axis=0), canon(frame.vertices, edges)[1]) and len(np.unique(edges)) == n
    lengths = np.linalg.norm(frame.vertices[edges[:, 1]] - frame.vertices[edges[:, 0]], axis=1)
    assert lengths.min() > 0.05 and lengths.max() < 30
    assert frame.vertices[:, 2].min() == 0.0 and 3 < frame.vertices[:, 2].max() < 16
    assert np.bincount(edges.ravel()).min() >= 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_varies_in_size_direction_and_make(kind):
    made = [house(kind, seed) for seed in range(40)]
    assert len({len(frame.vertices) for frame in made}) > 1 or kind == "hip"
    assert len({len(frame.edges) for frame in made}) > 1 or kind == "hip"
    heights = [np.ptp(frame.vertices[:, 2]) for frame in made]
    assert np.std(heights) > 0.5


def test_the_same_seed_gives_the_same_house_and_another_another():
    first, again, other = house("gable", 3), house("gable", 3), house("gable", 4)
    assert np.array_equal(first.vertices, again.vertices) and np.array_equal(first.edges, again.edges)
    assert first.vertices.shape != other.vertices.shape or not np.allclose(first.vertices, other.vertices)


def test_houses_come_in_all_kinds_in_turn_under_plain_ids():
    made = houses(24, seed=1)
    assert list(made) == [f"house_{number:02}" for number in range(1, 25)]
    assert [name for name in made if not ITEM_ID.fullmatch(name)] == []
    assert len({frame.vertices.tobytes() for frame in made.values()}) == 24
    assert len(houses(120)) == 120 and "house_007" in houses(120)


def test_a_house_can_stand_at_projected_coordinates():
    near, far = house("dormer", 2), house("dormer", 2, PROJECTED_ORIGIN)
    assert far.vertices.mean(axis=0) == pytest.approx(np.add(PROJECTED_ORIGIN, near.vertices.mean(axis=0)))
    assert far.vertices - np.array(PROJECTED_ORIGIN) == pytest.approx(near.vertices, abs=1e-8)
    assert np.array_equal(near.edges, far.edges)


def test_the_valleys_of_an_l_shaped_house_lie_on_both_roofs():
    """The lower ridge ends on the main slope: every house but its chimney is one connected piece."""
    for seed in range(10):
        frame = house("l_shaped", seed)
        links = coo_array((np.ones(len(frame.edges)), frame.edges.T), shape=(len(frame.vertices),) * 2)
        assert connected_components(links, directed=False)[0] <= 2


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="no house of kind 'igloo'; kinds are gable, hip, l_shaped, dormer"):
        house("igloo", 0)

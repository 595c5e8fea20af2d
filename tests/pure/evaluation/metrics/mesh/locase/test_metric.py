"""`locase` as a metric: invariances, degenerate input, and weights that are absent or wrong."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from safetensors.torch import load, save
from scipy.spatial.transform import Rotation

from evaluation.metrics.mesh.locase import metric
from evaluation.metrics.mesh.pair import MeshPair
from evaluation.metrics.result import Status
from evaluation.networks import weights
from evaluation.synthetic.distortions import add_noise as noise
from evaluation.synthetic.distortions import distort, soup
from evaluation.synthetic.meshes import mesh
from submissions.formats.arrays import Mesh
from tests.support.evaluation.metrics.defaults import with_defaults
from tests.support.evaluation.metrics.mesh.locase.simulated import brick, noisy, shelf, untrained
from tests.support.examples import examples

locase = with_defaults("locase")


@pytest.fixture(autouse=True)
def simulated_weights(tmp_path, monkeypatch):
    shelf(tmp_path, monkeypatch, stage1=untrained())
    monkeypatch.setattr(metric, "_loaded", {})
    return tmp_path


def score(prediction: Mesh | None, reference: Mesh, **params: str) -> float:
    result = locase(MeshPair.of(prediction, reference), **params)
    assert result.status == Status.OK and 1 <= result.value <= 5
    return result.value


def test_it_gives_the_same_bits_twice_and_sees_damage():
    whole = mesh("star", 1)
    hurt = distort(whole, "noise", 3)
    assert score(hurt, whole) == score(hurt, whole) != score(whole, whole)


def test_order_and_soup_change_no_bit():
    whole, rng = brick(2.0), np.random.default_rng(0)
    hurt = noisy(whole, 2)
    expected = score(hurt, whole)
    order = rng.permutation(len(hurt.vertices))
    shuffled = Mesh(hurt.vertices[order], np.argsort(order)[hurt.faces][rng.permutation(len(hurt.faces))])
    assert score(shuffled, whole) == expected == score(soup(hurt), soup(whole))


def test_each_mesh_is_seen_in_its_own_frame():
    whole = mesh("plane", 2)
    hurt = distort(whole, "bumps", 3)
    turned = Mesh(Rotation.from_euler("xyz", [1.0, -0.4, 2.2]).apply(hurt.vertices) * 3.7 + [4, 5, 6], hurt.faces)
    assert score(turned, whole) == pytest.approx(score(hurt, whole), abs=1e-4)
    far = [Mesh(m.vertices + 6.5e6, m.faces) for m in (hurt, whole)]
    assert score(*far) == pytest.approx(score(hurt, whole), abs=1e-3)


def test_nothing_scores_better_than_the_reference_itself():
    whole = mesh("table", 3)
    assert score(whole, whole) == 5 > score(distort(whole, "smoothing", 1), whole)


@pytest.mark.parametrize("kind", ["gear", "table"])
def test_noise_that_nobody_sees_turns_no_symmetric_mesh_over(kind):
    whole = mesh(kind, 4)
    unseen = [score(noise(whole, 5e-4, np.random.default_rng(seed)), whole) for seed in range(2)]
    assert min(unseen) > score(distort(whole, "noise", 4), whole)


def test_pieces_do_not_show(monkeypatch):
    from evaluation.metrics.mesh.locase import scoring

    whole = brick(1.8)
    expected = score(noisy(whole, 1), whole)
    monkeypatch.setitem(scoring._PIECE, "cpu", 7)
    assert score(noisy(whole, 1), whole) == pytest.approx(expected, abs=1e-5)


def test_the_reference_is_encoded_once_for_all_predictions():
    whole, kept = brick(2.0), {}
    first = locase(MeshPair.of(noisy(whole, 1), whole, prepared=kept)).value
    (encoded,) = [key for key in kept if key.startswith("locase ")]
    assert [array.shape for array in kept[encoded]] == [(512,), (4,)]
    again = locase(MeshPair.of(noisy(whole, 1), whole, prepared=kept)).value
    assert first == again
    kept[encoded] = (kept[encoded][0] + 1, kept[encoded][1])
    assert locase(MeshPair.of(noisy(whole, 1), whole, prepared=kept)).value != first


@pytest.mark.parametrize(
    ("prediction", "status"),
    [
        (None, Status.EMPTY_PRED),
        (Mesh(np.empty((0, 3)), np.empty((0, 3), dtype=np.int64)), Status.EMPTY_PRED),
        (Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]])), Status.OK),
        (Mesh(np.eye(3), np.array([[0, 1, 2]])), Status.OK),
        (Mesh(np.random.default_rng(0).random((9, 3)), np.empty((0, 3), dtype=np.int64)), Status.OK),
    ],
)
def test_degenerate_predictions_get_the_worst_score(prediction, status):
    result = locase(MeshPair.of(prediction, brick(2.0)))
    assert (result.value, result.status, result.flags) == (1.0, status, ("degenerate",))


coordinate = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e7, -1e7, 1e-30]), st.floats(-1e7, 1e7, allow_nan=False))


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=12), st.integers(0, 1000))
def test_any_mesh_gets_a_number(places, seed):
    faces = np.random.default_rng(seed).integers(0, len(places), (10, 3))
    given_ = Mesh(np.array(places), faces)
    assert 1 <= locase(MeshPair.of(given_, brick(1.0))).value <= 5
    try:
        pair = MeshPair.of(brick(1.0), given_)
    except ValueError:
        return  # not a reference
    result = locase(pair)
    assert result.flags == ("degenerate_reference",) if result.value is None else 1 <= result.value <= 5


def test_without_weights_nothing_is_computed(simulated_weights):
    (simulated_weights / "stage1.safetensors").unlink()
    with pytest.raises(weights.WeightsError, match="“stage1” of locase are not on this server"):
        locase(MeshPair.of(brick(1.0), brick(1.0)))


def test_other_weights_than_the_cards_are_refused(simulated_weights):
    (simulated_weights / "stage1.safetensors").write_bytes(untrained(seed=5))
    with pytest.raises(weights.WeightsError, match=r"stage1.safetensors is not the one its card describes"):
        locase(MeshPair.of(brick(1.0), brick(1.0)))


def test_weights_of_another_network_are_refused(tmp_path, monkeypatch):
    tensors = load(untrained())
    shelf(tmp_path, monkeypatch, stage1=save({name: value for name, value in tensors.items() if "gate" not in name}))
    with pytest.raises(weights.WeightsError, match="“stage1” of locase are of an earlier version of its network; train them again"):
        locase(MeshPair.of(brick(1.0), brick(1.0)))


def test_other_weights_are_other_numbers(tmp_path, monkeypatch):
    shelf(tmp_path, monkeypatch, stage1=untrained(), ours=untrained(seed=3))
    assert weights.names("locase") == ("ours", "stage1")
    assert score(brick(1.0), brick(2.0)) != score(brick(1.0), brick(2.0), weights="ours")
    with pytest.raises(weights.WeightsError, match=r"'theirs' of locase.* ours, stage1"):
        locase(MeshPair.of(brick(1.0), brick(1.0)), weights="theirs")

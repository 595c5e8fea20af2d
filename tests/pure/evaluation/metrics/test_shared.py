import numpy as np
import pytest

from evaluation.metrics.registry import REGISTRY, resolve_params
from evaluation.metrics.shared import SharedWork
from evaluation.metrics.wireframe.pair import Pair
from tests.support.evaluation.shapes import SQ, noisy, random_wireframe


def test_what_was_prepared_is_read_and_what_was_not_is_kept():
    kept, made = {"there": (np.ones(2),)}, []
    shared = SharedWork(kept)
    assert shared.reference_once("there", lambda: made.append(1)) is kept["there"]
    (found,) = shared.reference_once("new", lambda: (np.zeros(3),))
    assert not made and kept["new"][0] is found
    assert SharedWork(kept).reference_once("new", lambda: made.append(1))[0] is found


def test_nobody_changes_what_is_kept():
    (found,) = SharedWork().reference_once("new", lambda: (np.zeros(3),))
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 1.0


def test_each_pair_without_a_mapping_has_its_own():
    one, other = SharedWork(), SharedWork()
    one.reference_once("key", lambda: (np.zeros(1),))
    assert other.prepared == {}


def test_values_are_the_same_bit_for_bit_from_what_was_prepared(tmp_path):
    """Every wireframe metric: computed afresh, then with the reference's side read back from a file."""
    reference = random_wireframe(5)
    first, second = noisy(reference, 0.3, 0), noisy(reference, 0.4, 1)
    specs = [spec for spec in REGISTRY.values() if spec.family == "wireframe" and not spec.weights and spec.key != "hss_exact"]

    def values(prediction, prepared):
        pair = Pair.of(prediction, reference, prepared=prepared)
        few = {spec.key: {"n": 200} if any(param.name == "n" for param in spec.params) else {} for spec in specs}
        return [spec.function(pair, **resolve_params(spec.key, few[spec.key])).value for spec in specs]

    prepared = {}
    values(first, prepared)
    np.savez(tmp_path / "kept.npz", **{f"{n}:{k}": a for n, arrays in enumerate(prepared.values()) for k, a in enumerate(arrays)})
    with np.load(tmp_path / "kept.npz") as file:
        read = {key: tuple(file[f"{n}:{k}"] for k in range(len(arrays))) for n, (key, arrays) in enumerate(prepared.items())}
    assert len(read) == 3, "curve samples, spectrum, solid of the tubes"
    assert values(second, read) == values(second, None)
    assert len(read) == len(prepared), "the second entry needed nothing new"


def test_the_same_reference_without_a_prediction_shares_what_was_prepared():
    pair = Pair.of(noisy(SQ, 0.1, 0), SQ)
    alone = pair.without_prediction()
    assert alone.prepared is pair.prepared and len(alone.pred_vertices) == 0 and alone.pred_scores is None
    assert np.array_equal(alone.ref_vertices, pair.ref_vertices) and len(pair.pred_vertices) == 4
    pair.once("work", lambda: 1)
    assert alone.once("work", lambda: 2) == 2


def test_equal_arrays_are_worked_on_once_by_pairs_that_share_their_repeats():
    made: list[int] = []
    one, other, alone = SharedWork(), SharedWork(), SharedWork()
    one.repeats = other.repeats = {}

    def value(work: SharedWork, key: str, *arrays: np.ndarray) -> int:
        return work.repeated(key, arrays, lambda: made.append(1) or len(made))

    assert [value(one, "key", np.arange(3.0)), value(other, "key", np.arange(3.0)), value(one, "key", np.arange(3.0))] == [1, 1, 1]
    assert value(one, "another", np.arange(3.0)) == 2 and value(one, "key", np.arange(3.0) + 1e-16) == 3
    assert (
        value(one, "key", np.zeros(4)) == 4
        and value(one, "key", np.zeros((2, 2))) == 5
        and value(one, "key", np.zeros(4), np.zeros(0)) == 6
    )
    assert value(alone, "key", np.arange(3.0)) == 7 and value(alone, "key", np.arange(3.0)) == 8

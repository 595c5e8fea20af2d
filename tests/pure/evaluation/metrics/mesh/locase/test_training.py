"""Soft ranks against documented values, a brute-force projection and finite differences; the three terms of the loss.

Training: the loss falls, an interrupted run ends like an uninterrupted one, stage 2 leaves the base alone.
"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load
from scipy.optimize import minimize
from scipy.stats import pearsonr, rankdata, spearmanr

from evaluation.metrics.mesh.locase.alignment import Shape
from evaluation.metrics.mesh.locase.dataset import Sample, _seen
from evaluation.metrics.mesh.locase.scoring import compared, encoded, ready
from evaluation.metrics.mesh.locase.training import (
    Plan,
    Training,
    agreement,
    loss,
    phases,
    plcc,
    predict,
    rank_correlation,
    scored,
    soft_rank,
)
from evaluation.training.errors import TrainingError
from tests.support.evaluation.metrics.mesh.locase.simulated import subjects, untrained


def real(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize(
    ("values", "strength", "ranks"),
    [
        ((8, 0, 5, 3, 2, 1, 6, 7, 9), 1, (8, 1, 5, 4, 3, 2, 6, 7, 9)),
        ((0.1, 0.2, 0.9), 1, (1.7, 1.8, 2.5)),
        ((0.1, 0.2, 0.9), 0.1, (1, 2, 3)),
        ((1, 1, 3), 1, (1.5, 1.5, 3)),
    ],
)
def test_documented_soft_ranks(values, strength, ranks):
    assert soft_rank(real(*values), strength).tolist() == pytest.approx(ranks)


def test_documented_loss_of_ranks():
    value = 1 - rank_correlation(real(0.1, 0.4, 0.35, 0.8), real(1, 2, 3, 4), 0.01)
    assert float(value) == pytest.approx(0.2)


@pytest.mark.parametrize("seed", range(4))
def test_soft_ranks_are_the_nearest_point_of_the_permutahedron(seed):
    """Its corners are the permutations of 1..4; the nearest point is found by minimising over their mixtures."""
    from itertools import permutations

    values = np.random.default_rng(seed).normal(size=4) * 2
    corners = np.array(list(permutations(range(1, 5))), dtype=float)

    def away(free: np.ndarray) -> float:
        return float(((free @ corners - values) ** 2).sum())

    start = np.full(len(corners), 1 / len(corners))
    found = minimize(
        away,
        start,
        jac=lambda free: 2 * corners @ (free @ corners - values),
        method="SLSQP",
        bounds=[(0, 1)] * len(corners),
        constraints={"type": "eq", "fun": lambda free: free.sum() - 1},
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert soft_rank(real(*values), 1.0).numpy() == pytest.approx(found.x @ corners, abs=1e-4)


def test_gradients_are_those_of_finite_differences():
    values = torch.randn(9, dtype=torch.float64, generator=torch.Generator().manual_seed(3), requires_grad=True)
    assert torch.autograd.gradcheck(lambda v: soft_rank(v, 0.7), values)
    target = real(*range(9))
    assert torch.autograd.gradcheck(lambda v: loss(v, target), values)


def test_weak_strength_gives_hard_ranks_and_spearman():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=40), rng.integers(0, 9, 40).astype(float)
    assert soft_rank(real(*a), 1e-6).numpy() == pytest.approx(rankdata(a))
    assert float(rank_correlation(real(*a), real(*b), 1e-6)) == pytest.approx(spearmanr(a, b).statistic)
    assert float(plcc(real(*a), real(*b))) == pytest.approx(pearsonr(a, b).statistic)


def test_the_loss_by_hand():
    same = real(1, 2, 3, 4)
    assert float(loss(same, same)) == pytest.approx(0, abs=1e-9)
    assert float(loss(same + 1, same)) == pytest.approx(0.5)  # smooth L1 at a distance of 1
    assert float(loss(same + 3, same)) == pytest.approx(2.5)
    assert float(loss(same.flip(0), same, (0, 1, 1))) == pytest.approx(4)


def test_correlations_that_do_not_exist_count_nothing():
    flat = real(2, 2, 2)
    assert float(loss(flat, real(1, 2, 3))) == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert float(loss(real(1, 2, 3), flat)) == pytest.approx((0.5 + 0 + 0.5) / 3)
    assert float(loss(real(3.0), real(3.0))) == 0


SHORT = Plan(epochs=2, fold_epochs=1, folds=2, queries=16, last_queries=24, warm_up=1, per_batch=2)


def trained(folder: Path, plan: Plan = SHORT, base: bytes | None = None, **options: int) -> Training:
    torch.set_num_threads(1)
    training = Training(subjects(), plan, folder, base, **options)
    assert training.run()
    return training


def test_a_stopped_run_exports_what_it_has_learnt_so_far(tmp_path):
    losses = []
    Training(subjects(), SHORT, tmp_path).run(lambda phase, loss: losses.append(loss), stop_after=1)
    stopped = Training(subjects(), SHORT, tmp_path)
    stopped.stop()
    assert stopped.results["final"]["losses"] == pytest.approx(losses)
    result = stopped.results["final"]
    assert (result["steps"], result["of"]) == (1, 4) and ready((tmp_path / "weights.safetensors").read_bytes())


def test_another_plan_does_not_go_on_with_a_run(tmp_path):
    Training(subjects(), SHORT, tmp_path).run(stop_after=1)
    with pytest.raises(TrainingError, match="holds a run with another plan"):
        Training(subjects(), Plan(), tmp_path)


def test_the_export_loads_and_scores_as_the_trained_network_did(tmp_path):
    training = Training(subjects(), Plan(epochs=1, folds=0, queries=16, last_queries=16), tmp_path)
    kept = []
    training.close = lambda phase, close=training.close: kept.append(scored(training.average, subjects()[0])) or close(phase)
    assert training.run()
    model = ready((tmp_path / "weights.safetensors").read_bytes())
    assert np.array_equal(scored(model, subjects()[0]), kept[0]) and np.ptp(kept[0]) > 0


def test_folds_leave_every_group_out_once():
    made = phases(subjects(), Plan(folds=3, epochs=5))
    assert [phase.name for phase in made] == ["final", "fold 1", "fold 2", "fold 3"]
    assert sorted(subject.group for phase in made for subject in phase.unseen) == [f"brick {n}" for n in range(4)]
    for phase in made[1:]:
        assert not {subject.group for subject in phase.seen} & {subject.group for subject in phase.unseen}
        assert len(phase.seen) + len(phase.unseen) == 4
    assert made[0].steps(Plan(epochs=5, per_batch=2)) == 10
    assert len(phases(subjects()[:1], Plan(folds=4))) == len(phases(subjects(), Plan())) == 1


def test_the_second_stage_trains_adapters_and_head_and_leaves_the_rest(tmp_path):
    base = untrained()
    trained(tmp_path, Plan(stage=2, epochs=2, folds=0, queries=16, last_queries=16, rate=3e-4), base)
    before, after = load(base), load((tmp_path / "weights.safetensors").read_bytes())
    assert set(before) == set(after)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert "head.weights.0" in changed and "encoder.attention.key.weight" in changed
    assert [name for name in changed if not (name.startswith("head.") or name.endswith(".weight"))] == []
    assert [name for name in changed if "norm" in name] == []  # a merged adapter changes weights only
    difference = after["encoder.wide.weight"] - before["encoder.wide.weight"]
    assert torch.linalg.matrix_rank(difference, rtol=1e-3) <= 8


def test_training_sees_what_scoring_sees_where_every_point_is_looked_at_in_every_frame():
    """With equal weights as many steps along the curve as there are points, once for each frame to start with."""
    item, model = subjects()[0], ready(untrained())

    def even(points: Shape) -> Shape:
        return Shape(points.points, np.full(len(points.points), 1 / len(points.points)))

    item = dataclasses.replace(item, reference=even(item.reference), samples=(Sample("one", even(item.samples[0].points), 4.0),))
    frames, queries = item.how.frames, len(item.reference.points)
    assert len(item.samples[0].points.points) == queries
    every = np.concatenate([frames] * queries)[: queries * len(frames)]
    seen = [
        np.concatenate([_seen(points, item.how.radius, queries, every, 0.5, first) for first in range(len(frames))])
        for points in (item.reference, item.samples[0].points)
    ]
    sides = [encoded(model, points, item.how) for points in (item.samples[0].points, item.reference)]
    assert compared(model, *sides) == pytest.approx(float(predict(model, torch.from_numpy(np.stack(seen)))[0]), abs=1e-3)


def test_agreement_by_hand():
    assert agreement(np.array([1.0, 2, 3]), np.array([2.0, 4, 9])) == pytest.approx((0.9707, 1, 1), abs=1e-4)
    assert agreement(np.array([1.0, 1, 1]), np.array([2.0, 4, 9])) is None

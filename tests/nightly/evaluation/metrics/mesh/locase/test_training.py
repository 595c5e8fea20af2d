"""Training LoCaSE lowers its loss, and goes on where it was killed."""

import pytest
import torch

from evaluation.metrics.mesh.locase.dataset import batch
from evaluation.metrics.mesh.locase.network import LoCaSE
from evaluation.metrics.mesh.locase.training import Plan, Training, loss, predict
from evaluation.synthetic.distortions import generator
from tests.pure.evaluation.metrics.mesh.locase.test_training import SHORT, trained
from tests.support.evaluation.metrics.mesh.locase.simulated import subjects


def test_a_few_steps_lower_the_loss(tmp_path):
    """Seen at the same vertices before and after: the losses of single steps differ more by what was drawn than by what was learnt."""
    torch.set_num_threads(1)
    plan = Plan(epochs=60, folds=0, queries=32, last_queries=32, warm_up=1, per_batch=4)
    training, kept = Training(subjects(), plan, tmp_path), []
    before = mean_loss(training.model)
    training.close = lambda phase, close=training.close: kept.append(mean_loss(training.average)) or close(phase)
    assert training.run() and len(training.results["final"]["losses"]) == 60
    assert kept[0] < 0.75 * before


@torch.inference_mode()
def mean_loss(model: LoCaSE) -> float:
    """Over all meshes, at eight draws of vertices that are always the same."""
    losses = []
    for n in range(8):
        drawn = [batch(subject, 32, generator(f"looked at: {subject.group} {n}"), None) for subject in subjects()]
        predicted = [predict(model, torch.from_numpy(one.patches)) for one in drawn]
        losses.append(float(loss(torch.cat(predicted), torch.cat([torch.from_numpy(one.scores) for one in drawn]))))
    return sum(losses) / len(losses)


def test_an_interrupted_run_ends_like_an_uninterrupted_one(tmp_path):
    whole = trained(tmp_path / "whole")
    calls = 0
    for _ in range(20):  # every start is a new process's: all it knows is the checkpoint
        calls += 1
        if Training(subjects(), SHORT, tmp_path / "parts").run(stop_after=1):
            break
    parts = Training(subjects(), SHORT, tmp_path / "parts")
    assert calls == whole.total == 6 and parts.done == whole.done == whole.total
    assert parts.results == whole.results and set(whole.results) == {"final", "fold 1", "fold 2"}
    first, second = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "parts"))
    assert first == second


def test_a_killed_run_goes_on_from_its_last_checkpoint(tmp_path):
    def killed(phase: str, loss: float) -> None:
        if training.done == 3:
            raise KeyboardInterrupt

    training = Training(subjects(), SHORT, tmp_path / "killed", every=2)
    with pytest.raises(KeyboardInterrupt):
        training.run(killed)
    again = Training(subjects(), SHORT, tmp_path / "killed")
    assert again.done == 2 and again.run()
    trained(tmp_path / "whole")
    first, second = ((tmp_path / name / "weights.safetensors").read_bytes() for name in ("whole", "killed"))
    assert first == second

"""Training LoCaSE lowers its loss."""

import torch

from evaluation.metrics.mesh.locase.dataset import batch
from evaluation.metrics.mesh.locase.network import LoCaSE
from evaluation.metrics.mesh.locase.training import Plan, Training, loss, predict
from evaluation.synthetic.distortions import generator
from tests.support.evaluation.metrics.mesh.locase.made_up import subjects


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

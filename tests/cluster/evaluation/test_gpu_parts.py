"""Parts for workers with a graphics card: cut where the service has such workers, done by nobody else, and never lost."""

from __future__ import annotations

import pytest

from evaluation.models import Evaluation, EvaluationBatch, Part, PictureRun, Score, sanity_tests
from evaluation.models.part_plan import by_device
from evaluation.networks import yolox
from evaluation.work import worker
from evaluation.work.graphics_card import Card
from evaluation.work.sweep import sweep
from submissions.models import Phase, Status, Submission
from tests.support import pictures
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.warm_child import warm_child
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, give_reference, received
from tests.support.scenes import archive

__all__ = ["warm_child"]  # the fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("warm_child")]
METRICS = (
    {"slug": "psnr", "key": "psnr", "is_primary": True},
    {"slug": "osim", "key": "osim", "params": {"weights": "yolox-nano", "conf": 1.0, "saliency": "none"}},
    {"slug": "map", "key": "puzzlesim"},
)


@pytest.fixture
def phase(db, settings, warm_child, monkeypatch) -> Phase:
    settings.GPU_WORKERS = True
    monkeypatch.setattr(Card, "is_needed", lambda self, device: False)  # the processor of this machine does them
    settings.WEIGHTS = random_weights.shelf(monkeypatch, warm_child / "weights")
    settings.WEIGHTS.mkdir(exist_ok=True)
    monkeypatch.setattr(sanity_tests, "request_missing", lambda: 0)  # no table ships for such weights, and making one takes minutes
    random_weights.put(monkeypatch, "squeezenet1_1", random_weights.backbone("squeezenet1_1"))
    random_weights.put(monkeypatch, "yolox-nano", {"model": random_weights.lively(yolox.build("yolox-nano"))})
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"))
    give_reference(phase, pictures.views(2), metrics=METRICS)
    return phase


@pytest.fixture
def entry(phase) -> Submission:
    """Checked, and cut into parts."""
    return checked(phase)


def checked(phase: Phase) -> Submission:
    entry = received(phase, TeamFactory(challenge=phase.challenge), archive(pictures.renders(2)))
    worker.check(Submission.objects.to_validate().claim("checks", status=Status.CLAIMED))
    return entry


def state(entry: Submission) -> str:
    entry.refresh_from_db()
    return entry.status


def values(entry: Submission) -> dict[str, list[float]]:
    return {score.slug: score.values.tolist() for score in Score.objects.filter(evaluation__submission=entry)}


def test_networks_go_to_the_card_where_the_service_has_workers_with_one(phase, settings):
    columns = EvaluationBatch.current(phase).columns
    assert by_device(columns) == {"cpu": ["psnr"], "gpu": ["osim", "map"]}
    settings.GPU_WORKERS = False
    assert by_device(columns) == {"cpu": ["psnr", "osim", "map"]}


def test_each_worker_does_the_parts_of_its_queue_and_the_values_are_the_same(entry, phase, settings):
    worker.drain("cpu")
    assert state(entry) == Status.SCORING and sweep()["gpu"] == 1
    assert list(Part.objects.exclude(state=Part.State.DONE).values_list("device", "slugs")) == [("gpu", ["osim", "map"])]
    assert worker.drain("gpu") == 1 and state(entry) == Status.SCORED
    settings.GPU_WORKERS = False
    again = checked(phase)
    worker.drain("cpu")
    assert state(again) == Status.SCORED
    for slug, found in values(again).items():
        assert found == pytest.approx(values(entry)[slug], nan_ok=True), slug


def test_pictures_take_what_was_prepared_for_their_maps(entry):
    from evaluation.work import view_images

    worker.drain("cpu")
    worker.drain("gpu")
    evaluation = Evaluation.objects.get()
    gpu = Part.objects.get(device="gpu")
    key = evaluation.batch.cache_key(gpu.slugs, gpu.start, gpu.stop)
    assert view_images._prepared(evaluation, "garden/view_1").endswith(key.rpartition("/")[2])
    run = PictureRun.request(evaluation, "garden", ["garden/view_1", "garden/view_2"])
    worker.drain("cpu")
    run.refresh_from_db()
    assert run.state == PictureRun.State.DONE and "map.map" in run.made["garden/view_2"]

"""A phase of renders in the console: its reference is a zip of scenes, and its images have a background."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.metrics.registry import REGISTRY
from evaluation.models import EvaluationBatch
from submissions.kinds import RENDER, same
from submissions.models import Phase
from tests.support.leaderboard.console.acts import metric_values, phase_form, upload
from tests.support.pages import faults, refusal
from tests.support.scenes import file_of, rich_views, zipped


@pytest.fixture
def phase(challenge):
    challenge.family = "render"
    challenge.save()
    return Phase.objects.create(challenge=challenge, slug="final", title="Final", background="#102030")


def test_a_zip_of_scenes_becomes_the_reference(desk, phase, at):
    path = at("phases/final/reference/")
    form = desk.get(path).content.decode()
    assert "rois.json" in form and "views.json" in form and 'name="groups"' not in form
    files = dict(RENDER.files(rich_views()))
    files["garden/000.png"] = file_of(np.zeros((28, 40, 4), np.uint8))
    desk.post(path, upload(zipped(files)))
    row = phase.references.get()
    assert (row.item_ids[1], row.groups[1]) == ("garden/000", "garden")
    stored, wanted = row.items(), rich_views()
    assert (stored["garden/000"].image.pixels() == (0x10, 0x20, 0x30)).all()
    assert [name for name in wanted if name != "garden/000" and not same(stored[name], wanted[name])] == []

    desk.post(at("phases/final/metrics/new/psnr/"), metric_values(slug="psnr"))
    phase.refresh_from_db()
    assert EvaluationBatch.current(phase).reference == row
    assert phase.manifest.background == "#102030" and phase.manifest.items[1].size == (40, 28)


def test_every_metric_of_renders_can_be_added_those_of_masks_and_boxes_too(desk, phase, at):
    keys = [spec.key for spec in REGISTRY.values() if spec.family == "render"]
    page = desk.get(at("phases/final/metrics/")).content.decode()
    assert "psnr@mask" in keys and [key for key in keys if f"/phases/final/metrics/new/{key}/" not in page] == []
    desk.post(at("phases/final/reference/"), upload(zipped(dict(RENDER.files(rich_views())))))
    path = at("phases/final/metrics/new/psnr@mask/")
    assert "PSNR in the mask" in desk.get(path).content.decode() and desk.get(f"{path}evidence/").status_code == 200
    desk.post(path, metric_values(slug="psnr-mask"))
    assert [metric.key for metric in phase.metrics.all()] == ["psnr@mask"]


def test_what_may_not_be_meant_is_said_and_stands_in_no_way(desk, phase, at):
    views = {name: replace(view, mask=None) if name == "garden/001" else view for name, view in rich_views().items()}
    answer = desk.post(at("phases/final/reference/"), upload(zipped(dict(RENDER.files(views)))), follow=True).content.decode()
    assert "garden: 1 of 2" in answer and phase.references.count() == 1


def test_a_broken_reference_is_refused_with_the_file(desk, phase, at):
    files = dict(RENDER.files(rich_views())) | {"garden/001.png": b"nothing"}
    answer = desk.post(at("phases/final/reference/"), upload(zipped(files)), follow=True)
    assert refusal(answer) == "bad_reference" and "garden/001.png: " in answer.content.decode() and not phase.references.exists()


def test_background_and_rule_for_sizes_are_fields_of_phases_of_images_only(desk, phase, challenge, at):
    path = at("phases/final/")
    assert 'name="background"' in desk.get(path).content.decode()
    desk.post(path, phase_form(phase, background="#000000", resize="reference"))
    phase.refresh_from_db()
    assert (phase.background, phase.resize) == ("#000000", "reference")
    assert list(faults(desk.post(path, phase_form(phase, background="black")))) == ["background"]
    challenge.family = "mesh"
    challenge.save()
    assert 'name="background"' not in desk.get(path).content.decode()
    assert desk.post(path, phase_form(Phase.objects.get(), limit_per_day="3")).status_code == 302
    phase.refresh_from_db()
    assert (phase.background, phase.resize, phase.limit_per_day) == ("#000000", "reference", 3)

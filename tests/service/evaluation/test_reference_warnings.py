"""Scenes without objects are said where a reference is registered, not found out by entries that have no value."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation import reference_warnings
from evaluation.models import PhaseMetric
from evaluation.networks import load, weights, yolox
from evaluation.synthetic.rooms import room, view
from submissions.formats.render.views import CleanViews, Roi, View, render
from submissions.kinds import RENDER
from submissions.models import Phase
from tests.support.evaluation.networks import random_weights
from tests.support.evaluation.solids import SQUARE, box, mesh
from tests.support.evaluation.warm_child import warm_child
from tests.support.factories import ChallengeFactory, PhaseFactory, UserFactory
from tests.support.scenes import write_folder

__all__ = ["warm_child"]  # the fixture
OURS = {"weights": "yolox-nano"}
GREY = View(render(np.full((120, 160, 3), 128, np.uint8)), 160, 120)
SEEN = View(render(view(room("demo:5"), 1, 160, 120).image), 160, 120)
VIEWS = {"full/a": GREY, "full/b": SEEN, "empty/a": GREY, "empty/b": GREY}
SENTENCE = "empty: the detector yolox-nano finds no object in its views, so OSIM has no value there; mark objects in empty/rois.json."


@pytest.fixture(scope="module")
def states() -> dict[str, Any]:
    return {
        "yolox-nano": random_weights.detector(SEEN.image.pixels(), GREY.image.pixels()),
        "squeezenet1_1": random_weights.backbone("squeezenet1_1"),
    }


@pytest.fixture(autouse=True)
def shelf(warm_child, states, monkeypatch, settings) -> None:
    """A detector that finds an object in the one picture and none in the other, and a backbone."""
    settings.WEIGHTS = random_weights.shelf(monkeypatch, warm_child / "weights")
    settings.WEIGHTS.mkdir(exist_ok=True)
    for name, state in states.items():
        random_weights.put(monkeypatch, name, state)


def test_a_scene_counts_as_empty_only_where_no_view_has_an_object():
    assert reference_warnings.of_objects(VIEWS, [("osim", OURS), ("psnr", {})]) == [SENTENCE]
    assert reference_warnings.of_objects(VIEWS, [("psnr", {}), ("puzzlesim", {})]) == []


def test_metrics_with_one_detector_are_named_together_and_another_threshold_is_another_question():
    found = reference_warnings.of_objects(
        VIEWS, [("osim", OURS), ("psnr@bbox", {"detector": "yolox-nano"}), ("osim", {**OURS, "conf": 1.0})]
    )
    assert "OSIM and PSNR" in found[0]
    assert [sentence.partition(":")[0] for sentence in found] == ["empty", "full", "empty"]


def test_what_was_marked_by_hand_is_an_object_and_clean_views_alone_are_not_looked_at():
    marked = replace(GREY, rois=(Roi(1, 1, 20, 20, "pot"),))
    assert reference_warnings.of_objects({"empty/a": GREY, "empty/b": marked, "bare/a": View(None, 160, 120)}, [("osim", OURS)]) == []


def test_scenes_without_a_text_are_named_where_a_metric_compares_with_texts():
    views = {"chair/a": replace(GREY, prompt="a chair"), "owl/a": GREY, "owl/b": replace(GREY, prompt=" ")}
    sentence = "owl: has no text in prompts.json, so CLIP text similarity has no value there."
    assert (
        reference_warnings.of_prompts(views, ["psnr", "clip_sim_text"])
        == [sentence]
        == reference_warnings.of("render", views, [("clip_sim_text", {})])
    )
    assert reference_warnings.of_prompts(views, ["psnr", "clip_sim"]) == []


def test_scenes_without_marked_regions_are_named_where_a_metric_looks_at_these_only():
    views = {"chair/a": GREY, "chair/b": replace(GREY, rois=(Roi(1, 1, 20, 20, "pot"),)), "owl/a": GREY}
    sentence = "owl: marks no region in owl/rois.json, so OSIM in marked regions has no value there."
    assert (
        reference_warnings.of_regions(views, ["psnr", "osim_rois"])
        == [sentence]
        == reference_warnings.of("render", views, [("osim_rois", {})])
    )
    assert reference_warnings.of_regions(views, ["psnr"]) == []


def test_scenes_with_too_few_clean_views_are_named():
    views = {"chair/a": replace(GREY, clean=CleanViews.of([GREY.image] * 16)), "owl/a": replace(GREY, clean=CleanViews.of([GREY.image]))}
    found = reference_warnings.of_clean_views(views | {"pot/a": GREY}, ["puzzlesim_pieces", "puzzlesim_pieces@mask"])
    assert [sentence.partition(":")[0] for sentence in found] == ["owl", "pot"]
    assert "1 clean view," in found[0] and "owl/clean/" in found[0] and "inside the mask" in found[0]
    assert reference_warnings.of("render", views, [("puzzlesim", {})]) == []
    few = {"chair/a": replace(GREY, clean=CleanViews.of([GREY.image] * 15))}
    (sentence,) = reference_warnings.of_clean_views(few, ["puzzlesim_pieces"])
    assert sentence.startswith("chair: has 15 ") and "16" in sentence


OPEN_BOX = mesh(box().vertices, box().faces[2:])
MESHES = {
    "box": box(),
    "jug": OPEN_BOX,
    "plate": SQUARE,
    "turned": mesh(OPEN_BOX.vertices, OPEN_BOX.faces[:, ::-1]),
    "nothing": mesh([(0, 0, 0), (1, 1, 1), (2, 2, 2)], [(0, 1, 2)]),
}


def test_meshes_that_enclose_nothing_are_named_where_a_metric_compares_volumes():
    said = (
        "encloses nothing (it is flat, or open with its faces turned inwards), so Volume IoU has no value there; "
        "close it, or turn its faces outwards."
    )
    columns = [("volume_iou", {"resolution": 16}), ("chamfer_l1", {})]
    assert reference_warnings.of("mesh", MESHES, columns) == [f"plate: {said}", f"turned: {said}"]
    assert reference_warnings.of("mesh", MESHES, columns, seconds=-1) == reference_warnings.of("mesh", MESHES, [("chamfer_l1", {})]) == []
    sheet = {"sheet": box((0, 0, 0.3), (1, 1, 0.3125))}
    assert reference_warnings.of_volumes(sheet, [("volume_iou", {"resolution": 8})]) == [], "thinner than a cell, and closed"


def test_it_stops_when_its_time_is_over_and_asks_no_detector_that_is_not_here():
    assert reference_warnings.of_objects(VIEWS, [("osim", OURS)], seconds=-1) == []
    assert reference_warnings.of_objects(VIEWS, [("osim", {"weights": "yolox-x"})]) == []


def test_a_detector_whose_file_has_changed_stands_in_no_references_way(monkeypatch, tmp_path):
    random_weights.shelf(monkeypatch, tmp_path)
    path = random_weights.put(monkeypatch, "yolox-nano", {"model": random_weights.lively(yolox.build("yolox-nano"))})
    load.forget()
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(weights.WeightsError, match="has changed"):
        load.load("yolox", "yolox-nano")
    assert reference_warnings.of_objects(VIEWS, [("osim", {"weights": "yolox-nano"})]) == []


def test_a_detector_for_which_there_is_no_room_stands_in_no_references_way(monkeypatch):
    def full(pair, looking):
        raise MemoryError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(reference_warnings, "detections", full)
    assert reference_warnings.of_objects(VIEWS, [("osim", OURS)]) == []


@pytest.mark.django_db
def test_the_console_says_it(client, tmp_path, settings):
    settings.READ_SECONDS = 6000  # of a busy machine
    phase = PhaseFactory(challenge=ChallengeFactory(family="render"))
    PhaseMetric.objects.create(phase=phase, slug="osim", key="osim", params=OURS, is_primary=True)
    organizer = UserFactory(username="olga")
    phase.challenge.organizers.add(organizer)
    client.force_login(organizer)
    with zipfile.ZipFile(tmp_path / "views.zip", "w") as package:
        for name, content in RENDER.files(VIEWS):
            package.writestr(name, content)
    with (tmp_path / "views.zip").open("rb") as file:
        path = reverse("console_reference", args=[phase.challenge.slug, phase.slug])
        page = client.post(path, {"file": file, "note": ""}, follow=True).content.decode()
    assert len(phase.references.get(version=1).items()) == 4 and SENTENCE in page


@pytest.mark.django_db
def test_the_command_says_it(tmp_path, capsys):
    write_folder(VIEWS, tmp_path / "reference")
    (tmp_path / "challenge.yaml").write_text(
        "slug: rooms\ntitle: Rooms\nfamily: render\nphases:\n  - slug: one\n    title: One\n    opens_at: 2026-01-01T00:00\n"
        "    metrics: [{key: osim, params: {weights: yolox-nano}}]\n    reference: {path: reference}\n"
    )
    call_command("challenge", "apply", str(tmp_path), "--yes")
    assert f"! phase one: {SENTENCE}" in capsys.readouterr().out and Phase.objects.count() == 1
    call_command("challenge", "plan", str(tmp_path))
    assert "the detector" not in capsys.readouterr().out, "said when something changes"

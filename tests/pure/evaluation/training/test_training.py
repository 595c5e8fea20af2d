"""Training the small networks: folded norms, what is exported, images and figures. What needs many steps is tried at night."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load

from evaluation.__main__ import main
from evaluation.networks import load as loading
from evaluation.networks import weights as stored
from evaluation.networks.backbones import SqueezeNet
from evaluation.synthetic.objects import KINDS
from evaluation.training import backbone, command, detector
from evaluation.training.augment import cut, damaged, recoloured
from evaluation.training.backbone import Naming, crops, folded, untrained
from evaluation.training.detector import Finding
from evaluation.training.errors import TrainingError
from evaluation.training.resumable_run import Course, Plan
from evaluation.training.scenes import Scene, scenes
from tests import ROOT

SMALL = {
    "backbone": Plan("backbone", steps=24, batch=16, size=33, warm_up=2),
    "detector": Plan("detector", steps=40, batch=4, size=64, rate=2e-3, warm_up=2),
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> list[Scene]:
    torch.set_num_threads(1)
    return scenes(tmp_path_factory.mktemp("scenes"), "test", 4, 2, 96)


def lesson(plan: Plan, drawn: list[Scene]):
    return Naming(crops(drawn), plan) if plan.network == "backbone" else Finding(drawn, plan)


def test_another_plan_does_not_go_on_with_a_run(drawn, tmp_path):
    plan = replace(SMALL["backbone"], steps=2)
    Course(lesson(plan, drawn), plan, tmp_path).run(stop_after=1)
    with pytest.raises(TrainingError, match="another plan"):
        Course(lesson(plan, drawn), replace(plan, rate=1.0), tmp_path)


def test_folded_norms_compute_the_same(drawn, tmp_path):
    plan = replace(SMALL["backbone"], steps=3)
    course = Course(lesson(plan, drawn), plan, tmp_path)
    course.run()
    plain = SqueezeNet(len(KINDS)).eval()
    plain.load_state_dict(folded(course.average))
    x = torch.randn(2, 3, 40, 40)
    assert torch.allclose(plain(x), course.average(x), atol=1e-4)
    assert set(folded(untrained())) == set(SqueezeNet(len(KINDS)).state_dict())


@pytest.mark.parametrize("network", SMALL)
def test_the_command_makes_weights_that_load(network, drawn, tmp_path, monkeypatch, capsys):
    kept = scenes
    monkeypatch.setattr(
        "evaluation.training.scenes.scenes", lambda folder, name, count, views, size, bar: kept(folder, name, count, 1, 96, bar)
    )
    folder = command_folder(network)
    out = tmp_path / folder
    options = ["--steps", "2", "--batch", "4", "--size", "64", "--rooms", "2", "--held-out", "1"]
    assert main(["train", network, "--out", str(out), *options]) == 0
    card = json.loads((out / "plumbline-small.json").read_text())
    assert card["classes"] == list(KINDS) and card["network"] == folder and card["plan"]["steps"] == 2 and len(card["losses"]) == 2
    assert card["sha256"] in (out / "plumbline-small.md").read_text() and card["statement"] in (out / "plumbline-small.md").read_text()
    monkeypatch.setitem(stored._FOLDERS, folder, out)
    loading.forget()
    ready = loading.load(folder, "plumbline-small")
    x = torch.rand(1, 3, 64, 64)
    assert torch.isfinite(ready(x)[0]).all() and not ready.training
    before = (out / "plumbline-small.safetensors").read_bytes()
    assert sum(value.numel() for value in load(before).values()) >= card["parameters"]
    assert main(["train", network, "--out", str(out), *options]) == 0  # is at its end, and stays as it is
    assert (out / "plumbline-small.safetensors").read_bytes() == before
    loading.forget()


def command_folder(network: str) -> str:
    return {"backbone": "backbone", "detector": "yolox"}[network]


def test_what_cannot_be_trained_is_one_sentence(tmp_path, capsys):
    assert main(["train", "detector", "--out", str(tmp_path / "out"), "--steps", "0"]) == 2
    assert "at least 1" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_the_defaults_are_those_of_the_plan():
    assert command.DEFAULTS["backbone"] == {
        key: getattr(Plan("backbone"), key) for key in ("steps", "batch", "size", "rate", "weight_decay")
    }


def test_scenes_are_drawn_once(tmp_path, monkeypatch):
    first = scenes(tmp_path, "kept", 2, 2, 48)
    monkeypatch.setattr("evaluation.training.scenes.rooms.room", lambda *of: pytest.fail("drawn again"))
    again = scenes(tmp_path, "kept", 2, 2, 48)
    assert [scene.room for scene in again] == ["kept:0", "kept:0", "kept:1", "kept:1"]
    for one, two in zip(first, again, strict=True):
        assert np.array_equal(one.image, two.image) and np.array_equal(one.boxes, two.boxes)


def test_objects_follow_the_window_that_is_cut():
    """A white square in a black view ends up where its box does, mirrored or not."""
    image = np.zeros((100, 100, 3), dtype=np.uint8)
    image[20:40, 30:70] = 255
    boxes = np.array([[2.0, 30, 20, 70, 40], [0, 0, 90, 4, 100]])
    window = np.array([10.0, 10, 90, 60])
    for flip in (False, True):
        seen = cut(torch.from_numpy(image).permute(2, 0, 1)[None].float(), window[None], 160, np.array([flip]))[0, 0].numpy() > 127
        kind, x, y, wide, high = detector._seen(boxes, window, 160, flip)[0]
        rows, columns = np.nonzero(seen)
        assert kind == 2 and len(detector._seen(boxes, window, 160, flip)) == 1
        assert np.allclose(
            [columns.min(), columns.max() + 1, rows.min(), rows.max() + 1],
            [x - wide / 2, x + wide / 2, y - high / 2, y + high / 2],
            atol=1.01,
        )


def test_what_a_perfect_detector_says_is_worth_1(monkeypatch):
    scene = Scene(np.zeros((64, 64, 3), dtype=np.uint8), np.array([[3.0, 8, 16, 40, 48]], dtype=np.float32), "one")
    outputs = [torch.full((1, 5 + len(KINDS), side, side), -20.0) for side in (8, 4, 2)]
    outputs[0][0, :4, 3, 2] = torch.tensor([3 - 2 + 0.0, 4 - 3 + 0.0, np.log(4), np.log(4)])  # centre (24, 32), sides 32
    outputs[0][0, 4, 3, 2] = outputs[0][0, 5 + 3, 3, 2] = 20.0
    network = torch.nn.Identity()
    network.forward = lambda x: outputs
    figures = detector.figures(network, [scene], 64)
    assert figures["map_50"] == figures["map_50_95"] == pytest.approx(1) and figures["by_class_50"] == {KINDS[3]: pytest.approx(1)}
    assert (figures["sure"], figures["sure_precision"], figures["sure_recall"]) == (1, 1.0, 1.0)


def test_changes_to_images_are_repeatable_keep_their_range_and_change_them():
    images = torch.rand(24, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    for change in (recoloured, lambda x, rng: damaged(x, rng, 1.0)):
        one, again = (change(images, np.random.default_rng(5)) for _ in range(2))
        assert torch.equal(one, again) and one.shape == images.shape and one.min() >= 0 and one.max() <= 1
        assert ((one - images).abs().amax(dim=(1, 2, 3)) > 0.01).all()


def test_crops_hold_the_object_in_the_middle():
    image = np.zeros((100, 100, 3), dtype=np.uint8)
    image[40:60, 45:55] = 200
    data = crops([Scene(image, np.array([[1.0, 45, 40, 55, 60], [2, 0, 0, 5, 5]], dtype=np.float32), "one")])
    assert data.kinds.tolist() == [1] and np.allclose(data.sides, [[10 / 30, 20 / 30]])
    bright = data.images[0, 0] > 100
    assert bright[backbone.STORED // 2, backbone.STORED // 2] and int(bright.sum()) == pytest.approx(backbone.STORED**2 * 2 / 9, rel=0.05)


def test_nothing_heavy_is_loaded_to_list_commands():
    import subprocess
    import sys

    code = (
        "import sys, evaluation.training.command, evaluation.rendering.command; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0

"""`python -m evaluation inpaint`, from files to files."""

import json

import numpy as np
import pytest
from PIL import Image

from evaluation.__main__ import main
from evaluation.networks import weights
from tests.support.evaluation.metrics.render.puzzlesim.scenes import put_weights

HEIGHT, WIDTH = 130, 180
BOX = (slice(45, 85), slice(65, 125))


def smooth(seed):
    """uint8[H, W, 3]: slow waves, which diffusion can carry on."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    return np.stack([128 + 60 * np.sin(x / 40 + seed + n) * np.cos(y / 33 + n) for n in range(3)], -1).astype(np.uint8)


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """A folder with three clean views and a render of which a part is painted over."""
    (tmp_path / "weights").mkdir()
    put_weights(monkeypatch, tmp_path / "weights", "squeeze")
    (tmp_path / "clean").mkdir()
    for seed in range(3):
        Image.fromarray(smooth(seed)).save(tmp_path / "clean" / f"{seed}.png")
    spoilt = smooth(1)
    spoilt[BOX] = (np.arange(60) // 6 % 2 * 255)[None, :, None]
    Image.fromarray(spoilt).save(tmp_path / "render.png")
    return tmp_path


def run(folder, *options):
    return main(
        [
            "inpaint",
            str(folder / "render.png"),
            "--references",
            str(folder / "clean"),
            "--out",
            str(folder / "out"),
            "--rounds",
            "2",
            *options,
        ]
    )


def test_a_defect_is_replaced_and_everything_is_written(scene, capsys):
    assert run(scene, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said == json.loads((scene / "out" / "outcome.json").read_text())
    assert said["changed"] and said["references"] == 3 and said["puzzlesim_after"] > said["puzzlesim_before"]
    assert {"round", "threshold", "gain", "pixels"} == set(said["chain"][0]) and said["gain"] == max(
        trial["gain"] for trial in said["chain"]
    )
    render, found, mask = (
        np.asarray(Image.open(path)) for path in (scene / "render.png", scene / "out/inpainted.png", scene / "out/mask.png")
    )
    assert (mask > 127).sum() == said["replaced"] and np.array_equal(found[mask == 0], render[mask == 0])
    assert (mask[BOX] > 127).mean() > 0.9 > 0.5 > (mask > 127).mean()
    off = [np.abs(image[BOX].astype(int) - smooth(1)[BOX]).mean() for image in (found, render)]
    assert off[0] < off[1] / 3
    assert Image.open(scene / "out/map.png").size == (WIDTH, HEIGHT)


def test_a_clean_view_stays_as_it_is(scene):
    Image.fromarray(smooth(2)).save(scene / "render.png")
    assert run(scene) == 0
    assert np.array_equal(np.asarray(Image.open(scene / "out/inpainted.png")), smooth(2))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--filler", "nosuch"), "There is no filler 'nosuch'"),
        (("--weights", "nosuch"), "There are no weights 'nosuch'"),
        (("--candidates", "0"), "at least one candidate"),
        (("--references", "nowhere"), "nowhere is not a folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(scene, capsys, options, said):
    assert run(scene, *options) == 2
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error


def test_absent_weights_are_named_with_the_command_that_gets_them(scene, capsys, monkeypatch):
    monkeypatch.setattr(weights, "_folder", [scene / "clean"])
    assert run(scene) == 2
    assert "fetch" in capsys.readouterr().err


def test_an_image_that_cannot_be_used_is_named(scene, capsys):
    (scene / "render.png").write_bytes(b"no image")
    assert run(scene) == 2 and "render.png" in capsys.readouterr().err
    Image.fromarray(smooth(0)[:20, :20]).save(scene / "render.png")
    assert run(scene) == 2 and "at least 32" in capsys.readouterr().err
    for path in (scene / "clean").iterdir():
        path.unlink()
    Image.fromarray(smooth(0)).save(scene / "render.png")
    assert run(scene) == 2 and "has no image" in capsys.readouterr().err

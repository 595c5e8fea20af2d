"""Renders scored at home, without a phase's manifest."""

import json

import pytest
from PIL import Image

from evaluation import local
from evaluation.__main__ import main
from evaluation.networks import weights
from tests.support.scenes import archive, file_of, noisy, pixels, rich_views, view, views, write_folder


@pytest.fixture
def reference(tmp_path):
    return write_folder(views({"garden": 2, "hall": 1}), tmp_path / "reference")


def test_folders_and_zips_of_scenes_are_scored_by_scene(reference, tmp_path, capsys):
    entry = {name: noisy(item, 5, number) for number, (name, item) in enumerate(views({"garden": 2, "hall": 1}).items())}
    (tmp_path / "entry.zip").write_bytes(archive(entry))
    assert main(["score", "--json", "--metric", "psnr", str(tmp_path / "entry.zip"), str(reference)]) == 0
    found = json.loads(capsys.readouterr().out)
    each = {name: sample["psnr"]["value"] for name, sample in found["samples"].items()}
    assert list(each) == ["garden/000", "garden/001", "hall/000"]
    assert found["scores"]["psnr"]["n"] == 2
    assert found["scores"]["psnr"]["value"] == pytest.approx(((each["garden/000"] + each["garden/001"]) / 2 + each["hall/000"]) / 2)


def test_the_kind_is_told_from_the_files_and_a_wrong_size_is_a_problem(reference, tmp_path):
    (tmp_path / "entry" / "garden").mkdir(parents=True)
    (tmp_path / "entry" / "garden" / "000.png").write_bytes(file_of(pixels(1, 20, 14)))
    outcome = local.score(tmp_path / "entry", reference, metrics=["psnr"])
    (problem,) = outcome.problems
    assert problem.startswith("garden/000.png: ") and "20 × 14" in problem and "40 × 28" in problem
    assert local._family((), None, (reference, tmp_path / "entry")).key == "render"


def test_one_file_is_set_against_one_view_whatever_it_is_called(tmp_path):
    write_folder({"garden/000": view(1)}, tmp_path / "reference")
    (tmp_path / "mine.png").write_bytes(noisy(view(1), 5).png)
    outcome = local.score(tmp_path / "mine.png", tmp_path / "reference" / "garden", metrics=["psnr"])
    assert outcome.problems == () and 30 < outcome.scores["psnr"][1].value < 40


def test_what_reading_changed_in_the_reference_is_said(reference, tmp_path):
    image = Image.fromarray(pixels(1)).convert("RGBA")
    image.putpixel((0, 0), (0, 0, 0, 0))
    image.save(reference / "garden" / "000.png")
    outcome = local.score(reference, reference, metrics=["psnr"])
    said = "Transparent pixels were placed on the background, #ffffff (garden/000.png)."
    assert outcome.warnings == (f"Reference: {said}", said)


def test_views_without_a_reference_image_have_no_value_of_what_needs_one(tmp_path):
    items = rich_views()
    write_folder(items, tmp_path / "reference")
    write_folder({name: view(number) for number, name in enumerate(items)}, tmp_path / "entry")
    scores, summary = local.score(tmp_path / "entry", tmp_path / "reference", metrics=["psnr"]).scores["psnr"]
    assert scores.statuses == ("not_applicable", "ok", "ok", "not_applicable", "not_applicable")
    assert (summary.n, summary.n_null, summary.n_missing) == (1, 3, 0)


def test_a_metric_of_prompts_is_refused_by_name_and_left_out_otherwise(reference, tmp_path, monkeypatch):
    monkeypatch.setattr(weights, "refusal", lambda spec, params, command="": "" if spec.key in ("psnr", "clip_sim_text") else "absent")
    write_folder(views({"garden": 2, "hall": 1}), tmp_path / "entry")
    assert set(local.score(tmp_path / "entry", reference).scores) == {"psnr"}
    with pytest.raises(local.CannotScore, match=r"the reference has none; add prompts.json to it"):
        local.score(tmp_path / "entry", reference, metrics=["psnr", "clip_sim_text"])


def test_a_missing_view_gets_the_worst_value(reference, tmp_path):
    (tmp_path / "entry.zip").write_bytes(archive({"hall/000": noisy(view(3), 5)}))
    scores, summary = local.score(tmp_path / "entry.zip", reference, metrics=["psnr"]).scores["psnr"]
    assert scores.values[:2] == (0.0, 0.0) and scores.statuses == ("missing_pred", "missing_pred", "ok")
    assert summary.value == pytest.approx(scores.values[2] / 2)

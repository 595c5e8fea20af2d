"""Bundles of renders: the whole reference goes through files and database and back, and what the images were laid on stays."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from evaluation.models import Reference
from leaderboard.bundle.apply import apply, facts_of, plan_for
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.plan import make_plan
from leaderboard.bundle.state import read
from submissions.formats.yaml_document import DocumentError
from submissions.kinds import same
from submissions.models import Challenge, Phase
from tests.support.scenes import file_of, pixels, rich_views, views, write_folder
from tests.support.submissions.glb import triangle

YAML = """\
slug: novel-views
title: Novel views
family: render
phases:
  - slug: final
    title: Final
    opens_at: 2026-01-01T00:00
    background: "#102030"
    resize: reference
    reference:
      path: reference
"""


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def bundle(tmp_path):
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "challenge.yaml").write_text(YAML)
    write_folder(rich_views(), tmp_path / "bundle" / "reference")
    return tmp_path / "bundle"


def test_views_masks_regions_clean_views_and_prompts_are_read(bundle):
    phase = parse(bundle).definition.phases[0]
    assert (phase.background, phase.resize) == ("#102030", "reference")
    found, wanted = phase.reference.load(), rich_views()
    assert list(found) == sorted(wanted) and [name for name in wanted if not same(found[name], wanted[name])] == []
    assert phase.reference.groups == ()
    assert found["garden/000"].clean is found["garden/001"].clean, "one set for the scene, not one for each view"


def test_what_was_applied_exports_the_same_files_and_applies_again_without_a_change(db, bundle, tmp_path):
    apply(parse(bundle).definition)
    export(read(Challenge.objects.get()), tmp_path / "out")
    assert contents(tmp_path / "out" / "phases" / "final" / "reference") == contents(bundle / "reference")
    again = parse(tmp_path / "out").definition
    assert plan_for(again).is_empty
    Challenge.objects.all().delete()
    apply(again)
    export(read(Challenge.objects.get()), tmp_path / "twice")
    assert contents(tmp_path / "twice") == contents(tmp_path / "out")


def test_items_stand_by_scene_and_the_scene_is_their_group(db, bundle):
    apply(parse(bundle).definition)
    row = Reference.objects.get()
    assert row.item_ids == ["0/0-7", "garden/000", "garden/001", "kitchen/a", "kitchen/b"]
    assert row.groups == ["0", "garden", "garden", "kitchen", "kitchen"]
    assert row.bounds == [[0, 0], [40, 28], [40, 28], [40, 28], [0, 0]]
    assert row.key.endswith(".renders")


def test_equal_pixels_packed_elsewhere_change_nothing(db, bundle):
    apply(parse(bundle).definition)
    for file in (bundle / "reference" / "garden").glob("*.png"):
        number = int(file.stem)
        file.write_bytes(file_of(pixels(number), compress_level=0))
    assert plan_for(parse(bundle).definition).is_empty
    (bundle / "reference" / "garden" / "000.png").write_bytes(file_of(pixels(99)))
    assert [change.field for change in plan_for(parse(bundle).definition).changes] == ["items"]


def test_transparent_references_are_laid_on_the_background(db, bundle):
    clear = np.zeros((28, 40, 4), np.uint8)
    (bundle / "reference" / "garden" / "000.png").write_bytes(file_of(clear))
    found = parse(bundle).definition.phases[0].reference.load()["garden/000"].image.pixels()
    assert (found == (0x10, 0x20, 0x30)).all()


def test_the_background_changes_with_a_new_reference_only_and_not_once_there_are_entries(db, bundle):
    apply(parse(bundle).definition)
    before = read(Challenge.objects.get())
    text = YAML.replace("#102030", "#000000")
    (bundle / "challenge.yaml").write_text(text.replace("    reference:\n      path: reference\n", ""))
    assert ["#102030" in refusal for refusal in plan_for(parse(bundle).definition).refusals] == [True]
    (bundle / "challenge.yaml").write_text(text)
    after = parse(bundle).definition
    assert plan_for(after).refusals == ()
    facts = facts_of(Challenge.objects.get())
    entered = type(facts.phases["final"])(entries=2)
    assert "2 entries" in make_plan(before, after, type(facts)(phases={"final": entered})).refusals[0]
    apply(after)
    assert Phase.objects.get().background == "#000000"


def test_what_may_not_be_meant_is_a_warning_of_the_plan(db, bundle):
    (bundle / "reference" / "garden" / "masks" / "001.png").unlink()
    warnings = " ".join(plan_for(parse(bundle).definition).warnings)
    assert "garden: 1 of 2" in warnings


def test_what_reading_changed_is_a_warning_of_the_plan(db, bundle):
    image = Image.fromarray(pixels(7)).convert("RGBA")
    image.putpixel((0, 0), (0, 0, 0, 0))
    image.save(bundle / "reference" / "garden" / "000.png")
    warnings = " ".join(plan_for(parse(bundle).definition).warnings)
    assert "(garden/000.png)" in warnings


def test_what_reading_changed_in_meshes_whose_views_are_drawn_is_a_warning_too(db, bundle):
    drawn = YAML.replace("#102030", "#ffffff") + "      render: {views: turntable, size: 64}\n"
    (bundle / "challenge.yaml").write_text(drawn.replace("path: reference", "path: meshes"))
    hidden = {"mesh": 0, "extensions": {"KHR_node_visibility": {"visible": False}}}
    (bundle / "meshes").mkdir()
    (bundle / "meshes" / "chair.glb").write_bytes(triangle(nodes=[{"mesh": 0}, hidden], scenes=[{"nodes": [0, 1]}]).glb())
    warnings = " ".join(plan_for(parse(bundle).definition).warnings)
    assert "(chair.glb: nodes[1])" in warnings


WRONG = {
    "groups": ("      path: reference", "      path: reference\n      groups: {garden/000: a}", "expected no groups"),
    "a colour by name": ('"#102030"', "white", "Write a colour as #rrggbb"),
    "a rule nobody knows": ("resize: reference", "resize: always", "expected one of none, reference"),
    "another family": ("family: render", "family: mesh", "unknown key"),
}


@pytest.mark.parametrize(("old", "new", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(bundle, old, new, words):
    (bundle / "challenge.yaml").write_text(YAML.replace(old, new))
    with pytest.raises(DocumentError) as caught:
        parse(bundle)
    assert words in str(caught.value)


def test_a_bundle_of_meshes_says_nothing_of_images(db, tmp_path):
    apply(parse(write_plain(tmp_path / "plain")).definition)
    export(read(Challenge.objects.get()), tmp_path / "out")
    assert "background" not in (tmp_path / "out" / "challenge.yaml").read_text()


def write_plain(folder):
    folder.mkdir()
    (folder / "challenge.yaml").write_text(YAML.replace("render", "mesh").split("    background")[0])
    return folder


def test_a_single_scenes_own_folder_is_that_scene(tmp_path):
    from submissions.kinds import RENDER

    write_folder(views({"garden": 2}), tmp_path)
    assert list(RENDER.load_folder(tmp_path / "garden")) == ["garden/000", "garden/001"]
    assert list(RENDER.load_folder(tmp_path)) == ["garden/000", "garden/001"]

"""Uploads of renders, whole: the layouts they come in, and what is said of them."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from submissions.formats.errors import FormatError, Remarks
from submissions.formats.render.images import TURNED
from submissions.kinds import RENDER
from submissions.manifest import Item, Manifest
from submissions.validation import Fault, validate
from tests.support.scenes import HEIGHT, WIDTH, file_of, pixels, rich_views, write_folder, zipped
from tests.support.submissions.verdicts import faults

SIZE = (WIDTH, HEIGHT)
LIMITS = (400, 400)


def manifest(*ids: str, **values: object) -> Manifest:
    items = tuple(Item(name, name.partition("/")[0], LIMITS, SIZE) for name in ids)
    given = {"missing": "reject", "formats": RENDER.formats, "unit": "m", "unit_scale": 1.0} | values
    return Manifest(challenge="views", phase="one", family="render", items=items, **given)


def verdict_of(tmp_path, files: dict[str, bytes], asked: Manifest):
    (tmp_path / "entry.zip").write_bytes(zipped(files))
    return validate(tmp_path / "entry.zip", asked)


PNG = [file_of(pixels(number)) for number in range(4)]


def test_a_folder_per_scene_in_any_format(tmp_path) -> None:
    files = {"garden/a.png": PNG[0], "garden/b.webp": file_of(pixels(1), "WEBP", lossless=True), "hall/a.jpg": file_of(pixels(2), "JPEG")}
    found = verdict_of(tmp_path, files, manifest("garden/a", "garden/b", "hall/a"))
    assert found.accepted and list(found.items) == ["garden/a", "garden/b", "hall/a"] and found.warnings == ()
    for number, name in enumerate(("garden/a", "garden/b")):
        assert np.array_equal(found.items[name].pixels(), pixels(number))


def test_an_archive_of_the_scene_alone_when_the_phase_has_several(tmp_path) -> None:
    asked = manifest("garden/a", "hall/a", missing="worst")
    found = verdict_of(tmp_path, {"garden/a.png": PNG[0]}, asked)
    assert found.accepted and found.missing == ("hall/a",) and "hall/a is missing" in found.warnings[0]


def test_predictions_of_nerfbaselines_as_they_are(tmp_path) -> None:
    files = {"info.json": b"{}", "color/a.png": PNG[0], "color/b.png": PNG[1], "gt-color/a.png": PNG[2], "gt-color/b.png": PNG[3]}
    found = verdict_of(tmp_path, files, manifest("garden/a", "garden/b"))
    assert found.accepted and found.warnings == ()
    assert np.array_equal(found.items["garden/a"].pixels(), pixels(0)), "the prediction, not the ground truth beside it"
    several = {f"{scene}/{name}": data for scene in ("garden", "hall") for name, data in files.items()}
    assert verdict_of(tmp_path, several, manifest("garden/a", "garden/b", "hall/a", "hall/b")).accepted


def test_a_reference_leaves_out_what_blender_writes_beside_its_frames(tmp_path) -> None:
    alone = {"garden/depth_0001.png": PNG[3]}  # no frame is beside it, so it is a view
    frames = {"garden/r_0.png": PNG[0], "garden/r_0_depth_0000.png": PNG[1], "garden/r_0_Normal0001.png": PNG[2]}
    clean = {"garden/clean/c.png": PNG[1], "garden/clean/c_alpha.png": PNG[2]}
    (tmp_path / "reference.zip").write_bytes(zipped(frames | clean | alone))
    remarks = Remarks()
    found = RENDER.load_folder(tmp_path / "reference.zip", remarks=remarks)
    assert list(found) == ["garden/depth_0001", "garden/r_0"] and np.array_equal(found["garden/r_0"].image.pixels(), pixels(0))
    assert found["garden/r_0"].clean is not None and len(found["garden/r_0"].clean.images) == 1
    (sentence,) = remarks.sentences()
    assert "(r_0_Normal0001.png, r_0_depth_0000.png, clean/c_alpha.png)" in sentence


def test_renders_of_gaussian_splatting_and_frames_of_blender_as_they_are(tmp_path) -> None:
    splats = {
        f"{scene}/{split}/ours_30000/{kind}/a.png": PNG[0]
        for scene in ("garden", "hall")
        for split in ("test", "train")
        for kind in ("renders", "gt")
    }
    found = verdict_of(tmp_path, splats, manifest("garden/a", "hall/a"))
    assert found.accepted and len(found.warnings) == 1
    assert "garden/train/ours_30000/renders/a.png, hall/train/ours_30000/renders/a.png" in found.warnings[0]
    frames = {"garden/r_0.png": PNG[0], "garden/r_0_depth_0000.png": PNG[1], "garden/r_0_normal_0000.png": PNG[2]}
    found = verdict_of(tmp_path, frames, manifest("garden/r_0"))
    assert found.accepted and len(found.warnings) == 1
    assert "garden/r_0_depth_0000.png, garden/r_0_normal_0000.png" in found.warnings[0]
    assert np.array_equal(found.items["garden/r_0"].pixels(), pixels(0))


def test_what_reading_changed_is_said_once_of_all_images(tmp_path) -> None:
    half = file_of(np.dstack([pixels(0), np.full((HEIGHT, WIDTH), 128, np.uint8)]))
    exif = Image.Exif()
    exif[0x0112] = 3
    files = {**{f"garden/{name}.png": half for name in "abcde"}, "garden/f.png": file_of(pixels(1), exif=exif)}
    found = verdict_of(tmp_path, files, manifest(*(f"garden/{name}" for name in "abcdef")))
    assert found.accepted and len(found.warnings) == 2 and found.warnings[1] == f"{TURNED} (garden/f.png)."
    assert "#ffffff" in found.warnings[0] and "garden/c.png and 2 more)" in found.warnings[0]


def test_a_size_after_turning_says_so(tmp_path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    found = verdict_of(tmp_path, {"garden/a.png": file_of(pixels(0), exif=exif)}, manifest("garden/a"))
    turned = f"is {HEIGHT} × {WIDTH} pixels once turned by the orientation that it states, this view is {WIDTH} × {HEIGHT}"
    assert turned in str(found.problems[0])


def test_generated_objects_bring_their_normals(tmp_path) -> None:
    files = {"prompts.json": b'["a chair"]', "0/0/rgb_000.png": PNG[0], "0/0/normal_000.png": PNG[1], "0/0/rgb_001.png": PNG[2]}
    found = verdict_of(tmp_path, files, manifest("0/0-0", "0/0-1"))
    assert found.accepted and found.warnings == ()
    chair = found.items["0/0-0"]
    assert np.array_equal(chair.pixels(), pixels(0)) and found.items["0/0-1"].normal is None
    assert np.array_equal(replace(chair, png=chair.normal).pixels(), pixels(1))
    stored = RENDER.unpack(RENDER.pack(found.items))
    assert stored == found.items


def test_transparent_renders_are_laid_on_the_phases_background(tmp_path) -> None:
    clear = file_of(np.zeros((HEIGHT, WIDTH, 4), np.uint8))
    for background, colour in (("#ffffff", 255), ("#000000", 0)):
        found = verdict_of(tmp_path, {"garden/a.png": clear}, manifest("garden/a", background=background))
        assert (found.items["garden/a"].pixels() == colour).all()


def test_every_fault_is_named_with_its_file(tmp_path) -> None:
    files = {"garden/a.png": PNG[0][:40], "garden/b.png": file_of(pixels(1, 20, 14)), "garden/x.png": PNG[2], "cameras.bin": b"1"}
    found = verdict_of(tmp_path, files, manifest("garden/a", "garden/b", "hall/a"))
    assert found.n_problems == 5 and faults(found) == [
        ("cameras.bin", Fault.FORMAT),
        ("garden/x.png", Fault.NO_ITEM),
        ("garden/a.png", Fault.CONTENT),
        ("garden/b.png", Fault.CONTENT),
        ("hall/a", Fault.MISSING),
    ]
    assert "20 × 14" in found.problems[3].reason and "40 × 28" in found.problems[3].reason


@pytest.mark.parametrize(("size", "by"), [((80, 56), "area"), ((20, 14), "bicubic"), ((80, 14), "both")])
def test_another_size_is_brought_to_the_references_where_the_phase_says_so(tmp_path, size, by) -> None:
    from submissions.formats.render.resample import to_size

    found = verdict_of(tmp_path, {"garden/a.png": file_of(pixels(5, *size))}, manifest("garden/a", resize="reference"))
    assert found.accepted and found.items["garden/a"].resized
    assert np.array_equal(found.items["garden/a"].pixels(), to_size(pixels(5, *size), *SIZE))


def test_any_size_will_do_where_none_is_asked_for(tmp_path) -> None:
    asked = replace(manifest("garden/a"), items=(Item("garden/a", "garden", LIMITS),))
    found = verdict_of(tmp_path, {"garden/a.png": file_of(pixels(5, 77, 33))}, asked)
    assert (found.items["garden/a"].width, found.items["garden/a"].height) == (77, 33)
    found = verdict_of(tmp_path, {"garden/a.png": file_of(pixels(5, 401, 33))}, asked)
    assert faults(found) == [("garden/a.png", Fault.CONTENT)] and "400 × 400" in found.problems[0].reason


def test_an_entry_takes_no_more_than_can_be_kept(tmp_path, monkeypatch) -> None:
    noise = [file_of(np.random.default_rng(n).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)) for n in range(3)]
    monkeypatch.setattr("submissions.manifest.FAMILIES", {**{"render": replace(RENDER, max_stored=8000)}})
    found = verdict_of(tmp_path, {f"g/{n}.png": data for n, data in enumerate(noise)}, manifest("g/0", "g/1", "g/2"))
    assert faults(found) == [("g/2.png", Fault.SPACE)] and "8 kB" in found.problems[0].reason


def test_the_manifest_survives_json_with_sizes_background_and_rule() -> None:
    asked = replace(
        manifest("garden/a", "hall/a", background="#0a0b0c", resize="reference"),
        items=(Item("garden/a", "garden", LIMITS, SIZE), Item("hall/a", "hall", LIMITS)),
    )
    assert Manifest.from_json(asked.to_json()) == asked
    first, second = asked.to_dict()["items"]
    assert (first["width"], first["height"], first["max_width"]) == (40, 28, 400) and "width" not in second


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"background": "white"}, "background must be a colour as #rrggbb"),
        ({"resize": "yes"}, "resize must be one of none, reference"),
        ({"items": (Item("garden", "garden", LIMITS),)}, "must be an id scene/view"),
        ({"items": (Item("a/b/c", "a", LIMITS),)}, "must be an id scene/view"),
        ({"items": (Item("garden/a", "hall", LIMITS),)}, "garden/a.group must be the part of the id before the slash"),
        ({"items": (Item("garden/a", "garden", LIMITS, (40, 0)),)}, "garden/a.width must be 1 to 400, or 0 for both"),
        ({"items": (Item("garden/a", "garden", LIMITS, (401, 28)),)}, "garden/a.width must be 1 to 400"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(change, words) -> None:
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        replace(manifest("garden/a"), **change)


# --- references


FAULTS = {
    "garden/deep/000.png": (PNG[0], "lies in no place a reference has"),
    "garden/masks/rois.json": (b"{}", "belongs beside the views, not into masks/"),
    "garden/masks/009.png": (PNG[0], "is a mask of no view"),
    "garden/masks/000.png": (file_of(pixels(0, 20, 14)), "is 20 × 14 pixels, its view is 40 × 28"),
    "garden/clean/9.png": (file_of(pixels(0, 20, 14)), "holds images of different sizes (20 × 14, 40 × 28)"),
    "garden/000.webp": (file_of(pixels(0), "WEBP"), "gives 000, which garden/000.png gives too"),
    "garden/rois.json": (b'{"000": [{"box": [1, 2, 1, 4], "label": "a"}]}', "with x1 < x2, y1 < y2"),
    "kitchen/rois.json": (b'{"z": []}', "names z, which is not a view of this scene"),
    "garden/views.json": (b'["000"]', "lists 000, which has a reference image"),
    "kitchen/views.json": (b'[{"view": "a", "width": 5}]', "holds an entry that is not a view"),
    "prompts.json": (b'{"0": 7}', "must be a list of texts"),
    "garden/000.png": (b"nothing", "is not a PNG image"),
    "attic/clean/a.png": (PNG[0], "has clean views but no view to be sent; list these in attic/views.json"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_with_a_reference_is_said_with_its_file(tmp_path, name) -> None:
    write_folder(rich_views(), tmp_path)
    data, words = FAULTS[name]
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError) as caught:
        RENDER.load_folder(tmp_path)
    assert any(words in str(fault) for fault in caught.value.all()), [str(fault) for fault in caught.value.all()]


def test_what_an_organizer_may_not_have_meant_is_said(tmp_path) -> None:
    from submissions.formats.render.views import CleanViews, encoded

    found = rich_views()
    assert RENDER.reference_warnings(found) == []
    image = found["garden/000"].image
    found["garden/000"] = replace(found["garden/000"], mask=encoded(np.zeros((HEIGHT, WIDTH), np.uint8)), clean=CleanViews.of([image]))
    found["garden/001"] = replace(found["garden/001"], mask=None, clean=found["garden/000"].clean)
    said = RENDER.reference_warnings(found)
    assert [sentence.split(":")[0] for sentence in said] == ["garden", "garden/000", "garden", "garden/000"]

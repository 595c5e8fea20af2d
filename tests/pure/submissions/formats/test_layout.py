import pytest

from submissions.formats.layout import is_companion, is_silent, item_of, normals_of
from submissions.kinds import MESH, RENDER, WIREFRAME

TWO = {"garden/0001", "garden/0002", "kitchen/0001"}
ONE = {"garden/0001", "garden/0002"}
MADE = {"0/0-0", "0/0-7", "12/3-119"}


@pytest.mark.parametrize(
    ("name", "ids", "item"),
    [
        ("garden/0001.png", TWO, "garden/0001"),
        ("results/garden/0001.jpg", TWO, "garden/0001"),
        ("0001.png", TWO, None),
        ("attic/0001.png", TWO, None),
        ("0001.png", ONE, "garden/0001"),
        ("results/0001.png", ONE, "garden/0001"),
        ("results/deep/0001.png", ONE, None),
        ("garden/0009.png", ONE, None),
        ("color/0001.png", ONE, "garden/0001"),
        ("out/color/0001.png", ONE, "garden/0001"),
        ("color/test/0001.png", ONE, "garden/0001"),
        ("garden/color/0001.png", TWO, "garden/0001"),
        ("kitchen/color/0001.png", TWO, "kitchen/0001"),
        ("color/0001.png", TWO, None),
        ("gt-color/0001.png", ONE, None),
        ("depth/0001.png", ONE, None),
        ("garden/test/ours_30000/renders/0001.png", TWO, "garden/0001"),
        ("out/kitchen/test/ours_30000/renders/0001.png", TWO, "kitchen/0001"),
        ("garden/train/ours_30000/renders/0001.png", TWO, None),
        ("garden/test/ours_30000/gt/0001.png", TWO, None),
        ("test/ours_30000/renders/0001.png", ONE, "garden/0001"),
        ("renders/0001.png", ONE, "garden/0001"),
        ("train/ours_30000/renders/0001.png", ONE, None),
        ("test/ours_30000/renders/0001.png", TWO, None),
        ("train/test/ours_30000/renders/1.png", {"train/1", "truck/1"}, "train/1"),
        ("train/train/ours_30000/renders/1.png", {"train/1", "truck/1"}, None),
        ("truck/train/ours_30000/renders/1.png", {"train/1", "truck/1"}, None),
        ("room/r_0.png", {"room/r_0"}, "room/r_0"),
        ("room/r_0_depth_0000.png", {"room/r_0"}, None),
        ("room/r_0_depth_0000.png", {"room/r_0", "room/r_0_depth_0000"}, "room/r_0_depth_0000"),
        ("0/0/rgb_0.png", MADE, "0/0-0"),
        ("0/0/rgb_007.png", MADE, "0/0-7"),
        ("method/12/3/rgb_119.png", MADE, "12/3-119"),
        ("12/3/rgb_120.png", MADE, None),
        ("12/3/normal_119.png", MADE, None),
    ],
)
def test_a_file_is_of_the_item_its_place_says(name, ids, item) -> None:
    assert item_of(RENDER, name, ids) == item


def test_other_families_go_by_the_files_name_alone() -> None:
    assert item_of(MESH, "a/b/chair.glb", {"chair"}) == "chair" and item_of(WIREFRAME, "x.json", {"chair"}) is None


def test_a_scene_may_be_called_like_a_folder_of_another_layout() -> None:
    assert item_of(RENDER, "color/a.png", {"color/a", "gt-color/a"}) == "color/a"
    assert item_of(RENDER, "gt-color/a.png", {"color/a", "gt-color/a"}) == "gt-color/a"


@pytest.mark.parametrize(
    "name",
    ["info.json", "garden/info.json", "gt-color/0001.png", "garden/depth/1.png", "0/0/normal_7.png", "prompts.json", "0/0/cameras.json"],
)
def test_what_goes_with_a_layout_is_passed_over_without_a_word(name) -> None:
    assert is_companion(RENDER, name) and is_silent(RENDER, name)


@pytest.mark.parametrize(
    "name",
    [
        *("room/r_0_depth_0000.png", "room/r_0_normal_0000.png", "room/0001_Depth.png", "room/Normal0001.png", "room/r_0_albedo.png"),
        "garden/train/ours_30000/renders/0001.png",
    ],
)
def test_pictures_beside_frames_and_renders_of_training_views_are_passed_over_with_a_word(name) -> None:
    assert is_companion(RENDER, name) and not is_silent(RENDER, name)
    assert not is_companion(WIREFRAME, name)


@pytest.mark.parametrize("name", ["tex.ktx2", "a/tex.exr", "chair.bin", "wood.GIF", "chair.mtl"])
def test_textures_and_buffers_beside_a_mesh_are_passed_over_without_a_word(name) -> None:
    assert is_companion(MESH, name) and is_silent(MESH, name) and not is_companion(WIREFRAME, name)


def test_texts_are_passed_over_with_a_word_and_other_files_are_strangers() -> None:
    assert is_companion(RENDER, "garden/README.md") and not is_silent(RENDER, "garden/README.md")
    assert not is_companion(RENDER, "garden/9.png") and not is_companion(RENDER, "cameras.bin")
    assert is_companion(MESH, "wood.png") and is_silent(MESH, "wood.png") and not is_companion(MESH, "info.json")


def test_normals_stand_beside_their_image() -> None:
    assert normals_of("12/0/rgb_007.png") == "12/0/normal_007.png" and normals_of("garden/0001.png") == ""

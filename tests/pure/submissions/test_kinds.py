"""Each kind of entry offers all that the table promises, and nothing in it says the same thing twice in two ways."""

import importlib
import io
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from submissions.formats.archive import SINGLE_FILE_SUFFIXES, open_package
from submissions.formats.arrays import Mesh, Wireframe
from submissions.formats.errors import FormatError
from submissions.formats.render import store
from submissions.formats.render.views import CleanViews, Render, Roi, View, encoded, render
from submissions.kinds import FAMILIES, MESH, RENDER, WIREFRAME, same

CORNERS = np.array([[0, 0, 0], [1 / 3, 0, 0], [0, 6_500_000.1, 0], [0, 0, -5e-300]])
PIXELS = np.random.default_rng(0).integers(0, 256, (6, 9, 3), dtype=np.uint8)
IMAGE = render(PIXELS)
ITEMS = {
    "wireframe": Wireframe(CORNERS, np.array([[0, 1], [1, 2], [2, 2]]), np.array([0.1, 1 / 7, 0.0])),
    "mesh": Mesh(CORNERS, np.array([[0, 1, 2], [1, 1, 2]]), np.array([[255, 0, 7], [1, 2, 3]], np.uint8)),
    "render": View(
        IMAGE, 9, 6, encoded(PIXELS[..., 0]), (Roi(0.5, 1, 3, 1 / 3 + 4, "chair"),), CleanViews.of([render(PIXELS[::-1])]), "a chair"
    ),
}
BARE = {
    "wireframe": Wireframe(CORNERS, np.zeros((0, 2), np.int64)),
    "mesh": Mesh(CORNERS, np.array([[0, 1, 2]])),
    "render": View(IMAGE, 9, 6),
}
families = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def test_every_kind_has_an_example_here() -> None:
    assert set(ITEMS) == set(BARE) == set(FAMILIES)


@families
def test_what_is_stored_reads_back_bit_for_bit(family) -> None:
    items = {"b": ITEMS[family.key], "a": BARE[family.key]}
    found = family.unpack(family.pack(items))
    assert list(found) == ["b", "a"]
    assert [name for name in items if not same(found[name], items[name])] == []


def name_in(family) -> str:
    return "scene/thing" if family.grouped else "thing"


@families
@pytest.mark.parametrize("of", [ITEMS, BARE])
def test_the_exact_form_reads_back_bit_for_bit(family, of, tmp_path) -> None:
    item, name = of[family.key], name_in(family)
    for path, data in family.files({name: item}):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    found = family.load_folder(tmp_path)
    assert list(found) == [name] and same(found[name], item)
    with open_package(tmp_path) as package:
        sent = family.read(package, f"{name}.{family.exact}".removeprefix(package.top), family.most)
    assert same(sent, item) if not family.images else np.array_equal(sent.pixels(), PIXELS)


@families
def test_the_example_form_keeps_the_places(family, tmp_path) -> None:
    item, name = ITEMS[family.key], name_in(family)
    file = tmp_path / f"{name}.{family.example}"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(family.write(item, family.example))
    found = family.load_folder(tmp_path)[name]
    assert family.size(found) == family.size(item)
    assert np.array_equal(found.image.pixels(), PIXELS) if family.images else np.array_equal(found.vertices, item.vertices)


@families
def test_a_stored_file_gives_back_all_items_or_some(family, tmp_path) -> None:
    items = {"b": ITEMS[family.key], "a": BARE[family.key], "c": BARE[family.key]}
    family.save(items, tmp_path / "stored")
    assert (tmp_path / "stored").read_bytes() == family.pack(items)
    assert list(family.load(tmp_path / "stored")) == ["b", "a", "c"]
    some = family.load(tmp_path / "stored", ("a",))
    assert same(some["a"], items["a"]) and set(some) <= set(items)


@families
def test_names_of_formats_and_suffixes_agree(family) -> None:
    assert set(family.suffixes.values()) <= set(family.formats)
    assert family.images or family.suffixes == importlib.import_module(family.readers).SUFFIXES
    assert {f".{family.exact}", f".{family.example}"} <= set(family.suffixes)
    assert set(family.singles) <= set(SINGLE_FILE_SUFFIXES)
    assert not set(family.singles) & set(family.companions)
    assert [(least, most) for least, most in zip(family.least, family.most, strict=True) if not least <= most] == []


def test_sizes_are_counted_by_the_familys_own_names() -> None:
    assert WIREFRAME.size(ITEMS["wireframe"]) == (4, 3)
    assert MESH.size(ITEMS["mesh"]) == (4, 2)


def test_ids_of_grouped_families_have_one_slash() -> None:
    assert RENDER.is_id("garden/00001") and RENDER.group_of("garden/00001") == "garden"
    assert [name for name in ("garden", "a/b/c", "/a", "a/", "a/.b", "a b/c", "") if RENDER.is_id(name)] == []
    assert MESH.is_id("chair_07") and MESH.group_of("chair_07") == "chair_07"
    assert [name for name in ("a/b", ".a", "") if MESH.is_id(name)] == []


def test_bounds_grow_with_the_reference_between_least_and_most() -> None:
    assert WIREFRAME.bounds((5, 8)) == (100, 100)
    assert WIREFRAME.bounds((88, 120)) == (880, 1200)
    assert WIREFRAME.bounds((88, 120), factor=2) == (176, 240)
    assert WIREFRAME.bounds((10_000, 10_000)) == (20_000, 60_000)
    assert MESH.bounds((8, 12)) == (600_000, 200_000), "of a cube, too, somebody may send a fine mesh"
    assert MESH.bounds((65_536, 131_072)) == (655_360, 1_310_720)
    assert MESH.bounds((10**6, 10**6)) == (2_000_000, 4_000_000)


def test_a_fine_mesh_in_obj_fits_into_the_bounds_of_the_smallest_reference(tmp_path) -> None:
    """100,000 faces with long coordinates and texture numbers: about 9 MB."""
    side = 224
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2) / 7
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + side], -1), np.stack([corner + 1, corner + side + 1, corner + side], -1)]
    )
    text = [f"v {1e6 + x!r} {2e6 + y!r} {3e6 + x * y!r}\nvt {x!r} {y!r}" for x, y in grid.tolist()]
    text += [f"f {a}/{a} {b}/{b} {c}/{c}" for a, b, c in (faces + 1).tolist()]
    (tmp_path / "fine.obj").write_text("\n".join(text))
    with open_package(tmp_path) as package:
        found = MESH.read(package, "fine.obj", MESH.bounds((8, 12)))
    assert MESH.size(found) == (side**2, len(faces)) and len(faces) > 99_000


def test_items_are_the_same_only_bit_for_bit_and_of_one_kind() -> None:
    item = ITEMS["mesh"]
    assert same(item, Mesh(item.vertices.copy(), item.faces.copy(), item.face_colours.copy()))
    assert not same(item, Mesh(np.nextafter(item.vertices, 1), item.faces, item.face_colours))
    assert not same(item, Mesh(item.vertices, item.faces[::-1], item.face_colours))
    assert not same(item, Mesh(item.vertices, item.faces, None))
    assert not same(item, ITEMS["wireframe"])


def test_views_are_the_same_by_their_pixels_however_they_are_compressed() -> None:
    from PIL import Image

    view, buffer = ITEMS["render"], io.BytesIO()
    Image.fromarray(PIXELS).save(buffer, "PNG", compress_level=0)
    other = Render(buffer.getvalue(), 9, 6)
    assert other.png != IMAGE.png and same(view, replace(view, image=other))
    changed = PIXELS.copy()
    changed[0, 0, 0] ^= 1
    changes = {
        "image": render(changed),
        "mask": encoded(255 - PIXELS[..., 0]),
        "rois": (),
        "prompt": "",
        "clean": CleanViews.of([render(changed)]),
    }
    for field, value in changes.items():
        assert not same(view, replace(view, **{field: value})), field
    assert not same(view, replace(view, image=None)) and not same(view, IMAGE)


def test_the_texts_name_what_people_may_send() -> None:
    assert "(.json, .obj, .npz)" in WIREFRAME.hint and ".parquet" in WIREFRAME.hint
    assert "(.glb, .gltf, .obj, .ply, .stl, .off)" in MESH.hint
    assert WIREFRAME.accept == ".zip,.json,.obj,.npz,.parquet"
    assert MESH.wanted(("ply", "glb")) == ".glb, .gltf, .ply"
    assert "(.png, .jpg, .jpeg, .webp)" in RENDER.hint


def test_the_table_loads_nothing_heavy() -> None:
    code = "import sys, submissions.kinds; sys.exit(any(name in sys.modules for name in ('numpy', 'django')))"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@families
def test_extents_are_those_of_the_items_without_reading_them(family) -> None:
    items = {"b": ITEMS[family.key], "a": BARE[family.key]}
    found = family.stored_extents(io.BytesIO(family.pack(items)))
    expected = {
        "wireframe": {"b": (3, None), "a": (0, None)},
        "mesh": {"b": (2, True), "a": (1, False)},
        "render": {"b": (len(IMAGE.png), None), "a": (len(IMAGE.png), None)},
    }
    assert found == expected[family.key]
    assert family.stored_extents(io.BytesIO(family.pack({}))) == {}


@families
def test_extents_of_what_is_no_stored_set_are_refused(family) -> None:
    with pytest.raises(FormatError):
        family.stored_extents(io.BytesIO(b"nothing of the kind"))


def test_views_without_an_image_have_no_extent() -> None:
    stored = RENDER.pack({"s/1": replace(BARE["render"], image=None), "s/2": IMAGE})
    assert RENDER.stored_extents(io.BytesIO(stored)) == {"s/2": (len(IMAGE.png), None)}


def test_views_know_the_images_of_their_scene_whichever_are_read(tmp_path) -> None:
    images = [render(PIXELS + np.uint8(n)) for n in range(3)]
    views = {"a/0": View(images[0], 9, 6), "a/1": View(None, 9, 6), "a/2": View(images[1], 9, 6), "b/0": View(images[2], 9, 6)}
    RENDER.save(views, tmp_path / "stored")
    for path, data in RENDER.files(views):
        (tmp_path / "folder" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / path).write_bytes(data)
    for found in (
        RENDER.load(tmp_path / "stored"),
        RENDER.load(tmp_path / "stored", ["a/2", "b/0"]),
        RENDER.load_folder(tmp_path / "folder"),
    ):
        assert [np.array_equal(one.pixels(), image.pixels()) for one, image in zip(found["a/2"].scene, images[:2], strict=True)] == [
            True,
            True,
        ]
        assert len(found["b/0"].scene) == 1
        assert [name for name in found if name.startswith("a/") and found["a/2"].scene is not found[name].scene] == []
        with pytest.raises(IndexError):
            found["a/2"].scene[2]
    with (tmp_path / "stored").open("rb") as source:
        assert store.read(source, ["a/2"])["a/2"].scene is None, "it is not said where the others could be read"

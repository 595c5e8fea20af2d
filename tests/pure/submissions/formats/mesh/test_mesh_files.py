import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submissions.formats.mesh.mesh_files import FormatError, Mesh, file_limit, load_folder, pack, read_mesh, unpack, write_obj, write_ply
from tests.support.examples import examples
from tests.support.submissions.glb import triangle

OBJ = b"mtllib paint.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n"
MTL = b"newmtl red\nKd 1 0 0\nmap_Kd wood.png\n"


def same(a: Mesh, b: Mesh) -> bool:
    pairs = [(a.vertices, b.vertices), (a.faces, b.faces), (a.face_colours, b.face_colours)]
    return all(
        (x is None) == (y is None) and (x is None or (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())) for x, y in pairs
    )


@st.composite
def meshes(draw: st.DrawFn) -> Mesh:
    coordinate = st.floats(-1e7, 1e7)
    vertices = draw(st.lists(st.tuples(coordinate, coordinate, coordinate), max_size=8))
    index = st.integers(0, max(0, len(vertices) - 1))
    faces = draw(st.lists(st.tuples(index, index, index), max_size=8)) if vertices else []
    byte = st.integers(0, 255)
    colours = draw(st.none() | st.lists(st.tuples(byte, byte, byte), min_size=len(faces), max_size=len(faces)))
    return Mesh(
        np.array(vertices, dtype=np.float64).reshape(-1, 3),
        np.array(faces, dtype=np.int64).reshape(-1, 3),
        None if colours is None else np.array(colours, dtype=np.uint8).reshape(-1, 3),
    )


@given(meshes())
@examples(60)
def test_written_ply_and_obj_give_back_every_bit(item: Mesh) -> None:
    assert same(read_mesh(write_ply(item), "x.ply"), item)
    assert same(read_mesh(write_obj(item), "x.obj"), Mesh(item.vertices, item.faces))


@given(st.lists(meshes(), max_size=5))
@examples(40)
def test_packing_many_meshes_gives_back_every_bit_in_order(items: list[Mesh]) -> None:
    named = {f"vase_{9 - n}": item for n, item in enumerate(items)}
    found = unpack(pack(named))
    assert list(found) == list(named)
    assert [name for name in named if not same(found[name], named[name])] == []
    assert pack(named) == pack(named)


@pytest.mark.parametrize("data", [b"", b"x" * 100, pack({})[:-30], b"PK\x03\x04"])
def test_unpacking_something_else_is_an_error(data: bytes) -> None:
    with pytest.raises(FormatError):
        unpack(data)


def test_a_stored_set_whose_counts_do_not_fit_is_an_error() -> None:
    from submissions.formats.npz import read_npz, write_npz

    rows = {"vertices": (3,), "faces": (3,), "face_colours": (3,)}
    rows |= dict.fromkeys(("ids", "vertex_counts", "face_counts", "coloured"), ())
    arrays = read_npz(pack({"a": Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]))}), "x", rows, 1000)
    with pytest.raises(FormatError, match="has counts that do not fit"):
        unpack(write_npz(arrays | {"face_counts": np.array([2])}))
    with pytest.raises(FormatError, match="vertices: is missing"):
        unpack(write_npz({name: values for name, values in arrays.items() if name != "vertices"}))


def test_the_suffix_decides_whatever_its_case_and_others_are_refused() -> None:
    assert len(read_mesh(triangle().glb(), "A.GLB").faces) == 1
    with pytest.raises(FormatError, match=r"a\.fbx: is not a mesh format \(\.glb, \.gltf, \.obj, \.ply, \.stl, \.off\)"):
        read_mesh(b"", "a.fbx")


def test_a_file_larger_than_a_mesh_of_that_size_can_need_is_refused_unread() -> None:
    with pytest.raises(FormatError, match=r"is 16\.\d MB, at most 16 MB are taken for this item"):
        read_mesh(b"#" * (file_limit(10, 10) + 100_000), "a.obj", 10, 10)


def test_a_mesh_at_the_limits_of_its_sample_is_taken_and_one_beyond_is_not() -> None:
    item = Mesh(np.zeros((4, 3)), np.array([[0, 1, 2], [1, 2, 3]]))
    for data, name in ((write_ply(item), "a.ply"), (write_obj(item), "a.obj")):
        assert same(read_mesh(data, name, 4, 2), item)
        with pytest.raises(FormatError, match="3"):
            read_mesh(data, name, 3, 2)
        with pytest.raises(FormatError, match="1"):
            read_mesh(data, name, 4, 1)


# --- folders


def test_a_folder_gives_its_meshes_by_name_and_passes_over_the_rest(tmp_path: Path) -> None:
    (tmp_path / "b.obj").write_bytes(OBJ)
    (tmp_path / "a.glb").write_bytes(triangle().glb())
    (tmp_path / "c.v2.gltf").write_bytes(triangle().gltf())
    (tmp_path / "wood.png").write_bytes(b"\x89PNG")
    found = load_folder(tmp_path)
    assert list(found) == ["a", "b", "c.v2"]
    assert found["b"].face_colours is None  # its library is not there


def test_two_files_for_one_sample_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_bytes(OBJ)
    (tmp_path / "a.glb").write_bytes(triangle().glb())
    with pytest.raises(FormatError, match="gives a, which another file gives too"):
        load_folder(tmp_path)


def test_the_material_library_beside_an_obj_gives_its_colours(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, data in {"near/a.obj": OBJ, "near/paint.mtl": MTL, "far/b.obj": OBJ}.items():
            archive.writestr(name, data)
    found = load_folder(tmp_path / "x.zip")
    assert found["a"].face_colours is not None and found["a"].face_colours.tolist() == [[255, 0, 0]]
    assert found["b"].face_colours is None


@pytest.mark.parametrize("name", ["../paint.mtl", "/etc/passwd", "paint.txt", "wood.png", "C:\\paint.mtl", ""])
def test_a_library_elsewhere_or_of_another_kind_is_not_looked_for(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "paint.mtl").write_bytes(MTL)
    (inside / "paint.txt").write_bytes(MTL)
    (inside / "wood.png").write_bytes(MTL)
    (inside / "a.obj").write_bytes(OBJ.replace(b"paint.mtl", name.encode()))
    assert load_folder(inside)["a"].face_colours is None

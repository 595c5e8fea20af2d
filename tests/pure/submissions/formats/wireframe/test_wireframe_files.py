import io
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from submissions.formats.wireframe.wireframe_files import (
    FormatError,
    Wireframe,
    load_folder,
    pack,
    read_wireframe,
    unpack,
    write_json,
    write_npz,
    write_obj,
)
from tests.support.examples import examples

WRITERS = {"x.obj": write_obj, "x.json": write_json, "x.npz": write_npz}


def same(a: Wireframe, b: Wireframe) -> bool:
    scores = (a.edge_score is None) == (b.edge_score is None)
    if a.edge_score is not None and b.edge_score is not None:
        scores = a.edge_score.tobytes() == b.edge_score.tobytes()
    shapes = a.vertices.shape == b.vertices.shape and a.edges.shape == b.edges.shape
    return scores and shapes and a.vertices.tobytes() == b.vertices.tobytes() and a.edges.tobytes() == b.edges.tobytes()


@st.composite
def wireframes(draw: st.DrawFn) -> Wireframe:
    coordinate = st.floats(-1e7, 1e7)
    vertices = draw(st.lists(st.tuples(coordinate, coordinate, coordinate), max_size=8))
    index = st.integers(0, max(0, len(vertices) - 1))
    edges = draw(st.lists(st.tuples(index, index), max_size=8)) if vertices else []
    scores = draw(st.none() | st.lists(st.floats(-1e300, 1e300), min_size=len(edges), max_size=len(edges)))
    return Wireframe(
        np.array(vertices, dtype=np.float64).reshape(-1, 3),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        None if scores is None else np.array(scores, dtype=np.float64),
    )


@given(wireframes())
@examples(60)
def test_every_format_gives_back_every_bit(frame: Wireframe) -> None:
    for name, write in WRITERS.items():
        expected = Wireframe(frame.vertices, frame.edges) if name == "x.obj" else frame
        assert same(read_wireframe(write(frame), name), expected)


@given(st.lists(wireframes(), max_size=5))
@examples(40)
def test_packing_many_wireframes_gives_back_every_bit_in_order(frames: list[Wireframe]) -> None:
    items = {f"house_{9 - n}": frame for n, frame in enumerate(frames)}
    found = unpack(pack(items))
    assert list(found) == list(items)
    assert [name for name in items if not same(found[name], items[name])] == []


def test_packing_twice_gives_the_same_bytes() -> None:
    items = {"a": Wireframe(np.ones((2, 3)), np.array([[0, 1]]), np.array([0.5]))}
    assert pack(items) == pack(items)


def test_a_written_npz_is_read_by_numpy() -> None:
    frame = Wireframe(np.arange(6.0).reshape(2, 3), np.array([[0, 1]]), np.array([0.25]))
    loaded = np.load(io.BytesIO(write_npz(frame)), allow_pickle=False)
    assert loaded["vertices"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (loaded["edges"].tolist(), loaded["edge_score"].tolist()) == ([[0, 1]], [0.25])


@pytest.mark.parametrize("data", [b"", b"x" * 100, write_npz(Wireframe(np.zeros((1, 3)), np.zeros((0, 2), int)))])
def test_unpacking_something_else_is_an_error(data: bytes) -> None:
    with pytest.raises(FormatError):
        unpack(data)


def test_projected_coordinates_keep_their_last_digit() -> None:
    text = b"v 538094.0457579803 6584173.339589539 36.587901248931885\n"
    assert read_wireframe(text, "a.obj").vertices.tolist() == [[538094.0457579803, 6584173.339589539, 36.587901248931885]]


# --- OBJ


def obj(text: str) -> Wireframe:
    return read_wireframe(text.encode(), "house_07.obj")


def reasons(text: str) -> list[str]:
    with pytest.raises(FormatError) as caught:
        obj(text)
    return [str(error) for error in caught.value.all()]


FOUR = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"


def test_lines_count_from_one_and_polylines_are_consecutive_edges() -> None:
    assert obj(f"{FOUR}l 1 2 3 4 1\n").edges.tolist() == [[0, 1], [1, 2], [2, 3], [3, 0]]


def test_negative_numbers_count_back_from_the_line_they_stand_in() -> None:
    assert obj("v 0 0 0\nv 1 0 0\nl -1 -2\nv 2 0 0\nl -1 1\n").edges.tolist() == [[1, 0], [2, 0]]


def test_lines_may_name_vertices_that_follow() -> None:
    assert obj("l 1 2\nv 0 0 0\nv 1 0 0\n").edges.tolist() == [[0, 1]]


def test_texture_numbers_weights_and_colours_are_passed_over() -> None:
    frame = obj("v 1 2 3 1.0\nv 4 5 6 0.1 0.2 0.3\nv 7 8 9 1 0 0 0\nl 1/1 2/2\nl 2/ 3\n")
    assert frame.vertices.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert frame.edges.tolist() == [[0, 1], [1, 2]]


def test_other_records_comments_and_windows_line_ends_are_passed_over() -> None:
    text = (
        "\ufeff# roof\r\nmtllib é.mtl\r\no Haus\r\nv 1e1 -.5 +2. # corner\r\nv 0 0 0\r\nvn 0 0 1\r\nvt 0 0\r\nf 1 2 1\r\ns off\r\nl 1 2\r\n"
    )
    assert obj(text).vertices.tolist() == [[10, -0.5, 2], [0, 0, 0]]
    assert obj(text).edges.tolist() == [[0, 1]]


def test_a_comment_alone_is_an_empty_wireframe() -> None:
    frame = obj("# nothing found here\n")
    assert (frame.vertices.shape, frame.edges.shape) == ((0, 3), (0, 2))


def test_an_edge_to_nowhere_names_file_line_and_count() -> None:
    text = "v 0 0 0\n" * 29 + "\nl 1 90\n" + "v 0 0 0\n" * 59
    (reason,) = reasons(text)
    assert reason.startswith("house_07.obj: line 31: ") and "90" in reason and "88" in reason


def test_all_faults_of_a_file_are_told() -> None:
    found = reasons("v 0 0 nan\nv 0 0\nv 1 2 2e7\nq 1\nl 1 x\nl 9 1\n")
    named = {1: '"nan"', 2: "2 numbers", 4: '"q"', 5: '"x"', 3: "2e+07", 6: "vertex 9"}
    assert len(found) == len(named)
    for reason, (line, what) in zip(found, named.items(), strict=True):
        assert reason.startswith(f"house_07.obj: line {line}: ") and what in reason


def test_faults_beyond_twenty_are_counted() -> None:
    with pytest.raises(FormatError) as caught:
        obj(FOUR + "l 1 99\n" * 500)
    assert (len(caught.value.all()), caught.value.count) == (20, 500)


# --- JSON and NPZ


def test_json_keys_that_are_not_ours_are_passed_over() -> None:
    frame = read_wireframe(b'{"name": "a, [b]", "vertices": [[0, 1, 2]], "edges": [], "edge_score": null}', "a.json")
    assert frame.vertices.tolist() == [[0, 1, 2]] and frame.edges.shape == (0, 2)


def test_json_of_one_item_may_call_its_arrays_as_a_table_does() -> None:
    frame = read_wireframe(b'{"wf_vertices": [[0, 0, 0], [1, 0, 0]], "wf_edges": [[0, 1]], "edge_score": [0.5]}', "a.json")
    assert frame.edges.tolist() == [[0, 1]] and frame.edge_score.tolist() == [0.5]
    with pytest.raises(FormatError, match=r"a\.json: wf_edges\[0\]: edge names vertex 2, there are 1, counted from 0"):
        read_wireframe(b'{"wf_vertices": [[0, 0, 0]], "wf_edges": [[0, 2]]}', "a.json")


def test_whole_numbers_written_as_floats_are_indices() -> None:
    frame = read_wireframe(b'{"vertices": [[0, 0, 0], [1, 0, 0]], "edges": [[0.0, 1.0]]}', "a.json")
    assert frame.edges.tolist() == [[0, 1]] and frame.edges.dtype == np.int64


def npz(**arrays: object) -> Wireframe:
    target = io.BytesIO()
    np.savez(target, **arrays)  # type: ignore[arg-type]
    return read_wireframe(target.getvalue(), "a.npz")


@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2", "<i4", ">i2", "u1"])
def test_npz_takes_numbers_of_any_width_and_byte_order(kind: str) -> None:
    values = np.arange(6).reshape(2, 3).astype(kind)
    frame = npz(vertices=values, edges=np.array([[0, 1]], dtype=np.uint8))
    assert frame.vertices.tolist() == [[0, 1, 2], [3, 4, 5]] and frame.vertices.dtype == np.float64


def test_npz_takes_column_order() -> None:
    values = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    assert npz(vertices=values, edges=np.array([[0, 1]])).vertices.tolist() == values.tolist()


@pytest.mark.parametrize("edges", [np.zeros((0, 2), int), np.zeros(0), np.array([])])
def test_npz_without_edges_is_valid(edges: object) -> None:
    assert npz(vertices=np.zeros((1, 3)), edges=edges).edges.shape == (0, 2)


def test_results_can_be_written_to() -> None:
    for name, write in WRITERS.items():
        frame = read_wireframe(write(Wireframe(np.zeros((1, 3)), np.zeros((0, 2), np.int64))), name)
        frame.vertices[0, 0] = 1.0


def test_limits_of_the_sample_hold_exactly() -> None:
    frame = Wireframe(np.zeros((5, 3)), np.array([[0, 1]] * 7))
    for name, write in WRITERS.items():
        assert len(read_wireframe(write(frame), name, 5, 7).edges) == 7
        for limits, sentence in (((4, 7), "vertices.* 4|4 vertices"), ((5, 6), "edges.* 6|6 edges")):
            with pytest.raises(FormatError, match=sentence):
                read_wireframe(write(frame), name, *limits)


def test_the_coordinate_limit_holds_exactly() -> None:
    edge = math.nextafter(1e7, math.inf)
    for name, write in WRITERS.items():
        assert read_wireframe(write(Wireframe(np.full((1, 3), 1e7), np.zeros((0, 2), int))), name).vertices[0, 0] == 1e7
        with pytest.raises(FormatError, match="the limit is ±10000000"):
            read_wireframe(write(Wireframe(np.full((1, 3), edge), np.zeros((0, 2), int))), name)


def test_an_unknown_suffix_is_said() -> None:
    with pytest.raises(FormatError, match=r"a.stl: is not a wireframe format \(.json, .obj, .npz\)"):
        read_wireframe(b"", "a.stl")


# --- folders


def test_a_folder_loads_by_name_in_order(tmp_path: Path) -> None:
    frame = Wireframe(np.zeros((2, 3)), np.array([[0, 1]]))
    for name, write in (("b.obj", write_obj), ("a.json", write_json), ("c.v2.npz", write_npz)):
        (tmp_path / name).write_bytes(write(frame))
    (tmp_path / "README.md").write_text("notes")
    assert list(load_folder(tmp_path)) == ["a", "b", "c.v2"]


def test_two_files_for_one_sample_are_an_error(tmp_path: Path) -> None:
    for name, write in (("a.obj", write_obj), ("a.json", write_json)):
        (tmp_path / name).write_bytes(write(Wireframe(np.zeros((1, 3)), np.zeros((0, 2), int))))
    with pytest.raises(FormatError, match="gives a, which another file gives too"):
        load_folder(tmp_path)


def test_the_real_roofs_load_and_survive_every_format(data_folder: Path) -> None:
    roofs = load_folder(data_folder / "building3d")
    assert len(roofs) == 43
    assert [
        (roof, name, write)
        for roof in roofs.values()
        for name, write in WRITERS.items()
        if not same(read_wireframe(write(roof), name), roof)
    ] == []
    stored = unpack(pack(roofs))
    assert [(name, roof) for name, roof in roofs.items() if not same(stored[name], roof)] == []

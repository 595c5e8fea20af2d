import dataclasses
import json
import random
from pathlib import Path

import numpy as np
import pytest

from submissions import validation
from submissions.formats.archive import Package
from submissions.formats.arrays import SELF_EDGES
from submissions.formats.wireframe import wireframe_files
from submissions.formats.wireframe.wireframe_files import Wireframe, load_folder, write_json, write_npz, write_obj
from submissions.kinds import WIREFRAME
from submissions.manifest import Item, Manifest
from submissions.validation import Verdict, validate
from tests.support.submissions.verdicts import judged, said

IDS = ("house_01", "house_02", "house_03")
MANIFEST = Manifest(
    challenge="rooflines",
    phase="one",
    family="wireframe",
    items=tuple(Item(name, name, (100, 100)) for name in IDS),
    formats=("json", "obj", "npz", "s23dr"),
    missing="reject",
    unit="m",
    unit_scale=1.0,
)
LENIENT = dataclasses.replace(MANIFEST, missing="worst")
SQUARE = Wireframe(np.array([[0, 0, 0], [4, 0, 0], [4, 3, 0], [0, 3, 0]], float), np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))
OBJ = write_obj(SQUARE)
GOOD = {"house_01.obj": OBJ, "house_02.json": write_json(SQUARE), "house_03.npz": write_npz(SQUARE)}


def judge(tmp_path: Path, contents: dict[str, bytes], manifest: Manifest = MANIFEST) -> Verdict:
    return judged(tmp_path, contents, manifest)


def test_a_good_entry_of_mixed_formats_is_accepted_in_manifest_order(tmp_path: Path) -> None:
    verdict = judge(tmp_path, dict(reversed(GOOD.items())))
    assert verdict.accepted and not verdict.missing and not verdict.warnings
    assert tuple(verdict.items) == IDS
    assert {key: frame for key, frame in verdict.items.items() if not (frame.vertices == SQUARE.vertices).all()} == {}


def test_zip_folder_and_s23dr_files_get_the_same_verdict(tmp_path: Path) -> None:
    rows = [{"order_id": name, "wf_vertices": SQUARE.vertices.tolist(), "wf_edges": SQUARE.edges.tolist()} for name in IDS]
    table = tmp_path / "submission.json"
    table.write_text(json.dumps(rows))
    folder = tmp_path / "entry"
    folder.mkdir()
    for name, data in GOOD.items():
        (folder / name).write_bytes(data)
    verdicts = [judge(tmp_path, GOOD), validate(folder, MANIFEST), validate(table, MANIFEST)]
    verdicts.append(judge(tmp_path, {"submission.json": table.read_bytes()}))
    assert [verdict.accepted for verdict in verdicts] == [True] * 4
    assert [tuple(verdict.items) for verdict in verdicts] == [IDS] * 4


def test_links_of_a_folder_are_followed_on_ones_own_machine_alone(tmp_path: Path) -> None:
    """A service reads what others sent."""
    folder = tmp_path / "entry"
    folder.mkdir()
    for name, data in GOOD.items():
        (tmp_path / name).write_bytes(data)
        (folder / name).symlink_to(tmp_path / name)
    assert validate(folder, MANIFEST, own_machine=True).accepted
    assert "house_01.obj: is a symbolic link; put the file itself there" in said(validate(folder, MANIFEST))


def test_a_missing_sample_is_named_where_all_are_wanted(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {"house_01.obj": OBJ})
    assert said(verdict) == [
        "house_02: is missing; this phase wants every item",
        "house_03: is missing; this phase wants every item",
    ]
    assert verdict.missing == ("house_02", "house_03") and not verdict.accepted


def test_a_missing_sample_is_listed_where_it_gets_the_worst_value(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {"house_02.obj": OBJ}, LENIENT)
    assert verdict.accepted and verdict.missing == ("house_01", "house_03")
    assert verdict.warnings == ("house_01, house_03 are missing; missing items get the worst value of each metric.",)


def test_an_entry_without_any_sample_is_refused_even_there(tmp_path: Path) -> None:
    table = json.dumps([]).encode()
    assert said(judge(tmp_path, {"submission.json": table}, LENIENT)) == ["holds none of this phase's items; name each file after its item"]


WANTED = ".json, .obj, .npz, submission.json or submission.parquet"


@pytest.mark.parametrize("manifest", [MANIFEST, LENIENT])
def test_files_of_other_suffixes_alone_are_one_problem_and_not_one_for_each_item(tmp_path: Path, manifest: Manifest) -> None:
    contents = {f"house_{n:02d}.txt": b"0 0 0\n" for n in range(24)} | {"LICENSE": b"mine", "a.dxf": b"", "b.dxf": b""}
    found = "found 24 .txt files and 2 .dxf files and 1 suffixless file"
    assert said(judge(tmp_path, contents, manifest)) == [f"entry.zip: no file has a suffix of this phase ({WANTED}); {found}"]
    verdict = judge(tmp_path, {"README.md": b"soon"}, manifest)
    assert said(verdict) == [f"entry.zip: no file has a suffix of this phase ({WANTED}); found 1 .md file"]


def test_a_text_that_is_called_like_an_item_without_a_file_is_no_text_that_explains(tmp_path: Path) -> None:
    verdict = judge(
        tmp_path, {**{name: GOOD[name] for name in ("house_01.obj", "house_02.json")}, "house_02.txt": b"", "house_03.txt": b""}
    )
    assert said(verdict) == [f"house_03.txt: has the name of an item, but no suffix of this phase ({WANTED})"]
    assert verdict.warnings == ("house_02.txt is not read.",)


def test_a_single_file_that_is_no_archive_names_the_suffixes_of_this_phase_alone(tmp_path: Path) -> None:
    (tmp_path / "entry.glb").write_bytes(b"glTF")
    verdict = validate(tmp_path / "entry.glb", MANIFEST)
    assert said(verdict) == ["entry.glb: is not a zip archive; send a .zip, or a single file named .json, .obj, .npz, .parquet"]


@pytest.mark.parametrize(
    ("edges", "asks"), [([[1, 2], [2, 3], [3, 4], [4, 1]], True), ([[0, 1], [3, 4]], False), ([[1, 2], [4, 5]], False), ([[1, 4.5]], False)]
)
def test_indices_that_count_from_one_are_asked_about(tmp_path: Path, edges: list[list[float]], asks: bool) -> None:
    files = {
        "house_01.json": json.dumps({"vertices": SQUARE.vertices.tolist(), "edges": edges}).encode(),
        "house_02.npz": write_npz(Wireframe(SQUARE.vertices, np.array(edges))),
    }
    problems = said(judge(tmp_path, files, LENIENT))
    assert problems and [problem for problem in problems if problem.endswith(". Are your indices 1-based?") != asks] == []
    if asks:
        assert "house_01.json: edges[2]: edge names vertex 4, there are 4, counted from 0. Are your indices 1-based?" in problems


def test_edges_from_a_corner_to_itself_and_items_of_no_size_are_noted(tmp_path: Path) -> None:
    point = Wireframe(np.ones((3, 3)), np.array([[0, 1], [1, 2], [2, 2]]))
    loops = Wireframe(SQUARE.vertices, np.array([[0, 1], [1, 1], [2, 3], [3, 3]]))
    verdict = judge(tmp_path, {"house_01.obj": write_obj(loops), "house_02.json": write_json(point), "house_03.npz": write_npz(SQUARE)})
    assert verdict.accepted and verdict.warnings == (f"{SELF_EDGES} (house_01.obj: line 7, house_02.json: edges[2] and 1 more).",)
    assert verdict.to_confirm == (
        "house_02.json holds edges of no size; a wireframe needs at least one edge with a length (1 of 3 wireframes).",
    )


def test_a_broken_file_is_a_problem_and_not_missing_as_well(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {**GOOD, "house_01.obj": b"v 0 0 0\nl 1 90\n"})
    assert said(verdict) == ["house_01.obj: line 2: edge names vertex 90, there are 1"]
    assert verdict.missing == ("house_01",)


def test_problems_of_all_files_are_collected(tmp_path: Path) -> None:
    contents = {"house_01.obj": b"v 0 0 x\n", "house_02.json": b"{", "haus_03.obj": OBJ, "house_03.stl": b"solid"}
    assert [problem.file for problem in judge(tmp_path, contents, LENIENT).problems] == [
        "haus_03.obj",
        "house_03.stl",
        "house_01.obj",
        "house_02.json",
    ]


def test_the_first_hundred_problems_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {**GOOD, **{f"extra_{n}.obj": OBJ for n in range(150)}})
    assert (len(verdict.problems), verdict.n_problems) == (100, 150)


def test_a_row_that_is_broken_is_not_missing_and_one_that_is_not_there_is(tmp_path: Path) -> None:
    rows = [
        {"order_id": "house_01", "wf_vertices": [[0, 0, 0]], "wf_edges": [[0, 1]]},
        {"order_id": "house_02", "wf_vertices": [], "wf_edges": []},
    ]
    assert said(judge(tmp_path, {"submission.json": json.dumps(rows).encode()})) == [
        "submission.json: row 1 (house_01) wf_edges[0]: edge names vertex 1, there are 1, counted from 0",
        "house_03: is missing; this phase wants every item",
    ]


def test_a_table_that_cannot_be_read_says_only_that(tmp_path: Path) -> None:
    assert said(judge(tmp_path, {"submission.json": b"[{]"})) == [
        "submission.json: line 1 column 3: is not JSON (Expecting property name enclosed in double quotes)"
    ]


def test_files_beside_a_table_are_refused(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {**GOOD, "submission.json": b"[]"}, LENIENT)
    assert verdict.problems[0].reason == "is beside submission.json, which holds all items; send one or the other"


def test_a_format_the_phase_does_not_take_is_named_with_those_it_takes(tmp_path: Path) -> None:
    manifest = dataclasses.replace(LENIENT, formats=("obj",))
    verdict = judge(tmp_path, {"house_01.obj": OBJ, "house_02.json": GOOD["house_02.json"]}, manifest)
    assert said(verdict) == ["house_02.json: is not in a format of this phase (.obj)"]


def test_texts_that_explain_are_passed_over_with_a_warning(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {**GOOD, "README": b"hello", "docs/method.pdf": b"%PDF", "run.log": b"epoch 1"})
    assert verdict.accepted and verdict.warnings == ("README, docs/method.pdf, run.log are not read.",)


def test_few_wireframes_without_edges_are_accepted_with_a_warning(tmp_path: Path) -> None:
    ids = [*IDS, "house_04", "house_05"]
    five = dataclasses.replace(MANIFEST, items=tuple(Item(name, name, (100, 100)) for name in ids))
    files = {f"{name}.obj": OBJ for name in ids} | {"house_01.obj": b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n"}
    verdict = judge(tmp_path, files, five)
    assert verdict.accepted and (verdict.hold, verdict.to_confirm) == ("", ())
    assert verdict.warnings == ("house_01 is without any edge; an OBJ needs l records for edges, faces do not count.",)


def test_limits_of_the_sample_hold(tmp_path: Path) -> None:
    many = Wireframe(np.zeros((101, 3)), np.zeros((0, 2), np.int64))
    assert "there are more than 100 vertices" in said(judge(tmp_path, {**GOOD, "house_01.obj": write_obj(many)}))[0]


def test_progress_counts_up_to_all_files(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    judge(tmp_path, GOOD)
    validate(tmp_path / "entry.zip", MANIFEST, lambda done, total: steps.append((done, total)))
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_the_same_upload_under_another_path_gets_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "0f3a").write_bytes(b"no zip")
    assert str(validate(tmp_path / "0f3a", MANIFEST, name="mine.zip").problems[0]).startswith("mine.zip: is not a zip archive")


def test_each_of_a_thousand_samples_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    frame = Wireframe(rng.uniform(6.5e6, 6.6e6, (50, 3)), rng.integers(0, 50, (75, 2)))
    names = [f"s{n:04}" for n in range(1000)]
    manifest = dataclasses.replace(MANIFEST, items=tuple(Item(name, name, (500, 750)) for name in names))
    opened, read, files = [], Package.read, {f"{name}.obj": write_obj(frame) for name in names}
    monkeypatch.setattr(Package, "read", lambda self, name, *limit: opened.append(name) or read(self, name, *limit))
    assert judge(tmp_path, files, manifest).accepted
    assert sorted(opened) == sorted(files)


@pytest.mark.parametrize("suffix", ["zip", "obj", "json", "npz"])
def test_damaged_bytes_give_a_verdict_and_never_an_exception(tmp_path: Path, suffix: str) -> None:
    judge(tmp_path, GOOD)
    sound = {f"house_0{n}.{kind}": GOOD[f"house_0{n}.{kind}"] for n, kind in ((1, "obj"), (2, "json"), (3, "npz"))}
    sound["entry.zip"] = (tmp_path / "entry.zip").read_bytes()
    name, data = next((name, data) for name, data in sound.items() if name.endswith(suffix))
    dice = random.Random(suffix)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(dice.choice((1, 2, 8))):
            at = dice.randrange(len(damaged))
            damaged[at : at + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
        (tmp_path / name).write_bytes(damaged)
        assert isinstance(validate(tmp_path / name, LENIENT), Verdict)


def test_a_reader_that_breaks_down_is_our_fault_and_does_not_hide_other_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wireframe_files, "read_obj", lambda *_: {}["a\0\ud800"])
    verdict = judge(tmp_path, {**GOOD, "house_02.json": b"{"})
    assert not verdict.accepted and list(verdict.items) == ["house_03"]
    assert said(verdict)[0].startswith("house_01.obj: could not be read because of an error in Plumbline, which is not your fault; ")
    assert said(verdict)[1].startswith("house_02.json: line 1 column 2: is not JSON") and verdict.n_problems == 2
    (fault,) = verdict.faults
    assert fault.file == "house_01.obj" and fault.traceback.isascii() and "KeyError" in fault.traceback and "\0" not in fault.traceback


def test_what_breaks_down_before_or_beside_the_readers_is_a_sentence_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("open_package", "judge_s23dr", "item_of"):
        with monkeypatch.context() as patch:
            patch.setattr(validation, place, lambda *_, **__: 1 / 0)
            sent = {"submission.json": b"[]"} if place == "judge_s23dr" else GOOD
            verdict = judge(tmp_path, sent, LENIENT)
        file = "submission.json" if place == "judge_s23dr" else "entry.zip"
        assert said(verdict) == [f"{file}: {validation.OUR_FAULT}"]
        assert "ZeroDivisionError" in verdict.faults[0].traceback


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_the_limits_of_the_machine_say_nothing_about_an_upload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type) -> None:
    def read(*_: object) -> None:
        raise error

    monkeypatch.setattr(wireframe_files, "read_obj", read)
    with pytest.raises(error):
        judge(tmp_path, GOOD)


def test_the_real_roofs_are_accepted_as_they_are(data_folder: Path, tmp_path: Path) -> None:
    roofs = load_folder(data_folder / "building3d")
    items = tuple(Item(name, name, WIREFRAME.bounds(WIREFRAME.size(roof))) for name, roof in roofs.items())
    verdict = validate(data_folder / "building3d", dataclasses.replace(MANIFEST, items=items))
    assert verdict.accepted, said(verdict)
    assert [(name, roof) for name, roof in roofs.items() if verdict.items[name].vertices.tobytes() != roof.vertices.tobytes()] == []

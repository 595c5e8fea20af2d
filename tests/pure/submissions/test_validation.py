import dataclasses
import json
import random
from pathlib import Path

import numpy as np
import pytest

from submissions import validation
from submissions.entry_states import Reason
from submissions.formats.archive import Package
from submissions.formats.arrays import SELF_EDGES
from submissions.formats.wireframe import wireframe_files
from submissions.formats.wireframe.wireframe_files import Wireframe, load_folder, write_json, write_npz, write_obj
from submissions.kinds import WIREFRAME
from submissions.manifest import Item, Manifest
from submissions.validation import Fault, Verdict, validate
from tests.support.submissions.verdicts import faults, judged, said

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
    assert ("house_01.obj", Fault.CONTENT) in faults(validate(folder, MANIFEST))


def test_a_missing_sample_is_named_where_all_are_wanted(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {"house_01.obj": OBJ})
    assert faults(verdict) == [("house_02", Fault.MISSING), ("house_03", Fault.MISSING)]
    assert verdict.missing == ("house_02", "house_03") and not verdict.accepted


def test_a_missing_sample_is_listed_where_it_gets_the_worst_value(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {"house_02.obj": OBJ}, LENIENT)
    assert verdict.accepted and verdict.missing == ("house_01", "house_03")
    assert len(verdict.warnings) == 1 and "house_01, house_03" in verdict.warnings[0]


def test_an_entry_without_any_sample_is_refused_even_there(tmp_path: Path) -> None:
    table = json.dumps([]).encode()
    assert faults(judge(tmp_path, {"submission.json": table}, LENIENT)) == [("", Fault.EMPTY)]


WANTED = ".json, .obj, .npz, submission.json or submission.parquet"


@pytest.mark.parametrize(
    ("manifest", "contents", "sentence"),
    [
        (LENIENT, {"submission.json": b"[]"}, "holds none of this phase's items; name each file after its item"),
        (MANIFEST, {"house_02.json": GOOD["house_02.json"]}, "house_01: is missing; this phase wants every item"),
        (LENIENT, {"a.md": b"soon"}, f"entry.zip: no file has a suffix of this phase ({WANTED}); found 1 .md file"),
        (
            MANIFEST,
            {f"{n}.txt": b"" for n in range(24)} | {"LICENSE": b"mine", "a.dxf": b"", "b.dxf": b""},
            f"entry.zip: no file has a suffix of this phase ({WANTED}); found 24 .txt files and 2 .dxf files and 1 suffixless file",
        ),
        (LENIENT, GOOD | {"house_03.stl": b"solid"}, f"house_03.stl: is not in a format of this phase ({WANTED})"),
        (LENIENT, GOOD | {"roof.obj": OBJ}, "roof.obj: is not an item of this phase; name each file after its item"),
        (
            LENIENT,
            GOOD | {"house-1.obj": OBJ},
            "house-1.obj: is not an item of this phase; name each file after its item; did you mean house_01?",
        ),
        (
            LENIENT,
            {"house_01.obj": OBJ, "house_03.txt": b""},
            f"house_03.txt: has the name of an item, but no suffix of this phase ({WANTED})",
        ),
        (LENIENT, GOOD | {"house_01.json": b"{}"}, "house_01.obj: is a second file for house_01, after house_01.json"),
        (
            LENIENT,
            {"submission.json": b"[]", "house_01.obj": OBJ},
            "house_01.obj: is beside submission.json, which holds all items; send one or the other",
        ),
    ],
)
def test_each_fault_has_its_sentence(tmp_path: Path, manifest: Manifest, contents: dict[str, bytes], sentence: str) -> None:
    assert said(judge(tmp_path, contents, manifest))[0] == sentence


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (GOOD | {"README": b"hello", "docs/method.pdf": b"%PDF", "run.log": b"epoch 1"}, "README, docs/method.pdf, run.log are not read."),
        ({"house_02.obj": OBJ}, "house_01, house_03 are missing; missing items get the worst value of each metric."),
    ],
)
def test_each_warning_has_its_sentence(tmp_path: Path, contents: dict[str, bytes], sentence: str) -> None:
    verdict = judge(tmp_path, contents, LENIENT)
    assert verdict.accepted and verdict.warnings == (sentence,)


@pytest.mark.parametrize("manifest", [MANIFEST, LENIENT])
def test_files_of_other_suffixes_alone_are_one_problem_and_not_one_for_each_item(tmp_path: Path, manifest: Manifest) -> None:
    contents = {f"house_{n:02d}.txt": b"0 0 0\n" for n in range(24)} | {"LICENSE": b"mine", "a.dxf": b"", "b.dxf": b""}
    assert faults(judge(tmp_path, contents, manifest)) == [("entry.zip", Fault.SUFFIX)]


def test_a_text_that_is_called_like_an_item_without_a_file_is_no_text_that_explains(tmp_path: Path) -> None:
    verdict = judge(
        tmp_path, {**{name: GOOD[name] for name in ("house_01.obj", "house_02.json")}, "house_02.txt": b"", "house_03.txt": b""}
    )
    assert faults(verdict) == [("house_03.txt", Fault.NAME_ALONE)]
    assert len(verdict.warnings) == 1 and "house_02.txt" in verdict.warnings[0]


def test_a_single_file_that_is_no_archive_names_the_suffixes_of_this_phase_alone(tmp_path: Path) -> None:
    (tmp_path / "entry.glb").write_bytes(b"glTF")
    (problem,) = validate(tmp_path / "entry.glb", MANIFEST).problems
    assert problem.file == "entry.glb" and ".json, .obj, .npz, .parquet" in problem.reason and ".glb" not in problem.reason


@pytest.mark.parametrize(
    ("edges", "asks"), [([[1, 2], [2, 3], [3, 4], [4, 1]], True), ([[0, 1], [3, 4]], False), ([[1, 2], [4, 5]], False), ([[1, 4.5]], False)]
)
def test_indices_that_count_from_one_are_asked_about(tmp_path: Path, edges: list[list[float]], asks: bool) -> None:
    files = {
        "house_01.json": json.dumps({"vertices": SQUARE.vertices.tolist(), "edges": edges}).encode(),
        "house_02.npz": write_npz(Wireframe(SQUARE.vertices, np.array(edges))),
    }
    problems = said(judge(tmp_path, files, LENIENT))
    assert problems and [problem for problem in problems if problem.endswith("1-based?") != asks] == []


def test_edges_from_a_corner_to_itself_and_items_of_no_size_are_noted(tmp_path: Path) -> None:
    point = Wireframe(np.ones((3, 3)), np.array([[0, 1], [1, 2], [2, 2]]))
    loops = Wireframe(SQUARE.vertices, np.array([[0, 1], [1, 1], [2, 3], [3, 3]]))
    verdict = judge(tmp_path, {"house_01.obj": write_obj(loops), "house_02.json": write_json(point), "house_03.npz": write_npz(SQUARE)})
    assert verdict.accepted and verdict.warnings == (f"{SELF_EDGES} (house_01.obj: line 7, house_02.json: edges[2] and 1 more).",)
    assert verdict.hold == Reason.KIND and len(verdict.to_confirm) == 1 and "house_02.json" in verdict.to_confirm[0]


def test_a_broken_file_is_a_problem_and_not_missing_as_well(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {**GOOD, "house_01.obj": b"v 0 0 0\nl 1 90\n"})
    (problem,) = verdict.problems
    assert (problem.file, problem.where, problem.fault) == ("house_01.obj", "line 2", Fault.CONTENT)
    assert verdict.missing == ("house_01",)


def test_problems_of_all_files_are_collected(tmp_path: Path) -> None:
    contents = {"house_01.obj": b"v 0 0 x\n", "house_02.json": b"{", "haus_03.obj": OBJ, "house_03.stl": b"solid"}
    assert faults(judge(tmp_path, contents, LENIENT)) == [
        ("haus_03.obj", Fault.NO_ITEM),
        ("house_03.stl", Fault.FORMAT),
        ("house_01.obj", Fault.CONTENT),
        ("house_02.json", Fault.CONTENT),
    ]


def test_the_first_hundred_problems_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {**GOOD, **{f"extra_{n}.obj": OBJ for n in range(150)}})
    assert (len(verdict.problems), verdict.n_problems) == (100, 150)


def test_a_row_that_is_broken_is_not_missing_and_one_that_is_not_there_is(tmp_path: Path) -> None:
    rows = [
        {"order_id": "house_01", "wf_vertices": [[0, 0, 0]], "wf_edges": [[0, 1]]},
        {"order_id": "house_02", "wf_vertices": [], "wf_edges": []},
    ]
    found = faults(judge(tmp_path, {"submission.json": json.dumps(rows).encode()}))
    assert found == [("submission.json", Fault.CONTENT), ("house_03", Fault.MISSING)]


def test_a_table_that_cannot_be_read_says_only_that(tmp_path: Path) -> None:
    assert faults(judge(tmp_path, {"submission.json": b"[{]"})) == [("submission.json", Fault.CONTENT)]


def test_files_beside_a_table_are_refused(tmp_path: Path) -> None:
    verdict = judge(tmp_path, {**GOOD, "submission.json": b"[]"}, LENIENT)
    assert faults(verdict) == [(name, Fault.BESIDE_TABLE) for name in GOOD]


def test_a_format_the_phase_does_not_take_is_named_with_those_it_takes(tmp_path: Path) -> None:
    manifest = dataclasses.replace(LENIENT, formats=("obj",))
    verdict = judge(tmp_path, {"house_01.obj": OBJ, "house_02.json": GOOD["house_02.json"]}, manifest)
    assert faults(verdict) == [("house_02.json", Fault.FORMAT)] and "(.obj)" in verdict.problems[0].reason


def test_few_wireframes_without_edges_are_accepted_with_a_warning(tmp_path: Path) -> None:
    ids = [*IDS, "house_04", "house_05"]
    five = dataclasses.replace(MANIFEST, items=tuple(Item(name, name, (100, 100)) for name in ids))
    files = {f"{name}.obj": OBJ for name in ids} | {"house_01.obj": b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n"}
    verdict = judge(tmp_path, files, five)
    assert verdict.accepted and (verdict.hold, verdict.to_confirm) == ("", ())
    assert len(verdict.warnings) == 1 and "house_01" in verdict.warnings[0] and WIREFRAME.nothing in verdict.warnings[0]


def test_limits_of_the_sample_hold(tmp_path: Path) -> None:
    many = Wireframe(np.zeros((101, 3)), np.zeros((0, 2), np.int64))
    (problem,) = judge(tmp_path, {**GOOD, "house_01.obj": write_obj(many)}).problems
    assert problem.file == "house_01.obj" and "100" in problem.reason


def test_progress_counts_up_to_all_files(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    judge(tmp_path, GOOD)
    validate(tmp_path / "entry.zip", MANIFEST, lambda done, total: steps.append((done, total)))
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_an_upload_is_named_as_its_team_named_it(tmp_path: Path) -> None:
    (tmp_path / "0f3a").write_bytes(b"no zip")
    assert faults(validate(tmp_path / "0f3a", MANIFEST, name="mine.zip")) == [("mine.zip", Fault.CONTENT)]


def test_each_of_many_samples_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    frame = Wireframe(rng.uniform(6.5e6, 6.6e6, (50, 3)), rng.integers(0, 50, (75, 2)))
    names = [f"s{n:04}" for n in range(100)]
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
    for _ in range(100):
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
    assert faults(verdict) == [("house_01.obj", Fault.READER), ("house_02.json", Fault.CONTENT)] and verdict.n_problems == 2
    (fault,) = verdict.faults
    assert fault.file == "house_01.obj" and fault.traceback.isascii() and "KeyError" in fault.traceback and "\0" not in fault.traceback


def test_what_breaks_down_before_or_beside_the_readers_is_a_sentence_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("open_package", "judge_s23dr", "item_of"):
        with monkeypatch.context() as patch:
            patch.setattr(validation, place, lambda *_, **__: 1 / 0)
            sent = {"submission.json": b"[]"} if place == "judge_s23dr" else GOOD
            verdict = judge(tmp_path, sent, LENIENT)
        file = "submission.json" if place == "judge_s23dr" else "entry.zip"
        assert faults(verdict) == [(file, Fault.READER)]
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

"""Entries whose files are of another kind than the phase asks for: named and asked about from a quarter of the items on."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import write_obj as write_mesh
from submissions.formats.wireframe.wireframe_files import Wireframe, write_json, write_npz, write_obj
from submissions.kinds import FAMILIES
from submissions.manifest import Item, Manifest
from submissions.validation import validate
from tests.support.submissions.verdicts import judged

EDGES = np.array([[0, 1], [1, 2]])
CORNERS = np.array([[0, 0, 0], [8, 0, 0], [8, 0, 3.0]])
FRAME, SURFACE = Wireframe(CORNERS, EDGES), Mesh(CORNERS, np.array([[0, 1, 2]]))
GOOD = {"wireframe": (".obj", write_obj(FRAME)), "mesh": (".obj", write_mesh(SURFACE))}
PLY = b"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
SPLAT = PLY + b"property float f_dc_0\nproperty float opacity\nproperty float scale_0\nend_header\n0 0 0 1 1 1\n1 0 0 1 1 1\n"
NONE = np.zeros((0, 2), np.int64)


def phase(kind: str, n: int) -> Manifest:
    items = tuple(Item(f"item_{k}", f"item_{k}", (1000, 1000)) for k in range(n))
    return Manifest("c", "p", kind, items, FAMILIES[kind].formats, "worst", "m", 1.0)


@pytest.mark.parametrize(
    ("kind", "suffix", "data", "holds"),
    [
        ("wireframe", ".obj", b"v 0 0 0\nv 8 0 0\nv 0 8 0\nf 1 2 3\n", "faces (f records) and no edges (l records)"),
        ("wireframe", ".obj", b"v 0 0 0\nv 8 0 0\n", "points and no edges"),
        ("wireframe", ".obj", b"# nothing\n", "nothing"),
        ("wireframe", ".obj", b"v 0 0 0\nv 0 0 0\nl 1 2\n", "edges of no size"),
        ("wireframe", ".json", write_json(Wireframe(CORNERS, NONE)), "points and no edges"),
        ("wireframe", ".npz", write_npz(Wireframe(CORNERS, NONE)), "points and no edges"),
        ("mesh", ".obj", b"v 0 0 0\nv 8 0 0\nl 1 2\n", "edges (l records) and no faces (f records)"),
        ("mesh", ".obj", b"v 0 0 0\nv 8 0 0\nv 16 0 0\nf 1 2 3\n", "faces of no size"),
        ("mesh", ".ply", SPLAT, "Gaussian splats"),
        ("mesh", ".ply", PLY + b"end_header\n0 0 0\n1 0 0\n", "points and no faces"),
        ("mesh", ".stl", bytes(80) + struct.pack("<I", 0), "nothing"),
        ("mesh", ".stl", b"solid empty\nendsolid empty\n", "nothing"),
        ("mesh", ".off", b"OFF\n2 0 0\n0 0 0\n1 0 0\n", "points and no faces"),
    ],
)
def test_what_the_files_hold_is_named(tmp_path: Path, kind: str, suffix: str, data: bytes, holds: str) -> None:
    verdict = judged(tmp_path, {f"item_{n}{suffix}": data for n in range(4)}, phase(kind, 4))
    row = FAMILIES[kind]
    assert verdict.accepted and verdict.hold == "kind" and not verdict.warnings
    assert verdict.to_confirm == (f"item_0{suffix} and 3 others hold {holds}; a {kind} needs {row.needs} (4 of 4 {row.plural}).",)


@pytest.mark.parametrize("kind", ["wireframe", "mesh"])
@pytest.mark.parametrize(("n", "n_empty", "hold"), [(4, 1, "kind"), (5, 1, ""), (8, 2, "kind"), (9, 2, ""), (1, 1, "kind"), (4, 0, "")])
def test_it_is_asked_from_a_quarter_of_the_items_on(tmp_path: Path, kind: str, n: int, n_empty: int, hold: str) -> None:
    suffix, good = GOOD[kind]
    files = {f"item_{k}{suffix}": b"v 0 0 0\nv 1 0 0\n" if k < n_empty else good for k in range(n)}
    verdict = judged(tmp_path, files, phase(kind, n))
    assert (verdict.accepted, verdict.hold) == (True, hold)


@pytest.mark.parametrize(
    ("kind", "flat", "needs"),
    [
        ("wireframe", b"v 0 0 0\nv 0 0 0\nl 1 2\n", "an item needs at least one edge with a length"),
        ("mesh", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "an item needs at least one face with an area"),
    ],
)
@pytest.mark.parametrize(
    ("n", "n_flat", "named"),
    [(5, 1, "item_0 is"), (4, 1, ""), (9, 2, "item_0, item_1 are"), (8, 2, ""), (4, 0, "")],
)
def test_fewer_items_of_zero_size_are_a_warning_and_a_quarter_is_a_question(
    tmp_path: Path, kind: str, flat: bytes, needs: str, n: int, n_flat: int, named: str
) -> None:
    files = {f"item_{k}.obj": flat if k < n_flat else GOOD[kind][1] for k in range(n)}
    verdict = judged(tmp_path, files, phase(kind, n))
    assert verdict.accepted and verdict.warnings == ((f"{named} of zero size; {needs}.",) if named else ())
    assert (verdict.hold, len(verdict.to_confirm)) == (("kind", 1) if n_flat and not named else ("", 0))


def test_items_that_are_missing_do_not_count(tmp_path: Path) -> None:
    """The share is of what the entry holds, not of what the phase asks for."""
    assert judged(tmp_path, {"item_0.obj": b"v 0 0 0\n"}, phase("wireframe", 40)).hold == "kind"


def test_two_sorts_get_a_sentence_each(tmp_path: Path) -> None:
    files = {"item_0.ply": SPLAT, "item_1.obj": b"v 0 0 0\nv 8 0 0\nl 1 2\n", "item_2.obj": write_mesh(SURFACE)}
    splats, edges = judged(tmp_path, files, phase("mesh", 3)).to_confirm
    assert splats.startswith("item_0.ply holds ") and edges.startswith("item_1.obj holds ") and "item_2" not in splats + edges


def test_a_table_of_wireframes_without_edges_is_asked_about(tmp_path: Path) -> None:
    rows = [{"order_id": f"item_{n}", "wf_vertices": CORNERS.tolist(), "wf_edges": []} for n in range(4)]
    (tmp_path / "submission.json").write_text(json.dumps(rows))
    verdict = validate(tmp_path / "submission.json", phase("wireframe", 4))
    assert verdict.hold == "kind" and len(verdict.to_confirm) == 1 and "item_0 and 3 others" in verdict.to_confirm[0]


def test_an_entry_that_is_refused_is_not_asked_about(tmp_path: Path) -> None:
    verdict = judged(tmp_path, {"item_0.obj": b"v 0 0 0\n", "item_1.obj": b"x\n"}, phase("wireframe", 2))
    assert not verdict.accepted and (verdict.hold, verdict.to_confirm) == ("", ())

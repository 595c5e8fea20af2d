"""Data of the 3D view of meshes: distances by hand and against a peer, coordinates that lose nothing, the file itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
import trimesh

from leaderboard.viewer import mesh_lod, mesh_scene
from leaderboard.viewer.mesh_scene import MAGIC, scene, unpacked
from submissions.formats.arrays import Mesh
from tests.support.factories import boxes

BOX = boxes()["box_1"]  # 4 × 2 × 1
HIGHER = boxes(1.25)["box_1"]


def models(reference: Mesh, prediction: Mesh | None, **more):
    return unpacked(scene(reference, prediction, "box-net", **more))["models"]


def at(model, coordinates, origin) -> float:
    """The distance shown at the drawn vertex with these true coordinates."""
    gaps = np.linalg.norm(model["arrays"]["positions"] + origin - np.array(coordinates), axis=1)
    assert gaps.min() < 1e-5, f"no vertex is drawn at {coordinates}"
    return float(model["arrays"]["distances"][gaps.argmin()])


def test_a_box_against_a_higher_one_by_hand() -> None:
    header = unpacked(scene(BOX, HIGHER, "box-net"))
    assert header["origin"] == [2, 1, 0.5] and header["longest_side"] == 4 and header["unit"] == "m"
    reference, prediction = header["models"]
    assert [m["role"] for m in header["models"]] == ["reference", "prediction"] and prediction["name"] == "box-net"
    # The lid stands a quarter too high; the middle of the right lid is a quarter from the box's lid, and the
    # right lid's own middle as far from the higher one. Below, both are the same.
    assert at(prediction, (2, 1, 1.25), header["origin"]) == pytest.approx(0.25, abs=1e-6)
    assert at(reference, (2, 1, 1), header["origin"]) == pytest.approx(0.25, abs=1e-6)
    assert at(prediction, (0, 0, 0), header["origin"]) == at(reference, (4, 2, 0), header["origin"]) == 0
    # A corner of the right lid lies on the higher box's wall.
    assert at(reference, (4, 2, 1), header["origin"]) == pytest.approx(0, abs=1e-6)
    assert prediction["arrays"]["distances"].max() == pytest.approx(0.25, abs=1e-6)


def test_what_is_missing_shows_on_the_reference() -> None:
    lidless = Mesh(BOX.vertices, np.delete(BOX.faces, [2, 3], axis=0))
    reference, prediction = models(BOX, lidless)
    assert prediction["arrays"]["distances"].max() == 0
    # Every corner of the lid is there, but not its middle, a metre from the two long walls and from the floor.
    assert at(reference, (2, 1, 1), [2, 1, 0.5]) == pytest.approx(1, abs=1e-6)
    assert at(reference, (4, 2, 1), [2, 1, 0.5]) == 0


def test_distances_agree_with_a_peer() -> None:
    rng = np.random.default_rng(3)
    ball = trimesh.creation.icosphere(subdivisions=2)
    reference = Mesh(np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int64))
    prediction = Mesh(reference.vertices * 1.1 + rng.normal(scale=0.02, size=reference.vertices.shape), reference.faces)
    for model, other in zip(models(reference, prediction), (prediction, reference), strict=True):
        sent, triangles = model["arrays"], other.vertices[other.faces]
        for row in rng.integers(0, len(sent["positions"]), 15):
            point = np.repeat(sent["positions"][row : row + 1].astype(float), len(triangles), axis=0)
            brute = np.linalg.norm(trimesh.triangles.closest_point(triangles, point) - point, axis=1).min()
            assert sent["distances"][row] == pytest.approx(brute, abs=1e-6)


def test_projected_coordinates_cost_nothing() -> None:
    offset = np.array([6_543_210.123, 1_234_567.891, 345.678])
    moved = [Mesh(box.vertices + offset, box.faces) for box in (BOX, HIGHER)]
    here, there = unpacked(scene(BOX, HIGHER, "x")), unpacked(scene(*moved, "x"))
    assert np.array(there["origin"]) - offset == pytest.approx(here["origin"], abs=1e-8)
    for a, b in zip(here["models"], there["models"], strict=True):
        assert np.abs(a["arrays"]["distances"].max() - b["arrays"]["distances"].max()) < 1e-7
        true = b["arrays"]["positions"].astype(float) + there["origin"]
        assert np.abs(true.max(axis=0) - (a["arrays"]["positions"] + here["origin"]).max(axis=0) - offset).max() < 1e-6


def test_colours_go_with_the_faces_they_are_of() -> None:
    colours = np.arange(36, dtype=np.uint8).reshape(12, 3)
    reference, prediction = models(BOX, Mesh(BOX.vertices, BOX.faces, colours))
    assert "colours" not in reference["arrays"]
    sent = prediction["arrays"]
    floor = np.isclose(sent["positions"][sent["faces"]][..., 2], -0.5).all(axis=1)
    assert {tuple(row) for row in sent["colours"][floor].tolist()} == {(0, 1, 2), (3, 4, 5)}


def test_a_missing_item_or_one_without_a_face_leaves_nothing_to_measure() -> None:
    (only,) = models(BOX, None)
    assert "distances" not in only["arrays"] and only["faces"] == 12
    reference, prediction = models(BOX, Mesh(np.zeros((3, 3)), np.empty((0, 3), np.int64)))
    assert "distances" not in reference["arrays"] and len(prediction["arrays"]["distances"]) == 0


def test_a_simplified_picture_keeps_exact_distances_and_says_so(monkeypatch) -> None:
    monkeypatch.setattr(mesh_lod, "SPLIT_FACES", 0)
    ball = trimesh.creation.icosphere(subdivisions=3)
    reference = Mesh(np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int64))
    prediction = Mesh(reference.vertices * 1.5, reference.faces)
    shown = models(reference, prediction, most=400)
    for model in shown:
        assert model["simplified"] and model["faces"] == 1280 and model["exact"] and len(model["arrays"]["faces"]) <= 400
    # Vertices of the larger ball, kept as they are, are half a radius outside the same vertex of the whole smaller one.
    assert shown[1]["arrays"]["distances"] == pytest.approx(0.5, abs=1e-3)
    assert shown[0]["arrays"]["distances"] == pytest.approx(0.5, abs=0.02)


def test_the_file_says_where_everything_lies() -> None:
    data = scene(BOX, Mesh(HIGHER.vertices, HIGHER.faces, np.zeros((12, 3), np.uint8)), "nämé <b>", unit="mm")
    length = int.from_bytes(data[4:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert data[:4] == MAGIC and length % 4 == 0 and header["version"] == mesh_scene.VERSION and header["models"][1]["name"] == "nämé <b>"
    places = sorted((p["at"], p) for m in header["models"] for p in m["arrays"].values())
    end = 0
    for start, place in places:
        assert start % 4 == 0 and 0 <= start - end < 4
        end = start + int(np.prod(place["shape"])) * {"float32": 4, "uint32": 4, "uint8": 1}[place["type"]]
    assert 0 <= len(data) - 8 - length - end < 4
    read = unpacked(data)["models"][1]["arrays"]
    assert read["faces"].max() < len(read["positions"]) == len(read["distances"]) and len(read["sides"]) == len(read["faces"])


def test_other_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="no meshes"):
        unpacked(b"PK\x03\x04 and so on")

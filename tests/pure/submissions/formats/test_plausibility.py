"""Entries compared with what was given out: which sentences are said, and which are not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from submissions.formats.plausibility import folders, sentences
from submissions.formats.wireframe.wireframe_files import Wireframe, write_obj
from submissions.manifest import Input, Item, Manifest
from tests.support.submissions.verdicts import judged, said

HERE = np.zeros(3)
FAR = np.array([480_000.0, 5_400_000.0, 200.0])
CORNERS = np.array([[x, y, z] for x in (0, 10) for y in (0, 8) for z in (0, 5)], float)
EDGES = np.array([[0, 1], [1, 3], [3, 2], [2, 0]])
HOUSE = Wireframe(CORNERS, EDGES)


def manifest(n: int = 1, at: np.ndarray = HERE, unit: str = "m", input_unit: str = "", points: int = 12_400) -> Manifest:
    """A phase of `n` houses whose points reach half a metre around the house at `at`, stated in `input_unit`."""
    scale = {"": 1.0, "m": 1.0, "mm": 1000.0}[input_unit]
    low, high = (CORNERS.min(axis=0) - 0.5 + at) * scale, (CORNERS.max(axis=0) + 0.5 + at) * scale
    given = Input(tuple(low.tolist()), tuple(high.tolist()), points, input_unit)
    items = tuple(Item(f"house_{k + 1:02d}", f"house_{k + 1:02d}", (100, 100), input=given) for k in range(n))
    return Manifest("rooflines", "one", "wireframe", items, ("obj",), "worst", unit, {"m": 1.0, "mm": 0.001, "ft": 0.3048}[unit])


def at(factor: float = 1.0, move=0.0, axes=(0, 1, 2)) -> Wireframe:
    return Wireframe((CORNERS * factor + move)[:, list(axes)], EDGES)


def test_what_fits_is_passed_over_in_silence():
    assert sentences({"house_01": at()}, manifest()) == sentences({"house_01": at(move=FAR)}, manifest(at=FAR)) == []
    assert sentences({"house_01": at(0.4)}, manifest()) == [], "a part of it"


@pytest.mark.parametrize(
    ("model", "phase", "words"),
    [
        (at(1000), manifest(), "house_01 is 1,000 times larger than its points: millimetres? This phase wants metres."),
        (at(100), manifest(), "house_01 is 100 times larger than its points: centimetres? This phase wants metres."),
        (at(39.37), manifest(), "house_01 is about 35 times larger than its points: inches? This phase wants metres."),
        (at(0.001), manifest(), "house_01 is 1,000 times smaller than its points: kilometres? This phase wants metres."),
        (at(1 / 0.3048), manifest(unit="ft", input_unit="m"), ""),
        (at(1000), manifest(input_unit="mm"), "house_01 is 1,000 times larger than its points: millimetres? This phase wants metres."),
        (at(), manifest(at=FAR), "house_01 lies near the origin and its points far from it: local instead of projected coordinates?"),
        (at(move=300.0), manifest(), "house_01 lies 520 m away from its points: an offset?"),
        (at(move=FAR, axes=(1, 0, 2)), manifest(at=FAR), "house_01 would fit its points with x and y swapped: another order of axes?"),
    ],
)
def test_a_misfit_is_one_sentence_with_a_guess(model, phase, words):
    assert sentences({"house_01": model}, phase) == ([words] if words else [])


def test_many_items_with_one_misfit_share_a_sentence():
    phase = manifest(n=43)
    found = sentences({item.id: at(1000) for item in phase.items}, phase)
    assert len(found) == 1 and found[0].startswith("house_01 and 42 others ")
    found = sentences({"house_01": at(1000), "house_02": at(1000), "house_03": at(move=300.0)}, phase)
    assert [one.split(" ")[0] for one in found] == ["house_01", "house_03"] and "house_02" in found[0]


def test_the_input_itself_is_noticed():
    assert len(sentences({"house_01": at()}, manifest(points=8))) == 1


def test_without_inputs_nothing_is_checked():
    phase = manifest()
    bare = dataclasses.replace(phase, items=tuple(dataclasses.replace(item, input=None) for item in phase.items))
    assert sentences({"house_01": at(1000)}, bare) == []


def test_an_item_without_extent_says_nothing():
    assert sentences({"house_01": Wireframe(np.zeros((2, 3)), np.array([[0, 1]]))}, manifest()) == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["a.obj", "b.obj"], ""),
        (["x/a.obj", "x/b.obj"], ""),
        (["a/a.obj", "b/b.obj", "c/c.obj"], ""),
        (["run1/a.obj", "run1/b.obj", "run2/c.obj"], "The files lie in 2 folders, run1 (2), run2 (1): are all of one run?"),
        (["a.obj", "b.obj", "old/c.obj"], "The files lie in 2 folders, the top (2), old (1): are all of one run?"),
    ],
)
def test_files_of_two_runs_are_asked_about_and_a_folder_for_each_is_not(files, words):
    assert folders(files) == ([words] if words else [])


class TestUploads:
    def test_a_misfit_is_to_be_confirmed_and_stands_in_no_way(self, tmp_path: Path):
        verdict = judged(tmp_path, {"house_01.obj": write_obj(at(1000))}, manifest())
        assert verdict.accepted and len(verdict.to_confirm) == 1 and "millimetres?" in verdict.to_confirm[0]

    def test_a_faulty_upload_is_refused_before_anything_is_asked(self, tmp_path: Path):
        verdict = judged(tmp_path, {"house_01.obj": write_obj(at(1000)), "house_02.obj": b"v 1 2"}, manifest(n=2))
        assert not verdict.accepted and verdict.to_confirm == ()

    @pytest.mark.parametrize("name", ["house_1.obj", "House-01.obj", "houze_01.obj", "house 001.obj", "HOUSE_01.obj"])
    def test_a_name_that_comes_near_is_asked_about(self, tmp_path: Path, name: str):
        (problem,) = said(judged(tmp_path, {name: write_obj(at())}, manifest(n=3)))[:1]
        assert problem.endswith(" house_01?")

    def test_a_name_that_comes_near_none_is_not(self, tmp_path: Path):
        problems = said(judged(tmp_path, {"tower.obj": write_obj(at())}, manifest(n=3)))
        assert [problem for problem in problems if problem.endswith("?")] == []

    def test_the_manifest_keeps_what_is_said_of_inputs(self):
        phase = manifest(n=2, at=FAR, input_unit="mm")
        assert Manifest.from_json(phase.to_json()) == phase
        bare = dataclasses.replace(phase, items=tuple(dataclasses.replace(item, input=None) for item in phase.items))
        assert "input" not in bare.to_dict()["items"][0] and Manifest.from_json(bare.to_json()) == bare

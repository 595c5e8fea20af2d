"""Every hostile upload is refused with its sentence, in a child with little memory, and leaves nothing behind."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from submissions.formats.mesh.mesh_files import Mesh, write_ply
from submissions.formats.mesh.mesh_files import write_obj as write_mesh_obj
from submissions.formats.wireframe.wireframe_files import Wireframe, write_json, write_npz, write_obj
from submissions.manifest import Item, Manifest
from tests import ROOT
from tests.support.submissions.hostile import archives, meshes, npz, renders, tables, texts
from tests.support.submissions.hostile.cases import MANIFEST

WIREFRAMES = {**archives.CASES, **texts.CASES, **npz.CASES, **tables.CASES}
CASES = WIREFRAMES | meshes.CASES | renders.CASES

SPARE_BYTES = 256_000_000
SECONDS = 300  # of the processor, for all uploads of a family together: what grows without bounds is killed

# Judges each upload named on its input; reports the problems and every attempt to change the file system.
CHILD = """
import json, resource, sys
from pathlib import Path
import pyarrow.parquet
from submissions.manifest import Manifest
from submissions.validation import validate

work = json.load(sys.stdin)
manifest = Manifest.from_dict(work["manifest"])
changes = []
WATCHED = "os.mkdir os.rename os.remove os.symlink os.link os.system subprocess.Popen pickle.find_class".split()
def watch(event, args):
    writes = event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+")
    if writes or event in WATCHED:
        changes.append([event, str(args)])
sys.addaudithook(watch)
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + work["spare"],) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (work["seconds"],) * 2)
for case, path in work["cases"].items():
    try:
        verdict = validate(Path(path), manifest)
        said = {"accepted": verdict.accepted, "problems": [str(p) for p in verdict.problems], "count": verdict.n_problems}
    except BaseException as error:
        said = {"accepted": None, "problems": [repr(error)], "count": 0}
    print(json.dumps({"case": case, "changes": changes, **said}), flush=True)
    changes.clear()
"""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("hostile")
    paths = {}
    for name, (build, _) in CASES.items():
        (folder / name).mkdir()
        paths[name] = str(build(folder / name))
    before = _listing(folder)
    said = _judge(folder, {name: path for name, path in paths.items() if name in WIREFRAMES}, MANIFEST)
    said |= _judge(folder, {name: path for name, path in paths.items() if name in meshes.CASES}, meshes.MANIFEST)
    said |= _judge(folder, {name: path for name, path in paths.items() if name in renders.CASES}, renders.MANIFEST)
    return said | {"before": before, "after": _listing(folder)}


def _judge(folder: Path, paths: dict[str, str], manifest: Manifest) -> dict[str, dict[str, Any]]:
    work = {"manifest": manifest.to_dict(), "cases": paths, "spare": SPARE_BYTES, "seconds": SECONDS}
    child = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(work),
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    assert child.returncode == 0, child.stderr[-2000:]
    return {said["case"]: said for said in map(json.loads, child.stdout.splitlines())}


def _listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("name", CASES)
def test_hostile_upload_is_refused_with_its_sentence(judged: dict[str, dict[str, Any]], name: str) -> None:
    said = judged[name]
    assert said["accepted"] is False, said["problems"]
    assert re.search(CASES[name][1], "\n".join(said["problems"])), said["problems"]
    assert said["changes"] == []
    for sentence in said["problems"]:
        assert "\n" not in sentence and "\x1b" not in sentence and len(sentence) < 400
        assert "Traceback" not in sentence and "submissions/" not in sentence


def test_nothing_is_written_by_judging(judged: dict[str, Any]) -> None:
    assert judged["after"] == judged["before"]


def test_many_uploads_of_each_kind_are_tried_and_none_hides_another() -> None:
    assert len(WIREFRAMES) >= 30 and len(meshes.CASES) >= 30 and len(renders.CASES) >= 30
    assert len(CASES) == len(WIREFRAMES) + len(meshes.CASES) + len(renders.CASES)


def test_the_largest_honest_upload_passes_in_the_same_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    largest = Wireframe(rng.uniform(6.5e6, 6.6e6, (20_000, 3)), rng.integers(0, 20_000, (60_000, 2)), rng.random(60_000))
    manifest = dataclasses.replace(MANIFEST, items=(Item("villa", "villa"),))
    paths = {}
    for name, write in (("villa.obj", write_obj), ("villa.json", write_json), ("villa.npz", write_npz)):
        (tmp_path / name).write_bytes(write(largest))
        paths[name] = str(tmp_path / name)
    said = _judge(tmp_path, paths, manifest)
    assert [said[name]["accepted"] for name in paths] == [True] * 3, said


def test_a_large_honest_mesh_passes_in_the_same_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    large = Mesh(rng.uniform(6.5e6, 6.6e6, (100_000, 3)), rng.integers(0, 100_000, (200_000, 3)))
    manifest = dataclasses.replace(meshes.MANIFEST, items=(Item("hall", "hall", (100_000, 200_000)),))
    paths = {}
    for name, write in (("hall.obj", write_mesh_obj), ("hall.ply", write_ply)):
        (tmp_path / name).write_bytes(write(large))
        paths[name] = str(tmp_path / name)
    said = _judge(tmp_path, paths, manifest)
    assert [said[name]["accepted"] for name in paths] == [True] * 2, said

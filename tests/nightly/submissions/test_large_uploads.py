"""The large ones. What is above a phase's bounds is refused before it is decoded, within 3 s of the processor and 200 MB;
what a phase allows, or can only be told by reading it, ends within the limits of a worker's child."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluation.work.sandbox import Sandbox
from submissions.kinds import MESH, RENDER, WIREFRAME, Family
from submissions.manifest import Bounds, Item, Manifest
from tests.fuzz import runner
from tests.fuzz.formats import Format, upload
from tests.support.submissions.glb import Scene, glb

FACES, POINTS = 10_000_000, 5_000_000
SMALL, LARGE = 6000, 14_142  # sides of pictures of 36 and of 200 megapixels


def png(side: int) -> bytes:
    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress((b"\0" + bytes(3 * side)) * 100) for _ in range(side // 100))
    rows += packer.compress((b"\0" + bytes(3 * side)) * (side % 100)) + packer.flush()
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def encoded(form: str, side: int, **options: object) -> bytes:
    target = io.BytesIO()
    Image.new("L" if form == "JPEG" else "RGB", (side, side), 128).save(target, form, **options)
    return target.getvalue()


def webp(side: int) -> bytes:
    """A picture of a small side that claims a large one, for encoding takes minutes."""
    data = bytearray(encoded("WEBP", min(side, SMALL), lossless=True, method=0))
    struct.pack_into("<I", data, 21, (struct.unpack_from("<I", data, 21)[0] & ~0x0FFFFFFF) | (side - 1) << 14 | (side - 1))
    return bytes(data)


PICTURES: dict[str, Callable[[int], bytes]] = {"png": png, "jpg": partial(encoded, "JPEG"), "webp": webp}


def ply() -> bytes:
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {POINTS}\nproperty float x\nproperty float y\nproperty float z\n"
    head += f"element face {FACES}\nproperty list uchar int vertex_indices\nend_header\n"
    return head.encode() + bytes(12 * POINTS) + struct.pack("<Biii", 3, 0, 1, 2) * FACES


def obj() -> bytes:
    return b"v 0 0 0\n" * 3 + b"f 1 2 3\n" * FACES


def off() -> bytes:
    return b"OFF\n%d %d 0\n" % (POINTS, FACES) + b"0 0 0\n" * POINTS + b"3 0 1 2\n" * FACES


def binary_glb() -> bytes:
    scene = Scene(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}])
    scene.mesh(np.zeros((3, 3)), [0, 1, 2])
    size = 12 * POINTS
    scene.tree["bufferViews"] = [{"buffer": 0, "byteLength": size}, {"buffer": 0, "byteOffset": size, "byteLength": 12 * FACES}]
    scene.tree["accessors"][0]["count"] = POINTS
    scene.tree["accessors"][1] |= {"count": 3 * FACES, "componentType": 5125}
    scene.binary = bytes(size + 12 * FACES)
    return scene.glb()


def stl() -> bytes:
    return bytes(80) + struct.pack("<I", FACES) + bytes(50 * FACES)


MESHES = {"ply": ply, "obj": obj, "off": off, "glb": binary_glb, "stl": stl}


def zip_bomb() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("house.obj", "w", force_zip64=True) as member:
        for _ in range(1000):
            member.write(bytes(10**6))
    return target.getvalue()


NESTED = {
    "house.json": (WIREFRAME, b'{"vertices": ' + b"[" * 10_000 + b"]" * 10_000 + b', "edges": []}'),
    "submission.json": (WIREFRAME, b'[{"order_id": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}]"),
    "house.gltf": (MESH, b'{"asset": {"version": "2.0"}, "extras": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"),
    "house.glb": (MESH, glb(b'{"asset": {"version": "2.0"}, "extras": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}")),
}


class One:
    """A single large file; nothing is read before it but an empty one, so that what readers load is not counted to it."""

    def __init__(self, family: Family, name: str, limits: tuple[int, int], make: Callable[[], bytes]) -> None:
        self.kind = Format(name, name, list, partial(upload, family, limits, name.partition("/")[0]))
        self.seeds: list[bytes] = []
        self.make = make

    def __getitem__(self, number: int) -> bytes:
        return self.make()


def refusal(family: Family, name: str, limits: tuple[int, int], make: Callable[[], bytes]) -> str:
    """Sentence that refuses a large file within the limits of a fuzzed case."""
    (outcome,) = runner.run(One(family, name, limits, make), 1)
    assert outcome.end == "refused", outcome
    return outcome.said


@pytest.mark.parametrize("suffix", PICTURES)
def test_pictures_above_the_bounds_are_refused_before_they_are_decoded(suffix: str) -> None:
    name = f"entry/garden/house.{suffix}"
    assert "is 14142 × 14142 pixels; at most 16384 × 16384, and 40 million in all" in refusal(
        RENDER, name, RENDER.most, partial(PICTURES[suffix], LARGE)
    )
    assert "is 6000 × 6000 pixels; at most 80 × 56" in refusal(RENDER, name, (80, 56), partial(PICTURES[suffix], SMALL))


@pytest.mark.parametrize("suffix", MESHES)
def test_ten_million_faces_are_refused_by_their_size_where_a_phase_is_small(suffix: str) -> None:
    most = "250 MB are taken for one file" if suffix == "stl" else "17.9 MB here"
    assert f"MB, at most {most}" in refusal(MESH, f"house.{suffix}", (6000, 2000), MESHES[suffix])


@pytest.mark.parametrize("name", NESTED)
def test_json_nested_ten_thousand_deep_is_refused(name: str) -> None:
    family, data = NESTED[name]
    assert refusal(family, name, family.most, lambda: data).endswith("nests lists or objects too deeply")


def test_bombs_are_refused_unopened() -> None:
    assert "unpacks from 972 kB to 1 GB, more than 200 times" in refusal(WIREFRAME, "entry.zip", WIREFRAME.most, zip_bomb)
    # A gigabyte of zeros in a hundred times as few bytes; gzip takes files one behind the other as one.
    assert "is not a zip archive" in refusal(WIREFRAME, "entry.tar.gz", WIREFRAME.most, lambda: gzip.compress(bytes(10**6)) * 1000)


# --- within the limits of a worker's child


@pytest.fixture(scope="module")
def child() -> Iterator[Sandbox]:
    box = Sandbox()
    yield box
    box.stop()


def judged(child: Sandbox, folder: Path, family: Family, name: str, limits: tuple[int, int], data: bytes) -> dict:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    item = Item("garden/house", "garden", limits) if family.grouped else Item("house", "house", limits)
    bounds = Bounds(max_file_bytes=family.max_file_bytes)
    manifest = Manifest("large", "one", family.key, (item,), family.formats, "reject", "m", 1.0, bounds=bounds)
    return child.run(folder, {"kind": "validate", "archive": name.partition("/")[0], "manifest": manifest.to_dict()}, lambda: True)


@pytest.mark.parametrize("suffix", MESHES)
def test_ten_million_faces_end_within_the_childs_limits(child: Sandbox, tmp_path: Path, suffix: str) -> None:
    verdict = judged(child, tmp_path, MESH, f"house.{suffix}", MESH.least, MESHES[suffix]())
    (tmp_path / f"house.{suffix}").unlink()
    said = {
        "ply": "has 5000000 vertices, at most 600000 are taken for this item",
        "obj": "line 200004: there are more than 200000 triangles, the most for this item",
        "off": "has 5000000 vertices, at most 600000 are taken for this item",
        "glb": "accessors[0]: has 5000000 vertices, at most 600000 are taken for this item",
        "stl": "is 500 MB, at most 250 MB are taken for one file",
    }
    assert verdict["problems"][0] == f"house.{suffix}: {said[suffix]}" and not verdict["faults"]


@pytest.mark.parametrize("suffix", PICTURES)
def test_a_picture_of_36_megapixels_is_taken_where_a_phase_allows_any(child: Sandbox, tmp_path: Path, suffix: str) -> None:
    verdict = judged(child, tmp_path, RENDER, f"entry/garden/house.{suffix}", RENDER.most, PICTURES[suffix](SMALL))
    assert verdict["accepted"], verdict

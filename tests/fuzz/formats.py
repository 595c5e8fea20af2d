"""Every format that is read: sound files, the damage that suits its grammar, and the door it comes in by."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageCms

from evaluation.result_tables import Detail, Layout, ResultColumn, ResultsError
from evaluation.result_tables import read as read_results
from leaderboard.bundle.parse import parse
from leaderboard.evidence import canonical
from leaderboard.evidence import manifest as evidence_manifest
from leaderboard.evidence import reading as evidence_reading
from leaderboard.stats import labels, mos_table, votes
from leaderboard.stats.votes import VotesError
from submissions.formats.errors import FormatError, TableError
from submissions.formats.mesh.mesh_files import Mesh, write_ply
from submissions.formats.mesh.obj import write_obj as write_mesh_obj
from submissions.formats.render.views import Render
from submissions.formats.spreadsheet import read_sheet
from submissions.formats.wireframe.wireframe_files import Wireframe, write_json, write_npz, write_obj
from submissions.formats.yaml_document import DocumentError
from submissions.kinds import MESH, RENDER, WIREFRAME, Family
from submissions.manifest import Bounds, Item, Manifest
from submissions.validation import validate
from tests.fuzz import edits
from tests.fuzz.edits import Edit
from tests.support.leaderboard.bundle.folders import SMALL, WHOLE, write_bundle
from tests.support.leaderboard.evidence import small_set, workbooks
from tests.support.submissions.glb import Scene
from tests.support.submissions.hostile.cases import zipped

LARGEST_REAL = 130_000  # bytes of a real file that is damaged; what larger ones hold, these hold too


class ReaderBroke(Exception):
    """A reader of ours broke down, or let something through that no later step can use."""


@dataclass(frozen=True)
class Format:
    """One kind of file. ``read`` takes the folder in which it lies as ``file``, perhaps among what ``lay`` laid beside it, and
    returns the sentences that refuse it, none where it is taken. Anything that ``read`` raises is a fault."""

    name: str
    file: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], list[str]]
    edits: tuple[Edit, ...] = ()
    real: tuple[str, ...] = ()  # patterns of files in PLUMBLINE_DATA
    as_sent: Callable[[bytes], bytes] = field(default=bytes)  # what becomes of a real one
    lay: Callable[[Path], object] = field(default=lambda folder: None)

    def real_files(self) -> list[bytes]:
        root = os.environ.get("PLUMBLINE_DATA")
        paths = sorted(path for pattern in self.real for path in Path(root).glob(pattern)) if root else []
        found = (self.as_sent(path.read_bytes()) for path in paths)
        return [data for data in found if len(data) <= LARGEST_REAL]


SHEET_MEMBERS = ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/_rels/workbook.xml.rels", "[Content_Types].xml")


# --- doors


def spreadsheets() -> list[bytes]:
    """Workbooks with numbers, texts, formulas and two sheets."""
    rows = [[_cell(text) for text in line.split(",")] for line in small_set.TABLE.splitlines()]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "Results.xlsx"
        found.append(workbooks.workbook(path, rows).read_bytes())
        parts = workbooks.members({"Sheet1": workbooks.sheet([["a", ("1+1", 2)], [None, -3]]), "Notes": workbooks.sheet([["b"]])})
        found.append(workbooks.write(path, parts).read_bytes())
    return found


def _cell(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text or None


def spreadsheet(folder: Path) -> list[str]:
    try:
        rows = read_sheet(folder / "Results.xlsx", "Sheet1")
    except FormatError as error:
        return [str(fault) for fault in error.all()]
    if not all(isinstance(cell, str) for row in rows for cell in row):
        raise ReaderBroke("a cell is no text")
    return []


def published_set(folder: Path) -> list[str]:
    """The small set with this table, and everything that is made of it."""
    try:
        found = evidence_reading.read(small_set.manifest_of(), folder, read_sheet)
    except TableError as error:
        return list(error.problems)
    (folder / "tables").mkdir(exist_ok=True)
    canonical.write(found.tables, folder / "tables")
    return []


def published_manifest(folder: Path) -> list[str]:
    """The small set by this manifest."""
    try:
        manifest = evidence_manifest.parse((folder / "evidence.yaml").read_bytes())
    except DocumentError as error:
        return [str(problem) for problem in error.problems]
    for file in manifest.files:
        (folder / file.name).write_text(small_set.TABLE)
    try:
        evidence_reading.read(manifest, folder, read_sheet)
    except TableError as error:
        return list(error.problems)
    return []


def upload(family: Family, limits: tuple[int, int], name: str, folder: Path) -> list[str]:
    """The entry ``name`` of the folder as the worker's child takes it: judged, and what is in it stored."""
    path = folder / name
    items = [Item(f"garden/{stem}" if family.grouped else stem, "garden", limits) for stem in ("house", "barn")]
    bounds = Bounds(max_file_bytes=family.max_file_bytes)
    manifest = Manifest("fuzz", "one", family.key, tuple(items), family.formats, "worst", "m", 1.0, bounds=bounds)
    verdict = validate(path, manifest)
    if verdict.faults:
        raise ReaderBroke(verdict.faults[0].traceback)
    if verdict.accepted:
        for one in verdict.items.values():
            _require_usable(one, limits)
        family.pack(verdict.items)
    return [str(problem) for problem in verdict.problems]


def _require_usable(item: Any, limits: tuple[int, int]) -> None:
    """Require what every later step relies on."""
    if isinstance(item, Render):
        good = item.pixels().shape == (item.height, item.width, 3) and item.width <= limits[0] and item.height <= limits[1]
    else:
        rows, width = (item.edges, 2) if isinstance(item, Wireframe) else (item.faces, 3)
        good = (
            item.vertices.dtype == np.float64 and rows.dtype == np.int64 and item.vertices.shape[1:] == (3,) and rows.shape[1:] == (width,)
        )
        good = good and bool((np.abs(item.vertices) <= 1e7).all()) and len(item.vertices) <= limits[0] and len(rows) <= limits[1]
        good = good and (not len(rows) or (rows.min() >= 0 and rows.max() < len(item.vertices)))
    if not good:
        raise ReaderBroke(f"accepted, but no sound {type(item).__name__}: {item}")


def reference(family: Family, name: str, folder: Path) -> list[str]:
    """A folder as an organizer's reference."""
    try:
        family.load_folder(folder / name)
    except FormatError as error:
        return [str(one) for one in error.all()]
    return []


def bundle(folder: Path) -> list[str]:
    try:
        parse(folder)
    except DocumentError as error:
        return [str(problem) for problem in error.problems]
    return []


def table(read: Callable[[Path], list[Any]], canonical: Callable[[list[Any]], object], folder: Path) -> list[str]:
    """A CSV file as ``study import`` takes it, and the analysis after it."""
    try:
        canonical(read(folder / "table.csv"))
    except VotesError as error:
        return list(error.problems)
    return []


LAYOUT = Layout(
    (ResultColumn("score", "Score", "Score", True), ResultColumn("error", "Error", "Error", False)),
    "Method",
    (Detail("Year"),),
    {"paper": "Paper"},
)


def results(folder: Path) -> list[str]:
    try:
        read_results((folder / "table.csv").read_bytes().decode("utf-8-sig", "replace"), LAYOUT)
    except ResultsError as error:
        return list(error.problems)
    return []


# --- sound files

GABLE = Wireframe(
    np.array([[0, 0, 3], [8, 0, 3], [8, 12.5, 3], [0, 12.5, 3], [4, 0, 5.25], [4, 12.5, 5.25]]),
    np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 5], [3, 5], [4, 5]]),
)
SCORED = Wireframe(GABLE.vertices + np.array([538000.125, 6584000.5, 0]), GABLE.edges, np.linspace(0, 1, 9))
BOX = Mesh(
    np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.5)]),
    np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    ),
)
RED = Mesh(BOX.vertices, BOX.faces, np.tile(np.array([[200, 30, 30]], np.uint8), (12, 1)))
BOTH = (GABLE, SCORED)


def rows_of_table() -> list[dict[str, Any]]:
    found = {"order_id": "house", "wf_vertices": GABLE.vertices.tolist(), "wf_edges": GABLE.edges.tolist()}
    return [found, {**found, "order_id": "barn", "edge_score": [0.5] * 9}]


def parquets() -> list[bytes]:
    rows = rows_of_table()
    columns = {name: [row[name] for row in rows] for name in ("order_id", "wf_vertices", "wf_edges")}
    options: tuple[dict[str, Any], ...] = (
        {},
        {"compression": "none", "use_dictionary": False},
        {"compression": "gzip"},
        {"data_page_version": "2.0"},
        {"row_group_size": 1},
    )
    found = []
    for option in options:
        target = io.BytesIO()
        pq.write_table(pa.table(columns), target, **option)
        found.append(target.getvalue())
    return found


def archives() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for members in (
            [("house.obj", write_obj(GABLE))],
            [("top/house.json", write_json(GABLE)), ("top/README.md", b"hello")],
            [("house.npz", write_npz(SCORED))],
        ):
            found.append(zipped(Path(folder), members).read_bytes())
    return found


def tars() -> list[bytes]:
    target, text = io.BytesIO(), write_obj(GABLE)
    with tarfile.open(fileobj=target, mode="w") as archive:
        info = tarfile.TarInfo("house.obj")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
    plain = target.getvalue()
    # tarfile's own gzip holds the time, and a case is the same bytes whenever it is made.
    return [plain, gzip.compress(plain, mtime=0), bz2.compress(plain), lzma.compress(plain)]


def plys() -> list[bytes]:
    corners = [f"{x:g} {y:g} {z:g} 10 20 {n}" for n, (x, y, z) in enumerate(BOX.vertices)]
    quads = ["4 0 1 3 2 7", "3 4 5 6 8", "5 0 1 5 4 6 9"]
    text = [
        "ply",
        "format ascii 1.0",
        "comment made by hand",
        "element vertex 8",
        "property float x",
        "property float y",
        "property float z",
        "property uchar red",
        "property uchar green",
        "property uchar blue",
        "element face 3",
        "property list uchar int vertex_indices",
        "property int part",
        "element edge 1",
        "property int v1",
        "end_header",
        *corners,
        *quads,
        "0",
        "",
    ]
    big = "ply\nformat binary_big_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n"
    big += "property list uchar uint vertex_index\nproperty list uchar float texcoord\n"
    big += "".join(f"property uchar {colour}\n" for colour in ("red", "green", "blue")) + "end_header\n"
    faces = b"".join(
        bytes([len(row)]) + np.array(row, ">u4").tobytes() + bytes([2]) + bytes(8) + b"\x01\x02\x03" for row in ([0, 1, 2], [0, 1, 2, 3])
    )
    mixed = big.encode() + np.eye(4, 3).astype(">f4").tobytes() + faces
    return [write_ply(BOX), write_ply(RED), "\n".join(text).encode(), mixed]


MESH_OBJ = b"""# box
mtllib house.mtl
o box
v 0 0 0
v 1 0 0 1
v 1 1 0 0.5 0.5 0.5
v 0 1e0 -0.0
vt 0 0
vn 0 0 1
g side
usemtl red
s off
f 1/1/1 2/1/1 3/1/1
f 1//1 3//1 4//1
usemtl blue
f -4 -3 -2 -1
l 1 2
"""
MTL = b"newmtl red\nKa 0 0 0\nKd 0.8 0.1 0.1\nmap_Kd house.png\n\nnewmtl blue\nKd 0 0 1\nillum 2\n"


def glbs() -> list[bytes]:
    plain = Scene(
        nodes=[{"mesh": 0, "translation": [1, 2, 3], "rotation": [0, 0, 1, 0], "scale": [1, -1, 2]}], scenes=[{"nodes": [0]}], scene=0
    )
    plain.mesh(BOX.vertices, BOX.faces.reshape(-1), material=0)
    plain.tree["materials"] = [{"pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.25, 0, 1]}}]
    nested = Scene(
        nodes=[{"children": [1, 2]}, {"mesh": 0, "matrix": np.eye(4).reshape(-1).tolist()}, {"mesh": 1}], scenes=[{"nodes": [0]}]
    )
    nested.mesh(mode=5)
    colours = nested.accessor(np.eye(3), "f")
    nested.mesh(BOX.vertices[:3], mode=6)
    nested.tree["meshes"][1]["primitives"][0]["attributes"]["COLOR_0"] = colours
    sparse = Scene(nodes=[{"mesh": 0}])
    sparse.mesh(BOX.vertices, BOX.faces.reshape(-1))
    at, values = sparse.view([1, 5], "H"), sparse.view(np.ones((2, 3)))
    sparse.tree["accessors"][0]["sparse"] = {
        "count": 2,
        "indices": {"bufferView": at, "componentType": 5123},
        "values": {"bufferView": values},
    }
    return [plain.glb(), nested.glb(), sparse.glb()]


def gltfs() -> list[bytes]:
    scene = Scene(nodes=[{"mesh": 0}], scenes=[{"nodes": [0]}])
    scene.mesh(BOX.vertices, BOX.faces.reshape(-1))
    return [scene.gltf()]


GLTF_KEYS = (
    "byteOffset",
    "byteStride",
    "byteLength",
    "count",
    "componentType",
    "normalized",
    "sparse",
    "indices",
    "mode",
    "POSITION",
    "COLOR_0",
    "children",
    "matrix",
    "mesh",
    "nodes",
    "uri",
    "extensionsRequired",
    "extensions",
    "skin",
    "targets",
    "scene",
)


def stls() -> list[bytes]:
    corners = BOX.vertices[BOX.faces]
    binary = np.zeros(12, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]))
    binary["corners"] = corners
    facets = [
        ["facet normal 0 0 1", "outer loop", *(f"vertex {x:g} {y:g} {z:g}" for x, y, z in three), "endloop", "endfacet"]
        for three in corners
    ]
    text = "\n".join(["solid box", *(line for facet in facets for line in facet), "endsolid box", ""])
    return [
        b"solid by name".ljust(80) + (12).to_bytes(4, "little") + binary.tobytes(),
        text.encode(),
        text.replace("\n", "\r\n  ").encode(),
    ]


def offs() -> list[bytes]:
    points = "\n".join(f"{x:g} {y:g} {z:g}" for x, y, z in BOX.vertices)
    plain = f"OFF\n# a box\n8 3 0\n{points}\n3 0 1 2\n4 0 1 3 2 255 0 0\n5 0 1 5 4 6 0.5 0.5 0.5 1\n"
    coloured = "\n".join(f"{x:g} {y:g} {z:g} 1 2 3 255" for x, y, z in BOX.vertices)
    return [plain.encode(), f"COFF 8 1 0\n{coloured}\n3 0 1 2\n".encode(), plain.replace("OFF\n# a box\n", "OFF ").encode()]


Y, X = np.mgrid[0:28, 0:40]
PIXELS = np.stack([X * 6, Y * 9, (X + Y) * 3, 255 - X], axis=-1).astype(np.uint8)


def picture(form: str, mode: str = "RGB", pixels: np.ndarray = PIXELS, **options: Any) -> bytes:
    target = io.BytesIO()
    image = Image.fromarray(pixels)
    (image if mode == "" else image.convert(mode)).save(target, form, **options)
    return target.getvalue()


def _profile() -> bytes:
    """One that has to be converted: its description does not say that it is sRGB already."""
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    srgb = srgb[:24] + bytes(12) + srgb[36:]  # the moment it was made, which no two runs share
    return srgb.replace("sRGB".encode("utf-16-be"), "dRGB".encode("utf-16-be"))


def _turned() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


def pngs() -> list[bytes]:
    deep = (X.astype(np.uint16) * 1601)[:28]
    return [
        picture("PNG"),
        picture("PNG", "RGBA"),
        picture("PNG", "P"),
        picture("PNG", "LA"),
        picture("PNG", "1"),
        picture("PNG", "", deep),
        picture("PNG", "RGB", icc_profile=_profile()),
        picture("PNG", "RGBA", exif=_turned()),
        picture("PNG", "P", transparency=3),
    ]


def jpegs() -> list[bytes]:
    return [
        picture("JPEG"),
        picture("JPEG", progressive=True),
        picture("JPEG", "L"),
        picture("JPEG", exif=_turned(), icc_profile=_profile()),
        picture("JPEG", subsampling=0, quality=95, restart_marker_blocks=2),
    ]


def webps() -> list[bytes]:
    return [
        picture("WEBP"),
        picture("WEBP", lossless=True),
        picture("WEBP", "RGBA"),
        picture("WEBP", "RGBA", lossless=True),
        picture("WEBP", exif=_turned(), icc_profile=_profile()),
    ]


def cropped(form: str, data: bytes) -> bytes:
    """A piece of a real picture, so that a case takes no longer than others."""
    with Image.open(io.BytesIO(data)) as image:
        return picture(form, "RGB", np.asarray(image.convert("RGB"))[100:180, 200:320])


def lay_mesh(folder: Path) -> None:
    (folder / "entry").mkdir()
    (folder / "entry" / "house.obj").write_bytes(MESH_OBJ)


def lay_scene(folder: Path) -> None:
    (folder / "scenes" / "garden").mkdir(parents=True)
    for name in ("a", "b"):
        (folder / "scenes" / "garden" / f"{name}.png").write_bytes(picture("PNG"))


NOTES = {"a": [{"box": [1, 2, 30.5, 20], "label": "chair"}, {"box": [0, 0, 5, 5], "label": "bin"}], "b": []}
VOTES = b"""study,rater,group,sample,left,right,choice,swapped,seconds,repeat_of,criterion,gold,order,at
s,ann,people,house_01,A,B,left,,1.5,,overall,,1,2026-11-22T14:05:09+00:00
s,bo,people,house_01,B,A,tie,true,,,overall,yes,2,2026-11-22 15:05
s,ann,people,house_02,"A, plain",B,right,,0,,overall,0,,
s,ann,people,house_01,A,B,right,,3e0,1,overall,,3,20261122T140509Z
"""
OPINIONS = b"""rater,group,sample,entry,criterion,score,seconds,order,at
ann,people,garden,A,overall,4,2.5,1,2026-11-22T14:05:09+00:00
bo,people,garden,A,overall,1,,,
ann,people,garden,"B, plain",overall,5,0,2,2026-11-22
"""
LABELS = b'method,label\nA,team\n"A, plain",corruption\nB,empty\nC,reference\nD,baseline\n'
RESULTS = b'Method,Year,Score,Error,Paper\nOne,2024,0.91,12.5,https://example.org/one\nTwo,2025,-,1e3,\n"Three, quick",,0.5,0,\n'
YAML_WORDS = (
    b"slug:",
    b"phases:",
    b"opens_at:",
    b"2026-13-40T25:61",
    b"2026-01-01T00:00+99:99",
    b"Europe/Prague",
    b"../../etc",
    b"family: mesh",
    b"family: render",
    b"params: {tau: nan}",
    b"background: '#12'",
    b"results: {path: reference}",
    b"time_zone:",
    b"- ",
    b"? ",
    b"<<:",
    b"*x",
    b"&x",
    b"!!int",
    b"---",
    b"...",
    b"%YAML 9.9",
)

WIRES, MESHES, VIEWS = (1000, 2000), MESH.least, (1024, 1024)
OBJ_WORDS = (b"v", b"l", b"f", b"vt", b"usemtl", b"1/1", b"1//", b"-9", b"\\\n", b"#")


def _wire(name: str, file: str, seeds: Callable[[], list[bytes]], *own: Edit, **more: Any) -> Format:
    return Format(name, file, seeds, partial(upload, WIREFRAME, WIRES, file), own, **more)


def _mesh(name: str, file: str, seeds: Callable[[], list[bytes]], *own: Edit, **more: Any) -> Format:
    return Format(name, file, seeds, partial(upload, MESH, MESHES, file), own, **more)


def _image(name: str, file: str, seeds: Callable[[], list[bytes]], form: str, *own: Edit) -> Format:
    read = partial(upload, RENDER, VIEWS, "entry")
    return Format(name, f"entry/garden/{file}", seeds, read, own, ("renders/garden/*/*.png",), partial(cropped, form))


def _written(write: Callable[[Any], bytes], items: Iterable[Any]) -> Callable[[], list[bytes]]:
    return lambda: [write(item) for item in items]


_NPY = edits.head(b"}", edits.words(b"<f8", b"|O", b">u2", b"True", b"(0,", b"(", b"3)", b"999999999999999999", b"1e3"), edits.overwrite)
FORMATS: tuple[Format, ...] = (
    _wire("wireframe JSON", "house.json", _written(write_json, BOTH), edits.json_values("vertices", "edges", "edge_score"), edits.words()),
    _wire(
        "wireframe OBJ",
        "house.obj",
        _written(write_obj, BOTH),
        edits.words(*OBJ_WORDS),
        edits.lines(b"v 1 2 3", b"l 1 2 3"),
        real=("building3d/*.obj", "abc_wireframes/*.obj"),
    ),
    _wire("NPZ", "house.npz", _written(write_npz, BOTH), edits.zip_members(_NPY, ("vertices.npy", "edges.npy", "edge_score", "x.npy"))),
    _wire(
        "S23DR JSON",
        "submission.json",
        lambda: [json.dumps(rows_of_table()[:1]).encode(), json.dumps(rows_of_table()).encode()],
        edits.json_values("order_id", "sample_id", "wf_vertices", "wf_edges", "edge_score"),
        edits.words(),
    ),
    _wire("Parquet", "submission.parquet", parquets, edits.tail(600, *edits.ANY), edits.head(b"PAR1", edits.flip), edits.overwrite),
    _wire("zip", "entry.zip", archives, edits.zip_members(edits.rearrange, ("house.obj", "house.json", "barn.obj", "a.zip", "house"))),
    _wire("tar", "entry.tar", tars, edits.head(b"ustar", *edits.ANY)),
    _mesh(
        "PLY",
        "house.ply",
        plys,
        edits.head(
            b"end_header\n",
            edits.words(
                b"list",
                b"uchar",
                b"int",
                b"float",
                b"ascii",
                b"binary_big_endian",
                b"vertex",
                b"face",
                b"property",
                b"element",
                b"vertex_indices",
            ),
            edits.lines(b"property", b"property list", b"property list int int a", b"element face 2"),
        ),
        edits.words(),
        real=("meshes/*.ply",),
    ),
    _mesh(
        "mesh OBJ",
        "house.obj",
        lambda: [MESH_OBJ, write_mesh_obj(BOX)],
        edits.words(*OBJ_WORDS),
        edits.lines(b"f 1 2 3 4", b"usemtl", b"v 1 2 3 9 9 9"),
        real=("meshes/*.obj",),
    ),
    Format(
        "material library",
        "entry/house.mtl",
        lambda: [MTL],
        partial(upload, MESH, MESHES, "entry"),
        (edits.words(b"Kd", b"newmtl"), edits.lines(b"Kd", b"newmtl")),
        lay=lay_mesh,
    ),
    _mesh("GLB", "house.glb", glbs, edits.glb_values(*GLTF_KEYS), real=("meshes/*.glb",)),
    _mesh("glTF", "house.gltf", gltfs, edits.json_values(*GLTF_KEYS), edits.words()),
    _mesh(
        "STL",
        "house.stl",
        stls,
        edits.words(b"solid", b"facet", b"outer", b"vertex", b"endsolid"),
        edits.lines(b"endsolid", b"solid", b"vertex 0 0 0"),
        edits.overwrite,
        real=("meshes/*.stl", "meshes/*.STL"),
    ),
    _mesh("OFF", "house.off", offs, edits.words(b"OFF", b"COFF", b"STCNOFF", b"4OFF", b"BINARY"), edits.lines(b"3 0 1 2", b"0")),
    _image("PNG", "house.png", pngs, "PNG", edits.png_chunks),
    _image("JPEG", "house.jpg", jpegs, "JPEG", edits.jpeg_segments),
    _image("WebP", "house.webp", webps, "WEBP", edits.riff_chunks),
    Format(
        "regions of a reference",
        "scenes/garden/rois.json",
        lambda: [json.dumps(NOTES).encode()],
        partial(reference, RENDER, "scenes"),
        (edits.json_values("box", "label", "a"), edits.words()),
        lay=lay_scene,
    ),
    Format(
        "YAML bundle",
        "challenge.yaml",
        lambda: [SMALL.encode(), WHOLE.encode()],
        bundle,
        (edits.words(*YAML_WORDS), edits.lines(*YAML_WORDS)),
        lay=write_bundle,
    ),
    Format(
        "votes CSV",
        "table.csv",
        lambda: [VOTES],
        partial(table, votes.read, votes.canonical),
        (edits.words(b"left", b"tie", b'"', b","), edits.lines()),
    ),
    Format(
        "opinions CSV",
        "table.csv",
        lambda: [OPINIONS],
        partial(table, mos_table.read, mos_table.canonical),
        (edits.words(b"5", b'"', b","), edits.lines()),
    ),
    Format("labels CSV", "table.csv", lambda: [LABELS], partial(table, labels.read, dict), (edits.words(b"empty", b","), edits.lines())),
    Format("results CSV", "table.csv", lambda: [RESULTS], results, (edits.words(b'"', b","), edits.lines())),
    Format(
        "spreadsheet",
        "Results.xlsx",
        spreadsheets,
        spreadsheet,
        (edits.zip_members(edits.words(b"<c", b"<row", b'r="A1"', b't="s"', b"<!DOCTYPE", b"&#65;", b"</"), SHEET_MEMBERS),),
        ("evidence/*/*.xlsx",),
    ),
    Format(
        "published set CSV",
        "Results.csv",
        lambda: [small_set.TABLE.encode()],
        published_set,
        (edits.words(b"6", b"NaN", b'"', b","), edits.lines(small_set.ROWS[0].encode())),
    ),
    Format(
        "published set YAML",
        "evidence.yaml",
        lambda: [small_set.MANIFEST.encode()],
        published_manifest,
        (edits.words(*YAML_WORDS, b"{Scene}", b"raters: none", b"mean: LPIPS"), edits.lines(*YAML_WORDS)),
    ),
)
BY_NAME = {one.name: one for one in FORMATS}

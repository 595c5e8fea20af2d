"""The kinds of entry there are, a row each: what they are called, which files may be sent, how large, and who reads them.

A new kind is a row here, a module of readers under the names that `Family` calls, a sentence in `degenerate.py`, and a row in
the `kinds.py` of the other apps. Nothing heavy is imported: readers load when the first file is read.
"""

import dataclasses
import importlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")  # of an item, or of its group


@dataclass(frozen=True)
class Family:
    """One kind of entry.

    ``formats`` are the names a manifest uses, ``suffixes`` the format that each suffix means. ``tables`` are suffixes of files that hold
    all items together. ``sizes`` names the two attributes of an item that say how large it is. ``most`` bounds them anywhere, and every
    phase allows ``least``. Files that end in one of ``companions`` are allowed beside the items' own, which alone decide their content.
    ``exact`` is the form that reads back bit for bit, ``example`` the one that people like to look at. Ids of a ``grouped`` family are
    ``group/item``. The items of a family with ``images`` are images: the reference gives the size of each, and a phase has a background
    and a rule for other sizes. ``stored`` is the suffix of stored items, and ``max_stored`` how many bytes the items of one entry may
    take.
    """

    key: str
    singular: str
    plural: str
    formats: tuple[str, ...]
    suffixes: Mapping[str, str]
    sizes: tuple[str, str]
    most: tuple[int, int]
    least: tuple[int, int]
    max_file_bytes: int
    readers: str
    exact: str
    example: str
    needs: str  # what an item of a reference has at least
    nothing: str  # what an empty item lacks, and how files come to lack it
    also: str  # what may be sent instead of an archive
    tables: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    grouped: bool = False
    images: bool = False
    stored: str = "npz"
    max_stored: int = 1_500_000_000
    per: str = "item"  # what one file is of
    reader: int = 1  # raised when readers give other numbers for the same bytes, so that `manage.py reread` finds what was stored before

    @property
    def title(self) -> str:
        return self.plural.capitalize()

    @property
    def singles(self) -> tuple[str, ...]:
        """Suffixes of files that can be an upload of their own."""
        return (*self.suffixes, *self.tables)

    @property
    def hint(self) -> str:
        """Description of an upload, in a sentence."""
        return f"A zip with one {self.singular} per {self.per} ({self.wanted(self.formats)}), {self.also}."

    @property
    def accept(self) -> str:
        """File types that a browser's file dialog offers."""
        return ",".join((".zip", *self.singles))

    def wanted(self, formats: Collection[str]) -> str:
        """The suffixes of these formats, for sentences."""
        return ", ".join(suffix for suffix, kind in self.suffixes.items() if kind in formats)

    def bounds(self, size: tuple[int, int], factor: int = 10) -> tuple[int, int]:
        """Largest size of a prediction for a reference of that size: ``factor`` times, at least ``least``, at most ``most``; an image
        without a required size may have any allowed size."""
        if self.images and not all(size):
            return self.most
        first, second = (min(most, max(least, factor * n)) for n, least, most in zip(size, self.least, self.most, strict=True))
        return first, second

    def size(self, item: Any) -> tuple[int, int]:
        """The two numbers of an item."""
        first, second = (n if isinstance(n, int) else len(n) for n in (getattr(item, name) for name in self.sizes))
        return first, second

    def is_id(self, name: str) -> bool:
        """True if an item may be called that."""
        parts = name.split("/")
        return len(parts) == (2 if self.grouped else 1) and all(NAME.fullmatch(part) for part in parts)

    @property
    def id_rule(self) -> str:
        """Rule of ids, for sentences."""
        rule = "letters, digits, dots, dashes and underscores, at most 120, beginning with a letter or digit"
        return f"an id scene/view, each of {rule}" if self.grouped else f"an id of {rule}"

    def group_of(self, name: str) -> str:
        """The default group of an item: the part before the slash, or itself."""
        return name.partition("/")[0]

    def reading(self, background: str) -> dict[str, Any]:
        """Options of the readers for a phase whose images are laid on ``background`` (#rrggbb); none of other families."""
        if not self.images:
            return {}
        red, green, blue = bytes.fromhex(background[1:])
        return {"background": (red, green, blue)}

    # --- what the module of readers does

    def read(self, package: Any, name: str, limits: tuple[int, int], **options: Any) -> Any:
        """One item from the file ``name`` of an open package, of at most that size. Raises ``FormatError`` with every fault.

        ``options`` are the phase's rules for images, see ``Manifest.reading``, and ``remarks``, a list that takes notes on how the file was
        read.
        """
        data = package.read(name, min(self.max_file_bytes, self._reader("file_limit")(*limits)))
        beside = {"companions": self._reader("beside")(package, name)} if self.companions or self.grouped else {}
        return self._reader(f"read_{self.key}")(data, name, *limits, **beside, **options)

    def load_folder(self, path: Path, **options: Any) -> dict[str, Any]:
        """All items of a folder, an archive or a file, by name; ``options`` are the background of images, and ``remarks`` as for ``read``.
        Raises ``FormatError``."""
        return self._reader("load_folder")(path, **options)

    def files(self, items: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
        """Many items as files that ``load_folder`` reads back, each a path with / between folders and its content."""
        yield from self._reader("files", self._one_each)(items)

    def _one_each(self, items: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
        return ((f"{name}.{self.exact}", self.write(item, self.exact)) for name, item in items.items())

    def reference_warnings(self, items: Mapping[str, Any]) -> list[str]:
        """Warnings about these items as a reference, of what an organizer may not have meant, in sentences; nothing is refused for them."""
        return self._reader("reference_warnings", lambda items: [])(items)

    def looks_misread(self, item: Any) -> bool | None:
        """True if a stored item looks as an earlier reader of its family gave it, and this one would not; None where its looks do not
        tell."""
        found: bool | None = self._reader("looks_misread", lambda item: None)(item)
        return found

    def stored_size(self, item: Any) -> int:
        """About how many bytes a read item keeps in memory and in the storage, for families that must count them."""
        return self._reader("stored_size", lambda item: 0)(item)

    def save(self, items: Mapping[str, Any], path: Path) -> None:
        """``pack`` into a file."""
        self._reader("save", lambda items, path: path.write_bytes(self.pack(items)))(items, path)

    def load(self, path: Path, only: Collection[str] | None = None) -> dict[str, Any]:
        """The inverse of ``save``; where ``only`` names some items, others may be left out. Raises ``FormatError``."""
        return self._reader("load", lambda path, only: self.unpack(path.read_bytes()))(path, only)

    def pack(self, items: Mapping[str, Any]) -> bytes:
        """Many items as the bytes that are stored, every number kept bit for bit."""
        return self._reader("pack")(items)

    def unpack(self, data: bytes) -> dict[str, Any]:
        """The inverse of ``pack``. Raises ``FormatError``."""
        return self._reader("unpack")(data)

    def stored_extents(self, source: BinaryIO) -> dict[str, Any]:
        """Extents of an open file that ``save`` wrote: an ``artifact.Extent`` of each item by name; the items are not read. Raises
        ``FormatError``."""
        return self._reader("stored_extents")(source)

    def stored_regions(self, source: BinaryIO) -> dict[str, Any]:
        """Regions of interest of an open file that ``save`` wrote, of each view that has an image, by name; nothing of families without
        images. Raises ``FormatError``."""
        return self._reader("stored_regions", lambda source: {})(source)

    def stored_image(self, source: BinaryIO, name: str) -> bytes | None:
        """PNG of the view ``name`` of an open file that ``save`` wrote; None where there is none. Raises ``FormatError``."""
        return self._reader("stored_image", lambda source, name: None)(source, name)

    def write(self, item: Any, form: str) -> bytes:
        """The item as a file of that form: ``exact`` or ``example``."""
        return self._reader(f"write_{form}")(item)

    def is_degenerate(self, item: Any) -> bool:
        """True if nothing can be measured against the item, so that it cannot be in a reference."""
        module = importlib.import_module("submissions.formats.degenerate")
        return getattr(module, self.key)(item)

    @property
    def elements(self) -> Any:
        """Description of what joins the vertices of an item, see `submissions.formats.arrays.Elements`; None for images."""
        return getattr(importlib.import_module(self.readers), "ELEMENTS", None)

    def _reader(self, name: str, otherwise: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Function called ``name`` in the module of readers; ``otherwise`` where it has no such thing."""
        found = getattr(importlib.import_module(self.readers), name, otherwise)
        if found is None:
            raise AttributeError(f"{self.readers} has no {name}")
        return found


def same(a: Any, b: Any) -> bool:
    """True if two items are of one kind and hold the same numbers or pixels, bit for bit."""
    import numpy as np  # listing the kinds needs it not

    if type(a) is not type(b):
        return False
    if hasattr(a, "same_as"):
        return a.same_as(b)
    pairs = [(getattr(a, field.name), getattr(b, field.name)) for field in dataclasses.fields(a)]
    return all((x is None) == (y is None) and (x is None or np.array_equal(x, y)) for x, y in pairs)


WIREFRAME = Family(
    key="wireframe",
    singular="wireframe",
    plural="wireframes",
    formats=("json", "obj", "npz", "s23dr"),
    suffixes=MappingProxyType({".json": "json", ".obj": "obj", ".npz": "npz"}),
    sizes=("vertices", "edges"),
    most=(20_000, 60_000),
    least=(100, 100),
    max_file_bytes=50_000_000,
    readers="submissions.formats.wireframe.wireframe_files",
    exact="json",
    example="obj",
    needs="at least one edge with a length",
    nothing="any edge; an OBJ needs l records for edges, faces do not count",
    also="or a single submission.json or .parquet",
    tables=(".parquet",),
)
MESH = Family(
    key="mesh",
    singular="mesh",
    plural="meshes",
    formats=("glb", "obj", "ply", "stl", "off"),
    suffixes=MappingProxyType({".glb": "glb", ".gltf": "glb", ".obj": "obj", ".ply": "ply", ".stl": "stl", ".off": "off"}),
    sizes=("vertices", "faces"),
    most=(2_000_000, 4_000_000),
    # A remeshed cube may have many faces, and programs that write flat shading repeat each corner for each of them.
    least=(600_000, 200_000),
    max_file_bytes=250_000_000,
    readers="submissions.formats.mesh.mesh_files",
    exact="ply",
    example="obj",
    needs="at least one face with an area",
    nothing="any face; points and lines are not a surface",
    also="or a single file where the phase has one item",
    reader=2,  # 1 cut concave polygons as fans
    # Materials, the buffers of a ``.gltf``, and textures in any form that programs write.
    companions=(
        *(".mtl", ".bin", ".png", ".jpg", ".jpeg", ".jfif", ".bmp", ".dib", ".tga", ".tif", ".tiff", ".webp", ".gif", ".avif", ".heic"),
        *(".jxl", ".jp2", ".j2k", ".exr", ".hdr", ".rgbe", ".pfm", ".ppm", ".pgm", ".pnm", ".ktx", ".ktx2", ".dds", ".basis", ".astc"),
        *(".pvr", ".crn", ".psd", ".xcf", ".svg", ".sgi", ".rgb", ".pcx", ".ico", ".tx", ".vtf", ".blp"),
    ),
)
RENDER = Family(
    key="render",
    singular="render",
    plural="renders",
    formats=("png", "jpg", "webp"),
    suffixes=MappingProxyType({".png": "png", ".jpg": "jpg", ".jpeg": "jpg", ".webp": "webp"}),
    sizes=("width", "height"),
    most=(16_384, 16_384),
    least=(1, 1),
    max_file_bytes=100_000_000,
    readers="submissions.formats.render.render_files",
    exact="png",
    example="png",
    needs="an image, or clean views of its scene",
    nothing="any pixel",
    also="in a folder per scene",
    grouped=True,
    images=True,
    stored="renders",
    per="view",
    reader=2,  # 1 judged colour profiles by their names, and overlooked 16-bit transparency and orientations behind the pixels or in XMP
)
FAMILIES: Mapping[str, Family] = MappingProxyType({family.key: family for family in (WIREFRAME, MESH, RENDER)})

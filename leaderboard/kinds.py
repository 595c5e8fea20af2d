"""The kinds of entry there are, a row each, as people see them: viewers, what raters and judges are shown and asked, starter kits. PURE.

How they are read stands in `submissions/kinds.py`, how they are scored in `evaluation/kinds.py`. Nothing heavy is imported: what
a row names is loaded on first use.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Kind:
    """One kind of entry; `key` is the key of its row in `submissions/kinds.py`.

    `viewer` names the address of an item's data for the 3D view, and `item_template` and `compare_template` draw that view; all are empty
    for kinds shown as pictures. `rated` is the dotted name of (question) -> what a rater's browser reads first; the files it names have the
    `rated_suffix`. `criteria` are the questions to raters, by criterion. `corruptions` and `empty_entry` say which entries the service can
    make for raters beside those of teams. `example` is the dotted name of (manifest, item, number) -> a thing and the same with noise, for
    the starter kit. `drawing` is the dotted name of (key of a stored reference, key of a stored entry, item) -> a small drawing of both.
    `tile` is the dotted name of (key of a stored reference or nothing, key of a stored entry, item, the columns as JSON, metres per unit)
    -> a drawing for an entry's gallery. Both are empty for kinds without drawings. `thumbnail` is the dotted name of (item, times) -> a
    picture of the item alone, enlarged so many times. `measure` is what the size of an entry counts, and `coloured` says that its files may
    have colours. Judge models see it as `judged` says (`JudgeRun.Form`), from pictures that are drawn here where it is `drawn`. `materials`
    are what published sets of judgements call such things.
    """

    key: str
    criteria: Mapping[str, str]
    rated: str
    example: str
    example_noun: str
    measure: str
    judged: str
    thumbnail: str
    viewer: str = ""
    item_template: str = ""
    compare_template: str = ""
    rated_suffix: str = ""
    drawing: str = ""
    tile: str = ""
    generated: bool = True  # raters may be asked the criteria of generated objects too
    corruptions: bool = False
    empty_entry: bool = False
    materials: tuple[str, ...] = ()
    coloured: bool = False
    drawn: bool = False
    opens_later: bool = False  # the 3D view is large: a picture stands there until somebody asks for it

    def rated_scene(self, question: Any) -> dict[str, Any]:
        """The scene that a rater's browser reads of a question first."""
        return _loaded(self.rated)(question)

    def draw(self, reference: str, entry: str, item: str) -> Any:
        """A small drawing of a stored entry over the stored reference on one item."""
        return _loaded(self.drawing)(reference, entry, item)

    def draw_tile(self, reference: str, entry: str, item: str, columns: str, unit_scale: float) -> Any:
        """A drawing of a stored entry for its gallery, over the stored reference where its key is given; None where there is none."""
        return _loaded(self.tile)(reference, entry, item, columns, unit_scale)

    def thumb(self, item: Any, times: int = 1) -> Any:
        """A picture (PIL) of a stored item, so many times as large as on a board."""
        return _loaded(self.thumbnail)(item, times)

    def simulated(self, manifest: Any, item: Any, number: int) -> tuple[Any, Any]:
        """A thing in the phase's unit or size, and the same with noise."""
        return _loaded(self.example)(manifest, item, number)


def _loaded(dotted: str) -> Callable[..., Any]:
    module, name = dotted.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


WIREFRAME = Kind(
    key="wireframe",
    criteria=MappingProxyType(
        {
            "closer": "Which one is closer to the reference: are the lines where they should be, is none missing, and none too many?",
            "visual_quality": "How clean does it look: straight lines that meet in corners, without clutter?",
            "objectness": "Can you make out the one thing that it is, as a whole and complete?",
            "semantic": "Does it mean the same thing as the reference: the same kind of building, with the same parts?",
            "structural": "Are the parts connected and arranged as in the reference, whatever the exact positions?",
        }
    ),
    rated="leaderboard.studies.live.materials.wireframes",
    example="leaderboard.exports.starter_kit.house",
    example_noun="house",
    measure="edges",
    judged="wireframes",
    thumbnail="leaderboard.viewer.thumbnails.wireframe",
    viewer="entry_geometry",
    item_template="leaderboard/viewer/wireframe_item.html",
    compare_template="leaderboard/viewer/wireframe_compare.html",
    drawing="leaderboard.views.item.drawing",
    tile="leaderboard.views.gallery.wireframe_tile",
    materials=("wireframes",),
    generated=False,
    corruptions=True,
    empty_entry=True,
)
MESH = Kind(
    key="mesh",
    criteria=MappingProxyType(
        {
            "closer": "Which one is closer to the reference: is the shape right as a whole and in its details?",
            "visual_quality": "How good does the surface look: smooth where it should be, sharp where it should be, without noise or "
            "holes?",
            "objectness": "Can you make out the object, as a whole, complete and apart from everything else?",
            "semantic": "Is it the same thing as the reference, with the same parts?",
            "structural": "Are the parts arranged as in the reference, with the right proportions?",
        }
    ),
    rated="leaderboard.studies.live.materials.meshes",
    rated_suffix="mesh",
    example="leaderboard.exports.starter_kit.solid",
    example_noun="mesh",
    measure="faces",
    judged="objects",
    thumbnail="leaderboard.viewer.thumbnails.mesh",
    viewer="entry_meshes",
    item_template="leaderboard/viewer/mesh_item.html",
    compare_template="leaderboard/viewer/mesh_compare.html",
    tile="leaderboard.views.gallery.mesh_tile",
    materials=("meshes", "generated meshes"),
    empty_entry=True,
    coloured=True,
    drawn=True,
    opens_later=True,
)
RENDER = Kind(
    key="render",
    criteria=MappingProxyType(
        {
            "closer": "Which one is closer to the reference: is everything there, in its place, sharp, and in the right colours?",
            "visual_quality": "How good do the images look: sharp, without noise, ghosts or wrong colours?",
            "objectness": "Can you make out every object of the scene, complete and with clear borders?",
            "semantic": "Are the same things in the scene as in the reference, and does each look like what it is?",
            "structural": "Is everything in its place, with the right shape and the right size?",
        }
    ),
    rated="leaderboard.studies.live.materials.renders",
    rated_suffix="webp",
    example="leaderboard.exports.starter_kit.fields",
    example_noun="pattern",
    measure="bytes",
    judged="objects",
    thumbnail="leaderboard.viewer.thumbnails.render",
    materials=("splat videos", "nerf videos", "pictures"),
)
KINDS: Mapping[str, Kind] = MappingProxyType({kind.key: kind for kind in (WIREFRAME, MESH, RENDER)})


def of_material(material: str) -> str:
    """Key of the kind that a published set is of; the material itself where nothing of that kind can be entered here."""
    return next((kind.key for kind in KINDS.values() if material in kind.materials), material)

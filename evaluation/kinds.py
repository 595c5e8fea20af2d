"""The kinds of entry, one row each, as scoring sees them: pairs, damage, simulated models, warnings. PURE.

`submissions/kinds.py` has their readers. Nothing heavy is imported: what a row names is loaded on first use.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple


class Corruption(NamedTuple):
    """Damage that grows step by step: the id of its test in the property suite, its name, and what is done, in a sentence."""

    id: str
    title: str
    doc: str


@dataclass(frozen=True)
class Simulated:
    """The procedural models of a kind: the command's option for their number, their name, the usual number for measuring metrics, and the
    dotted name of the function that gives the first n by id."""

    option: str
    stem: str
    title: str
    usual: int
    models: str

    def first(self, n: int) -> dict[str, Any]:
        """The first n models by id."""
        return _loaded(self.models)(n)


@dataclass(frozen=True)
class Kind:
    """One kind of entry; `key` is the key of its row in `submissions/kinds.py`.

    `pair` is the dotted name of what a metric takes: one item's prediction and reference, with the work that metrics share on them.
    `trials` is the module that damages models for the sanity tests, and `weaknesses` one with examples of what metrics overlook. `tests`
    are the suite's tests that are for some kinds only. `warnings` is the dotted name of (items, columns, seconds) -> sentences on possible
    mistakes of an organizer.
    """

    key: str
    pair: str
    trials: str
    simulated: Simulated
    corruptions: tuple[Corruption, ...]
    tests: tuple[str, ...] = ()
    weaknesses: str = ""
    warnings: str = ""

    @property
    def pair_type(self) -> Any:
        """The class of a prediction beside its reference."""
        return _loaded(self.pair)

    def reference_warnings(self, items: Mapping[str, Any], columns: Iterable[tuple[str, Mapping[str, Any]]], seconds: float) -> list[str]:
        """All that speaks against these items of a reference for these columns, a sentence each."""
        return _loaded(self.warnings)(items, columns, seconds) if self.warnings else []


def _loaded(dotted: str) -> Callable[..., Any]:
    module, name = dotted.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


WIREFRAME = Kind(
    key="wireframe",
    pair="evaluation.metrics.wireframe.pair.Pair",
    trials="evaluation.properties.wireframe_trials",
    simulated=Simulated("houses", "houses", "procedural houses", 128, "evaluation.synthetic.houses.houses"),
    corruptions=(
        Corruption("mono_wrong_edges", "wrong edges", "One by one, ten wrong edges between existing corners are added."),
        Corruption("mono_deform_split", "deform/split", "Ten times, an edge is cut in two and its three corners are moved."),
        Corruption(
            "mono_moving_vertex", "moving vertex", "At each of ten steps, one more corner is moved, by half the diameter of the wireframe."
        ),
        Corruption("mono_disconnect_edges", "disconnect edges", "Ten times, an edge gets a copy of a corner that it shared."),
        Corruption("mono_delete_vertices", "delete vertices", "One by one, ten corners and their edges are deleted."),
        Corruption("mono_delete_edges", "delete edges", "One by one, ten edges are deleted; all corners stay."),
    ),
    tests=("quasi_far", "quasi_close", "triangle_del1_del2"),
    weaknesses="evaluation.properties.wireframe_weaknesses",
)
MESH = Kind(
    key="mesh",
    pair="evaluation.metrics.mesh.pair.MeshPair",
    trials="evaluation.properties.mesh_trials",
    simulated=Simulated("shapes", "meshes", "procedural meshes", 8, "evaluation.synthetic.meshes.meshes"),
    corruptions=(
        Corruption("mono_noise", "noise", "The noise on all vertices grows in five steps."),
        Corruption("mono_holes", "holes", "Three holes in the surface widen in five steps."),
        Corruption("mono_smoothing", "smoothing", "The surface is smoothed further in five steps."),
    ),
    weaknesses="evaluation.properties.mesh_weaknesses",
    warnings="evaluation.reference_warnings.of_volumes",
)
RENDER = Kind(
    key="render",
    pair="evaluation.metrics.render.pair.RenderPair",
    trials="evaluation.properties.render_trials",
    simulated=Simulated("views", "rooms", "views of procedural rooms", 12, "evaluation.properties.render_trials.models"),
    corruptions=(
        Corruption("mono_image_noise", "pixel noise", "The noise of all pixels grows in five steps."),
        Corruption("mono_blur", "blur", "The picture is blurred further in five steps."),
        Corruption("mono_compression", "compression", "The picture is compressed further in five steps."),
        Corruption("mono_floaters", "floaters", "More floaters cover the picture in five steps."),
        Corruption("mono_colour", "colour shift", "The colours are shifted further in five steps."),
    ),
    warnings="evaluation.reference_warnings.of_views",
)
KINDS: Mapping[str, Kind] = MappingProxyType({kind.key: kind for kind in (WIREFRAME, MESH, RENDER)})

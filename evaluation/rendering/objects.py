"""The reference of generated objects: a mesh for each prompt becomes the views that an entry's pictures are compared with. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.rendering import reference
from submissions.formats.archive import open_package
from submissions.formats.arrays import Mesh
from submissions.formats.errors import Findings, FormatError, Remarks
from submissions.formats.render import folder
from submissions.formats.render.images import WHITE, Colour
from submissions.formats.render.views import View, encoded, render, with_scenes
from submissions.kinds import MESH

SETS = {"turntable": 24, "266": 266}  # the views of each, as `evaluation.rendering.reference` draws them
UPS = ("z", "y")
SIDES = (64, 1024)  # px
MAX_SEEDS = 20


@dataclass(frozen=True)
class Drawing:
    """Settings of the reference views of generated objects: which `views` of each mesh, `size` px wide and high, and which of its axes
    points `up`. An entry sends `seeds` objects for each prompt, all compared with the same views."""

    views: str = "turntable"
    size: int = 512
    up: str = "z"
    seeds: int = 1

    def __post_init__(self) -> None:
        if self.views not in SETS or self.up not in UPS:
            raise ValueError(f"no such set of views, or axis: {self.views}, {self.up}")
        if not (SIDES[0] <= self.size <= SIDES[1] and 1 <= self.seeds <= MAX_SEEDS):
            raise ValueError(f"out of range: {self.size} px, {self.seeds} seeds")


def load(path: Path, drawing: Drawing, background: Colour = WHITE, remarks: Remarks | None = None) -> dict[str, View]:
    """The views `<prompt>/<seed>-<n>` of what `read` finds, whose `FormatError` it raises."""
    return with_scenes(dict(sorted(_views(*read(path, background, remarks), drawing))))


def read(path: Path, background: Colour = WHITE, remarks: Remarks | None = None) -> tuple[dict[str, Mesh], dict[str, str]]:
    """The meshes `<prompt>.glb` (or in another format of meshes) in a folder or archive, and the texts of `prompts.json`
    beside them, where there is one. `remarks` take what is worth knowing of how the meshes were read.

    Raises `FormatError`, with every fault of the files; also where the background is not the white that is drawn on.
    """
    if tuple(background) != WHITE:
        raise FormatError(path.name, "", "holds meshes, whose views are drawn on white; let the phase's background be #ffffff")
    with open_package(path) as package:
        findings = Findings(path.name)
        there = any(file.name == folder.PROMPTS for file in package.files)
        prompts = folder.prompts_of(package, folder.PROMPTS, findings) if there else {}
        findings.raise_if_any()
    meshes = MESH.load_folder(path, remarks=remarks)
    if not meshes:
        findings.add("", f"holds no mesh; put one for each prompt there, named after it ({', '.join(MESH.suffixes)})")
    for name in sorted(prompts.keys() - meshes.keys()):
        findings.add("", f"has a prompt {name}, but no mesh of that name", folder.PROMPTS)
    for name, mesh in meshes.items():
        if MESH.is_degenerate(mesh):
            findings.add("", f"needs {MESH.needs}", name)
    findings.raise_if_any()
    return meshes, prompts


def _views(meshes: Mapping[str, Mesh], prompts: Mapping[str, str], drawing: Drawing) -> Iterator[tuple[str, View]]:
    for prompt, mesh in meshes.items():
        for one in reference.mesh_views(mesh, reference.SETS[drawing.views](), drawing.size, drawing.up):
            mask = encoded(np.where(one.mask, 255, 0).astype(np.uint8))
            view = View(render(one.colour), drawing.size, drawing.size, mask, prompt=prompts.get(prompt, ""))
            yield from ((f"{prompt}/{seed}-{one.view.name}", view) for seed in range(drawing.seeds))

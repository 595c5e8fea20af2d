"""`python -m evaluation render MESH OUT`: reference pictures of a mesh. Nothing heavy is imported at the top."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from submissions.formats.errors import FormatError

COMMAND = "render"
MIN_SIDE, MAX_SIDE = 16, 2048


def add_to(commands: Any) -> None:
    """The command `render` and its options."""
    parser = commands.add_parser(COMMAND, help="draw reference views of a mesh", allow_abbrev=False)
    parser.add_argument("--views", choices=("266", "turntable"), default="266", help="266: every 15 degrees; turntable: its equator")
    parser.add_argument("--size", type=int, default=512, metavar="N", help="side of the pictures in pixels (default: 512)")
    parser.add_argument("--up", choices=("y", "z"), default="z", help="the mesh's axis that points up (default: z)")
    parser.add_argument("mesh", type=Path, metavar="MESH", help="file in any format of meshes")
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for rgb_N.png, normal_N.png and cameras.json")


def run(options: argparse.Namespace, progress: Callable[[str, int], Any]) -> int:
    """Carry it out; 2, with one sentence, if that is not possible as given."""
    if not MIN_SIDE <= options.size <= MAX_SIDE:
        print(f"Pictures have a side of {MIN_SIDE} to {MAX_SIDE} pixels; choose --size among those.", file=sys.stderr)
        return 2

    try:
        _draw(options, progress)
    except (FormatError, OSError, ValueError) as error:
        print(f"{options.mesh.name} cannot be drawn: {error}", file=sys.stderr)
        return 2
    return 0


def _draw(options: argparse.Namespace, progress: Callable[[str, int], Any]) -> None:
    # Loads numpy and the file readers, which listing the metrics must not.
    from PIL import Image

    from evaluation.rendering.reference import SETS, mesh_views
    from submissions.formats.mesh.mesh_files import read_mesh

    def content(name: str) -> bytes | None:
        file = (options.mesh.parent / name).resolve()
        return file.read_bytes() if file.is_relative_to(options.mesh.parent.resolve()) and file.is_file() else None

    mesh = read_mesh(options.mesh.read_bytes(), options.mesh.name, companions=content)
    views = SETS[options.views]()
    options.out.mkdir(parents=True, exist_ok=True)
    bar = progress("views", len(views))
    for drawn in mesh_views(mesh, views, options.size, options.up):
        Image.fromarray(drawn.colour).save(options.out / f"rgb_{drawn.view.name}.png")
        Image.fromarray(drawn.normals).save(options.out / f"normal_{drawn.view.name}.png")
        bar.update(1)
    bar.close()
    cameras = [{"view": view.name, "azimuth": view.azimuth, "elevation": view.elevation} for view in views]
    (options.out / "cameras.json").write_text(json.dumps(cameras, indent=1) + "\n")
    print(f"{len(views)} views of {options.mesh.name} are in {options.out}.")

"""The options of `python -m evaluation corrupt` and `properties`. Nothing heavy is imported here."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMMANDS = {"corrupt": "evaluation.properties.corrupt_command", "properties": "evaluation.properties.suite_command"}


def add_to(commands: Any) -> None:
    """Add both commands to the parser's."""
    corrupt = commands.add_parser("corrupt", help="write damaged copies of wireframes", allow_abbrev=False)
    corrupt.add_argument("--kind", metavar="KIND", help="deform, perturb, add or remove")
    corrupt.add_argument("--level", metavar="LEVEL", help="low, med or high")
    corrupt.add_argument("--all", action="store_true", help="every kind at every level, a folder each")
    corrupt.add_argument("--seed", type=int, default=0, metavar="N", help="another seed gives other damage (default 0)")
    corrupt.add_argument("--format", choices=("obj", "json", "npz"), help="default: by OUT's suffix, or obj")
    corrupt.add_argument("source", type=Path, metavar="IN", help="file, folder or zip of wireframes")
    corrupt.add_argument("target", type=Path, metavar="OUT", help="file, folder or .zip to write, which must not be there yet")
    properties = commands.add_parser("properties", help="measure which properties metrics have", allow_abbrev=False)
    properties.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="KEY[:SLUG]",
        help="a metric to measure, or the folder or zip of a metric program, as ./my-metric; default: all that fit",
    )
    properties.add_argument("--sandbox", action="store_true", help="run metric programs isolated, as the server does")
    properties.add_argument(
        "--misordered", type=Path, metavar="FILE", help="also write, as CSV, the damages that a metric finds better than less of the same"
    )
    properties.add_argument("--param", action="append", default=[], metavar="KEY.NAME=VALUE", help="a parameter of a metric")
    models = properties.add_mutually_exclusive_group(required=True)
    models.add_argument("--wireframes", type=Path, metavar="DIR", help="on these wireframes, in metres: file, folder or zip")
    models.add_argument("--meshes", type=Path, metavar="DIR", help="on these meshes: file, folder or zip")
    models.add_argument("--houses", type=int, metavar="N", help="on N procedural houses")
    models.add_argument("--views", type=int, metavar="N", help="on N views of procedural rooms")
    models.add_argument("--shapes", type=int, metavar="N", help="on N procedural meshes")
    properties.add_argument("--title", metavar="TEXT", help="name of the models; default: the folder's name")
    properties.add_argument("--json", action="store_true", help="print the tables as JSON")
    properties.add_argument("--tables", type=Path, metavar="DIR", help="also write a file per table, as those that ship")
    properties.add_argument("--resume", type=Path, metavar="DIR", help="keep the results of each model there, and continue from it")
    properties.add_argument("--jobs", type=int, default=1, metavar="N", help="processes that share the models (default 1)")


def run(options: argparse.Namespace, progress: Callable[[str, int], Any]) -> int:
    """Run the command that the options name and return its exit code: 0, or 2 with a sentence on stderr."""
    # Loads numpy and the file readers, which listing the metrics must not.
    from evaluation.local import CannotScore

    try:
        print(importlib.import_module(COMMANDS[options.command]).run(options, progress))
    except CannotScore as error:
        print(error, file=sys.stderr)
        return 2
    return 0

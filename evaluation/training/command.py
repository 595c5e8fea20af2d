"""`python -m evaluation train NETWORK`: from data to weights with their model card. Nothing heavy is imported at the top."""

from __future__ import annotations

import argparse
from typing import Any

from evaluation.metrics.mesh.locase import command as locase
from evaluation.training.preference import command as preference


def add_to(commands: Any) -> None:
    """The sub-command `train`, one under it for each network."""
    parser = commands.add_parser("train", help="train the network of a learned metric", allow_abbrev=False)
    networks = parser.add_subparsers(dest="network", required=True, metavar="NETWORK")
    locase.add_to(networks)
    preference.add_to(networks)


def run(options: argparse.Namespace) -> int:
    """Carry it out; 2, with one sentence, if that is not possible as given."""
    return (locase if options.network == "locase" else preference).run(options)

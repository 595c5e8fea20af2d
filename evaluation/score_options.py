"""Options that `python -m evaluation score` and `plumbline score` have in common. PURE."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from evaluation.networks import fetch_command as fetching
from evaluation.networks import weights


def add_to(score: argparse.ArgumentParser) -> None:
    """Add the options that both commands have."""
    score.add_argument("prediction", type=Path, metavar="PREDICTION", help="file, folder or zip")
    score.add_argument("reference", type=Path, metavar="REFERENCE", help="file, folder or zip")
    score.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="KEY[:SLUG]",
        help="a metric, or the folder or zip of a metric program (./my-metric); SLUG tells two uses of one metric apart; default: the "
        "manifest's metrics, or all that need no download",
    )
    score.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="KEY.NAME=VALUE",
        help="a parameter of a metric (KEY, or SLUG for that column only)",
    )
    score.add_argument("--manifest", type=Path, metavar="FILE", help="use units, metrics and parameters of this manifest's phase")
    score.add_argument(
        "--sandbox", action="store_true", help="run metric programs in a sandbox, as the server does; use it for programs by others"
    )
    fetching.add_cache(score)


def prepare(options: argparse.Namespace) -> None:
    """Use the folder of weights that was given, and warn of metric programs that run without a sandbox."""
    # Loads the file readers, which listing the metrics need not.
    from evaluation import local

    if options.cache:
        weights.use_cache(options.cache)
    own = [metric for metric in options.metric if local.is_path(metric)]
    if own and not options.sandbox:
        print(
            f"{', '.join(own)} runs without a sandbox, with all that you may do on this machine; add --sandbox if it is not your own.",
            file=sys.stderr,
        )

"""`python -m evaluation`: list the metrics, score files on one's own machine as the server does, damage wireframes, measure metrics.

Exit codes: 0 done. 1 the prediction is not acceptable; its problems are on stderr. 2 the command cannot
be carried out as given, such as for an unknown metric; one sentence says why.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from evaluation import score_options
from evaluation.images import inpaint_command as inpainting
from evaluation.metrics.description import described
from evaluation.metrics.mesh.locase import tables_command as locase
from evaluation.metrics.registry import REGISTRY, UnknownMetric, get
from evaluation.metrics.specification_lines import lines
from evaluation.networks import fetch_command as fetching
from evaluation.networks import weights
from evaluation.properties import options as properties
from evaluation.rendering import command as rendering
from evaluation.training import command as training
from submissions.client.broken_pipe import end
from submissions.kinds import FAMILIES

MANY = 20  # samples, whose bar is there from the start
PATIENCE = 3.0  # seconds that fewer may take without one
LISTED = ("key", "title", "family", "higher_is_better", "bounds", "unit", "params", "weights", "version")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    plain = {"metrics": _metrics, "score": _score, "train": training.run, locase.COMMAND: locase.run, "fetch": fetching.run}
    with_bar = {rendering.COMMAND: rendering.run, "inpaint": inpainting.run, **dict.fromkeys(properties.COMMANDS, properties.run)}
    try:
        return plain[options.command](options) if options.command in plain else with_bar[options.command](options, _progress)
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    metrics = commands.add_parser("metrics", help="list the metrics there are", allow_abbrev=False)
    metrics.add_argument("key", nargs="?", default="", metavar="KEY", help="say all of this metric")
    metrics.add_argument("--json", action="store_true", help="print the list as JSON")
    metrics.add_argument("--lines", action="store_true", help="with KEY: print the lines that a test of the metric's definition needs")
    score = commands.add_parser("score", help="score predictions against a reference", allow_abbrev=False)
    score_options.add_to(score)
    score.add_argument("--json", action="store_true", help="print the scores as JSON")
    properties.add_to(commands)
    training.add_to(commands)
    locase.add_to(commands)
    fetching.add_to(commands)
    rendering.add_to(commands)
    inpainting.add_to(commands)
    return parser


def _metrics(options: argparse.Namespace) -> int:
    if options.key:
        try:
            print((lines if options.lines else described)(get(options.key)), end="")
        except UnknownMetric as error:
            print(error, file=sys.stderr)
            return 2
        return 0
    listed, width = [], max(map(len, REGISTRY))
    for spec in REGISTRY.values():
        about = asdict(spec)
        low, high = spec.bounds
        about["bounds"] = [None if low == -math.inf else low, high]
        about["params"] = [one | {"choices": param.options} for one, param in zip(about["params"], spec.params, strict=True)]
        about["weights"] = " + ".join(network for network, _ in spec.networks) or None
        listed.append({name: about[name] for name in LISTED})
    if options.json:
        print(json.dumps(listed, indent=1))
        return 0
    for family in FAMILIES.values():
        print(f"{family.title}:")
        for spec in REGISTRY.values():
            if spec.family == family.key:
                better, unit = "higher" if spec.higher_is_better else "lower", f" ({spec.unit})" if spec.unit else ""
                print(f"  {spec.key:<{width}} {better:<6} {spec.title}{unit}")
    print(
        "\nhigher, lower: which is better. `python -m evaluation metrics KEY` describes one metric; --json lists all "
        "metrics with their parameters."
    )
    return 0


def _score(options: argparse.Namespace) -> int:
    # Loads the file readers, which listing the metrics need not.
    from evaluation import local

    score_options.prepare(options)
    try:
        outcome = local.score(
            options.prediction,
            options.reference,
            metrics=options.metric,
            params=options.param,
            manifest_file=options.manifest,
            progress=_progress,
            boxed=options.sandbox,
        )
    except (local.CannotScore, weights.WeightsError) as error:
        print(error, file=sys.stderr)
        return 2
    for warning in outcome.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if outcome.problems:
        print("\n".join(outcome.problems), file=sys.stderr)
        return 1
    print(json.dumps(outcome.to_dict(), indent=1, allow_nan=False) if options.json else outcome.table())
    return 0


def _progress(label: str, total: int) -> Any:
    """A bar on stderr with update(n) and close(); of a few items, only once they have taken some seconds."""
    from tqdm import tqdm

    return tqdm(
        total=total,
        desc=label,
        unit="item",
        file=sys.stderr,
        mininterval=0.2 if sys.stderr.isatty() else 5.0,
        delay=0.0 if total >= MANY else PATIENCE,
    )


if __name__ == "__main__":
    end(main)

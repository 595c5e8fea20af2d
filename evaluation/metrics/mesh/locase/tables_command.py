"""`python -m evaluation locase`: the experiments of LoCaSE's paper on simulated objects. Nothing heavy is imported at the top.

The paper measures on human scores of 16 objects that are not published. These commands use simulated objects with pseudo-scores, and every
file that they write says so.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.metrics.mesh.locase.command import judging
from evaluation.networks import weights
from evaluation.training.checkpoint import write
from evaluation.training.errors import TrainingError, reported
from evaluation.training.progress import bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.metrics.mesh.locase.dataset import Subject

COMMAND = "locase"
SIMULATED = (
    "**Measured on simulated objects with pseudo-scores: no person has scored these meshes.** The paper's figures are of other meshes, on "
    "human scores. They show what the paper reports and are no target for these."
)
OBJECTS, QUICK_OBJECTS = 16, 3
EPOCHS = 12


def add_to(commands: Any) -> None:
    """The sub-command `locase` with its two experiments."""
    parser = commands.add_parser(COMMAND, help="the experiments of LoCaSE's paper, on simulated objects", allow_abbrev=False)
    experiments = parser.add_subparsers(dest="experiment", required=True, metavar="EXPERIMENT")
    folds = experiments.add_parser("leave-one-out", help="train 16 networks, each without one of 16 objects", allow_abbrev=False)
    robustness = experiments.add_parser("robustness", help="the paper's tables 9 to 11 for trained weights", allow_abbrev=False)
    folds.add_argument("--epochs", type=int, default=EPOCHS, metavar="N", help="of each training (default: %(default)s)")
    robustness.add_argument("--weights", default="stage1", metavar="NAME", help="the trained network (default: %(default)s)")
    for one in (folds, robustness):
        one.add_argument("--out", type=Path, required=True, metavar="DIR", help="figures and report; run again to continue")
        one.add_argument("--quick", action="store_true", help="a try in seconds, whose figures mean nothing")
        one.add_argument("--threads", type=int, default=1, metavar="N", help="processor threads; part of the result's last digits")
        one.add_argument("--seed", type=int, default=0, metavar="N")


def run(options: argparse.Namespace) -> int:
    """Carry it out; 2, with one sentence, if that is not possible as given."""
    return reported(_leave_one_out if options.experiment == "leave-one-out" else _robustness, options)


def _leave_one_out(options: argparse.Namespace) -> None:
    import torch

    from evaluation.metrics.mesh.locase.procedural import simulated
    from evaluation.metrics.mesh.locase.training import Plan, Training
    from evaluation.synthetic.meshes import KINDS

    if min(options.threads, options.epochs) < 1:
        raise TrainingError("Threads and epochs must be at least 1.")
    torch.set_num_threads(options.threads)
    count = QUICK_OBJECTS if options.quick else OBJECTS
    plan = Plan(seed=options.seed, epochs=0, fold_epochs=1 if options.quick else options.epochs, folds=count)
    with bar("objects", count) as each:
        subjects = []
        for number in range(count):
            subjects.append(simulated(number, options.seed, KINDS))
            each.update()
    training = Training(subjects, plan, options.out, judging=judging)
    with bar("train", training.total, training.done) as steps:
        training.run(lambda phase, loss: (steps.set_postfix_str(f"{phase}, loss {loss:.3f}"), steps.update()))
    _write(options, "leave_one_out", leave_one_out_report(subjects, plan.fold_epochs, training.results), training.results)


def leave_one_out_report(subjects: Sequence[Subject], epochs: int, results: dict[str, Any]) -> list[str]:
    """The folds of a training as Markdown: each object by the network that has not seen it, and the mean over objects."""
    from evaluation.metrics.mesh.locase.model_card import folds_table

    meshes = {subject.group: len(subject.samples) for subject in subjects}
    return [
        "# LoCaSE-style network, one object left out at a time",
        "",
        SIMULATED,
        "",
        f"{len(subjects)} objects, one of each kind, with {sum(meshes.values())} damaged meshes. For each object a network is trained from "
        f"the start on the other {len(subjects) - 1} (epochs: {epochs}) and judged on it: correlations of its scores with the "
        "pseudo-scores over the object's meshes. The paper starts from weights that were trained on simulated damage.",
        "",
        *folds_table(meshes, results),
        "",
    ]


def _robustness(options: argparse.Namespace) -> None:
    import torch

    from evaluation.metrics.mesh.locase.acceptance import ROWS, Bench, procedural_cases
    from evaluation.metrics.mesh.locase.model_card import figures_table
    from evaluation.metrics.mesh.locase.procedural import HELD_OUT
    from evaluation.metrics.mesh.locase.scoring import ready

    if options.threads < 1:
        raise TrainingError("Threads must be at least 1.")
    torch.set_num_threads(options.threads)
    found = weights.require("locase", options.weights)
    cases = [case for draw in range(1 if options.quick else OBJECTS // len(HELD_OUT)) for case in procedural_cases(options.seed + 1 + draw)]
    if options.quick:
        cases = [replace(cases[0], damaged=cases[0].damaged[:3], scores=cases[0].scores[:3])]
    about = {"weights": found.name, "sha256": found.sha256, "objects": [case.name for case in cases]}
    file = options.out / "robustness.figures.json"
    kept = json.loads(file.read_text()) if file.exists() else {"about": about, "figures": {}}
    if kept["about"] != about:
        raise TrainingError(f"{options.out} holds figures of other weights or objects; give the same options or another folder.")
    todo = [row for row in ROWS if row.name not in kept["figures"]]
    with bar("robustness", len(ROWS), len(ROWS) - len(todo)) as each:
        bench = Bench(ready(found.read()), cases) if todo else None
        for row in todo:
            assert bench is not None
            figure = row.measured(bench)
            kept["figures"][row.name] = asdict(figure) | {"met": figure.met}
            write(file, json.dumps(kept).encode())
            each.update()
    figures = [kept["figures"][row.name] for row in ROWS]
    report = [
        "# LoCaSE-style network, robustness",
        "",
        SIMULATED,
        "",
        f"Weights: `{found.name}` (sha256 `{found.sha256}`). {len(cases)} objects of kinds that training leaves out, with "
        f"{sum(len(case.damaged) for case in cases)} damaged meshes. Noise is a share of the mean distance of the vertices from their "
        "middle; changes of the score are means of |change| / score. The paper does not define “small perturbation”; here it is vertex "
        "noise of 0.1 %.",
        "",
        *figures_table(figures),
        "",
    ]
    _write(options, "robustness", report, about | {"figures": figures})


def _write(options: argparse.Namespace, name: str, report: list[str], values: Any) -> None:
    """The report as Markdown, also printed, and its values as JSON."""
    text = "\n".join([*report, "A quick try: its figures mean nothing.\n"] if options.quick else report)
    (options.out / f"{name}.md").write_text(text)
    (options.out / f"{name}.json").write_text(json.dumps({"simulated": True, "quick": options.quick, "values": values}, indent=1) + "\n")
    print(text)

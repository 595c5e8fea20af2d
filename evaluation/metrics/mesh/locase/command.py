"""`python -m evaluation train locase`: from data to weights with their model card. Nothing heavy is imported at the top."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.networks import weights
from evaluation.training.errors import reported
from evaluation.training.progress import bar, stepping
from submissions.formats.arrays import Mesh
from submissions.formats.mesh.mesh_files import read_mesh

if TYPE_CHECKING:
    from evaluation.metrics.mesh.locase.dataset import Subject
    from evaluation.metrics.mesh.locase.training import Plan

RATES = {1: 1e-3, 2: 3e-4}
EPOCHS = {1: 4, 2: 40}
FOLDS = {1: 0, 2: 4}
MESHES = {1: 16, 2: None}


def add_to(networks: Any) -> None:
    """`locase` under the command `train`, and its options."""
    parser = networks.add_parser("locase", help="the learned metric of meshes", allow_abbrev=False)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoint, weights and model card; run again to continue")
    parser.add_argument("--stage", type=int, choices=(1, 2), default=1, help="1: simulated damage (default); 2: human scores")
    parser.add_argument("--scores", type=Path, metavar="CSV", help="stage 2: columns reference, distorted, score (1 to 5)")
    parser.add_argument("--base", default="stage1", metavar="NAME", help="stage 2: the weights to start from (default: stage1)")
    parser.add_argument("--name", metavar="NAME", help="name of the new weights (default: stage1 or stage2)")
    parser.add_argument("--epochs", type=int, metavar="N", help="default: 4 in stage 1, 40 in stage 2")
    parser.add_argument("--fold-epochs", type=int, metavar="N", help="epochs of each fold (default: a third of --epochs)")
    parser.add_argument("--folds", type=int, metavar="N", help="folds with disjoint objects; 0: none (default: 0 in stage 1, 4 in stage 2)")
    parser.add_argument("--objects", type=int, default=512, metavar="N", help="stage 1: objects, of 20 pairs each (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=40, metavar="N", help="points of a mesh in one step (default: %(default)s)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: a graphics card; part of the result's last digits")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="processor threads; part of the result's last digits")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="stage 1: that make the objects (default: %(default)s)")
    parser.add_argument("--stop", action="store_true", help="write the weights as far as the training in DIR has got, and train no further")
    parser.add_argument("--references", type=Path, metavar="DIR", help="meshes of your own on which to try the card's sentences as well")
    parser.add_argument("--note", action="append", default=[], metavar="TEXT", help="a paragraph for the card, below its sentences")
    parser.add_argument("--seed", type=int, default=0, metavar="N")


def run(options: argparse.Namespace) -> int:
    """Carry it out; 2, with one sentence, if that is not possible as given."""
    if (options.stage == 2) != (options.scores is not None):
        print("Stage 2, and only stage 2, trains on scores; give --stage 2 together with --scores.", file=sys.stderr)
        return 2
    counts = (options.queries, options.threads, options.processes, options.objects, options.epochs or 1, options.fold_epochs or 1)
    if min(counts) < 1 or (options.folds or 0) < 0:
        print("Epochs, queries, threads and objects must be at least 1.", file=sys.stderr)
        return 2
    return reported(_train, options)


def _train(options: argparse.Namespace) -> None:
    import torch

    from evaluation.metrics.mesh.locase.training import Training
    from evaluation.training.run_sequence import require

    torch.set_num_threads(options.threads)
    device = require(options.device)
    plan = _plan(options)
    base = weights.get("locase", options.base) if options.stage == 2 else None
    with _subjects(options) as subjects:
        training = Training(subjects, plan, options.out, base.read() if base else None, judging=judging, device=device)
        if options.stop:
            training.stop()
            _describe(options, plan, subjects, training.results, base)
            return
        with bar("train", training.total, training.done) as steps:
            training.run(lambda phase, loss: (steps.set_postfix_str(f"{phase}, loss {loss:.3f}"), steps.update()))
        _describe(options, plan, subjects, training.results, base)


def _plan(options: argparse.Namespace) -> Plan:
    from evaluation.metrics.mesh.locase.training import Plan

    epochs = options.epochs or EPOCHS[options.stage]
    return Plan(
        stage=options.stage,
        seed=options.seed,
        epochs=epochs,
        fold_epochs=options.fold_epochs or max(1, epochs // 3),
        folds=FOLDS[options.stage] if options.folds is None else options.folds,
        queries=options.queries,
        last_queries=2 * options.queries,
        meshes=MESHES[options.stage],
        rate=RATES[options.stage],
    )


def _subjects(options: argparse.Namespace) -> AbstractContextManager[Sequence[Subject]]:
    if options.stage == 2:
        from evaluation.metrics.mesh.locase.dataset import rated

        return nullcontext(rated(options.scores, _read))
    from evaluation.metrics.mesh.locase.procedural import Procedural

    return Procedural(options.objects, options.seed, options.out / "objects", options.processes)


def _read(path: Path) -> Mesh:
    return read_mesh(path.read_bytes(), path.name)


def _describe(options: argparse.Namespace, plan: Plan, subjects: Sequence[Subject], results: dict[str, Any], base: Any) -> None:
    """Name the weights, measure the acceptance figures and write the model card."""
    from evaluation.metrics.mesh.locase.acceptance import COUNT, figures, procedural_cases
    from evaluation.metrics.mesh.locase.acceptance_criteria import references, sentences, trials
    from evaluation.metrics.mesh.locase.model_card import card, markdown
    from evaluation.metrics.mesh.locase.scoring import ready

    name = options.name or f"stage{options.stage}"
    weights = (options.out / "weights.safetensors").read_bytes()
    model = ready(weights)
    # The requirements by the meshes that they are tested on.
    sets = {"five procedural meshes of kinds that training leaves out": references(options.seed + 90_001)}
    if options.references is not None:
        files = sorted(path for path in options.references.iterdir() if path.is_file())
        sets[", ".join(path.name for path in files)] = {path.name: _read(path) for path in files}
    tried = {}
    for label, items in sets.items():
        with bar("sentences", len(items)) as each:
            tried[label] = sentences(trials(model, items, lambda name: each.update()))
    with bar("acceptance", COUNT) as each:
        measured = figures(model, procedural_cases(options.seed + 1), each.update)
    made = datetime.datetime.now(datetime.UTC).date().isoformat()
    # All subjects were trained on, unless the final training was stopped in its first epoch.
    trained_on = list(islice(subjects, results["final"].get("steps", len(subjects)) * plan.per_batch))
    described = card(name, weights, plan, _data(options, trained_on, base), results, measured, tried, made, options.note)
    (options.out / f"{name}.safetensors").write_bytes(weights)
    (options.out / f"{name}.json").write_text(json.dumps(described, indent=1) + "\n")
    (options.out / f"{name}.md").write_text(markdown(described))
    print(f"{options.out / name}.safetensors, .json and .md are written (sha256 {described['sha256'][:16]}…).")
    print(f"Put the first two into locase/ of the server's folder of weights (PLUMBLINE_WEIGHTS) to offer them as “{name}”.")


def _data(options: argparse.Namespace, subjects: Sequence[Subject], base: Any) -> dict[str, Any]:
    """The material of the training, in words."""
    counted = f"{len(subjects)} objects, {sum(len(subject.samples) for subject in subjects)} meshes"
    if options.stage == 2:
        told = {"scores": f"{options.scores.name}: {counted}, human scores from 1 to 5", "base": f"{base.name} (sha256 {base.sha256})"}
        return told | _study(options.scores.parent / "study.json")
    kinds = list(dict.fromkeys(subject.group for subject in subjects))
    return {
        "objects": f"{counted}. The objects are procedural, of {len(kinds)} kinds ({', '.join(kinds)}). All are stretched, every third has "
        "a part of another kind, and every second is coarse. The network sees about 512 points of a mesh at most",
        "damage": "noise from 0.0001 to 0.03 of the diagonal; smoothing, decimation, quantisation, holes and bumps of any strength. Each "
        "object also has three other meshes: the object subdivided, an unrelated object, and a box or an ellipsoid of the object's size",
        "scores": "pseudo-scores by rank within an object, never human scores. Invisible damage has 5 and unrelated meshes have 1. The "
        "scores of the other meshes lie between, at equal steps. These meshes are ordered by the mean of two levels: the strength of the "
        "damage, and the measured deviation (distances and normals between the surfaces)",
    }


def _study(file: Path) -> dict[str, Any]:
    """The study that the scores are of, where they lie in the folder that it exported."""
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: said[key] for key in ("phase", "study", "study_created_at") if isinstance(said, dict) and said.get(key)}


def judging(fold: str, total: int) -> Callable[[], None]:
    """A bar of its own below the training's, which stands still meanwhile; gone when all meshes are scored."""
    return stepping(f"judge {fold}", total, leave=False)

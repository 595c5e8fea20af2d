"""`python -m evaluation train locase`: from data to weights with their model card. Nothing heavy is imported at the top."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.training.errors import reported

if TYPE_CHECKING:
    from evaluation.metrics.mesh.locase.dataset import Subject
    from evaluation.metrics.mesh.locase.training import Plan
    from submissions.formats.arrays import Mesh

RATES = {1: 1e-3, 2: 3e-4}
EPOCHS = {1: 80, 2: 40}
MESHES = {1: 12, 2: None}


def add_to(networks: Any) -> None:
    """`locase` under the command `train`, and its options."""
    parser = networks.add_parser("locase", help="the learned metric of meshes", allow_abbrev=False)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoint, weights and model card; run again to go on")
    parser.add_argument("--stage", type=int, choices=(1, 2), default=1, help="1: made-up damage (default); 2: human scores")
    parser.add_argument("--scores", type=Path, metavar="CSV", help="stage 2: columns reference, distorted, score (1 to 5)")
    parser.add_argument("--base", default="stage1", metavar="NAME", help="stage 2: the weights to start from (default: stage1)")
    parser.add_argument("--name", metavar="NAME", help="name of the new weights (default: stage1 or stage2)")
    parser.add_argument("--epochs", type=int, metavar="N", help="default: 80 in stage 1, 40 in stage 2")
    parser.add_argument("--fold-epochs", type=int, metavar="N", help="epochs of each fold (default: a third of --epochs)")
    parser.add_argument("--folds", type=int, default=4, metavar="N", help="folds with disjoint objects; 0: none (default: 4)")
    parser.add_argument("--per-kind", type=int, default=3, metavar="N", help="stage 1: objects of each kind (default: 3)")
    parser.add_argument("--queries", type=int, default=32, metavar="N", help="vertices of a mesh looked at in one step (default: 32)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="processor threads; part of the result's last digits")
    parser.add_argument("--seed", type=int, default=0, metavar="N")


def run(options: argparse.Namespace) -> int:
    """Carry it out; 2, with one sentence, if that is not possible as given."""
    if (options.stage == 2) != (options.scores is not None):
        print("Stage 2, and only stage 2, trains on scores; give --stage 2 together with --scores.", file=sys.stderr)
        return 2
    if min(options.queries, options.threads, options.per_kind, options.epochs or 1, options.fold_epochs or 1) < 1 or options.folds < 0:
        print("Epochs, queries, threads and objects must be at least 1.", file=sys.stderr)
        return 2
    return reported(_train, options)


def _train(options: argparse.Namespace) -> None:
    import torch

    from evaluation import weights
    from evaluation.metrics.mesh.locase.training import Training

    torch.set_num_threads(options.threads)
    plan = _plan(options)
    base = weights.get("locase", options.base) if options.stage == 2 else None
    subjects = _subjects(options)
    training = Training(subjects, plan, options.out, base.read() if base else None, judging=_judging)
    with _bar("train", training.total, training.done) as bar:
        training.run(lambda phase, loss: (bar.set_postfix_str(f"{phase}, loss {loss:.3f}"), bar.update()))
    _describe(options, plan, subjects, training.results, base)


def _plan(options: argparse.Namespace) -> Plan:
    from evaluation.metrics.mesh.locase.training import Plan

    epochs = options.epochs or EPOCHS[options.stage]
    return Plan(
        stage=options.stage,
        seed=options.seed,
        epochs=epochs,
        fold_epochs=options.fold_epochs or max(1, epochs // 3),
        folds=options.folds,
        queries=options.queries,
        last_queries=3 * options.queries,
        meshes=MESHES[options.stage],
        rate=RATES[options.stage],
    )


def _subjects(options: argparse.Namespace) -> list[Subject]:
    from evaluation.metrics.mesh.locase.dataset import procedural, rated

    if options.stage == 2:
        return rated(options.scores, _read)
    from evaluation.synthetic.meshes import KINDS

    with _bar("objects", options.per_kind * len(KINDS)) as bar:
        return procedural(options.per_kind, options.seed, progress=lambda done, total: bar.update())


def _read(path: Path) -> Mesh:
    from submissions.formats.mesh import read_mesh

    return read_mesh(path.read_bytes(), path.name)


def _describe(options: argparse.Namespace, plan: Plan, subjects: list[Subject], results: dict[str, Any], base: Any) -> None:
    """Name the weights, measure the acceptance figures and write the model card."""
    from evaluation.metrics.mesh.locase.acceptance import COUNT, figures, procedural_cases
    from evaluation.metrics.mesh.locase.card import card, markdown
    from evaluation.metrics.mesh.locase.scoring import ready

    name = options.name or f"stage{options.stage}"
    weights = (options.out / "weights.safetensors").read_bytes()
    with _bar("acceptance", COUNT) as bar:
        measured = figures(ready(weights), procedural_cases(options.seed + 1), lambda step: bar.update())
    made = datetime.datetime.now(datetime.UTC).date().isoformat()
    described = card(name, weights, plan, _data(options, subjects, base), results, measured, made)
    (options.out / f"{name}.safetensors").write_bytes(weights)
    (options.out / f"{name}.json").write_text(json.dumps(described, indent=1) + "\n")
    (options.out / f"{name}.md").write_text(markdown(described))
    print(f"{options.out / name}.safetensors, .json and .md are written (sha256 {described['sha256'][:16]}…).")
    print(f"Put the first two into locase/ of the server's folder of weights (PLUMBLINE_WEIGHTS) to offer them as “{name}”.")


def _data(options: argparse.Namespace, subjects: list[Subject], base: Any) -> dict[str, Any]:
    """What was trained on, in words."""
    counted = f"{len(subjects)} objects, {sum(len(subject.samples) for subject in subjects)} meshes"
    if options.stage == 2:
        told = {"scores": f"{options.scores.name}: {counted}, human scores from 1 to 5", "base": f"{base.name} (sha256 {base.sha256})"}
        return told | _study(options.scores.parent / "study.json")
    kinds = list(dict.fromkeys(subject.group for subject in subjects))
    return {
        "objects": f"{counted}: {options.per_kind} procedural ones of each of {len(kinds)} kinds ({', '.join(kinds)}), "
        "about 1,000 to 1,700 vertices each",
        "damage": "smoothing, noise, decimation, quantisation, holes and bumps at four levels each, and the undamaged mesh",
        "scores": "pseudo-scores: 5 less 0.85 times the mean of the level and of the level that the measured deviation (distances and "
        "normals between the surfaces) stands for; never human scores",
    }


def _study(file: Path) -> dict[str, Any]:
    """Which study the scores are of, where they lie in the folder that it exported."""
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: said[key] for key in ("phase", "study", "study_created_at") if isinstance(said, dict) and said.get(key)}


def _judging(fold: str, total: int) -> Callable[[], None]:
    """A bar of its own below that of the training, which stands still meanwhile; gone when all meshes are judged."""
    bar = _bar(f"judge {fold}", total, leave=False)

    def advance() -> None:
        bar.update()
        if bar.n >= total:
            bar.close()

    return advance


def _bar(label: str, total: int, initial: int = 0, leave: bool = True) -> Any:
    from tqdm import tqdm

    every = 0.2 if sys.stderr.isatty() else 5.0
    return tqdm(total=total, initial=initial, desc=label, file=sys.stderr, mininterval=every, leave=leave)

"""`python -m evaluation train NETWORK`: from data to weights with their model card. Nothing heavy is imported at the top."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.metrics.mesh.locase import command as locase
from evaluation.training.errors import reported
from evaluation.training.preference import command as preference

if TYPE_CHECKING:
    from evaluation.training.resumable_run import Course, Plan
    from evaluation.training.scenes import Scene

NAME = "plumbline-small"
DEFAULTS: dict[str, dict[str, Any]] = {
    "backbone": {"steps": 3000, "batch": 32, "size": 64, "rate": 2e-3, "weight_decay": 5e-4},
    "detector": {"steps": 2400, "batch": 8, "size": 256, "rate": 1e-3, "weight_decay": 5e-4},
}
SIDES = {"backbone": (1.0, 1.5), "detector": (1.0, 1.5, 2.0)}  # at which the figures are taken, over the plan's size
_ABOUT = {
    "backbone": "the small classifier whose features puzzlesim can use",
    "detector": "the small detector that osim can use",
}


def add_to(commands: Any) -> None:
    """The sub-command `train`, one under it for each network."""
    parser = commands.add_parser("train", help="train the network of a learned metric", allow_abbrev=False)
    networks = parser.add_subparsers(dest="network", required=True, metavar="NETWORK")
    locase.add_to(networks)
    preference.add_to(networks)
    for network, defaults in DEFAULTS.items():
        one = networks.add_parser(network, help=_ABOUT[network], allow_abbrev=False)
        one.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoint, weights and model card; run again to go on")
        one.add_argument("--scenes", type=Path, metavar="DIR", help="where the drawn rooms are kept (default: DIR/scenes)")
        one.add_argument("--name", default=NAME, metavar="NAME", help=f"name of the new weights (default: {NAME})")
        one.add_argument("--steps", type=int, default=defaults["steps"], metavar="N", help="default: %(default)s")
        one.add_argument("--batch", type=int, default=defaults["batch"], metavar="N", help="images in a step (default: %(default)s)")
        one.add_argument("--size", type=int, default=defaults["size"], metavar="N", help="their side in pixels (default: %(default)s)")
        one.add_argument("--rooms", type=int, default=400, metavar="N", help="rooms to learn from, five views each (default: %(default)s)")
        one.add_argument("--held-out", type=int, default=40, metavar="N", help="rooms to measure on (default: %(default)s)")
        one.add_argument("--threads", type=int, default=1, metavar="N", help="processor threads; part of the result's last digits")
        one.add_argument("--seed", type=int, default=0, metavar="N")


def run(options: argparse.Namespace) -> int:
    """Carry it out; 2, with one sentence, if that is not possible as given."""
    if options.network == "locase":
        return locase.run(options)
    if options.network == preference.NAME:
        return preference.run(options)
    if min(options.steps, options.batch, options.rooms, options.held_out, options.threads) < 1 or options.size < 32:
        print("Steps, batch, rooms and threads must be at least 1, and the size at least 32 pixels.", file=sys.stderr)
        return 2
    return reported(_train, options)


def _train(options: argparse.Namespace) -> None:
    import torch

    from evaluation.training.resumable_run import Course, Lesson, Plan

    torch.set_num_threads(options.threads)
    defaults = DEFAULTS[options.network]
    given = {key: getattr(options, key) for key in ("seed", "steps", "batch", "size", "rooms")}
    plan = Plan(options.network, **(defaults | given))
    scenes, held_out = _scenes(options, plan, "room", plan.rooms), _scenes(options, plan, "held-out", options.held_out)
    if plan.network == "backbone":
        from evaluation.training.backbone import Naming, crops

        lesson: Lesson = Naming(crops(scenes), plan)
    else:
        from evaluation.training.detector import Finding

        lesson = Finding(scenes, plan)
    course = Course(lesson, plan, options.out)
    with _bar("train", plan.steps, course.done) as bar:
        course.run(lambda loss: (bar.set_postfix_str(f"loss {loss:.3f}"), bar.update()))
    counts = {"rooms": plan.rooms, "views": len(scenes), "objects": sum(len(scene.boxes) for scene in scenes)}
    _describe(options, course, counts | {"held_out_rooms": options.held_out}, held_out)


def _scenes(options: argparse.Namespace, plan: Plan, name: str, count: int) -> list[Scene]:
    from evaluation.training.scenes import scenes

    with _bar(f"{name} rooms", count) as bar:
        return scenes(options.scenes or options.out / "scenes", name, count, plan.views, plan.pixels, bar.update)


def _describe(options: argparse.Namespace, course: Course, counts: dict[str, int], held_out: list[Scene]) -> None:
    """Name the weights, take the figures and write the model card."""
    from evaluation.training.checkpoint import write
    from evaluation.training.model_card import FOLDERS, card, markdown

    plan, name = course.plan, options.name
    weights, parameters, measured = _backbone(course, held_out) if plan.network == "backbone" else _detector(course, held_out)
    made = datetime.datetime.now(datetime.UTC).date().isoformat()
    described = card(name, weights, plan, parameters, counts, measured, course.losses, made)
    write(options.out / f"{name}.safetensors", weights)
    write(options.out / f"{name}.json", (json.dumps(described, indent=1) + "\n").encode())
    write(options.out / f"{name}.md", markdown(described).encode())
    print(f"{options.out / name}.safetensors, .json and .md are written (sha256 {described['sha256'][:16]}…).")
    print(f"Put the first two into {FOLDERS[plan.network]}/ of the server's folder of weights to offer them by that name.")


def _backbone(course: Course, held_out: list[Scene]) -> tuple[bytes, int, list[dict[str, Any]]]:
    """The file, the number of its parameters, and the figures of the network it holds."""
    from safetensors.torch import load

    from evaluation.networks.backbones import SqueezeNet
    from evaluation.training.backbone import accuracy, crops, folded
    from evaluation.training.resumable_run import exported

    trained = course.average
    assert isinstance(trained, SqueezeNet)
    weights = exported(folded(trained))
    state = load(weights)
    network = SqueezeNet(len(state["classifier.1.bias"])).eval()
    network.load_state_dict(state)
    data, sides = crops(held_out), [round(share * course.plan.size) for share in SIDES["backbone"]]
    measured = [{"size": side} | accuracy(network, data, side) for side in sides]
    return weights, sum(value.numel() for value in state.values()), measured


def _detector(course: Course, held_out: list[Scene]) -> tuple[bytes, int, list[dict[str, Any]]]:
    """The file, the number of its parameters, and the figures of the network it holds."""
    from evaluation.networks.yolox import Yolox
    from evaluation.training.detector import figures
    from evaluation.training.resumable_run import exported

    weights, network = exported(course.average.state_dict()), course.average.eval()
    assert isinstance(network, Yolox)
    measured = []
    for side in (round(share * course.plan.size / 32) * 32 for share in SIDES["detector"]):
        with _bar(f"held-out views at {side}", len(held_out)) as bar:
            measured.append(figures(network, held_out, side, bar.update))
    return weights, sum(one.numel() for one in network.parameters()), measured


def _bar(label: str, total: int, initial: int = 0) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, initial=initial, desc=label, file=sys.stderr, mininterval=0.2 if sys.stderr.isatty() else 5.0)

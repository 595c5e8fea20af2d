"""`python -m evaluation inpaint`: replace what does not belong to a scene. Nothing heavy is imported at the top."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluation.metrics.render.image import subset, working_size
from evaluation.metrics.render.puzzlesim.metric import picture
from evaluation.networks.weights import WeightsError
from submissions.formats.errors import FormatError
from submissions.formats.render.images import read_image

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
LARGEST_FILE = 256 << 20  # bytes of an image file


class CannotInpaint(ValueError):
    """The command cannot be carried out as given; one sentence."""


def add_to(commands: Any) -> None:
    """The sub-command `inpaint` and its options."""
    parser = commands.add_parser("inpaint", help="replace the artifacts of a render that Puzzle Similarity finds", allow_abbrev=False)
    parser.add_argument("image", type=Path, metavar="IMAGE", help="the render: PNG, JPEG or WebP")
    parser.add_argument("--references", type=Path, required=True, metavar="DIR", help="folder with clean views of the scene, of one size")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="gets inpainted.png, mask.png, map.png and outcome.json")
    parser.add_argument("--weights", default="squeezenet-imagenet", metavar="NAME", help="the backbone (default: squeezenet-imagenet)")
    parser.add_argument(
        "--filler",
        default="harmonic",
        metavar="NAME",
        help="harmonic (default), biharmonic, a command line with {image}, {mask} and {out}, or package.module.function",
    )
    parser.add_argument("--candidates", type=int, default=8, metavar="N", help="thresholds of each round (default: 8)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="at most (default: 5)")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(options: argparse.Namespace, bar: Callable[[str, int], Any]) -> int:
    """Carry it out; 2, with one sentence on stderr, if that is not possible as given."""
    from evaluation.images.inpainting import FillerError

    try:
        described = _inpaint(options, bar)
    except (CannotInpaint, FillerError, WeightsError, FormatError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(described, indent=1))
    elif not described["changed"]:
        print(f"No part of {described['image']} becomes more similar if it is replaced, so the image is returned unchanged.")
    else:
        share = 100 * described["replaced"] / described["pixels"]
        print(
            f"Replaced {described['replaced']:,} pixels ({share:.1f} %) of {described['image']} below a similarity of "
            f"{described['threshold']:.4f}; PuzzleSim went from {described['puzzlesim_before']:.4f} to {described['puzzlesim_after']:.4f}."
        )
    return 0


def _inpaint(options: argparse.Namespace, bar: Callable[[str, int], Any]) -> dict[str, Any]:
    from evaluation.images.inpainting import filler, inpaint
    from evaluation.metrics.render.puzzlesim.similarity import SMALLEST, scene
    from evaluation.networks.inference import best_device
    from evaluation.networks.load import load

    if min(options.candidates, options.rounds) < 1:
        raise CannotInpaint("There must be at least one candidate and one round; give --candidates and --rounds of 1 or more.")
    fill, image = filler(options.filler), _read(options.image)
    height, width = image.shape[:2]
    if min(height, width) < SMALLEST:
        raise CannotInpaint(f"{options.image} has {width} × {height} pixels; give an image of at least {SMALLEST} on each side.")
    if not options.references.is_dir():
        raise CannotInpaint(f"{options.references} is not a folder; give one with clean views of the scene.")
    files = sorted(path for path in options.references.iterdir() if path.suffix.lower() in SUFFIXES)
    if not files:
        raise CannotInpaint(f"{options.references} has no image; put clean views of the scene ({', '.join(SUFFIXES)}) into it.")
    device = best_device().type
    network = load("backbone", options.weights, device)
    chosen = [files[place] for place in subset(len(files))]
    with bar("references", len(chosen)) as progress:
        found = scene(network, _watched(chosen, progress), working_size(width, height), device)
    with bar("thresholds", options.candidates * options.rounds) as progress:
        outcome = inpaint(image, found.map, fill, options.candidates, options.rounds, lambda done, total: progress.update(1))
    options.out.mkdir(parents=True, exist_ok=True)
    over = Image.fromarray(picture(outcome.before))
    pictures = {
        "inpainted": Image.fromarray(outcome.image),
        "mask": Image.fromarray(outcome.mask.astype(np.uint8) * 255),
        "map": Image.alpha_composite(Image.fromarray(image).convert("RGBA"), over).convert("RGB"),
    }
    for name, drawn in pictures.items():
        drawn.save(options.out / f"{name}.png")
    described = {
        "image": options.image.name,
        "references": len(chosen),
        "weights": options.weights,
        "filler": options.filler,
        "changed": outcome.changed,
        "threshold": outcome.threshold,
        "gain": outcome.gain,
        "replaced": int(outcome.mask.sum()),
        "pixels": int(outcome.mask.size),
        "puzzlesim_before": float(outcome.before.mean(dtype=np.float64)),
        "puzzlesim_after": float(outcome.after.mean(dtype=np.float64)),
        "chain": [vars(trial) for trial in outcome.chain],
    }
    (options.out / "outcome.json").write_text(json.dumps(described, indent=1, allow_nan=False) + "\n")
    return described


def _watched(files: list[Path], progress: Any) -> Any:
    for file in files:
        yield _read(file)
        progress.update(1)


def _read(path: Path) -> np.ndarray:
    if not path.is_file():
        raise CannotInpaint(f"There is no file {path}; give an image.")
    if path.stat().st_size > LARGEST_FILE:
        raise CannotInpaint(f"{path} is larger than {LARGEST_FILE >> 20} MiB; give a smaller image.")
    return read_image(path.read_bytes(), path.name)

"""`python -m evaluation train wireframe-preference`: from a study's votes to weights. Nothing heavy is imported at the top."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.metrics.spec import WEIGHTS_NAME
from evaluation.networks import weights
from evaluation.training.checkpoint import write
from evaluation.training.errors import reported
from evaluation.training.preference.votes import Decisions, read
from evaluation.training.progress import bar, stepping
from submissions.formats.file_digest import file_digest

if TYPE_CHECKING:
    from evaluation.metrics.wireframe.learned.network import Features
    from evaluation.training.preference.material import Study
    from evaluation.training.preference.training import Training

NAME, NETWORK = "wireframe-preference", "wf_learned"


def add_to(networks: Any) -> None:
    """`wireframe-preference` under the command `train`, and its options."""
    parser = networks.add_parser(NAME, help="the learned metric of wireframes, from a study's votes", allow_abbrev=False)
    parser.add_argument("--votes", type=Path, required=True, metavar="PATH", help="folder of an exported study, or its votes.csv")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="features, checkpoint, weights and card; run again to continue"
    )
    parser.add_argument("--references", type=Path, metavar="DIR", help="default: references/ beside the votes")
    parser.add_argument("--entries", type=Path, metavar="DIR", help="a folder for each method; default: entries/ beside the votes")
    parser.add_argument("--criterion", metavar="KEY", help="default: the only one, or overall")
    parser.add_argument("--column", action="append", default=[], metavar="COLUMN=NAME", help="the file's own name of a column")
    parser.add_argument("--simulated", action="store_true", help="the raters are invented; the weights say so wherever they are shown")
    parser.add_argument("--made-up", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--name", default="study", metavar="NAME", help="name of the new weights (default: %(default)s)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="folder of fetched weights")
    parser.add_argument("--epochs", type=int, default=30, metavar="N", help="default: %(default)s")
    parser.add_argument("--folds", type=int, default=10, metavar="N", help="disjoint in samples and in methods; 0: none (default: 10)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: a graphics card; part of the result's last digits")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="processor threads; part of the result's last digits")
    parser.add_argument("--seed", type=int, default=0, metavar="N")


def run(options: argparse.Namespace) -> int:
    """Carry it out; 2, with one sentence, if that is not possible as given."""
    if options.made_up:
        print("--made-up is called --simulated now.", file=sys.stderr)
        return 2
    if min(options.epochs, options.threads) < 1 or options.folds < 0:
        print("Epochs and threads must be at least 1, and folds not negative.", file=sys.stderr)
        return 2
    bad = [text for text in options.column if not text.partition("=")[2]]
    if bad or not WEIGHTS_NAME.fullmatch(options.name):
        what = f"--column {bad[0]!r} is not of the form COLUMN=NAME" if bad else f"{options.name!r} cannot be a name"
        print(f"{what}; a name has small letters, digits, dots, dashes and underscores.", file=sys.stderr)
        return 2
    if options.cache:
        weights.use_cache(options.cache)
    return reported(_train, options)


def _train(options: argparse.Namespace) -> None:
    import torch

    from evaluation.metrics.wireframe.learned.network import KNOWN
    from evaluation.training.preference.material import seen, study
    from evaluation.training.preference.training import Plan, Training, digest, usable
    from evaluation.training.run_sequence import require

    torch.set_num_threads(options.threads)
    device = require(options.device)
    chosen = weights.get(*weights.FEATURES[NETWORK])
    if not chosen.there:
        (file,) = chosen.files
        raise weights.WeightsError(
            f"{NETWORK} is trained on features of “{chosen.name}”, whose weights are not here; get them with: "
            f"{weights.FETCH_LOCALLY} {file.name}"
        )
    features = KNOWN[chosen.name]
    about = study(options.votes, options.references, options.entries)
    decisions = read(about.votes, options.criterion, dict(text.split("=", 1) for text in options.column))
    views = seen(about, decisions, features, options.out / "features", lambda total: stepping("views", total))
    kept = usable(decisions, views)
    print(
        f"{decisions.votes:,} votes of {decisions.raters:,} raters: {decisions.equal:,} equal, {decisions.again:,} asked again; "
        f"{len(kept):,} decisions to learn from, {len(decisions) - len(kept):,} are about entries or samples without files.",
        file=sys.stderr,
    )
    absent = [name for name in decisions.methods if name not in about.entries]
    if absent:
        print(f"Without files: {', '.join(absent)}.", file=sys.stderr)
    plan = Plan(features.name, digest(kept, views), options.seed, options.epochs, folds=options.folds)
    training = Training(kept, views, plan, options.out, device=device)
    with bar("train", training.total, training.done) as steps:
        training.run(lambda phase, loss: (steps.set_postfix_str(f"{phase}, loss {loss:.3f}", refresh=False), steps.update()))
    _describe(options, about, kept, features, training)


def _describe(options: argparse.Namespace, about: Study, kept: Decisions, features: Features, training: Training) -> None:
    """Name the weights, write their card and say how well they do."""
    from evaluation.training.preference.model_card import card, markdown

    data = (options.out / "weights.safetensors").read_bytes()
    said = {**about.said, "simulated": options.simulated or about.simulated, "votes_sha256": file_digest(about.votes)}
    parameters = sum(one.numel() for one in training.model.parameters())
    made = datetime.datetime.now(datetime.UTC).date().isoformat()
    described = card(options.name, data, training.plan, features, kept, said, training.results, parameters, made)
    write(options.out / f"{options.name}.safetensors", data)
    write(options.out / f"{options.name}.json", (json.dumps(described, indent=1) + "\n").encode())
    write(options.out / f"{options.name}.md", markdown(described).encode())
    for name, one in described["folds"].items():
        print(f"{name}: accuracy {one['accuracy']:.3f} on {one['pairs']:,} decisions ({', '.join(one['samples'])})")
    mean, sd = described["accuracy"]["mean"], described["accuracy"]["sd"]
    if mean is None:
        print("There are too few samples or methods for folds: how well these weights do has not been measured.")
    else:
        print(f"accuracy over {described['accuracy']['folds']} folds: {mean:.3f}{'' if sd is None else f' ± {sd:.3f}'}")
    print(f"{options.out / options.name}.safetensors, .json and .md are written (sha256 {described['sha256'][:16]}…).")
    print(f"Put the first two into {NETWORK}/ of the server's folder of weights (PLUMBLINE_WEIGHTS) to offer them as “{options.name}”.")

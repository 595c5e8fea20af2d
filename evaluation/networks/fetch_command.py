"""`python -m evaluation fetch`: list the files of weights and get them. Nothing heavy is imported at the top."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.metrics import registry
from evaluation.networks import weights
from evaluation.networks.weights import FILES, PublishedFile, WeightsError


def add_to(commands: Any) -> None:
    """The sub-command `fetch` and its options."""
    parser = commands.add_parser("fetch", help="get the weights of networks, or list them", allow_abbrev=False)
    add_options(parser)
    add_cache(parser)


def add_options(parser: Any) -> None:
    """The options that this command and the service's own have in common."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="files, or metrics whose files are wanted")
    parser.add_argument("--all", action="store_true", help="every file there is")
    parser.add_argument("--list", action="store_true", help="list all files, say which are installed and what needs them; fetch nothing")
    parser.add_argument(
        "--from", dest="source", default="", metavar="SOURCE", help="take one file from here: a path, or an http(s) address"
    )


def add_cache(parser: Any) -> None:
    """The folder of fetched files, for commands without settings."""
    parser.add_argument("--cache", type=Path, metavar="DIR", help=f"folder of fetched weights (default: {weights.DEFAULT_CACHE})")


def run(options: argparse.Namespace) -> int:
    """Do what the command line asks; the exit code."""
    if options.cache:
        weights.use_cache(options.cache)
    try:
        if options.source.startswith("s3://"):
            raise WeightsError("This command knows no S3 server; `manage.py fetch_weights --from s3://BUCKET/KEY` has the service's.")
        for line in carry_out(options.names, options.all, options.list, options.source):
            print(line, flush=True)
    except WeightsError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def carry_out(names: Sequence[str], everything: bool, only_list: bool, source: str) -> Any:
    """Yield the lines of the answer while files are fetched; WeightsError, in a sentence, if it cannot continue."""
    if only_list:
        yield from listing(names)
        return
    wanted = tuple(FILES.values()) if everything else files_of(names)
    if not wanted:
        raise WeightsError("Name the files to get, or give --all or --list.")
    if source and len(wanted) != 1:
        raise WeightsError(f"--from is for one file, and this asks for {len(wanted)}; fetch them one by one.")
    # Loads the HTTP client, which a listing does not need.
    from evaluation.networks.fetching import fetch

    for file in wanted:
        yield fetch(file, source, progress)


def files_of(names: Sequence[str]) -> tuple[PublishedFile, ...]:
    """The files of these names: of files, or of metrics, whose default weights are meant. WeightsError if one is neither."""
    found: dict[str, PublishedFile] = {}
    for name in names:
        if name not in FILES and name in registry.REGISTRY:
            spec, params = registry.get(name), registry.resolve_params(name, {})
            files = [file for network, it in spec.networks for file in weights.get(network, params[it]).files]
            found |= {file.name: file for file in files if isinstance(file, PublishedFile)}
        else:
            found[name] = weights.published(name)
    return tuple(found.values())


def needed_by() -> dict[str, list[str]]:
    """The metrics that may use a file, by the file's name."""
    found: dict[str, list[str]] = {}
    for spec in registry.REGISTRY.values():
        for network, name in spec.networks:
            for choice in spec.param(name).options:
                if choice not in weights.names(network):
                    continue
                for file in weights.get(network, choice).files:
                    users = found.setdefault(file.name, [])
                    if spec.key not in users:
                        users.append(spec.key)
    for key, features in weights.FEATURES.items():
        for file in weights.get(*features).files:
            users = found.setdefault(file.name, [])
            if key not in users:
                users.append(key)
    return found


def listing(names: Sequence[str] = ()) -> list[str]:
    """The listing of the files, several lines each: those that ship, then those that are fetched."""
    from evaluation.networks.fetching import partly  # loads httpx, which listing need not

    users, lines = needed_by(), []
    ours = {} if names else {"ships with the project": weights.shipped(), "trained": weights.trained()}
    for origin, file in ((origin, found.files[0]) for origin, every in ours.items() for found in every):
        state = f"{origin}, {file.path.stat().st_size / 1e6:.1f} MB" if file.there else "absent: put it beside its model card"
        lines += [f"{file.name}: {state}", f"  sha256   {file.sha256} (its model card's)", *_users(users, file.name)]
    for packaged in () if names else weights.PACKAGED.values():
        state = "here" if packaged.there else f"absent, about {packaged.megabytes:.3g} MB"
        lines += [f"{packaged.name}: {state}, of the package {packaged.requirement}"]
        lines += [f"  what     {packaged.what}; licence {packaged.licence}", f"  sha256   {packaged.sha256} ({packaged.pinned_by})"]
        lines += _users(users, packaged.name)
    for file in files_of(names) if names else FILES.values():
        state = f"here, {file.path.stat().st_size / 1e6:.1f} MB" if file.there else f"absent, about {file.megabytes:.3g} MB"
        if not file.there and (got := partly(file)):
            state += f", of which {got / 1e6:.1f} MB came before it was interrupted"
        digest = file.sha256 or (f"{file.stated}…" if file.stated else "not known")
        lines += [f"{file.name}: {state}", f"  what     {file.what}; licence {file.licence}", f"  source   {file.url}"]
        lines += [f"  sha256   {digest} ({file.pinned_by})", *_users(users, file.name)]
    return [*lines, f"Fetched files lie in {weights.cache_folder()}."]


def progress(name: str, total: int, initial: int) -> Any:
    """A bar on stderr."""
    from tqdm import tqdm

    shown = {"desc": name, "total": total, "initial": initial, "unit": "B", "unit_scale": True, "file": sys.stderr}
    return tqdm(**shown, mininterval=0.2 if sys.stderr.isatty() else 5.0)


def _users(users: dict[str, list[str]], name: str) -> list[str]:
    return [f"  for      {', '.join(users[name])}" if name in users else "  for      no metric here"]

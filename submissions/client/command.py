"""Plumbline on the command line, for participants: check an entry, upload it, follow it.

    python -m submissions.client check entry.zip --manifest manifest.json
    python -m submissions.client check results/ --phase https://HOST/challenges/NAME/phases/PHASE
    python -m submissions.client upload results/ --server https://HOST --challenge NAME --phase PHASE --method "My method" --wait
    python -m submissions.client status 17 --server https://HOST --wait

The token for upload and status is given by --token or in the environment as PLUMBLINE_TOKEN.
"""

import argparse
import os
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from submissions.client.transfer import PATIENCE_SECONDS, Entry, RefusedByServer, Server, ServerError, Trouble, upload
from submissions.entry_fields import Door, FieldKind, through
from submissions.formats.archive import DEFAULT_BOUNDS, open_package
from submissions.formats.errors import FormatError, excerpt
from submissions.manifest import Manifest, ManifestError
from submissions.validation import Problem, Verdict, item_files, validate

OK, REJECTED, USAGE, REFUSED, TROUBLE, STOPPED = 0, 1, 2, 3, 4, 130
EXIT_CODES = """exit codes:
  0    done: the entry is acceptable, received, or scored
  1    the entry was rejected or has failed
  2    the command was not understood, or a file is missing
  3    the server refused: a limit, a permission, a closed phase
  4    the server cannot be reached or has trouble, even after --patience; run the same command again later
  130  you stopped it; run the same upload again to continue"""
_PHASE_URL = re.compile(r"(?P<server>https?://.+?)/(?:api/v1/)?challenges/(?P<challenge>[^/]+)/(?:phases/)?(?P<phase>[^/?#]+)(?:[/?#].*)?")
_DONE = ("scored", "rejected", "failed", "cancelled")
_EPOCH = (1980, 1, 1, 0, 0, 0)


class UsageError(Exception):
    """The command cannot be carried out as it was given; the message says what to give instead."""


def main(arguments: Sequence[str] | None = None, pause: Callable[[float], None] = time.sleep) -> int:
    """Runs one command and returns its exit code; ``pause`` waits that many seconds."""
    args = _parser().parse_args(arguments, argparse.Namespace(pause=pause))
    try:
        return int(args.run(args))
    except (UsageError, ManifestError) as error:
        return _say(str(error), USAGE)
    except FormatError as error:
        for one in error.all():
            _say(str(Problem(one.file, one.where, one.reason)), REJECTED)
        return REJECTED
    except RefusedByServer as error:
        return _say(str(error), REFUSED)
    except ServerError as error:
        return _say(str(error), TROUBLE)
    except OSError as error:
        return _say(f"{error.filename or 'A file'} cannot be read ({error.strerror}); check the path.", USAGE)
    except KeyboardInterrupt:
        return _say("Stopped. Run the same command again to continue.", STOPPED)


def _say(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code


# --- commands


def _check(args: argparse.Namespace) -> int:
    manifest = _manifest(args)
    with tempfile.TemporaryDirectory() as folder:
        verdict = _judge(_as_file(args, Path(folder), manifest), manifest)
    _print_verdict(verdict, manifest, args.as_is)
    return OK if verdict.accepted and (args.as_is or not verdict.to_confirm) else REJECTED


def _upload(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder, _server(args) as server:
        manifest = None if args.no_check else _fetch_manifest(server, args.challenge, args.phase)
        path = _as_file(args, Path(folder), manifest)
        if manifest:
            verdict = _judge(path, manifest)
            _print_verdict(verdict, manifest, args.as_is)
            if not verdict.accepted:
                return _say("Nothing was sent.", REJECTED)
            if verdict.to_confirm and not args.as_is:
                return _say("Nothing was sent; correct it, or add --as-is if you mean it.", REJECTED)
        about = {field.name: given for field in through(Door.CLIENT) if (given := getattr(args, field.name))}
        entry = Entry(path, args.challenge, args.phase, about, args.as_is)
        with _bar("Uploading", "B", unit_scale=True) as bar:

            def begin(there: int, size: int) -> None:
                bar.total = size
                bar.update(there)
                if there:
                    _say(f"Continuing an earlier upload: {there:,} of {size:,} bytes have arrived.", OK)

            submission = upload(server, entry, begin, bar.update)
        for warning in submission.get("warnings") or []:
            print(f"Note: {warning}")
        print(f"Received as entry #{submission['number']} (id {submission['id']}). {submission.get('page_url') or ''}".rstrip())
        if submission["status"] == "received" and not args.wait:
            return OK  # that is just what was printed
        return _follow(args, server, submission)


def _status(args: argparse.Namespace) -> int:
    with _server(args) as server:
        return _follow(args, server, server.get(f"api/v1/submissions/{args.id}"))


def _follow(args: argparse.Namespace, server: Server, submission: dict[str, Any]) -> int:
    """Prints the state of an entry, and with ``--wait`` keeps a bar moving until it is done."""
    if args.wait and submission["status"] not in _DONE:
        with _bar("Waiting", "part") as bar:
            seconds = 1.0
            while submission["status"] not in _DONE:
                progress = submission.get("progress") or {}
                place = submission.get("queue_position")
                bar.set_description(f"Number {place} in the queue" if place else submission["status"].capitalize())
                bar.total = progress.get("total") or None
                bar.update((progress.get("done") or 0) - bar.n)
                args.pause(seconds)
                seconds = min(10.0, seconds * 1.3)
                submission = server.get(f"api/v1/submissions/{submission['id']}")
    _print_entry(submission)
    return REJECTED if submission["status"] in ("rejected", "failed", "cancelled") else OK


# --- files and manifests


def _as_file(args: argparse.Namespace, folder: Path, manifest: Manifest | None) -> Path:
    """The file that is sent: the path itself, or the folder there as a zip whose bytes depend on its files alone.

    Links to files of items are followed. Links that leave the folder are listed, and need --follow-links.
    """
    path = Path(args.path)
    if not path.exists():
        raise UsageError(f"{path} does not exist; give a zip archive, a folder or a submission file.")
    if not path.is_dir():
        return path
    target = folder / f"{path.resolve().name or 'entry'}.zip"
    bounds, follow = (manifest.bounds, item_files(manifest)) if manifest else (DEFAULT_BOUNDS, None)
    with open_package(path, bounds, follow=follow) as package, zipfile.ZipFile(target, "w") as archive:
        if package.outside and not args.follow_links:
            for name, there in package.outside.items():
                print(f"{excerpt(name)} is a link to {excerpt(str(there), 240)}, outside the folder.")
            raise UsageError("Nothing was read or sent. Are these files meant to be part of the entry? Then add --follow-links.")
        for file in tqdm(package.files, desc="Packing", unit="file", disable=None, leave=False):
            info = zipfile.ZipInfo(package.top + file.name, _EPOCH)  # a scene's own folder may be all there is
            info.create_system = 3  # else it says on which system it was packed
            archive.writestr(info, package.read(file.name), zipfile.ZIP_DEFLATED)
    return target


def _judge(path: Path, manifest: Manifest) -> Verdict:
    with _bar("Checking", "file") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return validate(path, manifest, progress)


def _manifest(args: argparse.Namespace) -> Manifest:
    if args.manifest:
        return Manifest.from_json(Path(args.manifest).read_bytes())
    if not args.phase:
        raise UsageError("Give --manifest FILE, or --phase with the address of the phase.")
    if args.server and args.challenge:
        with _server(args) as server:
            return _fetch_manifest(server, args.challenge, args.phase)
    match = _PHASE_URL.fullmatch(args.phase)
    if not match:
        raise UsageError(f"{args.phase} is not the address of a phase; it looks like https://HOST/challenges/NAME/phases/PHASE.")
    args.server = match["server"]
    with _server(args) as server:
        return _fetch_manifest(server, match["challenge"], match["phase"])


def _fetch_manifest(server: Server, challenge: str, phase: str) -> Manifest:
    found = server.get(f"api/v1/challenges/{challenge}/phases/{phase}/manifest")
    try:
        return Manifest.from_dict(found)
    except ManifestError as error:
        raise Trouble(f"{server.url.host} sent a manifest that this client cannot read: {error}") from None


def _server(args: argparse.Namespace) -> Server:
    token = args.token or os.environ.get("PLUMBLINE_TOKEN", "")
    if not token and args.needs_token:
        raise UsageError("A token is needed: make one in your account's settings, and give it as --token or PLUMBLINE_TOKEN.")
    try:
        server = Server(args.server, token, args.pause, 60 * args.patience, lambda sentence: tqdm.write(sentence, file=sys.stderr))
    except ValueError as error:
        raise UsageError(str(error)) from None
    if token and server.url.scheme == "http" and server.url.host not in ("localhost", "127.0.0.1", "::1"):
        _say(f"Mind that {server.url.host} is asked without encryption, so others may read your token; prefer https.", OK)
    return server


# --- what is printed


def _bar(description: str, unit: str, **options: Any) -> Any:
    """A progress bar on standard error, where that is a terminal."""
    return tqdm(desc=description, unit=unit, disable=None, file=sys.stderr, **options)


def _print_entry(submission: Mapping[str, Any]) -> None:
    """State of an entry: its place or progress while it is not done, its problems, its scores and its rank."""
    status = submission["status"]
    print(f"Entry #{submission['number']}: {submission.get('sentence') or f'{status}.'}")
    if status not in _DONE:
        progress = submission.get("progress") or {}
        if submission.get("queue_position"):
            print(f"Number {submission['queue_position']} in the queue.")
        if progress.get("total"):
            print(tqdm.format_meter(progress["done"], progress["total"], 0, ncols=60, bar_format="|{bar}| {n_fmt}/{total_fmt} parts"))
    for problem in submission.get("problems") or []:
        print(problem)
    for slug, score in (submission.get("scores") or {}).items():
        print(_score_line(slug, score if isinstance(score, dict) else {"value": score}))
    if submission.get("rank"):
        print(f"Rank {submission['rank']} in the current ranking.")


def _score_line(slug: str, told: Mapping[str, Any]) -> str:
    """A score with its 95 % interval, as far as the server tells it."""
    value, interval, up = told.get("value"), told.get("ci"), told.get("higher_is_better")
    between = f" [{interval[0]:.6g}, {interval[1]:.6g}]" if interval and None not in interval else ""
    better = "" if up is None else "  higher is better" if up else "  lower is better"
    return f"{told.get('title') or slug:<28} {'unranked' if value is None else f'{value:.6g}{between}{better}'}"


def _print_verdict(verdict: Verdict, manifest: Manifest, as_is: bool) -> None:
    for problem in verdict.problems:
        print(problem)
    if verdict.n_problems > len(verdict.problems):
        print(f"... and {verdict.n_problems - len(verdict.problems)} more problems.")
    for warning in verdict.warnings:
        print(f"Note: {warning}")
    for warning in verdict.to_confirm:
        print(f"Is it meant so? {warning}")
    if not manifest.kind.images and not any(item.input for item in manifest.items):
        print("Note: units, axes and position were not checked, because the inputs are not described, or not public without a token.")
    count = f"{len(verdict.items)} of {len(manifest.items)} items"
    problems = f"{verdict.n_problems} problem{'' if verdict.n_problems == 1 else 's'}"
    said = f"Not acceptable, {problems}"
    if verdict.accepted:
        said = "Acceptable if you add --as-is; it would be put on hold" if verdict.to_confirm and not as_is else "Acceptable"
    print(f"{said}: {count} for {manifest.challenge}, {manifest.phase}.")


# --- arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m submissions.client",
        description="Check an entry, upload it, follow it.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="check | upload | status")
    check = _command(commands, "check", "give the server's verdict, without an account or an upload", _check, needs_token=False)
    check.add_argument("path", help="zip archive, folder or submission file")
    check.add_argument("--manifest", metavar="FILE", help="the phase's manifest, downloaded from its page; works offline")
    check.add_argument("--phase", metavar="URL", help="address of the phase, or its name beside --server and --challenge")
    check.add_argument("--challenge", help="the challenge's short name")

    check.add_argument("--as-is", action="store_true", help="accept an entry that would be put on hold")

    send = _command(commands, "upload", "check an entry and send it; run it again to continue after a break", _upload, needs_token=True)
    send.add_argument("path", help="zip archive, folder (zipped first) or submission file")
    send.add_argument("--challenge", required=True, help="the challenge's short name")
    send.add_argument("--phase", required=True, help="the phase's short name")
    for field in through(Door.CLIENT):
        metavar = "URL" if field.kind is FieldKind.LINK else "N" if field.kind.is_number else "TEXT"
        words = field.described.replace("%", "%%")
        send.add_argument(field.option, dest=field.name, default="", required=field.required, metavar=metavar, help=words)
    send.add_argument("--as-is", action="store_true", help="have it scored even if it would be put on hold")
    send.add_argument("--no-check", action="store_true", help="send without checking first")
    send.add_argument("--wait", action="store_true", help="wait until the entry is scored or rejected")

    status = _command(commands, "status", "show the state of an entry", _status, needs_token=True)
    status.add_argument("id", help="the entry's id, as upload printed it")
    status.add_argument("--wait", action="store_true", help="wait until the entry is scored or rejected")
    return parser


def _command(commands: Any, name: str, words: str, run: Callable[..., int], needs_token: bool) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=words, description=words.capitalize() + ".", epilog=EXIT_CODES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", required=needs_token, default="", metavar="URL", help="address of the server")
    parser.add_argument(
        "--patience",
        type=minutes,
        default=PATIENCE_SECONDS / 60,
        metavar="MINUTES",
        help="how long to wait for a server that cannot be reached or has trouble; %(default)g if not given",
    )
    if name != "status":
        words = "also send item files that links in the folder point to outside it"
        parser.add_argument("--follow-links", action="store_true", help=words)
    parser.add_argument("--token", default="", help="your token; better given in the environment as PLUMBLINE_TOKEN")
    parser.set_defaults(run=run, needs_token=needs_token)
    return parser


def minutes(text: str) -> float:
    """Number of minutes that an option gives, at most a week."""
    found = float(text)  # argparse says what is wrong with a word
    if not 0 <= found <= 7 * 24 * 60:
        raise argparse.ArgumentTypeError(f"{text} is not a number of minutes from 0 to 10080 (a week).")
    return found

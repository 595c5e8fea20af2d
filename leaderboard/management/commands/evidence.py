"""Published sets of people's answers from a terminal: `evidence list | show | fetch | verify | record | apply | forget NAME`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.networks import fetch_command
from leaderboard.bundle import published_challenge
from leaderboard.evidence import catalogue, record_file, recording, shown, store
from leaderboard.evidence import manifest as manifests
from leaderboard.evidence.catalogue import NoSuchSet
from leaderboard.evidence.manifest import Manifest
from leaderboard.evidence.reading import Reading
from leaderboard.evidence.record_file import RecordError
from leaderboard.evidence.store import StoreError
from leaderboard.studies import answer_sets
from leaderboard.wording import evidence as wording
from submissions.errors import Refused
from submissions.formats.errors import excerpt, size_text
from submissions.formats.yaml_document import DocumentError
from submissions.models import Challenge

MAX_ROWS = 50  # of the table of figures that differ


class Command(BaseCommand):
    help = "List published sets of people's answers, fetch one under its licence, check it, or delete it from this machine."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        acts.add_parser("list", help="list the sets, their licences, and which are stored; needs no network")
        for act, help_ in (
            ("show", "describe a set"),
            ("fetch", "show a set's licence, ask, get its files and read them"),
            ("verify", "fetch missing files, check every digest, compute all figures again and compare them with the shipped ones"),
            ("record", "compute all figures of a stored set, and write its record"),
            ("apply", "make a challenge of a stored set, with its figures by item and its study; it is private until you open it"),
            ("forget", "delete a set's files and tables from this machine; its figures stay"),
        ):
            one = acts.add_parser(act, help=help_)
            one.add_argument("name", metavar="NAME")
            if act == "apply":
                one.add_argument("--show", choices=["figures"], help="open the challenge: all see figures, nobody single answers")
            if act == "forget":
                one.add_argument("--challenge", action="store_true", help="remove the challenge that was made of it, too")
            if act in ("fetch", "verify"):
                one.add_argument(
                    "--from", dest="source", default="", metavar="SOURCE", help="a folder, or an address, that holds the files"
                )
                one.add_argument(
                    "--accept", metavar="LICENCE", help='accept the licence without being asked, by its name, such as "none stated"'
                )

    def handle(self, act: str, **options: Any) -> None:
        if act == "list":
            self._list()
            return
        name = options["name"]
        try:
            if act == "forget":
                if not manifests.NAME.fullmatch(name):
                    raise NoSuchSet(f"{excerpt(name)} is no name of a set.")
                there = store.forget(name)
                self.stdout.write(f"The files and tables of {name} were deleted." if there else f"Nothing of {name} was stored.")
                if options["challenge"]:
                    removed = published_challenge.remove(name)
                    self.stdout.write(f"The challenge {name} was removed." if removed else f"There is no challenge of {name}.")
                return
            manifest = store.find(name)
            if act == "show":
                self._show(manifest)
            elif act == "apply":
                self._apply(manifest, options["show"] == "figures")
            else:
                if act != "record":
                    self._fetch(manifest, options["source"], options["accept"])
                found = self._read(manifest, writes=act == "fetch")
                if act != "fetch":
                    self._compute(manifest, found, writes=act == "record")
        except (NoSuchSet, DocumentError, StoreError, RecordError, Refused) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{settings.EVIDENCE_DIR}: {error.strerror or error}.") from None

    def _list(self) -> None:
        own = catalogue.own(settings.EVIDENCE_DIR)
        for name in sorted(catalogue.shipped() | own):
            try:
                manifest = store.find(name)
            except (NoSuchSet, DocumentError) as error:
                self.stdout.write(f"{name}: its manifest cannot be used.\n  {error}")
                continue
            figures = self._figures(name)
            here = "data here" if store.is_here(manifest) else "data not here"
            about = f"{manifest.material}; licence {manifest.licence.name}; {size_text(manifest.size)}; {figures}; {here}"
            self.stdout.write(f"{name}: {manifest.title}\n  {about}")
        self.stdout.write("\nNot tried here:")
        for one in catalogue.not_tried():
            self.stdout.write(f"{one.name}: {one.title}\n  {one.people}; licence {one.licence}\n  {one.where}\n  {one.problems}")

    @staticmethod
    def _figures(name: str) -> str:
        path = store.record_path(name)
        if not path.is_file():
            return "no figures"
        try:
            record_file.of_toml(path.read_text(encoding="utf-8"), path.name)
        except RecordError as error:
            return f"its figures are not shown: {error} Run `manage.py evidence record {name}`"
        return "figures are here"

    def _show(self, manifest: Manifest) -> None:
        for line in about(manifest):
            self.stdout.write(line)
        accepted = store.accepted(manifest)
        here = f"here; the licence was accepted on {accepted}" if store.is_here(manifest) and accepted else "not here"
        self.stdout.write(f"Data: {here}.")
        record = store.record_path(manifest.name)
        if record.is_file():
            self.stdout.write(f"\n{record.read_text()}")

    def _fetch(self, manifest: Manifest, source: str, accept: str | None) -> None:
        """Get the files, after the licence was accepted: in a terminal by hand, in a script by its name."""
        if store.is_here(manifest) and store.accepted(manifest):
            return
        for line in about(manifest):
            self.stdout.write(line)
        wanted, is_accepted = manifest.licence.name, bool(store.accepted(manifest))
        if accept is not None and accept != wanted:
            raise CommandError(f'--accept “{excerpt(accept)}” is another licence. Repeat the one that is stated: --accept "{wanted}".')
        if text := store.licence_text(manifest, source, fetch_command.progress):
            self.stdout.write(f"\n{text.rstrip()}\n")
        if accept is None and not is_accepted:
            if not sys.stdin.isatty():
                raise CommandError(f'Accept the licence with --accept "{wanted}", or run this in a terminal, where you are asked.')
            asked = f"Licence: {wanted}. Do you accept it, and fetch {size_text(manifest.size)}? [yes/no] "
            if input(asked).strip().lower() not in ("y", "yes"):
                raise CommandError("Nothing was fetched.")
        store.accept(manifest)
        for line in store.fetch(manifest, source, fetch_command.progress):
            self.stdout.write(line)

    def _apply(self, manifest: Manifest, is_open: bool) -> None:
        store.check(manifest)
        self.stdout.write(f"{manifest.name}: the files have the digests of the catalogue; reading them.")
        files = store.folder_of(manifest.name) / store.RAW
        challenge = published_challenge.make(manifest, catalogue.path_of(manifest.name, settings.EVIDENCE_DIR), files, is_open)
        is_public = challenge.visibility == Challenge.Visibility.PUBLIC
        seen = "Everybody sees its figures." if is_public else f"It is {challenge.visibility}; open it with --show figures."
        self.stdout.write(f"The challenge {challenge.slug} ranks them. {seen} The next free worker computes its study.")

    def _read(self, manifest: Manifest, writes: bool) -> Reading:
        found = store.read(manifest)
        n = len(manifest.files)
        self.stdout.write(f"{n} of {n} files have the digest of the catalogue.")
        for line in answer_sets.counts(found):
            self.stdout.write(line)
        if writes:
            paths = store.write_tables(found)
            self.stdout.write(f"The tables {', '.join(path.name for path in paths)} are in {paths[0].parent}.")
        return found

    def _compute(self, manifest: Manifest, found: Reading, writes: bool) -> None:
        """Compute the record, say which printed numbers come out, and write it or compare it with the one that is here."""
        self.stdout.write("Computing all figures; for large sets this takes minutes.")
        record = recording.record_of(manifest, found, made=datetime.now(UTC).date().isoformat())
        leading = shown.leading(record)
        if record.reproduction is not None and leading is not None:
            self.stdout.write(leading.reproduced)
            for line in record.reproduction.lines:
                self.stdout.write(f"  {wording.told(line)}")
        path = store.record_path(manifest.name)
        if writes:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(record_file.to_toml(record), encoding="utf-8")
            self.stdout.write(f"The record is {path}.")
            return
        if not path.is_file():
            self.stdout.write(f"There is no record of {manifest.name} to compare these figures with.")
            return
        known = record_file.of_toml(path.read_text(encoding="utf-8"), path.name)
        differ = record_file.differences(known, record)
        store.note_verified(known, same=not differ)
        if differ:
            rows = [f"  {name}: the record has {theirs}, here it is {ours}" for name, theirs, ours in differ[:MAX_ROWS]]
            more = [f"  {len(differ) - MAX_ROWS:,} more"] if len(differ) > MAX_ROWS else []
            counted = "1 figure differs" if len(differ) == 1 else f"{len(differ):,} figures differ"
            raise CommandError("\n".join([f"{counted} from {path.name}:", *rows, *more]))
        self.stdout.write(f"All figures are those of {path.name}.")


def about(manifest: Manifest) -> list[str]:
    """Facts of a set: what somebody who accepts its licence should know."""
    licence, source = manifest.licence, manifest.source
    lines = [manifest.title, f"Authors: {manifest.authors}."]
    if paper := manifest.paper or manifest.doi:
        lines.append(f"Paper: {paper}" + (f" ({manifest.published})" if manifest.published else ""))
    lines.append(f"Source: {source.repository or source.doi}, {source.version}.")
    lines.append(f"Licence: {licence.name}.{f' {licence.note}' if licence.note else ''}")
    if not licence.is_stated:
        lines.append("No licence means that all rights are the authors'.")
    lines.append(f"Material: {manifest.material}. Files, {size_text(manifest.size)} in all:")
    for file in manifest.files:
        lines += [f"  {file.name}, {size_text(file.bytes)}, {file.url or 'without an address'}", f"    sha256 {file.sha256}"]
    lines += [f"Spelling mended: {old} is read as {new}." for old, new in manifest.mended]
    return lines

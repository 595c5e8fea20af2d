"""Studies from a terminal: `study import CHALLENGE/PHASE SLUG FILE`, `study export CHALLENGE/PHASE SLUG FILE`, `study analyse`."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from leaderboard.evidence import by_hand, store
from leaderboard.evidence.by_hand import ByHand, FieldError, Layout
from leaderboard.evidence.manifest import MATERIALS, SourceFile
from leaderboard.evidence.raw import EvidenceError, read_table
from leaderboard.evidence.reading import no_sheet
from leaderboard.models import Study
from leaderboard.stats import labels
from leaderboard.stats import mos_table as rating
from leaderboard.stats import votes as voting
from leaderboard.stats.votes import VotesError
from leaderboard.studies import answer_sets
from leaderboard.studies.analysis import analyse_due
from leaderboard.studies.folder import CannotExport, write_study
from leaderboard.studies.judge.answers import runs_of, table
from submissions.formats.errors import excerpt
from submissions.formats.spreadsheet_formulas import neutral_row
from submissions.formats.yaml_document import DocumentError
from submissions.models import Phase
from submissions.storage.store import StorageError

# Options that describe a set of answers on any scale, with values of metrics or from a spreadsheet.
DESCRIBED = (
    ("scale", "LOW:HIGH", "the scale's ends, such as 0:10, or its name, such as JOD; without it 1:5"),
    ("better", "higher", "the direction of the scale: higher or lower"),
    ("wide", "PATTERN", "every column that matches holds one rater's scores: 'Subject_*'"),
    ("groups", "COLUMN", "the source that items share: a column, a text with columns in braces, or a CSV file of items and groups"),
    ("families", "COLUMN", "entries that differ in strength alone: as --groups, or a CSV file of entries and families"),
    ("session", "COLUMN", "the column of sessions: raters of two sessions are two raters"),
    ("criterion", "COLUMN", "the column of criteria, or the name of the only one"),
    ("sheet", "NAME", "the sheet of a spreadsheet that has several"),
    ("raters", "columns", "columns (checked), persons (with --because) or anonymous"),
    ("because", "TEXT", "the place where the publication says that raters are persons"),
    ("material", "KIND", f"what was judged: {', '.join(MATERIALS)}"),
    ("authors", "NAMES", "of a publication: its authors"),
    ("repository", "ADDRESS", "the address of its repository"),
    ("paper", "ADDRESS", "the address of its paper"),
    ("doi", "DOI", "its DOI"),
    ("commit", "DIGITS", "the commit of its files"),
    ("release", "TEXT", "their release, with its date"),
    ("licence", "NAME", "their licence, or none where none is stated"),
    ("licence_note", "TEXT", "a note on the licence"),
    ("published", "DATE", "the day on which it was published"),
)
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class Command(BaseCommand):
    help = "Import answers of people from a file, export them, or compute every analysis that is due."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        import_ = acts.add_parser("import", help="make a study of a file's votes")
        export = acts.add_parser("export", help="write a study's votes into a file, or all of it into a folder that training takes")
        for one in (import_, export):
            one.add_argument("phase", metavar="CHALLENGE/PHASE")
            one.add_argument("slug")
        import_.add_argument("file", type=Path)
        where = export.add_mutually_exclusive_group(required=True)
        where.add_argument("file", type=Path, nargs="?")
        export.add_argument("--judges", action="store_true", help="write what judge models said, instead of people's votes")
        where.add_argument("--folder", type=Path, metavar="DIR", help="votes, opinion scores, references and entries; a new folder")
        import_.add_argument("--title", required=True)
        import_.add_argument("--question", required=True, help="the question to the raters")
        import_.add_argument("--source", default="", help="who collected the votes")
        import_.add_argument(
            "--opinions", action="store_true", help="the file holds one rater's score a line, on --scale, not votes on pairs"
        )
        import_.add_argument("--simulated", action="store_true", help="the raters are invented; the study is marked as simulated")
        import_.add_argument("--public", action="store_true", help="show it to all who may see the board")
        import_.add_argument(
            "--other-programs", action="store_true", help="metric programs of other challenges may run on its hidden reference"
        )
        import_.add_argument("--column", action="append", default=[], metavar="COLUMN=NAME", help="the file's own name of a column")
        import_.add_argument(
            "--value", action="append", default=[], metavar="SIDE=TEXT", help="what a text in the column choice means: left=1, tie=nobody"
        )
        import_.add_argument(
            "--labels", type=Path, metavar="FILE", help=f"CSV of method and label: {', '.join(labels.LABELS)}; without it all are entries"
        )
        import_.add_argument(
            "--means", action="store_true", help="the file holds means: columns mean, and sd, n, se, low and high, half_width"
        )
        import_.add_argument("--pairs", action="store_true", help="the file holds votes on pairs of entries of an item")
        import_.add_argument("--scores", type=Path, metavar="FILE", help="values of metrics by item and entry; heads say PSNR:higher")
        import_.add_argument(
            "--metric", action="append", default=[], metavar="COLUMN=NAME:BETTER", help="a column of metric values: PSNR_Y=psnr-y:higher"
        )
        for name, form, help_ in DESCRIBED:
            import_.add_argument(f"--{name.replace('_', '-')}", metavar=form, default="", help=help_)
        export.add_argument("--labels", type=Path, metavar="FILE", help="write also which method is what, as an import takes it")
        acts.add_parser("analyse", help="compute every analysis that is due, now and here")

    def handle(self, act: str, **options) -> None:
        if act == "analyse":
            done = 0
            while analyse_due() or answer_sets.analyse_due():
                done += 1
            self.stdout.write(f"{done} {'analysis' if done == 1 else 'analyses'} computed.")
            return
        challenge, _, slug = options["phase"].partition("/")
        phase = Phase.objects.select_related("challenge").filter(challenge__slug=challenge, slug=slug).first()
        if phase is None:
            raise CommandError(f"There is no phase {options['phase']!r}; name it as CHALLENGE/PHASE, by the words in its address.")
        (self._import if act == "import" else self._export)(phase, options)

    def _import(self, phase: Phase, options: dict) -> None:
        for option, form in (("column", "COLUMN=NAME"), ("value", "SIDE=TEXT")):
            for text in options[option]:
                if not all(text.partition("=")):
                    raise CommandError(f"--{option} {text!r} is not of the form {form}.")
        if not SLUG.fullmatch(options["slug"]):
            raise CommandError(f"{options['slug']!r} is not an address; use small letters, digits and hyphens for the address.")
        about = {"is_public": options["public"]} | {name: options[name] for name in ("slug", "title", "question", "simulated")}
        described = {name: options[name] for name, *_ in DESCRIBED if options[name]}
        if _is_set(options, described):
            self._import_set(phase, options, described, about)
            return
        options["opinions"] = options["opinions"] or bool(options["scale"])
        if options["opinions"] and options["value"]:
            raise CommandError("--value is about votes, and --opinions about scores; leave one of the two out.")
        try:
            answers, keep = _answers(options)
            known = labels.read(options["labels"]) if options["labels"] else None
            about |= {"source": options["source"], "runs_other_programs": options["other_programs"]}
            study = keep(phase, None, answers, known, **about)
        except (OSError, VotesError, ValueError) as error:
            raise CommandError(f"{error}\nNothing was changed.") from None
        linked = study.entries.filter(submission__isnull=False).count()
        labelled = f", {len(study.damaged)} are damaged, empty or the reference" if known else ""
        count = f"{len(answers):,} {'scores' if options['opinions'] else 'votes'} of {study.raters.count():,} raters"
        self.stdout.write(
            f"{count} on {study.entries.count():,} methods are in; "
            f"{linked} of these are entries of the phase{labelled}. The analysis is computed by the next free worker."
        )
        self._tell_page(study)

    def _import_set(self, phase: Phase, options: dict, described: dict[str, Any], about: dict[str, Any]) -> None:
        """Import a file by the reader of published sets: of the file's manifest, or as the options describe it. `about` is the study."""
        file: Path = options["file"]
        if options["value"] or options["opinions"]:
            raise CommandError(
                "--opinions and --value are about CSV files of scores and of votes, without other options of sets; leave them out."
            )
        try:
            if file.suffix.lower() in (".yaml", ".yml"):
                if described:
                    raise CommandError(f"{file.name} says itself what its columns mean; leave out --{next(iter(described))}.")
                manifest, found = by_hand.read_manifest(file, store.read_sheet)
            else:
                manifest, found = by_hand.read(_description(options, described), store.read_sheet)
            study = answer_sets.bring(phase, None, manifest, found, source=options["source"] or manifest.authors, **about)
        except FieldError as error:
            raise CommandError(f"--{error.field.replace('_', '-')}: {error}\nNothing was changed.") from None
        except (OSError, EvidenceError, VotesError, DocumentError, ValueError) as error:
            raise CommandError(f"{error}\nNothing was changed.") from None
        for line in answer_sets.counts(found):
            self.stdout.write(line)
        linked = study.entries.filter(submission__isnull=False).count()
        self.stdout.write(f"{linked} of the entries are entries of the phase. The analysis is computed by the next free worker.")
        self._tell_page(study)

    def _tell_page(self, study: Study) -> None:
        """Tell where the study is, and who sees it."""
        address = reverse("study", args=[study.phase.challenge.slug, study.phase.slug, study.slug])
        seen = "" if study.is_public else " Only organizers see it, until you press *Show to all* under *Studies* in the console."
        self.stdout.write(f"Its page: {settings.SITE_URL}{address}.{seen}")

    def _export(self, phase: Phase, options: dict) -> None:
        study = Study.objects.filter(phase=phase, slug=options["slug"]).first()
        if study is None:
            known = ", ".join(Study.objects.filter(phase=phase).values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no study {options['slug']!r} in {options['phase']}; there are: {known}.")
        if options["labels"]:
            _write(options["labels"], labels.write(study.labels()))
        if options["folder"]:
            if options["judges"]:
                raise CommandError("A folder holds what people said; give --judges a file.")
            folder = options["folder"]
            try:
                written = write_study(study, folder)
            except (CannotExport, StorageError, OSError) as error:
                raise CommandError(str(error)) from None
            entries = f"{written.entries} {'entry' if written.entries == 1 else 'entries'}"
            self.stdout.write(f"{written.answers:,} answers on {written.samples} samples and {entries} with files are in {folder}.")
            if written.absent:
                self.stdout.write(f"Without files: {', '.join(written.absent)}.")
            return
        if options["judges"]:
            runs = runs_of(study)
            _write(options["file"], table(runs))
            self.stdout.write(f"{sum(run.n_answered for run in runs):,} comparisons by judge models are in {options['file']}.")
            return
        opinions = study.kind == Study.Kind.OPINIONS
        n = _write(options["file"], rating.write(study.ratings()) if opinions else voting.write(study.votes()))
        self.stdout.write(f"{n:,} {'scores' if opinions else 'votes'} are in {options['file']}.")


def _write(file: Path, rows: Iterable[list[str]]) -> int:
    """Write rows, the head first, as a CSV file whose cells no spreadsheet runs; returns how many lines are below the head."""
    n = 0
    with file.open("w", newline="", encoding="utf-8-sig") as stream:
        writer = csv.writer(stream)
        for n, row in enumerate(rows):  # noqa: B007
            writer.writerow(neutral_row(row))
    return n


def _is_set(options: dict, described: dict[str, Any]) -> bool:
    """True if only the reader of published sets takes such a file, or such options."""
    flags = [options[name] for name in ("means", "scores", "metric", "wide", "pairs")]
    has_named_scale = options["scale"] and ":" not in options["scale"]
    is_no_table = options["file"].suffix.lower() in (".xlsx", ".yaml", ".yml")
    return bool(described.keys() - {"scale"} or any(flags) or has_named_scale or is_no_table)


def _answers(options: dict) -> tuple[Any, Any]:
    """The scores or votes of the file, and what keeps them as a study."""
    columns = dict(text.split("=", 1) for text in options["column"])
    if options["opinions"]:
        scale = rating.scale_of(options["scale"]) if options["scale"] else rating.USUAL
        return rating.read(options["file"], columns, scale), partial(Study.import_ratings, scale=scale)
    meanings = [(side, text) for side, _, text in (value.partition("=") for value in options["value"])]
    return voting.read(options["file"], columns, meanings), Study.import_votes


def _description(options: dict, described: dict[str, Any]) -> ByHand:
    """Description of a file of answers by the options."""
    layouts = [layout for layout in (Layout.WIDE, Layout.MEANS, Layout.PAIRS) if options[layout]]
    if len(layouts) > 1:
        raise CommandError("A file holds one kind of answers: give one of --wide, --means and --pairs.")
    columns = dict(text.split("=", 1) for text in options["column"])
    columns |= {key: described.pop(key) for key in ("session", "criterion") if key in described}
    described |= {key: _table(described[key]) for key in ("groups", "families") if key in described}
    said = ByHand(
        options["slug"],
        options["title"],
        options["file"],
        layout=layouts[0] if layouts else Layout.SCORES,
        columns=columns,
        labels=_table(str(options["labels"])) if options["labels"] else {},
        values=options["scores"],
        metrics=options["metric"],
        source=options["source"],
        **described,
    )
    return said.brought_in(datetime.now(UTC).date())


def _table(text: str) -> Any:
    """A column's name as it is; of a CSV file the second column by the first."""
    path = Path(text)
    if path.suffix.lower() not in (".csv", ".tsv"):
        return text
    table = read_table(path, SourceFile("table", path.name, "", 0, "", path.suffix.lower()[1:]), no_sheet)
    if len(table.heads) != 2:
        raise EvidenceError([f"{path.name} has {len(table.heads)} columns; names and what they belong to are two."])
    named: dict[str, str] = {}
    for line, (name, of) in zip(table.lines, table.rows, strict=True):
        if named.setdefault(name.strip(), of.strip()) != of.strip() or not (name.strip() and of.strip()):
            raise EvidenceError([f"{path.name}, row {line}: {excerpt(name)} needs one {table.heads[1]}, and only one."])
    return named

"""A study as a folder: its votes or opinion scores, and the files of the references and entries they are about.

That folder is what training takes. Names of files and folders are made here, or are ids that were checked on arrival. The votes' names of
entries are in `study.json` and in no path.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.models import EvaluationBatch, Reference
from leaderboard.models import Rater, Study
from leaderboard.stats import mos_table as scoring
from leaderboard.stats import screening
from leaderboard.stats import votes as voting
from leaderboard.stats.mos_table import Rating
from submissions.formats.spreadsheet_formulas import neutral_row
from submissions.kinds import Family
from submissions.storage import stored_files
from submissions.visibility import WITH_FILES, holds

FORMAT = 1
VOTES, OPINIONS, SCORES, DESCRIPTION = "votes.csv", "opinions.csv", "scores.csv", "study.json"
REFERENCES, ENTRIES, README = "references", "entries", "README.md"

COLUMNS = {
    "study": "the address of the study",
    "rater": "who answered, by the name that the study gave them",
    "group": "the rater's group",
    "sample": "what was shown",
    "left": "the entry on the left, as the study calls it",
    "right": "the entry on the right",
    "entry": "the entry that was scored",
    "choice": "left, right or tie",
    "score": "on the scale that `study.json` gives; where people rated here from 1 (bad) to 5 (excellent)",
    "swapped": "1 where the sides were turned against the order of the study's entries",
    "seconds": "how long the answer took; the time of a question is shared evenly among its criteria",
    "repeat_of": "the `order` of the rater's earlier question that is asked again; empty for any other",
    "criterion": "what was judged",
    "gold": "1 where the order of the pair was known beforehand",
    "order": "the place of the question among the rater's, from 1",
    "at": "when the answer was given, ISO 8601, UTC",
    "step": "the place of the criterion among the question's as the rater was asked them, from 1",
    "viewport_width": "the width of the window when the question was answered, in pixels of CSS",
    "viewport_height": "its height",
    "device": "mouse, touch or keyboard: what the question's last answer was given with",
    "invitation": "the link by which the rater came: its number and note",
}


class CannotExport(ValueError):
    """The study cannot be written as a folder; one sentence."""


@dataclass(frozen=True)
class Written:
    """Counts of what is in the folder; `absent` are the labels of entries without files."""

    answers: int
    samples: int
    entries: int
    absent: tuple[str, ...]


def write_study(study: Study, folder: Path) -> Written:
    """The study in a folder that is new or empty; CannotExport where it cannot be.

    Only what counts is written: the answers of people whose answers count, and the samples these are about. Entries that
    were withdrawn or have been labels only have no files. Where the study has opinion scores, `scores.csv` holds their
    means per entry and item, with the paths of the files.
    """
    reference = _reference(study)
    if folder.exists() and any(folder.iterdir()):
        raise CannotExport(f"{folder} is not empty; name a folder that is not there yet.")
    people = set(study.raters.filter(kind=Rater.Kind.PERSON, is_counted=True).values_list("name", flat=True))
    votes = [vote for vote in study.votes() if vote.rater in people]
    ratings = [rating for rating in study.ratings() if rating.rater in people]
    if not votes and not ratings:
        raise CannotExport("The study holds no answers yet; there is nothing to learn from.")
    samples = _samples(reference, {vote.sample for vote in votes} | {rating.sample for rating in ratings})
    wanted = {item for items in samples.values() for item in items}
    folder.mkdir(parents=True, exist_ok=True)
    family = reference.family
    known = _write(family, family.load(stored_files.store().local_path(reference.key), wanted), wanted, folder / REFERENCES)

    entries = list(_write_entries(study, family, wanted, folder))
    tables = {
        VOTES: ((*voting.COLUMNS, *voting.MORE), voting.write(votes) if votes else None),
        OPINIONS: ((*scoring.COLUMNS, *scoring.MORE), scoring.write(ratings) if ratings else None),
    }
    _write_tables(study, tables, folder)
    if ratings and not family.grouped:
        _write_csv(folder / SCORES, _scores(study, ratings, samples, known, {entry.label: entry.files for entry in entries}))
    described = json.dumps(_description(study, reference, samples, entries), indent=1, ensure_ascii=False)
    (folder / DESCRIPTION).write_text(described + "\n", encoding="utf-8")
    absent = tuple(entry.label for entry in entries if not entry.folder)
    return Written(len(votes) + len(ratings), len(samples), len(entries) - len(absent), absent)


def _reference(study: Study) -> Reference:
    """The study's, or the one that the phase's entries are scored against now."""
    batch = EvaluationBatch.current(study.phase) if study.reference is None else None
    reference = study.reference if batch is None else batch.reference
    if reference is None:
        raise CannotExport(f"{study.phase} has no reference in use, so the study has no files; export its votes alone.")
    return reference


def _samples(reference: Reference, asked: Collection[str]) -> dict[str, list[str]]:
    """The items of each sample that was judged, by its group; a sample that the reference has not is left out."""
    samples: dict[str, list[str]] = {}
    for item, group in zip(reference.item_ids, reference.groups, strict=True):
        if group in asked:
            samples.setdefault(group, []).append(item)
    if not samples:
        raise CannotExport("None of the samples that were judged is in the phase's reference; export the votes alone.")
    return samples


def _description(study: Study, reference: Reference, samples: Mapping[str, list[str]], entries: Sequence[_Entry]) -> dict[str, object]:
    """`study.json`."""
    phase = study.phase
    return {
        "format": FORMAT,
        "study": study.slug,
        "title": study.title,
        "question": study.question,
        "source": study.source,
        "study_created_at": study.created_at.isoformat(),
        "simulated": study.simulated,
        "screening": bool(study.screening),
        "screening_rules": study.screening,
        "kind": study.kind,
        "scale": study.scale if study.kind == Study.Kind.OPINIONS else None,
        "criteria": study.criteria,
        "phase": f"{phase.challenge.slug}/{phase.slug}",
        "family": reference.family.key,
        "unit": phase.unit,
        "unit_scale": phase.unit_scale,
        "reference": {"version": reference.version, "sha256": reference.sha256},
        "samples": [{"name": name, "items": items} for name, items in samples.items()],
        "entries": [{name: value for name, value in vars(entry).items() if name != "files"} for entry in entries],
    }


@dataclass(frozen=True)
class _Entry:
    """An entry as `study.json` has it, and where its `files` lie, by item; without files that may be given out it has no folder."""

    label: str
    folder: str
    submission: int | None
    artifact: str
    files: Mapping[str, str]


def _write_entries(study: Study, family: Family, wanted: set[str], folder: Path) -> Iterator[_Entry]:
    """The entries of the study, each once its wanted items are written."""
    for number, entry in enumerate(study.entries.order_by("label").select_related("submission"), start=1):
        submission, own, files = entry.submission, "", {}
        if submission is not None and holds(WITH_FILES, submission):
            # Its number and what is plain in its label.
            plain = re.sub(r"[^a-z0-9]+", "-", entry.label.lower()).strip("-")[:40].strip("-")
            own = f"{ENTRIES}/{number:03}{f'-{plain}' if plain else ''}"
            artifact = stored_files.store().local_path(submission.artifact_key)
            files = _write(family, family.load(artifact, wanted), wanted, folder / own)
        yield _Entry(entry.label, own, submission.number if submission else None, entry.artifact, files)


def _write_tables(study: Study, tables: Mapping[str, tuple[Sequence[str], Iterable[list[str]] | None]], folder: Path) -> None:
    """The tables of answers that there are, by the file's name, and README.md on their columns."""
    readme = [
        f"# {study.title}",
        "",
        study.question,
        "",
        "Answers of people that count. Files are CSV in UTF-8 with one line of names; an empty cell is not known. In R: "
        'read.csv(file, na.strings = ""); in Python: pandas.read_csv(file).',
    ]
    for name, (columns, rows) in tables.items():
        if rows is None:
            continue
        _write_csv(folder / name, rows)
        readme += ["", f"## {name}", "", "| column | what it holds |", "| --- | --- |"]
        readme += [f"| {column} | {COLUMNS[column]} |" for column in (*columns, *voting.CONDITIONS)]
    (folder / README).write_text("\n".join(readme) + "\n", encoding="utf-8")


def _write(family: Family, items: Mapping[str, Any], wanted: set[str], folder: Path) -> dict[str, str]:
    """The wanted items as files that can be read back bit for bit; where each lies in `folder`, the folder's name included."""
    folder.mkdir(parents=True)
    for name, data in family.files({item: items[item] for item in items if item in wanted}):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    top = folder.parent if folder.name == REFERENCES else folder.parent.parent
    return {item: f"{folder.relative_to(top).as_posix()}/{item}.{family.exact}" for item in items if item in wanted}


def _scores(
    study: Study, ratings: list[Rating], samples: dict[str, list[str]], known: Mapping[str, str], files: Mapping[str, Mapping[str, str]]
) -> Iterable[list[str]]:
    """`reference, distorted, score`: the mean opinion of every entry on every sample by the leading criterion, for each file of it."""
    asked = {rating.criterion for rating in ratings}
    lead = study.leading(asked)
    counted = scoring.canonical((rating for rating in ratings if rating.criterion == lead), study.scale)
    if out := screening.of_scores(counted, study.screening):
        counted = counted.take(~np.isin(counted.rater, [counted.raters.index(name) for name in out]))
    yield ["reference", "distorted", "score"]
    for place in np.unique(counted.sample * len(counted.methods) + counted.method).tolist():
        sample, label = counted.samples[place // len(counted.methods)], counted.methods[place % len(counted.methods)]
        mean = counted.score[(counted.sample * len(counted.methods) + counted.method) == place].mean()
        own = files.get(label, {})
        for item in samples.get(sample, ()):
            if item in own and item in known:
                yield [known[item], own[item], f"{mean:.6g}"]


def _write_csv(file: Path, rows: Iterable[list[str]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(map(neutral_row, rows))

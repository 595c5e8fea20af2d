"""The canonical tables of a set: CSV files, which `manage.py study import` takes, and their manifest, so that they are read like any
other set. In an archive they are what a study keeps of the answers that were brought into it. PURE."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from leaderboard.evidence import manifest as manifests
from leaderboard.evidence import reading
from leaderboard.evidence.manifest import Manifest, filled
from leaderboard.evidence.reading import Reading
from leaderboard.evidence.tables import Criterion, EvidenceTables, Label, Pairs, Scores
from submissions.formats.spreadsheet_formulas import neutral_row

JUDGEMENTS, PAIRED, VALUES = "judgements.csv", "pairs.csv", "values.csv"
CHOICES = {-1: "left", 1: "right", 0: "tie"}
SCORES = ("item", "group", "entry", "family", "criterion", "rater", "session", "score")
MEANS = ("item", "group", "entry", "family", "criterion", "mean", "sd", "n", "se")
PAIRS = ("item", "group", "left", "right", "criterion", "rater", "session", "choice")


def write(tables: EvidenceTables, folder: Path) -> list[str]:
    """Write the tables into a folder, and return the names of the files."""
    files: dict[str, list[Sequence[str]]] = {}
    scores = [row for one in tables.criteria if one.scores for row in _scores(tables, one, one.scores)]
    means = [row for one in tables.criteria if one.means for row in _means(tables, one)]
    if scores or means:
        files[JUDGEMENTS] = [SCORES, *scores] if scores else [MEANS, *means]
    if pairs := [row for one in tables.criteria if one.pairs for row in _pairs(tables, one, one.pairs)]:
        files[PAIRED] = [PAIRS, *pairs]
    if tables.metrics:
        files[VALUES] = list(_values(tables))
    stimuli = tables.stimuli
    if labels := [(entry, str(label)) for entry, label in zip(stimuli.entries, stimuli.labels, strict=True) if label != Label.ENTRY]:
        files["labels.csv"] = [("entry", "label"), *labels]
    for name, rows in files.items():
        with (folder / name).open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows(map(neutral_row, rows))
    return list(files)


def pack(manifest: Manifest, tables: EvidenceTables) -> bytes:
    """An archive of the tables and their manifest; the same set gives the same bytes."""
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        files = {name: (Path(folder) / name).read_bytes() for name in write(tables, Path(folder))}
        text = yaml.safe_dump(_manifest(manifest, tables, files), allow_unicode=True, sort_keys=False, width=110)
        for name, data in {manifests.FILE_NAME: text.encode(), **files}.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def unpack(packed: bytes) -> tuple[Manifest, Reading]:
    """The manifest and the tables in an archive that `pack` made."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(folder)
        manifest = manifests.parse((Path(folder) / manifests.FILE_NAME).read_bytes())
        return manifest, reading.read(manifest, Path(folder), reading.no_sheet)


def _manifest(of: Manifest, tables: EvidenceTables, files: Mapping[str, bytes]) -> dict[str, object]:
    """The manifest of these files, as plain values; `of` is the published files' manifest."""
    stimuli = tables.stimuli
    made: dict[str, object] = {
        "evidence": manifests.VERSION,
        "name": of.name,
        "title": of.title,
        "authors": of.authors,
        **filled({key: getattr(of, key) for key in ("short", "paper", "doi", "published")}),
        "source": filled(vars(of.source)),
        "licence": {"stated": of.licence.stated, **filled({"note": of.licence.note})},
        "material": of.material,
        "stimuli": of.stimuli,
        "words": dict(vars(of.words)),
        "overlaps": list(of.overlaps),
        **filled({"asked": filled(vars(of.asked)), "not_available": list(of.not_available)}),
        "files": [
            {"id": name, "path": name, "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)} for name, data in files.items()
        ],
        "made_of": [dict(vars(file)) for file in of.published_files],
        "left_out": list(tables.remarks),
        "judgements": _blocks(tables, files),
    }
    if tables.metrics:
        heads = dict(zip(value_heads(tables), tables.metrics, strict=True))
        columns = {
            head: {
                "name": one.name,
                "better": "higher" if one.higher_is_better else "lower",
                "reference_point": one.reference_point,
                "title": one.column,
            }
            for head, one in heads.items()
        }
        made["metrics"] = [{"file": VALUES, "item": "item", "entry": "entry", "columns": columns}]
        made["compare"] = [head for head, one in heads.items() if one.column in tables.compare]
    named = list(zip(stimuli.entries, stimuli.labels, strict=True))
    labels = dict.fromkeys(label for label in stimuli.labels if label != Label.ENTRY)
    made["labels"] = [{"entries": [entry for entry, own in named if own == label], "label": str(label)} for label in labels]
    if PAIRED in files:  # which has no column for them
        made["families"] = {entry: stimuli.families[of] for entry, of in zip(stimuli.entries, stimuli.family_of.tolist(), strict=True)}
    return made


def _blocks(tables: EvidenceTables, files: Collection[str]) -> list[dict[str, object]]:
    """A block of each form of answers: its file, and the columns, which are called as its keys."""

    def columns(*keys: str) -> dict[str, object]:
        return {key: key for key in keys}

    better, scale = "higher" if tables.better_is_higher else "lower", tables.scale_name if tables.scale is None else list(tables.scale)
    about = {**columns("item", "group", "criterion"), "scale": scale, "better": better}
    people = {**columns("rater", "session"), "raters": str(tables.raters_are), **filled({"because": tables.because})}
    single, forms = columns("entry", "family"), []
    if any(one.scores for one in tables.criteria):
        forms.append({"file": JUDGEMENTS, **about, **single, **people, **columns("score")})
    if any(one.means for one in tables.criteria):
        forms.append({"file": JUDGEMENTS, **about, **single, "raters": "none", **columns("mean", "sd", "n", "se")})
    if PAIRED in files:
        forms.append({"file": PAIRED, **about, **people, **columns("left", "right", "choice")})
    return forms


def _about(tables: EvidenceTables, stimulus: int) -> tuple[str, str, str, str]:
    """Item, group, entry and family of a stimulus."""
    of = tables.stimuli
    item, entry = of.item[stimulus], of.entry[stimulus]
    return of.items[item], of.groups[of.group_of[item]], of.entries[entry], of.families[of.family_of[entry]]


def _scores(tables: EvidenceTables, criterion: Criterion, scores: Scores) -> Iterator[Sequence[str]]:
    for stimulus, rater, score in zip(scores.stimulus.tolist(), scores.rater.tolist(), scores.score.tolist(), strict=True):
        session = scores.sessions[scores.session_of[rater]]
        yield *_about(tables, stimulus), criterion.name, str(scores.number_of[rater]), session, number_text(score)


def _means(tables: EvidenceTables, criterion: Criterion) -> Iterator[Sequence[str]]:
    assert criterion.means is not None
    columns = (criterion.means.mean, criterion.means.sd, criterion.means.n, criterion.means.se)
    for stimulus, numbers in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        if not math.isnan(numbers[0]):
            yield *_about(tables, stimulus), criterion.name, *(number_text(number) for number in numbers)


def _pairs(tables: EvidenceTables, criterion: Criterion, pairs: Pairs) -> Iterator[Sequence[str]]:
    rows = (pairs.left.tolist(), pairs.right.tolist(), pairs.choice.tolist(), pairs.rater.tolist())
    for left, right, choice, rater in zip(*rows, strict=True):
        item, group, entry, _ = _about(tables, left)
        other = _about(tables, right)[2]
        session = pairs.sessions[pairs.session_of[rater]]
        yield item, group, entry, other, criterion.name, str(pairs.number_of[rater]), session, CHOICES[choice]


def _values(tables: EvidenceTables) -> Iterator[Sequence[str]]:
    yield "item", "entry", *value_heads(tables)
    for stimulus, row in enumerate(tables.values.tolist()):
        item, _, entry, _ = _about(tables, stimulus)
        yield item, entry, *(number_text(value) for value in row)


def value_heads(tables: EvidenceTables) -> list[str]:
    """The head of each metric's column: its published name, or what the publication calls it, and its direction."""
    names = [one.name for one in tables.metrics]
    keys = [one.name if one.name and names.count(one.name) == 1 else one.column for one in tables.metrics]
    return [f"{key}:{'higher' if one.higher_is_better else 'lower'}" for key, one in zip(keys, tables.metrics, strict=True)]


def number_text(value: float) -> str:
    """A number that reads back the same, whole ones without decimals; nothing for a missing one."""
    if math.isnan(value):
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)

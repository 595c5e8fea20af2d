"""The form that brings a set of answers into a study: on any scale, from spreadsheets, with values of metrics, from a publication."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from leaderboard.bundle.folder import name_fault
from leaderboard.console.forms.fields import Lines, NamedLines, new_study_slug
from leaderboard.evidence import by_hand, store
from leaderboard.evidence.by_hand import ByHand, Layout
from leaderboard.evidence.manifest import FILE_NAME, MATERIALS, Manifest
from leaderboard.evidence.reading import Reading
from submissions.models import Phase

LAYOUTS = (
    (Layout.SCORES, "A row for each score"),
    (Layout.WIDE, "A column for each rater"),
    (Layout.MEANS, "Means, with sd, n or interval where known"),
    (Layout.PAIRS, "Votes on pairs of entries of an item"),
)
ABOUT = ("title", "slug", "question", "source", "is_public", "manifest", "files")  # of the study, or other files


class FilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class Files(forms.FileField):
    """Several files, each checked as one is; a tuple of them."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> tuple[UploadedFile, ...]:
        return tuple(super(Files, self).clean(one, initial) for one in data or ())


class AnswerSetForm(forms.Form):
    """Files of answers and what their columns mean. Fields are called as in `ByHand`."""

    title = forms.CharField(max_length=120)
    slug = forms.SlugField(max_length=63, label="Address", help_text="Small letters, digits and hyphens; it is part of the page's address.")
    question = forms.CharField(max_length=400, help_text="What the raters were asked.")
    manifest = forms.FileField(
        required=False,
        help_text="An evidence.yaml that describes the files. If you give this file, leave all fields below its files empty.",
    )
    files = Files(required=False, label="Files of the manifest", help_text="All that it names, together.")
    is_public = forms.BooleanField(required=False, label="Show it to all who may see the board")
    layout = forms.ChoiceField(choices=LAYOUTS, label="The file holds")
    answers = forms.FileField(
        required=False, label="Answers", help_text="CSV or TSV in UTF-8, or XLSX, with a head line. Raters become numbers."
    )
    sheet = forms.CharField(max_length=100, required=False, help_text="Of a spreadsheet with several.")
    wide = forms.CharField(
        max_length=100, required=False, label="Columns of raters", help_text="If each rater has a column: a pattern such as “Subject_*”."
    )
    scale = forms.CharField(max_length=60, initial="1:5", help_text="The scale's two ends, such as 0:10, or its name, such as JOD.")
    better = forms.ChoiceField(choices=(("higher", "Higher is better"), ("lower", "Lower is better")), label="Direction")
    columns = NamedLines(
        "COLUMN=NAME",
        "write the service's column, =, and the file's",
        required=False,
        rows=3,
        help_text="Only where the file's columns have other names: one COLUMN=NAME a line, such as “item={Scene} path {Path}”.",
    )
    groups = forms.CharField(max_length=300, required=False, help_text="The column of the source that several items share.")
    families = forms.CharField(max_length=300, required=False, help_text="The column of entries that differ in strength alone.")
    session = forms.CharField(
        max_length=300, required=False, help_text="The column of sessions. A rater with two sessions counts as two raters."
    )
    criterion = forms.CharField(max_length=300, required=False, help_text="The column of criteria, or the name of the only one.")
    values = forms.FileField(
        required=False, label="Values of metrics", help_text="A file by item and entry; its heads say the direction: “psnr:higher”."
    )
    metrics = Lines(
        required=False,
        rows=3,
        help_text="Columns whose heads do not say it: one COLUMN=NAME:BETTER a line, as “PSNR_Y=psnr-y:higher”.",
    )
    labels = NamedLines(
        "ENTRY=LABEL",
        "write the entry, =, and its label",
        required=False,
        rows=2,
        help_text="Entries that are no results of teams: one ENTRY=LABEL a line, as “REF=reference”. "
        "LABEL is reference, empty or corruption (damaged).",
    )
    raters = forms.ChoiceField(
        required=False,
        choices=(("columns", "Checked"), ("persons", "Persons, as said"), ("anonymous", "Not known")),
        label="Raters are",
    )
    because = forms.CharField(max_length=500, required=False, help_text="The place where the publication says that columns are persons.")
    material = forms.ChoiceField(choices=[(name, name) for name in MATERIALS])
    source = forms.CharField(max_length=400, required=False, help_text="Who collected the answers, where they were not published.")
    authors = forms.CharField(max_length=500, required=False, help_text="For a publication; then fill in all fields below.")
    repository = forms.CharField(max_length=500, required=False, help_text="The address of the source's repository, or of its paper below.")
    paper = forms.CharField(max_length=500, required=False)
    doi = forms.CharField(max_length=300, required=False, label="DOI")
    commit = forms.CharField(max_length=60, required=False, help_text="The source's version: a commit, a DOI or a dated release.")
    release = forms.CharField(max_length=200, required=False)
    licence = forms.CharField(max_length=100, required=False, help_text="As stated; “none” if no licence is stated.")
    licence_note = forms.CharField(max_length=500, required=False)
    published = forms.CharField(max_length=40, required=False, help_text="The day on which it was published, such as 2026-02-04.")

    def __init__(self, phase: Phase, *args: object) -> None:
        super().__init__(*args, prefix="set")
        self.phase = phase

    def clean_slug(self) -> str:
        return new_study_slug(self.phase, self.cleaned_data["slug"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in ("manifest", "answers", "values", "files"):
            for file in data.get(name) or () if name == "files" else (data.get(name),):
                if file is not None and (fault := _fault(file)):
                    self.add_error(name, fault)
        if data.get("manifest") is None and data.get("answers") is None and "answers" not in self.errors:
            self.add_error("answers", ValidationError("Choose the file of answers, or a manifest with its files.", "required"))
        return data

    def read(self) -> tuple[Manifest, Reading]:
        """The set in the files, by its manifest or as the form describes it. Raises `DocumentError`, `EvidenceError` and `FieldError`."""
        data = dict(self.cleaned_data)
        with tempfile.TemporaryDirectory() as folder:
            if data["manifest"] is not None:
                for file in data["files"]:
                    _write(file, Path(folder) / file.name)
                return by_hand.read_manifest(_write(data["manifest"], Path(folder) / FILE_NAME), store.read_sheet)
            said: dict[str, Any] = {name: text for name, text in data.items() if name not in ABOUT and text not in ("", None, ())}
            for name in ("answers", "values"):
                if name in said:
                    said[name] = _write(said[name], Path(folder) / name / said[name].name)
            columns = dict(said.pop("columns", ())) | {key: said.pop(key) for key in ("session", "criterion") if key in said}
            if "labels" in said:
                said["labels"] = dict(said["labels"])
            made = ByHand(data["slug"], data["title"], columns=columns, source=data["source"], **said)
            return by_hand.read(made.brought_in(datetime.now(UTC).date()), store.read_sheet)

    def refuse(self, name: str, sentences: list[str]) -> None:
        """Put sentences beside the field of that name, or beside the answers where there is no such field."""
        self.add_error(name if name in self.fields else "answers", sentences)


def _fault(file: UploadedFile) -> str:
    """Sentence on what is wrong with a file before it is opened; empty where nothing is."""
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if name_fault(file.name):
        return "Rename the file to something short and plain."
    return f"The file has {file.size:,} bytes and at most {most:,} are taken here; use the command line." if file.size > most else ""


def _write(file: UploadedFile, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as stream:
        stream.writelines(file.chunks())
    return path

"""The form that brings a set of answers into a study: on any scale, from spreadsheets, with values of metrics, from a publication."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from leaderboard.bundle.folder import name_fault
from leaderboard.console.forms.fields import Lines
from leaderboard.evidence.by_hand import ByHand, Layout
from leaderboard.evidence.manifest import MATERIALS
from submissions.models import Phase

LAYOUTS = (
    (Layout.SCORES, "A row for each score"),
    (Layout.WIDE, "A column for each rater"),
    (Layout.MEANS, "Means, with sd, n or interval where known"),
    (Layout.PAIRS, "Votes on pairs of entries of an item"),
)
ABOUT = ("title", "slug", "question", "source", "is_public")  # of the study, not of the files


class AnswerSetForm(forms.Form):
    """Files of answers and what their columns mean. Fields are called as in `ByHand`."""

    title = forms.CharField(max_length=120)
    slug = forms.SlugField(max_length=63, label="Address", help_text="Small letters, digits and hyphens; it is part of the page's address.")
    question = forms.CharField(max_length=400, help_text="What the raters were asked.")
    layout = forms.ChoiceField(choices=LAYOUTS, label="The file holds")
    answers = forms.FileField(label="Answers", help_text="CSV or TSV in UTF-8, or XLSX, with a head line. Raters become numbers.")
    sheet = forms.CharField(max_length=100, required=False, help_text="Of a spreadsheet with several.")
    wide = forms.CharField(
        max_length=100, required=False, label="Columns of raters", help_text="Where each rater has one: a pattern such as “Subject_*”."
    )
    scale = forms.CharField(max_length=60, initial="1:5", help_text="Its two ends, such as 0:10, or its name, such as JOD.")
    better = forms.ChoiceField(choices=(("higher", "Higher is better"), ("lower", "Lower is better")), label="Direction")
    columns = Lines(
        required=False,
        rows=3,
        help_text="Only where the file's columns have other names: one COLUMN=NAME a line, such as “item={Scene} path {Path}”.",
    )
    groups = forms.CharField(max_length=300, required=False, help_text="The column of the source that several items share.")
    families = forms.CharField(max_length=300, required=False, help_text="The column of entries that differ in strength alone.")
    session = forms.CharField(max_length=300, required=False, help_text="The column of sessions; a rater of two sessions is two raters.")
    criterion = forms.CharField(max_length=300, required=False, help_text="The column of criteria, or the name of the only one.")
    values = forms.FileField(
        required=False, label="Values of metrics", help_text="A file by item and entry; its heads say the direction: “psnr:higher”."
    )
    metrics = Lines(
        required=False,
        rows=3,
        help_text="Columns whose heads do not say it: one COLUMN=NAME:BETTER a line, as “PSNR_Y=psnr-y:higher”.",
    )
    raters = forms.ChoiceField(
        required=False,
        choices=(("columns", "Checked"), ("persons", "Persons, as said"), ("anonymous", "Not known")),
        label="Raters are",
    )
    because = forms.CharField(max_length=500, required=False, help_text="Where the publication says that they are persons.")
    material = forms.ChoiceField(choices=[(name, name) for name in MATERIALS])
    source = forms.CharField(max_length=400, required=False, help_text="Who collected the answers, where they were not published.")
    authors = forms.CharField(max_length=500, required=False, help_text="Of a publication; all that follows is needed then.")
    repository = forms.CharField(max_length=500, required=False, help_text="The address of its repository, or of its paper below.")
    paper = forms.CharField(max_length=500, required=False)
    doi = forms.CharField(max_length=300, required=False, label="DOI")
    commit = forms.CharField(max_length=60, required=False, help_text="Its version: a commit, a DOI or a dated release.")
    release = forms.CharField(max_length=200, required=False)
    licence = forms.CharField(max_length=100, required=False, help_text="As it is stated; “none” where none is.")
    licence_note = forms.CharField(max_length=500, required=False)
    published = forms.CharField(max_length=40, required=False, help_text="The day on which it was published, such as 2026-02-04.")
    is_public = forms.BooleanField(required=False, label="Show it to all who may see the board")

    def __init__(self, phase: Phase, *args: object) -> None:
        super().__init__(*args, prefix="set")
        self.phase = phase

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"].lower()
        if self.phase.studies.filter(slug=slug).exists():
            raise ValidationError("There is a study at this address already; choose another one.")
        return slug

    def clean_columns(self) -> dict[str, str]:
        lines = self.cleaned_data["columns"]
        for line in lines:
            if not all(line.partition("=")):
                raise ValidationError(f"“{line}” is not of the form COLUMN=NAME; write the service's column, =, and the file's.")
        return dict(line.split("=", 1) for line in lines)

    def clean_answers(self) -> UploadedFile:
        return self._small(self.cleaned_data["answers"])

    def clean_values(self) -> UploadedFile | None:
        file = self.cleaned_data["values"]
        return self._small(file) if file else None

    @staticmethod
    def _small(file: UploadedFile) -> UploadedFile:
        if name_fault(file.name):
            raise ValidationError("Rename the file to something short and plain.")
        if file.size > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            raise ValidationError(f"The file has {file.size:,} bytes and at most {most:,} are taken here; use the command line.")
        return file

    @contextmanager
    def described(self) -> Iterator[ByHand]:
        """The files, in a folder of their own meanwhile, and what is said of them."""
        data = dict(self.cleaned_data)
        with tempfile.TemporaryDirectory() as folder:
            said: dict[str, Any] = {name: text for name, text in data.items() if name not in ABOUT and text not in ("", None, ())}
            for name in ("answers", "values"):
                if name in said:
                    path = Path(folder) / name / said[name].name
                    path.parent.mkdir()
                    with path.open("wb") as stream:
                        stream.writelines(said[name].chunks())
                    said[name] = path
            columns = said.pop("columns", {}) | {key: said.pop(key) for key in ("session", "criterion") if key in said}
            made = ByHand(data["slug"], data["title"], columns=columns, source=data["source"], **said)
            if not made.is_published and not made.published:
                said["published"] = datetime.now(UTC).date().isoformat()
                made = ByHand(data["slug"], data["title"], columns=columns, source=data["source"], **said)
            yield made

    def refuse(self, name: str, sentences: list[str]) -> None:
        """Put sentences beside the field of that name, or beside the answers where there is no such field."""
        self.add_error(name if name in self.fields else "answers", sentences)

"""Form fields of the console: long texts, lists of lines, moments on a phase's clocks."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError

from leaderboard.bundle.parse_time import MomentError, moment_text, read_moment
from submissions.models import Phase


class LongText(forms.CharField):
    """Markdown, kept as it was typed, with line ends as files have them."""

    is_markdown = True  # the form says where what is stored could not be laid out

    def __init__(self, *, rows: int = 8, **options: object) -> None:
        super().__init__(strip=False, widget=forms.Textarea(attrs={"rows": rows}), **options)

    def to_python(self, value: object) -> str:
        return super().to_python(value).replace("\r\n", "\n").replace("\r", "\n")


class Lines(forms.CharField):
    """One entry a line; a tuple of the lines that are not empty."""

    def __init__(self, *, rows: int = 6, **options: object) -> None:
        super().__init__(widget=forms.Textarea(attrs={"rows": rows}), **options)

    def clean(self, value: str) -> tuple[str, ...]:
        return tuple(line.strip() for line in super().clean(value).splitlines() if line.strip())


class NamedLines(Lines):
    """One line for each name and its text, with = between; a tuple of both. `form` says it as “COLUMN=NAME”, and `todo` what to write."""

    def __init__(self, form: str, todo: str, **options: Any) -> None:
        super().__init__(**options)
        self.form, self.todo = form, todo

    def clean(self, value: str) -> Any:
        pairs = []
        for line in super().clean(value):
            name, _, text = line.partition("=")
            if not name or not text:
                raise ValidationError(f"“{line}” is not of the form {self.form}; {self.todo}.", "not_of_the_form")
            pairs.append((name, text))
        return tuple(pairs)


class Words(forms.CharField):
    """Words with commas or blanks between; a tuple of them in lower case, each once."""

    def prepare_value(self, value: object) -> object:
        return ", ".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: object) -> tuple[str, ...]:
        return tuple(dict.fromkeys(super().to_python(value).lower().replace(",", " ").split()))


class MomentInput(forms.DateTimeInput):
    input_type = "datetime-local"


class MomentField(forms.CharField):
    """A moment on the clocks of `zone`. A text that still shows `before` means that very instant."""

    def __init__(self, **options: object) -> None:
        super().__init__(widget=MomentInput(attrs={"step": "any"}), **options)
        self.on_clocks(ZoneInfo("UTC"))

    def on_clocks(self, zone: ZoneInfo, before: datetime | None = None) -> None:
        """Show and read moments on these clocks. A browser's clock cannot show an hour that comes twice, so there the field is plain
        text."""
        self.zone, self.before = zone, before
        if len(self.prepare_value(before) or "") > 19:
            self.widget.input_type = "text"

    def prepare_value(self, value: Any) -> Any:
        """Parts of a second are left out: browsers do not show six digits."""
        return moment_text(value.replace(microsecond=0), self.zone) if isinstance(value, datetime) else value

    def clean(self, value: str) -> datetime | None:
        text, before = super().clean(value), self.before
        if not text:
            return None
        try:
            at = read_moment(text, self.zone)
        except MomentError as error:
            words = str(error).replace("expected", "Write", 1)
            raise ValidationError(f"{words[0].upper()}{words[1:]}.", "bad_moment") from None
        return before if before is not None and before.replace(microsecond=0) == at else at


def say_clock(form: forms.Form, phase: Phase, **before: datetime | None) -> None:
    """Have the fields of moments, which had these values `before`, on the phase's clock, and say so: it is not the writer's."""
    for name, moment in before.items():
        form.fields[name].on_clocks(phase.zone, moment)
        form.fields[name].help_text = f"{form.fields[name].help_text} Clock of the phase: {phase.time_zone}.".strip()


def sized(file: Any, most: int, todo: str = "make it smaller") -> Any:
    """The uploaded file, of `most` bytes at most."""
    if file is not None and file.size > most:
        raise ValidationError(f"The file has {file.size:,} bytes and at most {most:,} are taken; {todo}.", "too_large")
    return file


def new_study_slug(phase: Phase, slug: str) -> str:
    """The address of a new study in lower case, which no other study of the phase has."""
    slug = slug.lower()
    if phase.studies.filter(slug=slug).exists():
        raise ValidationError("There is a study at this address already; choose another one.", "taken")
    return slug

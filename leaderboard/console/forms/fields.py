"""Form fields of the console: long texts, lists of lines, moments on a phase's clocks."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from django import forms

from leaderboard.bundle.parse_time import MomentError, moment_text, read_moment


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


class Words(forms.CharField):
    """Words with commas or blanks between; a tuple of them in lower case, each once."""

    def prepare_value(self, value: object) -> object:
        return ", ".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: object) -> tuple[str, ...]:
        return tuple(dict.fromkeys(super().to_python(value).lower().replace(",", " ").split()))


class MomentInput(forms.DateTimeInput):
    input_type = "datetime-local"


class MomentField(forms.CharField):
    """A moment as text; the form's zone gives it its meaning, see `read`."""

    def __init__(self, **options: object) -> None:
        super().__init__(widget=MomentInput(attrs={"step": "any"}), **options)

    def show(self, at: datetime | None, zone: ZoneInfo) -> str:
        """The text to begin with. Parts of a second are left out: browsers do not show six digits.
        A browser's clock cannot show an hour that comes twice, so there the field is plain text."""
        if at is None:
            return ""
        text = moment_text(at.replace(microsecond=0), zone)
        if len(text) > 19:
            self.widget.input_type = "text"
        return text

    def read(self, text: str, zone: ZoneInfo, before: datetime | None) -> datetime | None:
        """The instant that `text` names; `before` itself where the text still shows that."""
        if not text:
            return None
        try:
            at = read_moment(text, zone)
        except MomentError as error:
            words = str(error).replace("expected", "Write", 1)
            raise forms.ValidationError(f"{words[0].upper()}{words[1:]}.") from None
        return before if before is not None and before.replace(microsecond=0) == at else at

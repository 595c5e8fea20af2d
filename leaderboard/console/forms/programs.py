"""The form of a metric program."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError

from evaluation.programs.files import MAX_UNPACKED


class ProgramForm(forms.Form):
    """A zip with metric.yaml at its root."""

    file = forms.FileField(label="Program", help_text="A zip with metric.yaml at its root, at most 200 MB and 2,000 files unpacked.")
    is_public = forms.BooleanField(
        required=False, label="Publish its files", help_text="Everybody who sees the challenge may download them and score at home."
    )

    def clean_file(self) -> object:
        file = self.cleaned_data["file"]
        if file.size > MAX_UNPACKED:
            raise ValidationError(f"The file has {file.size:,} bytes and at most {MAX_UNPACKED:,} are taken; make it smaller.")
        return file

"""The forms of a metric program, and of a challenge of metrics."""

from __future__ import annotations

from django import forms

from evaluation.programs.files import MAX_UNPACKED
from leaderboard.console.forms.fields import sized
from leaderboard.models import Study
from submissions.models import Challenge


class ProgramForm(forms.Form):
    """A zip with metric.yaml at its root."""

    file = forms.FileField(label="Program", help_text="A zip with metric.yaml at its root, at most 200 MB and 2,000 files unpacked.")
    is_public = forms.BooleanField(
        required=False, label="Publish its files", help_text="Everybody who sees the challenge may download them and score at home."
    )

    def clean_file(self) -> object:
        return sized(self.cleaned_data["file"], MAX_UNPACKED)


class MetricChallengeForm(forms.Form):
    """A challenge of metrics on one of the challenge's studies whose figures are hidden."""

    study = forms.ModelChoiceField(Study.objects.none(), help_text="A study that is not public: its answers rank the metrics.")
    title = forms.CharField(max_length=120)
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}), help_text="Plain text.")
    closes_at = forms.DateTimeField(
        label="Ends", help_text="UTC, such as 2026-12-31 12:00.", widget=forms.DateTimeInput(attrs={"placeholder": "2026-12-31 12:00"})
    )
    limit_per_day = forms.IntegerField(min_value=1, max_value=100, initial=1, label="Uploads a day")
    limit_total = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=20,
        label="Uploads in all",
        help_text="Per account. Programs read hidden items, and each upload can reveal about 14 bits of them to its entrant.",
    )

    def __init__(self, challenge: Challenge, *args: object) -> None:
        super().__init__(*args)
        self.fields["study"].queryset = Study.objects.filter(phase__challenge=challenge, from_results=False, is_public=False)

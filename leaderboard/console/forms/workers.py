"""Forms of workers from outside, and of what scoring may take."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings

from evaluation.models import ComputeBudget
from evaluation.models.remote_worker import AT_ONCE, LONGEST_DAYS, MAX_AT_ONCE, QUEUES, USUAL_SHARE


def queue_names() -> list[tuple[str, str]]:
    """Label of each queue by what it holds here, see `evaluation.models.part_plan.by_device`."""
    on_cards = "metrics with networks and metric programs that need a card" if settings.GPU_WORKERS else "metric programs that need a card"
    return [(queue, {"cpu": "cpu: everything else", "gpu": f"gpu: {on_cards}"}[queue]) for queue in QUEUES]


class TokenForm(forms.Form):
    """A new token for workers."""

    name = forms.CharField(max_length=80, label="Name", help_text="Whose machines they are, such as “cluster of the institute”.")
    queues = forms.MultipleChoiceField(choices=queue_names, widget=forms.CheckboxSelectMultiple, label="Queues", initial=["cpu"])
    days = forms.IntegerField(min_value=1, max_value=LONGEST_DAYS, initial=90, label="Days that it is valid")
    at_once = forms.IntegerField(
        min_value=1,
        max_value=MAX_AT_ONCE,
        initial=AT_ONCE,
        label="Parts at a time",
        help_text="Maximum number of parts for all its workers together; each worker has one. Enter the number of workers that you will "
        "start.",
    )
    share = forms.FloatField(
        min_value=0,
        max_value=100,
        initial=100 * USUAL_SHARE,
        label="Parts that a second worker checks, %",
        help_text="Share of the token's parts that a second worker repeats, once fifty of them agreed; before that, all are repeated.",
    )
    sees = forms.BooleanField(
        label="I know that anybody with this token can read the hidden references, all entries and all metric programs of this challenge. "
        "I also know that an unchecked result is only as reliable as the worker that sent it."
    )


class BudgetForm(forms.Form):
    """The hours that scoring may take in all; empty is no limit."""

    core_hours = forms.FloatField(min_value=0, max_value=1e9, required=False, label="Hours of cores")
    gpu_hours = forms.FloatField(min_value=0, max_value=1e9, required=False, label="Hours of graphics cards")

    def __init__(self, budget: ComputeBudget | None, data: Any = None) -> None:
        initial = {"core_hours": budget.core_hours, "gpu_hours": budget.gpu_hours} if budget else {}
        super().__init__(data, initial=initial)

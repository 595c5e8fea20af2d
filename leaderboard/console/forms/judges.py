"""Forms of judge models: the plan of a run, and texts to make objects from."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from leaderboard.kinds import KINDS
from leaderboard.models import JudgeBudget, JudgeKey, JudgeRun, Study
from leaderboard.models.judge_budget import money
from leaderboard.studies.judge import planning, setup
from leaderboard.studies.judge.prompts import EXAMPLES, LEVELS, MAX_PROMPTS, MAX_WORDS, SUBJECTS, PromptError, Wanted
from submissions.errors import Refused
from submissions.models import User

MAX_BUDGET = 1_000_000
MIN_KEY, MAX_KEY = 16, 400  # characters; of a shorter key the last four would tell too much


def _amount(**more: Any) -> forms.DecimalField:
    """A field for an amount of money, exact to four decimals."""
    return forms.DecimalField(min_value=0, max_digits=12, decimal_places=4, required=False, **more)


class RunChoice(forms.ModelChoiceField):
    """A run that others can be placed by."""

    def label_from_instance(self, run: JudgeRun) -> str:
        return f"{run.rater.name}, {run.n_answered:,} answers, {run.finished_at or run.created_at:%Y-%m-%d}"


class JudgeForm(forms.Form):
    """The questions for a judge about a study's entries. Nothing is asked before the plan has been looked at."""

    model = forms.CharField(max_length=120, help_text="As the endpoint calls it.")
    plan = forms.ChoiceField(widget=forms.RadioSelect)  # whose words are sentences, which a select cuts off and these wrap
    budget = forms.IntegerField(
        min_value=1, max_value=MAX_BUDGET, initial=2000, help_text="Maximum number of requests, including repeated ones."
    )
    most_cost = _amount(label="Most cost", help_text="Never passed. Empty: no limit.")
    pays = forms.ChoiceField(label="Paid with", widget=forms.RadioSelect)
    choices = forms.IntegerField(min_value=1, max_value=10, initial=3, label="Texts a request")
    repeats = forms.IntegerField(
        min_value=1, max_value=10, initial=1, label="Requests a comparison", help_text="Not for the ensemble, whose counts are fixed."
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0)
    anchor = forms.ChoiceField(required=False, help_text="Whose Elo is 1000.")
    newcomer = forms.ModelChoiceField(
        None,
        required=False,
        label="New entry",
        empty_label="none: ask about all",
        help_text="Ask about this entry only, and place it among the scores of a run.",
    )
    base = RunChoice(None, required=False, label="Placed among", empty_label="no run", help_text="The run whose scores stay as they are.")

    def __init__(self, study: Study, user: User, data: Any = None) -> None:
        plans = planning.plans(study.phase.challenge.family)
        super().__init__(data, initial={"model": settings.JUDGE_MODEL, "plan": next(iter(plans)), "pays": JudgeRun.Payer.SERVICE})
        owners = {JudgeRun.Payer.CHALLENGE: study.phase.challenge, JudgeRun.Payer.ACCOUNT: user}
        there = [payer for payer, owner in owners.items() if JudgeKey.of(owner) is not None]
        self.fields["pays"].choices = [(one.value, one.label) for one in (JudgeRun.Payer.SERVICE, *there)]
        if not there:  # nothing to choose
            del self.fields["pays"]
        self.fields["plan"].choices = plans.items()
        labels = [entry.label for entry in study.entries.order_by("label")]
        self.fields["anchor"].choices = [("", "the first by name"), *((label, label) for label in labels)]
        self.fields["newcomer"].queryset = study.entries.order_by("label")
        self.fields["base"].queryset = JudgeRun.ended(study).filter(base__isnull=True, form=JudgeRun.Form.OBJECTS).select_related("rater")
        self.fields["most_cost"].help_text += f" In {settings.JUDGE_CURRENCY}."
        if not self.fields["base"].queryset.exists():  # nothing to place an entry among
            del self.fields["newcomer"], self.fields["base"]
        if KINDS[study.phase.challenge.family].judged == JudgeRun.Form.WIREFRAMES:  # such a judge ranks nothing, so no entry is at 1000
            del self.fields["anchor"]

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if bool(data.get("newcomer")) != bool(data.get("base")):
            sentence = "To place a new entry, choose both the entry and the run whose scores it is placed among; otherwise choose neither."
            raise ValidationError(sentence, "both_or_neither")
        return data


class KeyForm(forms.Form):
    """A key of an organizer's own. Its characters are never sent back to a browser."""

    url = forms.ChoiceField(label="Sent to", help_text="An operator says where keys may be sent.")
    key = forms.CharField(
        label="Key",
        min_length=MIN_KEY,
        max_length=MAX_KEY,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "spellcheck": "false"}),
        help_text="The key is stored encrypted. Only the key's last four characters are shown again.",
        error_messages={
            "min_length": f"A key has at least {MIN_KEY} characters; paste all of it.",
            "max_length": f"A key has at most {MAX_KEY} characters; paste nothing but the key.",
        },
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["url"].choices = [(url, url) for url in setup.addresses()]

    def clean_key(self) -> str:
        key = self.cleaned_data["key"].strip()
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ValidationError("A key holds only letters, digits and signs, without spaces; paste nothing but the key.", "not_a_key")
        if len(key) < MIN_KEY:
            raise ValidationError(self.fields["key"].error_messages["min_length"], "min_length")
        return key


class LimitForm(forms.Form):
    """Budget of judge models for one challenge or account in a calendar month; operators set it."""

    limit = _amount(label="Budget for a month")

    def __init__(self, budget: JudgeBudget | None = None, data: Any = None) -> None:
        super().__init__(data, initial={"limit": budget.limit.normalize() if budget and budget.limit is not None else None})
        default = settings.JUDGE_CHALLENGE_BUDGET if budget and budget.challenge_id else settings.JUDGE_ACCOUNT_BUDGET
        words = "no limit" if default is None else money(default)
        self.fields["limit"].help_text = f"In {settings.JUDGE_CURRENCY}, a calendar month (UTC). Empty: as the settings say, {words}."


class AccountLimitForm(LimitForm):
    """The budget of somebody who is named."""

    name = forms.CharField(max_length=254, label="User name or confirmed e-mail", widget=forms.TextInput(attrs={"autocomplete": "off"}))
    field_order = ("name", "limit")
    account: User

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        try:
            self.account = User.objects.named(name)
        except Refused as refused:
            raise ValidationError(refused.sentence, refused.code) from None
        return name


class PromptsForm(forms.Form):
    """The texts that are wanted; `wanted` is that once the form is valid."""

    count = forms.IntegerField(min_value=1, max_value=MAX_PROMPTS, initial=20, label="How many")
    complexity = forms.ChoiceField(choices=[(level, level) for level in LEVELS], initial="medium")
    creativity = forms.ChoiceField(choices=[(level, level) for level in LEVELS], initial="medium")
    max_words = forms.IntegerField(min_value=5, max_value=MAX_WORDS, initial=25, label="Most words of a text")
    subjects = forms.MultipleChoiceField(
        choices=[(name, name) for name in SUBJECTS],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: all of them.",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0, help_text="The same seed draws the same texts.")
    wanted: Wanted

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if not self.errors:
            try:
                self.wanted = Wanted(
                    data["count"], data["complexity"], data["creativity"], data["max_words"], tuple(data["subjects"]), EXAMPLES
                )
            except PromptError as error:
                raise ValidationError(str(error)) from None
        return data

"""Forms of what participants enter."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from allauth.account.forms import ChangePasswordForm, LoginForm, ResetPasswordKeyForm, SignupForm
from allauth.mfa.models import Authenticator
from django import forms
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from submissions.entry_fields import Door, EntryField, FieldKind, through
from submissions.errors import Refused
from submissions.models import ApiToken, Challenge, Scope, Submission, User
from submissions.models.entry_texts import checked_about

LIFETIMES = {"30": "30 days", "90": "90 days", "365": "One year", "0": "Until revoked"}


class AmountField(forms.CharField):
    """A number as people write it; see `checked_about`."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(max_length=40, **options)
        self.name = name

    def clean(self, value: Any) -> float | str | None:
        try:
            return checked_about(**{self.name: super().clean(value)})[self.name]
        except Refused as refused:
            raise forms.ValidationError(refused.sentence) from None


class EntryForm(forms.Form):
    """Description of an entry by its team: the fields of `entry_fields`, with the values of `instance` to begin with."""

    def __init__(self, *args: Any, instance: Submission | None = None, **options: Any) -> None:
        stated = through(Door.FORM)
        if instance is not None:
            options["initial"] = {field.name: getattr(instance, field.name) for field in stated}
        super().__init__(*args, **options)
        for field in stated:
            self.fields[field.name] = _form_field(field)
        self.order_fields([field.name for field in stated])

    def upfront(self) -> list[forms.BoundField]:
        """The fields that are in sight."""
        return [self[field.name] for field in through(Door.FORM) if not field.folded]

    def folded(self) -> list[forms.BoundField]:
        """The fields that are folded away, none of which needs to be filled in."""
        return [self[field.name] for field in through(Door.FORM) if field.folded]

    def folded_title(self) -> str:
        """Names of the fields that are folded away."""
        *labels, last = (field.label for field in through(Door.FORM) if field.folded)
        return f"{', '.join(labels)} and {last}".capitalize()


def _form_field(field: EntryField) -> forms.Field:
    common: dict[str, Any] = {"label": field.label, "help_text": field.help, "required": field.required}
    match field.kind:
        case FieldKind.TEXT:
            return forms.CharField(widget=forms.Textarea(attrs={"rows": 4, "maxlength": field.limit}), **common)
        case FieldKind.LINK:
            widget = forms.URLInput(attrs={"placeholder": "https://"})
            return forms.URLField(max_length=int(field.limit), assume_scheme="https", widget=widget, **common)
        case FieldKind.LINE:
            return forms.CharField(max_length=int(field.limit), **common)
    return AmountField(field.name, **common)


class UploadForm(EntryForm):
    """An entry and its file, as one plain form; scripts send the same fields to the API."""

    file = forms.FileField()


class NamedLoginForm(LoginForm):
    """Form to log in. A user name that contains `@` but is no address of the account gets no confirmation mail, because nobody could
    confirm it."""

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean()
        if self.user is not None and self.user.get_username() == data["login"]:
            self._login.email = None
        return data


class SteadySignupForm(SignupForm):
    """Signing up takes as long with an address that has an account as with one that has none: the page is the same, and the time must not
    reveal the difference either."""

    account_already_exists: bool

    def try_save(self, request: HttpRequest) -> tuple:
        if self.account_already_exists:
            # The work of a new account, above all the hash of its password, with an address that nobody has; undone, before the
            # owner of the address is written to.
            email = self.cleaned_data["email"]
            with transaction.atomic():
                self.account_already_exists, self.cleaned_data["email"] = False, f"{secrets.token_hex(8)}@nobody.invalid"
                self.save(request)
                self.account_already_exists, self.cleaned_data["email"] = True, email
                transaction.set_rollback(True)
        return super().try_save(request)


class _WithTokens(forms.Form):
    """A new password of somebody who has API tokens: a person who knew the old one may have made some."""

    revoke_tokens = forms.BooleanField(
        required=False,
        initial=True,
        label="and revoke my API tokens",
        help_text="Programs that use them are refused from then on. You can make new ones on the page API tokens.",
    )
    user: User | None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.user is None or not any(token.is_live() for token in self.user.api_tokens.all()):
            del self.fields["revoke_tokens"]

    def save(self) -> None:
        with transaction.atomic():
            super().save()
            if self.user is not None and self.cleaned_data.get("revoke_tokens"):
                ApiToken.revoke_all(self.user)


class PasswordForm(_WithTokens, ChangePasswordForm):
    """A new password in place of the old one."""


class ForgottenPasswordForm(_WithTokens, ResetPasswordKeyForm):
    """A new password by a link that was mailed."""


class TokenForm(forms.Form):
    """A new API token."""

    name = forms.CharField(max_length=80, label="Name", help_text="Where it is used, such as “cluster” or “laptop”.")
    days = forms.ChoiceField(choices=list(LIFETIMES.items()), initial="90", label="Valid for")
    scopes = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        initial=[Scope.SUBMIT],
        label="It may",
        help_text="Every token may read what you see as a visitor and as a member of your teams.",
    )
    challenges = forms.ModelMultipleChoiceField(
        queryset=Challenge.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Only in",
        help_text="If you choose none, the token reaches all your challenges. In other challenges a program with the token is a visitor.",
    )

    def __init__(self, user: User, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        near = Q(participations__user=user) | Q(organizers=user)
        found = Challenge.objects.filter(near).order_by("title").distinct()
        self.fields["challenges"].queryset = found
        offered = [Scope.SUBMIT]
        if user.is_staff or found.filter(organizers=user).exists():
            offered.append(Scope.ORGANIZE)
        if user.is_staff and Authenticator.objects.filter(user=user).exists():
            offered.append(Scope.OPERATE)
        elif user.is_staff:
            self.fields["scopes"].help_text += " To act as staff by a token, set up a second factor first."
        self.fields["scopes"].choices = [(scope.value, scope.label) for scope in offered]
        if not found:
            del self.fields["challenges"]

    def expires_at(self) -> datetime | None:
        days = int(self.cleaned_data["days"])
        return timezone.now() + timedelta(days=days) if days else None

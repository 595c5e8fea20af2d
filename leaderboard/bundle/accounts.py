"""Organizers are named by user name or verified e-mail address; accounts are looked up here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from allauth.account.models import EmailAddress

from leaderboard.bundle.definition import ChallengeDef
from leaderboard.bundle.document import BundleError, Problem
from leaderboard.bundle.parse import FILE, Bundle
from submissions.errors import Refused
from submissions.models import User


def find_account(name: str) -> User | None:
    """The active account of that user name or verified e-mail address. An address that nobody has
    proved to be theirs finds nobody: it could be written down by anyone."""
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None and "@" in name:
        address = EmailAddress.objects.filter(email__iexact=name, verified=True, user__is_active=True).select_related("user").first()
        user = address.user if address else None
    return user


def account_of(name: str) -> User:
    """As `find_account`, of what somebody wrote into a form; `Refused` where nobody is found."""
    user = find_account(name.strip())
    if user is None:
        words = f"“{name.strip()[:80]}” has no account here; write a user name or an e-mail address that its owner has confirmed."
        raise Refused(words, "unknown")
    return user


def with_accounts(bundle: Bundle) -> ChallengeDef:
    """The bundle's definition with its organizers as user names. `BundleError` names whoever has no account."""
    accounts: Mapping[str, User | None] = {name: find_account(name) for name in bundle.definition.organizers}
    keys = {name: f"organizers[{n}]" for n, name in enumerate(bundle.definition.organizers) if accounts[name] is None}
    missing = [
        Problem(FILE, bundle.lines.get(key, 0), key, f'expected somebody with an account here, found "{name}"')
        for name, key in keys.items()
    ]
    if missing:
        raise BundleError(tuple(missing))
    return replace(bundle.definition, organizers=tuple(sorted({user.get_username() for user in accounts.values() if user})))

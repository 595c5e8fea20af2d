"""Organizers of a bundle: named by user name or confirmed e-mail address in the folder, by user name in a definition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from allauth.account.models import EmailAddress

from leaderboard.bundle.definition import ChallengeDef
from leaderboard.bundle.parse import FILE, Bundle
from submissions.errors import Refused
from submissions.formats.yaml_document import DocumentError, Problem
from submissions.models import User


def with_accounts(bundle: Bundle) -> ChallengeDef:
    """The bundle's definition with its organizers as user names. `DocumentError` with the line of each text that names nobody."""
    names, problems = set(), []
    for n, text in enumerate(bundle.definition.organizers):
        try:
            names.add(User.objects.named(text).get_username())
        except Refused as refused:
            key = f"organizers[{n}]"
            problems.append(Problem(FILE, bundle.lines.get(key, 0), key, f"expected somebody with an account here; {refused.sentence}"))
    if problems:
        raise DocumentError(tuple(problems))
    return replace(bundle.definition, organizers=tuple(sorted(names)))


def written(names: Iterable[str]) -> list[str]:
    """Return these user names as a bundle has them: in place of one with `@` an address by which that account is found. `Refused`
    where it has none, because the user name could name somebody else where the bundle is read."""
    return [_address_of(name) if "@" in name else name for name in names]


def _address_of(name: str) -> str:
    for row in EmailAddress.objects.filter(user__username=name, verified=True).order_by("-primary", "email"):
        try:
            User.objects.named(row.email)
        except Refused:
            continue
        return row.email
    words = f"The organizer “{name}” has an e-mail address as user name and has confirmed no address that is theirs alone"
    raise Refused(f"{words}; they confirm one, or choose another user name on their account page.", "no_address")

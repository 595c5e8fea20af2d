"""People and the tokens their programs use."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractUser, UserManager
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.utils import timezone

from submissions.choices import TextChoices
from submissions.errors import Refused
from submissions.look_alikes import look_alike

LOOK_ALIKE = "This user name looks like that of another account. Please choose another one."


class Accounts(UserManager):
    """Accounts, and the only way from a text that somebody wrote to one of them."""

    use_in_migrations = False

    def named(self, text: str) -> User:
        """The active account that a text names, by its user name or by an e-mail address that its owner has confirmed.

        A text with `@` is an address, never a user name: when user names could hold `@`, anybody could sign up under the address of
        somebody else. `Refused` where nobody is found, and where it is the user name of one account and the address of another.
        """
        text, active = text.replace("\x00", "\ufffd").strip(), self.filter(is_active=True)  # no database takes NUL
        shown = f"“{text[:80]}”"
        if "@" not in text:
            found = active.filter(username=text).first()
            if found is None:
                ask = "write a user name or an e-mail address that its owner has confirmed"
                raise Refused(f"{shown} is no user name here; {ask}.", "unknown")
            return found
        owners = {*active.filter(emailaddress__email__iexact=text, emailaddress__verified=True)}
        if not owners:
            ask = "write a user name or an address that its owner has confirmed"
            raise Refused(f"No account here has confirmed the address {shown}; {ask}.", "unknown")
        if len(owners | {*active.filter(username__iexact=text)}) > 1:
            ask = "write a user name without “@”, or another confirmed address"
            raise Refused(f"{shown} is the user name of one account and the confirmed address of another; {ask}.", "two_accounts")
        return owners.pop()

    def look_alike(self, name: str, but: User | None = None) -> bool:
        """Return whether the name is taken for the user name of another account, see `look_alikes.look_alike`."""
        others = self.exclude(pk=but.pk if but else None).values_list("username", flat=True)
        return look_alike(name, others.iterator()) is not None


@dataclass(frozen=True)
class Reach:
    """Reach of a program in its owner's name: scopes, and the challenges to which it is bound (all where it names none)."""

    scopes: frozenset[str]
    challenges: frozenset[int] = frozenset()

    def covers(self, scope: Scope, challenge: int | None) -> bool:
        """Return whether acts of this scope are allowed in a challenge, or (None) beyond any."""
        return (scope == Scope.READ or scope in self.scopes) and (not self.challenges or challenge in self.challenges)


class User(AbstractUser):
    """A person. Sign-in, e-mail addresses and second factors are django-allauth's.

    A user name holds no `@`, so that it is nobody's e-mail address. Accounts from before that rule keep theirs until they change it.
    """

    username = models.CharField(
        max_length=150,
        unique=True,
        help_text="Required. At most 150 letters, digits and the characters . + - _",
        validators=[RegexValidator(r"^[\w.+-]+\Z", "A user name holds letters, digits and the characters . + - _ only.")],
    )
    notify_by_email = models.BooleanField(default=True, help_text="Send an e-mail when an entry is scored, rejected or has failed.")
    has_page = models.BooleanField(default=False, help_text="Everybody may read under their user name where they take part.")
    time_zone = models.CharField(max_length=64, blank=True, help_text="IANA name; empty: as the browser says.")
    # Since when so many passwords were tried that new devices are kept out; null: the owner was told, or need not be.
    warn_of_log_ins_at = models.DateTimeField(null=True, editable=False)

    reach: Reach | None = None  # of the API token by which they ask; None: they have logged in

    def logged_in(self) -> User:
        """The same person without a token."""
        return User.objects.get(pk=self.pk)

    objects = Accounts()

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        """Django's, but a stored user name with `@` may stay as it is."""
        if "@" in self.username and User.objects.filter(pk=self.pk, username=self.username).exists():
            exclude = {*(exclude or ()), "username"}
        super().clean_fields(exclude)

    def clean(self) -> None:
        """Django's, and no new user name that is taken for another account's."""
        super().clean()
        is_new = not User.objects.filter(pk=self.pk, username=self.username).exists()
        if is_new and User.objects.look_alike(self.username, self):
            raise ValidationError({"username": LOOK_ALIKE})

    def introduced(self, text: str) -> str:
        """Return who was found by the text: `name, address` if it is an address. A user name tells no address."""
        return f"{self}, {text.strip()}" if "@" in text else str(self)

    @property
    def shows_page(self) -> bool:
        """True if everybody may read where they take part. A user name that is an e-mail address is nobody's business."""
        return self.has_page and self.is_active and "@" not in self.username


def hash_secret(secret: str) -> str:
    """SHA-256 of a random secret of 32 bytes; such a secret needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Scope(TextChoices):
    """Kind of acts that an API token lets a program do. Every token reads what everybody may, and what its owner's teams may."""

    READ = "read", "read: see what you see as a visitor and as a member of your teams"
    SUBMIT = "submit", "submit: join, upload, manage your team and its entries"
    ORGANIZE = "organize", "organize: see what organizers see, upload metrics"
    OPERATE = "operate", "operate: act as staff"


class ApiToken(models.Model):
    """A named key for the API. Only its hash is kept; the key is shown once, when it is made.

    Its `scopes` say what a program may do with it. If it names `challenges`, elsewhere the program is a visitor.
    """

    PREFIX = "plumb_"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    hint = models.CharField(max_length=12, help_text="The key's first characters, to tell keys apart.")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    scopes = models.JSONField(default=list, help_text="Values of `Scope`, without read.")
    challenges = models.ManyToManyField("submissions.Challenge", blank=True, related_name="+")
    is_narrowed = models.BooleanField(default=False, help_text="Made when every token could do all that its owner can.")
    told_at = models.DateTimeField(null=True, blank=True, help_text="When its owner was told that it is narrowed.")

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @classmethod
    def make(
        cls,
        user: User,
        name: str,
        expires_at: datetime | None = None,
        scopes: Collection[Scope] = (Scope.SUBMIT,),
        challenges: Iterable[models.Model] = (),
    ) -> tuple[ApiToken, str]:
        """A new token and, this once, its key."""
        key = cls.PREFIX + secrets.token_urlsafe(32)
        with transaction.atomic():
            token = cls.objects.create(
                user=user,
                name=name,
                hint=key[: len(cls.PREFIX) + 4],
                token_hash=hash_secret(key),
                expires_at=expires_at,
                scopes=sorted(set(scopes) - {Scope.READ}),
            )
            token.challenges.set(challenges)
        return token, key

    @classmethod
    def holder(cls, key: str, now: datetime | None = None) -> User | None:
        """The active user whose live token this key is, with what the token lets them do; None for any other key."""
        now = now or timezone.now()
        token = cls.objects.select_related("user").filter(token_hash=hash_secret(key)).first()
        if token is None or not token.is_live(now) or not token.user.is_active:
            return None
        if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
            cls.objects.filter(pk=token.pk).update(last_used_at=now)
        token.user.reach = Reach(frozenset(token.scopes), frozenset(token.challenges.values_list("pk", flat=True)))
        return token.user

    @property
    def scope_names(self) -> list[str]:
        """Names of its scopes, in their order."""
        return [scope.value for scope in Scope if scope == Scope.READ or scope.value in self.scopes]

    def is_live(self, now: datetime | None = None) -> bool:
        now = now or timezone.now()
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)

    @classmethod
    def revoke_all(cls, user: User) -> None:
        """Revoke every token of a user."""
        cls.objects.filter(user=user, revoked_at__isnull=True).update(revoked_at=timezone.now())

    def revoke(self) -> None:
        if self.revoked_at is None:
            self.revoked_at = timezone.now()
            self.save(update_fields=["revoked_at"])

"""A challenge and what it shows to its participants."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator, RegexValidator, URLValidator
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Cast
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from submissions.choices import TextChoices
from submissions.kinds import FAMILIES, Family
from submissions.models.audit import AuditEntry
from submissions.models.user import User

SLUG = RegexValidator(r"\A[a-z0-9][a-z0-9-]{0,62}\Z", "Use lower-case letters, digits and hyphens, at most 63.")

NOUN = RegexValidator(r"\A[a-z](?:[a-z -]*[a-z])?\Z", "Write one noun in the singular, in lower-case letters, for example house.")

LICENCE_CHARACTERS = 100  # of one that is not a web address
IS_ADDRESS = URLValidator(schemes=["http", "https"])

TAG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?")
MAX_TAGS = 12
MAX_PAGES = 12
LOGO = "logo"  # the picture of this name, without its suffix, is the challenge's logo


def check_tags(tags: Sequence[str]) -> None:
    """Raise `ValidationError` unless these are words to find a challenge by, each once."""
    for tag in tags:
        if not isinstance(tag, str) or not TAG.fullmatch(tag):
            raise ValidationError(f"“{str(tag)[:60]}” is not a tag; use lower-case letters, digits and hyphens, at most 30.")
    if len(set(tags)) < len(tags):
        raise ValidationError("A tag is named twice; name each once.")
    if len(tags) > MAX_TAGS:
        raise ValidationError(f"There are {len(tags)} tags and at most {MAX_TAGS} are shown; keep those that people look for.")


def check_licence(text: str) -> None:
    """Raise `ValidationError` unless this is a web address, or a line that names a licence."""
    try:
        if "://" in text:
            IS_ADDRESS(text)
        elif len(text) > LICENCE_CHARACTERS or not text.isprintable() or not text.strip():
            raise ValidationError("")
    except ValidationError:
        words = f"Write a web address that begins with https://, or a licence's name in one line of at most {LICENCE_CHARACTERS} characters"
        raise ValidationError(f"{words}, such as CC-BY-4.0.") from None


def check_contact(text: str) -> None:
    """Raise `ValidationError` unless this is an e-mail address or a web address."""
    try:
        (IS_ADDRESS if "://" in text else EmailValidator())(text)
    except ValidationError:
        raise ValidationError("Write an e-mail address, or a web address that begins with https://.") from None


class ChallengeQuerySet(models.QuerySet):
    def tagged(self, tag: str) -> Self:
        """Challenges with this tag. Tags are JSON, which not every database can search, and hold no quotation mark."""
        rows = self.annotate(tags_as_text=Cast("tags", models.TextField()))
        return rows.filter(tags_as_text__contains=f'"{tag}"') if TAG.fullmatch(tag) else self.none()

    def in_state(self, state: str, now: datetime) -> Self:
        """Challenges that are `running` (a phase is open), `upcoming` (none is, and one will be, or there is no phase yet) or `past`."""
        opened = Q(phases__opens_at__lte=now)
        running = self.model.objects.filter(opened & (Q(phases__closes_at__isnull=True) | Q(phases__closes_at__gt=now)))
        coming = self.model.objects.filter(Q(phases__opens_at__gt=now) | Q(phases__isnull=True))
        is_running, is_coming = Q(pk__in=running.values("pk")), Q(pk__in=coming.values("pk"))
        return self.filter({"running": is_running, "upcoming": ~is_running & is_coming, "past": ~is_running & ~is_coming}[state])


class Challenge(models.Model):
    """A competition: its texts, its people, its phases."""

    class Visibility(TextChoices):
        DRAFT = "draft", "Draft: organizers only"
        PRIVATE = "private", "Private: by link or list"
        PUBLIC = "public", "Public"

    slug = models.CharField(max_length=63, unique=True, validators=[SLUG])
    title = models.CharField(max_length=120)
    summary = models.CharField(max_length=240, blank=True)
    description = models.TextField(blank=True, help_text="Markdown.")
    rules = models.TextField(blank=True, help_text="Markdown. Participants accept a version of them.")
    rules_version = models.CharField(max_length=20, default="1")
    family = models.CharField(max_length=20, default="wireframe")
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.DRAFT)
    access_key = models.CharField(max_length=64, blank=True, help_text="Opens a private challenge by link.")
    admitted_emails = models.JSONField(default=list, blank=True, help_text="Lower-case e-mails that may see a private one.")
    needs_approval = models.BooleanField(default=False, help_text="An organizer admits each participant.")
    team_size = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Most members; empty: no cap.")
    merge_until = models.DateTimeField(null=True, blank=True, help_text="From then on teams cannot merge; empty: no date.")
    simulated = models.BooleanField(default=False, help_text="Data and entries are invented; pages say so.")
    item_noun = models.CharField(max_length=30, default="item", validators=[NOUN], help_text="Singular: house, view.")
    unit_noun = models.CharField(max_length=30, default="group", validators=[NOUN], help_text="Of a group of items: scene, object.")
    tags = models.JSONField(default=list, blank=True, validators=[check_tags], help_text="Words to find it by: indoor, roofs.")
    licence = models.CharField(max_length=200, blank=True, validators=[check_licence], help_text="Of the data: https://… or CC-BY-4.0.")
    contact = models.CharField(max_length=200, blank=True, validators=[check_contact], help_text="Of the organizers: e-mail or https://….")
    organizers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="organized", blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ChallengeQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    @property
    def kind(self) -> Family:
        """Return what teams send."""
        return FAMILIES[self.family]

    @property
    def organizer_names(self) -> tuple[str, ...]:
        """Its organizers' full names, or user names; those who came first are first."""
        return tuple(one.get_full_name() or one.get_username() for one in self.organizers.order_by("date_joined", "id"))

    @property
    def contact_url(self) -> str:
        """The address by which people write to the organizers; empty where they gave none."""
        return self.contact if "://" in self.contact or not self.contact else f"mailto:{self.contact}"

    @property
    def pictures_url(self) -> str:
        """The address below which the pictures of its texts are."""
        return f"{reverse('challenge', args=[self.slug])}pictures/"

    @cached_property
    def logo(self) -> ChallengeFile | None:
        """Its logo: the picture of that name, whatever its format; None without one."""
        return next((file for file in self.files.all() if file.kind == ChallengeFile.Kind.PICTURE and Path(file.name).stem == LOGO), None)

    @property
    def tabs(self) -> models.QuerySet[ChallengePage]:
        """Pages that organizers added, without their texts."""
        return self.pages.only("slug", "title")

    @staticmethod
    def new_access_key() -> str:
        return secrets.token_urlsafe(24)

    def rotate_link(self, actor: User | None) -> None:
        """A new access link; the one before opens nothing from now on. Whom it let in stays."""
        with transaction.atomic():
            self.access_key = self.new_access_key()
            self.save(update_fields=["access_key"])
            AuditEntry.record(self, actor, "link.rotate", self)


class ChallengePage(models.Model):
    """A page of a challenge beside its overview and rules, such as FAQ, prizes or sponsors."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="pages")
    slug = models.CharField(max_length=63, validators=[SLUG])
    title = models.CharField(max_length=40)
    body = models.TextField(blank=True, help_text="Markdown.")
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["challenge", "slug"], name="page_once")]

    def __str__(self) -> str:
        return self.title


class ChallengeFile(models.Model):
    """A file of a challenge: inputs to work on, a part of the starter kit, or a picture of its pages."""

    class Kind(TextChoices):
        INPUT = "input", "Input"
        EXAMPLE = "example", "Example entry"
        PICTURE = "picture", "Picture"

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="files")
    phase = models.ForeignKey("submissions.Phase", on_delete=models.CASCADE, null=True, blank=True, related_name="files")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.INPUT)
    name = models.CharField(max_length=160)
    title = models.CharField(max_length=160, blank=True)
    key = models.CharField(max_length=255)  # in submissions.storage.stored_files
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["kind", "name"]
        constraints = [models.UniqueConstraint(fields=["challenge", "phase", "kind", "name"], name="file_once")]

    def __str__(self) -> str:
        return self.name


class Announcement(models.Model):
    """News from the organizers."""

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="announcements")
    title = models.CharField(max_length=160)
    body = models.TextField(blank=True, help_text="Markdown.")
    published_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-published_at"]

    def __str__(self) -> str:
        return self.title

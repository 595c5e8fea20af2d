"""A phase: when entries are taken, against which items, and what the board shows."""

from __future__ import annotations

import zoneinfo
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F
from django.utils import timezone

from submissions.choices import TextChoices
from submissions.errors import Refused
from submissions.format_time import WRITE_ANYWHERE, in_words, means_anywhere_on_earth
from submissions.formats.errors import TableError
from submissions.formats.inputs import MAX_TEXT, read_table
from submissions.manifest import COLOUR, Input, Manifest
from submissions.models.challenge import SLUG, Challenge

# A phase's page is /challenges/<challenge>/<phase>/; these words are pages of the challenge itself.
RESERVED_SLUGS = frozenset({"rules", "data", "files", "join", "access", "team", "news", "pages", "pictures"})


def validate_time_zone(name: str) -> None:
    if means_anywhere_on_earth(name):
        raise ValidationError(f"“{name}” is not an IANA time zone; {WRITE_ANYWHERE}.")
    if name not in zoneinfo.available_timezones():
        raise ValidationError(f"“{name}” is not an IANA time zone; use one such as Europe/Prague or UTC.")


def validate_input_boxes(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise ValidationError(f"The table of inputs has {len(text):,} characters, at most {MAX_TEXT:,} are kept.")
    try:
        read_table(text)
    except TableError as error:
        raise ValidationError(list(error.problems[:10])) from None


class Phase(models.Model):
    """A period with its own reference, limits and board."""

    class Board(TextChoices):
        LIVE = "live", "Live"
        HIDDEN = "hidden", "Hidden until a date"
        FROZEN = "frozen", "Frozen from a date on"

    class Entries(TextChoices):
        ALL = "all", "All entries"
        LATEST = "latest", "The team's latest"
        BEST = "best", "The team's best by the primary metric"
        CHOSEN = "chosen", "The entry the team chose"

    class Rule(TextChoices):
        PRIMARY = "primary", "The primary metric"
        MEAN_RANK = "mean_rank", "Mean rank"
        MEDIAN_RANK = "median_rank", "Median rank"
        BORDA = "borda", "Borda count"
        WEIGHTED = "weighted", "Weighted mean rank"

    class ReferenceAccess(TextChoices):
        HIDDEN = "hidden", "Organizers only"
        PARTICIPANTS = "participants", "Participants"
        PUBLIC = "public", "Everybody"

    class Missing(TextChoices):
        REJECT = "reject", "Reject the entry"
        WORST = "worst", "Give them the worst value"

    class Resize(TextChoices):
        NONE = "none", "Refuse the file"
        REFERENCE = "reference", "Resize it to the reference"

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="phases")
    slug = models.CharField(max_length=63, validators=[SLUG])
    title = models.CharField(max_length=120)
    description = models.TextField(blank=True, help_text="Markdown.")
    position = models.PositiveSmallIntegerField(default=0)

    opens_at = models.DateTimeField(default=timezone.now)
    closes_at = models.DateTimeField(null=True, blank=True)
    time_zone = models.CharField(max_length=64, default="UTC", validators=[validate_time_zone])
    limit_per_day = models.PositiveIntegerField(null=True, blank=True)
    limit_total = models.PositiveIntegerField(null=True, blank=True)
    limit_at_once = models.PositiveIntegerField(null=True, blank=True)
    parent = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="children",
        help_text="A team needs a scored entry there first.",
    )

    board = models.CharField(max_length=10, choices=Board, default=Board.LIVE)
    board_at = models.DateTimeField(null=True, blank=True, help_text="Hidden until, or frozen from, this moment.")
    entries = models.CharField(max_length=10, choices=Entries, default=Entries.BEST)
    ranking = models.CharField(max_length=12, choices=Rule, default=Rule.PRIMARY)
    withhold_scores = models.BooleanField(default=False, help_text="Teams do not see their own scores while the board is hidden.")
    withhold_items = models.BooleanField(default=False, help_text="Teams do not see per-item values.")
    reference_access = models.CharField(max_length=14, choices=ReferenceAccess, default=ReferenceAccess.HIDDEN)

    missing = models.CharField(max_length=10, choices=Missing, default=Missing.REJECT)
    size_factor = models.PositiveSmallIntegerField(default=10, help_text="Most vertices and edges, times the reference's.")
    max_archive_bytes = models.PositiveBigIntegerField(default=500_000_000)
    unit = models.CharField(max_length=16, default="m")
    unit_scale = models.FloatField(default=1.0, help_text="Metres per unit.")
    input_boxes = models.TextField(
        blank=True, validators=[validate_input_boxes], help_text="What was given out for each item, see `formats.inputs`: a table as CSV."
    )
    # Of images only.
    background = models.CharField(
        max_length=7, default="#ffffff", validators=[RegexValidator(rf"\A{COLOUR.pattern}\Z", "Write a colour as #rrggbb.")]
    )
    resize = models.CharField(max_length=10, choices=Resize, default=Resize.NONE)
    # Of phases of published figures; they take no uploads.
    results_source = models.CharField(max_length=240, blank=True, help_text="Where a table of results was imported from.")
    results_url = models.URLField(blank=True)
    manifest_data = models.JSONField(default=dict, blank=True, editable=False)  # written by evaluation, see `manifest`
    board_revision = models.PositiveBigIntegerField(default=0, editable=False)  # grows with all that a board shows

    class Meta:
        ordering = ["position", "opens_at", "id"]
        constraints = [models.UniqueConstraint(fields=["challenge", "slug"], name="phase_slug_once")]

    def __str__(self) -> str:
        return f"{self.challenge} · {self.title}"

    def clean(self) -> None:
        if self.slug in RESERVED_SLUGS:
            raise ValidationError({"slug": f"“{self.slug}” is the address of one of the challenge's own pages; choose another."})
        if self.closes_at and self.closes_at <= self.opens_at:
            raise ValidationError({"closes_at": "The phase closes before it opens; choose a later moment."})
        if self.board != self.Board.LIVE and self.board_at is None:
            raise ValidationError({"board_at": "Set when the leaderboard opens or freezes."})
        ancestor = self.parent
        while ancestor is not None:
            if (ancestor.pk == self.pk and self.pk is not None) or ancestor.challenge_id != self.challenge_id:
                raise ValidationError({"parent": "The parent must be an earlier phase of the same challenge."})
            ancestor = ancestor.parent

    # A phase ranks uploads of teams, or the methods of a table of results that somebody published. These are the facts that follow. They
    # have the same answer today, but a caller asks for the one that it needs.

    @property
    def has_teams(self) -> bool:
        """Return whether its entries are of teams, which upload them; otherwise they are methods, the rows of a published table."""
        return not self.results_source

    @property
    def is_measured_here(self) -> bool:
        """Return whether entries are scored here, by metrics and with a reference; otherwise their values are from a published table."""
        return not self.results_source

    @property
    def has_files(self) -> bool:
        """Return whether there are files of its entries, to download and to draw."""
        return not self.results_source

    @property
    def may_show_items(self) -> bool:
        """Return whether values of single items may be shown. Values of a published table are used for intervals and tests alone."""
        return not self.results_source

    @property
    def manifest(self) -> Manifest | None:
        """Return what the phase expects of an upload; None until it has a reference."""
        return Manifest.from_dict(self.manifest_data) if self.manifest_data else None

    @property
    def inputs(self) -> dict[str, Input]:
        """Descriptions of the inputs by the organizers, by item; empty without any."""
        return read_table(self.input_boxes)

    def manifest_with_inputs(self) -> dict[str, Any]:
        """The manifest with the descriptions of the inputs: for those who may see these, and for the check of an upload."""
        inputs = self.inputs if self.manifest_data and not self.challenge.kind.images else {}
        if not inputs:
            return self.manifest_data
        items = [{**item, "input": inputs[item["id"]].to_dict()} if item["id"] in inputs else item for item in self.manifest_data["items"]]
        return {**self.manifest_data, "items": items}

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        return zoneinfo.ZoneInfo(self.time_zone)

    def has_opened(self, now: datetime | None = None) -> bool:
        return self.opens_at <= (now or timezone.now())

    def has_closed(self, now: datetime | None = None) -> bool:
        return self.closes_at is not None and self.closes_at <= (now or timezone.now())

    def is_open(self, now: datetime | None = None) -> bool:
        """From `opens_at` on (inclusive) and before `closes_at` (exclusive)."""
        now = now or timezone.now()
        return self.has_opened(now) and not self.has_closed(now)

    def takes_uploads(self, now: datetime | None = None) -> bool:
        """Return whether teams can upload entries: the phase is of teams, and open."""
        return self.has_teams and self.is_open(now)

    def admits(self, team_id: int | None) -> bool:
        """Return whether the team has the scored entry in an earlier phase that this one may ask for."""
        return not self.parent_id or (team_id is not None and self.parent.submissions.eligible().filter(team_id=team_id).exists())

    def board_is_public(self, now: datetime | None = None) -> bool:
        """Return whether those who may see the phase may see its board now."""
        return self.board != self.Board.HIDDEN or (now or timezone.now()) >= self.board_at

    @property
    def decided_at(self) -> datetime | None:
        """Moment after which teams can no longer choose which of their entries counts, by the current dates. It is the earliest of the end
        of the phase, the freeze of its board and the reveal of a hidden board. None if none is set."""
        board_at = None if self.board == self.Board.LIVE else self.board_at
        return min((moment for moment in (self.closes_at, board_at) if moment is not None), default=None)

    def is_decided(self, now: datetime | None = None) -> bool:
        return self.decided_at is not None and self.decided_at <= (now or timezone.now())

    def lock(self) -> None:
        """Lock this row until the transaction ends. Lock the phase before changing it or its entries: in another order two changes would
        wait for each other."""
        Phase.objects.select_for_update(no_key=True).get(pk=self.pk)  # rows that refer to the phase may come meanwhile

    def touch_board(self) -> None:
        """Say that something the board shows has changed; a snapshot follows."""
        Phase.objects.filter(pk=self.pk).update(board_revision=F("board_revision") + 1)

    def day(self, now: datetime) -> tuple[datetime, datetime]:
        """The calendar day of `now` in the phase's zone, as two instants [start, end)."""
        local = now.astimezone(self.zone)
        start = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        end = datetime.combine(start.date() + timedelta(days=1), datetime.min.time(), tzinfo=self.zone)
        return start, end

    def require_open(self, now: datetime, whenever: bool = False) -> None:
        """Raise `Refused` unless entries are taken at `now`, or can be scored `whenever` they come."""
        if not self.has_teams:
            raise Refused(f"{self.title} ranks figures from {self.results_source}; it takes no uploads.", "imported")
        if not whenever and not self.has_opened(now):
            opens = in_words(self.opens_at, self.time_zone)
            raise Refused(f"{self.title} opens on {opens}; upload then.", "phase_not_open", self.opens_at)
        if not whenever and not self.is_open(now):
            closed = in_words(self.closes_at, self.time_zone)
            raise Refused(f"{self.title} closed on {closed}; it takes no more entries.", "phase_closed")
        if self.manifest is None:
            raise Refused(f"{self.title} has no reference yet, so nothing can be scored; ask the organizers.", "no_reference")

    def max_bytes(self) -> int:
        return min(self.max_archive_bytes, settings.UPLOAD_MAX_BYTES)

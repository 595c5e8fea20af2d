"""A submission: one upload, its status, and every change of that status."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import DateTimeField, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from submissions import fair_share, worker_notify
from submissions.entry_fields import FIELDS, EntryField
from submissions.entry_states import HOLDS, OWN_FAULTS, EntryState, Reason, State, Why
from submissions.errors import Refused
from submissions.format_time import in_words
from submissions.leases import Leased, LeasedQuerySet
from submissions.models.audit import AuditEntry
from submissions.models.entry_texts import checked_about, checked_file_name, checked_sha256
from submissions.models.frozen_board import in_time
from submissions.models.phase import Phase
from submissions.models.quota import quota_of
from submissions.models.status import ELIGIBLE, ON_HOLD, RANKED, SENT, UNFLAGGED, Status
from submissions.models.team import Team
from submissions.models.user import User

CHECK_SECONDS = 0.5  # of any upload, and beside that one for so many
CHECKED_BYTES = 10_000_000
MOST_UNFINISHED = 20  # uploads of a team to a phase; paused ones count against no other limit, and their parts take room
MOST_ON_HOLD = 3  # entries of a team that wait for it
CONFIRM_TIME = timedelta(hours=24)  # after the end of a phase, in which a team may confirm an entry that came before it
SAME_TIME = timedelta(
    minutes=1
)  # in which the same bytes are the same entry, sent again by a second click or by a program that lost its answer
# What lists are filtered by, and the words for it.
STATE_CHOICES = [*Status.choices, (State.ON_HOLD.value, "On hold")]
RETRY_TIME = timedelta(days=7)  # after the end of a phase, in which a team may retry what the service failed to score


class SubmissionQuerySet(LeasedQuerySet):
    def counted(self, now: datetime | None = None) -> Self:
        """Entries that use up quota: in progress or scored, uploads that hold a place included."""
        now = now or timezone.now()
        received = self.filter(status__in=[s for s in (*Status.in_progress(), Status.SCORED) if s != Status.UPLOADING])
        return (received | self.holding_place(now)).sent()

    def holding_place(self, now: datetime) -> Self:
        """Open uploads that hold a place of their team: each counts against the limits as an entry does.

        An upload holds its place while its sender is heard of: when it is reserved, when a part comes through this service, and at each
        `resume`, which the page and the client send every minute meanwhile. After `UPLOAD_IDLE_MINUTES` of silence, or when its sender
        pauses it or closes its page, the place is free for others. The upload stays open until it runs out. To continue it takes a new
        place, or is refused if none is left, see `Submission.hold_place`.
        """
        since = now - timedelta(minutes=settings.UPLOAD_IDLE_MINUTES)
        return self.filter(status=Status.UPLOADING, upload_expires_at__gt=now, upload_active_at__gt=since)

    def on_hold(self) -> Self:
        """Entries that wait for their team to say that they are meant as they are."""
        return self.filter(ON_HOLD)

    def in_state(self, chosen: str) -> Self:
        """Entries in one of STATE_CHOICES, with any flags; all for any other text."""
        if chosen == State.ON_HOLD:
            return self.on_hold()
        return self.filter(~ON_HOLD, status=chosen) if chosen in Status.values else self

    def sent(self) -> Self:
        """Return what teams sent, without what the service made for a study."""
        return self.filter(SENT)

    def in_progress(self) -> Self:
        return self.filter(status__in=Status.in_progress())

    def to_validate(self) -> Self:
        """Received entries in their turn, and those whose validation was begun; filter by lease."""
        return self.filter(status__in=Status.checked()).order_by("turn", "id")

    def validated(self) -> Self:
        """Entries that have been checked, however that ended."""
        return self.filter(status__in=(Status.SCORING, Status.SCORED, Status.REJECTED, Status.FAILED))

    def ranked(self) -> Self:
        """Scored entries that the board of organizers shows."""
        return self.filter(RANKED)

    def eligible(self) -> Self:
        """Scored entries that a public board may show."""
        return self.filter(ELIGIBLE)

    def kept_off(self, phase: Phase, now: datetime | None = None) -> Self:
        """Entries of `phase` that may not count for their team: since `kept_off_since` it has withdrawn an entry received later, when the
        phase was decided and nobody could choose any more. None where all entries count.

        Only an entry that could itself have counted keeps others off. An organizer's decision (`let_stand_at`) overrides withdrawals before
        it.
        """
        if phase.decided_at is None or not phase.has_teams or phase.entries == Phase.Entries.ALL:
            return self.none().annotate(kept_off_since=Value(None, DateTimeField()))
        could_stand = SENT & UNFLAGGED & in_time(phase, now) & Q(status=Status.SCORED, is_baseline=False)
        withdrawn = Submission.objects.filter(could_stand, phase=phase, withdrawn_at__gte=phase.decided_at)
        let_stand = Coalesce(OuterRef("let_stand_at"), Value(datetime.min.replace(tzinfo=UTC)), output_field=DateTimeField())
        later = withdrawn.filter(team=OuterRef("team"), received_at__gt=OuterRef("received_at"), withdrawn_at__gt=let_stand)
        since = Subquery(later.order_by("withdrawn_at").values("withdrawn_at")[:1])
        concerned = self.ranked().filter(phase=phase, team__in=withdrawn.order_by().values("team"))
        return concerned.annotate(kept_off_since=since).filter(kept_off_since__isnull=False)


class Submission(Leased):
    """One upload of one team to one phase.

    `created_at` is when it took its place: limits are counted there, and it moves if the place is given up and taken again.
    `received_at` is when the last byte had come and matched its size and checksum: deadlines and the order of entries go by it.
    Withdrawn, hidden and disqualified are flags.
    """

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="submissions")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="submissions")
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    number = models.PositiveIntegerField(help_text="Counts up within the challenge.")
    status = models.CharField(max_length=12, choices=Status, default=Status.UPLOADING, db_index=True)

    method_name = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    paper_url = models.URLField(blank=True)
    code_url = models.URLField(blank=True)
    # The card of its method, as far as its team states it.
    weights_url = models.URLField(blank=True)
    licence = models.CharField(max_length=80, blank=True)
    parameters = models.BigIntegerField(null=True, blank=True)
    hardware = models.CharField(max_length=120, blank=True)
    run_seconds = models.FloatField(null=True, blank=True, help_text="Of one item, on that hardware.")
    training_data = models.CharField(max_length=400, blank=True)
    is_baseline = models.BooleanField(default=False)
    is_verified = models.BooleanField(default=False)
    is_chosen = models.BooleanField(default=False, help_text="The team's choice, where the phase ranks chosen entries.")

    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    received_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    let_stand_at = models.DateTimeField(null=True, blank=True, editable=False)  # by an organizer, see `SubmissionQuerySet.kept_off`
    hidden_at = models.DateTimeField(null=True, blank=True)
    hidden_reason = models.CharField(max_length=240, blank=True)
    disqualified_at = models.DateTimeField(null=True, blank=True)
    disqualified_reason = models.CharField(max_length=240, blank=True)
    disqualified_in_public = models.BooleanField(default=False, editable=False)  # the public board showed the entry until then

    file_name = models.CharField(max_length=160)
    file_key = models.CharField(max_length=255, blank=True)  # in submissions.storage.stored_files
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    upload_expires_at = models.DateTimeField(null=True, blank=True)
    upload_active_at = models.DateTimeField(null=True, blank=True)  # when its sender was last heard of; null: they paused it
    upload_data = models.JSONField(default=dict, blank=True)  # the storage's own notes on a started upload
    artifact_key = models.CharField(max_length=255, blank=True)  # the parsed items, written by validation
    reader = models.PositiveSmallIntegerField(default=1, editable=False)  # that parsed them, see `Family.reader`
    missing_items = models.JSONField(default=list, blank=True)
    turn = models.FloatField(default=0.0, editable=False)  # to be checked: the least comes first, see submissions.fair_share
    cost = models.FloatField(default=0.0, editable=False)  # seconds that checking it takes, as far as is known
    problems = models.JSONField(default=list, blank=True)  # sentences, the first hundred
    n_problems = models.PositiveIntegerField(default=0)
    warnings = models.JSONField(default=list, blank=True)
    # `reason` says why an entry was rejected, cancelled or failed. A rejected one with a reason to be on hold waits for its team, and is
    # scored once that says that it is meant so.
    is_confirmed = models.BooleanField(default=False, editable=False)
    notified_at = models.DateTimeField(null=True, blank=True)  # when the e-mail on the outcome was sent or declined
    # Set if the service made this entry for raters, and as what; nobody sent such a row.
    made_as = models.CharField(max_length=80, blank=True, editable=False)

    is_repeated = False  # of an instance: it answers somebody who sent its bytes again

    GIVEN_BACK = {"status": Status.RECEIVED}
    NOT_FAILED = ("Only an entry that has failed can be retried.", "not_failed")
    doing = "checking this entry"
    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["phase", "number"], name="number_once_per_phase"),
            models.UniqueConstraint(fields=["phase", "made_as"], condition=~Q(made_as=""), name="made_once_per_phase"),
        ]
        indexes = [models.Index(fields=["phase", "team", "status"]), models.Index(fields=["status", "turn"])]

    def __str__(self) -> str:
        return f"#{self.number} {self.method_name}"

    # --- reserve and receive ---------------------------------------------------------------

    @classmethod
    def reserve(
        cls,
        phase: Phase,
        team: Team,
        user: Any,
        *,
        method_name: str,
        file_name: str,
        size: int,
        sha256: str = "",
        as_it_is: bool = False,
        is_baseline: bool = False,
        now: datetime | None = None,
        **about: str | float | None,
    ) -> Submission:
        """Reserve one upload, or raise `Refused` with the sentence that says why not. `about` is of the fields of `entry_fields`;
        `as_it_is` says that it is to be scored also where it would be put on hold. A baseline of the organizers is bound to no date, no
        earlier phase and no number of tries.

        The team's row is locked while its quota is counted, so of N parallel uploads with k left exactly k are accepted, from pages and API
        together.
        """
        now = now or timezone.now()
        texts = checked_about(method_name=method_name, **about)
        file_name, sha256 = checked_file_name(file_name), checked_sha256(sha256)
        phase.require_open(now, whenever=is_baseline)
        if not is_baseline:
            cls._require_parent(phase, team)
        if size > phase.max_bytes():
            raise Refused(
                f"{file_name} has {size:,} bytes and this phase takes at most {phase.max_bytes():,}; make it smaller.",
                "too_large",
            )
        if size <= 0:
            raise Refused(f"{file_name} is empty; choose the archive with your entry.", "empty_file")
        with transaction.atomic():
            if Team.objects.select_for_update().filter(pk=team.pk).first() is None:
                raise Refused("Your team has merged with another meanwhile; upload again.", "team_gone")
            quota = quota_of(phase, team, now)
            if not (is_baseline or quota.allowed):
                raise Refused(quota.reason, quota.code, quota.next_at)
            unfinished = cls.objects.filter(phase=phase, team=team, status=Status.UPLOADING, upload_expires_at__gt=now)
            if not is_baseline and unfinished.count() >= MOST_UNFINISHED:
                raise Refused(
                    f"Your team has {MOST_UNFINISHED} unfinished uploads in this phase; finish or cancel one first.", "unfinished"
                )
            Phase.objects.select_for_update().get(pk=phase.pk)  # numbers increase without gaps in a race
            last = cls.objects.filter(phase=phase).aggregate(n=models.Max("number"))["n"] or 0
            return cls.objects.create(
                phase=phase,
                team=team,
                uploaded_by=user,
                number=last + 1,
                file_name=file_name,
                size=size,
                sha256=sha256,
                created_at=now,
                upload_expires_at=now + timedelta(hours=settings.UPLOAD_HOURS),
                upload_active_at=now,
                is_confirmed=as_it_is,
                is_baseline=is_baseline,
                **texts,
            )

    @classmethod
    def sent_just_now(cls, phase: Phase, team: Team, sha256: str, as_it_is: bool, now: datetime, but: int | None = None) -> Self | None:
        """The team's first entry of these bytes within the last `SAME_TIME`, other than the entry `but`: it is the answer to a repeated
        upload. None if there is none, or if it failed. Call it under the team's lock."""
        if not sha256:
            return None
        came = cls.objects.filter(phase=phase, team=team, sha256=sha256, received_at__gt=now - SAME_TIME, withdrawn_at=None)
        same = came.filter(is_confirmed=as_it_is).exclude(status__in=(Status.FAILED, Status.CANCELLED)).exclude(pk=but)
        first = same.order_by("received_at", "pk").first()
        if first is not None:
            first.is_repeated = True
        return first

    @staticmethod
    def _require_parent(phase: Phase, team: Team) -> None:
        if not phase.admits(team.pk):
            raise Refused(
                f"{phase.title} is for teams with a scored entry in {phase.parent.title}; enter that phase first.",
                "parent_phase",
            )

    def day_of_act(self, now: datetime) -> datetime:
        """Moment whose day the upload counts for if its team continues, confirms or retries it at `now`. No day begins after the phase has
        closed: from then on an upload keeps its own."""
        return self.created_at if self.phase.has_closed(now) else now

    def hold_place(self, now: datetime | None = None) -> None:
        """Report that the upload is alive. An upload that had stopped gave its place up: it takes one of the day that `day_of_act` names,
        and `created_at` moves there. Raises `Refused` where none is left."""
        now = now or timezone.now()
        mine = type(self).objects.filter(pk=self.pk)
        # Heard of so lately, it is left out of nobody's count before this one is written; else the count must wait for it.
        lately = now - timedelta(minutes=settings.UPLOAD_IDLE_MINUTES) / 2
        if mine.holding_place(now).filter(upload_active_at__gt=lately).update(upload_active_at=now):
            return
        with transaction.atomic():
            Team.objects.select_for_update().get(pk=self.team_id)
            place = {"upload_active_at": now}
            if not mine.holding_place(now).exists():
                place["created_at"] = self.day_of_act(now)
                quota = quota_of(self.phase, self.team, now, place["created_at"])
                if not quota.allowed:
                    raise Refused(f"This upload had stopped, so its place was free for others. {quota.reason}", quota.code, quota.next_at)
            mine.filter(status=Status.UPLOADING).update(**place)

    def leave_place(self) -> None:
        """The upload stops for now: it can go on, and counts against no limit until then."""
        type(self).objects.filter(pk=self.pk, status=Status.UPLOADING).update(upload_active_at=None)

    def receive(self, key: str, size: int, sha256: str, now: datetime | None = None) -> None:
        """The bytes are in storage under `key`: check them against the reservation and queue the
        entry. Raises `Refused` when they differ or the reservation has run out."""
        now = now or timezone.now()
        if self.sha256 and sha256 != self.sha256:
            raise Refused(f"{self.file_name} arrived with another checksum than announced; upload it again.", "checksum")
        if size != self.size:
            raise Refused(f"{self.file_name} arrived with {size:,} bytes of {self.size:,}; upload it again.", "size")
        # Without an announced checksum the content was still open when the phase closed.
        if not self.sha256:
            self.phase.require_open(now)
        with transaction.atomic():
            open_upload = type(self).objects.filter(pk=self.pk, status=Status.UPLOADING, upload_expires_at__gt=now)
            if open_upload.exists():
                self.hold_place(now)
            moved = open_upload.update(status=Status.RECEIVED, received_at=now, file_key=key, sha256=sha256, upload_data={})
            if not moved:
                raise Refused(
                    "This upload is no longer open: it was finished, cancelled or ran out of time; start it again.", "upload_over"
                )
            self._queue()
            worker_notify.after_commit()
        self.refresh_from_db()

    def _queue(self) -> None:
        """Give it its turn to be checked, among its team's and others'."""
        others = type(self).objects.to_validate().exclude(pk=self.pk)
        own = fair_share.backlog(others.filter(phase_id=self.phase_id, team_id=self.team_id), "pk")
        self.cost = CHECK_SECONDS + self.size / CHECKED_BYTES
        (self.turn,) = fair_share.turns(fair_share.clock(others, type(self).objects.validated()), *own, [self.cost])
        self.save(update_fields=["turn", "cost"])

    def cancel(self, actor: User | None = None, now: datetime | None = None) -> None:
        """Stop an entry that is not done yet."""
        with transaction.atomic():
            moved = (
                type(self)
                .objects.filter(pk=self.pk, status__in=Status.in_progress())
                .update(status=Status.CANCELLED, finished_at=now or timezone.now(), **self.UNHELD)
            )
            if not moved:
                raise Refused("This entry is already done, so it cannot be cancelled; withdraw it instead.", "done")
            if actor is not None and not self._is_of(actor):  # an organizer's act
                before, after = {"status": self.status}, {"status": Status.CANCELLED.value}
                AuditEntry.record(self.phase.challenge, actor, "submission.cancel", self, submission=self.pk, before=before, after=after)
        self.refresh_from_db()

    @classmethod
    def expire_uploads(cls, now: datetime | None = None) -> int:
        """Cancel the reservations that ran out; returns how many."""
        now = now or timezone.now()
        return cls.objects.filter(status=Status.UPLOADING, upload_expires_at__lte=now).update(
            status=Status.CANCELLED, finished_at=now, reason=Reason.EXPIRED
        )

    # --- what a worker reports; each holds only under the lease it was claimed with ------------

    def begin_validation(self) -> bool:
        return bool(self.under_lease().update(status=Status.VALIDATING))

    def reject(self, problems: list[str], n_problems: int, warnings: list[str], detail: str = "", reason: Reason = Reason.PROBLEMS) -> bool:
        """`detail` is the traceback where a reader of ours broke down. A reason to be on hold says that the file is well formed, and
        `problems` are what its team is asked whether it is meant so. Only a team's newest entries on hold keep waiting, at most
        `MOST_ON_HOLD`."""
        now = timezone.now()
        self.finished_at, self.status, self.reason = now, Status.REJECTED, reason
        if self.confirm_until is not None and self.confirm_until <= now:
            reason = Reason.HOLDS_OVER
        with transaction.atomic():
            if reason in HOLDS:
                Team.objects.select_for_update().get(pk=self.team_id)
            self.phase.lock()
            moved = (
                self.under_lease()
                .filter(status__in=Status.checked())
                .update(
                    status=Status.REJECTED,
                    problems=problems,
                    n_problems=n_problems,
                    warnings=warnings,
                    reason=reason,
                    numbers={},
                    failure="",
                    failure_detail=detail,
                    finished_at=now,
                    **self.UNHELD,
                )
            )
            if moved:
                self.phase.touch_board()
                worker_notify.after_commit("mail")
            if moved and reason in HOLDS:
                for other in type(self).objects.on_hold().filter(team=self.team_id).order_by("-finished_at", "-pk")[MOST_ON_HOLD:]:
                    other._end_hold(Why(Reason.NEWER_HOLDS, {"n": MOST_ON_HOLD}))
        return bool(moved)

    def _end_hold(self, why: Why) -> None:
        type(self).objects.on_hold().filter(pk=self.pk).update(reason=why.reason, numbers=why.numbers)

    @classmethod
    def expire_holds(cls, now: datetime | None = None) -> int:
        """End the wait of entries on hold that nobody confirmed in time; returns how many."""
        now = now or timezone.now()
        over = [entry for entry in cls.objects.on_hold().select_related("phase") if entry.confirm_until and entry.confirm_until <= now]
        for entry in over:
            entry._end_hold(Why(Reason.UNCONFIRMED, {"until": entry.confirm_until.isoformat()}))
        return len(over)

    def confirm(self, now: datetime | None = None) -> None:
        """Have an entry on hold scored as it is. It keeps the date of its upload, and counts for the day that `day_of_act` names.
        Raises `Refused`."""
        now = now or timezone.now()
        with transaction.atomic():
            Team.objects.select_for_update().get(pk=self.team_id)
            self.phase.lock()
            self.phase.refresh_from_db()
            self.refresh_from_db()
            phase = self.phase
            if not self.is_on_hold:
                raise Refused("Only an entry that is on hold can be confirmed.", "not_held")
            if not self.file_key:
                raise Refused(f"{self.file_note} Say then that it is to be scored as it is.", "file_gone")
            if phase.board != phase.Board.LIVE and phase.board_at <= now:
                word = "was frozen" if phase.board == phase.Board.FROZEN else "was revealed"
                on = in_words(phase.board_at, phase.time_zone)
                raise Refused(
                    f"The leaderboard of {phase.title} {word} on {on}, so no entry on hold can be confirmed any more.", "phase_decided"
                )
            if phase.has_closed(now) and now >= phase.closes_at + CONFIRM_TIME:
                closed = f"{phase.title} closed on {in_words(phase.closes_at, phase.time_zone)}"
                raise Refused(f"{closed}, and entries on hold could be confirmed for 24 hours after that.", "phase_closed")
            if self.confirm_until is not None and now >= self.confirm_until:
                raise Refused(
                    f"The entry waited for {_days(settings.KEEP_REJECTED_DAYS)}, and nobody confirmed it; upload it again.", "hold_over"
                )
            phase.require_open(self.received_at if phase.has_closed(now) else now)  # what came before the end may still be confirmed
            self._require_parent(phase, self.team)
            place = self.day_of_act(now)
            quota = quota_of(phase, self.team, now, place)
            if not quota.allowed:
                raise Refused(quota.reason, quota.code, quota.next_at)
            confirmed = {"is_confirmed": True, "problems": [], "n_problems": 0}
            times = {"created_at": place, "finished_at": None, "notified_at": None}
            type(self).objects.filter(pk=self.pk).update(status=Status.RECEIVED, **confirmed, **times, **self.ANEW)
            self.refresh_from_db()
            self._queue()
            worker_notify.after_commit()
        self.refresh_from_db()

    @property
    def confirm_until(self) -> datetime | None:
        """Time until which the team may confirm an entry on hold; None for other entries. It ends when the file is deleted, when the
        board is frozen or revealed, or `CONFIRM_TIME` after the phase closes."""
        if not self.is_on_hold or self.finished_at is None:
            return None
        ends = [self.finished_at + timedelta(days=settings.KEEP_REJECTED_DAYS)]
        ends += [self.phase.closes_at + CONFIRM_TIME] if self.phase.closes_at else []
        ends += [self.phase.board_at] if self.phase.board != Phase.Board.LIVE and self.phase.board_at else []
        return min(ends)

    @property
    def is_on_hold(self) -> bool:
        """True if it waits for its team to say that it is meant as it is."""
        return self.status == Status.REJECTED and self.reason in HOLDS and self.withdrawn_at is None

    def accept(self, artifact_key: str, missing: list[str], warnings: list[str]) -> bool:
        """Mark the entry as validated, so that scoring follows. Call it in the transaction that makes the evaluation."""
        return bool(
            self.under_lease()
            .filter(status__in=Status.checked())
            .update(
                status=Status.SCORING,
                artifact_key=artifact_key,
                reader=self.phase.challenge.kind.reader,
                missing_items=missing,
                warnings=warnings,
                **self.ANEW,
            )
        )

    def give_up(self, why: Why, detail: str) -> None:
        self.fail(why, detail, fenced=True)

    def fail(self, why: Why, detail: str = "", *, fenced: bool = False) -> bool:
        """The service could not score this entry. It uses up no quota and can be retried. `fenced`: a worker says so, which holds
        only under the lease it was claimed with."""
        row = self.under_lease().filter(status__in=Status.checked()) if fenced else type(self).objects.filter(pk=self.pk)
        with transaction.atomic():
            self.phase.lock()
            moved = row.filter(status__in=Status.in_progress()).update(
                status=Status.FAILED, finished_at=timezone.now(), **self.failed_by(why, detail), **self.UNHELD
            )
            if moved:
                self.phase.touch_board()
                worker_notify.after_commit("mail")
        return bool(moved)

    def complete(self) -> bool:
        """All scores exist: called in the transaction that writes them."""
        self.phase.lock()
        moved = type(self).objects.filter(pk=self.pk, status=Status.SCORING).update(status=Status.SCORED, finished_at=timezone.now())
        if moved:
            self.phase.touch_board()
            worker_notify.after_commit("mail", "boards")
        return bool(moved)

    def retry(self, actor: User, now: datetime | None = None) -> None:
        """Queue a failed entry again, from validation on. A member of its team takes the place that `place_of_retry` names, and raises
        what that raises; anybody else who may do it is an organizer, see `requeue`."""
        if not self._is_of(actor):
            self.requeue(actor)
            return
        now = now or timezone.now()
        with transaction.atomic():
            Team.objects.select_for_update().get(pk=self.team_id)
            self.refresh_from_db(fields=["status", "reason", "created_at"])  # a retry at the same moment may have come first
            self._queue_again(created_at=self.place_of_retry(now))
        self.refresh_from_db()

    def place_of_retry(self, now: datetime) -> datetime:
        """Moment whose day a retry by the team counts for, see `day_of_act`. After the phase has closed there are retries for RETRY_TIME,
        and only where the failure was the service's. Raises `Refused`, also where no upload is left."""
        phase, place = self.phase, self.day_of_act(now)
        if self.status != Status.FAILED:
            raise Refused(*self.NOT_FAILED)
        if phase.has_closed(now):
            closed = f"{phase.title} closed on {in_words(phase.closes_at, phase.time_zone)}"
            if self.fault != "service":
                raise Refused(f"{closed}, and this entry did not fail by a fault of the service; ask the organizers.", "phase_closed")
            if now >= phase.closes_at + RETRY_TIME:
                words = f"{closed}. What the service failed to score could be retried for {RETRY_TIME.days} days; ask the organizers."
                raise Refused(words, "phase_closed")
        else:
            phase.require_open(now)
            self._require_parent(phase, self.team)
        quota = quota_of(phase, self.team, now, place)
        if not quota.allowed:
            raise Refused(quota.reason, quota.code, quota.next_at)
        return place

    def requeue(self, actor: User | None = None) -> None:
        """Queue a failed entry again at an organizer's word: it asks no quota, keeps its moment, and is kept in the audit log where
        `actor` is named."""
        with transaction.atomic():
            before = {"status": Status.FAILED.value, "reason": self.reason, "numbers": self.numbers, "failure": self.failure}
            self._queue_again()
            if actor is not None:
                after = {"status": Status.RECEIVED.value}
                AuditEntry.record(self.phase.challenge, actor, "submission.retry", self, submission=self.pk, before=before, after=after)
        self.refresh_from_db()

    def _queue_again(self, **times: datetime) -> None:
        failed = type(self).objects.filter(pk=self.pk, status=Status.FAILED).exclude(file_key="")
        if not failed.update(status=Status.RECEIVED, finished_at=None, notified_at=None, **times, **self.ANEW):
            raise Refused(*self.NOT_FAILED)
        worker_notify.after_commit()

    def _is_of(self, actor: User) -> bool:
        return self.team.memberships.filter(user=actor).exists()

    # --- flags -----------------------------------------------------------------------------

    def edit(self, **about: str | float | None) -> None:
        """Change what the team says about its entry; `about` is of the fields of `entry_fields`."""
        self._flag(None, "", "", **checked_about(**about))

    def withdraw(self, now: datetime | None = None) -> None:
        """Take a scored entry off the boards, or end the wait of one on hold, for good. The quota of a scored one stays used. Once the
        phase is decided, no earlier entry of the team takes its place on the board, see `SubmissionQuerySet.kept_off`."""
        with transaction.atomic():
            self.phase.lock()
            self.refresh_from_db(fields=["status", "reason", "withdrawn_at"])  # it may just have been confirmed
            if self.status in Status.in_progress():
                raise Refused("This entry is still in progress; cancel it instead.", "in_progress")
            if self.withdrawn_at is None and not self.may_be_withdrawn:
                raise Refused("Only a scored entry, or one on hold, can be withdrawn.", "not_scored")
            self._flag(withdrawn_at=self.withdrawn_at or now or timezone.now())

    @property
    def may_be_withdrawn(self) -> bool:
        """True for a scored entry and one on hold, until its team withdraws it."""
        return self.is_on_hold or (self.status == Status.SCORED and self.withdrawn_at is None)

    def let_stand(self, actor: User | None, reason: str, now: datetime | None = None) -> None:
        """Let the entry count for its team although the team has withdrawn a later one. A later withdrawal keeps it off again."""
        now = now or timezone.now()
        if not type(self).objects.filter(pk=self.pk).kept_off(self.phase, now).exists():
            raise Refused("This entry is not excluded by a withdrawal. Reload the page.", "not_kept_off")
        self._flag(actor, "submission.let_stand", reason, let_stand_at=now)

    def hide(self, actor: User | None, reason: str) -> None:
        self._flag(actor, "submission.hide", reason, hidden_at=timezone.now(), hidden_reason=reason[:240])

    def unhide(self, actor: User | None) -> None:
        self._flag(actor, "submission.unhide", "", hidden_at=None, hidden_reason="")

    def disqualify(self, actor: User | None, reason: str) -> None:
        """Take the entry off the boards. Where the public board shows it at this moment, all who see that board may read the reason."""
        now = timezone.now()
        is_shown = type(self).objects.filter(ELIGIBLE & in_time(self.phase, now), pk=self.pk).exists()
        in_public = is_shown and self.phase.has_opened(now) and self.phase.board_is_public(now)
        values = {"disqualified_at": now, "disqualified_reason": reason[:240], "disqualified_in_public": in_public}
        self._flag(actor, "submission.disqualify", reason, **values)

    def requalify(self, actor: User | None) -> None:
        self._flag(actor, "submission.requalify", "", disqualified_at=None, disqualified_reason="", disqualified_in_public=False)

    def mark(self, actor: User | None, *, is_baseline: bool | None = None, is_verified: bool | None = None) -> None:
        """Set the badges an organizer gives."""
        values = {k: v for k, v in {"is_baseline": is_baseline, "is_verified": is_verified}.items() if v is not None}
        self._flag(actor, "submission.mark", "", **values)

    def choose(self, now: datetime | None = None) -> None:
        """Make this the team's entry on a board that ranks chosen entries. The choice is final once the phase is decided: nobody chooses
        after reading its board."""
        if self.status != Status.SCORED or self.withdrawn_at:
            raise Refused("Only a scored entry that is not withdrawn can be chosen.", "not_scored")
        now = now or timezone.now()
        with transaction.atomic():
            Team.objects.select_for_update().get(pk=self.team_id)  # of two simultaneous choices the later one counts
            self.phase.lock()
            self.phase.refresh_from_db()
            if not self.phase.is_open(now) or self.phase.is_decided(now):
                raise Refused(f"{self.phase.title} is decided, so your team's choice can no longer change.", "choice_over")
            Submission.objects.filter(phase=self.phase, team=self.team, is_chosen=True).update(is_chosen=False)
            self._flag(is_chosen=True)

    def _flag(self, actor: User | None = None, action: str = "", reason: str = "", **values) -> None:
        with transaction.atomic():
            self.phase.lock()
            before = type(self).objects.values(*values).get(pk=self.pk)
            type(self).objects.filter(pk=self.pk).update(**values)
            self.phase.touch_board()
            if action:
                AuditEntry.record(self.phase.challenge, actor, action, self, reason=reason, submission=self.pk, before=before, after=values)
            worker_notify.after_commit("boards")
        self.refresh_from_db()

    # --- what people see -------------------------------------------------------------------

    @property
    def sent_at(self) -> datetime:
        """Moment of its receipt; of an upload that is not finished, of its beginning."""
        return self.received_at or self.created_at

    @property
    def is_done(self) -> bool:
        return self.status not in Status.in_progress()

    @property
    def card(self) -> list[tuple[EntryField, Any]]:
        """The card of its method: each field that its team states, with the value."""
        return [(field, value) for field in FIELDS.values() if field.card and (value := getattr(self, field.name))]

    @property
    def why(self) -> Why | None:
        """Reason for its status, as it is stored."""
        usual = {Status.REJECTED: Reason.PROBLEMS, Status.FAILED: Reason.OTHER}.get(self.status)
        reason = Reason(self.reason) if self.reason else usual
        if reason is None:
            return None
        numbers = {"n": self.n_problems} if reason == Reason.PROBLEMS else self.numbers
        return Why(reason, numbers, self.failure if self.status == Status.FAILED else "")

    @property
    def fault(self) -> str:
        """The cause of a failed entry, `service` or `entry`; empty for others."""
        return "" if self.status != Status.FAILED else "entry" if self.reason in OWN_FAULTS else "service"

    @property
    def state(self) -> EntryState:
        """State of the entry by its own columns. A flag set by organizers has priority over the team's, and both over its status."""
        if self.disqualified_at:
            return EntryState(State.DISQUALIFIED, note=self.disqualified_reason, since=self.disqualified_at)
        if self.hidden_at:
            return EntryState(State.HIDDEN, note=self.hidden_reason, since=self.hidden_at)
        if self.withdrawn_at:
            return EntryState(State.WITHDRAWN, since=self.withdrawn_at)
        if self.is_on_hold:
            return EntryState(State.ON_HOLD, self.why, until=self.confirm_until, zone=self.phase.time_zone)
        if self.status == Status.SCORED and not self.phase.is_measured_here:
            return EntryState(State.SCORED, Why(Reason.IMPORTED))
        zone = self.phase.time_zone if self.status == Status.REJECTED else "UTC"  # nothing else has moments
        is_checked = self.status in (Status.CLAIMED, Status.VALIDATING)
        return EntryState(State.CHECKING if is_checked else State(self.status), self.why, zone=zone)

    @property
    def file_note(self) -> str:
        """Time for which the uploaded file is kept, in a sentence; empty where that is for good."""
        if self.status == Status.CANCELLED and self.received_at:
            return "The file of a cancelled entry is removed; upload it again if you still want it scored."
        if self.status != Status.REJECTED:
            return ""
        days = _days(settings.KEEP_REJECTED_DAYS)
        if self.is_on_hold and self.file_key:
            return f"The file of an entry on hold is kept for {days}; then it is removed."
        if not self.file_key:
            return f"The file of this entry is no longer kept (at most {days}, less where a team has many); upload it again."
        return f"The file of this entry is kept for at most {days}, less where a team has many; then it is removed."

    def duplicates(self) -> models.QuerySet:
        """Earlier uploads of the same bytes by the same team, newest first."""
        if not self.sha256:
            return Submission.objects.none()
        return Submission.objects.filter(team=self.team, sha256=self.sha256, received_at__isnull=False, pk__lt=self.pk)

    @classmethod
    def sent_before(cls, entries: Iterable[Submission]) -> dict[int, Submission]:
        """By entry, the newest earlier one of its team with the same bytes; nothing for those that are new."""
        entries = list(entries)
        sent = cls.objects.filter(
            team__in={entry.team_id for entry in entries}, sha256__in={entry.sha256 for entry in entries} - {""}, received_at__isnull=False
        )
        before: dict[tuple[int, str], list[Submission]] = {}
        for other in sent.select_related("phase").defer("problems", "warnings", "missing_items", "failure_detail"):
            before.setdefault((other.team_id, other.sha256), []).append(other)  # newest first
        earlier = {entry.pk: [one for one in before.get((entry.team_id, entry.sha256), ()) if one.pk < entry.pk] for entry in entries}
        return {pk: found[0] for pk, found in earlier.items() if found}


def _days(number: float) -> str:
    return f"{number:g} day{'' if number == 1 else 's'}"

"""Metric programs that organizers bring: their files, versions, the checks on arrival, and the spec that the registry asks for."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from evaluation import removed_metrics
from evaluation.metrics import registry
from evaluation.metrics.column import Column
from evaluation.metrics.spec import MetricSpec
from evaluation.models.definition import PhaseMetric, Reference
from evaluation.models.process import Process
from evaluation.models.runs import Run
from evaluation.programs import files, sandbox
from evaluation.programs.document import MetricDocument, ProgramError, environment_of
from evaluation.programs.files import ProgramFiles
from evaluation.programs.results import Cause
from submissions import worker_notify
from submissions.choices import TextChoices
from submissions.entry_states import Why
from submissions.errors import Refused
from submissions.leases import LeasedQuerySet
from submissions.models import AuditEntry, Challenge, User
from submissions.storage import stored_files

KNOWN_SECONDS = 1.0  # a spec that was looked up is not looked up again for so long
CHECKS = ("run", "determinism")  # beside the document, those that decide whether it may score


class MetricProgramQuerySet(LeasedQuerySet):
    def waiting(self, device: str | None = None) -> Self:
        """Programs that have not been checked yet, first the one whose last slice was longest ago; only for the device, if one is named."""
        rows = self.filter(state=MetricProgram.State.WAITING).order_by("touched_at", "id")
        return rows if device is None else rows.filter(document__device=device)

    def on_cards(self) -> Self:
        """Programs that need a graphics card."""
        return self.filter(document__device="gpu")

    def newest(self) -> Self:
        """The newest version of each program that may score."""
        ready = self.filter(state=MetricProgram.State.READY)
        later = ready.filter(scope=models.OuterRef("scope"), key=models.OuterRef("key"), version__gt=models.OuterRef("version"))
        return ready.filter(~models.Exists(later)).order_by("key")


class MetricProgram(Run):
    """One version of a program. `scope` precedes its key: the challenge's address for an organizer's, another word for an entrant's.

    A worker checks it after it has arrived, a slice at a time. `report` has the findings of each check, and `under_way` those of the
    next one so far, so a worker that dies loses one slice at most. Only a program that passed all checks may score.
    An entrant's program is checked on generated models, so nothing that it says can be of the hidden reference. `report` and `failure`
    quote it and are for organizers; its entrant may read `cause`.
    """

    class State(TextChoices):
        WAITING = "waiting", "Being checked"
        READY = "ready", "May score"
        FAILED = "failed", "Cannot score"

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="programs")
    scope = models.CharField(max_length=63)
    key = models.CharField(max_length=40)
    version = models.PositiveIntegerField()
    document = models.JSONField()  # MetricDocument.to_dict()
    contents = models.CharField(max_length=64)  # sha256 over names and contents of the files
    file_key = models.CharField(max_length=255)  # in submissions.storage.stored_files
    size = models.PositiveBigIntegerField()
    n_files = models.PositiveIntegerField()
    is_public = models.BooleanField(default=False, help_text="Everybody may download its files.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING, db_index=True)
    report = models.JSONField(default=dict, blank=True)  # by check: arrival.Check.to_dict()
    cause = models.CharField(max_length=10, blank=True)  # `Cause` why it cannot score
    # The check under way, once it had a slice: what it is `of`, and what its `calls` have answered, as evaluation.programs.slices keeps it.
    under_way = models.JSONField(default=dict, blank=True)
    touched_at = models.DateTimeField(default=timezone.now)  # when it last had a slice, or when it came
    environment = models.JSONField(default=dict, blank=True)  # versions of the interpreter and of packages that it was checked with

    doing = "checking this metric program"
    objects = MetricProgramQuerySet.as_manager()

    class Meta:
        ordering = ["key", "-version"]
        constraints = [models.UniqueConstraint(fields=["scope", "key", "version"], name="program_version_once")]

    def __str__(self) -> str:
        return f"{self.full_key} v{self.version} ({self.state})"

    @property
    def full_key(self) -> str:
        return f"{self.scope}/{self.key}"

    @property
    def is_entrants(self) -> bool:
        """True if it came as an entry, of somebody who may not see the challenge's reference."""
        return self.scope != self.challenge.slug

    @property
    def read(self) -> MetricDocument:
        """The document as a record."""
        return MetricDocument.from_dict(self.document)

    @property
    def spec(self) -> MetricSpec:
        return self.read.spec(self.scope, self.contents)

    @property
    def is_newest(self) -> bool:
        """True if this is what the registry knows by its key."""
        found = registry.find(self.full_key)
        return found is not None and found.contents == self.contents and found.version == self.version

    @property
    def environment_changed(self) -> bool:
        """True if this machine has other versions of packages than those that the program was checked with."""
        if not self.environment or self.read.run == "image":
            return False
        try:
            return self.environment != environment_of(self.read.packages)
        except PackageNotFoundError:  # a web server that runs no program
            return False

    @classmethod
    def newest_of(cls, challenge: Challenge) -> list[MetricProgram]:
        """The newest version of each of the organizer's programs, in any state, by key."""
        return list(
            {row.key: row for row in cls.objects.filter(challenge=challenge, scope=challenge.slug).order_by("key", "version")}.values()
        )

    @property
    def waits_for_card(self) -> bool:
        """True if nothing of it can be done now, because it needs a graphics card and no worker of the queue gpu is there."""
        return self.read.device == "gpu" and not Process.objects.listeners()["gpu"]

    @property
    def progress(self) -> tuple[int, int]:
        """Number of the deciding checks that have been done, and of all of them."""
        return len(self.report), len(CHECKS)

    @classmethod
    def add(
        cls, challenge: Challenge, path: Path, name: str, actor: User | None, *, scope: str = "", is_public: bool = False
    ) -> MetricProgram:
        """The program in a zip or folder that was sent as `name`, stored and to be checked. An existing version is not added twice.
        `Refused` in one sentence where it cannot be."""
        try:
            # With workers of their own the web server has neither their packages nor their sandbox: they say what is missing.
            found = files.read(path, name, here=not settings.BROKER_URL)
        except ProgramError as error:
            raise Refused(str(error), "wrong_program") from None
        return cls.take(challenge, found, actor, scope=scope, is_public=is_public)

    @classmethod
    def take(
        cls, challenge: Challenge, found: ProgramFiles, actor: User | None, *, scope: str = "", is_public: bool = False
    ) -> MetricProgram:
        """`add` for files that were read."""
        found = found.of_kind(challenge.family)
        document, scope = found.document, scope or challenge.slug
        if document.kind != challenge.family:
            raise Refused(
                f"{files.document.FILE}: kind is {document.kind}, and this challenge takes {challenge.kind.plural}.", "wrong_kind"
            )
        if document.device == "gpu" and not settings.GPU_WORKERS and not Process.objects.listeners()["gpu"]:
            raise Refused(
                f"{files.document.FILE}: device is gpu, and no worker of this service has a graphics card (none listens to the queue gpu); "
                "use cpu, or ask its operator for one.",
                "no_gpu",
            )
        if not settings.BROKER_URL and (refusal := sandbox.refusal(document.run, document.device)):
            raise Refused(refusal, "no_sandbox")
        with transaction.atomic():
            Challenge.objects.select_for_update().get(pk=challenge.pk)
            same = cls.objects.filter(scope=scope, key=document.key).order_by("-version")
            newest = same.first()
            if newest is not None and newest.contents == found.digest and newest.version == document.version:
                if newest.state == cls.State.FAILED:
                    newest.restart()
                return newest
            if newest is not None and document.version <= newest.version:
                raise Refused(
                    f"Version {newest.version} of {document.key} already exists with other files; raise version in {files.document.FILE} "
                    f"to {newest.version + 1}.",
                    "version_taken",
                )
            primary = PhaseMetric.objects.filter(key=f"{scope}/{document.key}", is_primary=True).select_related("phase").first()
            if primary is not None and document.worst is None:
                raise Refused(
                    f"{files.document.FILE}: worst is null, and {document.key} is the primary metric of the phase {primary.phase.slug}. "
                    "Give worst a number, or make another metric primary first.",
                    "primary_metric",
                )
            return cls._stored(challenge, scope, found, actor, is_public)

    @classmethod
    def _stored(cls, challenge: Challenge, scope: str, found: ProgramFiles, actor: User | None, is_public: bool) -> MetricProgram:
        document, data = found.document, found.archive()
        key = f"programs/{scope}/{document.key}-{document.version}-{found.digest[:16]}.zip"
        stored_files.store().save_bytes(key, data)
        row = cls.objects.create(
            challenge=challenge,
            scope=scope,
            key=document.key,
            version=document.version,
            document=document.to_dict(),
            contents=found.digest,
            file_key=key,
            size=len(data),
            n_files=len(found.contents),
            created_by=actor,
            is_public=is_public,
        )
        AuditEntry.record(challenge, actor, "program.add", row, key=document.key, version=document.version, sha256=found.digest)
        worker_notify.after_commit("gpu" if document.device == "gpu" else "work")
        return row

    def restart(self) -> bool:
        """Check it again from the start; False while a worker is checking it."""
        rows = type(self).objects.filter(pk=self.pk).unleased()
        again: dict[str, Any] = {"report": {}, "cause": "", "under_way": {}, "environment": {}, "finished_at": None}
        done = bool(rows.update(state=self.State.WAITING, **again, **self.ANEW))
        if done:
            forget()
            worker_notify.after_commit("gpu" if self.read.device == "gpu" else "work")
        return done

    def publish(self, is_public: bool, actor: User | None) -> None:
        """Let everybody download the files, or nobody but organizers."""
        type(self).objects.filter(pk=self.pk).update(is_public=is_public)
        self.is_public = is_public
        AuditEntry.record(self.challenge, actor, "program.publish", self, key=self.key, version=self.version, public=is_public)

    def remove(self, actor: User | None) -> None:
        """Take the version and its files away; `Refused` while a column of a phase, or a board's batch, is of the program."""
        from evaluation.models.batch import EvaluationBatch  # which imports this file

        batches = EvaluationBatch.objects.filter(phase__challenge=self.challenge).values_list("metrics", flat=True)
        in_batches = any(column["key"] == self.full_key for metrics in batches for column in metrics)
        if PhaseMetric.objects.filter(key=self.full_key).exists() or in_batches:
            raise Refused(
                f"{self.read.title} has values in a phase; they would be without their program. Take it out of the phase.", "in_use"
            )
        with transaction.atomic():
            AuditEntry.record(self.challenge, actor, "program.remove", self, key=self.key, version=self.version)
            file_key = self.file_key
            self.delete()
            transaction.on_commit(lambda: stored_files.try_delete(file_key))
        forget()

    # --- for workers

    def reference(self) -> Reference | None:
        """The reference that it is checked on, the newest of the challenge's first phase that has one; None where that is generated
        models: for an entrant's program, and before there is a reference."""
        if self.is_entrants:
            return None
        return Reference.objects.filter(phase__challenge=self.challenge).order_by("phase__position", "phase_id", "-version").first()

    @property
    def next_check(self) -> str:
        """The check that comes next; empty after the last."""
        return next((name for name in CHECKS if name not in self.report), "")

    def keep_slice(self, of: list[Any], calls: list[Any]) -> bool:
        """A slice of a check was done: keep what its calls have answered, and let go. False: the lease was lost, nothing was written."""
        rows = self.under_lease().filter(state=self.State.WAITING)
        return bool(rows.update(under_way={"of": of, "calls": calls}, touched_at=timezone.now(), **self.ANEW))

    def keep(self, check: str, found: dict[str, Any]) -> bool:
        """A check was done: keep what it found, and let go. False: the lease was lost, nothing was written."""
        report = {**self.report, check: found}
        failed = not found["passed"]
        done = failed or all(name in report for name in CHECKS)
        state = self.State.FAILED if failed else self.State.READY if done else self.State.WAITING
        ended = (
            {"finished_at": timezone.now(), "environment": environment_of(self.read.packages) if self.read.run != "image" else {}}
            if done
            else {}
        )
        # An error output says at its end what happened.
        sentence = found["sentence"]
        words = sentence if len(sentence) <= 400 else f"{sentence[:150]} … {sentence[-247:]}"
        failure = {"failure": words, "cause": found["cause"] or Cause.CHECK} if failed else {}
        values = {"report": report, "under_way": {}, "touched_at": timezone.now(), "state": state, **self.ANEW, **ended, **failure}
        kept = bool(self.under_lease().filter(state=self.State.WAITING).update(**values))
        if kept and done:
            forget()
        return kept

    def give_up(self, why: Why, detail: str) -> None:
        """Fail it for good because it could not be checked."""
        self.under_lease().update(cause=Cause.SERVICE)
        super().give_up(why, detail)

    def folder(self) -> Path:
        """The files on this machine, unpacked once."""
        place = settings.HOME / "programs" / self.contents
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            fresh = Path(tempfile.mkdtemp(dir=place.parent, prefix="new-"))
            try:
                files.read(stored_files.store().local_path(self.file_key), "program.zip").unpack(fresh)
                fresh.chmod(0o755)
                fresh.rename(place)
            except OSError:
                shutil.rmtree(fresh, ignore_errors=True)
                if not place.exists():  # another worker was quicker
                    raise
        return place

    def order(self) -> dict[str, Any]:
        """Description of the program for the limited process that runs it."""
        return {"scope": self.scope, "contents": self.contents, "document": self.document, "folder": str(self.folder())}

    @classmethod
    def orders(cls, columns: Iterable[Column]) -> list[dict[str, Any]]:
        """`order` of each program among the columns of a batch, by key and digest."""
        return [row.order() for row in cls.of_columns(columns)]

    @classmethod
    def of_columns(cls, columns: Iterable[Column]) -> list[MetricProgram]:
        """Each program among the columns of a batch, by key and digest. OtherDefinition where one is not here any more."""
        wanted = {(column.key, column.weights_sha256) for column in columns if column.is_program}
        found = []
        for key, contents in sorted(wanted, key=str):
            scope, _, name = key.partition("/")
            row = cls.objects.filter(scope=scope, key=name, contents=contents or registry.get(key).contents).order_by("-version").first()
            if row is None:
                raise registry.OtherDefinition(f"The files of {key} are not here any more; re-evaluate the phase.")
            found.append(row)
        return found


_known: dict[str, tuple[float, MetricSpec | None]] = {}


def forget() -> None:
    """Look every program up again: one has come, changed or gone."""
    _known.clear()


def spec_of(key: str) -> MetricSpec | None:
    """The spec of the newest version of a program that may score, or of a removed metric; None where there is none."""
    if "/" not in key:
        return removed_metrics.SPECS.get(key)
    found = _known.get(key)
    if found is None or found[0] < time.monotonic():
        scope, _, name = key.partition("/")
        row = MetricProgram.objects.newest().filter(scope=scope, key=name).first()
        found = _known[key] = (time.monotonic() + KNOWN_SECONDS, None if row is None else row.spec)
    return found[1]

"""`manage.py reevaluate CHALLENGE PHASE`: score all entries again under the phase's metrics as they stand; `reevaluate --outdated`:
of all phases whose boards have values of older versions of their metrics."""

from __future__ import annotations

import time

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from evaluation.models import EvaluationBatch
from leaderboard.console.acts import reevaluate, reevaluate_outdated
from submissions.errors import Refused
from submissions.models import Phase


class Command(BaseCommand):
    help = "Plan a new batch; the board switches in one step when every entry is scored. Quota and times do not change."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("challenge", nargs="?", help="The challenge's slug.")
        parser.add_argument("phase", nargs="?", help="The phase's slug.")
        parser.add_argument("--outdated", action="store_true", help="All phases with values of older versions of their metrics.")
        parser.add_argument("--reason", default="", help="Kept in the audit log.")
        parser.add_argument("--wait", action="store_true", help="Show progress until the board has switched.")

    def handle(self, *args, challenge: str | None, phase: str | None, outdated: bool, reason: str, wait: bool, **options) -> None:
        if outdated == bool(challenge) or bool(challenge) != bool(phase):
            raise CommandError("Name a challenge and a phase, as in `reevaluate rooflines final`, or ask for all with --outdated.")
        one = [self._one(challenge, phase, reason)] if challenge and phase else None
        begun, refused = reevaluate_outdated(None, reason) if one is None else (one, [])
        for batch in begun:
            n = batch.progress()["total"]
            self.stdout.write(f"Batch {batch.pk}: {n} entries of {batch.phase}, {len(batch.metrics)} metrics, reference v{batch.version}.")
        if not begun and not refused:
            self.stdout.write("All phases are scored with the current versions of their metrics.")
        if wait:
            for batch in begun:
                self._follow(batch)
        if refused:
            raise CommandError("\n".join(f"{phase}: {sentence}" for phase, sentence in refused))

    def _one(self, challenge: str, phase: str, reason: str) -> EvaluationBatch:
        row = Phase.objects.filter(challenge__slug=challenge, slug=phase).first()
        if row is None:
            raise CommandError(f"There is no phase {challenge}/{phase}; check both slugs in the phase's address.")
        try:
            return reevaluate(row, reason, None)
        except Refused as error:
            raise CommandError(error.sentence) from error

    def _follow(self, batch: EvaluationBatch) -> None:
        with tqdm(total=batch.progress()["total"], unit="entry") as bar:
            while True:
                batch.refresh_from_db()
                progress = batch.progress()
                bar.update(progress["done"] - bar.n)
                if batch.state != EvaluationBatch.State.BUILDING:
                    break
                if progress["failed"] and progress["done"] + progress["failed"] == progress["total"]:
                    raise CommandError(
                        f"{progress['failed']} entries failed and hold the switch back; retry or exclude them in the console."
                    )
                time.sleep(1)
        self.stdout.write(
            f"The board shows batch {batch.pk}." if batch.state == EvaluationBatch.State.CURRENT else f"Batch {batch.pk} was {batch.state}."
        )

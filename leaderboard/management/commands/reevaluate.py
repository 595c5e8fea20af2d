"""`manage.py reevaluate CHALLENGE PHASE`: score all entries again under the phase's metrics as they stand."""

from __future__ import annotations

import time

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from evaluation.models import EvaluationBatch
from submissions.errors import Refused
from submissions.models import Phase


class Command(BaseCommand):
    help = "Plan a new batch; the board switches in one step when every entry is scored. Quota and times do not change."

    def add_arguments(self, parser) -> None:
        parser.add_argument("challenge", help="The challenge's slug.")
        parser.add_argument("phase", help="The phase's slug.")
        parser.add_argument("--reason", default="", help="Kept in the audit log.")
        parser.add_argument("--wait", action="store_true", help="Show progress until the board has switched.")

    def handle(self, *args, challenge: str, phase: str, reason: str, wait: bool, **options) -> None:
        row = Phase.objects.filter(challenge__slug=challenge, slug=phase).first()
        if row is None:
            raise CommandError(f"There is no phase {challenge}/{phase}; check both slugs in the phase's address.")
        try:
            batch = EvaluationBatch.start(row, reason=reason)
        except Refused as error:
            raise CommandError(error.sentence) from error
        progress = batch.progress()
        self.stdout.write(
            f"Batch {batch.pk}: {progress['total']} entries of {row}, {len(batch.metrics)} metrics, reference v{batch.reference.version}."
        )
        if wait:
            self._follow(batch)

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

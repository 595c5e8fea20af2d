"""`manage.py reevaluate CHALLENGE PHASE`: score all entries again under the phase's current metrics; `reevaluate --outdated`: of all phases
whose boards have values of older versions of their metrics."""

from __future__ import annotations

import time

from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from evaluation.models import EvaluationBatch
from leaderboard.console.acts import reevaluate, reevaluate_outdated
from leaderboard.wording.nouns import counted, verb
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
        if outdated:
            begun, refused = reevaluate_outdated(None, reason)
        else:
            row = Phase.objects.filter(challenge__slug=challenge, slug=phase).first()
            if row is None:
                raise CommandError(f"There is no phase {challenge}/{phase}; check both slugs in the phase's address.")
            try:
                begun, refused = [reevaluate(row, reason, None)], []
            except Refused as error:
                raise CommandError(error.sentence) from error
        for batch in begun:
            n = batch.progress()["total"]
            self.stdout.write(
                f"Batch {batch.pk}: {counted(n, 'entry')} of {batch.phase}, {counted(len(batch.metrics), 'metric')}, "
                f"reference v{batch.version}."
            )
        if not begun and not refused:
            self.stdout.write("All phases are scored with the current versions of their metrics.")
        for batch in begun if wait else ():
            with tqdm(total=batch.progress()["total"], unit="entry") as bar:
                while True:
                    batch.refresh_from_db()
                    progress = batch.progress()
                    failed = progress["failed"]
                    bar.update(progress["done"] - bar.n)
                    if batch.state != EvaluationBatch.State.BUILDING:
                        break
                    if failed and progress["done"] + failed == progress["total"]:
                        words = f"{counted(failed, 'entry')} failed and {verb('holds', failed)} the switch back"
                        raise CommandError(f"{words}; retry or leave out such entries in the console.")
                    time.sleep(1)
            is_current = batch.state == EvaluationBatch.State.CURRENT
            self.stdout.write(f"The board shows batch {batch.pk}." if is_current else f"Batch {batch.pk} was {batch.state}.")
        if refused:
            raise CommandError("\n".join(f"{phase}: {sentence}" for phase, sentence in refused))

"""`manage.py reread`: read the files of entries again that an earlier version read as other numbers, and prepare their re-evaluation."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from evaluation.work import rereading
from leaderboard.wording.nouns import counted, verb
from submissions.errors import Refused
from submissions.models import Phase


class Command(BaseCommand):
    help = (
        "Find entries and references that an earlier version misread. If an entry changes, all entries of its phase are scored "
        "again beside the board, and its organizers switch to the new values."
    )

    def handle(self, *args, **options) -> None:
        phases = rereading.stale_phases()
        if not phases:
            self.stdout.write("All entries and references were read by today's readers.")
        held, untold = [], []
        for phase in phases:
            with tqdm(total=rereading.stale_entries().filter(phase=phase).count(), unit="entry", desc=str(phase), disable=None) as bar:
                try:
                    found = rereading.read_anew(phase, bar.update)
                    self._tell(phase, found)
                    untold += [f"version {reference.version} of {phase}" for reference in found.untold]
                except Refused as error:
                    held.append(error.sentence)
        if untold:
            self.stdout.write(
                f"Nobody can tell whether these references were read rightly: {', '.join(untold)}.\n"
                "Ask their organizers to upload the files again where they hold colour profiles, 16-bit transparency or an orientation."
            )
        if held:
            raise CommandError("\n".join(held))

    def _tell(self, phase: Phase, found: rereading.Found) -> None:
        lines = [f"{phase}: {counted(len(found.changed), 'entry')} changed, {found.same} {verb('is', found.same)} the same."]
        if found.batch is not None:
            total = found.batch.progress()["total"]
            lines.append(
                f"Batch {found.batch.pk} scores {counted(total, 'entry')}; organizers switch to it, or drop it, on the page Scoring."
            )
        for reference in found.misread:
            n = len(reference.misread)
            lines.append(f"Version {reference.version} of the reference looks wrong in {counted(n, 'item')}; upload its files again.")
        for entry, reason in found.refused:
            lines.append(f"Entry {entry.number} keeps its values, because it cannot be read any more: {reason}")
        for entry in found.without_file:
            lines.append(f"Entry {entry.number} keeps its values, because its file is not kept; ask its team to upload it again.")
        self.stdout.write("\n  ".join(lines))

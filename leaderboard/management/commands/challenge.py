"""A challenge as code: `challenge plan DIR`, `challenge apply DIR`, `challenge export SLUG DIR`."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation import reference_warnings
from leaderboard.bundle.accounts import with_accounts
from leaderboard.bundle.apply import PlanChanged, apply, plan_for
from leaderboard.bundle.export import export
from leaderboard.bundle.parse import parse
from leaderboard.bundle.show import lines
from leaderboard.bundle.state import read
from submissions.errors import Refused
from submissions.formats.yaml_document import DocumentError
from submissions.models import Challenge
from submissions.storage.store import StorageError


class Command(BaseCommand):
    help = "Compare a challenge with a folder (plan), apply the folder (apply), or write the challenge into a folder (export)."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        plan = acts.add_parser("plan", help="print what apply would do")
        plan.add_argument("folder", type=Path)
        apply_ = acts.add_parser("apply", help="make the challenge what the folder says")
        apply_.add_argument("folder", type=Path)
        apply_.add_argument("--yes", action="store_true", help="do not ask")
        export_ = acts.add_parser("export", help="write the challenge into a new folder")
        export_.add_argument("slug")
        export_.add_argument("folder", type=Path)

    def handle(self, act: str, folder: Path, **options) -> None:
        try:
            if act == "export":
                challenge = Challenge.objects.filter(slug=options["slug"]).first()
                if challenge is None:
                    known = ", ".join(Challenge.objects.values_list("slug", flat=True)[:20]) or "none"
                    raise CommandError(f"There is no challenge “{options['slug']}” here; there are: {known}.")
                export(read(challenge), folder)
                self.stdout.write(f"{options['slug']} is in {folder}.")
                return

            definition = with_accounts(parse(folder))
            plan = plan_for(definition)
            for line in lines(plan):
                self.stdout.write(line)
            if plan.refusals:
                raise CommandError("Nothing was changed.")
            for phase in definition.phases if not plan.is_empty else ():
                columns = [(metric.key, metric.params) for metric in phase.metrics]
                for doubt in reference_warnings.of(definition.family, phase.reference.load(), columns) if phase.reference else ():
                    self.stdout.write(f"! phase {phase.slug}: {doubt}")
            if act != "apply" or plan.is_empty:
                return
            try:
                if not options["yes"] and input("Make it so? [y/N] ").strip().lower() not in ("y", "yes"):
                    raise CommandError("Nothing was changed.")
            except EOFError:
                raise CommandError("Nobody can be asked here; give --yes to apply the plan. Nothing was changed.") from None
            apply(definition, expected=plan.digest)
            self.stdout.write("Done.")
        except DocumentError as error:
            n = len(error.problems)
            raise CommandError(f"{error}\n{n} {'problem' if n == 1 else 'problems'} in {folder}; nothing was changed.") from None
        except (Refused, StorageError) as error:
            raise CommandError(str(error)) from None
        except PlanChanged:
            raise CommandError("The challenge was changed by somebody else meanwhile; look at the plan again.") from None

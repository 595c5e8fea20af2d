"""`prompts`: texts to make 3D objects from, drawn by chance or asked of the judge model."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.models import JudgeBudget
from leaderboard.studies.judge import prompts, setup
from leaderboard.studies.judge.paid import PaidClient
from leaderboard.studies.judge.prompts import LEVELS, AskError, PromptError, Wanted, ask_for
from submissions.errors import Refused
from submissions.models import Challenge, User


class Command(BaseCommand):
    help = "Write prompts.json: texts to make 3D objects from, as a reference of generated objects has it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--count", type=int, default=110)
        parser.add_argument("--complexity", choices=LEVELS, default="medium")
        parser.add_argument("--creativity", choices=LEVELS, default="medium")
        parser.add_argument("--max-words", type=int, default=25)
        parser.add_argument("--subject", action="append", default=[], help="only this kind of subject; may be given again")
        parser.add_argument("--example", action="append", default=[], help="a text to show the model; may be given again")
        parser.add_argument("--seed", type=int, default=0, help="of the offline draw")
        parser.add_argument(
            "--model", nargs="?", const="", default=None, metavar="NAME", help="ask the judge's endpoint instead of drawing"
        )
        parser.add_argument("--challenge", default="", metavar="CHALLENGE", help="the challenge whose budget for judge models pays")
        parser.add_argument("--organizer", default="", metavar="ACCOUNT", help="or the account whose budget pays")
        parser.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")

    def handle(self, **options) -> None:
        try:
            examples = {"examples": tuple(options["example"])} if options["example"] else {}
            wanted = Wanted(
                options["count"], options["complexity"], options["creativity"], options["max_words"], tuple(options["subject"]), **examples
            )
            if options["model"] is None:
                texts = prompts.offline(wanted, options["seed"])
            else:
                endpoint = setup.endpoint(options["model"])
                if endpoint is None:
                    raise CommandError(setup.MISSING)
                payer = _payer(options["challenge"], options["organizer"])
                texts = ask_for(wanted, PaidClient(endpoint, prompts.PATIENCE, payer))
                self.stderr.write(JudgeBudget.of(payer).sentence)
        except (PromptError, AskError, Refused) as error:
            raise CommandError(str(error)) from None
        if options["out"] is None:
            self.stdout.write(prompts.as_json(texts), ending="")
            return
        options["out"].write_text(prompts.as_json(texts), encoding="utf-8")
        self.stdout.write(f"{len(texts)} texts are in {options['out']}.")


def _payer(challenge: str, organizer: str) -> Challenge | User:
    """The payer of the model's budget; CommandError, in a sentence, if none is named or none is possible."""
    if bool(challenge) == bool(organizer):
        raise CommandError("Name whose budget for judge models pays: either --challenge CHALLENGE or --organizer ACCOUNT.")
    if organizer:
        account = User.objects.named(organizer)
        if not JudgeBudget.belongs_to(account):
            raise CommandError(f"{account} organizes no challenge and so has no budget for judge models; name an organizer or a challenge.")
        return account
    found = Challenge.objects.filter(slug=challenge).first()
    if found is None:
        raise CommandError(f"There is no challenge {challenge!r}; name it by the word in its address.")
    return found

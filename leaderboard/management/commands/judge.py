"""`judge CHALLENGE/PHASE/STUDY`: have a judge model compare a study's entries, here and now, or write down what it would be shown."""

from __future__ import annotations

import time
from decimal import Decimal, InvalidOperation
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from tqdm import tqdm

from evaluation.work.heartbeat import process_name
from leaderboard.models import JudgeRun, Study
from leaderboard.models.judge_budget import money
from leaderboard.studies.judge import planning, setup
from leaderboard.studies.judge.answers import scores_of
from leaderboard.studies.judge.materials import Materials
from leaderboard.studies.judge.planning import Wish
from leaderboard.studies.judge.run import work_on
from submissions.wording import failed

BUDGET = 2000
SHOWN = 3  # of each kind of question, in a dry run


def _amount(text: str) -> Decimal:
    """An amount of money; ValueError for what is none."""
    try:
        amount = Decimal(text)
        if amount.is_finite() and amount >= 0 and amount == amount.quantize(Decimal("0.0001")):
            return amount
    except InvalidOperation:
        pass
    raise ValueError(text)


class Command(BaseCommand):
    help = "Have a judge model compare the entries of a study, until all is answered or the budget is used up."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="CHALLENGE/PHASE/STUDY")
        parser.add_argument("--model", default="", help="default: PLUMBLINE_JUDGE_MODEL")
        parser.add_argument("--plan", default="", help="default: ensemble, or wireframe where entries are wireframes")
        parser.add_argument("--budget", type=int, help="most requests (default: 2,000, or what a resumed run has)")
        parser.add_argument("--most-cost", type=_amount, help="stop before the answers can have cost more than that")
        parser.add_argument("--choices", type=int, default=3, help="texts asked for in each request (default: 3)")
        parser.add_argument("--repeats", type=int, default=1, help="requests per comparison, for plans without fixed counts")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--anchor", default="", metavar="ENTRY", help="entry whose Elo is 1000; default: the first by name")
        parser.add_argument("--newcomer", default="", metavar="ENTRY", help="ask about this entry only; with --base")
        parser.add_argument("--base", type=int, metavar="RUN", help="the run among whose scores the newcomer is placed")
        parser.add_argument("--resume", type=int, metavar="RUN", help="continue that run")
        parser.add_argument("--dry-run", type=Path, metavar="DIR", help="ask nothing; write the first images and texts of each kind there")

    def handle(self, *, study: str, **options) -> None:
        challenge, _, rest = study.partition("/")
        phase, _, slug = rest.partition("/")
        rows = Study.objects.select_related("phase__challenge")
        row = rows.filter(phase__challenge__slug=challenge, phase__slug=phase, slug=slug).first()
        if row is None:
            raise CommandError(f"There is no study {study!r}; name it as CHALLENGE/PHASE/STUDY, by the words in its address.")
        try:
            if options["dry_run"]:
                self._dry_run(row, options)
            else:
                self._ask(row, options)
        except ValueError as error:
            raise CommandError(str(error)) from None

    def _wish(self, study: Study, options: dict) -> Wish:
        newcomer = study.entries.filter(label=options["newcomer"]).first() if options["newcomer"] else None
        if options["newcomer"] and newcomer is None:
            raise ValueError(f"There is no entry {options['newcomer']!r} in the study.")
        base = study.judge_runs.filter(pk=options["base"]).first() if options["base"] else None
        if options["base"] and base is None:
            raise ValueError(f"There is no run {options['base']} of this study.")
        known = planning.plans(study.phase.challenge.family)
        return Wish(
            options["plan"] or next(iter(known)),
            options["budget"] or BUDGET,
            options["seed"],
            options["choices"],
            options["repeats"],
            options["most_cost"],
            base,
            newcomer,
            options["anchor"],
        )

    def _dry_run(self, study: Study, options: dict) -> None:
        materials = Materials(study)
        rows, schedule = planning.plan(study, self._wish(study, options), materials)
        entries = {entry.label: entry for entry in study.entries.select_related("submission")}
        folder: Path = options["dry_run"]
        folder.mkdir(parents=True, exist_ok=True)
        written = 0
        for number, row in enumerate(rows):
            for n, one in enumerate([one for one in schedule.comparisons if one.row == number][:SHOWN], 1):
                name = f"{number:02}-{n}"
                (folder / f"{name}.png").write_bytes(materials.image(row, one.sample, entries[one.left], entries[one.right]))
                (folder / f"{name}.txt").write_text(materials.instruction(row, one.sample) + "\n")
                written += 1
        self.stdout.write(
            f"{len(schedule.comparisons):,} comparisons in {schedule.requests:,} requests, {schedule.skipped:,} skipped for want of a "
            f"sample; {written} images and texts are in {folder}. Nothing was asked."
        )

    def _ask(self, study: Study, options: dict) -> None:
        model = options["model"] or settings.JUDGE_MODEL
        if setup.endpoint(model) is None and not options["resume"]:
            raise CommandError(setup.MISSING)
        if options["resume"]:
            run = study.judge_runs.filter(pk=options["resume"]).first()
            if run is None:
                raise CommandError(f"There is no run {options['resume']} of this study.")
        else:
            run = planning.make(study, None, model, self._wish(study, options))
        planning.begin(run, None, options["budget"])
        with tqdm(total=run.n_planned, initial=run.n_planned - run.left, unit="question", disable=None) as bar:
            # Turn after turn until the run is not wanted any more; a run that another worker has is waited for.
            while JudgeRun.objects.filter(pk=run.pk, state=JudgeRun.State.ASKING).exists():
                claimed = JudgeRun.objects.waiting().filter(pk=run.pk).claim(process_name())
                if claimed is None:
                    time.sleep(0.5)
                    continue
                work_on(claimed, progress=lambda: bar.update(1))
        run.refresh_from_db()
        cost = f", {money(run.counted)}" if not run.n_uncosted else ""
        self.stdout.write(
            f"Run {run.pk}: {run.get_state_display().lower()}. {run.n_answered:,} of {run.n_planned:,} questions are answered, "
            f"{run.n_failed:,} failed; {run.requests:,} requests{cost}. {failed(run)}".rstrip()
        )
        for criterion, scores in scores_of(run).items():
            for row in scores.rows:
                elo = "no score" if row.elo is None else f"{row.elo:.1f}"
                self.stdout.write(f"{criterion:28} {row.method[:40]:40} {elo:>8}")
        if run.state != JudgeRun.State.DONE:
            raise CommandError(f"Not all is answered; `--resume {run.pk}` goes on, with a larger --budget if that was used up.")

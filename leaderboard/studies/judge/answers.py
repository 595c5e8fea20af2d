"""A judge's answers: the scores that are computed of them, and a table that reads as votes.

In the table every text on each criterion has a line. All texts count in a judge's scores, but only the first of one rater's votes
on a question counts. So the first text on a pair of a sample is listed under the rater "JUDGE, text 1", the next one, of any
comparison, under "JUDGE, text 2", and so on. The Elo of these votes is the judge's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from typing import Any, Self

from django.db.models import QuerySet

from leaderboard.models import JudgeAnswer, JudgeRun, Study
from leaderboard.models.money import plain
from leaderboard.records.record import Record
from leaderboard.records.study import HIDDEN_NAME
from leaderboard.stats import judges
from leaderboard.stats import votes as voting
from leaderboard.stats.judges import JudgeAnswers, Judged, JudgeScores, MethodScore
from leaderboard.stats.votes import Vote
from leaderboard.studies.judge.instructions import KEYS, Row
from leaderboard.studies.judge.materials import Materials

CHOICES = {-1: "left", 0: "tie", 1: "right"}
# `requests` to `cost` and `instruction` are of a whole comparison and stand on its first line alone, so that they add up.
MORE = ("judge", "model", "run", "comparison", "text", "shown", "requests", "tokens_in", "tokens_out", "cost", "prompt", "instruction")


class CriterionScores(Record):
    """The scores of a run on one criterion, best first."""

    anchor: str
    rows: list[MethodScore]

    def without(self, labels: Collection[str]) -> Self:
        """Nothing of the methods called so."""
        rows = [row for row in self.rows if row.method not in labels]
        return self.model_copy(update={"rows": rows, "anchor": HIDDEN_NAME if self.anchor in labels else self.anchor})


def scores_of(run: JudgeRun) -> dict[str, CriterionScores]:
    """The run's scores by criterion, in the study's order of criteria."""
    stored = (run.result or {}).get("criteria", {})
    return {key: CriterionScores.model_validate(stored[key]) for key in run.study.in_order(stored)}


def judged(runs: Iterable[JudgeRun]) -> dict[str, list[Judged]]:
    """The answers on each criterion in all of these runs."""
    by_criterion: dict[str, list[Judged]] = {}
    for run in runs:
        rows = run.questions
        answers = run.answers.filter(state="answered").values_list("row", "sample", "left__label", "right__label", "said")
        for number, sample, left, right, texts_said in answers:
            texts = [one["verdicts"] for one in texts_said if one["verdicts"] is not None]
            for place, criterion in enumerate(rows[number].keys):
                by_criterion.setdefault(criterion, []).append(Judged(sample, left, right, tuple(text[place] for text in texts)))
    return by_criterion


def result_of(run: JudgeRun) -> dict[str, Any]:
    """The run's scores by criterion, in the order of the protocol, and how many `answered` questions they are of; of a wireframe
    judge, which ranks nothing, counts alone."""
    answered = run.answers.filter(state="answered").count()  # counted first: one more meanwhile makes these scores old ones
    by_criterion = judged([run])
    criteria: dict[str, JudgeScores] = {}
    for key in sorted(by_criterion, key=KEYS.index):
        if run.is_for_display_only:
            answers = sum(len(one.verdicts) for one in by_criterion[key])
            criteria[key] = JudgeScores("", [], len(by_criterion[key]), answers)
        elif run.base is not None:  # the base's scores as they were, with the newcomer among them
            before = scores_of(run.base).get(key, CriterionScores(anchor="", rows=[]))
            frozen = {row.method: row.elo for row in before.rows if row.elo is not None and row.method != run.newcomer.label}
            new = judges.place(by_criterion[key], run.newcomer.label, frozen, seed=run.seed)
            rows = [*(row for row in before.rows if row.method in frozen), *new.rows]
            criteria[key] = replace(new, anchor=before.anchor, rows=sorted(rows, key=lambda row: row.order))
        else:
            criteria[key] = judges.elo(by_criterion[key], run.anchor, seed=run.seed)
    return {"criteria": {key: asdict(scores) for key, scores in criteria.items()}, "answered": answered}


def judges_of(study: Study, criterion: str) -> list[JudgeAnswers]:
    """The study's judges, each run by itself, as raters on one criterion of people's: votes on no criterion are compared with the
    judges' overall answer."""
    described = []
    for run in JudgeRun.ended(study).select_related("rater", "newcomer", "base"):
        answers = judged([run]).get(criterion or "overall")
        if answers:
            it = facts(run)
            told = asdict(it) | {"cost": None if it.cost is None else plain(it.cost)}
            # A judge's comparisons are drawn from all; people's too, unless their pairs were chosen by what was answered before.
            alike = run.newcomer_id is None and not study.chooses_pairs
            described.append(JudgeAnswers(run.rater.name, tuple(answers), run.is_for_display_only, alike, told))
    return described


@dataclass(frozen=True)
class RunFacts:
    """Requests, images, tokens and cost of a run. Requests whose answer never came count at their maximum cost. The cost is None if an
    answer's is unknown."""

    n_answered: int
    n_failed: int
    n_unparsed: int
    requests: int
    images: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    model: str
    plan: str


def facts(run: JudgeRun) -> RunFacts:
    columns = {one.name: getattr(run, one.name) for one in fields(RunFacts)}
    return RunFacts(**columns | {"cost": None if run.n_uncosted else run.counted})


# --- the table


def runs_of(study: Study) -> QuerySet[JudgeRun]:
    """The study's runs that have answers, grouped by judge."""
    return study.judge_runs.filter(n_answered__gt=0).select_related("rater", "study").order_by("rater__name", "id")


def table(runs: Iterable[JudgeRun]) -> Iterator[list[str]]:
    """The rows of a CSV file, its head first; `leaderboard.stats` reads the votes in it. Runs of one judge stand together."""
    yield [*voting.COLUMNS, *MORE]
    texts: Counter[tuple] = Counter()  # that were read of a judge on a pair, of a sample, on a criterion
    materials: dict[int, Materials | None] = {}
    for run in runs:
        if run.study_id not in materials:
            try:
                materials[run.study_id] = Materials(run.study)
            except ValueError:  # the study has nothing to show any more
                materials[run.study_id] = None
        rows = run.questions
        answers = run.answers.filter(state=JudgeAnswer.State.ANSWERED).select_related("left", "right").order_by("number")
        for answer in answers.iterator(chunk_size=200):
            yield from _lines(run, answer, rows[answer.row], materials[run.study_id], texts)


def _lines(run: JudgeRun, answer: JudgeAnswer, row: Row, materials: Materials | None, texts: Counter[tuple]) -> Iterator[list[str]]:
    """A row for each criterion of each text that was read."""
    judge, left, right = run.rater.name, answer.left.label, answer.right.label
    # The text that the sample was made from, and the whole text of the question; empty where it cannot be told any more.
    prompt = instruction = ""
    if materials is not None:
        with suppress(ValueError, KeyError, FileNotFoundError):
            about = "" if run.is_for_display_only else materials.prompt(answer.sample)
            prompt, instruction = about, materials.instruction(row, answer.sample)
    shown = "wireframes over their reference"
    if not run.is_for_display_only:
        kinds = " and ".join(["colour"] * row.rgb + ["normals"] * row.normal)
        ways = [", normals on top"] * row.normals_first + [", halves named"] * row.watermark
        shown = f"{row.views} view{'s' if row.views > 1 else ''} a side, {kinds}{''.join(ways)}"
    took = [answer.requests, answer.tokens_in, answer.tokens_out, None if answer.cost is None else plain(answer.cost)]
    read = [(number, one["verdicts"]) for number, one in enumerate(answer.said, 1) if one["verdicts"] is not None]
    seconds = round(answer.seconds / (len(read) * len(row.keys)), 3)
    for number, verdicts in read:
        for criterion, verdict in zip(row.keys, verdicts, strict=True):
            key = (run.rater_id, answer.sample, criterion, *sorted((left, right)))
            texts[key] += 1
            vote = Vote(
                f"{judge}, text {texts[key]}",
                left,
                right,
                CHOICES[verdict],
                answer.sample,
                "",
                criterion,
                run.study.slug,
                "1" if row.turned else "",
                seconds,
            )
            more = [judge, run.model, run.pk, answer.number, number, shown, *took, prompt, instruction]
            yield [*voting.cells(vote, voting.COLUMNS), *("" if value is None else str(value) for value in more)]
            took, instruction = [""] * len(took), ""

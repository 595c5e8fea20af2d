"""A judge's answers as a table that reads as votes: a line for what each text says on each criterion.

Every text that could be read counts in a judge's scores, while of one rater's votes on a question only the first does. So the
first text on a pair of a sample stands under the rater "JUDGE, text 1", the next one, of whichever comparison, under
"JUDGE, text 2", and so on: the Elo of these votes is the judge's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet

from leaderboard.models import JudgeAnswer, JudgeRun, Study
from leaderboard.stats import votes as voting
from leaderboard.stats.votes import Vote
from leaderboard.studies.judge.instructions import Row
from leaderboard.studies.judge.materials import Materials

CHOICES = {-1: "left", 0: "tie", 1: "right"}
# `requests` to `cost` and `instruction` are of a whole comparison and stand on its first line alone, so that they add up.
MORE = ("judge", "model", "run", "comparison", "text", "shown", "requests", "tokens_in", "tokens_out", "cost", "prompt", "instruction")


def runs_of(study: Study) -> QuerySet[JudgeRun]:
    """The study's runs that have answers, those of one judge together."""
    return study.judge_runs.filter(n_answered__gt=0).select_related("rater", "study").order_by("rater__name", "id")


def table(runs: Iterable[JudgeRun]) -> Iterator[list[str]]:
    """The rows of a CSV file, its head first; `leaderboard.stats` reads the votes in it. Runs of one judge stand together."""
    yield [*voting.COLUMNS, *MORE]
    texts: Counter[tuple] = Counter()  # that were read of a judge on a pair, of a sample, on a criterion
    materials: dict[int, Materials | None] = {}
    for run in runs:
        if run.study_id not in materials:
            materials[run.study_id] = _materials(run)
        rows = run.questions
        answers = run.answers.filter(state=JudgeAnswer.State.ANSWERED).select_related("left", "right").order_by("number")
        for answer in answers.iterator(chunk_size=200):
            yield from _lines(run, answer, rows[answer.row], materials[run.study_id], texts)


def _lines(run: JudgeRun, answer: JudgeAnswer, row: Row, materials: Materials | None, texts: Counter[tuple]) -> Iterator[list[str]]:
    judge, left, right = run.rater.name, answer.left.label, answer.right.label
    prompt, instruction = _asked(run, row, answer.sample, materials)
    took = [answer.requests, answer.tokens_in, answer.tokens_out, answer.cost]
    read = [(number, one["verdicts"]) for number, one in enumerate(answer.said, 1) if one["verdicts"] is not None]
    seconds = round(answer.seconds / (len(read) * len(row.keys)), 3)
    for number, verdicts in read:
        for criterion, verdict in zip(row.keys, verdicts, strict=True):
            key = (run.rater_id, answer.sample, criterion, *sorted((left, right)))
            texts[key] += 1
            vote = Vote(
                f"{judge}, text {texts[key]}", left, right, CHOICES[verdict], answer.sample, "", criterion, run.study.slug,
                "1" if row.turned else "", seconds,
            )  # fmt: skip
            more = [judge, run.model, run.pk, answer.number, number, _shown(run, row), *took, prompt, instruction]
            yield [*voting.cells(vote, voting.COLUMNS), *("" if value is None else str(value) for value in more)]
            took, instruction = [None] * len(took), ""


def _materials(run: JudgeRun) -> Materials | None:
    """What the study has to show; None where it has nothing any more."""
    try:
        return Materials(run.study)
    except ValueError:
        return None


def _asked(run: JudgeRun, row: Row, sample: str, materials: Materials | None) -> tuple[str, str]:
    """The text that the sample was made from, and the whole text of the question; empty where it cannot be told any more."""
    if materials is None:
        return "", ""
    try:
        prompt = "" if run.is_for_display_only else materials.prompt(sample)
        return prompt, materials.instruction(row, sample)
    except (ValueError, KeyError, FileNotFoundError):
        return "", ""


def _shown(run: JudgeRun, row: Row) -> str:
    """What the image of such a question holds."""
    if run.is_for_display_only:
        return "wireframes over their reference"
    kinds = " and ".join(["colour"] * row.rgb + ["normals"] * row.normal)
    ways = [", normals on top"] * row.normals_first + [", halves named"] * row.watermark
    return f"{row.views} view{'s' if row.views > 1 else ''} a side, {kinds}{''.join(ways)}"

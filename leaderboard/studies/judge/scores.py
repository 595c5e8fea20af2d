"""From the answers that are kept to what is computed of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Self

from leaderboard.models import JudgeRun, Study
from leaderboard.stats import judges
from leaderboard.stats.judges import Judge, Judged
from leaderboard.studies.judge.instructions import KEYS
from leaderboard.studies.summary import HIDDEN_NAME, Record


class MethodScore(Record):
    """A method's Elo by a judge, with its interval; `placed` among scores that stayed as they were, `regularised` where it never lost or
    never won."""

    method: str
    elo: float | None
    low: float | None
    high: float | None
    wins: int
    ties: int
    losses: int
    regularised: bool = False
    placed: bool = False


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
    kept = (run.result or {}).get("criteria", {})
    return {key: CriterionScores.model_validate(kept[key]) for key in run.study.in_order(kept)}


def judged(runs: Iterable[JudgeRun]) -> dict[str, list[Judged]]:
    """What was said on each criterion in all of these runs."""
    found: dict[str, list[Judged]] = {}
    for run in runs:
        rows = run.questions
        answers = run.answers.filter(state="answered").values_list("row", "sample", "left__label", "right__label", "said")
        for number, sample, left, right, said in answers:
            texts = [one["verdicts"] for one in said if one["verdicts"] is not None]
            for place, criterion in enumerate(rows[number].keys):
                found.setdefault(criterion, []).append(Judged(sample, left, right, tuple(text[place] for text in texts)))
    return found


def result_of(run: JudgeRun) -> dict[str, Any]:
    """The run's scores by criterion, in the order of the protocol, and how many `answered` questions they are of; of a wireframe
    judge, which ranks nothing, counts alone."""
    answered = run.answers.filter(state="answered").count()  # counted first: one more meanwhile makes these scores old ones
    found = judged([run])
    criteria: dict[str, Any] = {}
    for key in sorted(found, key=KEYS.index):
        if run.is_for_display_only:
            answers = sum(len(one.verdicts) for one in found[key])
            criteria[key] = {"anchor": "", "rows": [], "comparisons": len(found[key]), "answers": answers}
        elif run.base is not None:
            criteria[key] = _placed(run, key, found[key])
        else:
            criteria[key] = judges.elo(found[key], run.anchor, seed=run.seed)
    return {"criteria": criteria, "answered": answered}


def _placed(run: JudgeRun, key: str, own: list[Judged]) -> dict[str, Any]:
    """The base's scores as they were, with the newcomer among them."""
    before = ((run.base.result or {}) if run.base else {}).get("criteria", {}).get(key, {"rows": [], "anchor": ""})
    frozen = {row["method"]: row["elo"] for row in before["rows"] if row["elo"] is not None and row["method"] != run.newcomer.label}
    new = judges.place(own, run.newcomer.label, frozen, seed=run.seed)
    counts = {name: new.pop(name) for name in ("comparisons", "answers")}
    rows = [*(row for row in before["rows"] if row["method"] in frozen), new]
    rows.sort(key=lambda row: (row["elo"] is None, -(row["elo"] or 0.0), row["method"]))
    return {"anchor": before["anchor"], "rows": rows, **counts}


def judges_of(study: Study, criterion: str) -> list[Judge]:
    """The study's judges as raters on one criterion of people's: votes on no criterion are held against the judges' overall answer."""
    by_rater: dict[int, list[JudgeRun]] = {}
    for run in JudgeRun.ended(study).select_related("rater", "newcomer", "base"):
        by_rater.setdefault(run.rater_id, []).append(run)
    found = []
    for runs in by_rater.values():
        said = judged(runs).get(criterion or "overall")
        if said:
            alike = all(run.newcomer_id is None for run in runs)
            found.append(Judge(runs[0].rater.name, tuple(said), runs[0].is_for_display_only, alike, facts(runs)))
    return found


def facts(runs: list[JudgeRun]) -> dict[str, Any]:
    """What the runs took."""
    counted = ("n_answered", "n_failed", "n_unparsed", "requests", "images", "tokens_in", "tokens_out", "cost")
    found: dict[str, Any] = {name: sum(getattr(run, name) for run in runs) for name in counted}
    if any(run.n_uncosted for run in runs):
        found["cost"] = None
    return found | {"model": runs[0].model, "plan": runs[0].plan}

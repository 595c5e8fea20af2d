"""From an organizer's wishes to a planned run, with what it will take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Sum

from leaderboard.kinds import KINDS
from leaderboard.models import JudgeRun, Study, StudyEntry
from leaderboard.studies.judge import instructions, setup
from leaderboard.studies.judge.answers import scores_of
from leaderboard.studies.judge.client import Endpoint
from leaderboard.studies.judge.instructions import WIREFRAME_PLAN, Row
from leaderboard.studies.judge.materials import Materials
from leaderboard.studies.judge.schedule import Schedule, planned, swept
from submissions.models import User

TILE, TILE_TOKENS, IMAGE_TOKENS = 512, 170, 85  # how a common endpoint counts an image: tiles of its copy with a short side of 768
SHORT_SIDE = 768
LETTERS_A_TOKEN = 4
WORDS_OUT = 110  # tokens of an analysis of one criterion, of each text


@dataclass(frozen=True)
class Wish:
    """The run that is wanted. `budget` counts requests; plans without fixed counts go on until it is used up."""

    plan: str
    budget: int
    seed: int = 0
    choices: int = 3
    repeats: int = 1
    most_cost: float | None = None
    base: JudgeRun | None = None
    newcomer: StudyEntry | None = None
    anchor: str = ""


@dataclass(frozen=True)
class Expected:
    """An estimate, from how long the texts are and how images are commonly counted; `cost` is None where prices are not set."""

    requests: int
    images: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def plan(study: Study, wish: Wish, materials: Materials | None = None) -> tuple[list[Row], Schedule]:
    """The kinds of question and the questions. ValueError, in a sentence, where this cannot be."""
    material = materials or Materials(study)
    rows = material.rows(wish.plan)
    have = material.have(rows)
    newcomer = wish.newcomer.label if wish.newcomer else None
    if newcomer is not None and newcomer not in have:
        raise ValueError(f"“{newcomer}” cannot be shown: it is left out, withdrawn, or nothing of it is stored.")
    if newcomer is not None and wish.base is not None:
        known = {row.method for one in scores_of(wish.base).values() for row in one.rows}
        have = {label: samples for label, samples in have.items() if label in known or label == newcomer}
    if all(row.comparisons for row in rows):
        return rows, planned(have, rows, wish.budget, wish.seed, newcomer)
    return rows, swept(have, rows, wish.budget, wish.seed, newcomer, wish.repeats)


def make(study: Study, actor: User | None, model: str, wish: Wish) -> JudgeRun:
    """A planned run. ValueError, in a sentence, where it cannot be."""
    if wish.newcomer is not None and (wish.base is None or not wish.base.result):
        raise ValueError("A new entry is placed among the scores of a run that has ended; choose one.")
    endpoint = setup.endpoint(model)
    if wish.most_cost is not None and (endpoint is None or endpoint.cost(0, 0) is None):
        raise ValueError(
            "A most cost can be kept to only where prices are known: set PLUMBLINE_JUDGE_PRICE_IN and PLUMBLINE_JUDGE_PRICE_OUT, or leave "
            "it out."
        )
    materials = Materials(study)
    rows, schedule = plan(study, wish, materials)
    anchor = wish.base.anchor if wish.base else wish.anchor or min(materials.entries, default="")
    if anchor and anchor not in materials.entries and wish.base is None:
        raise ValueError(f"There is no entry {anchor!r} to anchor the scores at; there are: {', '.join(sorted(materials.entries))}.")
    values: dict[str, Any] = {name: getattr(wish, name) for name in ("seed", "choices", "budget", "most_cost", "newcomer", "base")}
    return JudgeRun.make(
        study, actor, model=model, plan=wish.plan, rows=rows, schedule=schedule, form=materials.form, anchor=anchor, **values
    )


def plans(family: str) -> dict[str, str]:
    """The plans that entries of a family can be judged by, with what they are."""
    if KINDS[family].judged == JudgeRun.Form.WIREFRAMES:
        return {WIREFRAME_PLAN: "Which of two is closer to the reference; for display only"}
    return {name: words for name, (words, _) in instructions.PLANS.items()}


def expected(run: JudgeRun, endpoint: Endpoint | None) -> Expected:
    """Requests, tokens and cost of the questions that are left: by the run's own answers so far, else estimated."""
    rows = run.questions
    left = run.answers.filter(state="waiting").order_by().values_list("row").annotate(n=Sum("repeats"))
    wanted = [(rows[row], n) for row, n in left]  # each kind of question, and how many requests for it
    requests = sum(n for _, n in wanted)
    images = sum(row.images * n for row, n in wanted)
    if run.requests and run.tokens_in and run.tokens_out:
        tokens_in, tokens_out = (round(n * requests / run.requests) for n in (run.tokens_in, run.tokens_out))
    else:
        tokens_in = sum(n * _tokens_in(run, row) for row, n in wanted)
        tokens_out = sum(n * run.choices * WORDS_OUT * len(row.criteria) for row, n in wanted)
    return Expected(requests, images, tokens_in, tokens_out, endpoint.cost(tokens_in, tokens_out) if endpoint else None)


def _tokens_in(run: JudgeRun, row: Row) -> int:
    if run.is_for_display_only:
        text, side = instructions.wireframe_instruction(), (2 * SHORT_SIDE, SHORT_SIDE)
    else:
        text = instructions.instruction(row, "a text of an ordinary length")
        cells = int(row.views**0.5)
        side = (2 * cells, cells * (row.rgb + row.normal))
    scale = SHORT_SIDE / min(side)
    tiles = [-(-round(n * scale) // TILE) for n in side]
    return len(text) // LETTERS_A_TOKEN + IMAGE_TOKENS + TILE_TOKENS * tiles[0] * tiles[1]

"""From an organizer's wishes to a planned run, with what it will take."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Sum

from leaderboard.kinds import KINDS
from leaderboard.models import JudgeBudget, JudgeRun, Study, StudyEntry
from leaderboard.models.judge import UNPRICED
from leaderboard.models.judge_budget import money
from leaderboard.studies.judge import instructions, setup
from leaderboard.studies.judge.answers import scores_of
from leaderboard.studies.judge.client import Endpoint, question
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
    """The run that is wanted. `budget` counts requests; plans without fixed counts go on until it is used up. `most_cost` is never
    passed; `pays` is a `JudgeRun.Payer`."""

    plan: str
    budget: int
    seed: int = 0
    choices: int = 3
    repeats: int = 1
    most_cost: Decimal | None = None
    base: JudgeRun | None = None
    newcomer: StudyEntry | None = None
    anchor: str = ""
    pays: str = JudgeRun.Payer.SERVICE


@dataclass(frozen=True)
class Expected:
    """An estimate, from how long the texts are and how images are commonly counted; `cost` is None where prices are not set."""

    requests: int
    images: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None


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
        raise ValueError("A new entry is placed among the scores of an ended run; choose such a run.")
    if wish.most_cost is not None and None in setup.prices(model):
        raise ValueError(
            "A most cost can be kept to only where prices are known: an operator sets PLUMBLINE_JUDGE_PRICE_IN and "
            "PLUMBLINE_JUDGE_PRICE_OUT, for further models PLUMBLINE_JUDGE_PRICES. Or leave it out."
        )
    materials = Materials(study)
    rows, schedule = plan(study, wish, materials)
    anchor = wish.base.anchor if wish.base else wish.anchor or min(materials.entries, default="")
    if anchor and anchor not in materials.entries and wish.base is None:
        raise ValueError(f"There is no entry {anchor!r} to anchor the scores at; there are: {', '.join(sorted(materials.entries))}.")
    names = ("seed", "choices", "budget", "most_cost", "newcomer", "base", "pays")
    values = {"anchor": anchor, **{name: getattr(wish, name) for name in names}}
    return JudgeRun.make(study, actor, model=model, plan=wish.plan, rows=rows, schedule=schedule, form=materials.form, **values)


def begin(run: JudgeRun, actor: User | None, budget: int | None = None) -> None:
    """Start the run, or have it go on. ValueError, in a sentence, where nobody can be asked or what is left cannot be paid."""
    if why := why_not_payable(run, actor):
        raise ValueError(why)
    run.start(actor, budget)


def why_not_payable(run: JudgeRun, actor: User | None) -> str:
    """Reason why the run cannot begin if `actor` starts it now: there is no key or address, or it cannot be paid. Empty where it can.

    The estimated cost of the remaining requests, or the run's own limit if that is lower, must fit into the budgets of the month. The
    maximum cost of a single request must fit into every budget and limit.
    """
    try:
        endpoint = setup.endpoint_paid_by(run.paying_key(actor), run.model)
        budgets = budgets_of(run, actor)
        limited = run.most_cost is not None or any(one.cap is not None for one in budgets)
        if not limited or not run.left:
            return ""
        if None in (endpoint.price_in, endpoint.price_out):
            return UNPRICED
        # The most that a request can cost, by one example of each kind of question that is left.
        materials, rows, dearest = Materials(run.study), run.questions, Decimal(0)
        waiting = run.answers.filter(state="waiting")
        for row in set(waiting.order_by().values_list("row", flat=True)):
            sample = waiting.filter(row=row).values_list("sample", flat=True)[0]
            asked = question(materials.instruction(rows[row], sample), b"")
            dearest = max(dearest, endpoint.bound(asked, run.choices) or Decimal(0))
        needed = expected(run, endpoint).cost
    except ValueError as error:
        return str(error)
    assert needed is not None
    if run.most_cost is not None:
        own = run.most_cost - run.counted
        if dearest > own:
            left = money(max(own, Decimal(0)))
            return f"A request of this run may cost up to {money(dearest)}, and the run may cost {left} more; plan another."
        needed = min(needed, own)
    for one in budgets:
        if one.remaining is not None and max(needed, dearest) > one.remaining:
            words = f"What is left to be asked is estimated at {money(needed)}"
            return one.refusal(words if needed >= dearest else f"A request of this run may cost up to {money(dearest)}")
    return ""


def budgets_of(run: JudgeRun, actor: User | None) -> list[JudgeBudget]:
    """The budgets of this month that the run counts against if `actor` starts it: none where an organizer's own key pays."""
    if run.pays != JudgeRun.Payer.SERVICE:
        return []
    return [JudgeBudget.of(owner) for owner in (run.study.phase.challenge, actor) if owner is not None]


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
        tokens_in = tokens_out = 0
        for row, n in wanted:
            if run.is_for_display_only:
                text, side = instructions.wireframe_instruction(), (2 * SHORT_SIDE, SHORT_SIDE)
            else:
                text = instructions.instruction(row, "a text of an ordinary length")
                cells = int(row.views**0.5)
                side = (2 * cells, cells * (row.rgb + row.normal))
            across, down = (-(-round(length * SHORT_SIDE / min(side)) // TILE) for length in side)
            tokens_in += n * (len(text) // LETTERS_A_TOKEN + IMAGE_TOKENS + TILE_TOKENS * across * down)
            tokens_out += n * run.choices * WORDS_OUT * len(row.criteria)
    return Expected(requests, images, tokens_in, tokens_out, endpoint.cost(tokens_in, tokens_out) if endpoint else None)

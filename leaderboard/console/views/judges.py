"""Judge models on a study: what is planned, what it would be shown, how far it is, and every text as it came."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.console.forms.judges import JudgeForm, PromptsForm
from leaderboard.console.page import page, paged
from leaderboard.lookup import organizer_of_phase, study_of
from leaderboard.models import JudgeAnswer, JudgeBudget, JudgeRun, Study
from leaderboard.models.judge_budget import money
from leaderboard.service.responses import attachment
from leaderboard.studies.judge import answers, planning, prompts, setup
from leaderboard.studies.judge.instructions import Row
from leaderboard.studies.judge.materials import Materials, image_of
from leaderboard.studies.judge.paid import PaidClient
from leaderboard.studies.judge.planning import Wish
from leaderboard.studies.judge.prompts import AskError, PromptError, ask_for
from leaderboard.views.studies import csv_response
from submissions.lookup import row_number
from submissions.models import Phase, User
from submissions.throttling import limit_model

EXAMPLES = 2  # of each kind of question, of a run that is planned
PER_PAGE = 20
WEB_TIMEOUT = 60.0  # of a request to the model while a browser waits


@organizer_of_phase
def judges(request: HttpRequest, phase: Phase, study: str) -> HttpResponse:
    """A study's runs, and the plan of another."""
    chosen_study = study_of(phase, True, slug=study)
    form = JudgeForm(chosen_study, request.user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        wish = Wish(**{one.name: data[one.name] for one in fields(Wish) if one.name in data})
        try:
            run = planning.make(chosen_study, request.user, data["model"], wish)
        except ValueError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{run.n_planned:,} questions are planned; nothing has been asked yet.")
            return redirect("console_judge", phase.challenge.slug, phase.slug, chosen_study.slug, run.pk)
    context = {
        "study": chosen_study,
        "runs": chosen_study.judge_runs.select_related("rater", "newcomer"),
        "form": form,
        "endpoint": setup.endpoint(),
        "budgets": [JudgeBudget.of(phase.challenge), JudgeBudget.of(request.user)],
    }
    # Why nothing of this study can be shown to a judge; empty where something can.
    why_not = ""
    try:
        if len(Materials(chosen_study).entries) < 2:
            why_not = "Fewer than two of the study's entries are scored entries of this phase, so there is nothing to show side by side."
    except ValueError as error:
        why_not = str(error)
    context |= {"currency": settings.JUDGE_CURRENCY, "missing": setup.MISSING, "why_not": why_not}
    return page(request, "judges", phase.challenge, "studies", phase, **context)


@organizer_of_phase
def judge(request: HttpRequest, phase: Phase, study: str, pk: int) -> HttpResponse:
    """One run: before it starts its questions, then its progress and its answers."""
    chosen_study = study_of(phase, True, slug=study)
    run = _run(chosen_study, pk)
    if request.method == "POST":
        try:
            match request.POST.get("act"):
                case "start":
                    given = request.POST.get("budget", "").strip()
                    budget = row_number(given) or None
                    if given and budget is None:
                        raise ValueError(f"“{given[:20]}” is not a budget; write the most requests as a whole number, such as 2000.")
                    planning.begin(run, request.user, budget)
                    words = "The judge is being asked."
                case "pause":
                    run.pause(request.user)
                    words = "Paused; answers to requests already sent are still stored."
                case "cancel":
                    run.cancel(request.user)
                    words = "Cancelled; the answers so far stay."
                case "remove":
                    run.remove(request.user)
                    messages.success(request, "The run is removed with its answers.")
                    return redirect("console_judges", phase.challenge.slug, phase.slug, chosen_study.slug)
                case _:
                    raise Http404
        except ValueError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, words)
        return redirect(request.path)
    context = _progress(run, request.user) | {"study": chosen_study, "rows": list(enumerate(run.questions))}
    rows = run.answers.select_related("left", "right")
    if run.state == JudgeRun.State.PLANNED:
        examples = [answer for kind in range(len(run.rows)) for answer in rows.filter(row=kind)[:EXAMPLES]]
        context["answers"] = _with_texts(run, examples)
    else:
        state = request.GET.get("state", "")
        if state in JudgeAnswer.State.values:
            rows = rows.filter(state=state)
        elif state == "unread":
            rows = rows.filter(n_unparsed__gt=0)
        some, foot = paged(request, rows, PER_PAGE)
        context |= {"answers": _with_texts(run, some), "state": state, **foot}
    return page(request, "judge", phase.challenge, "studies", phase, **context)


@organizer_of_phase
@require_safe
def judge_progress(request: HttpRequest, phase: Phase, study: str, pk: int) -> HttpResponse:
    """The part of a run's page that changes while it asks."""
    chosen_study = study_of(phase, True, slug=study)
    run = _run(chosen_study, pk)
    context = {"challenge": phase.challenge, "phase": phase, "study": chosen_study} | _progress(run, request.user)
    response = render(request, "console/parts/judge_run.html", context)
    if run.state != JudgeRun.State.ASKING:
        response["HX-Refresh"] = "true"
    return response


@organizer_of_phase
@require_safe
def judge_answers(request: HttpRequest, phase: Phase, study: str, pk: int) -> HttpResponse:
    """The answers of a run's judge, as CSV."""
    chosen_study = study_of(phase, True, slug=study)
    run = _run(chosen_study, pk)
    return csv_response(answers.table([run]), f"{chosen_study.slug}-judge-{run.pk}.csv")


@organizer_of_phase
@require_safe
def judge_image(request: HttpRequest, phase: Phase, study: str, pk: int, answer: int) -> HttpResponse:
    """The image of a question."""
    run = _run(study_of(phase, True, slug=study), pk)
    row = get_object_or_404(run.answers.select_related("left__submission", "right__submission"), number=answer)
    row.run = run
    try:
        data = image_of(row)
    except (ValueError, KeyError, FileNotFoundError):
        raise Http404 from None
    response = HttpResponse(data, content_type="image/png")
    response["Cache-Control"] = "private, max-age=3600"
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def prompt_texts(request: HttpRequest) -> HttpResponse:
    """Texts to make objects from: drawn at random (the address has all settings, so that a file can be downloaded), or requested from the
    model."""
    may_ask = JudgeBudget.belongs_to(request.user)
    asks = request.method == "POST" and request.POST.get("act") == "ask"
    if asks and not may_ask:
        raise PermissionDenied
    form = PromptsForm(request.POST or request.GET or None)
    texts: list[str] = []
    if form.is_bound and form.is_valid():
        if request.method == "POST" and not asks:
            given = {name: request.POST.getlist(name) for name in form.fields}
            return redirect(f"{request.path}?{urlencode(given, doseq=True)}")
        try:
            if not asks:
                texts = prompts.offline(form.wanted, form.cleaned_data["seed"])
            elif (endpoint := setup.endpoint()) is None:
                raise AskError(setup.MISSING)
            else:
                limit_model(request)
                texts = ask_for(form.wanted, PaidClient(endpoint, WEB_TIMEOUT / 3, request.user))
        except (PromptError, AskError) as error:
            form.add_error(None, str(error))
    if texts and "download" in request.GET:
        return attachment(HttpResponse(prompts.as_json(texts), content_type="application/json"), "prompts.json")
    context = {"form": form, "texts": texts, "file": prompts.as_json(texts), "asked": asks}
    context["endpoint"] = setup.endpoint() if may_ask else None
    return render(request, "console/prompts.html", context)


# --- inside


def _run(study: Study, pk: int) -> JudgeRun:
    found = get_object_or_404(study.judge_runs.select_related("rater", "base", "newcomer", "made_by", "started_by", "key"), pk=pk)
    found.study = study
    return found


def _progress(run: JudgeRun, user: User) -> dict[str, Any]:
    may_start = run.state in ("planned", "paused", "spent", "failed")
    try:
        endpoint = setup.endpoint_paid_by(run.paying_key(user) if may_start else run.key, run.model)
    except ValueError:
        endpoint = None
    limited = run.most_cost is not None or run.reserved
    return {
        "run": run,
        "settled": run.n_answered + run.n_failed,
        "expected": planning.expected(run, endpoint) if run.left else None,
        "endpoint": endpoint,
        "currency": settings.JUDGE_CURRENCY,
        "cost": money(run.counted) if limited or run.cost or (run.requests and not run.n_uncosted) else "not counted",
        "most_cost": None if run.most_cost is None else money(run.most_cost),
        "reserved": money(run.reserved) if run.reserved else "",
        "budgets": planning.budgets_of(run, user if may_start else run.started_by),
        "seconds_left": run.seconds_left(),
        "why_not": planning.why_not_payable(run, user) if may_start and run.left else "",
        "is_asking": run.state == JudgeRun.State.ASKING,
        "may_start": may_start,
        "may_pause": run.state == JudgeRun.State.ASKING,
        "may_cancel": run.state in ("asking", "paused", "spent", "failed"),
    }


@dataclass(frozen=True)
class TextOnPage:
    """A text that came back, and its verdicts in words, none where it could not be read."""

    text: str
    words: list[str]
    refused: bool
    cut: bool


@dataclass(frozen=True)
class AnswerOnPage:
    """An answer with its question, the text that was sent with it, and all texts that came back."""

    it: JudgeAnswer
    row: Row
    text: str
    said: list[TextOnPage]


def _with_texts(run: JudgeRun, answers: list[JudgeAnswer]) -> list[AnswerOnPage]:
    try:
        materials = Materials(run.study)
    except ValueError:
        materials = None
    rows = run.questions
    words = {-1: "left", 0: "neither", 1: "right"}
    described = []
    for answer in answers:
        row = rows[answer.row]
        try:
            text = materials.instruction(row, answer.sample) if materials else ""
        except (ValueError, KeyError):
            text = ""
        texts = [TextOnPage(one["text"], [words[v] for v in one["verdicts"] or ()], one["refused"], one["cut"]) for one in answer.said]
        described.append(AnswerOnPage(answer, row, text, texts))
    return described

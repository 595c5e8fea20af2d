"""Pages and requests of raters: joining, the rating page, and the questions and answers behind it as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, NotRequired, TypedDict

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.api.service import problem
from leaderboard.lookup import study_to_rate
from leaderboard.models import PracticeQuestion, Question, Rater, Study
from leaderboard.studies.live import access, history, materials, panel, practice, rater_setup
from leaderboard.studies.live import answer as answering
from leaderboard.studies.live.access import shown_question
from leaderboard.studies.live.ask import standing
from leaderboard.studies.live.criteria import asked_of
from leaderboard.viewer import viewer_cache
from submissions.errors import Refused
from submissions.models.user import hash_secret
from submissions.throttling import limit_joins

MAX_BYTES = 10_000  # of an answer
TOKEN = re.compile(r"[A-Za-z0-9_-]+")  # of a question; PostgreSQL takes no NUL, not even to look for it


# --- joining


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """An invitation: what is asked, what becomes of it, and one button."""
    if again := _again(request):
        return again
    invitation = access.invitation_by_token(token)
    if invitation is None:
        return render(request, "rating/join.html", {"over": True, "study": access.study_of_link(token)}, status=404)
    return _join(request, invitation.study, invitation)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_openly(request: HttpRequest, key: str) -> HttpResponse:
    """A study that is open to all, or to the account that asks."""
    study = study_to_rate(key)
    if again := _again(request):
        return again
    if access.may_join(study, request.user):
        return _join(request, study, None)
    here = panel.with_parameters(request.path, study, request.GET.dict())
    return render(request, "rating/join.html", {"study": study, "uninvited": True, "here": here}, status=403)


def _again(request: HttpRequest) -> HttpResponse | None:
    """To the questions, where the form that is sent has let somebody in before: a second click is no second rater, and finds no
    invitation used up."""
    key = request.POST.get("key", "")
    rater = access.joined_with(request, key)
    return None if rater is None else _let_in(request, rater.study, key)


def _let_in(request: HttpRequest, study: Study, key: str) -> HttpResponse:
    response = redirect("rate", study.key)
    if key:
        access.keep_key(response, request, study, key)
    return response


def _join(request: HttpRequest, study: Study, invitation: Any) -> HttpResponse:
    if access.rater_of(request, study) is not None:
        return redirect("rate", study.key)
    user = request.user if request.user.is_authenticated else None
    panel_id = missing = ""
    if not access.is_listed(study, request.user):
        try:
            panel_id = next(iter(panel.parameters_of(study, request.GET.dict()).values()), "")
        except Refused as refused:
            missing = refused.sentence
    before = access.rater_before(study, user, panel.hash_of(study, panel_id))
    if before is not None:  # why they do not take part again, and where they go if they had finished
        finished = panel.completion(before.study) if before.finished_at is not None and before.left_at is None else None
        context = {"study": study, "returned": access.before_sentence(study, before), "completion": finished}
        return render(request, "rating/join.html", context, status=409)
    given = access.group_of(study, request.user, invitation)
    here = panel.with_parameters(request.path, study, request.GET.dict())
    context = {"study": study, "invitation": invitation, "here": here} | intro(study, given)
    context["closed"] = context["closed"] or missing
    context["key"] = "" if user else access.new_key()
    if request.method != "POST":
        return render(request, "rating/join.html", context)
    try:
        group, setup = said_at_join(study, given, request.POST)
        limit_joins(request)
        joined = access.join(study, user, invitation, group, key=request.POST.get("key", ""), query=request.GET.dict(), setup=setup)
    except Refused as refused:
        return render(request, "rating/join.html", context | {"refused": refused.sentence}, status=409)
    return _let_in(request, study, joined.key)


def intro(study: Study, given_group: str) -> dict[str, Any]:
    """Contents of the page before the questions: the groups to choose from, if none is given; the questions on screen and eyesight; and
    `closed`, the reason why nobody can join now."""
    groups = [] if given_group else study.groups
    full = {name for name in groups if access.full_sentence(study, name)}
    closed = study.closed_sentence() or access.full_sentence(study, given_group)
    if groups and len(full) == len(groups):
        closed = closed or "This study has all the raters that it needs, of every group; thank you for coming."
    return {
        "groups": [(name, name in full) for name in groups],
        "setup": rater_setup.asked(study),
        "sizes": rater_setup.SIZES,
        "closed": closed,
    }


def said_at_join(study: Study, given_group: str, sent: QueryDict) -> tuple[str, dict[str, str | int]]:
    """The group that somebody who joins says they belong to ("" where another has said it), and what they say of eyes and screen.
    `Refused` where they do not agree, or an answer is missing."""
    if sent.get("agree") != "yes":
        raise Refused("Tick the box to say that you agree.", "no_consent")
    groups, group = ([] if given_group else study.groups), sent.get("group", "")
    if groups and group not in groups:
        raise Refused(f"Say which group you belong to: {', '.join(groups)}.", "no_group")
    return group if groups else "", rater_setup.answers(study, sent.dict())


@never_cache
@require_safe
def come_back(request: HttpRequest, key: str, own: str) -> HttpResponse:
    """A rater's own link, on whichever device they go on."""
    study = study_to_rate(key)
    if not Rater.objects.filter(study=study, key_hash=hash_secret(own)).exists():
        raise Http404
    return _let_in(request, study, own)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: HttpRequest, key: str) -> HttpResponse:
    """Stop: for now, on this device, or for good with everything that was answered."""
    study = study_to_rate(key)
    rater = access.rater_of(request, study)
    if rater is None:
        return redirect("rate_join", study.key)
    if request.method == "POST":
        act = request.POST.get("act")
        if act == "withdraw":
            rater.leave()
            messages.success(request, "You have left the study, and what you answered is deleted.")
            return redirect("rate", study.key)
        if act == "forget" and rater.user_id is None:
            response = render(request, "rating/leave.html", {"study": study, "forgotten": True})
            response.delete_cookie(access.COOKIE, path=reverse("rate", args=[study.key]))
            return response
        raise Http404
    context = {"study": study, "rater": rater, "own_link": access.own_link(request, study, rater)}
    return render(request, "rating/leave.html", context)


# --- rating


@never_cache
@require_safe
def page(request: HttpRequest, key: str) -> HttpResponse:
    """The page on which a rater answers, question after question."""
    study = study_to_rate(key)
    rater = access.rater_of(request, study)
    if rater is None:
        return redirect(panel.with_parameters(reverse("rate_join", args=[study.key]), study, request.GET.dict()))
    addresses = {f"{name}_url": reverse(f"rate_{name}", args=[study.key]) for name in ("next", "answer", "undo", "leave")}
    return render(request, "rating/rate.html", {"study": study, "rater": rater} | addresses)


def rater_only(view: Callable[[HttpRequest, Study, Rater], HttpResponse]) -> Callable[..., HttpResponse]:
    """Decorator: the view gets the study and the requesting rater; others are refused, in JSON."""

    @never_cache
    @wraps(view)
    def wrapped(request: HttpRequest, key: str) -> HttpResponse:
        study = study_to_rate(key)
        rater = access.rater_of(request, study)
        if rater is None:
            return JsonResponse({"detail": "Only raters of this study may ask; open its page to join."}, status=403)
        return view(request, study, rater)

    return wrapped


@require_safe
@rater_only
def next_question(request: HttpRequest, study: Study, rater: Rater) -> HttpResponse:
    """State of the rating page for this rater."""
    return JsonResponse(state(study, rater))


@require_POST
@rater_only
def answer(request: HttpRequest, study: Study, rater: Rater) -> HttpResponse:
    """Take an answer, and say what is asked next."""

    def act(sent: dict[str, Any]) -> str:
        conditions = answering.Conditions.read(sent)
        return answering.answer(study, rater, sent["question"], sent.get("answers", {}), sent.get("seconds"), conditions=conditions)

    return _acted(request, study, rater, act)


@require_POST
@rater_only
def undo(request: HttpRequest, study: Study, rater: Rater) -> HttpResponse:
    """Take the last answer back, and ask its question again."""
    return _acted(request, study, rater, lambda sent: answering.take_back(study, rater, sent["question"]))


def sent_object(request: HttpRequest) -> dict[str, Any] | None:
    """The JSON object in a request's body; None where there is another thing, or more than `MAX_BYTES`."""
    try:
        sent = json.loads(request.body) if len(request.body) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        return None
    return sent if isinstance(sent, dict) else None


def _acted(request: HttpRequest, study: Study, rater: Rater, act: Callable[[dict[str, Any]], str]) -> HttpResponse:
    sent = sent_object(request)
    if sent is None or not isinstance(sent.get("question"), str) or not TOKEN.fullmatch(sent["question"]):
        return JsonResponse({"detail": "Send a JSON object with the question's token."}, status=400)
    try:
        note = act(sent)
    except Refused as refused:
        if refused.code != "study_closed":
            return JsonResponse({"detail": refused.sentence}, status=400 if refused.code == "bad_answer" else 409)
        note = ""
    rater.refresh_from_db()
    content = state(study, rater, note=note)
    if trial := rater.practice.filter(token=sent["question"], answered_at__isnull=False).first():
        content["feedback"] = practice.feedback(study, trial, trial.answers)
    return JsonResponse(content)


class QuestionState(TypedDict):
    """A question as its rater may know it: its token, its number and where its scene is."""

    id: str
    number: int
    form: str
    scene: str


class StudyState(TypedDict):
    title: str
    question: str
    kind: str
    break_every: int
    criteria: list[dict[str, str]]


class State(TypedDict):
    """All that the rating page needs to go on, as JSON. `since_break` counts the answers since the last pause; where nothing can
    be answered, `closed` says why and no question is there. While practice goes on `practice` is its place and their number."""

    study: StudyState
    closed: str | None
    note: str | None
    feedback: str | None
    progress: history.Progress
    question: QuestionState | None
    following: QuestionState | None
    practice: list[int] | None
    done: bool
    undo: str | None  # the token of the question whose answer can be taken back
    completion: dict[str, str] | None
    preview: NotRequired[dict[str, int]]


def state(study: Study, rater: Rater, note: str = "", now: datetime | None = None) -> State:
    """State of the rating page for this rater at `now`."""
    now = now or timezone.now()
    closed = answering.removed_sentence(rater) or study.closed_sentence(now)
    content = described(study, rater, now) | {"closed": closed or None, "note": note or None}
    if closed:
        answered = rater.questions.filter(answered_at__isnull=False).count()
        finished = panel.completion(study) if rater.finished_at is not None and rater.left_at is None else None
        return content | {"progress": history.progress(rater, answered, answered, now), "completion": finished}
    base = f"{reverse('rate', args=[study.key])}scenes/"
    if waiting := practice.open_practice(study, rater):
        n = rater.practice.count()
        return content | {"question": question_json(study, waiting[0], base), "practice": [n - len(waiting) + 1, n]}
    at = standing(study, rater, now)
    done = at.current is None
    if done and at.answered and rater.finished_at is None:
        Rater.objects.filter(pk=rater.pk, finished_at=None).update(finished_at=now)
    return content | {
        "progress": history.progress(rater, at.answered, at.total, now),
        "question": question_json(study, at.current, base),
        "following": question_json(study, at.following, base),
        "done": done,
        "undo": at.last.token if at.last is not None else None,
        "completion": panel.completion(study) if done and at.answered else None,
    }


def described(study: Study, rater: Rater, now: datetime) -> State:
    """The study as the rating page of the rater shows it, with nothing asked and nothing answered."""
    return {
        "study": {
            "title": study.title,
            "question": study.question,
            "kind": study.kind,
            "break_every": study.break_every,
            "criteria": asked_of(study, rater.pk or 0),
        },
        "closed": None,
        "note": None,
        "feedback": None,
        "progress": history.progress(rater, 0, 0, now),
        "question": None,
        "following": None,
        "practice": None,
        "done": False,
        "undo": None,
        "completion": None,
    }


def question_json(study: Study, question: Question | PracticeQuestion | None, base: str) -> QuestionState | None:
    """State of a question whose pictures are below `base`."""
    if question is None:
        return None
    scene = f"{base}{question.token}/scene.json"
    return {"id": question.token, "number": question.number + 1, "form": study.phase.challenge.family, "scene": scene}


# The files of the question that a rater looks at, and of the one after it; of no others.


# The address is of one question and no other, so a browser may keep what it got for as long as a rater may look at it.
CACHING = "private, max-age=3600"


@require_safe
def scene(request: HttpRequest, key: str, token: str) -> HttpResponse:
    """The scene of the question, and the names of its other files."""
    return scene_response(shown_question(request, key, token))


def scene_response(question: Question | PracticeQuestion) -> HttpResponse:
    """The scene of a question that the asking person may look at."""
    return _private(JsonResponse(materials.scene(question)))


@require_safe
def scene_file(request: HttpRequest, key: str, token: str, name: str) -> HttpResponse:
    """One mesh or image of the question."""
    return file_response(shown_question(request, key, token), name)


def file_response(question: Question | PracticeQuestion, name: str) -> HttpResponse:
    """A file of a question that the asking person may look at."""
    try:
        data, content_type = materials.file(question, name)
    except materials.NoSuchFile:
        raise Http404 from None
    if data is None:
        busy = problem(503, "Other meshes are being prepared; this one comes in a minute.", "busy")
        busy["Retry-After"] = str(viewer_cache.BUSY_SECONDS)
        return busy
    return _private(HttpResponse(data, content_type=content_type))


def _private(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = CACHING
    return response

"""Live studies: one is made, opened, watched and closed, and people are let in and out."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Avg, Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.console.forms.studies import InvitationForm, NewStudyForm, PayForm, RunningStudyForm
from leaderboard.console.page import page, reason, told
from leaderboard.console.screening import screening
from leaderboard.lookup import organizer_of_phase, study_of
from leaderboard.models import InterimAnalysis, PracticeQuestion, Rater, Study
from leaderboard.service.responses import attachment
from leaderboard.stats import mos_table as rating
from leaderboard.stats import votes as voting
from leaderboard.stats.minimums import ANSWERS_FOR_RATER
from leaderboard.stats.reliability import Share, lapse_rates, left_shares
from leaderboard.stats.screening import FAST
from leaderboard.stats.votes import stamp
from leaderboard.studies.live import campaign, design, panel, practice, rater_setup, study_forecast
from leaderboard.studies.live.ask import expected
from leaderboard.studies.live.design_matrix import Subject, gold_labels
from leaderboard.views.studies import csv_response
from leaderboard.wording import study as words
from leaderboard.wording.nouns import plural, sampled_noun
from submissions.errors import Refused
from submissions.lookup import row_number
from submissions.models import Phase, User


@organizer_of_phase
def new(request: HttpRequest, phase: Phase) -> HttpResponse:
    """The form of a live study; it begins as a draft."""
    campaign.groups_of(phase)  # says that there is nothing to show, before anybody fills in a form
    form = NewStudyForm(phase, request.POST) if request.method == "POST" else NewStudyForm(phase)
    if request.method == "POST" and form.is_valid():
        try:
            study = campaign.make(phase, request.user, form.design())
        except Refused as refused:
            form.add_error("discloses" if refused.code == "not_disclosed" else None, ValidationError(refused.sentence, refused.code))
        else:
            messages.success(request, "The study is a draft: look at it here, then open it.")
            return redirect("console_study", phase.challenge.slug, phase.slug, study.slug)
    return page(request, "study_new", phase.challenge, "studies", phase, form=form)


@organizer_of_phase
def study(request: HttpRequest, phase: Phase, study: str) -> HttpResponse:
    """One live study: its state, who rates, who may, and its questions."""
    live_study = study_of(phase, True, slug=study, key__isnull=False)
    invitation, settings, link = InvitationForm(phase), RunningStudyForm(instance=live_study), ""
    if request.method == "POST":
        act = request.POST.get("act", "")
        if act == "invite":
            invitation = InvitationForm(phase, request.POST)
            if invitation.is_valid():
                data = invitation.cleaned_data
                _, token = campaign.invite(live_study, request.user, data["note"], data["group"], data["most_uses"], data["expires_at"])
                link = request.build_absolute_uri(reverse("rate_join_link", args=[token]))
                link = panel.address_to_give(link, live_study) or link
                invitation = InvitationForm(phase)
        elif act == "edit":
            settings = RunningStudyForm(request.POST, instance=live_study)
            if settings.is_valid():
                campaign.edit(live_study, request.user, settings.columns(live_study.kind))
                return told(request, "Saved.")
            live_study.refresh_from_db()
        else:
            if words := _done(request, live_study, act):
                messages.success(request, words)
            return redirect(request.path)

    asked = Subject(live_study)
    total = expected(asked)
    rows = _raters(live_study, asked, total)
    is_pairs = live_study.kind == Study.Kind.PAIRS

    live = set(live_study.entries.live().values_list("pk", flat=True))
    entries = list(live_study.entries.select_related("submission").order_by("id"))
    for entry in entries:
        entry.is_live = entry.pk in live
    address = request.build_absolute_uri(reverse("rate", args=[live_study.key]))
    context = {
        "has_ended_as_planned": InterimAnalysis.that_ended(live_study) is not None,
        "study": live_study,
        "raters": [row for row in rows if row.joined_at],
        "listed": [row for row in rows if not row.joined_at],
        "total": total,
        "answered": sum(row.answered for row in rows),
        "entries": entries,
        "samples": live_study.samples.count(),
        "waits": campaign.waits_for(live_study),
        "invitations": live_study.invitations.annotate(used=Count("raters")),
        "screening": screening(live_study),
        "invitation": invitation,
        "link": link,  # of a new invitation; in this one answer only
        "settings": settings,
        "votes": _answers(live_study).count(),
        "without_account": sum(row.joined_at is not None and row.user_id is None for row in rows),
        "closed": live_study.closed_sentence(),
        "forecast": _forecast(request, live_study, asked) if is_pairs and live_study.state == Study.State.DRAFT else None,
        "fast": FAST,
        "min_checks": ANSWERS_FOR_RATER,
        "standing": _standing(live_study),
        "address": address,
        "panel_address": panel.address_to_give(address, live_study) if live_study.access == Study.Access.OPEN else "",
    }
    return page(request, "study", phase.challenge, "studies", phase, **context)


def _answers(study: Study) -> QuerySet[Any]:
    """Answers of people in a study: votes, or opinion scores."""
    return study.answers.filter(rater__kind=Rater.Kind.PERSON)


def _raters(study: Study, asked: Subject, total: int) -> list[Any]:
    """The people who rate or may rate, each with their line of the page; `total` questions are asked of one without entries."""
    # The ids of a rater's own entries, which they are not asked about, by the account; of accounts that have any.
    accounts = study.raters.filter(user__isnull=False).values("user")
    own: dict[int, set[int]] = defaultdict(set)
    for account in ("submission__team__memberships__user", "submission__uploaded_by"):
        for user, pk in study.entries.filter(**{f"{account}__in": accounts}).values_list(account, "pk"):
            own[user].add(pk)

    # Raters' consistency, and their share of right answers on pairs of known order, by the last analysis.
    is_pairs = study.kind == Study.Kind.PAIRS
    done = study.analyses.filter(criterion=study.main_criterion, content__isnull=False).first() if is_pairs else None
    reliability = done.summary.reliability.raters if done is not None and done.summary is not None else []
    reliable, (lapses, lefts) = {line.rater: line for line in reliability}, _checked(study)

    rows = study.raters.filter(kind=Rater.Kind.PERSON).select_related("user", "invitation").order_by("id")
    rows = list(rows.annotate(answered=Count("questions", filter=Q(questions__answered_at__isnull=False))))
    given = _answers(study)
    seconds = dict(given.order_by().values_list("rater").annotate(Avg("seconds")))
    per_question = max(1, len(study.criteria))
    fast = dict(given.filter(seconds__lt=FAST).order_by().values_list("rater").annotate(Count("pk")))
    timed = dict(given.filter(seconds__isnull=False).order_by().values_list("rater").annotate(Count("pk")))
    told = Counter(PracticeQuestion.objects.filter(study=study, is_gold=True).values_list("rater", flat=True))
    for row in rows:
        row.said, row.lapses, row.lefts = reliable.get(row.name), lapses.get(row.name), lefts.get(row.name)
        row.has_own = row.user_id in own
        row.total = expected(asked, own[row.user_id]) if row.has_own else total
        if study.questions_per_rater is None:
            row.total -= told[row.pk]  # what practice has told them is not asked
        row.percent = min(100.0, 100 * row.answered / row.total) if row.total else 0.0
        row.seconds = seconds[row.pk] * per_question if seconds.get(row.pk) is not None else None
        row.fast, row.timed = fast.get(row.pk, 0), timed.get(row.pk, 0)
    return rows


def _done(request: HttpRequest, study: Study, act: str) -> str:
    """Do what a button of the page asks for, and return what to tell of it; Http404 for an act that the page does not have."""
    sent, actor = request.POST, request.user
    match act:
        case "open":
            campaign.open_study(study, actor)
            study.refresh_from_db()
            return "The study opens at the time under Settings." if study.closed_sentence() else "The study is open to its raters."
        case "close":
            campaign.close(study, actor)
            return "The study is closed; no more answers are taken."
        case "publish" | "hide":
            study.publish(actor, act == "publish")
            return ""
        case "list":
            name = sent.get("name", "")
            user = User.objects.named(name)
            campaign.list_account(study, actor, user, sent.get("group", "").strip()[:60])
            return f"{user.introduced(name)} may rate: they log in and open {request.build_absolute_uri(reverse('rate', args=[study.key]))}"
        case "end_invitation":
            campaign.end_invitation(get_object_or_404(study.invitations, pk=row_number(sent.get("invitation"))), actor)
            return "That link lets nobody join any more."
        case "leave_out" | "take_in":
            entry, out = get_object_or_404(study.entries, pk=row_number(sent.get("entry"))), act == "leave_out"
            campaign.leave_out(entry, actor, out)
            return f"{entry} is {'not asked about any more; earlier answers still count' if out else 'asked about again'}."
        case "remove_rater":
            why = reason(request, "other organizers")
            rater = get_object_or_404(study.raters, pk=row_number(sent.get("rater")))
            campaign.remove_rater(rater, actor, why)
            return f"{rater} gives no more answers. Their votes count until you leave them out."
        case "readmit":
            rater = get_object_or_404(study.raters, pk=row_number(sent.get("rater")))
            campaign.readmit_rater(rater, actor)
            return f"{rater} may continue."
        case "renew_link":
            rater = get_object_or_404(study.raters.filter(kind=Rater.Kind.PERSON), pk=row_number(sent.get("rater")))
            link = request.build_absolute_uri(reverse("rate_as", args=[study.key, campaign.renew_link(rater, actor)]))
            return f"Send this link to {rater}; it is shown this once, and their link of before opens nothing any more: {link}"
        case "count" | "uncount":
            rater, counts = get_object_or_404(study.raters, pk=row_number(sent.get("rater"))), act == "count"
            campaign.count_rater(rater, actor, counts)
            return f"The votes of {rater} {'count' if counts else 'are kept, and count no more'}."
    raise Http404


@organizer_of_phase
@require_safe
def design_file(request: HttpRequest, phase: Phase, study: str) -> HttpResponse:
    """The design of a study as JSON: once it has opened, the bytes whose SHA-256 its page shows."""
    found = study_of(phase, True, slug=study, key__isnull=False)
    try:
        text = design.registered_text(found)
    except Refused as refused:
        messages.error(request, refused.sentence, refused.code)
        return redirect("console_study", phase.challenge.slug, phase.slug, found.slug)
    response = HttpResponse(text.encode(), content_type="application/json")
    return attachment(response, f"{found.slug}-design.json")


@organizer_of_phase
@require_safe
def raters_file(request: HttpRequest, phase: Phase, study: str) -> HttpResponse:
    """The raters of a study as CSV, with what their panel, their browser and they themselves say of them."""
    found = study_of(phase, True, slug=study, key__isnull=False)
    answered = Count("questions", filter=Q(questions__answered_at__isnull=False))
    rows = found.raters.filter(kind=Rater.Kind.PERSON, joined_at__isnull=False).annotate(answered=answered)
    (lapses, lefts), done = _checked(found), found.analyses.filter(criterion=found.main_criterion, content__isnull=False).first()
    summary = done.summary if done else None
    screened = summary.screened_by if summary else {}
    head = ["rater", "group", "invitation", "joined", "last_answer", "answered", "counted", "left", *found.panel_parameters]
    more = ["finished", "checks", "lapse_rate", "lapse_low", "lapse_high", "decisive", "left_side", "left_side_low", "left_side_high"]

    def of_share(share: Share | None) -> list[str]:
        ends = (None, None, None) if share is None else (share.value, share.low, share.high)
        return ["" if share is None else str(share.n), *("" if end is None else f"{end:.4f}" for end in ends)]

    table = [
        [
            row.name,
            row.group,
            row.came_by,
            stamp(row.joined_at),
            stamp(row.answered_last),
            str(row.answered),
            "yes" if row.is_counted else "no",
            "yes" if row.left_at else "no",
            *(row.panel.get(name, "") for name in found.panel_parameters),
            stamp(row.finished_at),
            *of_share(lapses.get(row.name)),
            *of_share(lefts.get(row.name)),
            " ".join(screened.get(row.name, ())),
            *(str(row.setup.get(key, "")) for key in rater_setup.KEYS),
        ]
        for row in rows.order_by("id")
    ]
    return csv_response([[*head, *more, "screened_by", *rater_setup.KEYS], *table], f"{found.slug}-raters.csv")


@organizer_of_phase
@require_safe
def practice_file(request: HttpRequest, phase: Phase, study: str) -> HttpResponse:
    """The answers to practice questions as CSV, with the columns of votes or of opinion scores; they count nowhere."""
    found = study_of(phase, True, slug=study, key__isnull=False)
    write: Any = voting.write if found.kind == Study.Kind.PAIRS else rating.write
    return csv_response(write(practice.exported(found)), f"{found.slug}-practice.csv")


def _checked(study: Study) -> tuple[dict[str, Share], dict[str, Share]]:
    """By a rater's name, how often they disagreed with their own answers and with known pairs, and how often they chose the left side, on
    the main criterion; for all raters, also those left out."""
    if study.kind != Study.Kind.PAIRS:
        return {}, {}
    votes = voting.canonical(study.votes(study.main_criterion))
    return lapse_rates(votes, gold_labels(study)), left_shares(votes)


@dataclass(frozen=True)
class ForecastOnPage:
    """Forecast of a study with so many raters, and the cost of each line; `pay` is per hour, in any currency."""

    looks: list[study_forecast.PlannedLook]
    aims: bool
    lines: list[tuple[study_forecast.Forecast, float | None]]
    habits: study_forecast.Habits
    form: PayForm
    pay: float | None
    raters_for_comparison: int | None
    advice: str


def _forecast(request: HttpRequest, study: Study, asked: Subject) -> ForecastOnPage:
    habits = campaign.habits(study)
    sheet = campaign.sheet(study, int((asked.live_units & ~asked.gold).sum()))
    form = PayForm(request.GET)
    pay = form.cleaned_data["pay"] if form.is_valid() else None
    lines = study_forecast.table(sheet, habits, study.most_raters)
    looks: list[study_forecast.PlannedLook] = []
    if study.planned_looks and study.planned_answers and study.plan != Study.Plan.INFORMATIVE:
        aims, counts = study.plan == Study.Plan.FIRST, int(asked.counting.sum()) / sheet.pairs if sheet.pairs else 1.0
        looks = study_forecast.planned_looks(sheet, habits, len(asked.undamaged), study.planned_looks, study.planned_answers, aims, counts)
    return ForecastOnPage(
        looks=looks,
        aims=study.plan == Study.Plan.FIRST,
        lines=[(line, None if pay is None else line.hours * pay) for line in lines],
        habits=habits,
        form=form,
        pay=pay,
        raters_for_comparison=study_forecast.raters_for_comparison(sheet, habits),
        advice=study_forecast.advice(sheet),
    )


@dataclass(frozen=True)
class StandingOnPage:
    """Newest figures on first place of a study that has opened, and the effect of more answers, people or items. Each `forecast` has its
    words, half the interval in hundredths, and whether it helps most."""

    looks: str
    taken: list[InterimAnalysis]
    made_at: datetime | None
    sentences: list[str]
    forecast: list[tuple[str, float, bool]]
    metric: str
    items: str


def _standing(study: Study) -> StandingOnPage | None:
    """None while there are no figures."""
    done = study.analyses.filter(criterion=study.main_criterion, content__isnull=False).first()
    summary = done.summary if done else None
    if done is None or summary is None or study.state == Study.State.DRAFT:
        return None
    forecast, noun, rows = summary.forecast, study.noun, []
    sampled = sampled_noun(noun, summary.unsampled)
    if forecast is not None:
        wider = {"answers": "votes by these raters", "raters": "people", "samples": plural(sampled)}
        rows = [("as it is", 100 * forecast.now, False)]
        for name, what in wider.items():
            more, half = getattr(forecast, name)
            rows.append((f"with {more:,} more {what}", 100 * half, name == forecast.helps))
    metric = next((line.title for line in summary.metrics if forecast is not None and line.key == forecast.metric), "")
    sentences = [one.text for one in words.sentences(summary, ())] + [words.fragile(summary, sampled)]
    return StandingOnPage(
        looks=words.interim_analyses(InterimAnalysis.so_far(study, summary.answers)),
        taken=list(study.looks.all()),
        made_at=done.finished_at,
        sentences=[one for one in sentences if one],
        forecast=rows,
        metric=metric,
        items=plural(noun),
    )

"""Challenges of metrics: what they are, their boards, and where a program is sent."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.models import MetricProgram
from evaluation.programs.results import Cause
from leaderboard.console.forms.programs import ProgramForm
from leaderboard.models import MetricChallenge, MetricEntry
from leaderboard.models.metric_challenge import Standings
from leaderboard.records.agreement import LOW_COVERAGE, NO_BETTER, Line
from leaderboard.stats.metric_board import Standing
from leaderboard.stats.records import REFERENCE_TITLES
from leaderboard.stats.states import State
from leaderboard.wording import agreement
from leaderboard.wording.nouns import plural
from leaderboard.wording.reasons import sentence
from submissions.errors import Refused
from submissions.visibility import visible_challenges

NOT_COMPUTED = "could not be computed on this study"  # for any cause: more would reveal hidden items
CAUSES = {
    Cause.LOAD: "It does not start: its file or a package that it names does not load.",
    Cause.RAISED: "It raises an error.",
    Cause.ENDED: "Its process ended before it answered, or answered in another form than agreed.",
    Cause.TIME: "It takes longer than ten times the seconds that metric.yaml declares.",
    Cause.MEMORY: "It needs more than ten times the memory that metric.yaml declares.",
    Cause.SIZE: "It answers with, or writes, more than it may.",
    Cause.EXIT: "Its command ends with an exit status other than 0.",
    Cause.ANSWER: "Its answer is not a number, nor value, status, parts and note as the documentation describes them.",
    Cause.BOUNDS: "It gives a value outside the bounds that metric.yaml declares.",
    Cause.SAID: "It says itself that it failed.",
    Cause.NO_VALUES: "It has no value for any of the models.",
    Cause.DIRECTION: "It gives each damaged model a better value than the model itself.",
    Cause.DIFFERS: "It gives the same models other values when it runs again; draw from params['seed'].",
    Cause.CHECK: "It failed a check.",
    Cause.SERVICE: "The service could not check it.",
}


EARLIER = "This leaderboard was made by an earlier rule, which did not compare metrics with another rater."
REFERENCE_WORDS = {
    "constant": "knows nothing",
    "coin": "knows nothing",
    "size": "the larger entry first",
    "reference only": "the same for all entries of an item",
}


@dataclass(frozen=True)
class Row:
    """One row of a leaderboard in full: a metric by its agreement with people, whose it is, and the key of its page where that is shown."""

    line: Line
    by: str
    own: bool
    key: str

    @property
    def interval(self) -> str:
        """Its 95 % interval, or why there is none."""
        figure = self.line.figure
        if self.line.key == "constant" and self.line.reference_point and figure.value is not None:
            return "half of every comparison"
        if figure.low is None or figure.high is None:
            return sentence(figure.reason, self.line.noun)
        rough = f"; {agreement.rough(plural(self.line.noun))}" if figure.state is State.ROUGH else ""
        return f"{figure.low:.3f} to {figure.high:.3f}{rough}"


@dataclass(frozen=True)
class Full:
    """A leaderboard in full: its sentence on the best metric, its rows, and, of an earlier rule, which that was."""

    claim: str
    rows: list[Row]
    earlier: str


def seen(request: HttpRequest) -> QuerySet[MetricChallenge]:
    """Challenges of metrics that somebody may see, once they have begun."""
    rows = MetricChallenge.objects.filter(study__phase__challenge__in=visible_challenges(request.user), opens_at__lte=timezone.now())
    return rows.select_related("study__phase__challenge")


@require_safe
def challenges(request: HttpRequest) -> HttpResponse:
    """All there are."""
    return render(request, "leaderboard/metric_challenges.html", {"rows": list(seen(request)), "now": timezone.now()})


@require_http_methods(["GET", "HEAD", "POST"])
def challenge(request: HttpRequest, pk: int) -> HttpResponse:
    """The board of one, and the form for an entry."""
    row = get_object_or_404(seen(request), pk=pk)
    form = ProgramForm()
    del form.fields["is_public"]
    if request.method == "POST":
        if not request.user.is_authenticated:
            return redirect_to_login(request.path)
        form = ProgramForm(request.POST, request.FILES)
        del form.fields["is_public"]
        if form.is_valid() and _entered(request, row, form):
            return redirect(request.path)
    now = timezone.now()
    over, standings = row.is_over(now), row.shown_standings(now)
    context = {
        "row": row,
        "form": form,
        "mine": _mine(row, request.user, standings) if request.user.is_authenticated else [],
        "full": full(row, "final", standings, request.user) if over else None,
        "rounded": [] if over else _rounded_lines(row, standings, request.user),
        "open": row.is_open(now),
        "over": over,
        "left": row.left(request.user) if request.user.is_authenticated else None,
        "organizes": row.challenge.organizers.filter(pk=request.user.pk).exists(),
    }
    return render(request, "leaderboard/metric_challenge.html", context)


@dataclass(frozen=True)
class Own:
    """An entry as its entrant sees it: the label of its state, and a sentence of the service's own."""

    entry: MetricEntry
    label: str
    sentence: str


def _mine(row: MetricChallenge, user: Any, standings: Standings | None) -> list[Own]:
    """The entries of somebody, the newest first."""
    shown = standings or Standings()
    on_board = {one["key"] for one in shown.get("public", [])}
    found = []
    for entry in row.entries.filter(user=user).select_related("program"):
        program = entry.program
        if program.state == MetricProgram.State.FAILED:
            used = "This used up no upload; send it again." if program.cause == Cause.SERVICE else "This used up an upload."
            sentence = f"{CAUSES[Cause(program.cause)]} {used}"
        elif program.state == MetricProgram.State.WAITING or str(entry.pk) in on_board:
            sentence = ""
        elif entry.pk in shown.get("without", []):
            sentence = f"It {NOT_COMPUTED}."
        else:
            sentence = "Its agreement with people is shown from a midnight (UTC) on, while no newer one of yours counts."
        found.append(Own(entry, program.get_state_display(), sentence))
    return found


def _entered(request: HttpRequest, row: MetricChallenge, form: ProgramForm) -> bool:
    sent = form.cleaned_data["file"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.zip"
        with path.open("wb") as target:
            target.writelines(sent.chunks())
        try:
            entry = row.enter(request.user, path, sent.name)
        except Refused as refused:
            form.add_error("file", refused.sentence)
            return False
    messages.success(
        request, f"{entry.program.read.title} version {entry.program.version} is uploaded. We check it, then compare it with people."
    )
    return True


@dataclass(frozen=True)
class Rounded:
    """One row of a board before the end. Of an entry it is its decided agreement in whole percent, and whether that is above chance and
    of nearly all comparisons; of a reference point, which no program changes, also the interval."""

    title: str
    by: str
    percent: int | None
    words: str
    reference_point: bool
    own: bool
    key: str  # of its page, where it is shown


def _rounded_lines(row: MetricChallenge, standings: Standings | None, user: Any) -> list[Rounded]:
    """The public half for everybody before the end, the highest percentage first. Anything more would reveal more about hidden items."""
    rows, points = [], []
    for one, entry in _with_entries(row, standings, "public"):
        line = _line(row, one, entry)
        figure, percent = line.figure, line.percent
        if entry is None:
            known = one.key == "constant" and figure.n
            between = "" if line.low is None else f"{line.low} to {line.high} %"
            words = "half of every comparison" if known else between or sentence(figure.reason, line.noun)
            percent = 50 if known else percent
            points.append(Rounded(line.title, REFERENCE_WORDS[one.key], percent, words, True, False, ""))
            continue
        chance = "not shown to be better than chance" if line.level in NO_BETTER else "better than chance"
        words = NOT_COMPUTED if percent is None else chance
        if percent is not None and figure.coverage is not None and figure.coverage < LOW_COVERAGE:
            words += f"; it has a value for fewer than {100 * LOW_COVERAGE:.0f} % of the comparisons"
        by, own, key = _whose(entry, user)
        rows.append(Rounded(line.title, by, percent, words, False, own, key))
    rows.sort(key=lambda line: (line.percent is None, -(line.percent or 0), line.title.lower(), line.by))
    return rows + points


def full(row: MetricChallenge, half: str, standings: Standings | None, user: Any) -> Full:
    """The leaderboard of a half in full: for everybody after the end, and for organizers."""
    rows = []
    for one, entry in _with_entries(row, standings, half):
        line = _line(row, one, entry)
        if entry is None:
            rows.append(Row(line, REFERENCE_WORDS[one.key], False, ""))
            continue
        rows.append(Row(line, *_whose(entry, user)))
    claim = agreement.claim(replace(one.line, title=f"{one.line.title} by {one.by}") for one in rows)
    return Full(claim, rows, EARLIER if rows and "people" not in (standings or {}) else "")


def _whose(entry: MetricEntry, user: Any) -> tuple[str, bool, str]:
    """Name of the sender of an entry, whether that is the user, and the key of its page where that is shown to them."""
    own = user.is_authenticated and entry.user_id == user.pk
    return entry.user.username, own, entry.program.full_key if entry.program_is_shown_to(user) else ""


def _line(row: MetricChallenge, one: Standing, entry: MetricEntry | None) -> Line:
    return Line(
        title=REFERENCE_TITLES[one.key] if entry is None else entry.program.read.title,
        figure=one.decided,
        standing=one.standing,
        places=one.places,
        reference_point=one.reference_point,
        above_size=one.above_size,
        key=one.key,
        noun=row.study.noun,
        compared=one.decided.coverage is not None,
    )


def _with_entries(row: MetricChallenge, standings: Standings | None, half: str) -> list[tuple[Standing, MetricEntry | None]]:
    """Each standing of a half with its entry; None of a reference point. Entries that are gone are left out."""
    found = MetricEntry.objects.filter(contest=row).select_related("program__challenge", "user", "contest__study__phase__challenge")
    entries = {str(entry.pk): entry for entry in found}
    known = MetricChallenge.read(standings, half)
    return [(one, entries.get(one.key)) for one in known if one.reference_point or one.key in entries]

"""The board of a phase, and a snapshot of it at its own address."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Case, F, IntegerField, OuterRef, Q, Subquery, Sum, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from evaluation.metrics import registry
from evaluation.models import Evaluation, EvaluationBatch, Part, PhaseMetric
from evaluation.models.batch import sentences
from evaluation.networks import weights
from leaderboard.boards import first_place, metric_evidence
from leaderboard.boards.people import People, of_board
from leaderboard.boards.rows import STATED, BoardRows, Choice
from leaderboard.boards.slope import slope, split_of
from leaderboard.evidence.shown import leading
from leaderboard.exports.citation import Citation
from leaderboard.exports.tables.file_formats import FILE_FORMATS
from leaderboard.exports.tables.table import Caption
from leaderboard.lookup import audience_of, not_shown_yet, page_number, page_numbers, search_text, shown_board, snapshot_of
from leaderboard.models import Snapshot
from leaderboard.models.snapshot import Seen, read_board
from leaderboard.records.board import PEOPLE, MetricColumn
from leaderboard.records.study import HIDDEN_NAME
from leaderboard.service.page_cache import kept
from leaderboard.service.responses import attachment
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.studies import paper_figures
from leaderboard.viewer import thumbnails
from leaderboard.views import answer_sets
from leaderboard.wording import agreement, certainty, contradiction
from leaderboard.wording import board as board_words
from leaderboard.wording import claim as claim_words
from leaderboard.wording import people as people_words
from leaderboard.wording import study as study_words
from leaderboard.wording.nouns import plural, sampled_noun
from leaderboard.wording.statement import Statement
from submissions.errors import Refused
from submissions.lookup import YEAR, PhasePlace, phase_place
from submissions.models import Phase, Status, Submission
from submissions.models.frozen_board import frozen_since
from submissions.models.quota import quota_of
from submissions.wording import label

MAX_COLUMNS = 100
SLUG = re.compile(r"[a-z0-9_]{1,80}")
MAX_QUEUED = 1000  # entries in progress that are looked at for the facts line


@dataclass(frozen=True)
class Head:
    """The address that sorts by a column, or turns the order round if it is sorted by it; `aria` says which way it is sorted."""

    sort_url: str
    aria: str

    @classmethod
    def of(cls, request: HttpRequest, rows: BoardRows, slug: str, higher_is_better: bool = False) -> Self:
        query = request.GET.copy()
        query.pop("page", None)
        here = rows.choice.sort == slug
        query["sort"] = slug
        if here and not rows.choice.worst_first:
            query["order"] = "reversed"
        else:
            query.pop("order", None)
        aria = ("descending" if higher_is_better != rows.choice.worst_first else "ascending") if here else ""
        return cls(f"?{query.urlencode()}", aria)


@dataclass(frozen=True)
class BoardColumn:
    """A metric of the table with all that its head says; `statement` is of the weights behind it."""

    metric: MetricColumn
    head: Head
    evidence_url: str
    tests: str
    people: people_words.Head | None
    statement: str
    about: str  # what it measures, in a sentence; empty for metrics of organizers

    @classmethod
    def of(cls, request: HttpRequest, place: PhasePlace, rows: BoardRows, metric: MetricColumn, people: People | None) -> Self:
        spec, line = registry.find(metric.key), people.line(metric.slug) if people else None
        return cls(
            metric,
            Head.of(request, rows, metric.slug, metric.higher_is_better),
            evidence_url(place, metric) if metric.key else "",
            metric_evidence.shipped_words(metric.fingerprint),
            people_words.head(people.found, line) if people and line else None,
            weights.statement(spec, metric.params) if spec else "",
            spec.brief if spec else "",
        )

    @property
    def clean_range(self) -> tuple[float, float] | None:
        """Range of any scene's clean views, if the column judges by these and passed its acceptance test; older rankings have none."""
        bands = self.metric.clean
        return (min(band[2] for band in bands), max(band[3] for band in bands)) if bands else None


def board(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """The newest ranking, sorted and filtered as the address says, with the viewer's entries in progress."""
    place = phase_place(request.user, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "board")
    audience = Snapshot.Audience.PUBLIC if request.GET.get("view") == "public" else audience_of(place.viewer)
    snapshot = Snapshot.current(place.phase, audience)
    context = place.context("board") | table_context(request, place, snapshot) | standing_context(place)
    context |= _scoring_context(place, snapshot) | _asking_context(place, snapshot, audience)
    # The clock decides, not the snapshot: no ranking is made at the moment of the freeze.
    context["frozen"] = audience == Snapshot.Audience.PUBLIC and frozen_since(place.phase, place.now) is not None
    if snapshot is not None:
        # The sentence that a pasted link of the board shows.
        front = snapshot.front
        said = contradiction.statement(front.parted) if front and front.parted else contradiction.first(front) if front else ""
        counts = board_words.size(snapshot.n_entries, snapshot.n_teams if place.phase.has_teams else None)
        table_url = reverse("snapshot_export", args=[challenge, phase, snapshot.digest, "csv"])
        context |= {"share_words": f"{said} {counts}.".strip(), "table_url": table_url}
    response = render(request, "leaderboard/board.html", context)

    # The columns that the address chose are kept in the browser; "usual" forgets them.
    chosen = [slug for slug in request.GET.getlist("column")[:MAX_COLUMNS] if SLUG.fullmatch(slug)]
    path = reverse("board", args=[challenge, phase])
    if "usual" in chosen:
        response.delete_cookie(columns_cookie(place.phase), path=path)
    elif chosen:
        response.set_cookie(columns_cookie(place.phase), ".".join(chosen), max_age=YEAR * 86_400, path=path, samesite="Lax")
    return response


def _scoring_context(place: PhasePlace, snapshot: Snapshot | None) -> dict:
    """Values of other versions of their metrics than this service computes, and what is computed or read again."""
    outdated = snapshot.batch.outdated() if snapshot is not None else []
    latest = EvaluationBatch.latest(place.phase) if outdated else None
    again = latest if latest is not None and latest.state == EvaluationBatch.State.BUILDING and not latest.outdated() else None
    context = {"outdated": sentences(outdated), "waits": any(not column.computed for column in outdated)}
    context |= {"again": again.progress() if again else None, "stale": snapshot and snapshot.revision < place.phase.board_revision}
    if place.challenge.kind.reader > 1 and place.phase.has_files:  # files of other kinds were never read otherwise
        context["read_anew"] = EvaluationBatch.is_prepared(place.phase)
        context["misread"] = snapshot and snapshot.batch.reference and snapshot.batch.reference.misread
    return context


def _asking_context(place: PhasePlace, snapshot: Snapshot | None, audience: str) -> dict:
    """Studies that have begun: one that asks everybody, and one of which the ranking says nothing yet."""
    studies = list(place.phase.studies.begun().order_by("-created_at", "-pk"))
    asking = next((study for study in studies if study.asks_everybody(place.now)), None)
    context: dict = {"rate_url": reverse("rate", args=[asking.key]) if asking else ""}
    if snapshot is None or snapshot.board.people is not None:
        return context
    begun = next((study for study in studies if study.is_public or audience == Snapshot.Audience.ORGANIZERS), None)
    answer_set = answer_sets.of_study(begun) if begun is not None else None
    if answer_set is not None:
        found = leading(answer_set.record) if answer_set.record is not None else None
        context |= {"brought": begun, "published": found}
    return context | {"begun": begun}


def snapshot(request: HttpRequest, challenge: str, phase: str, digest: str) -> HttpResponse:
    """One ranking as it was, for good, and how to cite it."""
    place = phase_place(request.user, challenge, phase)
    if not place.sees_board:
        return not_shown_yet(request, place, "board")
    ranking = snapshot_of(place.phase, place.viewer, digest)
    if digest != ranking.digest:
        return redirect("snapshot", challenge, phase, ranking.digest)
    current = Snapshot.current(place.phase, ranking.audience)
    context = place.context("board") | table_context(request, place, ranking)
    unnamed = [entry.id for entry in ranking.board.entries if entry.name == HIDDEN_NAME]
    hidden = Submission.objects.filter(pk__in=unnamed).values_list("hidden_at", "disqualified_at") if unnamed else []
    context |= {
        "is_current": current is not None and current.pk == ranking.pk,
        "cite": citation(place, ranking),
        "n_unnamed": len(unnamed),
        "unnamed_at": max((at for both in hidden for at in both if at is not None), default=None),
    }
    people = ranking.board.people
    context["withdrawn"] = people_words.withdrawn(ranking.withdrawn, people is not None and people.kind == "opinions")
    context["outdated"] = sentences(ranking.batch.outdated())
    context["earlier_forms"] = ranking.earlier_forms.defer("payload")
    return render(request, "leaderboard/snapshot.html", context)


def snapshot_export(request: HttpRequest, challenge: str, phase: str, digest: str, kind: str) -> HttpResponse:
    """A snapshot's table as a file, in the order and with the filters of the address."""
    place = shown_board(request.user, challenge, phase)
    ranking = snapshot_of(place.phase, place.viewer, digest)
    # A file has all pages and all metrics; of what teams state it has what the address names.
    stated = tuple(key for key in request.GET.getlist("column")[:MAX_COLUMNS] if key.startswith(STATED))
    choice = replace(choice_of(request, place.phase), page=1, columns=stated)
    content = written(ranking.seen, choice, place.viewer.team_id if choice.mine else None, caption(place, ranking), kind)
    response = HttpResponse(content, content_type=f"{FILE_FORMATS[kind].content_type}; charset=utf-8")
    name = f"{place.challenge.slug}-{place.phase.slug}-{ranking.short}.{kind}"
    return attachment(response, name)


def snapshot_content(request: HttpRequest, challenge: str, phase: str, digest: str) -> HttpResponse:
    """The bytes that a digest is of: the ranking's own, or its bytes before the form of rankings changed."""
    place = shown_board(request.user, challenge, phase)
    ranking = snapshot_of(place.phase, place.viewer, digest)
    if ranking.board is not read_board(ranking.pk, ranking.digest):
        raise Refused("These bytes name entries or figures that have been hidden since. Ask the organizers for them.", "hidden_since")
    response = HttpResponse(ranking.content(digest), content_type="application/json")
    return attachment(response, f"{place.challenge.slug}-{place.phase.slug}-{digest[:8]}-content.json")


def choice_of(request: HttpRequest, phase: Phase) -> Choice:
    """Sort, filters and page from the address; the columns from there, or as they were chosen last in this browser."""
    asked = request.GET
    columns = asked.getlist("column") or request.COOKIES.get(columns_cookie(phase), "").split(".")
    chosen = tuple(slug for slug in columns[:MAX_COLUMNS] if SLUG.fullmatch(slug))
    return Choice(
        sort=asked.get("sort", "rank"),
        worst_first=asked.get("order") == "reversed",
        text=search_text(request),
        baselines=asked.get("baselines") != "no",
        mine=asked.get("mine") == "yes",
        page=page_number(request),
        columns=None if "usual" in columns or not chosen else chosen,
    )


def columns_cookie(phase: Phase) -> str:
    """Name of the cookie that keeps which columns of the phase's board somebody chose."""
    return f"columns-{phase.pk}"


def table_context(request: HttpRequest, place: PhasePlace, snapshot: Snapshot | None) -> dict:
    """Context of the table, and of what people say beside it; empty before the first snapshot."""
    if snapshot is None:
        return {"snapshot": None, "rows": None}
    board = snapshot.board
    rows, facts = ordered(snapshot.seen, choice_of(request, place.phase), place.viewer.team_id)
    people = rows.said
    sees_pictures = not board.imported and place.viewer.may("phase.see_reference", place.phase)
    pictured = f"{snapshot.batch_id}.{thumbnails.VERSION}" if sees_pictures else ""
    names = place.challenge.slug, place.phase.slug, place.phase.time_zone, get_language()
    lines, popovers = rendered(snapshot.seen, rows.choice, rows.theirs, *names, pictured)
    every_column = [(name, request.GET[name]) for name in ("sort", "view") if name in request.GET]
    every_column += (("column", slug) for slug in (*(metric.slug for metric in rows.metrics), *rows.stated_in_sight))
    value_title = board_words.VALUE_TITLES.get(board.overall.rule, "")
    in_rule = board.overall.metrics if board.overall.rule != "primary" else ()
    return (
        {
            "units": plural(board.resampled),
            "snapshot": snapshot,
            "ranking": board,
            "rows": rows,
            "rule": board_words.rule(board.rule),
            "n_folded_of_rule": sum(metric.slug in in_rule for metric in rows.folded),
            "entry_words": board_words.ENTRIES[board.phase.entries],
            "value_title": value_title,
            "columns": [BoardColumn.of(request, place, rows, metric, people) for metric in rows.visible_metrics],
            "lines": lines,
            "popovers": popovers,
            "every_column": urlencode(every_column),
            "n_columns": len(rows.visible_metrics) + len(rows.stated_in_sight) + sum(map(bool, (rows.people, value_title, rows.folded))),
            "people_column": rows.people,
            "people_head": Head.of(request, rows, PEOPLE, True),
            "rank_head": Head.of(request, rows, "rank"),
            "name_head": Head.of(request, rows, "name"),
            "date_head": Head.of(request, rows, "date", True),
            "pages": page_numbers(rows.page, rows.n_pages),
            "file_formats": FILE_FORMATS.values(),
            "is_filtered": bool(rows.choice.text or rows.choice.mine or not rows.choice.baselines),
        }
        | facts
        | (_people_context(place, people) if people else {})
    )


def _people_context(place: PhasePlace, people: People) -> dict:
    """Context of what people say of the entries of a ranking."""
    board, found, claim, split = people.board, people.found, people.claim, split_of(people)
    printed = paper_figures.printed(board.imported.url if board.imported else "")
    peoples_first = Statement()
    if found.firm and found.first is not None:
        # The range that the column of people shows.
        ends = people.place(found.first) if found.places else found.firm.rank
        peoples_first = certainty.peoples_first(board.entries[found.first].name, ends[1] if ends else 1, found.firm.settled)
        peoples_first += study_words.fragile(found.firm, sampled_noun(people.noun, not people.sampled))
    return {
        "people": people,
        "missing": people_words.missing(found, people.lines, people.noun),
        "rough": people_words.rough_on_board(found, people.noun),
        "people_charts": people.charts(),
        "claim": claim,
        "said": claim_words.statement(claim) if claim else None,
        "said_below": claim_words.details(claim, people.noun, found.why) if claim else "",
        "split": contradiction.split(split) if split is not None else "",
        "slope": slope(people, split) if claim is not None and claim.of_two else None,
        "people_url": reverse("study", args=[place.challenge.slug, place.phase.slug, people.study.slug]),
        "orders": [OrderRow(people.titles.get(slug, slug), line.rho, printed.get(slug)) for slug, line in people.columns.items()]
        if people.only_means
        else [],
        "peoples_first": peoples_first,
    }


@kept(size=8)
def written(
    seen: Seen,
    choice: Choice,
    team: int | None,
    caption: Caption,
    kind: str,
) -> bytes:
    """A file of the board: it never changes, and of thousands of entries it takes a fifth of a second to write."""
    return FILE_FORMATS[kind].write(BoardRows(seen.board, choice, team).table(caption)).encode()


@kept(size=64)
def ordered(seen: Seen, choice: Choice, team: int | None) -> tuple[BoardRows, dict[str, Any]]:
    """The rows of a board in the order of the choice, and the statements on all its entries. Both look at every entry, and are the same
    whenever the same ranking is read."""
    board = seen.board
    rows = BoardRows(board, choice, team)
    return rows, {
        "partial": certainty.partial(board, rows.standing),
        "foot": certainty.foot(board, rows.standing),
        "made_before": certainty.before(board),
        "leads": certainty.leads(board, rows.standing),
        "first_place": certainty.first_place(board),
        "ranges": first_place.by_rule(board),
        "peoples_ranges": first_place.by_people(rows.said),
    }


@kept(size=128)
def rendered(
    seen: Seen,
    choice: Choice,
    team: int | None,
    challenge: str,
    phase: str,
    zone: str,
    language: str,
    pictured: str,
) -> tuple[SafeString, SafeString]:
    """The rows of a page of the board and the notes on single values, as HTML. This is most of the page's work, and the result is the same
    for all viewers with the same rights and choices. `pictured` names the pictures of its entries, if the viewer may see them."""
    whole, (rows, _) = seen.board, ordered(seen, choice, team)
    people, drawn = whole.people, rows.lines
    context = {
        "rows": rows,
        "lines": drawn,
        "widths": board_words.widths(drawn),
        "pictured": pictured,
        "value_title": board_words.VALUE_TITLES.get(whole.overall.rule, ""),
        "challenge": challenge,
        "phase": phase,
        "zone": zone,
        "people_url": reverse("study", args=[challenge, phase, people.study.slug]) if people else "",
    }
    lines, popovers = (render_to_string(f"leaderboard/parts/{name}.html", context) for name in ("lines", "against"))
    return lines, popovers


@dataclass(frozen=True)
class OrderRow:
    """Likeness of a metric's order and the published means' order, beside the figure that the paper itself prints."""

    title: str
    rho: Figure
    printed: float | None


def evidence_url(place: PhasePlace, column: MetricColumn | PhaseMetric) -> str:
    """The metric's page at its table of properties, for the parameters that this column has."""
    query = {"phase": f"{place.challenge.slug}/{place.phase.slug}", "column": column.slug, "fingerprint": column.fingerprint[:16]}
    return f"{reverse('metric', args=[column.key])}?{urlencode(query, safe='/')}#properties"


# --- the line of facts and the viewer's own entries in progress ---------------------------------


def standing_context(place: PhasePlace) -> dict:
    """The queue, the uploads the viewer's team has left, and its entries in progress: how far they are is None while unknown."""
    team = place.viewer.team_id
    entries = Submission.objects.filter(phase=place.phase).in_progress().order_by("received_at", "id")
    entries = entries.filter(~Q(status=Status.UPLOADING) | Q(upload_expires_at__gt=place.now))
    if team is None:
        queued = list(entries.only("id", "status", "received_at", "team_id")[:MAX_QUEUED])
    else:
        parts = Part.objects.filter(evaluation__submission=OuterRef("pk"), evaluation__batch__state=EvaluationBatch.State.CURRENT)
        parts = parts.order_by().values("evaluation__submission")
        items = F("stop") - F("start")
        started = Evaluation.objects.filter(submission=OuterRef("pk"), batch__state=EvaluationBatch.State.CURRENT)
        progress = {
            "n_done": Subquery(parts.annotate(n=Sum(items, filter=Q(state=Part.State.DONE))).values("n"), output_field=IntegerField()),
            "n_total": Subquery(parts.annotate(n=Sum(items)).values("n"), output_field=IntegerField()),
            "begun_at": Subquery(started.values("started_at")[:1]),
        }
        # Only of the viewer's own is asked how far they are.
        own_progress = {name: Case(When(team_id=team, then=query), default=None) for name, query in progress.items()}
        queued = list(entries.annotate(**own_progress).select_related("team")[:MAX_QUEUED])

    own = []
    for entry in queued:
        if team is None or entry.team_id != team:
            continue
        entry.phase = place.phase
        done, total, left = entry.n_done or 0, entry.n_total or 0, None
        if entry.begun_at and 0 < done < total:
            left = (place.now - entry.begun_at).total_seconds() * (total - done) / done
        own.append(
            {
                "entry": entry,
                "status": label(entry.state.state).capitalize(),
                "done": done,
                "total": total,
                "percent": round(100 * done / total) if total else None,
                "seconds_left": left,
            }
        )

    oldest = min((entry.received_at for entry in queued if entry.received_at), default=None)
    return {
        "n_queued": sum(entry.status != Status.UPLOADING for entry in queued),
        "oldest": (place.now - oldest).total_seconds() if oldest else None,
        "own": own,
        "quota": quota_of(place.phase, team, place.now) if team is not None and place.phase.takes_uploads(place.now) else None,
        "team_id": team,
    }


# --- citing --------------------------------------------------------------------------------


def caption(place: PhasePlace, snapshot: Snapshot) -> Caption:
    """Source of an exported table."""
    path = reverse("snapshot", args=[place.challenge.slug, place.phase.slug, snapshot.digest])
    simulated = " (simulated data)" if place.challenge.simulated else ""
    made = snapshot.created_at
    board = snapshot.board
    phase = f"{place.phase.title} (figures imported from {board.imported.source})" if board.imported else place.phase.title

    # The study of the table's agreement with people, and how many of its answers were withdrawn.
    people, study = of_board(board), ""
    if people is not None:
        lines = (people.line(slug) for slug in people.columns)
        title = f"{people.study.title}{' (simulated)' if people.study.simulated else ''}"
        study = f"{title}, {people_words.basis(people.basis)}, {people.at:%Y-%m-%d}"
        study += "".join(f"; {line.title}: {agreement.trained(line)}" for line in lines if line is not None and line.trained)
        study += f"; {people_words.withdrawn(snapshot.withdrawn, people.opinions)}" if snapshot.withdrawn else ""

    return Caption(
        f"{place.challenge.title}{simulated}", phase, snapshot.short, f"{made:%Y-%m-%dT%H:%MZ}", f"{settings.SITE_URL}{path}", study
    )


def citation(place: PhasePlace, snapshot: Snapshot) -> Citation:
    """A citation that names this very ranking."""
    source, made = caption(place, snapshot), snapshot.created_at
    when = f"{made.day} {made:%B %Y, %H:%M} UTC"
    line = f"{source.challenge}, {source.phase}. Plumbline leaderboard, snapshot {snapshot.short}, {when}. {source.address}"
    title = f"{source.challenge}, {source.phase}: leaderboard snapshot {snapshot.short}"
    names, key = place.challenge.organizer_names, f"plumbline-{place.challenge.slug}-{snapshot.short}"
    return Citation(key, title, line, made, source.address, snapshot.short, names)

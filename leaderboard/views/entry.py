"""One entry: its state, its scores, its items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from evaluation.models import Evaluation, Score
from evaluation.work.progress import standing
from leaderboard.boards import build
from leaderboard.boards.entry_summary import above, entry_summary, strips
from leaderboard.boards.people import of_board
from leaderboard.boards.scorecard import ItemTable, Result, current_evaluation, results
from leaderboard.boards.unranked import untested
from leaderboard.entry_states import states
from leaderboard.lookup import current_ranking, page_numbers, page_of
from leaderboard.models import Snapshot
from leaderboard.models.analysis import StudyAnalysis
from leaderboard.models.snapshot import Seen
from leaderboard.records.board import Board
from leaderboard.records.unit import Unit
from leaderboard.stats.minimums import GROUPS_FOR_BOARD_INTERVAL
from leaderboard.stats.records import EntryPair
from leaderboard.stats.uncertainty import ALPHA, Paired, paired, unit_matrix
from leaderboard.viewer import render_scene
from leaderboard.views.gallery import gallery
from leaderboard.views.methods import elsewhere
from leaderboard.wording import certainty
from leaderboard.wording import entry_summary as summary_words
from leaderboard.wording.digits import rounded
from leaderboard.wording.figures import interval
from leaderboard.wording.nouns import plural
from leaderboard.wording.people import no_place
from submissions.errors import Refused
from submissions.forms import EntryForm
from submissions.lookup import EntryPlace, entry_place
from submissions.models import Status, Submission
from submissions.permissions import allowed
from submissions.visibility import hidden_from, visible_entries
from submissions.wording import label, sentence

ITEMS_PER_PAGE = 100
MAX_TRIES = 20  # of a team, the newest
ASKED = ("see_scores", "see_items", "see_geometry", "see_render", "download", "manage", "send", "retry")
DIAGNOSES = {  # by what `submissions.formats.box_alignment.diagnosis` says
    "size": (
        "The unit looks wrong",
        "Most {items} of the entry differ from the reference in size by a power of ten, as millimetres do from metres. The unit of this "
        "phase is {unit}.",
    ),
    "axes": (
        "The axes look swapped",
        "Most {items} of the entry would fit the reference if their axes were in another order or reversed. Check which axis points up.",
    ),
    "place": (
        "The entry is in another place",
        "Most {items} of the entry are offset from the reference, as local coordinates are from projected coordinates.",
    ),
    "fits": (
        "No unit, axis or offset error found",
        "We compared the box around each of the entry's {items} with the box around its reference. For most {items} size, order of axes "
        "and place agree. This check does not compare the shapes.",
    ),
}


def entry(request: HttpRequest, pk: int) -> HttpResponse:
    """Everything about one entry that this viewer may see; of one that left the board as disqualified, only that, when and why."""
    place = entry_place(request.user, pk, "submission.see_state")
    submission, phase = place.submission, place.submission.phase
    if not place.may("see"):
        return render(request, "leaderboard/entry_disqualified.html", place.phase_place.context("entries") | {"it": submission})
    context = base_context(place)
    evaluation = current_evaluation(submission)
    if submission.status != Status.SCORED or not evaluation or not place.may("see_scores"):
        return render(request, "leaderboard/entry.html", context | progress_context(place))

    snapshot = current_ranking(place.phase_place)
    board = snapshot.board if snapshot else None
    scored, waiting = results(evaluation, board), evaluation.waiting()
    index = board.index_of(submission.pk) if board and submission.disqualified_at is None else None  # the newest ranking may have it still
    context |= {
        "results": scored,
        "waiting": waiting,
        "evaluation": evaluation,
        # Metrics whose median, worst and best may be lengths of a reference that the viewer may not see.
        "means_alone": [] if place.viewer.may("phase.see_reference", phase) else [one.slug for one in scored if one.score.holds_lengths],
        # Of a published table only some have intervals: those with values of enough items.
        "has_intervals": phase.is_measured_here or any(None not in result.cell.ends for result in scored),
        "has_micro": any(result.score.extra for result in scored),
        "certainty": _certainty(evaluation, scored, snapshot, index),
        "units": plural(Unit.of(evaluation.batch.groups, phase.challenge).noun),
        "tries": _tries(place, board),
        "elsewhere": elsewhere(request.user, submission, place.viewer.now),
    }
    context |= progress_context(place, board, [metric.title for metric in waiting])
    if context["own"]:
        context["worst"] = _worst(scored, place.may("see_items"))

    if board is not None and index is not None:
        context |= _ranked_context(place, evaluation, board, index)
    if place.may("see_items"):
        context |= _items_context(request, place, evaluation, scored)
    return render(request, "leaderboard/entry.html", context)


def _ranked_context(place: EntryPlace, evaluation: Evaluation, board: Board, index: int) -> dict:
    """Context of an entry's place in the ranking, by the metrics and with people."""
    submission, phase, people = place.submission, place.submission.phase, of_board(board)
    entry_pairs, n_open = _entry_pairs(place, board)
    return {
        "people": people,
        "no_people": "" if people is None or people.only_means else no_place(people.found, people.noun),
        "people_url": reverse("study", args=[phase.challenge.slug, board.phase.slug, people.study.slug]) if people else "",
        "board_noun": board.resampled,
        "primary_title": board.primary.title if board.primary else "",
        "summary": _summary(board, index),
        "strips": strips(board, index),
        "entry_pairs": entry_pairs,
        "n_open_pairs": n_open,
        "above": _above(place, evaluation, board, index, entry_pairs),
        "by_rule": board.rule_value(index),
        "has_badge": allowed(AnonymousUser(), "phase.see_board", phase) and allowed(AnonymousUser(), "submission.see", submission),
    }


def _items_context(request: HttpRequest, place: EntryPlace, evaluation: Evaluation, scored: Sequence[Result]) -> dict:
    """Context of an entry's items, for those who may see their values."""
    phase = place.submission.phase
    sees_reference = place.viewer.may("phase.see_reference", phase)
    table = ItemTable(evaluation, scored, request.GET.get("sort", ""), request.GET.get("order") == "best", sees_reference)
    usual = table if table.sort != "item" and not table.best_first else ItemTable(evaluation, scored, sees_reference=sees_reference)
    page = page_of(request, range(len(table.ids)), ITEMS_PER_PAGE)
    context = {
        "table": table,
        "items": table.rows(page.object_list.start, page.object_list.stop),
        "n_items": len(table.ids),
        "pages": page_numbers(page.number, page.paginator.num_pages),
        "page": page.number,
        "gallery": gallery(place, evaluation, usual),
        "scenes": render_scene.scenes(evaluation) if phase.challenge.kind.images else [],
    }
    if evaluation.diagnosis:
        title, words = DIAGNOSES[evaluation.diagnosis]
        words = words.format(items=plural(phase.challenge.item_noun), unit=phase.unit)
        context["diagnosis"] = Diagnosis(evaluation.diagnosis, title, words)
    return context


def _worst(scored: Sequence[Result], sees_items: bool) -> tuple[int, int, str] | None:
    """Metric by which most items have the worst possible value: (how many, of how many, title), if that is half of the items or more.
    A viewer who sees no values of items is told only if all have it, since the mean shows that too."""
    found = []
    for result in scored:
        low, high = result.spec.bounds
        worst = low if result.spec.higher_is_better else high
        n, of = int((result.vector == worst).sum()) if worst is not None else 0, len(result.vector)
        if 2 * n >= of > 0 and (sees_items or n == of):
            found.append((n, of, result.metric.title))
    return max(found, key=lambda one: one[0] / one[1], default=None)


def _summary(board: Board, index: int) -> dict[str, Any]:
    """Statements on an entry of the ranking."""
    summary = entry_summary(board, index)
    return {
        "rank": summary_words.verdict(summary),
        "people": summary_words.people(summary.people) if summary.people is not None else None,
        "people_basis": summary_words.people_basis(summary.people) if summary.people is not None else "",
        "extremes": summary_words.extremes(summary),
        "brief": summary_words.brief(summary),
    }


def entry_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The state alone, for polling; once the entry is done the whole page is fetched again."""
    place = entry_place(request.user, pk)
    response = render(request, "leaderboard/parts/progress.html", base_context(place) | progress_context(place))
    if place.submission.is_done:
        response["HX-Refresh"] = "true"
    return response


def base_context(place: EntryPlace) -> dict:
    """Context of every page of an entry."""
    submission = place.submission
    own = place.may("see_problems")
    return place.phase_place.context("entries") | {
        "it": submission,
        "items_noun": plural(submission.phase.challenge.item_noun),
        "may": {name: place.may(name) for name in ASKED},
        "own": own,
        "is_staff": place.viewer.is_staff,
        "no_retry": _no_retry(place),
        "unadmitted": place.viewer.unadmitted if place.may("manage") else "",
        "about_form": EntryForm(instance=submission) if place.may("manage") else None,
        "duplicates": list(submission.duplicates()[:5]) if own else [],
    }


def _no_retry(place: EntryPlace) -> str:
    """Sentence on why a member of its team cannot retry a failed entry; empty where they can."""
    if place.submission.status == Status.FAILED and place.may("manage"):
        if place.viewer.unadmitted:
            return place.viewer.unadmitted
        try:
            place.submission.place_of_retry(place.viewer.now)
        except Refused as refused:
            return refused.sentence
    return ""


def progress_context(place: EntryPlace, board: Board | None = None, lacking: Sequence[str] = ()) -> dict:
    """State of the entry in a sentence, and its progress. `lacking` names the metrics that it has no score of before a re-evaluation."""
    submission, reader = place.submission, place.viewer.reader(place.submission)
    now_at = None if submission.is_done else standing(submission)
    state = states(
        [submission],
        place.viewer.now,
        boards={} if board is None else {submission.phase_id: board},
        waits={} if now_at is None else {submission.pk: now_at.waits_for},
        lacking={submission.pk: lacking},
    )[submission.pk]
    told = state.as_told(reader)
    return {"state": told, "label": label(told.state), "sentence": sentence(state, reader), "standing": now_at}


@dataclass(frozen=True)
class Diagnosis:
    """Fit of most items of an entry to the reference, in words that tell nothing of the reference: no number, no item, no direction."""

    key: str
    title: str
    words: str


@dataclass(frozen=True)
class OwnPair:
    """One pair of the entry: how often people pick it against `other`, or for opinion scores by how many points they score it higher. It
    has its interval, its number of answers, and whether the interval excludes an even choice."""

    other: str
    other_id: int | None
    value: float
    low: float
    high: float
    answers: int
    is_sure: bool

    @classmethod
    def of(cls, pair: EntryPair, own: str, other_id: int | None, opinions: bool) -> Self | None:
        """A pair seen from the entry that is called `own`: of the two alone where enough people were asked about them, else inferred from
        other pairs; None without an interval."""
        value, low, high = pair.value if pair.asked is None or pair.asked[1] is None else pair.asked
        if value is None or low is None or high is None:
            return None
        if pair.first != own:
            value, low, high = (-value, -high, -low) if opinions else (1 - value, 1 - high, 1 - low)
        even = 0.0 if opinions else 0.5
        other = pair.second if pair.first == own else pair.first
        return cls(other, other_id, value, low, high, pair.answers, low > even or high < even)

    @property
    def points(self) -> str:
        """Words on how much higher or lower than the other it is scored, of opinion scores."""
        if f"{abs(self.value):.2f}" == "0.00":
            return f"as high as the other {interval(self.low, self.high, 2)}"
        lower = self.value < 0
        low, high = (-self.high, -self.low) if lower else (self.low, self.high)
        return f"{abs(self.value):.2f} points {'lower' if lower else 'higher'} {interval(low, high, 2)}"


def _entry_pairs(place: EntryPlace, board: Board) -> tuple[list[OwnPair], int]:
    """The entry's pairs in the study that the board follows, people's first one first, and how many more have no interval; none below the
    smallest numbers."""
    if board.people is None or board.people.reason is not None:
        return [], 0
    studies = place.submission.phase.studies.shown_to(place.viewer.organizes)
    study = studies.filter(pk=board.people.study.id).prefetch_related("analyses", "entries").first()
    hidden = hidden_from(place.viewer, place.submission.phase)
    summary = StudyAnalysis.main_summary(study, hidden) if study is not None else None
    own = next((label for label, pk in summary.entries.items() if pk == place.submission.pk), None) if summary is not None else None
    if summary is None or own is None:
        return [], 0
    order = {line.method: n for n, line in enumerate([*summary.ranked, *summary.unranked])}
    found = []
    for pair in summary.entry_pairs:
        other = pair.second if pair.first == own else pair.first
        if own not in (pair.first, pair.second) or other not in order:
            continue
        other_id = summary.entries.get(other)
        shown = other_id if other_id is not None and board.index_of(other_id) is not None else None  # others have no page for everybody
        found.append(OwnPair.of(pair, own, shown, summary.opinions))
    known = [pair for pair in found if pair is not None]
    return sorted(known, key=lambda pair: order[pair.other]), len(found) - len(known)


@dataclass(frozen=True)
class Above:
    """The entry right above in the order, by the metric that decides it. `counts` are the units on which this entry is better, equal and
    worse, None if hidden. `p` is the leaderboard's, or "". `pair` is the answer of people who were asked about the two."""

    name: str
    id: int
    rank: int
    metric: str
    difference: str
    p: str
    is_close: bool
    counts: Paired | None
    pair: OwnPair | None
    units: str


def _above(place: EntryPlace, evaluation: Evaluation, board: Board, index: int, entry_pairs: list[OwnPair]) -> Above | None:
    """None if no entry is above, or the order is not of values."""
    other, column = above(board, index), board.primary
    if other is None or column is None or column.value[index] is None or column.value[other] is None:
        return None
    entry, rank = board.entries[other], board.overall.rank[other]
    p = column.pair_p(index, other)
    mine, theirs = column.value[index], column.value[other]
    assert mine is not None and theirs is not None and rank is not None

    # On how many units the entry is better; not where values per item may not be told, or there is one value of the whole set.
    counts, batch = None, evaluation.batch
    metric = next((one for one in batch.columns if (one.slug, one.fingerprint) == (column.slug, column.fingerprint)), None)
    row = Submission.objects.select_related("phase__challenge").filter(pk=entry.id).first()
    if metric is not None and row is not None and place.may("see_items") and place.viewer.may("submission.see_items", row):
        found = build.Values.of_entries(batch, (place.submission.pk, entry.id), [column.slug])[column.slug]
        vectors = found.of_scenes(batch, column.scenes).vectors
        units = unit_matrix(vectors, batch.groups, metric.spec.level, batch.item_ids)
        if not np.isnan(units).all(axis=1).any():
            counts = paired(units[0].tolist(), units[1].tolist(), column.higher_is_better)

    return Above(
        name=entry.name,
        id=entry.id,
        rank=rank,
        metric=column.title,
        difference=rounded(abs(mine - theirs)).text,
        p="" if p is None else certainty.p_words(p),
        is_close=p is not None and p > ALPHA,
        counts=counts,
        pair=next((pair for pair in entry_pairs if pair.other_id == entry.id), None),
        units=plural(board.resampled),
    )


@dataclass(frozen=True)
class Try:
    """One of a team's entries in the phase, with what the viewer may know of its state."""

    entry: Submission
    rank: int | None
    value: float | None


def _tries(place: EntryPlace, board: Board | None) -> list[Try]:
    """The team's entries in the phase, the newest first, as far as the viewer may see them; none where this is the only one."""
    submission = place.submission
    if not submission.phase.has_teams or submission.made_as:
        return []
    rows = visible_entries(place.viewer, submission.phase).sent().filter(team=submission.team_id).order_by("-created_at", "-id")
    entries = list(rows[:MAX_TRIES])
    if len(entries) < 2:
        return []
    column = board.primary if board is not None else None
    values: dict[int, float | None] = {}
    if column is not None:
        scores = Score.objects.filter(evaluation__submission__in=entries, evaluation__batch__state="current", slug=column.slug)
        values = dict(scores.values_list("evaluation__submission_id", "value"))
    found = []
    for entry in entries:
        entry.phase, entry.team = submission.phase, submission.team
        found.append(
            Try(
                entry=entry,
                rank=board.rank_of(entry.pk) if board is not None else None,
                value=values.get(entry.pk) if place.viewer.may("submission.see_scores", entry) else None,
            )
        )
    return found


def _certainty(evaluation: Evaluation, metric_results: list[Result], snapshot: Snapshot | None, index: int | None) -> list[str]:
    """Sentences on the entry's intervals and on the range of its rank."""
    if not evaluation.batch.item_ids:
        return []
    equal = [
        (result.metric.title, result.score.n)
        for result in metric_results
        if result.score.n >= GROUPS_FOR_BOARD_INTERVAL and result.score.is_alike
    ]
    unit = Unit.of(evaluation.batch.groups, evaluation.batch.phase.challenge)
    is_whole = evaluation.batch.phase.is_measured_here or all(result.score.n == unit.n for result in metric_results)
    sentences = certainty.of_values(unit, equal) if is_whole else []
    if snapshot is None or index is None:
        return sentences
    board = snapshot.board
    column = board.primary or board.metrics[0]
    # Among all entries, as the range beside it is, whatever is hidden by now.
    alone = _alone(Seen(snapshot.pk, snapshot.digest), column.slug, index)
    together = column.rank_range(index)
    if alone and together is not None and alone != together:
        sentences.append(f"{column.title}: {certainty.alone(alone, *together)}")
    without_range = certainty.untested(untested(board, board.overall, index))
    by_rule_of_before = certainty.SENTENCES["ranks_before"] if board.uncertainty == 1 and not board.imported else ""
    return [*sentences, *filter(None, [without_range, by_rule_of_before])]


@lru_cache(maxsize=1024)
def _alone(seen: Seen, slug: str, index: int) -> tuple[int, int] | None:
    """Cached, because neither a ranking nor its scores change."""
    column = seen.board.column(slug)
    return build.alone(seen.board, column, index) if column is not None else None

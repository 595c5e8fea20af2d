"""Entries side by side. Two: the paired test of each metric, the difference per item, both in 3D. More: each metric on one line, with
brackets, and every pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.models import Evaluation, PictureRun
from leaderboard.boards import certainty
from leaderboard.boards.digits import NONE, Rounded, rounded
from leaderboard.boards.lineup import MAX_ENTRIES, LineupPair, lineup, of_board
from leaderboard.boards.payload import Board
from leaderboard.boards.scorecard import Result, current_evaluation, results
from leaderboard.charts import boards
from leaderboard.kinds import KINDS
from leaderboard.lookup import audience_of, not_shown_yet
from leaderboard.models import Snapshot, Study
from leaderboard.stats.uncertainty import ALPHA, Paired, paired, unit_matrix
from leaderboard.studies.summary import Summary
from leaderboard.studies.words import duel_brief, duel_words
from leaderboard.viewer import render_scene
from leaderboard.views.studies import hidden_from, hidden_labels, seen
from submissions.lookup import EntryPlace, PhasePlace, entry_place, phase_place, row_number
from submissions.models import Status, Submission
from submissions.visibility import own

LETTERS = "ABCDEF"
MAX_CHOICES = 300  # entries offered in the two lists
MAX_ITEMS = 1000  # rows of the table; the chart and the test use all


@dataclass(frozen=True)
class Comparison:
    """One metric of both entries. `paired` is None where per-item values are withheld, and for one value of a whole set; `p_board` is
    None where the newest ranking does not test the two."""

    a: Result
    b: Result
    paired: Paired | None
    p_board: float | None
    unit: certainty.Unit
    gap: str = ""  # how many people see the difference, where their answers tell

    @property
    def verdict(self) -> str:
        """Verdict of the test of this pair, in words."""
        test = self.paired
        if test is None or test.mean_difference is None:
            return ""
        if test.p_value is None:
            return certainty.few(test.n, self.unit)
        p = certainty.p_words(test.p_value)
        if test.p_value > ALPHA:
            return certainty.SENTENCES["not_apart"].format(p=p)
        better = "A" if (test.mean_difference > 0) == self.a.spec.higher_is_better else "B"
        return certainty.SENTENCES["better"].format(better=better, p=p)

    @property
    def on_board(self) -> str:
        """Verdict of the board on the pair, in words; empty where it does not test it."""
        return certainty.board_pair(self.p_board)

    @property
    def difference(self) -> Rounded:
        test = self.paired
        return Rounded(NONE) if test is None else rounded(test.mean_difference, test.ci_low, test.ci_high)

    @property
    def interval(self) -> str:
        test, own = self.paired, self.difference
        if test is None or test.ci_low is None or test.ci_high is None or not own.spread:
            return NONE  # of all alike one of no width would claim too much
        return f"{own.end(test.ci_low)} to {own.end(test.ci_high)}"


def compare(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Choose entries, then see them compared: `a` and `b`, and any others as `with`."""
    place = phase_place(request.user, challenge, phase)
    a, b = (_entry(request, place, request.GET.get(name, "")) for name in ("a", "b"))
    more = [_entry(request, place, asked) for asked in request.GET.getlist("with")[:MAX_ENTRIES]]
    if not place.sees_board and place.viewer.team_id is None:
        return not_shown_yet(request, place, "compare")
    entries = {one.submission.pk: one for one in (a, b, *more) if one is not None}
    chosen = list(entries.values())[:MAX_ENTRIES]
    context = place.context("compare") | {"choices": _choices(place), "a": a, "b": b, "letters": LETTERS, "max_entries": MAX_ENTRIES}
    if len(chosen) > 2:
        context |= {"a": chosen[0], "b": chosen[1], "others": chosen[2:]} | _several(request, place, chosen)
    elif a and b:
        context |= _compared(request, a, b) | {"judged": _judged(place, a, b)}
    return render(request, "leaderboard/compare.html", context)


def _entry(request: HttpRequest, place: PhasePlace, asked: str) -> EntryPlace | None:
    """The entry that is asked for; Http404 where its scores are not to be seen."""
    if not asked:
        return None
    found = entry_place(request.user, row_number(asked))
    if found.submission.phase_id != place.phase.pk or found.submission.status != Status.SCORED or not found.may("see_scores"):
        raise Http404
    return found


def _choices(place: PhasePlace) -> list[dict]:
    """Entries to choose from: those of the newest ranking, best first, and the viewer's own."""
    found = []
    if place.sees_board:
        snapshot = Snapshot.current(place.phase, audience_of(place.viewer))
        board = snapshot.board if snapshot else None
        best = [board.entries[index] for index in board.overall.order[:MAX_CHOICES]] if board else []
        found = [{"id": entry.id, "name": entry.name, "team": entry.team, "number": entry.number} for entry in best]
    if place.viewer.team_id is not None:
        there = {one["id"] for one in found}
        rest = Submission.objects.filter(own(place.viewer), phase=place.phase, status=Status.SCORED).exclude(pk__in=there)
        for it in rest.select_related("team")[:MAX_CHOICES]:
            found.append({"id": it.pk, "name": it.method_name, "team": it.team.name, "number": it.number})
    return found


@dataclass(frozen=True)
class SeveralPair:
    """A pair of the entries in names: `people` says how often people would pick the first, in the study that is named beside."""

    pair: LineupPair
    first: str
    second: str
    people: str
    query: str


def _several(request: HttpRequest, place: PhasePlace, chosen: list[EntryPlace]) -> dict:
    """Context of more than two entries."""
    evaluations = [current_evaluation(one.submission) for one in chosen]
    if any(evaluation is None for evaluation in evaluations):
        raise Http404
    made = [evaluation for evaluation in evaluations if evaluation is not None]
    phase, batch = place.phase, made[0].batch
    sees_items = all(one.may("see_items") for one in chosen)
    snapshot = Snapshot.current(phase, audience_of(place.viewer)) if place.sees_board else None
    unit = certainty.Unit.of(batch.groups, phase.challenge)
    metrics = lineup(
        [results(evaluation, None) for evaluation in made],
        batch.reference.groups,
        unit,
        sees_items,
        snapshot.board if snapshot else None,
        [one.submission.pk for one in chosen],
    )
    names = [one.submission.method_name for one in chosen]
    context: dict = {"several": chosen, "names": names, "lineup": metrics, "units": certainty.plural(unit.noun), "sees_items": sees_items}
    if not metrics:
        return context
    shown = next((one for one in metrics if one.metric.slug == request.GET.get("metric")), None)
    shown = shown or next((one for one in metrics if one.metric.is_primary), metrics[0])
    study, summary = _study_of(place, chosen)
    label_of = {pk: label for label, pk in summary.entries.items()} if summary is not None else {}
    pairs = []
    for pair in shown.pairs:
        one, other = chosen[pair.first].submission, chosen[pair.second].submission
        labels = [label_of.get(row.pk, "") for row in (one, other)]
        people = duel_brief(summary, *labels) if summary is not None and all(labels) else ""
        pairs.append(SeveralPair(pair, names[pair.first], names[pair.second], people, f"?a={one.pk}&b={other.pk}"))
    context |= {"shown_metric": shown, "claim": shown.claim(names), "pairs": pairs, "study": study}
    if phase.challenge.kind.images:
        items = batch.reference.item_ids
        item = request.GET.get("item") if request.GET.get("item") in items else items[0] if items else None
        context |= _pictures(list(zip(LETTERS, chosen, made, strict=False)), item) | {"item": item, "view_names": items} if item else {}
    return context


def _study_of(place: PhasePlace, chosen: list[EntryPlace]) -> tuple[Study | None, Summary | None]:
    """The newest study that the viewer may see and that says of any two of the entries how often people would pick one."""
    if not place.sees_board:
        return None, None
    ids, hidden_ids = {one.submission.pk for one in chosen}, hidden_from(place.phase, place.viewer.organizes)
    for study in seen(place):
        analysis = study.main_analysis
        if analysis is None or analysis.summary is None:
            continue
        summary = analysis.summary.without(hidden_labels(study, hidden_ids))
        labels = [label for label, pk in summary.entries.items() if pk in ids]
        if any(duel_brief(summary, one, other) for one, other in combinations(labels, 2)):
            return study, summary
    return None, None


def _compared(request: HttpRequest, a: EntryPlace, b: EntryPlace) -> dict:
    first, second = current_evaluation(a.submission), current_evaluation(b.submission)
    if first is None or second is None:
        raise Http404
    sees_items = a.may("see_items") and b.may("see_items")
    snapshot = Snapshot.current(a.submission.phase, audience_of(a.viewer)) if a.phase_place.sees_board else None
    comparisons = _comparisons(first, second, sees_items, snapshot.board if snapshot else None)
    context: dict = {
        "comparisons": comparisons,
        "sees_items": sees_items,
        "shape": certainty.SENTENCES["shape"],
        "any_tested": any(one.paired is not None and one.paired.p_value is not None for one in comparisons),
        "any_on_board": any(one.on_board for one in comparisons),
        "units": certainty.plural(comparisons[0].unit.noun) if comparisons else "",
    }
    if not comparisons or not sees_items:
        return context
    chosen = next((c for c in comparisons if c.a.slug == request.GET.get("metric")), None)
    chosen = chosen or next((c for c in comparisons if c.a.metric.is_primary), comparisons[0])
    figure, names, left, right = _per_item(first, chosen, a, b, a.viewer.may("phase.see_reference", a.submission.phase))
    order = sorted(range(len(names)), key=lambda i: _gap(left[i], right[i]))
    item = request.GET.get("item")
    sees_geometry = a.may("see_geometry") and b.may("see_geometry")
    if a.submission.phase.challenge.kind.images:
        view = item if item in names else (names[order[0]] if order else None)
        context |= _pictures([("A", a, first), ("B", b, second)], view) if view else {}
    return context | {
        "shown": chosen,
        "figure": figure.to_dict(),
        "items": _item_rows(chosen, names, left, right, order),
        "n_items": len(names),
        "items_noun": certainty.plural(a.submission.phase.challenge.item_noun),
        "shown_as": KINDS[a.submission.phase.challenge.family],
        "sees_geometry": sees_geometry,
        "item": item if item in names else (names[order[0]] if order else None),
        "names": names,
    }


def _judged(place: PhasePlace, a: EntryPlace, b: EntryPlace) -> list[dict]:
    """People's verdicts on the two, study by study, the newest first: of those that the viewer may see, and that have both."""
    if not place.sees_board:
        return []
    found, hidden_ids = [], hidden_from(place.phase, place.viewer.organizes)
    for study in seen(place):
        analysis = study.main_analysis
        if analysis is None or analysis.summary is None:
            continue
        summary = analysis.summary.without(hidden_labels(study, hidden_ids))
        label_of = {pk: label for label, pk in summary.entries.items()}
        if a.submission.pk != b.submission.pk and {a.submission.pk, b.submission.pk} <= label_of.keys():
            said = duel_words(summary, label_of[a.submission.pk], label_of[b.submission.pk], study.noun)
            found.append({"study": study, "said": said})
    return found


def _pictures(entries: Sequence[tuple[str, EntryPlace, Evaluation]], item: str) -> dict:
    """One view of the entries, each with its pictures, as far as they are made and may be seen."""
    sides, runs = [], []
    for letter, place, evaluation in entries:
        evaluation.submission = place.submission
        group = evaluation.batch.reference.groups[evaluation.batch.reference.item_ids.index(item)]
        scene = render_scene.Scene(evaluation, group, results(evaluation, None), place.may("see_geometry"))
        runs.append(scene.request() if place.may("see_render") else None)
        view = scene.view(item, runs[-1]) if runs[-1] else None
        sides.append({"letter": letter, "place": place, "scene": scene, "run": runs[-1], "view": view})
    waiting = [run for run in runs if run is not None and run.state == PictureRun.State.WAITING]
    sides = render_scene.beside_each_other(sides) if len(sides) == 2 else sides
    return {"sides": sides, "is_making": bool(waiting), "making": waiting, **render_scene.SCALES}


def _comparisons(first: Evaluation, second: Evaluation, sees_items: bool, board: Board | None) -> list[Comparison]:
    theirs = {result.slug: result for result in results(second, None)}
    columns = {(metric.slug, metric.fingerprint): metric for metric in board.metrics} if board else {}
    a, b = (board.index_of(evaluation.submission_id) if board else None for evaluation in (first, second))
    found, unit = [], certainty.Unit.of(first.batch.groups, first.batch.phase.challenge)
    for result in results(first, None):
        other = theirs.get(result.slug)
        if other is None or other.score.fingerprint != result.score.fingerprint:
            continue
        test = _test(first, result, other) if sees_items else None
        column = columns.get((result.slug, result.score.fingerprint))
        p = column.pair_p(a, b) if column and sees_items and a is not None and b is not None else None
        gap = of_board(board, column, first.submission_id, second.submission_id, unit.noun)[1]
        found.append(Comparison(result, other, test, p, unit, gap))
    return found


def _test(evaluation: Evaluation, a: Result, b: Result) -> Paired | None:
    """The paired test over the reference's groups."""
    left, right = a.score.values, b.score.values
    if len(left) != len(right) or not len(left):
        return None
    units = unit_matrix(np.stack([left, right]), evaluation.batch.reference.groups, a.spec.level)
    if np.isnan(units).all():
        return None  # one value of the whole set: nothing to compare
    return _cached_test(units[0].tobytes(), units[1].tobytes(), a.spec.higher_is_better)


@lru_cache(maxsize=512)
def _cached_test(left: bytes, right: bytes, higher_is_better: bool) -> Paired:
    """The test of two float64 vectors, given as the bytes that it depends on."""
    return paired(np.frombuffer(left).tolist(), np.frombuffer(right).tolist(), higher_is_better)


def _per_item(evaluation: Evaluation, chosen: Comparison, a: EntryPlace, b: EntryPlace, sees_reference: bool):
    names = evaluation.batch.reference.item_ids
    left, right = ([None if math.isnan(v) else v for v in r.score.values_shown(sees_reference).tolist()] for r in (chosen.a, chosen.b))
    metric = boards.Metric(chosen.a.metric.title, chosen.a.spec.higher_is_better, chosen.a.spec.unit)
    noun = a.submission.phase.challenge.item_noun
    one, two = f"A {a.submission.method_name}", f"B {b.submission.method_name}"
    figure = boards.differences(metric, boards.Series(one, left), boards.Series(two, right), names, chosen.paired, noun=noun)
    return figure, names, left, right


def _gap(left: float | None, right: float | None) -> float:
    """For sorting: the greatest difference first, pairs without one last."""
    return math.inf if left is None or right is None else -abs(left - right)


def _item_rows(chosen: Comparison, names: list[str], left: list, right: list, order: list[int]) -> list[dict]:
    higher = chosen.a.spec.higher_is_better
    found = []
    for index in order[:MAX_ITEMS]:
        x, y = left[index], right[index]
        gap = None if x is None or y is None else x - y
        better = "" if gap is None else "equal" if abs(gap) <= 1e-12 * max(1, abs(x)) else "A" if (gap > 0) == higher else "B"
        values = [{"value": v, "text": rounded(v).text} for v in (x, y, gap)]
        found.append({"item": names[index], "values": values, "better": better})
    return found

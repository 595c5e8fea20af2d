"""Entries side by side. Two: the paired test of each metric, the difference per item, both in 3D. More: each metric on one line, with
brackets, and every pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation.models import PictureRun
from leaderboard.boards.comparison import MAX_ENTRIES, ComparedMetric, ComparedPair, Ground, main
from leaderboard.boards.scorecard import Result, current_evaluation, results
from leaderboard.charts import boards
from leaderboard.kinds import KINDS
from leaderboard.lookup import current_ranking, not_shown_yet
from leaderboard.models import Study
from leaderboard.models.analysis import StudyAnalysis
from leaderboard.records.board import Board
from leaderboard.records.study import Summary
from leaderboard.records.unit import Unit
from leaderboard.stats.uncertainty import ALPHA, Paired, paired
from leaderboard.viewer import render_scene
from leaderboard.views.studies import seen
from leaderboard.wording import certainty
from leaderboard.wording import comparison as comparison_words
from leaderboard.wording.board import difference, entry_name
from leaderboard.wording.digits import EQUAL, NONE, Rounded, rounded
from leaderboard.wording.nouns import plural
from leaderboard.wording.study import pair as pair_words
from leaderboard.wording.study import pair_brief
from submissions.lookup import EntryPlace, PhasePlace, entry_place, phase_place, row_number
from submissions.models import Status, Submission
from submissions.visibility import hidden_from, own

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
    unit: Unit
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
    def p(self) -> float | None:
        """Result of the test of this pair; None where the pair is not tested."""
        return None if self.paired is None else self.paired.p_value

    @property
    def differs_on_board(self) -> bool:
        """True if the board's test, corrected for all its pairs, has another result."""
        return self.p_board is not None and self.p is not None and self.is_apart != (self.p_board <= ALPHA)

    @property
    def is_apart(self) -> bool:
        return self.p is not None and self.p <= ALPHA

    @property
    def size(self) -> float:
        """Size of the difference in widths of its interval, to find the metric that differs most; 0 where nothing is tested."""
        test = self.paired
        if test is None or test.mean_difference is None or test.ci_low is None or test.ci_high is None:
            return 0.0
        return abs(test.mean_difference) / max(test.ci_high - test.ci_low, EQUAL * abs(test.mean_difference), EQUAL)

    @property
    def difference(self) -> Rounded:
        test = self.paired
        return Rounded(NONE) if test is None else rounded(test.mean_difference, test.ci_low, test.ci_high)

    @property
    def interval(self) -> str:
        test, own = self.paired, self.difference
        if test is None or test.ci_low is None or test.ci_high is None:
            return NONE
        if not own.spread or math.isclose(test.ci_low, test.ci_high, rel_tol=EQUAL, abs_tol=EQUAL):
            return NONE  # of all alike one of no width would claim too much
        return f"[{own.end(test.ci_low)}, {own.end(test.ci_high)}]"


def compare(request: HttpRequest, challenge: str, phase: str) -> HttpResponse:
    """Choose entries, then see them compared: `a` and `b`, and any others as `c` to `f` or `with`."""
    place = phase_place(request.user, challenge, phase)
    a, b, *more = [scored_entry(request.user, place, text) if text else None for text in asked(request)]
    if not place.sees_board and place.viewer.team_id is None:
        return not_shown_yet(request, place, "compare")
    chosen = distinct(one for one in (a, b, *more) if one is not None)
    if a and b and len(chosen) <= 2:
        chosen = [a, b]  # also an entry beside itself

    snapshot = current_ranking(place)
    board = snapshot.board if snapshot is not None else None
    choices = _choices(place, board, [one.submission for one in chosen]).items()
    context = place.context("compare") | {"choices": choices, "a": a, "b": b, "letters": LETTERS, "max_entries": MAX_ENTRIES}
    if len(chosen) > 1:
        context |= {"a": chosen[0], "b": chosen[1], "others": chosen[2:]}
        context |= (_several if len(chosen) > 2 else _two)(request, place, chosen, ground_of(chosen, board))
    return render(request, "leaderboard/compare.html", context)


def _choices(place: PhasePlace, board: Board | None, chosen: Sequence[Submission]) -> dict[int, str]:
    """Entries to choose from, by id, with their names: the newest ranking's, best first, then those that are `chosen` and the viewer's."""
    choices: dict[int, str] = {}
    if board is not None:
        ranked = [board.entries[index] for index in board.overall.order[:MAX_CHOICES]]
        choices = {one.id: entry_name(one.name, board.team_of(one), one.number) for one in ranked if not one.is_redacted}
    others = [one for one in chosen if one.pk not in choices]
    if place.viewer.team_id is not None:
        rest = Submission.objects.filter(own(place.viewer), phase=place.phase, status=Status.SCORED)
        others += rest.exclude(pk__in=[*choices, *(one.pk for one in others)]).select_related("team")[:MAX_CHOICES]
    return choices | {one.pk: entry_name(one.method_name, one.team.name if place.phase.has_teams else "", one.number) for one in others}


def asked(request: HttpRequest) -> list[str]:
    """The entries that an address asks for, as it names them; `a` and `b` come first, and are empty where they are missing."""
    return [*(request.GET.get(letter.lower(), "") for letter in LETTERS), *request.GET.getlist("with")[:MAX_ENTRIES]]


def scored_entry(user: Any, place: PhasePlace, asked: str) -> EntryPlace:
    """The phase's entry that an address asks for; Http404 where its scores are not to be seen."""
    found = entry_place(user, row_number(asked))
    if found.submission.phase_id != place.phase.pk or found.submission.status != Status.SCORED or not found.may("see_scores"):
        raise Http404
    return found


def distinct(entries: Iterable[EntryPlace]) -> list[EntryPlace]:
    """The first entries, each once, as many as are compared."""
    return list({one.submission.pk: one for one in entries}.values())[:MAX_ENTRIES]


def ground_of(chosen: Sequence[EntryPlace], board: Board | None) -> Ground:
    """Basis of the comparison of these entries; Http404 where one has no current evaluation."""
    evaluations = [found for one in chosen if (found := current_evaluation(one.submission)) is not None]
    if len(evaluations) < len(chosen):
        raise Http404
    return Ground(evaluations, all(one.may("see_tests") for one in chosen), board)


@dataclass(frozen=True)
class Judged:
    """A study that the viewer may see, with the `labels` of the compared entries that people judged in it."""

    study: Study
    summary: Summary
    labels: dict[int, str]

    def brief(self, first: int, second: int) -> str:
        """Share of people who pick the first of two entries, in words; empty where that is not known."""
        labels = self.labels.get(first), self.labels.get(second)
        return pair_brief(self.summary, labels[0], labels[1]) if labels[0] and labels[1] else ""


def _judged(place: PhasePlace, chosen: Sequence[EntryPlace]) -> Iterator[Judged]:
    """The studies of the phase, the newest first."""
    hidden_ids, ids = hidden_from(place.viewer, place.phase), {one.submission.pk for one in chosen}
    for study in seen(place) if place.sees_board else ():
        if (summary := StudyAnalysis.main_summary(study, hidden_ids)) is not None:
            yield Judged(study, summary, {pk: label for label, pk in summary.entries.items() if pk in ids})


@dataclass(frozen=True)
class SeveralPair:
    """A pair of entries by name, with its p and the result of the board's test in words. `people` says how often people would pick the
    first, in the study named beside it. If nobody was asked, `gap` says what the difference means."""

    pair: ComparedPair
    first: str
    second: str
    p: str
    on_board: str
    gap: str
    people: str
    query: str


def _several(request: HttpRequest, place: PhasePlace, chosen: Sequence[EntryPlace], ground: Ground) -> dict:
    """Context of more than two entries."""
    metrics, unit = {one.metric.slug: one for one in ground.compared()}, ground.unit
    names = [one.submission.method_name for one in chosen]
    context: dict = {"several": chosen, "names": names, "compared": metrics.values(), "units": plural(unit.noun)}
    context |= {"is_tested": ground.is_tested, "sees_tests": ground.sees_tests}
    if not metrics:
        return context
    shown = metrics.get(request.GET.get("metric", "")) or main(metrics.values())
    study, pairs = _pairs(place, shown, chosen)
    context |= {"shown_metric": shown, "claim": comparison_words.statement(shown.order, names), "pairs": pairs, "study": study}
    items = ground.batch.item_ids if place.challenge.kind.images and place.phase.has_files else []
    if items:
        item = asked_item if (asked_item := request.GET.get("item")) in items else items[0]
        context |= _pictures(chosen, ground, item) | {"item": item, "view_names": items}
    return context


def _pairs(place: PhasePlace, shown: ComparedMetric, chosen: Sequence[EntryPlace]) -> tuple[Study | None, list[SeveralPair]]:
    """The pairs of the entries by one metric, and the newest study with a share of people for any two of them."""
    names, ids = [one.submission.method_name for one in chosen], [one.submission.pk for one in chosen]
    known = (one for one in _judged(place, chosen) if any(one.brief(*pair) for pair in combinations(one.labels, 2)))
    judged, pairs = next(known, None), []
    for pair in shown.pairs:
        first, second = ids[pair.first], ids[pair.second]
        people = judged.brief(first, second) if judged is not None else ""
        pairs.append(
            SeveralPair(
                pair,
                names[pair.first],
                names[pair.second],
                certainty.p_words(pair.p),
                certainty.board_pair(pair.p_board),
                "" if people else difference(pair.meaning),
                people,
                f"?a={first}&b={second}",
            )
        )
    return judged.study if judged is not None else None, pairs


def _two(request: HttpRequest, place: PhasePlace, chosen: Sequence[EntryPlace], ground: Ground) -> dict:
    """Context of two entries."""
    names, ids = [one.submission.method_name for one in chosen], ground.ids
    judged = [one for one in _judged(place, chosen) if len(one.labels) == 2]
    # Where people judged these two, nothing is inferred from others with such a difference.
    is_told = any(one.brief(*ids) for one in judged)
    comparisons = [_comparison(ground, a, b, is_told) for a, b in ground.common()]
    context: dict = {
        "comparisons": comparisons,
        "is_tested": ground.is_tested,
        "too_few": _too_few(comparisons, ground.unit),
        "sees_tests": ground.sees_tests,
        "shape": certainty.SENTENCES["shape"],
        "any_tested": any(one.p is not None for one in comparisons),
        "any_on_board": any(one.p_board is not None for one in comparisons),
        "other_on_board": [one for one in comparisons if one.differs_on_board],
        "units": plural(ground.unit.noun),
        "judged": [(one.study, pair_words(one.summary, one.labels[ids[0]], one.labels[ids[1]], one.study.noun)) for one in judged],
    }
    if not comparisons or not ground.is_tested or not place.phase.may_show_items:
        return context
    # One metric item by item, the one that differs most unless another is asked for.
    metric = request.GET.get("metric")
    shown = max(comparisons, key=lambda one: (one.a.slug == metric, one.size, one.a.metric.is_primary))
    items = ground.batch.item_ids
    context |= _by_item(place, shown, names, items)
    asked = request.GET.get("item")
    item = asked if asked in items else context["items"][0]["item"] if context["items"] else None
    if place.challenge.kind.images and item:
        context |= _pictures(chosen, ground, item)
    sees_geometry = all(one.may("see_geometry") for one in chosen)
    return context | {"shown_as": KINDS[place.challenge.family], "sees_geometry": sees_geometry, "item": item, "names": items}


def _comparison(ground: Ground, a: Result, b: Result, is_told: bool) -> Comparison:
    """One metric of both entries; `is_told` says that people's answers on the two are."""
    units = ground.values([a, b])
    test = None if units is None else _cached_test(units[0].tobytes(), units[1].tobytes(), a.spec.higher_is_better)
    p, meaning = ground.on_board(a, 0, 1)
    return Comparison(a, b, test, p if ground.is_tested else None, ground.unit, "" if is_told else difference(meaning))


def _too_few(comparisons: Sequence[Comparison], unit: Unit) -> str:
    """Reason why no metric is tested, which is said once where it is the same for all; else empty."""
    counts = {one.paired.n for one in comparisons if one.paired is not None and one.paired.mean_difference is not None}
    is_one = len(counts) == 1 and not any(one.p is not None or one.gap for one in comparisons)
    return certainty.few(counts.pop(), unit) if is_one else ""


def _by_item(place: PhasePlace, chosen: Comparison, methods: Sequence[str], names: Sequence[str]) -> dict:
    """The values of one metric, item by item: the greatest difference first, items without one last."""
    sees_reference, spec = place.viewer.may("phase.see_reference", place.phase), chosen.a.spec
    values = [[None if math.isnan(v) else v for v in one.score.values_shown(sees_reference).tolist()] for one in (chosen.a, chosen.b)]
    chart = boards.differences(
        chosen.a.metric,
        boards.Series(f"A {methods[0]}", values[0]),
        boards.Series(f"B {methods[1]}", values[1]),
        names,
        chosen.paired,
        noun=place.challenge.item_noun,
    )
    gaps = [None if x is None or y is None else x - y for x, y in zip(*values, strict=True)]
    order = sorted(range(len(names)), key=lambda i: math.inf if (gap := gaps[i]) is None else -abs(gap))
    rows = []
    for index in order[:MAX_ITEMS]:
        x, y, better = values[0][index], values[1][index], ""
        if x is not None and y is not None:
            is_equal = abs(x - y) <= 1e-12 * max(1, abs(x))
            better = "equal" if is_equal else "A" if (x > y) == spec.higher_is_better else "B"
        cells = [{"value": v, "text": rounded(v).text} for v in (x, y, gaps[index])]
        rows.append({"item": names[index], "values": cells, "better": better})
    return {"shown": chosen, "chart": chart, "items": rows, "n_items": len(names), "items_noun": plural(place.challenge.item_noun)}


@dataclass(frozen=True)
class Side:
    """The pictures of one of the entries; `run` makes them, None for a viewer who may not see them."""

    letter: str
    place: EntryPlace
    scene: render_scene.Scene
    run: PictureRun | None
    view: render_scene.View | None


def _pictures(chosen: Sequence[EntryPlace], ground: Ground, item: str) -> dict:
    """One view of the entries, each with its pictures, as far as they are made and may be seen."""
    sides: list[Side] = []
    for letter, place, evaluation in zip(LETTERS, chosen, ground.evaluations, strict=False):
        evaluation.submission = place.submission
        group = evaluation.batch.groups[evaluation.batch.item_ids.index(item)]
        scene = render_scene.Scene(evaluation, group, results(evaluation, None), place.may("see_geometry"))
        run = scene.request() if place.may("see_render") else None
        sides.append(Side(letter, place, scene, run, scene.view(item, run) if run else None))
    waiting = [side.run for side in sides if side.run is not None and side.run.state == PictureRun.State.WAITING]
    for side, other in zip(sides, reversed(sides), strict=True) if len(sides) == 2 else ():  # each can be laid over the other
        view, theirs = side.view, other.view
        if view and view.render and theirs and theirs.render:
            name = f"{other.letter} {other.place.submission.method_name}"
            view.layers.append(replace(theirs.render, name="other", kind="other", title=name))
    return {"sides": sides, "is_making": bool(waiting), "making": waiting, **render_scene.SCALES}


@lru_cache(maxsize=512)
def _cached_test(left: bytes, right: bytes, higher_is_better: bool) -> Paired:
    """The test of two float64 vectors, given as the bytes that it depends on."""
    return paired(np.frombuffer(left).tolist(), np.frombuffer(right).tolist(), higher_is_better)

"""The page of a column's acceptance test: the damage to the phase's own references, the metric's scores of it, and whether the column
ranks.

Everybody who sees the leaderboard sees conditions, counts and means. Scores of single views, and pictures, are for people who may see the
reference.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from evaluation.metrics.column import Column
from evaluation.models import SuiteRun
from evaluation.models.acceptance_test import Standing, standing
from evaluation.properties.gate import design
from leaderboard.boards import suite_table
from leaderboard.boards.metric_evidence import Evidence
from leaderboard.lookup import not_shown_yet
from leaderboard.records.board import ColumnAcceptanceTest
from leaderboard.service.responses import revalidated
from leaderboard.wording import acceptance_test as wording
from submissions.kinds import FAMILIES
from submissions.lookup import PhasePlace, place_of
from submissions.storage import stored_files
from submissions.storage.store import StorageError


@dataclass(frozen=True)
class Point:
    """A score drawn on a scene's common line: its place in percent, and whether it is above the clean view's own."""

    left: float
    above_clean: bool
    title: str


@dataclass(frozen=True)
class Line:
    """One damage of a scene: its mean score, the scores of single views if the viewer may see them, and the picture of its first view."""

    words: str
    group: str
    mean: float
    left: float
    points: tuple[Point, ...]
    picture: tuple[str, int, int] | None = None


@dataclass(frozen=True)
class Scene:
    """One scene of the page of an acceptance test."""

    number: int
    verdict: design.SceneVerdict
    untried: str
    lines: tuple[Line, ...]
    band: tuple[float, float] | None  # left and width in percent


def acceptance_test(request: HttpRequest, pk: int) -> HttpResponse:
    """The page; while the test runs, its progress."""
    row, place = _acceptance_test_and_place(request, pk)
    if not place.sees_board:
        return not_shown_yet(request, place, "board")
    sees_reference = place.viewer.may("phase.see_reference", place.phase)
    kind = design.kind_of(row.spec, row.params)
    column = Column("", row.key, row.params, row.fingerprint)
    verdict: Standing = standing(column, row)
    verdicts, noun = row.verdicts, place.phase.challenge.unit_noun
    said = (
        wording.passed(row.spec, row.params, verdicts, noun) if verdict.ranks else wording.outcome(ColumnAcceptanceTest(**asdict(verdict)))
    )
    titles = [metric.label for metric in place.phase.metrics.all() if metric.key == row.key and metric.resolved == row.params]
    context = place.context("board") | {
        "acceptance_test": row,
        "standing": verdict,
        "said": said,
        "inverted": wording.inverted(fail for one in verdicts for of in one.conditions if of.key == "E" for fail in of.fails),
        "scenes": [_scene(row, one, sees_reference) for one in verdicts],
        "table": suite_table.of_verdicts(row.spec, row.params, verdicts),
        "evidence": Evidence(row.spec, row.params, row.fingerprint),
        "sees_reference": sees_reference,
        "on": wording.ON.get(kind, "references"),
        "title": titles[0] if titles else row.spec.titled(row.params),
        "spec": row.spec,
        "is_waiting": verdict.state is design.Outcome.WAITING,
        "subject": "view" if FAMILIES[row.spec.family].images else "reference",
        "seconds_left": row.seconds_left if verdict.state is design.Outcome.WAITING else None,
    }
    return render(request, "leaderboard/acceptance_test.html", context)


def acceptance_test_picture(request: HttpRequest, pk: int, scene: int, damage: str) -> HttpResponse:
    """A damaged view, for viewers who may see the reference."""
    row, place = _acceptance_test_and_place(request, pk)
    place.viewer.require("phase.see_reference", place.phase)
    names = row.scene_names
    if scene >= len(names) or damage not in {name for name, *_ in row.pictures.get(names[scene], ())}:
        raise Http404
    etag = f'"acceptance_test-{row.pk}-{row.created_at.timestamp():.0f}-{scene}-{damage}"'

    def picture() -> HttpResponse:
        try:
            data = stored_files.store().read(row.picture_key(names[scene], damage))
        except StorageError as error:
            raise Http404 from error
        return HttpResponse(data, content_type="image/webp")

    return revalidated(request, etag, picture)


def _acceptance_test_and_place(request: HttpRequest, pk: int) -> tuple[SuiteRun, PhasePlace]:
    row = get_object_or_404(SuiteRun.objects.acceptance_tests().select_related("reference__phase__challenge"), pk=pk)
    return row, place_of(request.user, row.reference.phase)


def _damage(name: str) -> str:
    """A damage of pictures and its strength, in words."""
    if name == design.CLEAN:
        return "clean"
    return wording.damage_words(name) + {"weak": ", weak", "strong": ", strong"}.get(name.rpartition(":")[2], "")


def _scene(row: SuiteRun, verdict: design.SceneVerdict, sees_reference: bool) -> Scene:
    means = dict(verdict.means)
    single: dict[str, list[tuple[int, float]]] = {}
    if sees_reference:
        for one in row.scores:
            if one.scene == verdict.scene and one.value is not None:
                single.setdefault(one.damage, []).append((one.number, one.value))
    every = [*means.values(), *(value for values in single.values() for _, value in values), *(verdict.band or ())]
    low, high = (min(every), max(every)) if every else (0.0, 1.0)
    reach = (high - low) or 1.0

    def left(value: float) -> float:
        return round(2 + 96 * (value - low) / reach, 2)

    clean = dict(single.get(design.CLEAN, ()))
    sign = 1 if row.spec.higher_is_better else -1
    pictures = {name: (name, width, height) for name, width, height in row.pictures.get(verdict.scene, ())} if sees_reference else {}
    lines = []
    for name, mean in means.items():
        points = tuple(
            Point(left(value), view in clean and name != design.CLEAN and sign * value >= sign * clean[view], f"view {view}: {value:.4g}")
            for view, value in single.get(name, ())
        )
        group = design.BY_NAME[name].group if name in design.BY_NAME else ""
        lines.append(Line(_damage(name), group, mean, left(mean), points, pictures.get(name)))
    band = None
    if verdict.band and verdict.band[2] > verdict.band[1]:
        band = (left(verdict.band[1]), round(left(verdict.band[2]) - left(verdict.band[1]), 2))
    untried = wording.untried(verdict.untried, design.kind_of(row.spec, row.params))
    return Scene(row.scene_names.index(verdict.scene), verdict, untried, tuple(lines), band)

"""Addresses of the public pages: boards, entries, metrics, documents. They are read, never written to."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, re_path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.http import require_safe

from leaderboard.views import (
    board,
    charts,
    choosing_metrics,
    compare,
    docs,
    entries,
    entry,
    home,
    item,
    metrics,
    scene,
    starter_kit,
    studies,
    trial,
)
from submissions import throttling
from submissions.kinds import NAME
from submissions.models.phase import RESERVED_SLUGS

PHASE = "challenges/<slug:challenge>/<slug:phase>"
# A challenge's own pages have the same shape as a phase's board.
BOARD = rf"^challenges/(?P<challenge>[-\w]+)/(?!(?:{'|'.join(sorted(RESERVED_SLUGS))})/)(?P<phase>[-\w]+)/$"
# Exports end in a suffix, so a digest and its suffix are told apart here.
EXPORT = r"^challenges/(?P<challenge>[-\w]+)/(?P<phase>[-\w]+)/snapshots/(?P<digest>[0-9a-f]{8,64})\.(?P<kind>csv|json|tex|md)$"


class ItemConverter(StringConverter):
    """An item's id: of a render with the slash between scene and view."""

    regex = f"{NAME.pattern}(?:/{NAME.pattern})?"


register_converter(ItemConverter, "item")


def shown(route: str, view: Callable[..., Any], name: str) -> URLPattern:
    return path(route, require_safe(view), name=name)


def long(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A view that takes long: only some of them at once, and fewer of one client."""

    @wraps(view)
    def in_turn(request: HttpRequest, *arguments: object, **named: object) -> HttpResponse:
        with throttling.LONG_REQUESTS.place(throttling.who(request)):
            return view(request, *arguments, **named)

    return in_turn


urlpatterns = [
    shown("", home.home, "home"),
    shown("challenges/", home.challenge_list, "challenge_list"),
    re_path(BOARD, require_safe(long(board.board)), name="board"),
    re_path(EXPORT, require_safe(long(board.snapshot_export)), name="snapshot_export"),
    shown(f"{PHASE}/snapshots/<slug:digest>/", long(board.snapshot), "snapshot"),
    shown(f"{PHASE}/entries/", entries.entries, "entries"),
    shown(f"{PHASE}/compare/", long(compare.compare), "compare"),
    shown(f"{PHASE}/charts/", long(charts.charts), "charts"),
    shown(f"{PHASE}/choosing-metrics/", long(choosing_metrics.choosing), "choosing_metrics"),
    shown(f"{PHASE}/people/", long(studies.studies), "studies"),
    shown(f"{PHASE}/people/<slug:slug>/", long(studies.study), "study"),
    shown(f"{PHASE}/people/<slug:slug>/analysis.json", studies.study_json, "study_json"),
    shown(f"{PHASE}/people/<slug:slug>/votes.csv", studies.study_votes, "study_votes"),
    shown(f"{PHASE}/people/<slug:slug>/judges.csv", studies.study_judges, "study_judges"),
    shown("trials/<int:pk>/", trial.trial, "trial"),
    shown("trials/<int:pk>/pictures/<int:scene>/<slug:damage>.webp", trial.trial_picture, "trial_picture"),
    shown(f"{PHASE}/starter-kit.zip", starter_kit.starter_kit, "starter_kit"),
    shown("entries/<int:pk>/", entry.entry, "entry"),
    shown("entries/<int:pk>/progress/", entry.entry_progress, "entry_progress"),
    shown("entries/<int:pk>/items/<item:item>/", item.entry_item, "entry_item"),
    shown("entries/<int:pk>/scenes/<str:scene>/", scene.entry_scene, "entry_scene"),
    shown("entries/<int:pk>/scenes/<str:scene>/progress/", scene.scene_progress, "scene_progress"),
    shown("entries/<int:pk>/pictures/<item:item>/<str:name>.webp", scene.entry_picture, "entry_picture"),
    shown("entries/<int:pk>/geometry/<str:item>.json", item.entry_geometry, "entry_geometry"),
    shown("entries/<int:pk>/geometry/<str:item>.mesh", item.entry_meshes, "entry_meshes"),
    shown("metrics/", metrics.metric_list, "metric_list"),
    shown("metrics/<str:key>/", metrics.metric, "metric"),
    shown("docs/", docs.docs, "docs"),
    shown("docs/<slug:name>/", docs.doc, "doc"),
]

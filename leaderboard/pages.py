"""Addresses of the public pages: boards, entries, metrics, documents."""

from __future__ import annotations

from django.urls import path, re_path

from leaderboard.views import board, charts, compare, docs, entries, entry, home, item, metrics, starter_kit
from submissions.models.phase import RESERVED_SLUGS

PHASE = "challenges/<slug:challenge>/<slug:phase>"
# A challenge's own pages have the same shape as a phase's board.
BOARD = rf"^challenges/(?P<challenge>[-\w]+)/(?!(?:{'|'.join(sorted(RESERVED_SLUGS))})/)(?P<phase>[-\w]+)/$"
# Exports end in a suffix, so a digest and its suffix are told apart here.
EXPORT = r"^challenges/(?P<challenge>[-\w]+)/(?P<phase>[-\w]+)/snapshots/(?P<digest>[0-9a-f]{8,64})\.(?P<kind>csv|json|tex|md)$"

urlpatterns = [
    path("", home.home, name="home"),
    path("challenges/", home.challenge_list, name="challenge_list"),
    re_path(BOARD, board.board, name="board"),
    re_path(EXPORT, board.snapshot_export, name="snapshot_export"),
    path(f"{PHASE}/snapshots/<slug:digest>/", board.snapshot, name="snapshot"),
    path(f"{PHASE}/entries/", entries.entries, name="entries"),
    path(f"{PHASE}/compare/", compare.compare, name="compare"),
    path(f"{PHASE}/charts/", charts.charts, name="charts"),
    path(f"{PHASE}/starter-kit.zip", starter_kit.starter_kit, name="starter_kit"),
    path("entries/<int:pk>/", entry.entry, name="entry"),
    path("entries/<int:pk>/progress/", entry.entry_progress, name="entry_progress"),
    path("entries/<int:pk>/items/<str:item>/", item.entry_item, name="entry_item"),
    path("entries/<int:pk>/geometry/<str:item>.json", item.entry_geometry, name="entry_geometry"),
    path("metrics/", metrics.metric_list, name="metric_list"),
    path("metrics/<slug:key>/", metrics.metric, name="metric"),
    path("docs/", docs.docs, name="docs"),
    path("docs/<slug:name>/", docs.doc, name="doc"),
]

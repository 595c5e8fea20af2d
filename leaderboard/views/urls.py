"""Addresses of the public pages: boards, entries, metrics, documents. They are read, never written to."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.sitemaps.views import sitemap
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, re_path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView

from leaderboard.exports.tables.file_formats import FILE_FORMATS
from leaderboard.views import (
    acceptance_test,
    board,
    charts,
    choosing_metrics,
    compare,
    describe,
    docs,
    downloads,
    entries,
    entry,
    evidence,
    feeds,
    history,
    home,
    item,
    methods,
    metric,
    metric_challenges,
    metrics,
    scene,
    search,
    share,
    share_cards,
    status,
    studies,
)
from submissions import throttling
from submissions.kinds import NAME
from submissions.models.phase import RESERVED_SLUGS

PHASE = "challenges/<slug:challenge>/<slug:phase>"
# A challenge's own pages have the same shape as a phase's board.
BOARD = rf"^challenges/(?P<challenge>[-\w]+)/(?!(?:{'|'.join(sorted(RESERVED_SLUGS))})/)(?P<phase>[-\w]+)/$"
# Exports end in a suffix, which separates it from the digest here.
RANKING = r"^challenges/(?P<challenge>[-\w]+)/(?P<phase>[-\w]+)/snapshots/(?P<digest>[0-9a-f]{8,64})"
CITATION = r"^challenges/(?P<challenge>[-\w]+)/citation\.(?P<kind>cff|bib)$"
# Addresses that had another name before version 1.0.
MOVED = RedirectView.as_view(pattern_name="acceptance_test", permanent=True, http_method_names=["get", "head", "options"])
EXPORT = rf"{RANKING}\.(?P<kind>{'|'.join(FILE_FORMATS)})$"


class ItemConverter(StringConverter):
    """An item's id: of a render with the slash between scene and view."""

    regex = f"{NAME.pattern}(?:/{NAME.pattern})?"


register_converter(ItemConverter, "item")


def page(route: str, view: Callable[..., Any], name: str) -> URLPattern:
    return path(route, require_safe(view), name=name)


def long(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A view that takes long: only some of them at the same time, and fewer of one client."""

    @wraps(view)
    def in_turn(request: HttpRequest, *arguments: object, **named: object) -> HttpResponse:
        with throttling.LONG_REQUESTS.place(throttling.who(request)):
            return view(request, *arguments, **named)

    return in_turn


urlpatterns = [
    page("", home.home, "home"),
    page("challenges/", home.challenge_list, "challenge_list"),
    re_path(BOARD, require_safe(long(board.board)), name="board"),
    re_path(EXPORT, require_safe(long(board.snapshot_export)), name="snapshot_export"),
    re_path(rf"{RANKING}\.(?P<kind>cff|bib)$", require_safe(long(describe.snapshot_cite)), name="snapshot_cite"),
    re_path(rf"{RANKING}/content\.json$", require_safe(long(board.snapshot_content)), name="snapshot_content"),
    re_path(rf"{RANKING}\.crate\.zip$", require_safe(long(describe.snapshot_crate)), name="snapshot_crate"),
    page("challenges/<slug:challenge>/croissant.json", describe.challenge_croissant, "croissant"),
    re_path(CITATION, require_safe(describe.challenge_cite), name="challenge_cite"),
    page(f"{PHASE}/snapshots/<slug:digest>/", long(board.snapshot), "snapshot"),
    page(f"{PHASE}/entries/", entries.entries, "entries"),
    page(f"{PHASE}/compare/", long(compare.compare), "compare"),
    page(f"{PHASE}/charts/", long(charts.charts), "charts"),
    page(f"{PHASE}/history/", long(history.board_history), "board_history"),
    page(f"{PHASE}/choosing-metrics/", long(choosing_metrics.choosing), "choosing_metrics"),
    page(f"{PHASE}/people/", long(studies.studies), "studies"),
    page(f"{PHASE}/people/<slug:slug>/", long(studies.study), "study"),
    page(f"{PHASE}/people/<slug:slug>/analysis.json", studies.study_json, "study_json"),
    page(f"{PHASE}/people/<slug:slug>/votes.csv", studies.study_votes, "study_votes"),
    page(f"{PHASE}/people/<slug:slug>/judges.csv", studies.study_judges, "study_judges"),
    page("studies/", long(studies.every_study), "every_study"),
    path("trials/<int:pk>/", MOVED),
    page("acceptance-tests/<int:pk>/", acceptance_test.acceptance_test, "acceptance_test"),
    page(
        "acceptance-tests/<int:pk>/pictures/<int:scene>/<slug:damage>.webp",
        acceptance_test.acceptance_test_picture,
        "acceptance_test_picture",
    ),
    page(f"{PHASE}/starter-kit.zip", downloads.starter_kit, "starter_kit"),
    page("client/<str:name>", downloads.package, "package"),
    page(f"{PHASE}/reference.zip", long(downloads.reference_files), "reference_files"),
    page("entries/<int:pk>/", entry.entry, "entry"),
    page("entries/<int:pk>/progress/", entry.entry_progress, "entry_progress"),
    page("entries/<int:pk>/items/<item:item>/", item.entry_item, "entry_item"),
    page("entries/<int:pk>/scenes/<str:scene>/", scene.entry_scene, "entry_scene"),
    page("entries/<int:pk>/scenes/<str:scene>/progress/", scene.scene_progress, "scene_progress"),
    page("entries/<int:pk>/pictures/<item:item>/<str:name>.webp", scene.entry_picture, "entry_picture"),
    page("entries/<int:pk>/thumbnail.webp", item.entry_thumbnail, "entry_thumbnail"),
    page("entries/<int:pk>/posters/<item:item>.webp", item.entry_poster, "entry_poster"),
    page("entries/<int:pk>/geometry/<str:item>.json", item.entry_geometry, "entry_geometry"),
    page("entries/<int:pk>/geometry/<str:item>.mesh", item.entry_meshes, "entry_meshes"),
    page("teams/<int:pk>/", methods.team, "team_page"),
    page("teams/<int:pk>/methods/<path:name>/", methods.method, "method"),
    page("users/<str:name>/", methods.person, "person"),
    page("metrics/", metrics.metric_list, "metric_list"),
    page("metrics/papers/<slug:slug>/", metrics.paper, "paper"),
    page("evidence/", evidence.published_sets, "published_sets"),
    page("evidence/<slug:name>/", evidence.published_set, "published_set"),
    page("metrics/<slug:challenge>/<slug:name>/program.zip", metric.program_file, "program_file"),
    page("metrics/<path:key>/", metric.metric, "metric"),
    page("metric-challenges/", metric_challenges.challenges, "metric_challenges"),
    path("metric-challenges/<int:pk>/", metric_challenges.challenge, name="metric_challenge"),
    page("favicon.ico", share.icon, "favicon"),
    page("robots.txt", share.robots, "robots"),
    path("sitemap.xml", require_safe(sitemap), {"sitemaps": share.SITEMAPS}, name="sitemap"),
    page("card.png", share_cards.site_card, "site_card"),
    page("oembed", share.oembed, "oembed"),
    page(f"{PHASE}/embed/", share.embed, "board_embed"),
    page("challenges/<slug:challenge>/card.png", share_cards.challenge_card, "challenge_card"),
    page(f"{PHASE}/card.png", share_cards.board_card, "board_card"),
    page(f"{PHASE}/compare/card.png", long(share_cards.compare_card), "compare_card"),
    page(f"{PHASE}/people/<slug:slug>/card.png", share_cards.study_card, "study_card"),
    page("entries/<int:pk>/card.png", share_cards.entry_card, "entry_card"),
    page("metrics/<str:key>/card.png", long(share_cards.metric_card), "metric_card"),
    page(f"{PHASE}/feed.atom", feeds.BoardFeed(), "board_feed"),
    page("challenges/<slug:challenge>/news.atom", feeds.NewsFeed(), "news_feed"),
    page("challenges/<slug:challenge>/dates.ics", feeds.calendar, "calendar"),
    page("entries/<int:pk>/badge.svg", share.badge, "badge"),
    page("search/", long(search.search), "search"),
    page("status/", status.status, "status"),
    page("docs/", docs.docs, "docs"),
    page("docs/<slug:name>/", docs.doc, "doc"),
]

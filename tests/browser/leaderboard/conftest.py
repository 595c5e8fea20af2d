"""A static site and real pages of it, for tests of what the browser does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.support.leaderboard.static_site import Site, html_page, serve


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture
def show(tabs, site) -> Callable:
    """`show(body, head="", by=None, **context_options) -> tab`; `tab.failures` collects what went wrong in it."""

    def open_page(body: str, head: str = "", by=None, **options):
        site.routes["/page"] = html_page(body, head)
        tab = tabs.open(site.url, by, **options)
        tab.failures = []
        tab.on("console", lambda message: tab.failures.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: tab.failures.append(str(error)))
        tab.goto(f"{site.url}/page")
        return tab

    return open_page

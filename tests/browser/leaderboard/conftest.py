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
def show(browser, site) -> Iterator[Callable]:
    """`show(body, head="", browser=None, **context_options) -> tab`; `tab.failures` collects what went wrong in it."""
    contexts: list = []

    def open_page(body: str, head: str = "", by=None, **options):
        site.routes["/page"] = html_page(body, head)
        contexts.append((by or browser).new_context(**options))
        tab = contexts[-1].new_page()
        tab.failures = []
        tab.on("console", lambda message: tab.failures.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: tab.failures.append(str(error)))
        tab.goto(f"{site.url}/page")
        return tab

    yield open_page
    for context in contexts:
        context.close()

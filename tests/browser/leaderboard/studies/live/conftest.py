"""The page of a rater, in a browser, over a small server that speaks what it expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import CHROMIUM
from tests.support.leaderboard.static_site import Site, serve, until
from tests.support.leaderboard.studies.live.desk import Desk
from tests.support.processes import wait_until


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture
def rate(tabs, site) -> Callable:
    """`rate(**desk) -> (tab, desk)`: the page with its first question on it; `tab.failures` collects what went wrong in it."""

    def opened(viewport=None, by=None, wait: bool = True, options=None, **values):
        desk = Desk(site, **values)
        address = desk.open()
        tab = tabs.open(site.url, by, viewport=viewport or {"width": 1280, "height": 800}, **(options or {}))
        tab.failures = []
        tab.on("pageerror", lambda error: tab.failures.append(str(error)))
        tab.goto(address)
        if wait:
            ready(tab, 1)
        return tab, desk

    return opened


@pytest.fixture(scope="module")
def plain_browser(browser):
    """Chromium without WebGL."""
    plain = browser.browser_type.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-3d-apis"])
    yield plain
    plain.close()


PAGE = "document.querySelector('[data-rate]')"


def ready(tab, number: int) -> None:
    """Question `number` is on the page and may be answered."""
    until(tab, f"{PAGE}.dataset.question === '{number}' && performance.now() - {PAGE}.ratePage.since > 300")


def looked_at(tab) -> None:
    """As long as a person looks: the answer before is stored, and the next question has come."""
    until(tab, f"!{PAGE}.ratePage.session.busy")
    until(tab, f"(({{payload, scenes}}) => !payload.following || scenes.loaded.has(payload.following.id))({PAGE}.ratePage)")


def part(tab, name: str):
    return tab.locator(f"[data-part={name}]")


def until_stored(desk, number: int) -> None:
    wait_until(lambda: number in desk.stored, what=f"question {number} in store")

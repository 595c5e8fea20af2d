"""Every page as axe reads it, in both themes: names, roles, headings, landmarks, contrast, and what the keyboard reaches."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.service.leaderboard.test_routes import ALL, ask, client_of, names, people, route_of, scene, unlimited  # noqa: F401 - fixtures
from tests.support.leaderboard import routes_table as table
from tests.support.leaderboard.static_site import serve

pytestmark = pytest.mark.django_db
READERS = ("anonymous", "owner", "organizer", "staff")  # of who may see a page, the first sees it
SIZE = {"width": 1440, "height": 900}
NO_PAGE = re.compile(r"^/(api/v1/(?!docs$)|-/)|\.\w+(\?|$)")  # data, files and pictures by address, which take longer than pages

STYLE = re.compile(r'href="(/static/[^"]+\.css)"')


def pages(names, people) -> dict[str, str]:  # noqa: F811
    """One page of each route by its address, as the first of READERS sees it who may."""
    found: dict[str, str] = {}
    walked: set[str] = set()
    for line in ALL:
        if line.method != "GET" or NO_PAGE.search(line.address) or route_of(line, names) in walked:
            continue
        reader = next((person for person in READERS if line.outcomes[table.PEOPLE.index(person)] == "y"), None)
        if reader is None:
            continue
        response = ask(client_of(reader, people), line, names)
        is_page = response.status_code == 200 and response["Content-Type"].startswith("text/html") and not response.streaming
        if is_page and response.content.lstrip().startswith(b"<!doctype html"):
            walked.add(route_of(line, names))
            found[line.address] = response.content.decode()
    return found


def violations(where: str, found: dict) -> list[str]:
    """Each rule that is broken, and the first things that break it."""
    return [f"{where}: {one['id']}: {', '.join(node['html'][:160] for node in one['nodes'][:3])}" for one in found["violations"]]


def test_axe_finds_nothing_on_any_page_in_either_theme(browser, names, people):  # noqa: F811
    every, wrong = pages(names, people), []
    assert len(every) >= 90
    context = browser.new_context(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
    tab = context.new_page()
    read: set[tuple[str, ...]] = set()
    with serve() as site:
        for address, page in every.items():
            sheets = tuple(STYLE.findall(page))
            options = {"resultTypes": ["violations"], "preload": sheets not in read}  # of one rule, on stylesheets alone
            read.add(sheets)
            site.routes["/page"] = page
            tab.emulate_media(color_scheme="light")
            tab.goto(f"{site.url}/page")
            wrong += violations(f"light {address}", Axe().run(tab, options=options).response)
            # The other theme has other colours and nothing else.
            tab.emulate_media(color_scheme="dark")
            found = tab.evaluate("axe.run({resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block']})")
            wrong += violations(f"dark {address}", found)
    context.close()
    assert not wrong, "\n".join(wrong)

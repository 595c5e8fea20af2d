"""Every page as axe reads it, in both themes: names, roles, headings, landmarks, contrast, and what the keyboard reaches."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.service.leaderboard.test_routes import ALL, ask, client_of, names, people, route_of, scene  # noqa: F401 - fixtures
from tests.support.leaderboard import routes_table as table
from tests.support.leaderboard.static_site import serve

pytestmark = pytest.mark.django_db
READERS = ("anonymous", "owner", "organizer", "staff")  # of who may see a page, the first sees it
SIZE = {"width": 1440, "height": 900}


def pages(names, people) -> dict[str, str]:  # noqa: F811
    """One page of each route by its address, as the first of READERS sees it who may."""
    found: dict[str, str] = {}
    walked: set[str] = set()
    for line in ALL:
        if line.method != "GET" or route_of(line, names) in walked:
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


def test_axe_finds_nothing_on_any_page_in_either_theme(names, people, browser):  # noqa: F811
    every, wrong = pages(names, people), []
    assert len(every) > 70
    with serve() as site:
        for theme in ("light", "dark"):
            context = browser.new_context(viewport=SIZE, color_scheme=theme, reduced_motion="reduce")
            tab = context.new_page()
            for address, page in every.items():
                site.routes["/page"] = page
                tab.goto(f"{site.url}/page")
                # The other theme has other colours and nothing else.
                rules = {} if theme == "light" else {"runOnly": ["color-contrast"]}
                found = Axe().run(tab, options={"resultTypes": ["violations"], **rules}).response
                wrong += [
                    f"{theme} {address}: {one['id']}: {', '.join(node['html'][:160] for node in one['nodes'][:3])}"
                    for one in found["violations"]
                ]
            context.close()
    assert not wrong, "\n".join(wrong)

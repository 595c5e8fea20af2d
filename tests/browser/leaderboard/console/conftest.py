"""The organizer at the console, in a browser."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client


@pytest.fixture
def tab(browser, live_server, people):
    """A tab of the organizer's, whose console must stay empty."""
    client = Client()
    client.force_login(people.organizer)
    context = browser.new_context(base_url=live_server.url, viewport={"width": 390, "height": 844})
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
    tab = context.new_page()
    failures: list[str] = []
    tab.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: failures.append(str(error)))
    yield tab
    context.close()
    assert failures == []

"""Documents lead on: every address in one is answered, and every anchor is there."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import resolve

from leaderboard.views.docs import TITLES

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", TITLES)
def test_its_links_lead_to_pages_and_headings_that_are_there(name: str, client: Client):
    here = f"/docs/{name}/"
    page = client.get(here).content.decode()
    assert TITLES[name][0] in page and f'href="{here}"' in client.get("/docs/").content.decode()
    for link in sorted(set(re.findall(r'<a [^>]*?href="([^"]+)"', page))):
        address = urlsplit(urljoin(here, link))
        if address.netloc or address.scheme:
            continue
        resolve(address.path)  # or else an exception that names the path
        if address.path.startswith("/docs/") and address.fragment:
            assert f'id="{address.fragment}"' in client.get(address.path).content.decode(), link

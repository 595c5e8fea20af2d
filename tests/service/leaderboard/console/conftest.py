"""The organizer at the console."""

from __future__ import annotations

import pytest


@pytest.fixture
def desk(client, people, challenge):
    """The test client, logged in as the organizer of `challenge`."""
    client.force_login(people.organizer)
    return client


@pytest.fixture
def at(challenge):
    """`at("settings/")`: the address of one of the challenge's pages."""
    return lambda path="": f"/console/challenges/{challenge.slug}/{path}"

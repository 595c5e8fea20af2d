"""The organizer at the console."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evaluation.work.sandbox import sandbox
from leaderboard.console import acts


@pytest.fixture(autouse=True)
def _one_child(monkeypatch) -> None:
    """A reference is read in a child that begins for it, and takes a second to; here the worker's, which has a process for each job
    too, reads them all. `evaluation/test_doubts.py` reads in a child of its own."""
    monkeypatch.setattr(acts, "Sandbox", lambda: SimpleNamespace(run=sandbox.run, stop=lambda: None))


@pytest.fixture
def desk(client, people, challenge):
    """The test client, logged in as the organizer of `challenge`."""
    client.force_login(people.organizer)
    return client


@pytest.fixture
def at(challenge):
    """`at("settings/")`: the address of one of the challenge's pages."""
    return lambda path="": f"/console/challenges/{challenge.slug}/{path}"

"""A challenge, its phase, people and scored entries, stored once for a file of tests: each test undoes what it does to them.

A file that imports these fixtures has them in place of those of the same names that are made for each test.
"""

from __future__ import annotations

from copy import deepcopy

import pytest

from submissions.models import Challenge, Phase, Submission
from tests.support.factories import ChallengeFactory, PhaseFactory, give_reference
from tests.support.leaderboard.studies.live import making
from tests.support.people import People

Stored = tuple[Challenge, Phase, People, list[Submission]]


@pytest.fixture(scope="module")
def stored(rows_of_module) -> Stored:
    challenge = ChallengeFactory()
    phase = PhaseFactory(challenge=challenge)
    give_reference(phase)
    people = People.around(challenge)
    return challenge, phase, people, making.entries(phase, people)


@pytest.fixture
def own_copy(stored, db) -> Stored:
    """Objects of this test's own, as they are stored."""
    return deepcopy(stored)


@pytest.fixture
def challenge(own_copy) -> Challenge:
    return own_copy[0]


@pytest.fixture
def phase(own_copy) -> Phase:
    return own_copy[1]


@pytest.fixture
def people(own_copy) -> People:
    return own_copy[2]


@pytest.fixture
def rows(own_copy) -> list[Submission]:
    return own_copy[3]

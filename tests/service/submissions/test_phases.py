"""Phases: what cannot be saved, because its page could not be reached or its dates make no sense."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.urls import resolve
from django.utils import timezone

from submissions.models.phase import RESERVED_SLUGS
from tests.support.factories import ChallengeFactory, PhaseFactory

pytestmark = pytest.mark.django_db


def wrong(phase, field: str) -> str:
    with pytest.raises(ValidationError) as refused:
        phase.full_clean()
    (sentence,) = refused.value.message_dict[field]
    return sentence


@pytest.mark.parametrize("slug", sorted(RESERVED_SLUGS))
def test_a_phase_is_not_called_like_one_of_the_challenges_own_pages(slug):
    assert "choose another" in wrong(PhaseFactory.build(challenge=ChallengeFactory(), slug=slug), "slug")


def test_every_page_of_a_challenge_is_reserved():
    for word in ("rules", "data", "team"):
        assert resolve(f"/challenges/roofs/{word}/").url_name == word
        assert word in RESERVED_SLUGS
    assert resolve("/challenges/roofs/test/").url_name == "board"


def test_a_phase_closes_after_it_opens(challenge):
    now = timezone.now()
    assert wrong(PhaseFactory.build(challenge=challenge, opens_at=now, closes_at=now), "closes_at")


def test_a_hidden_or_frozen_board_has_a_date(challenge):
    assert "Set when" in wrong(PhaseFactory.build(challenge=challenge, board="hidden"), "board_at")


def test_parents_are_of_the_same_challenge_and_make_no_circle(challenge):
    first, other = PhaseFactory(challenge=challenge), PhaseFactory()
    second = PhaseFactory(challenge=challenge, parent=first)
    second.full_clean()
    first.parent = second
    assert "same challenge" in wrong(first, "parent")
    second.parent = other
    assert "same challenge" in wrong(second, "parent")


def test_a_time_zone_is_one_there_is(challenge):
    phase = PhaseFactory.build(challenge=challenge, time_zone="Europe/Atlantis", closes_at=timezone.now() + timedelta(days=1))
    assert "IANA" in wrong(phase, "time_zone")

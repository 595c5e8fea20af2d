"""Participation: rules, approval, private challenges."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from django.core.exceptions import PermissionDenied

from submissions.errors import Refused
from submissions.models import Admission, AuditEntry, Challenge, Participation, Phase, Team
from submissions.permissions import allowed, require
from tests.support.factories import ChallengeFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return UserFactory(username="ada")


def private(**values) -> Challenge:
    return ChallengeFactory(visibility=Challenge.Visibility.PRIVATE, access_key="a-long-secret", **values)


def test_accepting_the_rules_in_force_lets_in_and_once_is_enough(challenge, user):
    first = Participation.accept_rules(challenge, user, "1")
    again = Participation.accept_rules(challenge, user, "1")
    assert first.admission == Admission.ADMITTED and not first.must_accept
    assert again.pk == first.pk and again.rules_accepted_at == first.rules_accepted_at


def test_rules_that_changed_while_being_read_are_not_accepted(challenge, user):
    with pytest.raises(Refused, match="read them again") as refused:
        Participation.accept_rules(challenge, user, "0")
    assert refused.value.code == "rules_changed"
    assert not Participation.objects.exists()


def test_new_rules_must_be_accepted_again_before_the_next_upload(challenge, phase, user):
    Participation.accept_rules(challenge, user, "1")
    Team.of_one(challenge, user)
    assert allowed(user, "phase.upload", phase)
    challenge.rules_version = "2"
    challenge.save()
    assert Participation.of(challenge, user).must_accept
    assert not allowed(user, "phase.upload", Phase.objects.get(pk=phase.pk))
    Participation.accept_rules(challenge, user, "2")
    assert allowed(user, "phase.upload", Phase.objects.get(pk=phase.pk))


def test_where_approval_is_asked_for_accepting_waits_for_an_organizer(phase, challenge, user):
    challenge.needs_approval = True
    challenge.save()
    it = Participation.accept_rules(challenge, user, "1")
    Team.of_one(challenge, user)
    assert it.is_waiting and not allowed(user, "phase.upload", phase)
    it.decide(UserFactory(), Admission.ADMITTED)
    assert allowed(user, "phase.upload", phase)
    assert AuditEntry.objects.filter(challenge=challenge, action="participation.admitted").exists()


def test_who_may_not_upload_yet_is_told_what_is_still_to_be_done(phase, challenge, user):
    challenge.needs_approval = True
    challenge.save()

    def said() -> str:
        with pytest.raises(PermissionDenied) as denied:
            require(user, "phase.upload", Phase.objects.get(pk=phase.pk))
        return str(denied.value)

    rules = f"/challenges/{challenge.slug}/rules/"
    assert rules in said()
    it = Participation.accept_rules(challenge, user, "1")
    pending = said()
    it.decide(UserFactory(), Admission.ADMITTED)
    teamless = said()
    it.decide(UserFactory(), Admission.DECLINED)
    declined = said()
    assert len({pending, teamless, declined}) == 3 and rules not in pending + teamless + declined


def test_the_declined_neither_accept_nor_join_a_team(challenge, user):
    challenge.needs_approval = True
    challenge.save()
    it = Participation.accept_rules(challenge, user, "1")
    it.decide(None, Admission.DECLINED)
    for act in (lambda: Participation.accept_rules(challenge, user, "1"), lambda: Team.of_one(challenge, user)):
        with pytest.raises(Refused) as refused:
            act()
        assert refused.value.code == "declined"


def test_who_waited_when_approval_was_dropped_gets_in_by_accepting_again(challenge, user):
    challenge.needs_approval = True
    challenge.save()
    Participation.accept_rules(challenge, user, "1")
    challenge.needs_approval = False
    challenge.save()
    assert Participation.of(challenge, user).must_accept
    assert Participation.accept_rules(challenge, user, "1").admission == Admission.ADMITTED


def test_the_link_opens_a_private_challenge_to_be_seen_and_no_more(user):
    challenge = private()
    assert not allowed(user, "challenge.see", challenge)
    Participation.enter(challenge, user, "a-long-secret")
    assert allowed(user, "challenge.see", challenge) and allowed(user, "challenge.join", challenge)
    assert not Participation.of(challenge, user).has_accepted


@pytest.mark.parametrize("key", ["", "another", "a-long-secret "])
def test_another_key_opens_nothing(user, key):
    with pytest.raises(Refused) as refused:
        Participation.enter(private(), user, key)
    assert refused.value.code == "wrong_key"


def test_a_private_challenge_without_a_key_has_no_link(user):
    challenge = ChallengeFactory(visibility=Challenge.Visibility.PRIVATE, access_key="")
    with pytest.raises(Refused):
        Participation.enter(challenge, user, "")


def test_a_draft_is_not_opened_by_its_link(user):
    challenge = private()
    challenge.visibility = Challenge.Visibility.DRAFT
    challenge.save()
    with pytest.raises(Refused):
        Participation.enter(challenge, user, "a-long-secret")


def test_the_list_opens_a_private_challenge_to_verified_addresses_only(user):
    challenge = private(admitted_emails=["ada@example.org"])
    address = EmailAddress.objects.create(user=user, email="Ada@example.org", verified=False)
    assert not allowed(user, "challenge.see", challenge)
    address.verified = True
    address.save()
    assert allowed(user, "challenge.see", challenge)


def test_the_declined_no_longer_see_a_private_challenge(user):
    challenge = private()
    Participation.enter(challenge, user, "a-long-secret").decide(None, Admission.DECLINED)
    assert not allowed(user, "challenge.see", challenge)

"""Teams: names, invitations, joining, leaving, leading."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from submissions import throttling
from submissions.errors import Refused
from submissions.models import Admission, Invitation, Membership, Participation, Phase, Submission, Team, TeamInvite
from tests.support.factories import TeamFactory, UserFactory, join

pytestmark = pytest.mark.django_db


def participant(challenge, name: str):
    user = UserFactory(username=name)
    Participation.objects.create(
        challenge=challenge,
        user=user,
        admission=Admission.ADMITTED,
        rules_version=challenge.rules_version,
        rules_accepted_at=timezone.now(),
    )
    return user


def refused(code: str):
    class Expect:
        def __enter__(self):
            self.context = pytest.raises(Refused)
            self.caught = self.context.__enter__()

        def __exit__(self, *error):
            swallowed = self.context.__exit__(*error)
            assert self.caught.value.code == code
            assert self.caught.value.sentence.endswith(".")
            return swallowed

    return Expect()


def entry(phase: Phase, team: Team, **values) -> Submission:
    number = Submission.objects.filter(phase=phase).count() + 1
    values = {"received_at": timezone.now(), "status": "scored", **values}
    return Submission.objects.create(phase=phase, team=team, number=number, method_name="m", file_name="e.zip", **values)


@pytest.fixture
def phase(challenge):
    from tests.support.factories import PhaseFactory

    return PhaseFactory(challenge=challenge)


# --- names -------------------------------------------------------------------------------------


def test_someone_alone_has_a_team_named_after_them(challenge):
    ada = participant(challenge, "ada")
    team = Team.of_one(challenge, ada)
    assert team.name == "ada" and team.is_leader(ada)
    assert Team.of_one(challenge, ada) == team


def test_a_name_that_is_taken_gets_a_number(challenge):
    TeamFactory(challenge=challenge, name="ADA")
    TeamFactory(challenge=challenge, name="Ada 2")
    assert Team.of_one(challenge, participant(challenge, "ada")).name == "ada 3"


def test_names_are_unique_whatever_their_case_and_alphabet(challenge):
    team = Team.of_one(challenge, participant(challenge, "ada"))
    for taken, attempt in [("Ridge", "rIDGE"), ("Übersicht", "übersicht"), ("Straße", "STRASSE"), ("ﬁrst", "First")]:
        TeamFactory(challenge=challenge, name=taken)
        with refused("name_taken"):
            team.rename(attempt)
    team.rename("ADA")  # one's own name in other letters is free
    assert Team.objects.get(pk=team.pk).name == "ADA"


def test_the_same_name_is_free_in_another_challenge(challenge):
    from tests.support.factories import ChallengeFactory

    TeamFactory(challenge=ChallengeFactory(), name="Ridge")
    assert Team.found(challenge, participant(challenge, "ada"), " Ridge  lab ").name == "Ridge lab"


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\u202eb", "a\x00b", "\u200b", "ri\u200ddge"])
def test_odd_names_are_refused(challenge, name):
    team = Team.of_one(challenge, participant(challenge, "ada"))
    with refused("bad_name"):
        team.rename(name)


@pytest.mark.parametrize("name", ["👩\u200d🔬 lab", "می\u200cخواهم", "क्\u200dषेत्र"])
def test_a_name_has_the_joiners_that_its_script_needs(challenge, name):
    team = Team.of_one(challenge, participant(challenge, "ada"))
    team.rename(name)
    assert Team.objects.get().name == name


def test_a_new_name_reaches_the_boards_the_team_is_on(phase):
    team = TeamFactory(challenge=phase.challenge, name="Ridge")
    entry(phase, team)
    team.rename("Eaves")
    assert Phase.objects.get(pk=phase.pk).board_revision == phase.board_revision + 1


# --- joining -----------------------------------------------------------------------------------


def test_rules_come_before_a_team(challenge):
    team, stranger = TeamFactory(challenge=challenge), UserFactory()
    for act in (lambda: team.admit(stranger), lambda: Team.found(challenge, stranger)):
        with refused("rules"):
            act()


def test_someone_alone_without_uploads_moves_and_the_empty_team_disappears(challenge):
    ada, team = participant(challenge, "ada"), TeamFactory(challenge=challenge)
    alone = Team.of_one(challenge, ada)
    team.admit(ada)
    assert Team.of(challenge, ada) == team
    assert not Team.objects.filter(pk=alone.pk).exists()


def test_a_dropped_reservation_is_no_upload(phase):
    ada, team = participant(phase.challenge, "ada"), TeamFactory(challenge=phase.challenge)
    entry(phase, Team.of_one(phase.challenge, ada), status="cancelled", received_at=None)
    team.admit(ada)
    assert Team.of(phase.challenge, ada) == team


@pytest.mark.parametrize("status", ["scored", "rejected", "uploading", "failed"])
def test_entries_do_not_come_along_silently(phase, status):
    ada, team = participant(phase.challenge, "ada"), TeamFactory(challenge=phase.challenge)
    alone = Team.of_one(phase.challenge, ada)
    entry(phase, alone, status=status, received_at=None if status == "uploading" else timezone.now())
    with refused("has_entries"):
        team.admit(ada)
    with refused("has_entries"):
        Team.found(phase.challenge, ada, "Fresh quota")
    with refused("has_entries"):
        alone.leave(ada)
    assert Team.of(phase.challenge, ada) == alone


def test_a_person_is_in_one_team_of_a_challenge(people):
    with refused("in_a_team"):
        people.other_team.admit(people.mate)
    assert Membership.objects.filter(challenge=people.team.challenge, user=people.mate).get().team == people.team


def test_joining_twice_changes_nothing(people):
    people.team.admit(people.mate)
    assert people.team.memberships.count() == 2


def test_a_full_team_takes_nobody(challenge, people):
    challenge.team_size = 2
    challenge.save()
    ada = participant(challenge, "ada")
    alone = Team.of_one(challenge, ada)
    with refused("team_full"):
        Team.objects.get(pk=people.team.pk).admit(ada)
    assert Team.of(challenge, ada) == alone  # and the refused keep the team they had


# --- invitations -------------------------------------------------------------------------------


def test_the_link_opens_until_it_is_changed_or_ended(people):
    first = people.team.make_link()
    assert first not in people.team.invite_hash
    assert Invitation.find(first).team == people.team
    second = people.team.make_link()
    assert Invitation.find(first) is None and Invitation.find(second) is not None
    people.team.end_link()
    assert Invitation.find(second) is None
    assert Invitation.find("") is None


def test_an_emailed_invitation_is_for_one_person(challenge, people):
    invite = people.team.invite(" Grace@Example.org ", people.owner)
    assert invite.email == "grace@example.org"
    grace, ada = participant(challenge, "grace"), participant(challenge, "ada")
    again = Invitation.find(invite.token)
    Invitation.find(invite.token).accept(grace)
    assert Team.of(challenge, grace) == people.team
    assert Invitation.find(invite.token) is None
    with refused("invite_over"):
        again.accept(ada)


def test_a_refused_acceptance_leaves_the_invitation_open(challenge, people):
    invite = people.team.invite("grace@example.org", people.owner)
    with refused("rules"):
        Invitation.find(invite.token).accept(UserFactory())
    assert Invitation.find(invite.token) is not None


def test_an_invitation_ends_when_withdrawn_renewed_or_old(people):
    invite = people.team.invite("grace@example.org", people.owner)
    newer = people.team.invite("GRACE@example.org", people.owner)
    assert Invitation.find(invite.token) is None and Invitation.find(newer.token) is not None
    assert Invitation.find(newer.token, newer.expires_at) is None
    newer.withdraw()
    assert Invitation.find(newer.token) is None
    with refused("invite_over"):
        newer.withdraw()


def test_a_forged_token_opens_nothing(people):
    invite = people.team.invite("grace@example.org", people.owner)
    for token in (f"{invite.pk}:", f"{invite.pk}:AAAA", f"{invite.pk + 1}:{invite.token.split(':')[1]}", ":", "x:y"):
        assert Invitation.find(token) is None


def test_invitations_go_to_addresses_that_are_some_and_not_members(people):
    with refused("bad_email"):
        people.team.invite("not an address", people.owner)
    people.mate.emailaddress_set.create(email="mate@example.org", verified=True)
    with refused("is_member"):
        people.team.invite("MATE@example.org", people.owner)


def test_an_address_that_a_member_has_not_confirmed_is_not_theirs(people):
    people.mate.emailaddress_set.create(email="grace@example.org", verified=False)
    type(people.mate).objects.filter(pk=people.mate.pk).update(email="grace@example.org")
    assert people.team.invite("grace@example.org", people.owner).email == "grace@example.org"


def test_a_team_cannot_send_e_mails_without_end(people):
    now = timezone.now()
    for n in range(30):
        people.team.invite(f"p{n}@example.org", people.owner, now)
    with refused("too_many_invites"):
        people.team.invite("one.more@example.org", people.owner, now + timedelta(hours=23))
    people.team.invite("one.more@example.org", people.owner, now + timedelta(hours=25))
    assert TeamInvite.objects.filter(team=people.team).count() == 31


# --- leaving and leading -----------------------------------------------------------------------


def test_the_last_leader_stays_one_while_others_are_there(people):
    for act in (lambda: people.team.leave(people.owner), lambda: people.team.set_leader(people.owner, False)):
        with refused("last_leader"):
            act()
    people.team.hand_over(people.owner, people.mate)
    assert people.team.is_leader(people.mate) and not people.team.is_leader(people.owner)
    people.team.leave(people.owner)
    assert Team.of(people.team.challenge, people.owner) is None


def test_the_entries_stay_with_the_team_somebody_leaves(phase, people):
    one = entry(phase, people.team)
    people.team.leave(people.mate)
    one.refresh_from_db()
    assert one.team == people.team


def test_who_leaves_can_found_a_team_of_their_own(challenge, people):
    people.team.leave(people.mate)
    assert Team.found(challenge, people.mate, "Eaves").is_leader(people.mate)


def test_the_empty_team_goes_with_its_last_member(challenge):
    ada = participant(challenge, "ada")
    team = Team.of_one(challenge, ada)
    team.leave(ada)
    assert not Team.objects.filter(pk=team.pk).exists()


def test_the_removed_do_not_come_back_by_the_old_link(people):
    token = people.team.make_link()
    people.team.remove(people.mate)
    assert Team.of(people.team.challenge, people.mate) is None
    assert Invitation.find(token) is None


def test_a_leader_is_not_removed_nor_is_a_stranger(people):
    people.team.set_leader(people.mate)
    with refused("is_leader"):
        people.team.remove(people.mate)
    with refused("not_member"):
        people.team.remove(people.stranger)
    with refused("not_member"):
        people.team.hand_over(people.owner, people.stranger)


def test_members_of_a_full_team_can_be_replaced(challenge, people):
    challenge.team_size = 2
    challenge.save()
    team = Team.objects.get(pk=people.team.pk)
    team.remove(people.mate)
    ada = UserFactory(username="ada")
    join(ada, TeamFactory(challenge=challenge))
    team.admit(ada)
    assert set(team.members.all()) == {people.owner, ada}


def test_a_new_team_does_not_bring_new_invitations_to_send(client, challenge, monkeypatch):
    """An empty team goes with its invitations when its only member founds another, and so does what it had used up."""
    monkeypatch.setattr("submissions.throttling.INVITE_RATE", throttling.Rate(2, 86_400))
    user = participant(challenge, "busy")
    client.force_login(user)
    for n in range(2):
        Team.found(challenge, user, f"another {n}")
        client.post(f"/challenges/{challenge.slug}/team/invite/", {"email": f"{n}@example.org"})
        assert TeamInvite.objects.get().email == f"{n}@example.org"
    Team.found(challenge, user, "a third")
    client.post(f"/challenges/{challenge.slug}/team/invite/", {"email": "2@example.org"})
    assert not TeamInvite.objects.exists()
    response = client.post(f"/api/v1/challenges/{challenge.slug}/team/invites", {"email": "2@example.org"}, "application/json")
    assert response.status_code == 429

"""Teams: names, invitations, joining, leaving, leading."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.messages import SUCCESS
from django.urls import reverse
from django.utils import timezone

from submissions import throttling
from submissions.errors import Refused
from submissions.models import (
    Admission,
    AuditEntry,
    Challenge,
    ExtraTries,
    Invitation,
    Membership,
    Participation,
    Phase,
    Status,
    Submission,
    Team,
    TeamInvite,
    TeamMerge,
)
from submissions.models.quota import quota_of
from tests.support.factories import TeamFactory, UserFactory, join
from tests.support.pages import levels

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
    assert Team.create(challenge, participant(challenge, "ada"), " Ridge  lab ").name == "Ridge lab"


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
    for act in (lambda: team.admit(stranger), lambda: Team.create(challenge, stranger)):
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
def test_who_is_alone_with_entries_brings_them_along_and_founds_no_team_without_them(phase, people, status):
    ada = participant(phase.challenge, "ada")
    alone = Team.of_one(phase.challenge, ada)
    one = entry(phase, alone, status=status, received_at=None if status == "uploading" else timezone.now())
    with refused("has_entries"):
        Team.create(phase.challenge, ada, "Fresh quota")
    with refused("has_entries"):
        alone.leave(ada)
    assert Team.of(phase.challenge, ada) == alone
    people.team.admit(ada)
    one.refresh_from_db()
    assert Team.of(phase.challenge, ada) == people.team == one.team and not people.team.is_leader(ada)
    assert not Team.objects.filter(pk=alone.pk).exists()


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
        Team.create(challenge, user, f"another {n}")
        client.post(f"/challenges/{challenge.slug}/team/invite/", {"email": f"{n}@example.org"})
        assert TeamInvite.objects.get().email == f"{n}@example.org"
    Team.create(challenge, user, "a third")
    client.post(f"/challenges/{challenge.slug}/team/invite/", {"email": "2@example.org"})
    assert not TeamInvite.objects.exists()
    response = client.post(f"/api/v1/challenges/{challenge.slug}/team/invites", {"email": "2@example.org"}, "application/json")
    assert response.status_code == 429


# --- two teams become one ----------------------------------------------------------------------


@pytest.fixture
def limited(phase):
    """Open for three days by now, from noon of the first, two tries a day."""
    noon = timezone.now().replace(hour=12, minute=0) - timedelta(days=2)
    Phase.objects.filter(pk=phase.pk).update(opens_at=noon, limit_per_day=2, time_zone="UTC")
    phase.refresh_from_db()
    return phase


def test_two_teams_with_entries_become_one_by_consent_of_both(phase, people, client):
    mine, theirs = entry(phase, people.team, is_chosen=True), entry(phase, people.other_team, is_chosen=True)
    ExtraTries.grant(phase, people.other_team, 2, "sick", None)
    revision = Phase.objects.get(pk=phase.pk).board_revision
    client.force_login(people.other)
    address = reverse("team", args=[phase.challenge.slug])
    page = client.post(reverse("team_merge", args=[phase.challenge.slug]), {"name": people.team.name.upper()}, follow=True)
    merge = TeamMerge.objects.get()
    assert f'name="merge" value="{merge.pk}"' in page.content.decode() and 'value="withdraw"' in page.content.decode()
    assert Team.of(phase.challenge, people.other) == people.other_team  # nothing happens before the other side agrees
    client.force_login(people.mate)  # who does not lead
    answer = {"merge": merge.pk, "how": "agree"}
    assert client.post(reverse("team_answer_merge", args=[phase.challenge.slug]), answer).status_code == 403
    client.force_login(people.owner)
    assert f'id="merge-{merge.pk}"' in client.get(address).content.decode()
    page = client.post(reverse("team_answer_merge", args=[phase.challenge.slug]), answer, follow=True)
    assert levels(page) == [SUCCESS]
    mine.refresh_from_db(), theirs.refresh_from_db()
    assert mine.team == theirs.team == people.team and (mine.is_chosen, theirs.is_chosen) == (True, False)
    assert set(people.team.members.all()) == {people.owner, people.mate, people.other}
    assert people.team.extra_tries.get().amount == 2 and not TeamMerge.objects.exists()
    assert Phase.objects.get(pk=phase.pk).board_revision > revision
    line = AuditEntry.objects.get(action="team.merge")
    assert line.detail["before"] == {"teams": [people.team.name, people.other_team.name]}
    # Links of old rankings to the page of the team that is gone lead to the one that is there.
    assert client.get(f"/teams/{people.other_team.pk}/").status_code == 200


def test_a_team_that_is_not_there_cannot_be_asked(people, client):
    client.force_login(people.owner)
    for name, words in (
        ("Nobody", "There is no team “Nobody” in this challenge"),
        (people.team.name, "Name another team of this challenge."),
    ):
        page = client.post(reverse("team_merge", args=[people.team.challenge.slug]), {"name": name}, follow=True).content.decode()
        assert words in page and not TeamMerge.objects.exists()


def test_either_side_says_no(people, client):
    slug = people.team.challenge.slug
    for who, how in ((people.owner, "decline"), (people.other, "withdraw")):
        merge = TeamMerge.ask(people.other_team, people.team.name, people.other)
        client.force_login(who)
        client.post(reverse("team_answer_merge", args=[slug]), {"merge": merge.pk, "how": how})
        assert not TeamMerge.objects.exists() and Team.of(people.team.challenge, people.other) == people.other_team
    merge = TeamMerge.ask(people.other_team, people.team.name, people.other)
    for who, how in ((people.other, "agree"), (people.owner, "withdraw")):  # not theirs to say
        client.force_login(who)
        assert client.post(reverse("team_answer_merge", args=[slug]), {"merge": merge.pk, "how": how}).status_code == 404


@pytest.mark.parametrize(("mine", "theirs", "extra", "used"), [(3, 3, 0, ""), (4, 3, 0, "7 tries"), (4, 3, 1, "")])
def test_two_teams_may_have_used_no_more_tries_than_one_could_have(limited, people, mine, theirs, extra, used):
    for n in range(mine):
        entry(limited, people.team, created_at=timezone.now() - timedelta(days=n % 2))
    for n in range(theirs):
        entry(limited, people.other_team, created_at=timezone.now() - timedelta(days=n % 2))
    entry(limited, people.other_team, status="rejected")  # uses up nothing
    if extra:
        ExtraTries.grant(limited, people.team, extra, "sick", None)
    sentence = people.team.why_not_merge(people.other_team)
    assert used in sentence and bool(used) == bool(sentence)
    if used:
        assert "used 6 by" in sentence
        with refused("no_merge"):
            people.team.take_in(people.other_team, None)
        assert Team.objects.filter(pk=people.other_team.pk).exists()
        # A day later one team could have used two more.
        assert people.team.why_not_merge(people.other_team, timezone.now() + timedelta(days=1)) == ""
    else:
        people.team.take_in(people.other_team, None)
        assert quota_of(limited, people.team).left_today == 0  # both have sent two today
        assert quota_of(limited, people.team, timezone.now() + timedelta(days=1)).left_today == 2


def test_the_whole_phase_holds_two_teams_back_too(phase, people):
    Phase.objects.filter(pk=phase.pk).update(limit_total=5, limit_per_day=None)
    for team, n in ((people.team, 3), (people.other_team, 3)):
        for _ in range(n):
            entry(phase, team)
    assert "6 tries" in people.team.why_not_merge(people.other_team)


def test_a_closed_phase_is_counted_to_its_end(limited, people):
    Phase.objects.filter(pk=limited.pk).update(closes_at=limited.opens_at + timedelta(hours=1))
    for _ in range(3):
        entry(limited, people.team)
    assert "used 2 by" in people.team.why_not_merge(people.other_team)


def test_after_the_date_only_organizers_merge_teams(phase, people, client):
    entry(phase, people.team), entry(phase, people.other_team)
    Challenge.objects.filter(pk=phase.challenge_id).update(merge_until=timezone.now() - timedelta(minutes=1))
    team, other = Team.objects.get(pk=people.team.pk), Team.objects.get(pk=people.other_team.pk)
    assert team.why_not_merge(other) and not team.why_not_merge(other, dated=False)
    with refused("no_merge"):
        TeamMerge.ask(other, team.name, people.other)
    client.force_login(people.other)
    assert client.get(reverse("team", args=[phase.challenge.slug])).context["merging"] is False
    # Joining with entries is merging too; without any it is not.
    assert client.get(f"/teams/join/{team.make_link()}/").context["why_not"] == team.why_not_admit(people.other)
    client.force_login(people.organizer)
    place = reverse("console_team", args=[phase.challenge.slug, other.pk])
    offer = f'<input type="hidden" name="into" value="{team.pk}">'
    assert offer in client.get(place, {"into": team.pk}).content.decode()
    assert levels(client.post(place, {"act": "merge", "into": team.pk}, follow=True)) == [SUCCESS] and not Team.objects.filter(pk=other.pk)
    assert AuditEntry.objects.get(action="team.merge").actor == people.organizer


def test_too_many_members_and_teams_without_any_do_not_merge(people, client):
    Challenge.objects.filter(pk=people.team.challenge_id).update(team_size=2)
    team, other = Team.objects.get(pk=people.team.pk), Team.objects.get(pk=people.other_team.pk)
    sentence = f"Together {team.name} and {other.name} have 3 members, and this challenge allows 2 a team."
    assert team.why_not_merge(other) == sentence
    assert "has no members" in team.why_not_merge(TeamFactory(challenge=team.challenge, name="Baselines"))
    assert team.why_not_merge(team)
    # What was asked before the cap is not offered after it.
    TeamMerge.objects.create(asking=other, asked=team)
    client.force_login(people.owner)
    page = client.get(reverse("team", args=[team.challenge.slug])).content.decode()
    assert sentence in page and ">Agree<" not in page and ">Say no<" in page


# --- tries of who leaves -----------------------------------------------------------------------


@pytest.mark.parametrize("removed", [False, True])
def test_who_leaves_starts_with_the_tries_that_the_team_has_used(limited, people, removed):
    Phase.objects.filter(pk=limited.pk).update(limit_total=5)
    limited.refresh_from_db()
    entry(limited, people.team)
    entry(limited, people.team, created_at=timezone.now() - timedelta(days=1))
    entry(limited, people.team, status="rejected")
    busy = entry(limited, people.team, status="scoring")
    if removed:
        people.team.remove(people.mate)
    else:
        people.team.leave(people.mate)
    alone = Team.of(limited.challenge, people.mate)
    assert alone.name == people.mate.username and alone.is_leader(people.mate) and not alone.submissions.exists()
    own, kept = quota_of(limited, alone), quota_of(limited, people.team)
    assert (own.left_today, own.left_total) == (kept.left_today, kept.left_total) == (0, 2)
    assert own.left_at_once is None and Phase.objects.filter(pk=limited.pk).update(limit_at_once=1)
    assert quota_of(limited, alone).left_at_once is None  # asked of the row as it was
    limited.refresh_from_db()
    assert (quota_of(limited, alone).left_at_once, quota_of(limited, people.team).left_at_once) == (
        1,
        0,
    )  # what is in progress is the team's
    # What the team's entry comes to counts for both.
    Submission.objects.filter(pk=busy.pk).update(status="rejected")
    assert quota_of(limited, alone).left_total == 3
    # What the team sends from now on is its own, and nobody gets rid of the tries by leaving or founding again.
    entry(limited, people.team)
    assert (quota_of(limited, alone).left_total, quota_of(limited, people.team).left_total) == (3, 2)
    with refused("has_entries"):
        alone.leave(people.mate)
    again = Team.create(limited.challenge, people.mate, "Eaves")
    assert quota_of(limited, again).left_total == 3


def test_who_comes_back_brings_no_try_twice(limited, people):
    Phase.objects.filter(pk=limited.pk).update(limit_total=5, limit_per_day=None)
    limited.refresh_from_db()
    for _ in range(2):
        entry(limited, people.team)
    people.team.leave(people.mate)
    alone = Team.of(limited.challenge, people.mate)
    entry(limited, alone)
    people.team.admit(people.mate)
    assert quota_of(limited, people.team).left_total == 2 and not people.team.earlier_entries.exists()


def test_who_joins_another_team_brings_the_tries_used_before(limited, people):
    Phase.objects.filter(pk=limited.pk).update(limit_total=3, limit_per_day=None)
    limited.refresh_from_db()
    for _ in range(2):
        entry(limited, people.team)
    people.team.leave(people.mate)
    entry(limited, people.other_team)
    people.other_team.admit(people.mate)
    assert quota_of(limited, people.other_team).left_total == 0 and quota_of(limited, people.team).left_total == 1
    ada = participant(limited.challenge, "ada")
    entry(limited, Team.of_one(limited.challenge, ada))
    assert re.findall(r"\b\d\b", people.other_team.why_not_admit(ada)) == ["4", "3"]  # used, and as many as one team could have used
    with refused("no_merge"):
        people.other_team.admit(ada)


def test_nothing_is_kept_of_a_team_that_has_used_nothing(people):
    people.team.leave(people.mate)
    assert Team.of(people.team.challenge, people.mate) is None


# --- what a page offers ------------------------------------------------------------------------


def test_leaving_is_offered_to_those_alone_who_can(phase, people, client):
    def offers(user) -> bool:
        client.force_login(user)
        return f">Leave {Team.of(phase.challenge, user).name}<" in client.get(reverse("team", args=[phase.challenge.slug])).content.decode()

    assert (offers(people.owner), offers(people.mate), offers(people.other)) == (False, True, True)
    entry(phase, people.other_team)
    assert not offers(people.other)
    people.team.set_leader(people.mate)
    assert offers(people.owner)
    assert levels(client.post(reverse("team_leave", args=[phase.challenge.slug]), follow=True)) == [SUCCESS]
    assert Team.of(phase.challenge, people.owner) is None


def test_joining_is_offered_to_those_alone_who_can(phase, people, client):
    link = f"/teams/join/{people.team.make_link()}/"
    entry(phase, people.other_team)
    client.force_login(people.other)
    found = client.get(link)
    assert found.context["own"] == people.other_team and not found.context["why_not"] and "Join as" in found.content.decode()
    join(UserFactory(username="third"), people.other_team)
    page = client.get(link).content.decode()
    assert people.other_team.name in client.get(link).context["why_not"] and "Join as" not in page


class TestUnseen:
    """Members who no longer see the challenge: declined in a private one, or while it is a draft again."""

    @pytest.fixture(params=["private", "draft"])
    def unseen(self, request, challenge, people):
        """The address of the team of people whom the organizers have declined, or whose challenge is a draft."""
        Challenge.objects.filter(pk=challenge.pk).update(visibility=request.param, title="Secret roofs", summary="Not for all")
        if request.param == "private":
            for one in (people.owner, people.mate):
                Participation.objects.get(challenge=challenge, user=one).decide(people.organizer, Admission.DECLINED)
        return f"/challenges/{challenge.slug}/team/"

    def test_they_leave_and_see_nothing_of_the_challenge(self, client, challenge, people, unseen):
        client.force_login(people.mate)
        assert client.get(f"/challenges/{challenge.slug}/").status_code == 404
        assert unseen in client.get("/account/").content.decode()
        page = client.get(unseen).content.decode()
        assert f"{unseen}leave/" in page and people.team.name in page
        for hidden in ("Secret roofs", "Not for all", f"/challenges/{challenge.slug}/rules/", "merge", "invite/"):
            assert hidden not in page, hidden
        assert client.post(f"{unseen}leave/").headers["Location"] == "/account/"
        assert levels(client.get("/account/")) == [SUCCESS]
        assert Team.of(challenge, people.mate) is None and client.get(unseen).status_code == 404

    def test_the_last_leader_hands_over_the_lead_first(self, client, challenge, people, unseen):
        client.force_login(people.owner)
        assert "hand the lead to another member first" in client.get(unseen).content.decode()
        assert client.post(f"{unseen}lead/", {"how": "hand_over", "member": people.mate.pk}).headers["Location"] == unseen
        client.post(f"{unseen}leave/")
        assert Team.of(challenge, people.owner) is None

    def test_acts_that_tell_of_other_teams_or_need_the_challenge_are_not_found(self, client, challenge, people, unseen):
        client.force_login(people.owner)
        sent = {"rename/": {"name": "Hip"}, "invite/": {"email": "x@example.org"}, "link/": {}, "merge/": {"name": people.other_team.name}}
        assert [client.post(unseen + act, data).status_code for act, data in sent.items()] == [404] * 4

    def test_with_entries_they_go_on_as_a_team_of_one(self, client, challenge, people, phase, unseen):
        Submission.objects.create(phase=phase, team=people.team, number=1, status=Status.SCORED, received_at=timezone.now())
        client.force_login(people.mate)
        assert client.post(f"{unseen}leave/").headers["Location"] == unseen
        assert Team.of(challenge, people.mate) != people.team
        assert client.get(unseen).status_code == 200

    def test_the_api_lets_them_leave_too(self, client, challenge, people, unseen):
        client.force_login(people.mate)
        address = f"/api/v1{unseen.rstrip('/')}"
        assert client.get(address).json()["name"] == people.team.name
        assert client.get(f"{address}/merges").status_code == 404
        assert client.post(f"{address}/leave").status_code == 204
        assert client.get(address).status_code == 404

    def test_others_find_nothing(self, client, people, unseen):
        client.force_login(UserFactory())
        assert client.get(unseen).status_code == 404 and client.post(f"{unseen}leave/").status_code == 404

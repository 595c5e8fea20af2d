"""API tokens reach as far as their scopes and challenges, and no further."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from leaderboard.service.mail import send_due_mail
from submissions.forms import TokenForm
from submissions.lookup import challenge_for, submission_for
from submissions.models import ApiToken, Challenge, Scope, User
from submissions.models.user import Reach
from submissions.permissions import allowed
from submissions.visibility import entries_of_teams, organized_by, visible_challenges
from tests.support.factories import ChallengeFactory, PhaseFactory, TeamFactory, archive, gables, join, received

pytestmark = pytest.mark.django_db


def by(user: User, *scopes: Scope, only: Challenge | None = None) -> User:
    """The user as a program with such a token is: through the key itself."""
    _, key = ApiToken.make(user, "test", scopes=scopes, challenges=[only] if only else [])
    return ApiToken.holder(key)


def test_a_scope_covers_its_own_acts_and_reading():
    reach = Reach(frozenset({Scope.ORGANIZE}))
    assert [reach.covers(scope, 1) for scope in Scope] == [True, False, True, False]
    assert [Reach(frozenset(), frozenset({1})).covers(Scope.READ, place) for place in (1, 2, None)] == [True, False, False]


def test_without_organize_a_program_of_an_organizer_sees_what_the_public_sees(people, phase):
    phase.reference_access = "hidden"
    phase.save()
    for scopes, organizes in (((), False), ((Scope.SUBMIT,), False), ((Scope.OPERATE,), False), ((Scope.ORGANIZE,), True)):
        person = by(people.organizer, *scopes)
        assert allowed(person, "phase.see_reference", phase) == organizes
        assert allowed(person, "challenge.organize", phase.challenge) == organizes
        assert organized_by(person).filter(pk=phase.challenge_id).exists() == organizes
    with pytest.raises(PermissionDenied, match="API token"):
        challenge_for(by(people.organizer), phase.challenge.slug, "challenge.organize")


def test_without_operate_a_program_of_staff_is_nobody_special(people, phase):
    hidden = ChallengeFactory(visibility="draft")
    for scopes, operates in (((Scope.SUBMIT, Scope.ORGANIZE), False), ((Scope.OPERATE,), True)):
        person = by(people.staff, *scopes)
        assert allowed(person, "operator.see") == allowed(person, "challenge.see", hidden) == operates
        assert visible_challenges(person).filter(pk=hidden.pk).exists() == organized_by(person).filter(pk=hidden.pk).exists() == operates


def test_without_submit_a_program_of_a_team_reads_its_entries_and_changes_nothing(people, phase):
    entry = received(phase, people.team, archive(gables()))
    reads, acts = by(people.owner), by(people.owner, Scope.SUBMIT)
    for action in ("submission.see", "submission.download"):
        assert allowed(reads, action, entry) and allowed(acts, action, entry)
    for action in ("submission.manage", "submission.send"):
        assert not allowed(reads, action, entry) and allowed(acts, action, entry)
    assert not allowed(reads, "phase.upload", phase) and allowed(acts, "phase.upload", phase)
    assert not allowed(reads, "team.lead", people.team) and allowed(acts, "team.lead", people.team)


def test_beyond_its_challenges_a_program_is_a_visitor(people, phase):
    entry = received(phase, people.team, archive(gables()))
    elsewhere = PhaseFactory(challenge=ChallengeFactory()).challenge
    inside, outside = by(people.owner, Scope.SUBMIT, only=phase.challenge), by(people.owner, Scope.SUBMIT, only=elsewhere)
    assert allowed(inside, "phase.upload", phase) and not allowed(outside, "phase.upload", phase)
    assert list(entries_of_teams(inside)) == [entry] and not entries_of_teams(outside).exists()
    with pytest.raises(Http404):
        submission_for(outside, entry.pk)
    Challenge.objects.filter(pk=phase.challenge_id).update(visibility="private")
    phase.challenge.refresh_from_db()
    assert [visible_challenges(who).filter(pk=phase.challenge_id).exists() for who in (inside, outside, people.owner)] == [
        True,
        False,
        True,
    ]
    assert [allowed(who, "challenge.see", phase.challenge) for who in (inside, outside)] == [True, False]
    organizer = by(people.organizer, Scope.ORGANIZE, only=elsewhere)
    assert not allowed(organizer, "challenge.organize", phase.challenge) and not organized_by(organizer).exists()
    operator = by(people.staff, Scope.OPERATE, only=elsewhere)
    assert not allowed(operator, "operator.see") and not allowed(operator, "challenge.organize", phase.challenge)
    assert allowed(operator, "challenge.organize", elsewhere)


@pytest.mark.parametrize(
    ("method", "path", "scopes", "status"),
    [
        ("get", "/api/v1/submissions", (), 200),
        ("post", "/api/v1/submissions", (), 403),
        ("post", "/api/v1/submissions", (Scope.ORGANIZE,), 403),
        ("post", "/api/v1/submissions", (Scope.SUBMIT,), 422),
        ("post", "/api/v1/challenges/{challenge}/programs", (Scope.SUBMIT,), 403),
        ("post", "/api/v1/challenges/{challenge}/programs", (Scope.ORGANIZE,), 422),
        ("get", "/api/v1/challenges/{challenge}/programs", (Scope.SUBMIT,), 403),
        ("get", "/api/v1/challenges/{challenge}/programs", (Scope.ORGANIZE,), 200),
    ],
)
def test_the_api_asks_for_the_scope_of_an_act(client, people, challenge, method, path, scopes, status):
    _, key = ApiToken.make(people.organizer, "test", scopes=scopes)
    answer = getattr(client, method)(
        path.format(challenge=challenge.slug), content_type="application/json", headers={"Authorization": f"Bearer {key}"}
    )
    assert answer.status_code == status, answer.content


class TestForm:
    def scopes(self, user: User) -> list[str]:
        return [value for value, _ in TokenForm(user).fields["scopes"].choices]

    def test_scopes_are_offered_to_those_who_have_something_to_do_with_them(self, people, challenge):
        assert self.scopes(people.owner) == ["submit"]
        assert self.scopes(people.organizer) == ["submit", "organize"]
        assert self.scopes(people.staff) == ["submit", "organize"]
        Authenticator.objects.create(user=people.staff, type=Authenticator.Type.TOTP, data={})
        assert self.scopes(people.staff) == ["submit", "organize", "operate"]

    def test_no_other_scope_and_no_challenge_of_others_is_taken(self, client, people, challenge):
        client.force_login(people.owner)
        foreign = ChallengeFactory()
        for wrong in ({"scopes": ["operate"]}, {"challenges": [foreign.pk]}):
            assert client.post("/account/tokens/", {"name": "x", "days": "30", **wrong}).status_code == 422
        assert not ApiToken.objects.exists()

    def test_what_is_chosen_is_what_it_may(self, client, people, challenge):
        client.force_login(people.organizer)
        sent = {"name": "x", "days": "30", "scopes": ["organize"], "challenges": [challenge.pk]}
        assert client.post("/account/tokens/", sent).status_code == 201
        token = ApiToken.objects.get()
        assert token.scope_names == ["read", "organize"] and list(token.challenges.all()) == [challenge]


def test_owners_of_tokens_from_before_are_told_once(people):
    _, key = ApiToken.make(people.owner, "laptop")
    ApiToken.objects.update(is_narrowed=True)
    EmailAddress.objects.create(user=people.owner, email="owner@example.org", verified=True, primary=True)
    assert send_due_mail() == 1 and send_due_mail() == 0
    assert mail.outbox[0].to == ["owner@example.org"] and "laptop" in mail.outbox[0].body and key not in mail.outbox[0].body
    ApiToken.objects.update(told_at=None, revoked_at=timezone.now())
    assert send_due_mail() == 0, "a revoked token concerns nobody"


def test_a_token_of_one_challenge_names_no_team_of_another_and_holds_no_other_token(client, people, phase):
    elsewhere = PhaseFactory()
    join(people.owner, TeamFactory(challenge=elsewhere.challenge))
    for only, slugs in ((None, {phase.challenge.slug, elsewhere.challenge.slug}), (phase.challenge, {phase.challenge.slug})):
        _, key = ApiToken.make(people.owner, "test", scopes=(Scope.SUBMIT,), challenges=[only] if only else [])
        token, other = {"Authorization": f"Bearer {key}"}, ApiToken.make(people.owner, "other", scopes=())[0]
        assert client.get("/api/v1/me", headers=token).json()["teams"].keys() == slugs
        answers = client.get("/api/v1/tokens", headers=token), client.delete(f"/api/v1/tokens/{other.pk}", headers=token)
        assert [answer.status_code for answer in answers] == ([403, 403] if only else [200, 204])

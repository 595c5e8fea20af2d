"""Raters of requests, and the ways in which people become raters.

A rater with an account is known by their log-in; one who came by a link without an account by a key in a cookie that only this study's
pages get. The same key is in the rater's own link, with which they come back elsewhere. A rater who logs in later stays a rater without a
name, but is asked nothing more about entries of their own.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from leaderboard.lookup import study_to_rate
from leaderboard.models import PracticeQuestion, Question, Rater, Study, StudyInvitation
from leaderboard.studies.live import panel as panels
from leaderboard.studies.live import practice
from leaderboard.studies.live.ask import open_questions
from leaderboard.studies.live.design_matrix import Subject
from submissions.errors import Refused
from submissions.models.user import User, hash_secret

COOKIE = "rater"
KEY = re.compile(r"[A-Za-z0-9_-]{32}")
COOKIE_SECONDS = 400 * 24 * 3600  # the longest that browsers keep one


@dataclass(frozen=True)
class Joined:
    """A rater, and the key that their browser is to keep; empty where they are known by their account."""

    rater: Rater
    key: str = ""


def rater_of(request: HttpRequest, study: Study) -> Rater | None:
    """The rater who asks, if they have joined; removed ones too."""
    known = Q(pk__in=[])
    key = request.COOKIES.get(COOKIE, "")
    if key:
        known |= Q(key_hash=hash_secret(key))
    if request.user.is_authenticated:
        known |= Q(user=request.user)
    raters = list(Rater.objects.filter(known, study=study, joined_at__isnull=False))
    if request.user.is_authenticated:
        for rater in raters:
            # Without an account: nothing more on entries of the account that uses their browser, also once it is logged out.
            if rater.user_id is None and rater.left_at is None and not rater.kept_from.filter(pk=request.user.pk).exists():
                rater.kept_from.add(request.user)
    # A logged-in rater is that account here, whoever used this browser before.
    return max(raters, key=lambda rater: rater.user_id is not None, default=None)


def keep_key(response: HttpResponse, request: HttpRequest, study: Study, key: str) -> None:
    """Let the browser keep a rater's key, for this study's pages only."""
    path = reverse("rate", args=[study.key])
    response.set_cookie(COOKIE, key, COOKIE_SECONDS, path=path, secure=request.is_secure(), httponly=True, samesite="Lax")


def own_link(request: HttpRequest, study: Study, rater: Rater) -> str:
    """The address with which a rater without an account goes on elsewhere; empty where they log in."""
    key = request.COOKIES.get(COOKIE, "")
    if rater.user_id is not None or not key:
        return ""
    return request.build_absolute_uri(reverse("rate_as", args=[study.key, key]))


def invitation_by_token(token: str) -> StudyInvitation | None:
    """The invitation behind a link; None for one that never was or is over."""
    rows = StudyInvitation.objects.select_related("study__phase__challenge").filter(token_hash=hash_secret(token), withdrawn_at=None)
    invitation = rows.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now())).exclude(study__state=Study.State.DRAFT).first()
    return None if invitation is None or is_used_up(invitation) else invitation


def study_of_link(token: str) -> Study | None:
    """The study of an invitation link that may be over; None for one that never was, or whose study is a draft."""
    rows = StudyInvitation.objects.select_related("study__phase__challenge").filter(token_hash=hash_secret(token))
    invitation = rows.exclude(study__state=Study.State.DRAFT).first()
    return invitation.study if invitation is not None else None


def is_used_up(invitation: StudyInvitation) -> bool:
    return invitation.most_uses is not None and invitation.raters.count() >= invitation.most_uses


def is_listed(study: Study, user: User) -> bool:
    return user.is_authenticated and study.raters.filter(user=user).exists()


def group_of(study: Study, user: User, invitation: StudyInvitation | None) -> str:
    """The group that an organizer has chosen for somebody who comes, by the list or by an invitation; empty where nobody has."""
    own = study.raters.filter(user=user).first() if user.is_authenticated else None
    return (own.group if own else "") or (invitation.group if invitation else "")


def may_join(study: Study, user: User) -> bool:
    """True if somebody without an invitation link may become a rater."""
    return study.access == Study.Access.OPEN or is_listed(study, user)


def rater_before(study: Study, user: User | None, panel_hash: str) -> Rater | None:
    """The rater that somebody was before, in this study or in one whose raters it refuses: known by their account or their panel.

    Of this study only who comes by a panel: an account that has joined is let in again without being asked.
    """
    here = study.raters.filter(joined_at__isnull=False).exclude(panel_hash="").filter(panel_hash=panel_hash).first()
    if here is not None or not study.refuses_raters_of:
        return here
    known = Q(pk__in=[])
    if panel_hash:
        known |= Q(panel_hash=panel_hash)
    if user is not None:
        known |= Q(user=user)
    others = Rater.objects.filter(known, joined_at__isnull=False, study__phase__challenge=study.phase.challenge_id)
    rows = others.exclude(study=study).select_related("study__phase").order_by("-finished_at", "pk")
    return next((row for row in rows if f"{row.study.phase.slug}/{row.study.slug}" in study.refuses_raters_of), None)


def before_sentence(study: Study, rater: Rater) -> str:
    """Reason why somebody who was that rater does not take part now."""
    if rater.study_id != study.pk:
        return "You have taken part in another study of this challenge, so this one is for other people; thank you for coming."
    if rater.left_at is not None:
        return "You have left this study, and nobody takes part in it twice; thank you for coming."
    if rater.removed_at is not None:
        return "The organizers have ended your part in this study; write to them if you think that is wrong."
    if rater.finished_at is not None:
        return "You have answered all your questions in this study, and everybody takes part once; thank you."
    return "Your panel has sent you to this study before, and everybody takes part once. Continue in the browser in which you began."


def full_sentence(study: Study, group: str) -> str:
    """Reason why the study takes nobody more of that group; empty where there is room. Raters who left or were removed make room."""
    people = study.raters.filter(kind=Rater.Kind.PERSON, joined_at__isnull=False, removed_at=None)
    if study.most_raters is not None and people.count() >= study.most_raters:
        return "This study has all the raters it needs; thank you for coming."
    quota = study.group_quotas.get(group)
    if quota is not None and people.filter(group=group).count() >= quota:
        return f"This study has all the raters of the group “{group}” that it needs; thank you for coming."
    return ""


def new_key() -> str:
    """A key for somebody without an account, which the form holds that they join with."""
    return secrets.token_urlsafe(24)


def joined_with(request: HttpRequest, key: str) -> Rater | None:
    """The rater without an account who has joined by this very form a moment ago, and whose browser sends it once more."""
    if request.user.is_authenticated or not KEY.fullmatch(key):
        return None
    return Rater.objects.select_related("study").filter(key_hash=hash_secret(key)).first()


def join(
    study: Study,
    user: User | None,
    invitation: StudyInvitation | None = None,
    group: str = "",
    now: datetime | None = None,
    key: str = "",
    query: Mapping[str, str] = {},
    setup: Mapping[str, Any] = {},
) -> Joined:
    """Make `user` (None: somebody without an account) a rater, who has read what they agree to.

    `query` holds the parameters of the address they came by; the study keeps its panel's parameters. `setup` has their answers about eyes
    and screen.

    An existing rater stays unchanged; they are known by their account, or by the key of a form that is sent twice. Raises `Refused`, with a
    sentence, if the study takes no answers now, or has all the raters it needs (in total or of their group). It is also raised if the
    invitation is used up, or the rater was removed or took part before.
    """
    now = now or timezone.now()
    with transaction.atomic():
        # Under the study's lock names count up and the most raters hold, however many come at once.
        study = study.locked()
        newcomer = _Newcomer(study, user, invitation, group, query)
        own = newcomer.own
        if own is not None and own.removed_at is not None:
            raise Refused("The organizers have ended your part in this study; write to them if you think that is wrong.", "removed")
        if own is not None and own.joined_at is not None:
            return Joined(own)
        key = "" if user is not None else key if KEY.fullmatch(key) else new_key()
        if key and (again := study.raters.filter(key_hash=hash_secret(key)).first()):
            return Joined(again, key)
        for sentence, code in newcomer.refusals(now):
            if sentence:
                raise Refused(sentence, code)
        if own is not None:
            own.joined_at, own.group, own.setup = now, newcomer.group, dict(setup)
            own.save(update_fields=["joined_at", "group", "setup"])
        else:
            own = newcomer.made(joined_at=now, setup=dict(setup), key_hash=hash_secret(key) if key else "")
        if study.practice_questions:
            PracticeQuestion.objects.bulk_create(practice.plan(Subject(study, own), own))
        return Joined(own, key)


@dataclass(frozen=True)
class _Newcomer:
    """Somebody who wants to be a rater of a study; `asked` is the group that they name themselves."""

    study: Study
    user: User | None
    invitation: StudyInvitation | None
    asked: str
    query: Mapping[str, str]

    @cached_property
    def own(self) -> Rater | None:
        """The row of somebody whom organizers have listed, or who has joined."""
        return self.study.raters.filter(user=self.user).first() if self.user is not None else None

    @cached_property
    def group(self) -> str:
        listed = self.own.group if self.own is not None else ""
        return listed or (self.invitation.group if self.invitation else "") or self.asked

    @cached_property
    def panel(self) -> dict[str, str]:
        """Parameters of the panel, the first of which says who they are there."""
        return {} if self.own is not None else panels.parameters_of(self.study, self.query)

    @property
    def panel_id(self) -> str:
        return next(iter(self.panel.values()), "")

    @cached_property
    def panel_hash(self) -> str:
        return panels.hash_of(self.study, self.panel_id)

    @property
    def came_by(self) -> str:
        """The invitation as exports call it: its number among the study's, and its note."""
        if self.invitation is None:
            return ""
        number = StudyInvitation.objects.filter(study=self.invitation.study_id, pk__lte=self.invitation.pk).count()
        return f"link {number}: {self.invitation.note}" if self.invitation.note else f"link {number}"

    def refusals(self, now: datetime) -> Iterator[tuple[str, str]]:
        """Each reason why they might not join, as a sentence that is empty where it does not hold, and its code."""
        study, invitation = self.study, self.invitation
        uninvited = self.own is None and invitation is None and study.access != Study.Access.OPEN
        yield study.closed_sentence(now), "study_closed"
        used_up = invitation is not None and is_used_up(invitation)
        yield "This invitation is used up; ask whoever sent it for another one." if used_up else "", "invite_over"
        yield "This study is for invited raters; open the link of your invitation." if uninvited else "", "not_invited"
        before = rater_before(study, self.user, self.panel_hash)
        yield before_sentence(study, before) if before else "", "returned"
        yield full_sentence(study, self.group), "enough_raters"

    def made(self, **values: Any) -> Rater:
        """Their row, with such values of this moment."""
        return Rater.objects.create(
            study=self.study,
            name=free_name(self.study, self.user.get_username()[:100] if self.user is not None else ""),
            user=self.user,
            group=self.group,
            invitation=self.invitation,
            panel=self.panel,
            panel_id=self.panel_id,
            panel_hash=self.panel_hash,
            came_by=self.came_by,
            **values,
        )


def free_name(study: Study, wanted: str) -> str:
    """A name that no rater of the study has: `wanted`, or the next number."""
    taken = set(study.raters.values_list("name", flat=True))
    if wanted and wanted not in taken:
        return wanted
    number = len(taken) + 1 if not wanted else 2
    while (name := f"{wanted} {number}" if wanted else f"rater {number:02}") in taken:
        number += 1
    return name


def shown_question(request: HttpRequest, key: str, token: str) -> Question | PracticeQuestion:
    """The question of that token, if it is the asking rater's own current or following one, or of their practice; Http404 else.

    With its sample, and both entries with their submissions.
    """
    study = study_to_rate(key)
    rater = rater_of(request, study)
    if rater is None or rater.removed_at is not None or study.closed_sentence():
        raise Http404
    related = ("sample", "left__submission", "right__submission", "study__reference", "study__phase__challenge")
    waiting = practice.open_practice(study, rater)
    if token in [question.token for question in waiting[:1]]:
        return PracticeQuestion.objects.select_related(*related).get(token=token)
    if waiting or token not in [question.token for question in open_questions(study, rater)[:2]]:
        raise Http404
    return Question.objects.select_related(*related).get(token=token)

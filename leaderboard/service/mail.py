"""E-mails: what became of an entry, invitations to teams, and warnings that somebody tries an account's passwords.

The row is the request here too. Due mails are read from the rows, claimed with a conditional UPDATE and then sent. So nothing is sent
twice, and a lost nudge loses nothing. The connection to the mail server is opened before anything is claimed: while it is away, e-mails
wait.
"""

from __future__ import annotations

from collections.abc import Callable
from smtplib import SMTPException

import structlog
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import models
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from evaluation.models import Evaluation
from submissions.entry_states import Reader, State
from submissions.models import ApiToken, Membership, Status, Submission, Team, TeamInvite, TeamMerge, User
from submissions.permissions import allowed
from submissions.wording import BECAME, sentence

log = structlog.get_logger(__name__)

MAX_AT_ONCE = 200  # rows of one round; the rest follows in the next
PROBLEMS_SHOWN = 10
OUTCOMES = (Status.SCORED, Status.REJECTED, Status.FAILED)


def due_outcomes() -> models.QuerySet:
    """Entries whose people have not been told what became of them."""
    return Submission.objects.filter(status__in=OUTCOMES, finished_at__isnull=False, notified_at__isnull=True)


def due_invitations() -> models.QuerySet:
    """Invitations that have not been sent."""
    return TeamInvite.objects.open().filter(sent_at__isnull=True)


def due_merges() -> models.QuerySet:
    """Questions of teams to others that the leaders of these have not been told of."""
    return TeamMerge.objects.filter(sent_at__isnull=True)


def due_warnings() -> models.QuerySet:
    """Accounts whose owners have not been told that new devices are kept out."""
    return User.objects.filter(warn_of_log_ins_at__isnull=False, is_active=True)


def due_notices_of_tokens() -> models.QuerySet:
    """Live API tokens from before there were scopes, whose owners have not been told that these are narrowed."""
    return ApiToken.objects.filter(is_narrowed=True, told_at__isnull=True, revoked_at__isnull=True, user__is_active=True)


def send_due_mail() -> int:
    """Send what is due now; returns how many messages were sent."""
    outcomes = due_outcomes().select_related("team", "phase__challenge").order_by("finished_at")[:MAX_AT_ONCE]
    invites = due_invitations().select_related("team__challenge", "invited_by")
    merges = due_merges().select_related("asking", "asked__challenge", "asked_by")
    due: list[tuple[Submission | TeamInvite | TeamMerge | User | ApiToken, Callable]] = [(row, _outcome) for row in outcomes]
    due += [(row, _invitation) for row in invites.order_by("created_at")[:MAX_AT_ONCE]]
    due += [(row, _merge) for row in merges.order_by("created_at")[:MAX_AT_ONCE]]
    due += [(row, _narrowed) for row in due_notices_of_tokens().select_related("user").order_by("created_at")[:MAX_AT_ONCE]]
    due += [(row, _warning) for row in due_warnings().order_by("warn_of_log_ins_at")[:MAX_AT_ONCE]]
    if not due:
        return 0
    sent = 0
    try:
        with get_connection() as connection:
            for row, write in due:
                # The mark that this process sends it is set before anything goes out.
                now = timezone.now()
                if isinstance(row, TeamInvite | TeamMerge):
                    is_mine = type(row).objects.filter(pk=row.pk, sent_at__isnull=True).update(sent_at=now)
                elif isinstance(row, ApiToken):
                    is_mine = due_notices_of_tokens().filter(pk=row.pk).update(told_at=now)
                elif isinstance(row, User):
                    is_mine = due_warnings().filter(pk=row.pk).update(warn_of_log_ins_at=None)
                else:
                    is_mine = Submission.objects.filter(pk=row.pk, status=row.status, notified_at__isnull=True).update(notified_at=now)
                for message in write(row) if is_mine else ():
                    message.connection = connection
                    try:
                        sent += message.send()
                    except (OSError, SMTPException):
                        log.exception("an e-mail could not be sent", subject=message.subject)
    except (OSError, SMTPException):
        log.exception("the mail server does not answer; e-mails wait for the next round", n=len(due))
    return sent


def _message(to: str, subject: str, template: str, **context) -> EmailMessage:
    switch_off = settings.SITE_URL + reverse("account") + "#notify"
    body = render_to_string(f"mail/{template}.txt", {**context, "site": settings.SITE_URL, "switch_off": switch_off})
    headers = {"Auto-Submitted": "auto-generated"}
    if template == "outcome":
        headers["List-Unsubscribe"] = f"<{switch_off}>"
    return EmailMessage(" ".join(subject.split())[:180], body.strip() + "\n", to=[to], headers=headers)


# --- outcomes ----------------------------------------------------------------------------------


def _outcome(submission: Submission) -> list[EmailMessage]:
    """One message to each member who wants it; scores only for those who may see them now."""
    if submission.status == Status.REJECTED and submission.withdrawn_at is not None:
        return []  # the team itself ended the wait of an entry on hold
    users = _to_tell(submission.team)

    # The scores behind the phase's board, in its order; None for one that waits for a re-evaluation.
    values: list[dict] = []
    done = Evaluation.objects.filter(submission=submission, batch__state="current", state="done")
    evaluation = done.select_related("batch__reference", "batch__results").first() if submission.status == Status.SCORED else None
    if evaluation is not None:
        by_slug = {score.slug: score for score in evaluation.scores.defer("status_vector", "part_vectors")}
        values = [{"title": column.title, "score": by_slug.get(column.slug)} for column in evaluation.batch.columns]

    phase = submission.phase
    state = submission.state
    word = BECAME.get(state.state) or BECAME[State(submission.status)]  # a flag is no outcome
    subject = f"#{submission.number} {submission.method_name} {word} · {phase.challenge.title}"
    return [
        _message(
            user.email,
            subject,
            "outcome",
            user=user,
            submission=submission,
            phase=phase,
            word=word,
            sentence=sentence(state, Reader.TEAM) if state.state != State.SCORED else "",
            url=settings.SITE_URL + reverse("entry", args=[submission.pk]),
            values=values if allowed(user, "submission.see_scores", submission) else [],
            problems=submission.problems[:PROBLEMS_SHOWN],
            more=max(0, submission.n_problems - len(submission.problems[:PROBLEMS_SHOWN])),
        )
        for user in users
    ]


def _to_tell(team: Team, leaders: bool = False) -> list[User]:
    """The members, or leaders, of a team who want e-mails and have proved their address."""
    members = Membership.objects.filter(team=team, user__is_active=True, user__notify_by_email=True).select_related("user")
    users = [membership.user for membership in members if membership.is_leader or not leaders]
    unverified = set(EmailAddress.objects.filter(user__in=users, verified=False).values_list("user_id", "email"))
    return [user for user in users if user.email and not {(user.pk, user.email), (user.pk, user.email.lower())} & unverified]


# --- warnings ------------------------------------------------------------------------------------


def _confirmed(user: User) -> list[str]:
    """The confirmed address of an account, the primary one before others; none where there is no such address."""
    addresses = EmailAddress.objects.filter(user=user, verified=True).order_by("-primary", "pk")
    return list(addresses.values_list("email", flat=True)[:1])


def _narrowed(token: ApiToken) -> list[EmailMessage]:
    """One message to the confirmed address of a token's owner."""
    context = {"user": token.user, "token": token, "url": settings.SITE_URL + reverse("tokens")}
    return [_message(email, f"Your API token {token.name} can read and submit", "token", **context) for email in _confirmed(token.user)]


def _warning(user: User) -> list[EmailMessage]:
    """One message to the confirmed address of an account."""
    reset, password = (settings.SITE_URL + reverse(name) for name in ("account_reset_password", "account_change_password"))
    context = {"user": user, "since": user.warn_of_log_ins_at, "reset": reset, "password": password}
    return [_message(email, "Many wrong passwords for your account", "log_ins", **context) for email in _confirmed(user)]


# --- invitations -------------------------------------------------------------------------------


def _invitation(invite: TeamInvite) -> list[EmailMessage]:
    challenge = invite.team.challenge
    url = settings.SITE_URL + reverse("team_join", args=[invite.token])
    subject = f"Join the team {invite.team.name} in {challenge.title}"
    return [_message(invite.email, subject, "invitation", invite=invite, challenge=challenge, url=url)]


def _merge(merge: TeamMerge) -> list[EmailMessage]:
    challenge = merge.asked.challenge
    url = settings.SITE_URL + reverse("team", args=[challenge.slug])
    subject = f"{merge.asking} asks to merge with {merge.asked} in {challenge.title}"
    return [
        _message(user.email, subject, "merge", user=user, merge=merge, challenge=challenge, url=url) for user in _to_tell(merge.asked, True)
    ]

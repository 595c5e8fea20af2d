"""The adapter of django-allauth: addresses, e-mails and log-ins as this service wants them."""

from __future__ import annotations

import secrets
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import filter_users_by_email, filter_users_by_username
from allauth.core.internal import ratelimit
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from submissions.models import User
from submissions.models.user import LOOK_ALIKE

KNOWN_FOR = timedelta(days=365)  # of a device, after its last log-in
WARNED_FOR = timedelta(days=1)  # of an account's owner, after an e-mail on its log-ins


class AccountAdapter(DefaultAccountAdapter):
    """Mails about accounts, with addresses below `SITE_URL`, new user names, and limits of wrong passwords.

    Five wrong passwords are counted for each account and address. Over all addresses 50 in an hour are counted for an account. Beyond
    that an unknown device gets in with a second factor or after a reset by e-mail only. A device is known to an account by a cookie
    that its log-in set. It counts for itself, so that nobody else's tries keep the owner out. The name and the e-mail addresses of an
    account are one account, and a text that is no account's is answered in the same way.
    """

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "too_many_login_attempts": "Too many failed login attempts. Try again later, use a device on which you have logged in before, "
        "or choose a new password by e-mail.",
    }
    beyond = False  # whether too many passwords of the account were tried for a device that it does not know

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links begin with `SITE_URL`. allauth builds them from the Host of the request. The sender of a request chooses
        that (any port of a known host), and a link that sets somebody's password must not lead there."""
        asked = self.request.build_absolute_uri("/")
        links = {
            name: f"{settings.SITE_URL}/{value.removeprefix(asked)}"
            for name, value in context.items()
            if isinstance(value, str) and value.startswith(asked)
        }
        host = urlsplit(settings.SITE_URL).netloc
        super().send_mail(template_prefix, email, {**context, **links, "current_site": SimpleNamespace(domain=host, name=host)})

    def clean_username(self, username: str, shallow: bool = False) -> str:
        name: str = super().clean_username(username, shallow)
        if not shallow and User.objects.look_alike(name):
            raise ValidationError(LOOK_ALIKE)
        return name

    # --- wrong passwords -------------------------------------------------------------------

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        user = super().authenticate(request, **credentials)
        # The password is checked even if it cannot succeed: the response time must not reveal which accounts exist.
        if self.beyond and (user is None or not is_mfa_enabled(user)):
            raise self.validation_error("too_many_login_attempts")
        return user

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a try, which `_rollback_login_failed_rl_usage` undoes where the password is right."""
        super().pre_authenticate(request, **credentials)
        users = self._users(credentials)
        if any(self._device(request, user) for user in users):
            return
        usage = ratelimit.consume(request, app="allauth.account", action="login_of_account", key=self._account(users, credentials))
        self.beyond = usage is None
        if usage is not None:
            self._login_failed_rl_usage.usage += usage.usage
        else:
            for user in users:
                if cache.add(f"warned-of-log-ins:{user.pk}", 1, WARNED_FOR.total_seconds()):
                    User.objects.filter(pk=user.pk).update(warn_of_log_ins_at=timezone.now())

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        users = self._users(credentials)
        device = next((device for user in users if (device := self._device(request, user))), "")
        return f"{self._account(users, credentials)} from {device or ratelimit.get_ip(request)}"

    def _users(self, credentials: dict[str, Any]) -> list[User]:
        """Accounts that somebody may mean: one, or none, and two where the old user name of one is the address of another."""
        found = set(filter_users_by_username(credentials["username"])) if credentials.get("username") else set()
        if credentials.get("email"):
            found |= set(filter_users_by_email(credentials["email"]))
        return sorted(found, key=lambda user: user.pk)

    def _account(self, users: list[User], credentials: dict[str, Any]) -> str:
        text = credentials.get("email") or credentials.get("username") or ""
        return f"accounts {[user.pk for user in users]}" if users else f"nobody {text.lower()}"

    # --- known devices ---------------------------------------------------------------------

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        """The answer to a log-in, with a cookie by which the account knows the device again until its password changes."""
        response = super().post_login(request, user, **options)
        response.set_cookie(
            _cookie(user),
            _signer(user).sign(_known(request, user) or secrets.token_urlsafe(16)),
            max_age=KNOWN_FOR,
            path=reverse("account_login"),
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return response

    def _device(self, request: HttpRequest, user: User) -> str:
        """Name of the device, where it has logged in to the account before or is logged in now; else empty."""
        return _known(request, user) or (f"session {request.session.session_key}" if request.user == user else "")


def _cookie(user: User) -> str:
    return f"known-device-{user.pk}"


def _known(request: HttpRequest, user: User) -> str:
    """Name that the account has given to the device at its first log-in; empty where the account does not know it."""
    try:
        return _signer(user).unsign(request.COOKIES.get(_cookie(user), ""), max_age=KNOWN_FOR)
    except BadSignature:
        return ""


def _signer(user: User) -> TimestampSigner:
    """The key holds the hash of the password: what was signed ends with it."""
    key, *fallbacks = (f"{secret}{user.password}" for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))
    return TimestampSigner(key=key, fallback_keys=fallbacks, salt=f"submissions.known_device.{user.pk}")

"""Answers to what django-allauth asks of this service."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings


class AccountAdapter(DefaultAccountAdapter):
    """Mails about accounts, with addresses below `SITE_URL`."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links begin with `SITE_URL`. allauth builds them from the Host of the request. Whoever sends the request
        chooses that (any port of a known host), and a link that sets somebody's password must not lead there."""
        asked = self.request.build_absolute_uri("/")
        links = {
            name: f"{settings.SITE_URL}/{value.removeprefix(asked)}"
            for name, value in context.items()
            if isinstance(value, str) and value.startswith(asked)
        }
        host = urlsplit(settings.SITE_URL).netloc
        super().send_mail(template_prefix, email, {**context, **links, "current_site": SimpleNamespace(domain=host, name=host)})

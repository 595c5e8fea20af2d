"""The id under which the log knows a request, for pages that say that something went wrong."""

from __future__ import annotations

from django import template
from structlog.contextvars import get_contextvars

register = template.Library()


@register.simple_tag
def request_id() -> str:
    return get_contextvars().get("request_id", "")

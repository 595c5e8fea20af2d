"""Wrong settings, found at start and said with a hint."""

from __future__ import annotations

from django.conf import settings
from django.core.checks import Error, Warning, register

from submissions.limits import Rate


@register()
def check_settings(app_configs, **kwargs) -> list:
    found = []
    cluster = bool(settings.DATABASE_URL or settings.BROKER_URL)
    if cluster and not settings.SECRET_KEY_GIVEN:
        found.append(
            Error(
                "Several machines need the same secret key.",
                hint="Set PLUMBLINE_SECRET_KEY to one long random string on all of them.",
                id="plumbline.E001",
            )
        )
    if settings.S3_BUCKET and not (settings.S3_ACCESS_KEY and settings.S3_SECRET_KEY):
        found.append(
            Error(
                f"The bucket {settings.S3_BUCKET} has no credentials.",
                hint="Set PLUMBLINE_S3_ACCESS_KEY and PLUMBLINE_S3_SECRET_KEY.",
                id="plumbline.E002",
            )
        )
    if settings.CREATE_CHALLENGES not in ("staff", "anyone"):
        found.append(
            Error(
                f"PLUMBLINE_CREATE_CHALLENGES is {settings.CREATE_CHALLENGES!r}.",
                hint="Use 'staff' or 'anyone'.",
                id="plumbline.E003",
            )
        )
    if settings.HEARTBEAT_SECONDS * 2 > settings.LEASE_SECONDS:
        found.append(
            Error(
                "A worker would lose its lease between two heartbeats.",
                hint="Make PLUMBLINE_LEASE_SECONDS at least twice PLUMBLINE_HEARTBEAT_SECONDS.",
                id="plumbline.E004",
            )
        )
    for name in ("API_RATE", "API_RATE_ANONYMOUS", "UPLOAD_RATE", "REFERENCE_RATE", "TOKEN_RATE"):
        try:
            Rate.parse(getattr(settings, name))
        except ValueError as error:
            hint = "Write an amount and a time, such as 60/h or 10/30s."
            found.append(Error(f"PLUMBLINE_{name}: {error}.", hint=hint, id="plumbline.E006"))
    if settings.JUDGE_URL and not settings.JUDGE_URL.startswith(("https://", "http://")):
        hint = "Give the part before /chat/completions, such as https://api.openai.com/v1."
        found.append(Error("PLUMBLINE_JUDGE_URL is no web address.", hint=hint, id="plumbline.E007"))
    if settings.JUDGE_PARALLEL < 1 or settings.JUDGE_TIMEOUT <= 0:
        hint = "Set PLUMBLINE_JUDGE_PARALLEL to at least 1 and PLUMBLINE_JUDGE_TIMEOUT to some seconds."
        found.append(Error("A judge could never be asked.", hint=hint, id="plumbline.E008"))
    if settings.DATABASE_URL and not settings.S3_BUCKET:
        found.append(
            Warning(
                "Files are kept in a local folder although the database is a server.",
                hint="Set PLUMBLINE_S3_BUCKET, or share PLUMBLINE_HOME between web and workers.",
                id="plumbline.W001",
            )
        )
    return found

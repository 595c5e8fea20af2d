"""Settings that contradict each other and databases that cannot be migrated, found at start and said with a hint.

A setting that cannot be read ends the process in `settings.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

LAST_UNSQUASHED = "a68cd70"  # the last commit with the migrations that the squashed ones replace


@register()
def check_settings(app_configs: Any, **kwargs) -> list:
    cluster = bool(settings.DATABASE_URL or settings.BROKER_URL)
    https = [f"PLUMBLINE_{name}" for name in ("HTTPS_REDIRECT", "HSTS_SUBDOMAINS", "HSTS_PRELOAD") if getattr(settings, name)]
    evidence, repository = settings.EVIDENCE_DIR.resolve(), settings.BASE_DIR.resolve()
    # What the repository ignores lies below HOME, where HOME is in it at all.
    is_committed = evidence.is_relative_to(repository) and not evidence.is_relative_to(settings.HOME.resolve())
    sent = (settings.HOME / "files", settings.HOME / "uploads", Path(settings.STATIC_ROOT))
    is_sent = any(evidence.is_relative_to(folder.resolve()) for folder in sent)
    place = "the repository" if is_committed else "a folder whose files this service sends"
    wrong: list[tuple[object, str, str, str]] = [
        (
            cluster and not settings.SECRET_KEY_GIVEN,
            "E001",
            "Several machines need the same secret key.",
            "Set PLUMBLINE_SECRET_KEY to one long random string on all of them.",
        ),
        (
            settings.S3_BUCKET and not (settings.S3_ACCESS_KEY and settings.S3_SECRET_KEY),
            "E002",
            f"The bucket {settings.S3_BUCKET} has no credentials.",
            "Set PLUMBLINE_S3_ACCESS_KEY and PLUMBLINE_S3_SECRET_KEY.",
        ),
        (
            settings.HEARTBEAT_SECONDS * 2 > settings.LEASE_SECONDS,
            "E004",
            "A worker would lose its lease between two heartbeats.",
            "Make PLUMBLINE_LEASE_SECONDS at least twice PLUMBLINE_HEARTBEAT_SECONDS.",
        ),
        (
            https and not settings.HTTPS,
            "E010",
            f"{' and '.join(https)}: the site's address is {settings.SITE_URL}, without https.",
            "Give PLUMBLINE_SITE_URL as https://… once the proxy answers there, or leave the others at false.",
        ),
        (
            settings.HSTS_PRELOAD and not settings.HSTS_SUBDOMAINS,
            "E011",
            "Browsers' lists take no host without its subdomains.",
            "Set PLUMBLINE_HSTS_SUBDOMAINS=true as well, or PLUMBLINE_HSTS_PRELOAD=false.",
        ),
        (
            settings.HTTPS_REDIRECT and not settings.BEHIND_PROXY,
            "E012",
            "Every page would be redirected to itself without end.",
            "Set PLUMBLINE_BEHIND_PROXY=true, with a proxy that sends X-Forwarded-Proto, or PLUMBLINE_HTTPS_REDIRECT=false.",
        ),
        (
            is_committed or is_sent,
            "E013",
            f"Answers of people would lie in {place}: {settings.EVIDENCE_DIR}.",
            "Set PLUMBLINE_EVIDENCE_DIR to a folder of its own, such as /var/lib/plumbline/evidence.",
        ),
        (
            settings.DATABASE_URL and not settings.S3_BUCKET,
            "W001",
            "Files are kept in a local folder although the database is a server.",
            "Set PLUMBLINE_S3_BUCKET, or share PLUMBLINE_HOME between web and workers.",
        ),
    ]
    kinds = {"E": Error, "W": Warning}
    return [kinds[code[0]](message, hint=hint, id=f"plumbline.{code}") for is_so, code, message, hint in wrong if is_so]


@register(Tags.database)
def check_squashed_migrations(app_configs: Any, databases: Sequence[str] | None = None, **kwargs) -> list[Error]:
    """A database that has only some of the migrations that are one file now: Django would leave the whole app out, silently."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    problems = []
    for alias in databases or ():
        applied = MigrationRecorder(connections[alias]).applied_migrations()
        for migration in loader.disk_migrations.values():
            done = [key for key in migration.replaces if key in applied]
            lost = [name for app, name in migration.replaces if (app, name) not in applied and (app, name) not in loader.disk_migrations]
            if done and lost:
                problems.append(
                    Error(
                        f"The database has the migration {'.'.join(done[-1])} but not {lost[0]}; "
                        f"both are within {migration.name} now, which is applied as a whole.",
                        hint=f"Check out commit {LAST_UNSQUASHED}, run `python manage.py migrate` there, then return to this version.",
                        id="plumbline.E020",
                    )
                )
    return problems

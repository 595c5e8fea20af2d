"""The web process. The server (`leaderboard.server`) calls `web`, once in each of its processes."""

import os

import django
from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application
from django.db.backends.signals import connection_created

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()


def loaded() -> WSGIHandler:
    """The application, which looks for static files as it is made; the process ends where the database lacks tables."""
    # These need the settings.
    from leaderboard.service import static_files
    from submissions.database import require_migrated

    require_migrated()  # before files are collected, which takes seconds
    static_files.collect()
    return get_wsgi_application()


application = loaded()


def web() -> WSGIHandler:
    """The application, in a process that says that it lives and what it answers, and that does not wait for ever."""
    # Models are there once Django is set up.
    from evaluation.models import Process
    from evaluation.work.heartbeat import Heartbeat
    from leaderboard.service import database_timeouts, traffic

    connection_created.connect(database_timeouts.limit_statements)
    Heartbeat(Process.Kind.WEB, facts=lambda: {"requests": traffic.counted()}).start()
    return application

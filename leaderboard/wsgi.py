"""The web process. The server (`leaderboard.server`) calls `web`, once in each of its processes."""

import os

import django
from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
django.setup()

from leaderboard.service import static_files  # noqa: E402  # needs the settings

static_files.collect()  # the application looks for static files as it is made
application = get_wsgi_application()


def web() -> WSGIHandler:
    """The application, in a process that says that it lives and what it answers."""
    from evaluation.models import Process
    from evaluation.work.heartbeat import Heartbeat  # models, which are there once Django is set up
    from leaderboard.service import traffic

    Heartbeat(Process.Kind.WEB, facts=lambda: {"requests": traffic.counted()}).start()
    return application

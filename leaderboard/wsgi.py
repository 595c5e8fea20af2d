"""The web process. The server (`leaderboard.server`) calls `web`, once in each of its processes."""

import os

from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
application = get_wsgi_application()


def web() -> WSGIHandler:
    """The application, in a process that says that it lives and what it answers."""
    from evaluation.models import Process
    from evaluation.work.heartbeat import Heartbeat  # models, which are there once Django is set up
    from leaderboard.service import traffic

    Heartbeat(Process.Kind.WEB, facts=lambda: {"requests": traffic.counted()}).start()
    return application

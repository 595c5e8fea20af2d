"""Damaged files of every format that is read: `python -m tests.fuzz --help`, or `make fuzz`.

`edits` damages bytes, by a seed; `formats` is the table of what is read: sound files, the damage that suits them, and the
reader; `runner` reads each case in a forked process under the kernel's limits and says how it ended.
"""

from __future__ import annotations

import os


def load() -> None:
    """Load what readers need into this process."""
    from tests import environment  # noqa: F401 - before Django reads its settings

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    import django

    django.setup()
    from evaluation.metrics import registry

    # Readers have no database here. A damaged bundle may name a metric as programs are named; nobody has put one in.
    registry.look_up_others(lambda key: None)

"""Every Markdown text of people, laid out in the background where that was not done when it was saved.

Texts are laid out as they are saved (see `submissions.models.RenderedText`). What is left are those of before, or of another
version of the converter; and what became of texts that nobody has any more, which goes.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import chain
from time import monotonic
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from leaderboard.models import Study
from submissions import markdown
from submissions.models import Announcement, Challenge, Phase, RenderedText, Submission

SOURCES: list[tuple[Any, str]] = [
    (Challenge, "description"),
    (Challenge, "rules"),
    (Phase, "description"),
    (Announcement, "body"),
    (Submission, "description"),
    (Study, "consent"),
]
EVERY_SECONDS = 3600  # at most one round in this time, and one at once after a change of the converter
ROUND_SECONDS = 5.0  # then the next round goes on: who sweeps has other work too
GRACE = timedelta(days=1)  # what was laid out since then is left alone: its text may not be committed yet


def render_due(now: datetime | None = None) -> int:
    """A round, if none was begun lately; how many texts it laid out."""
    begun = f"texts-{RenderedText.digest(markdown.VERSION)}"
    if not cache.add(begun, 1, EVERY_SECONDS):
        return 0
    now, until = now or timezone.now(), monotonic() + ROUND_SECONDS
    known = set(RenderedText.objects.filter(version=markdown.VERSION).values_list("source", flat=True))
    wanted, made = set(), 0
    columns = (model.objects.exclude(**{name: ""}).values_list(name, flat=True).order_by().iterator() for model, name in SOURCES)
    for text in chain.from_iterable(columns):
        source = RenderedText.digest(text)
        if source not in wanted and source not in known:
            made += RenderedText.make(text).pk is not None
            if monotonic() > until:
                cache.delete(begun)
                return made
        wanted.add(source)
    unwanted = RenderedText.objects.exclude(version=markdown.VERSION).values_list("pk", flat=True)
    gone = RenderedText.objects.filter(version=markdown.VERSION, created_at__lt=now - GRACE).values_list("pk", "source")
    keys = [*unwanted, *(pk for pk, source in gone if source not in wanted)]
    for start in range(0, len(keys), 500):
        RenderedText.objects.filter(pk__in=keys[start : start + 500]).delete()
    return made

"""HTML of the Markdown that people write, made once."""

from __future__ import annotations

import hashlib
import logging
from functools import lru_cache, partial
from threading import Lock
from typing import Self

from django.db import DatabaseError, models, transaction
from django.utils import timezone
from django.utils.html import linebreaks

from submissions import markdown
from submissions.outages import outage

log = logging.getLogger(__name__)

_converting = Lock()  # one conversion at a time in a process: those who read a page must not fill the machine with them


class RenderedText(models.Model):
    """The HTML of a text of people.

    It is found by the text itself (and by what made it), so it can never be that of another text, however that came to
    change. A text that goes beyond the bounds of `submissions.markdown` is shown as it was typed; `fault` says why.
    """

    source = models.CharField(max_length=64, help_text="SHA-256 of the text.")
    version = models.CharField(max_length=80, help_text="What made it.")
    html = models.TextField()
    fault = models.CharField(max_length=10, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "version"], name="rendered_text_once")]

    def __str__(self) -> str:
        return self.source[:8]

    @property
    def note(self) -> str:
        """For its author: why the text is not laid out; empty where it is."""
        return f"This text is shown as it was typed: {markdown.FAULTS[self.fault]}." if self.fault else ""

    @staticmethod
    def digest(text: str) -> str:
        return hashlib.sha256(text.encode(errors="replace")).hexdigest()

    @classmethod
    def of(cls, text: str) -> Self:
        """The text for a page. One that was stored before this version of the converter is converted now, if nothing else is and
        it is quick; until then it is shown as it was typed."""
        try:
            return _stored(cls.digest(text), markdown.VERSION)
        except cls.DoesNotExist:
            return cls.make(text, waits=False)

    @classmethod
    def make(cls, text: str, waits: bool = True) -> Self:
        """Convert a text and keep what comes of it; an unsaved row with the text as it was typed where that cannot be done now."""
        row = cls(source=cls.digest(text), version=markdown.VERSION, html=linebreaks(text, autoescape=True))
        if not _converting.acquire(blocking=waits):
            return row
        try:
            found = markdown.convert(text) if waits else markdown.convert(text, markdown.READER_SECONDS)
        except TimeoutError:
            if not waits:  # whoever has the time converts it: the sweeper does
                return row
            found = markdown.Converted(fault="time")
        except OSError as error:
            log.error("A text was not converted, because no process could be started: %s", error)
            return row
        finally:
            _converting.release()
        if found.detail:
            log.error("A text could not be converted (%s): %s", found.fault, found.detail)
        values = {"html": row.html if found.fault else found.html, "fault": found.fault}
        try:
            return cls.objects.get_or_create(source=row.source, version=row.version, defaults=values)[0]
        except DatabaseError as error:
            if not outage(error):
                raise
            return cls(source=row.source, version=row.version, **values)  # a page can be read without room for more

    @classmethod
    def after_commit(cls, *texts: str) -> None:
        """Convert the texts once the surrounding transaction, which saves them, has committed."""
        for text in texts:
            if text:
                transaction.on_commit(partial(cls._ensure, text), robust=True)

    @classmethod
    def _ensure(cls, text: str) -> None:
        if not cls.objects.filter(source=cls.digest(text), version=markdown.VERSION).exists():
            cls.make(text)


@lru_cache(maxsize=512)
def _stored(source: str, version: str) -> RenderedText:
    return RenderedText.objects.get(source=source, version=version)

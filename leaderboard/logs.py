"""What the log leaves out."""

from __future__ import annotations

import logging
from collections.abc import Callable


def brief_refusals() -> Callable[[logging.LogRecord], bool]:
    """A log filter that keeps every record, and drops the traceback Django adds where a page was
    refused (a status below 500): nothing is broken, and the line names the address."""

    def shorten(record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = None
        return True

    return shorten

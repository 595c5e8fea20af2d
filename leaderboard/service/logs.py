"""Looks of the log: one output for the events of the service, Django, Celery and granian, as text or as JSON."""

from __future__ import annotations

import logging
import logging.config
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from structlog.typing import Processor

# Fields of every event, for any logger.
COMMON: list[Processor] = [
    structlog.contextvars.merge_contextvars,  # the request, or the piece of work, that it belongs to
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def configure(config: dict[str, Any]) -> None:
    """Set up structlog and the standard library's logging; Django calls it with LOGGING when it is set up."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *COMMON,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    logging.captureWarnings(True)
    logging.config.dictConfig(config)


def formatter(kind: str = "") -> structlog.stdlib.ProcessorFormatter:
    """Formatter of text lines, or of one JSON object a line; without a `kind` as the settings say, for processes without Django."""
    if not kind:
        kind = settings.LOG_FORMAT
    if kind == "json":
        render: list[Processor] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str, ensure_ascii=False)]
    else:
        render = [structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, exception_formatter=structlog.dev.plain_traceback)]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=COMMON, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render]
    )


def brief_refusals() -> Callable[[logging.LogRecord], bool]:
    """A log filter that keeps every record, and drops the traceback Django adds to any status but 500: nothing of ours is broken, and
    the line names the address."""

    def shorten(record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) != 500:
            record.exc_info = None
        return True

    return shorten

"""End of a command whose reader has had enough: `… | head` is no error."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from typing import IO, NoReturn

UNREAD = 141  # 128 + SIGPIPE, as a shell reports for a command whose reader has ended


def end(main: Callable[[], int]) -> NoReturn:
    """Exit with the code of ``main``; with ``UNREAD``, and not a word, where nobody reads its output to the end."""
    try:
        try:
            code: str | int | None = main()
        except SystemExit as ended:  # of argparse, which has printed the help
            code = ended.code
        sys.stdout.flush()  # now, for when Python ends it can only complain
    except BrokenPipeError:
        left = [stream for stream in (sys.stdout, sys.stderr) if _is_unread(stream)]
        if not left:
            raise  # it was another pipe
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in left:
            os.dup2(nowhere, stream.fileno())  # takes what is still to be written
        code = UNREAD
    sys.exit(code)


def _is_unread(stream: IO[str]) -> bool:
    """Return whether it is a pipe whose other end is closed."""
    if not hasattr(select, "poll"):  # Windows, where it cannot be asked
        return True
    asked = select.poll()
    asked.register(stream.fileno(), 0)  # an end that is closed is told without being asked for
    return bool(asked.poll(0))

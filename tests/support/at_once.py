"""Acts begun at the same moment, each in a thread with a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.db import connection

from submissions.errors import Refused


def together(acts: Sequence[Callable[[], object]]) -> list[object]:
    """Results of all acts, started at once, in their order; of one that was refused the code of the refusal."""
    start = Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        start.wait()
        try:
            return act()
        except Refused as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def outcomes(acts: Sequence[Callable[[], object]]) -> list[str]:
    """Outcome of each act: "done", or the code of its refusal."""
    return [said if isinstance(said, str) else "done" for said in together(acts)]

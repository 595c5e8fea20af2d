"""Requests by status and time, of all web processes.

Each process counts its own, its heartbeat writes the counts into its row, and whichever process is asked for the metrics reads
all rows: a proxy may send the question to any of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.utils import floatToGoString

NAME, HELP = "plumbline_request_seconds", "Time of requests by status and web process; those to /-/ are not counted."
BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # seconds

_answered = Histogram(NAME, HELP, ["status"], registry=CollectorRegistry(), buckets=BUCKETS)


def count(status: int, seconds: float) -> None:
    """One more request that this process has answered."""
    _answered.labels(str(status)).observe(seconds)


class Answered(TypedDict):
    """Requests that were answered with one status: how many took at most so many seconds, and the seconds of all."""

    buckets: dict[str, float]
    seconds: float


def counted() -> dict[str, Answered]:
    """Counts of this process, for its row, by status."""
    by_status: dict[str, Answered] = {}
    for sample in next(iter(_answered.collect())).samples:
        one = by_status.setdefault(sample.labels["status"], {"buckets": {}, "seconds": 0.0})
        if sample.name.endswith("_bucket"):
            one["buckets"][sample.labels["le"]] = sample.value
        elif sample.name.endswith("_sum"):
            one["seconds"] = sample.value
    return by_status


def family(rows: Iterable[tuple[str, dict[str, Answered]]]) -> HistogramMetricFamily:
    """The metric of all processes, given each one's name and what it counted."""
    made = HistogramMetricFamily(NAME, HELP, labels=["process", "status"])
    for process, counts in rows:
        for status, one in counts.items():
            buckets = sorted(one["buckets"].items(), key=lambda bucket: float(bucket[0]))
            made.add_metric([process, status], [(floatToGoString(le), n) for le, n in buckets], one["seconds"])
    return made

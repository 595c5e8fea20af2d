"""The property suite, which a worker does when nothing else is to be done: a slice at a time, at low priority.

A slice is short, so that an upload that arrives meanwhile waits a moment at most; one that turns
out long (a metric that takes seconds a value) is dropped as soon as an entry waits.
"""

from __future__ import annotations

import time
from pathlib import Path

from evaluation.metrics import registry
from evaluation.models import MetricProgram, PropertyRun
from evaluation.networks import weights
from evaluation.properties.suite import Table
from evaluation.work import attempts, shares
from evaluation.work.attempts import Yielded
from evaluation.work.sandbox import sandbox

SLICE_SECONDS = shares.TURN_SECONDS  # what a slice aims at; a single value of a slow metric may take longer


def measure_once(worker: str, device: str = "cpu") -> bool:
    """Claim a run of a device and measure one slice of it; False if there is none."""
    return attempts.claim_one(PropertyRun, worker, lambda run: measure(run, device), PropertyRun.objects.waiting(device))


def measure(run: PropertyRun, device: str = "cpu") -> None:
    """The next slice of a claimed run, by a worker of a device."""
    start = time.monotonic()

    def go_on() -> bool:
        if shares.entries_wait(device):
            raise Yielded
        return run.heartbeat()

    def slice_in(folder: Path) -> bool:
        given = {name: getattr(run, name) for name in ("key", "params", "outcomes", "pending", "total")}
        programs = MetricProgram.orders([{"key": run.key, "weights_sha256": None}])
        job = {"kind": "properties", **given, "seconds": SLICE_SECONDS, "programs": programs, "idle": True}
        found = sandbox.run(folder, job, go_on)
        if found["table"] is not None:
            return run.finish(Table.from_dict(found["table"]))
        return run.keep(found["outcomes"], found["pending"], found["models"], (time.monotonic() - start))

    attempts.do_slice(run, lambda: _obstacle(run), slice_in)


def _obstacle(run: PropertyRun) -> str:
    """Reason why this worker cannot run these sanity tests: weights are missing, or the weights or the code differ from those of the
    request."""
    spec = registry.find(run.key)
    if spec is None:
        return f"There is no metric {run.key} any more."
    if found := weights.refusal(spec, run.params):
        return found
    if registry.fingerprint(run.key, run.params) != run.fingerprint:
        if not spec.networks:
            return f"The properties of {spec.title} are wanted for another version than this worker's code has."
        return (
            f"The weights of {spec.title} on this server are not those that its properties are wanted for (their sha256 differs); "
            "put those back, or take the metric out of its phase and add it anew."
        )
    return ""

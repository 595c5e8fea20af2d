"""The checks of metric programs that have arrived, by a worker: a slice at a time."""

from __future__ import annotations

from pathlib import Path

from evaluation.models import MetricProgram
from evaluation.programs import sandbox as programs
from evaluation.work import attempts, shares
from evaluation.work.limited import PROGRAM_SHARE
from evaluation.work.sandbox import PATIENCE, sandbox
from evaluation.work.shares import SLICE_SECONDS
from submissions.storage import stored_files

MAX_SECONDS = 1800  # seconds of the processor for a slice: one item of a slow program


def sandboxes() -> dict[str, str]:
    """Faults that keep metric programs from being run on this machine, by the sandbox that known programs need; empty where they are
    run."""
    known = [row.read for row in MetricProgram.objects.only("document")]
    return {document.sandbox: programs.missing(document.run, document.device) for document in known}


def check_once(worker: str, device: str) -> bool:
    """Claim a program of a device and do a slice of its next check; False if there is none."""
    return attempts.claim_one(MetricProgram, worker, check, MetricProgram.objects.waiting(device))


def check(program: MetricProgram) -> None:
    """A slice of the next check of a claimed program."""
    attempts.do_slice(program, lambda: programs.refusal(program.read.run, program.read.device), lambda folder: _checked_in(program, folder))


def _checked_in(program: MetricProgram, folder: Path) -> bool:
    reference, name = program.reference(), program.next_check
    of = [name, reference and reference.pk]
    job = {
        "kind": "program",
        "check": name,
        "family": program.read.kind,
        "reference": "" if reference is None else str(stored_files.store().local_path(reference.key)),
        "item_ids": [] if reference is None else reference.item_ids[:3],
        "unit_scale": 1.0 if reference is None else reference.phase.unit_scale,
        "programs": [program.order()],
        "program_seconds": PROGRAM_SHARE * MAX_SECONDS * PATIENCE,
        "slice": SLICE_SECONDS,
        "calls": program.under_way["calls"] if program.under_way.get("of") == of else [],
    }

    def heartbeat() -> bool:
        shares.CHECKS.yield_to_entries(program.read.device)
        return program.heartbeat()

    done = sandbox.run(folder, job, heartbeat, MAX_SECONDS, PATIENCE)
    if done["found"] is None:
        return program.keep_slice(of, done["calls"])
    return program.keep(name, done["found"])

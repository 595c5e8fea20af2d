"""An organizer's reference, read in the limited child process that uploads are read in, from pages, API and bundles alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import structlog

from evaluation.rendering.objects import Drawing
from evaluation.work.sandbox import JobFailed, Sandbox, job_folder
from submissions.kinds import Family

log = structlog.get_logger(__name__)


class Unreadable(ValueError):
    """The files cannot be read; `faults` are sentences for people, without their full stops."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(" · ".join(faults))
        self.faults = tuple(faults)


def items_of(
    path: Path,
    family: Family,
    background: str,
    drawing: Drawing | None = None,
    *,
    child: Sandbox,
    seconds: int,
    draws: bool = True,
    columns: Sequence[tuple[str, Mapping[str, Any]]] = (),
    doubting: float = 0.0,
) -> tuple[dict[str, Any], list[str]]:
    """The items of a file or folder of a reference (images laid on `background`), read within `seconds` of the processor; and warnings.
    These are the readers' remarks, and reasons against the items for these `columns` (metrics and their parameters). The reasons are
    looked for during `doubting` seconds.

    With `drawing` the files are meshes, and their views are drawn. Unless it `draws` they are only read, and nothing comes back. Raises
    `Unreadable` with every fault.
    """
    job: dict[str, Any] = {"kind": "reference", "family": family.key, "file": str(path.resolve()), "reading": family.reading(background)}
    if drawing is not None:
        job |= {"drawing": asdict(drawing), "draws": draws}
    try:
        with job_folder() as folder:
            read = child.run(folder, job, lambda: True, seconds)
            if read["faults"]:
                raise Unreadable(read["faults"])
            if not draws:
                return {}, []
            warnings: list[str] = read["remarks"]
            if columns:
                asked = {"kind": "reference_warnings", "family": family.key, "columns": [[key, dict(params)] for key, params in columns]}
                warnings += child.run(folder, asked | {"seconds": doubting}, lambda: True, seconds)["warnings"]
            return family.load(folder / "artifact"), warnings
    except JobFailed as failed:
        log.warning("a reference could not be read", detail=failed.detail)
        raise Unreadable([f"{path.name}: could not be read. {failed.sentence} Send a smaller or simpler one"]) from None

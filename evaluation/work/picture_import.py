"""An organizer's picture for pages, decoded and re-encoded in the limited child process that uploads are read in."""

from __future__ import annotations

import structlog

from evaluation.work.reference_import import Unreadable
from evaluation.work.sandbox import JobFailed, Sandbox, job_folder
from submissions.formats.render.page_picture import MAX_FILE_BYTES

log = structlog.get_logger(__name__)


def rewritten_picture(data: bytes, name: str, *, child: Sandbox, seconds: int) -> bytes:
    """`submissions.formats.render.page_picture.rewritten`, within `seconds` of the processor. Raises `Unreadable`."""
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable([f"{name}: has {len(data):,} bytes and at most {MAX_FILE_BYTES:,} are taken; make it smaller"])
    try:
        with job_folder() as folder:
            (folder / "picture").write_bytes(data)
            fault = child.run(folder, {"kind": "picture", "name": name}, lambda: True, seconds)["fault"]
            if fault:
                raise Unreadable([fault])
            return (folder / "rewritten").read_bytes()
    except JobFailed as failed:
        log.warning("a picture could not be read", detail=failed.detail)
        raise Unreadable([f"{name}: could not be read. {failed.sentence} Send a smaller or simpler one"]) from None

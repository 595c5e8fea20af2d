"""The limited child, with a job that warns of something."""

from __future__ import annotations

import logging
from pathlib import Path

from evaluation.work import child


def warn(folder: Path, job: dict) -> dict:
    logging.getLogger("evaluation.networks.inference").warning(job["text"])
    if job["fails"]:
        raise RuntimeError("failed")
    return {}


if __name__ == "__main__":
    child.JOBS["warn"] = warn
    child.main()

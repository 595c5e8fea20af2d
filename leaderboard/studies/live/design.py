"""What is fixed when a study opens, and its hash: a preregistration, so that nobody chooses a design by its answers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from leaderboard.models import Study

FORMAT = 1
FIXED = (
    "kind", "question", "criteria", "plan", "questions_per_rater", "repeat_share", "gold_share", "common_share", "answers_per_question",
    "rater_skill", "covariates", "seed", "planned_looks", "planned_answers",
)  # fmt: skip


def design_of(study: Study) -> dict[str, Any]:
    """All that decides which questions are asked and how they are judged, as plain values; samples and entries in their order."""
    entries = study.entries.order_by("id").values_list("label", "artifact", "gold_kind", "gold_order")
    return {
        "format": FORMAT,
        **{name: getattr(study, name) for name in FIXED},
        "reference": study.reference.sha256 if study.reference else None,
        "samples": list(study.samples.values_list("name", flat=True)),
        "entries": [
            {"label": label, "made_as": artifact, "gold_kind": kind, "gold_order": order} for label, artifact, kind, order in entries
        ],
    }


def design_file(study: Study) -> bytes:
    """The design as JSON: keys sorted, no spaces, UTF-8. Its SHA-256 is what the study's page shows."""
    return json.dumps(design_of(study), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def design_hash(study: Study) -> str:
    return hashlib.sha256(design_file(study)).hexdigest()

"""Design that is fixed when a study opens, and its hash: a preregistration, so that nobody chooses a design by its answers."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from leaderboard.models import Study
from submissions.errors import Refused

FORMAT = 2
FIXED = (
    "kind",
    "question",
    "criteria",
    "plan",
    "questions_per_rater",
    "repeat_share",
    "gold_share",
    "common_share",
    "answers_per_question",
    "rater_skill",
    "covariates",
    "seed",
    "planned_looks",
    "planned_answers",
    "practice_questions",
    "shuffles_criteria",
    "screening",
)


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


def text_of(study: Study) -> str:
    """The design as JSON as it stands now: keys sorted, no spaces. The SHA-256 of its bytes in UTF-8 is what the study's page shows."""
    return json.dumps(design_of(study), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def registered_text(study: Study) -> str:
    """The text that was registered; of a draft, the one that would be. `Refused` where only its hash was kept."""
    if study.design_hash and not study.design_text:
        raise Refused(
            "Only the hash of this design was kept, because the design's reference was deleted. If you downloaded the JSON earlier, you "
            "can check it against the hash.",
            "design_text_gone",
        )
    return study.design_text or text_of(study)


def changes(study: Study) -> list[str]:
    """The names of what differs now from the registered text. It is compared with that alone: what later versions of the service add
    to a design, this one says nothing of. A reference that is not there any more is none of them: see `campaign.open_study`."""
    registered, now = json.loads(registered_text(study)), json.loads(text_of(study))
    if hash_of(study.design_text) != study.design_hash:
        return ["text"]
    if now["reference"] is None:
        registered.pop("reference")
    return [name for name, value in registered.items() if name != "format" and value != now.get(name)]

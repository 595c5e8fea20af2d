"""Criteria that raters judge by: ready-made ones of studies, with a text for each kind of entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leaderboard.kinds import KINDS
from leaderboard.studies.judge.instructions import Criterion

if TYPE_CHECKING:
    from leaderboard.models import Study

PAIRS, OPINIONS = "pairs", "opinions"


# The six of comparisons of generated objects, in the order of the published protocol.
OBJECTS = (
    Criterion(
        "text_asset_alignment",
        "Match with the text",
        "How well does it match what was asked for? Go through the text: every object, number, colour and material that it names should be "
        "there.",
    ),
    Criterion(
        "plausibility_3d",
        "Plausible in 3D",
        "Could it be a real, solid thing? Look for parts that occur twice, wrong proportions, floating pieces, holes and noise.",
    ),
    Criterion(
        "texture_geometry_coherency",
        "Colours fit the shape",
        "Do borders between colours lie where the shape has an edge? Details that are only painted on count against it.",
    ),
    Criterion(
        "texture_details",
        "Detail of the colours",
        "Are the colours sharp, rich and fitting for the material? Blur, smears and seams count against it. Leave the shape aside.",
    ),
    Criterion(
        "geometry_details",
        "Detail of the shape",
        "How much true detail has the shape? Noise and ripples are no detail. Leave the colours aside.",
    ),
    Criterion("overall", "Overall", "All in all, weighing everything as you would if you had to choose one of them."),
)
OPINION_TITLES = {"visual_quality": "Visual quality", "objectness": "Objectness", "semantic": "Meaning", "structural": "Structure"}


def ready_made(kind: str, family: str) -> tuple[Criterion, ...]:
    """The criteria to pick from for studies of that kind (pairs or opinions) on that family of entries."""
    row = KINDS[family]
    if kind == OPINIONS:
        criteria = tuple(Criterion(key, title, row.criteria[key]) for key, title in OPINION_TITLES.items())
        return (*criteria, Criterion("overall", "Overall", "All in all, how good is it?"))
    closer = Criterion("overall", "Closer to the reference", row.criteria["closer"])
    return (closer, *(one for one in OBJECTS if one.key != "overall")) if row.generated else (closer,)


def asked_of(study: Study, rater: int) -> list[dict[str, str]]:
    """The criteria in the order in which the rater of that id is asked them: the study's, or one of their own that its seed fixes."""
    if not study.shuffles_criteria:
        return study.criteria
    order = np.random.default_rng([study.seed, rater, 23]).permutation(len(study.criteria))
    return [study.criteria[k] for k in order]

"""What raters judge by: ready-made criteria of studies, with a text for each kind of entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

PAIRS, OPINIONS = "pairs", "opinions"


@dataclass(frozen=True)
class Criterion:
    """One thing to judge by: its key in votes, what it is called, and what to look at."""

    key: str
    title: str
    text: str

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


# The six of comparisons of generated objects, in the order of the published protocol.
OBJECTS = (
    Criterion(
        "text_asset_alignment", "Match with the text",
        "How well does it match what was asked for? Go through the text: every object, number, colour and material that it names should be "
        "there.",
    ),
    Criterion(
        "plausibility_3d", "Plausible in 3D",
        "Could it be a real, solid thing? Look for parts that occur twice, wrong proportions, floating pieces, holes and noise.",
    ),
    Criterion(
        "texture_geometry_coherency", "Colours fit the shape",
        "Do borders between colours lie where the shape has an edge? Details that are only painted on count against it.",
    ),
    Criterion(
        "texture_details", "Detail of the colours",
        "Are the colours sharp, rich and fitting for the material? Blur, smears and seams count against it. Leave the shape aside.",
    ),
    Criterion(
        "geometry_details", "Detail of the shape",
        "How much true detail has the shape? Noise and ripples are no detail. Leave the colours aside.",
    ),
    Criterion("overall", "Overall", "All in all, weighing everything as you would if you had to choose one of them."),
)  # fmt: skip

_CLOSER = MappingProxyType(
    {
        "wireframe": "Which one is closer to the reference: are the lines where they should be, is none missing, and none too many?",
        "mesh": "Which one is closer to the reference: is the shape right as a whole and in its details?",
        "render": "Which one is closer to the reference: is everything there, in its place, sharp, and in the right colours?",
    }
)
_VISUAL = MappingProxyType(
    {
        "wireframe": "How clean does it look: straight lines that meet in corners, without clutter?",
        "mesh": "How good does the surface look: smooth where it should be, sharp where it should be, without noise or holes?",
        "render": "How good do the images look: sharp, without noise, ghosts or wrong colours?",
    }
)
_OBJECTNESS = MappingProxyType(
    {
        "wireframe": "Can you make out the one thing that it is, as a whole and complete?",
        "mesh": "Can you make out the object, as a whole, complete and apart from everything else?",
        "render": "Can you make out every object of the scene, complete and with clear borders?",
    }
)
_SEMANTIC = MappingProxyType(
    {
        "wireframe": "Does it mean the same thing as the reference: the same kind of building, with the same parts?",
        "mesh": "Is it the same thing as the reference, with the same parts?",
        "render": "Are the same things in the scene as in the reference, and does each look like what it is?",
    }
)
_STRUCTURAL = MappingProxyType(
    {
        "wireframe": "Are the parts connected and arranged as in the reference, whatever the exact positions?",
        "mesh": "Are the parts arranged as in the reference, with the right proportions?",
        "render": "Is everything in its place, with the right shape and the right size?",
    }
)


def ready_made(kind: str, family: str) -> tuple[Criterion, ...]:
    """The criteria to pick from for studies of that kind (pairs or opinions) on that family of entries."""
    if kind == OPINIONS:
        texts: tuple[tuple[str, str, Mapping[str, str]], ...] = (
            ("visual_quality", "Visual quality", _VISUAL),
            ("objectness", "Objectness", _OBJECTNESS),
            ("semantic", "Meaning", _SEMANTIC),
            ("structural", "Structure", _STRUCTURAL),
        )
        found = tuple(Criterion(key, title, text[family]) for key, title, text in texts)
        return (*found, Criterion("overall", "Overall", "All in all, how good is it?"))
    closer = Criterion("overall", "Closer to the reference", _CLOSER[family])
    return (closer,) if family == "wireframe" else (closer, *(one for one in OBJECTS if one.key != "overall"))

"""Questions on a rater's screen and eyes, once, before the study's own: a few fixed choices, and sizes that the browser measures.

It is kept with the rater and goes with them when they leave. Nothing else of the browser is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leaderboard.models import Study
from submissions.errors import Refused

SCREEN = "screen"  # among what a study asks: the sizes of screen and window, in pixels of CSS
SIZES = ("screen_width", "screen_height", "window_width", "window_height")
MAX_PIXELS = 100_000


@dataclass(frozen=True)
class SightQuestion:
    """A question with its choices: what is stored and exported of each, and what raters read."""

    key: str
    text: str
    choices: tuple[tuple[str, str], ...]


QUESTIONS = (
    SightQuestion(
        "glasses",
        "Do you need glasses or contact lenses to see a screen well?",
        (("none", "No"), ("worn", "Yes, and I wear them now"), ("not_worn", "Yes, but I do not wear them now")),
    ),
    SightQuestion(
        "colours",
        "Can you distinguish all colours?",
        (("all", "Yes"), ("not_all", "No, some look alike to me"), ("unknown", "I do not know")),
    ),
)
KEYS = (*(one.key for one in QUESTIONS), *SIZES)  # of `Rater.setup`, in the order of exports


def asked(study: Study) -> list[SightQuestion]:
    """The questions that a study asks."""
    return [one for one in QUESTIONS if one.key in study.setup_questions]


def answers(study: Study, sent: Mapping[str, str]) -> dict[str, str | int]:
    """Answers of a rater and measurements of their browser, of what the study asks alone. `Refused`, in a sentence, where an answer is
    missing or the window is too narrow for the study."""
    said: dict[str, str | int] = {}
    for question in asked(study):
        said[question.key] = sent.get(question.key, "")
        if said[question.key] not in dict(question.choices):
            raise Refused(f"Answer the question “{question.text}”.", "no_sight")
    width = pixels(sent.get("window_width"))
    if study.min_width is not None:
        if width is None:
            raise Refused(
                "Your browser did not say how wide its window is, and this study needs a wide one; switch on JavaScript and load the "
                "page again.",
                "no_width",
            )
        if width < study.min_width:
            raise Refused(too_narrow(study, width), "too_narrow")
    if SCREEN in study.setup_questions or study.min_width is not None:
        said |= {name: size for name in SIZES if (size := pixels(sent.get(name))) is not None}
    return said


def too_narrow(study: Study, width: int) -> str:
    return (
        f"This study needs a window at least {study.min_width:,} pixels wide, and yours has {width:,}; open it on a larger screen, such as "
        "a computer's, or make the window wider."
    )


def pixels(size: object) -> int | None:
    """A size that a browser sent, as a number or its text; None for anything that is none."""
    if isinstance(size, str) and size.isascii() and size.isdecimal() and len(size) <= 6:
        size = int(size)
    return size if isinstance(size, int) and not isinstance(size, bool) and 0 < size <= MAX_PIXELS else None

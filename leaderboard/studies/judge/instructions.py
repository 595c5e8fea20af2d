"""The questions to a judge: criteria, the plan of perturbed questions, the texts that go with an image, and the verdicts in answers. PURE.

Objects made from a text are compared in one image, object 1 on the left and object 2 on the right, each as a grid of views in colour and of
its normals. The order of the criteria is part of the protocol: answers come in it. A text that does not end as it was asked to counts as
None; its meaning is not guessed.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace

VERDICTS = {"1": -1, "2": 1, "3": 0}  # left better, right better, cannot decide
SIDES = {"LEFT": -1, "RIGHT": 1}
_SIDE = re.compile(r"\b(LEFT|RIGHT)\b")
_MARKS = ("**", '"', "'", "`", "“”", "‘’")
VERSION = 1  # of all texts and images; kept with each run, raised whenever one of them can change


@dataclass(frozen=True)
class Criterion:
    """One thing to judge by: its key in answers, what it is called, and what to look at."""

    key: str
    title: str
    text: str

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


CRITERIA = (
    Criterion(
        "text_asset_alignment",
        "Text and object",
        "How well does the object match the text it was made from? First describe each of the two objects in a sentence, without "
        "looking at the text. Then go through the text word by word: every object, number, colour, material and relation it names "
        "must be there. What the text does not mention counts neither for nor against.",
    ),
    Criterion(
        "plausibility_3d",
        "3D plausibility",
        "Could this be a real, solid thing? Use the colours and the normals together: a shape that is sound in both is sound. Look for "
        "parts that occur twice or on several sides (faces, limbs, handles), for wrong proportions, for pieces that float in the air, "
        "and for noise, holes or sheets where a surface should be.",
    ),
    Criterion(
        "texture_geometry_coherency",
        "Texture fits geometry",
        "Do the colours belong to the shape? Borders between colours should lie where the normals show an edge or a change of part. "
        "A detail that is only painted on, or a relief that the colours ignore, is a fault. Whether texture or shape is good by itself "
        "does not matter here.",
    ),
    Criterion(
        "texture_details",
        "Texture details",
        "How good are the colours and their details by themselves? Prefer textures that are sharp, rich and realistic for the material. "
        "Blur, smears, visible seams, noise and colours that are too strong or burnt in are faults. Leave the shape out of account.",
    ),
    Criterion(
        "geometry_details",
        "Geometry details",
        "How much true detail has the shape by itself? Look at the normals only and compare small regions: fine, meaningful structure is "
        "good, a smooth blob is poor. Noise, ripples and random bumps are no detail.",
    ),
    Criterion(
        "overall",
        "Overall",
        "All in all, which of the two is the better object? Weigh everything, shape, surface and what was asked for, as a person would who "
        "has to choose one of them to use.",
    ),
)
KEYS = tuple(one.key for one in CRITERIA)
ALIGNMENT, OVERALL = 0, 5


@dataclass(frozen=True)
class Row:
    """One kind of question: so many views a side, in colour and/or as normals, the criteria asked in this order, and how often.

    The perturbations: `turned` asks with the sides that were drawn exchanged, `normals_first` puts the normals on top, `watermark` writes
    Left and Right over the two halves.
    """

    views: int
    rgb: bool
    normal: bool
    criteria: tuple[int, ...]
    comparisons: int
    turned: bool = False
    normals_first: bool = False
    watermark: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(KEYS[number] for number in self.criteria)

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(CRITERIA[number].title for number in self.criteria)

    @property
    def images(self) -> int:
        """Views that one question shows."""
        return 2 * self.views * (self.rgb + self.normal)


ENSEMBLE = (
    Row(4, True, True, (0, 1, 2, 3, 4, 5), 200),
    Row(4, True, True, (0,), 100),
    Row(4, True, False, (0, 1, 3), 200),
    Row(1, True, True, (0, 3, 4, 2), 200),
    Row(4, True, True, (0,), 100),
    Row(9, True, True, (1,), 150),
    Row(1, True, True, (2,), 150),
    Row(1, True, True, (3,), 150),
    Row(1, True, True, (4,), 150),
    Row(1, True, False, (0, 1, 3), 100),
)
ALL, GEOMETRY_FIRST = (0, 1, 2, 3, 4, 5), (4, 1, 2, 0, 3, 5)
_JOINT = Row(4, True, True, ALL, 0)
PLANS: dict[str, tuple[str, tuple[Row, ...]]] = {
    "ensemble": ("Ten kinds of question, 1,500 comparisons", ENSEMBLE),
    "joint": ("All criteria in one question, four views", (_JOINT,)),
    "separate": ("Each criterion by itself, four views", tuple(Row(4, True, True, (number,), 0) for number in ALL)),
    "one-view": ("All criteria, one view", (Row(1, True, True, ALL, 0),)),
    "nine-views": ("All criteria, nine views", (Row(9, True, True, ALL, 0),)),
    "colour": ("The criteria that colour alone can answer, without normals", (Row(4, True, False, (0, 1, 3), 0),)),
    "normals": ("The criteria that normals alone can answer, without colour", (Row(4, False, True, (0, 1, 4), 0),)),
    "shape": ("What normals alone can answer, and overall: for objects without colours", (Row(4, False, True, (1, 4, 5), 0),)),
    "geometry-first": ("All criteria, those of shape first", (Row(4, True, True, GEOMETRY_FIRST, 0),)),
    "both-ways": ("All criteria, each comparison also with its sides exchanged", (_JOINT, replace(_JOINT, turned=True))),
    "normals-on-top": ("All criteria, normals above colours", (replace(_JOINT, normals_first=True),)),
    "watermark": ("All criteria, Left and Right written over the halves", (replace(_JOINT, watermark=True),)),
}
WIREFRAME_PLAN = "wireframe"
WIREFRAME_ROW = Row(1, True, False, (OVERALL,), 0)
_GRIDS = {1: "one view", 4: "four views, 90 degrees apart, in a grid of two rows", 9: "nine views from all around, in a grid of three rows"}


def without(row: Row, number: int) -> Row | None:
    """The row without one criterion; None where nothing is left to ask."""
    left = tuple(one for one in row.criteria if one != number)
    return replace(row, criteria=left) if left else None


def instruction(row: Row, prompt: str) -> str:
    """The text of one question about two objects made from `prompt`; without a prompt, about two models of one thing.

    ValueError where the alignment with a text is asked and there is none.
    """
    text = " ".join(prompt.split())
    if ALIGNMENT in row.criteria and not text:
        raise ValueError("alignment with a text cannot be judged without the text; leave that criterion out or give prompts.json")
    asked = [CRITERIA[number] for number in row.criteria]

    origin = "were made by two programs from the same text" if text else "were made by two programs of the same thing"
    kinds = " and ".join(["colour"] * row.rgb + ["the surface's normals"] * row.normal)
    task = f"Two 3D objects {origin}. Decide which of them is better. "
    task += f"Object 1 is the left half, object 2 the right half; each half shows {_GRIDS[row.views]}, in {kinds}."
    if row.rgb and row.normal:
        task += " The normals are above the colours." if row.normals_first else " The colours are above the normals."
    if row.normal:
        task += " In the normals, colour stands for the direction that a surface faces, so shape is seen without any texture."
    if row.watermark:
        task += " The words Left and Right are written over the halves and belong to neither object."

    if len(asked) > 1:
        head, each = "Judge them by these criteria:", "each criterion"
        manner = (
            "Take your time and look closely at every view. Take one criterion at a time, and decide on each independently of the others: "
            "the object that wins one may well lose the next."
        )
        last = (
            f"The last line of your answer must hold nothing but these {len(asked)} numbers in the order of the criteria above, with "
            "single spaces between them."
        )
    else:
        head, each = "Judge them by one criterion alone:", "the criterion"
        manner = "Take your time and look closely at every view before you decide."
        last = "The last line of your answer must hold nothing but this number."
    criteria = "\n".join([head, *(f"{n}. {one.title}. {one.text}" for n, one in enumerate(asked, 1))])
    form = (
        f"For {each}, write a short analysis of both objects and then decide on one number:\n"
        "1 = the left object (object 1) is better\n2 = the right object (object 2) is better\n"
        f"3 = cannot decide; use it sparingly, only where no difference is to be seen\n\n{last}"
    )

    options = [("2", "the right one is better"), ("1", "the left one is better"), ("3", "they cannot be told apart")]
    example = ["An answer has this form:", "Analysis:"]
    for n, one in enumerate(asked):
        example.append(f"{n + 1}. {one.title}: the left object …; the right object …; {options[n % 3][1]}.")
    example += ["Final answer:", " ".join(options[n % 3][0] for n in range(len(asked)))]
    request = "Please compare the two objects in the image as described."
    if text:
        request = f'The text is: "{text}"\n{request}'
    return "\n\n".join([task, criteria, manner, form, "\n".join(example), request])


def wireframe_instruction() -> str:
    """The text of one question about two wireframes over the same reference."""
    return (
        "The image shows the same building twice, side by side. Black lines are the true wireframe: the edges of its roof and walls as "
        "they were measured. Blue lines are a reconstruction by a program, drawn over it; the left half shows one program's, the right "
        "half another's.\n\n"
        "Where a black line has no blue line on it, the reconstruction has missed that edge: many such lines mean that it is incomplete. "
        "A blue line where there is no black one is an edge that does not exist, and a blue line that runs beside a black one is out of "
        "place.\n\n"
        "First describe the left reconstruction: what it has, what is missing, what is wrong. Then describe the right one in the same "
        "way. Then say which of the two is closer to the true wireframe as a whole. You must choose one.\n\n"
        "End your answer with one word in capitals on a line of its own: LEFT or RIGHT."
    )


# --- answers


def verdicts(text: str, count: int) -> tuple[int, ...] | None:
    """The verdicts (−1 left better, +1 right better, 0 neither) on `count` criteria, from the text's last line.

    The line holds an option 1, 2 or 3 per criterion with single spaces between. A full stop behind it and quotes,
    back-ticks or asterisks around it are taken off first. None for anything else.
    """
    line, before = (text.strip().splitlines() or [""])[-1], None
    while line != before:
        before = line
        line = line.strip().removesuffix(".")
        for mark in _MARKS:
            opening, closing = (mark[0], mark[1]) if mark[0] != mark[-1] else (mark, mark)
            if len(line) > len(opening) + len(closing) and line.startswith(opening) and line.endswith(closing):
                line = line[len(opening) : -len(closing)]
    tokens = line.split(" ") if line else []
    if len(tokens) != count or any(token not in VERDICTS for token in tokens):
        return None
    return tuple(VERDICTS[token] for token in tokens)


def side(text: str) -> tuple[int, ...] | None:
    """The verdict of a wireframe judge, (−1,) or (+1,): the last whole word LEFT or RIGHT, in capitals, anywhere in the text."""
    named = _SIDE.findall(text)
    return (SIDES[named[-1]],) if named else None

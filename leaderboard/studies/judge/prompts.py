"""Texts to make 3D objects from: asked of a language model, or drawn by chance from the same ingredients. PURE.

Two axes say what is wanted. Complexity is how much is in a text: its structure, how many things, how they are related, what
is around them, how much detail. Creativity is how far it is from what one sees every day.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from leaderboard.studies.judge.client import Client, JudgeError

LEVELS = ("low", "medium", "high")
MAX_PROMPTS, MIN_WORDS, MAX_WORDS = 500, 5, 80
MAX_REQUESTS = 4  # models stop short of long lists
PATIENCE = 20.0
TRIES = 60  # for each text that is wanted, before it is said that there are no more
_NUMBERED = re.compile(r"^\s*\d+[.)]\s+(.+)$", re.M)
_QUOTES = "\"'“”‘’«»`"

COMPLEXITY = MappingProxyType(
    {
        "structure": "one simple shape, or several parts that fit into each other",
        "number of elements": "one thing, a few, or many",
        "relations": "things that only stand beside each other, or that hold, carry or touch each other",
        "environment": "nothing around them, or a place they stand in",
        "detail level": "a word for the whole, or words for its parts, materials and surfaces",
    }
)
CREATIVITY = MappingProxyType(
    {
        "novelty": "a thing everybody knows, or one nobody has seen",
        "conceptual innovation": "an ordinary use, or ideas joined that do not belong together",
        "emotional impact": "a plain fact, or something that moves",
        "storytelling": "a thing by itself, or one that something is happening to",
    }
)
SUBJECTS = MappingProxyType(
    {
        "living beings": ("a fox", "an owl", "a tortoise", "an elephant", "a cat", "a beetle", "a seahorse", "an old fisherman"),
        "plants": ("a cactus", "a bonsai tree", "a sunflower", "a fern", "a mushroom", "an oak sapling", "a water lily"),
        "buildings and structures": (
            "a lighthouse",
            "a windmill",
            "a stone bridge",
            "a pagoda",
            "a log cabin",
            "a watchtower",
            "a bandstand",
        ),
        "vehicles": ("a steam locomotive", "a bicycle", "a hot-air balloon", "a tractor", "a sailing boat", "a scooter", "a tram"),
        "furniture": ("an armchair", "a writing desk", "a four-poster bed", "a bookshelf", "a rocking chair", "a chest of drawers"),
        "electronics": ("a film camera", "a radio", "a game console", "a record player", "a robot", "a desk lamp", "a telephone"),
        "household items": ("a teapot", "a sewing machine", "a toolbox", "a broom", "a kettle", "a candlestick", "a birdcage"),
        "clothing and accessories": ("a leather boot", "a top hat", "a backpack", "a pair of spectacles", "a wristwatch", "a feather mask"),
        "abstract objects": ("a knot", "a Möbius strip", "a stack of rings", "a twisted prism", "a lattice of rods", "a broken sphere"),
        "natural elements": ("a boulder", "an iceberg", "a crystal cluster", "a wave", "a waterfall", "a volcano", "a tree stump"),
        "food and beverages": ("a layered cake", "a bowl of noodles", "a pineapple", "a croissant", "a cup of cocoa", "a wheel of cheese"),
    }
)
GEOMETRY = MappingProxyType(
    {
        "volume": ("slender", "bulky", "hollow", "flat", "squat"),
        "symmetry": ("perfectly symmetrical", "lopsided", "spiralling", "mirrored down the middle"),
        "contours": ("with rounded edges", "with sharp edges", "with a wavy outline", "with a jagged rim"),
        "internal structures": ("with a visible frame inside", "with nested compartments", "built from interlocking parts"),
        "shape": ("tapering to a point", "shaped like a cone", "bent into an arc", "as round as a ball"),
    }
)
APPEARANCE = MappingProxyType(
    {
        "colours": ("crimson", "turquoise", "ivory", "emerald green", "mustard yellow", "midnight blue", "pale pink"),
        "materials": ("made of oak", "made of brushed steel", "made of glass", "made of felt", "cast in bronze", "carved from jade"),
        "textures": ("rough", "woven", "speckled", "cracked", "fluffy", "ribbed"),
        "finish": ("polished", "matte", "lacquered", "gilded", "weathered"),
        "size": ("tiny", "life-sized", "enormous", "pocket-sized"),
        "state": ("brand new", "half broken", "overgrown with moss", "covered in dust", "freshly painted"),
    }
)
STATUS = MappingProxyType(
    {
        "static": ("standing still", "lying on its side", "balanced on one end"),
        "dynamic": ("caught in mid-leap", "spinning fast", "falling apart in the air"),
        "emotional": ("looking lonely", "seeming to laugh", "full of pride"),
        "physical": ("dripping wet", "frozen solid", "glowing from within"),
        "interaction": ("holding a small lantern", "leaning on a pile of books", "carrying a basket of apples", "wrapped in a rope"),
    }
)
STYLE = MappingProxyType(
    {
        "aesthetic": ("in art-deco style", "in the manner of a woodcut", "in clean modern lines"),
        "cultural": ("with Japanese ornaments", "with Celtic patterns", "as in an Aztec temple"),
        "emotional": ("of a cheerful look", "of a gloomy look", "of a dreamlike look"),
        "functional": ("that doubles as a clock", "that serves as a music box", "that works as a fountain"),
        "conceptual": ("as a symbol of time", "as if memory had a body", "where every part is a letter"),
    }
)
SCENE = MappingProxyType(
    {
        "environment": ("on a wooden pier", "in a small greenhouse", "on a chessboard", "on the back of a whale"),
        "context": ("after the feast", "on market day", "during a masquerade"),
        "lighting": ("lit by candles", "under a neon sign", "in moonlight"),
        "weather": ("in falling snow", "after the rain", "in a sandstorm"),
        "interactions": ("with two sparrows quarrelling over it", "while a child reaches for it", "with ivy climbing up its side"),
        "scale": ("no larger than a thimble", "towering over tiny houses", "next to a coin of the same size"),
    }
)
GROWN = ("living beings", "plants", "natural elements", "food and beverages")
INGREDIENTS: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType(
    {"subjects": SUBJECTS, "geometry": GEOMETRY, "appearance": APPEARANCE, "status": STATUS, "style": STYLE, "scene": SCENE}
)
EXAMPLES = (
    "a ceramic teapot with a chipped spout",
    "an old wooden rowing boat, half filled with rainwater, a frog sitting on its oar",
    "a clockwork owl of brass and walnut that unfolds into a reading lamp",
)


class PromptError(ValueError):
    """The texts asked for cannot be; the message is a sentence."""


@dataclass(frozen=True)
class Wanted:
    """The texts that are wanted; `subjects` limits the kinds of thing (all of them if empty). PromptError for what cannot be."""

    count: int = 10
    complexity: str = "medium"
    creativity: str = "medium"
    max_words: int = 25
    subjects: tuple[str, ...] = ()
    examples: tuple[str, ...] = field(default=EXAMPLES, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_PROMPTS:
            raise PromptError(f"{self.count} texts were asked for; ask for 1 to {MAX_PROMPTS}.")
        if not MIN_WORDS <= self.max_words <= MAX_WORDS:
            raise PromptError(f"At most {self.max_words} words were asked for; give a number from {MIN_WORDS} to {MAX_WORDS}.")
        for name in ("complexity", "creativity"):
            if getattr(self, name) not in LEVELS:
                raise PromptError(f"The {name} is {getattr(self, name)!r}; it must be low, medium or high.")
        unknown = sorted(set(self.subjects) - set(SUBJECTS))
        if unknown:
            raise PromptError(f"There is no kind of subject {unknown[0]!r}; there are: {', '.join(SUBJECTS)}.")


# --- by a language model


def conversation(wanted: Wanted) -> list[dict[str, str]]:
    """The messages that ask a language model for such texts: task and ingredients, examples, request."""
    kinds = {name: items for name, items in SUBJECTS.items() if not wanted.subjects or name in wanted.subjects}
    task = [
        "You write short texts from which programs make 3D objects, to find out how good these programs are. Every text describes one "
        "object or one small group of objects that can be built as a 3D model and looked at from all sides.",
        "Two axes, each low, medium or high, say what is wanted.",
        _axis("Complexity", COMPLEXITY),
        _axis("Creativity", CREATIVITY),
        "Combine ingredients from these lists; what is named are examples, take others of the same kind too.",
        _list("Subjects", kinds),
        *(_list(name.capitalize(), INGREDIENTS[name]) for name in ("geometry", "appearance", "status", "style", "scene")),
    ]
    examples = "\n".join(f"{n}. {text}" for n, text in enumerate(wanted.examples, 1))
    only = f" Use only these subjects: {', '.join(wanted.subjects)}." if wanted.subjects else ""
    request = (
        f"Write {wanted.count} texts of {wanted.complexity} complexity and {wanted.creativity} creativity, each within {wanted.max_words} "
        f"words, all different.{only} Answer with a numbered list, one text a line, and nothing else."
    )
    messages = [{"role": "user", "content": "\n\n".join(task)}]
    if examples:
        messages += [
            {"role": "assistant", "content": "I have understood. Please show me a few examples."},
            {"role": "user", "content": f"These are good texts, in no order:\n{examples}"},
        ]
    return [*messages, {"role": "assistant", "content": "Thank you. What shall I write?"}, {"role": "user", "content": request}]


def parse(text: str, wanted: Wanted) -> list[str]:
    """The texts of a numbered list, at most as many as wanted: without quotes around them, without those that are too long, and
    without repeats, whatever their case."""
    lines = (line.strip() for line in _NUMBERED.findall(text))
    quoted = (line[1:-1].strip() if len(line) > 1 and line[0] in _QUOTES and line[-1] in _QUOTES else line for line in lines)
    return distinct(quoted, wanted)


def distinct(texts: Iterable[str], wanted: Wanted) -> list[str]:
    """The first of equal texts, without those that are empty or too long, at most as many as wanted."""
    by_text: dict[str, str] = {}
    for text in texts:
        if text and len(text.split()) <= wanted.max_words:
            by_text.setdefault(text.casefold(), text)
    return list(by_text.values())[: wanted.count]


# --- by chance


def offline(wanted: Wanted, seed: int = 0) -> list[str]:
    """As many different texts, drawn from the ingredients; the same for the same seed.

    PromptError where the words allow no more different ones.
    """
    rng = np.random.default_rng(seed)
    kinds = wanted.subjects or tuple(SUBJECTS)
    texts: dict[str, str] = {}
    for _ in range(TRIES * wanted.count):
        for text in distinct([_drawn(wanted, kinds, rng)], wanted):
            texts.setdefault(text.casefold(), text)
        if len(texts) == wanted.count:
            return list(texts.values())
    raise PromptError(
        f"Only {len(texts)} different texts of at most {wanted.max_words} words came out; allow more words, more subjects or fewer texts."
    )


def _drawn(wanted: Wanted, kinds: Sequence[str], rng: np.random.Generator) -> str:
    """One text: a subject with attributes; the more complex, the more of them and of things, the more creative, the stranger."""
    level, creative = LEVELS.index(wanted.complexity), LEVELS.index(wanted.creativity)
    kind = _of(kinds, rng)
    # A fox of steel is an idea, and ideas are for higher creativity.
    grown = kind in GROWN and creative < 2
    parts = [_subject(kind, rng), _one(SCENE, rng, ("lighting", "environment")) if grown else _one(APPEARANCE, rng, ("materials",))]
    if level >= 1:
        parts.append(_one(STATUS, rng, ("static",)) if grown else _one(GEOMETRY, rng, ("contours", "internal structures", "shape")))
    if level >= 2:
        parts += [f"beside {_subject(_of(kinds, rng), rng)}", _one(SCENE, rng, ("weather",))]
    if creative >= 1:
        parts.append(_one(STATUS, rng, ("dynamic", "emotional", "physical", "interaction")))
    if creative >= 2:
        parts += [_one(STYLE, rng, ("functional", "conceptual", "cultural")), _one(SCENE, rng, ("context", "interactions", "scale"))]
    return ", ".join(parts)


def _subject(kind: str, rng: np.random.Generator) -> str:
    noun = _of(SUBJECTS[kind], rng).partition(" ")[2]
    named = f"{_one(APPEARANCE, rng, ('colours', 'textures', 'finish', 'size'))} {noun}"
    return f"{'an' if named[0] in 'aeiou' else 'a'} {named}"


def _one(group: Mapping[str, Sequence[str]], rng: np.random.Generator, names: Sequence[str] = ()) -> str:
    return _of(group[_of(names or tuple(group), rng)], rng)


def _of(values: Sequence[str], rng: np.random.Generator) -> str:
    return values[int(rng.integers(len(values)))]


# --- the file


def as_json(texts: Sequence[str]) -> str:
    """`prompts.json` as a reference of generated objects has it: a list, for scenes that are called 0, 1, 2, …"""
    return json.dumps(list(texts), indent=1, ensure_ascii=False) + "\n"


def _axis(name: str, facets: Mapping[str, str]) -> str:
    return "\n".join([f"{name}:", *(f"- {facet}: {words}" for facet, words in facets.items())])


def _list(name: str, group: Mapping[str, Sequence[str]]) -> str:
    return "\n".join([f"{name}:", *(f"- {kind}: {', '.join(items)}" for kind, items in group.items())])


class AskError(Exception):
    """The model gave no such texts; the text is a sentence for people."""


def ask_for(wanted: Wanted, client: Client) -> list[str]:
    """As many texts as are wanted, or fewer where the model does not give more. AskError where it gives none."""
    texts: list[str] = []
    with client:
        for _ in range(MAX_REQUESTS):
            try:
                reply = client.ask(conversation(wanted))
            except JudgeError as error:
                if texts:
                    break
                raise AskError(str(error)) from None
            more = distinct([*texts, *parse(reply.texts[0].text, wanted)], wanted)
            if len(more) in (len(texts), wanted.count):
                texts = more
                break
            texts = more
    if not texts:
        raise AskError("The model's answer holds no numbered list of texts; try again, or another model.")
    return texts

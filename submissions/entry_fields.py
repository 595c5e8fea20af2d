"""Fields that a team states of an entry: its name, its description, links, and the card of its method. PURE.

Form, API, command line, card, tables of imported results and the public record of a board take their fields from this list. Only three
things are written by hand: the column of the database (`models/submission.py`) with its migration, and for a public field its line in
`PublicEntry` (`leaderboard/records/board.py`). Tests compare these with the list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto


class FieldKind(StrEnum):
    """Kind of value that a field holds. Empty texts, 0 and None are: not stated."""

    LINE = "line"  # text in one line
    TEXT = "text"  # Markdown
    LINK = "link"  # a web address
    COUNT = "count"  # a whole number, also as 38M or 1.2B
    AMOUNT = "amount"  # a number of a unit

    @property
    def is_number(self) -> bool:
        return self in (FieldKind.COUNT, FieldKind.AMOUNT)


class Door(Enum):
    """A way by which a field comes in."""

    FORM = auto()  # pages for uploads, baselines and edits
    API = auto()  # also where it is read again
    CLIENT = auto()  # an option of the command line
    RESULTS = auto()  # a column of links in a table of imported results, by the name in `public`


EVERY = frozenset({Door.FORM, Door.API, Door.CLIENT})


@dataclass(frozen=True)
class EntryField:
    """Description of one field.

    `limit` is the greatest length of a text, or the greatest number that is believed. `noun` names the field in sentences. `public` is its
    name in the public record of a board; without one the record does not have it. `folded` fields are optional ones that the form opens
    on request. Numbers have a `unit` behind the value and a `scale`, the title of an axis or a column; both may name the `{item}`.
    """

    name: str
    kind: FieldKind
    limit: float
    label: str
    noun: str
    help: str = ""
    doors: frozenset[Door] = EVERY
    public: str = ""
    required: bool = False
    folded: bool = True
    card: bool = True
    unit: str = ""
    scale: str = ""
    example: str = ""

    @property
    def described(self) -> str:
        """Label and help in a line, for the API and the command line."""
        words = self.help or {FieldKind.LINK: "A web address."}.get(self.kind, "")
        return f"{self.label}. {words}{' 0: not stated.' if self.kind.is_number else ''}".rstrip()

    @property
    def option(self) -> str:
        """Name of its option on the command line."""
        return f"--{self.name.removesuffix('_url').removesuffix('_name').replace('_', '-')}"


_ALL = (
    EntryField(
        "method_name",
        FieldKind.LINE,
        80,
        "Name of the method",
        "method name",
        "Shown on the leaderboard.",
        public="name",
        required=True,
        folded=False,
        card=False,
    ),
    EntryField(
        "description",
        FieldKind.TEXT,
        10_000,
        "Description",
        "description",
        "Say what is new in the method and what it was trained on, in Markdown. Everybody who sees the entry sees this.",
        folded=False,
        card=False,
    ),
    EntryField("paper_url", FieldKind.LINK, 200, "Paper", "paper link", doors=EVERY | {Door.RESULTS}, public="paper", folded=False),
    EntryField("code_url", FieldKind.LINK, 200, "Code", "code link", doors=EVERY | {Door.RESULTS}, public="code", folded=False),
    EntryField("weights_url", FieldKind.LINK, 200, "Weights", "weights link", public="weights"),
    EntryField("licence", FieldKind.LINE, 80, "Licence", "licence", "The licence of code and weights, such as Apache 2.0."),
    EntryField(
        "parameters",
        FieldKind.COUNT,
        10.0**15,
        "Parameters",
        "number of parameters",
        "How many: 38M, 1.2B or 38000000.",
        public="parameters",
        scale="Parameters",
        example="38M, 1.2B or 38000000",
    ),
    EntryField("hardware", FieldKind.LINE, 120, "Hardware", "hardware", "The machine that the method ran on, such as one RTX 4090."),
    EntryField(
        "run_seconds",
        FieldKind.AMOUNT,
        10.0**8,
        "Run time",
        "run time",
        "Seconds that one item takes on that hardware, without training.",
        public="run_seconds",
        unit="s a {item}",
        scale="Seconds per {item}",
        example="0.4 or 12, in seconds",
    ),
    EntryField(
        "training_data",
        FieldKind.LINE,
        400,
        "Training data",
        "training data",
        "Data sets and the amount of each; “none” if nothing was learned.",
    ),
)
FIELDS: Mapping[str, EntryField] = {field.name: field for field in _ALL}
PUBLIC_FIELDS: Mapping[str, EntryField] = {field.public: field for field in _ALL if field.public}


def through(door: Door) -> list[EntryField]:
    """The fields that come in by a door, in their order."""
    return [field for field in _ALL if door in field.doors]

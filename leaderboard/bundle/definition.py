"""A challenge as plain values: the one form that files, database and console share.

Fields are called as in the models. Two definitions are equal when the challenges they describe are:
contents are compared by digest, and where they come from (`load`, `content`) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from evaluation.programs.files import ProgramFiles
from evaluation.result_tables import Layout
from leaderboard.stats.evidence.reproduction import Reproduction
from leaderboard.stats.mos_table import USUAL, Scale, scale_of
from submissions.formats.yaml_document import Reader, each, text, texts

IMAGE_FIELDS = ("background", "resize")  # of phases whose entries are images
# A change of these alters what an upload must hold, so the phase's manifest is written again.
MANIFEST_FIELDS = frozenset({"missing", "size_factor", "max_archive_bytes", "unit", "unit_scale", "background", "resize"})


@dataclass(frozen=True)
class MetricDef:
    """One column of a phase's board. `params` holds what was given, typed; defaults are the registry's."""

    slug: str
    key: str
    title: str
    params: Mapping[str, object]
    weight: float
    is_primary: bool
    in_ranking: bool


@dataclass(frozen=True)
class ReferenceDef:
    """One version of the hidden truth. `sha256` is the packed items'; `groups` names only the items
    whose group is not their own (themselves, or their scene), in the order of their ids."""

    sha256: str
    item_ids: tuple[str, ...]
    groups: tuple[tuple[str, str], ...]
    note: str
    load: Callable[[], dict[str, Any]] = field(compare=False, repr=False)
    version: int | None = field(default=None, compare=False)  # of a stored one
    prompted: Callable[[], bool] = field(default=lambda: False, compare=False, repr=False)  # whether any item has a prompt
    remarks: tuple[str, ...] = field(default=(), compare=False)  # of the readers of its files, in sentences


@dataclass(frozen=True)
class FileDef:
    """An input file, an example entry or a picture. `content` gives the bytes, or a file on this machine with them."""

    kind: str
    name: str
    title: str
    size: int
    sha256: str
    content: Callable[[], Path | bytes] = field(compare=False, repr=False)
    pk: int | None = field(default=None, compare=False)  # of a stored one
    given_sha256: str = field(default="", compare=False)  # of a picture as it was before it was written again


@dataclass(frozen=True)
class ProgramDef:
    """A metric program of the organizer's. `sha256` is over the names and contents of its files, which `files` gives."""

    key: str
    version: int
    sha256: str
    is_public: bool
    files: Callable[[], ProgramFiles] = field(compare=False, repr=False)


@dataclass(frozen=True)
class PageDef:
    """A page of the challenge beside its overview and rules."""

    slug: str
    title: str
    body: str


@dataclass(frozen=True)
class NewsDef:
    """An announcement."""

    title: str
    body: str
    published_at: datetime
    pk: int | None = field(default=None, compare=False)  # of a stored one


def _criterion(reader: Reader, key: str) -> str:
    return reader.text(key, "overall", most=60) or "overall"


def _raters(reader: Reader, key: str) -> int | None:
    number: int | None = reader.integer(key, None, 1, 1_000_000)
    return number


def _scale(reader: Reader, key: str) -> Scale:
    ends = texts(reader, key)
    try:
        return scale_of(":".join(ends)) if ends else USUAL
    except ValueError:
        reader.fault(key, "expected the two ends of the scale, such as [0, 10]")
        return USUAL


@dataclass(frozen=True)
class OpinionColumn:
    """Mean opinions on one criterion: the head of the means, and of what else was published of them."""

    column: Annotated[str, text()]
    criterion: Annotated[str, _criterion] = "overall"
    low: Annotated[str, text(default="")] = ""
    high: Annotated[str, text(default="")] = ""
    n: Annotated[str, text(default="")] = ""

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.column, self.low, self.high, self.n)))

    def check(self, reader: Reader) -> None:
        if bool(self.low) != bool(self.high):
            reader.fault("low" if self.low else "high", "expected both ends of the interval, low and high")


@dataclass(frozen=True)
class OpinionsDef:
    """A study of opinion scores of which the means alone were published. `left_out` names methods that take no part in
    correlations, and `note` says why."""

    title: Annotated[str, text(120, "Opinion scores as published")]
    question: Annotated[str, text(400)]
    criteria: Annotated[tuple[OpinionColumn, ...], each(OpinionColumn)]
    raters: Annotated[int | None, _raters] = None
    left_out: Annotated[tuple[str, ...], texts] = ()
    note: Annotated[str, text(240, "")] = ""
    scale: Annotated[Scale, _scale] = USUAL

    def check(self, reader: Reader) -> None:
        if not self.criteria:
            reader.fault("criteria", "expected at least one criterion, with the column of its means")
        names = [one.criterion for one in self.criteria]
        for n, name in enumerate(names):
            if name in names[:n]:
                reader.fault_of(f"criteria[{n}].criterion", f'expected each once; "{name}" stands before')

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> OpinionsDef:
        criteria = tuple(OpinionColumn(**one) for one in data["criteria"])
        low, high = data.get("scale", USUAL)  # files of versions before had no other
        return cls(data["title"], data["question"], criteria, data["raters"], tuple(data["left_out"]), data["note"], (low, high))


@dataclass(frozen=True)
class AnswersDef:
    """A study of the answers that came with values of items. It has the questions, and the archive of canonical tables, which is compared
    by digest. `reproduction` is what the published files alone tell."""

    question: str
    sha256: str
    packed: bytes = field(compare=False, repr=False)
    reproduction: Reproduction | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class ResultsDef:
    """A phase's table, where it is from and how it is read. Tables are compared by digest."""

    source: str
    url: str
    file_name: str
    sha256: str
    layout: Layout
    opinions: OpinionsDef | None = None
    answers: AnswersDef | None = None  # with values of items
    text: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class PhaseDef:
    """A phase; `parent` is the slug of another one or None. Moments are aware, in UTC."""

    slug: str
    title: str
    description: str
    time_zone: str
    opens_at: datetime
    closes_at: datetime | None
    limit_per_day: int | None
    limit_total: int | None
    limit_at_once: int | None
    parent: str | None
    board: str
    board_at: datetime | None
    entries: str
    ranking: str
    withhold_scores: bool
    withhold_items: bool
    reference_access: str
    missing: str
    size_factor: int
    max_archive_bytes: int
    unit: str
    unit_scale: float
    background: str = "#ffffff"
    resize: str = "none"
    input_boxes: str = ""
    metrics: tuple[MetricDef, ...] = ()
    reference: ReferenceDef | None = None
    results: ResultsDef | None = None  # instead of metrics and reference
    files: tuple[FileDef, ...] = ()

    @property
    def weighs_nothing(self) -> bool:
        """True if the mean of the ranks is weighted and no column that takes part has a weight above 0."""
        columns = self.metrics if self.results is None else self.results.layout.columns
        weights = [column.weight for column in columns if column.in_ranking]
        return self.ranking == "weighted" and bool(weights) and not any(weights)


@dataclass(frozen=True, kw_only=True)
class ChallengeDef:
    """A whole challenge. `organizers` are user names once a plan is made; a parsed bundle may hold e-mails."""

    slug: str
    title: str
    summary: str
    description: str
    rules: str
    rules_version: str
    family: str
    visibility: str
    admitted_emails: tuple[str, ...]
    needs_approval: bool
    team_size: int | None
    merge_until: datetime | None = None
    simulated: bool
    item_noun: str
    unit_noun: str
    tags: tuple[str, ...] = ()
    licence: str = ""
    contact: str = ""
    organizers: tuple[str, ...] = ()
    announcements: tuple[NewsDef, ...] = ()
    pages: tuple[PageDef, ...] = ()
    files: tuple[FileDef, ...] = ()
    programs: tuple[ProgramDef, ...] = ()  # by key; those that it does not name stay
    phases: tuple[PhaseDef, ...] = ()

    def phase(self, slug: str) -> PhaseDef | None:
        return next((phase for phase in self.phases if phase.slug == slug), None)


def _columns(record: type, *others: str) -> tuple[str, ...]:
    """The fields of a record that are plain columns of its model: all but its slug and `others`."""
    return tuple(one.name for one in fields(record) if one.name not in ("slug", *others))


# In the order in which they are written and shown.
CHALLENGE_FIELDS = _columns(ChallengeDef, "organizers", "announcements", "pages", "files", "programs", "phases")
PHASE_FIELDS = _columns(PhaseDef, "metrics", "reference", "results", "files")
METRIC_FIELDS = _columns(MetricDef)

"""A bundle's folder -> a definition. The database is not asked; every fault is reported in one go.

Lengths, choices and defaults are the models' own: a column that changes there changes here.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, validate_email
from django.db import models

from evaluation.metrics import registry
from evaluation.models import PhaseMetric
from evaluation.networks import weights
from evaluation.programs import files as program_files
from evaluation.programs.document import ProgramError
from leaderboard.bundle import results
from leaderboard.bundle.definition import (
    CHALLENGE_FIELDS,
    IMAGE_FIELDS,
    PHASE_FIELDS,
    ChallengeDef,
    MetricDef,
    NewsDef,
    PageDef,
    PhaseDef,
    ProgramDef,
)
from leaderboard.bundle.folder import Folder
from leaderboard.bundle.parse_time import EXPECTED, read_moment
from submissions.formats.yaml_document import LEAST_ABOVE_0, REQUIRED, Problems, Reader, compose, is_null
from submissions.kinds import FAMILIES
from submissions.models import Announcement, Challenge, ChallengeFile, ChallengePage, Phase
from submissions.models.challenge import MAX_PAGES, check_tags
from submissions.models.phase import RESERVED_SLUGS

FILE = "challenge.yaml"
# What a bundle must say; everything else has the model's default.
_REQUIRED = {(Challenge, "title"), (Phase, "title"), (Phase, "opens_at")}
_LOWEST = {"size_factor": 1, "max_archive_bytes": 1, "team_size": 1}
_HIGHEST = {models.PositiveSmallIntegerField: 32_767, models.PositiveIntegerField: 2**31 - 1, models.PositiveBigIntegerField: 2**63 - 1}


@dataclass(frozen=True)
class Bundle:
    """A parsed bundle: its contents, and the line of each key in `challenge.yaml`."""

    definition: ChallengeDef
    lines: Mapping[str, int]


def parse(root: Path) -> Bundle:
    """Read the bundle in folder `root`. Raises `DocumentError` with every fault found."""
    problems = Problems(FILE)
    path = root / FILE
    if not path.is_file():
        problems.add("", f"expected this file in {root}; there is none")
        problems.raise_if_any()
    reader, folder = Reader(compose(path.read_bytes(), problems), "", problems), Folder(root)

    family = reader.choice("family", list(FAMILIES), _default(Challenge, "family"))
    if any(problem.key == "family" for problem in problems.found):  # it decides how everything below is read
        problems.raise_if_any()
    slug = _column(reader, Challenge, "slug", REQUIRED)
    programs = _programs(reader, folder, family)
    with registry.with_programs(program.files().document.spec(slug, program.sha256) for program in programs):
        phases = tuple(_phase(entry, folder, family) for entry in reader.readers("phases"))
    description, rules = folder.markdown(reader, "description"), folder.markdown(reader, "rules")
    emails = _distinct(problems, [(path, text.lower()) for path, text in reader.texts("admitted_emails")])
    for n, address in enumerate(emails):
        try:
            validate_email(address)
        except ValidationError:
            problems.add(f"admitted_emails[{n}]", f'expected an e-mail address, found "{address}"')
    apart = ("description", "rules", "family", "admitted_emails", "merge_until", "tags")
    columns = {name: _column(reader, Challenge, name) for name in CHALLENGE_FIELDS if name not in apart}
    tags = [text for _, text in reader.texts("tags")]
    try:
        check_tags(tags)
    except ValidationError as error:
        problems.add("tags", f"expected tags: {error.messages[0]}")
    organizers = _distinct(problems, reader.texts("organizers"))
    announcements = []
    for entry in reader.readers("announcements"):
        title = _column(entry, Announcement, "title", REQUIRED)
        published = _moment(entry, "published_at", ZoneInfo("UTC"))
        announcements.append(NewsDef(title=title, body=folder.markdown(entry, "body"), published_at=published))
        entry.close()
    pages = []
    for entry in reader.readers("pages"):
        pages.append(
            PageDef(
                slug=_column(entry, ChallengePage, "slug", REQUIRED),
                title=_column(entry, ChallengePage, "title", REQUIRED),
                body=folder.markdown(entry, "body"),
            )
        )
        entry.close()
    if len(pages) > MAX_PAGES:
        problems.add("pages", f"expected at most {MAX_PAGES} pages, found {len(pages)}")
    definition = ChallengeDef(
        slug=slug,
        description=description,
        rules=rules,
        family=family,
        admitted_emails=tuple(emails),
        merge_until=_moment(reader, "merge_until", ZoneInfo("UTC"), None),
        **columns,
        tags=tuple(tags),
        organizers=tuple(organizers),
        announcements=tuple(announcements),
        pages=tuple(pages),
        files=_files(reader, folder) + folder.files(reader, "pictures", ChallengeFile.Kind.PICTURE),
        programs=programs,
        phases=phases,
    )
    reader.close()
    _check_phases(problems, definition.phases)
    _unique(problems, "pages", "slug", [page.slug for page in definition.pages])
    _unique(problems, "announcements", "title and date", [(n.title, n.published_at) for n in definition.announcements])
    problems.raise_if_any()
    return Bundle(definition, problems.lines)


def _moment(reader: Reader, key: str, zone: ZoneInfo, default: Any = REQUIRED) -> Any:
    return reader.converted(key, EXPECTED, default, lambda text: read_moment(text, zone))


def _files(reader: Reader, folder: Folder) -> tuple:
    return folder.files(reader, "inputs", ChallengeFile.Kind.INPUT) + folder.files(reader, "examples", ChallengeFile.Kind.EXAMPLE)


def _programs(reader: Reader, folder: Folder, family: str) -> tuple[ProgramDef, ...]:
    """The metric programs that a list names: `path`, a folder or a .zip, and whether its files are `public`. None of them is run."""
    found = []
    for entry in reader.readers("programs"):
        path, is_public = folder.find(entry, "path"), entry.flag("public", False)
        entry.close()
        if path is None:
            continue
        try:
            files = program_files.read(path, here=not settings.BROKER_URL).of_kind(family)
        except ProgramError as error:
            entry.fault("path", f"expected a metric program; {error}")
            continue
        said = files.document
        if said.kind != family:
            entry.fault("path", f"expected a metric of {FAMILIES[family].plural}; {said.key} is of the kind {said.kind}")
        found.append(ProgramDef(said.key, said.version, files.digest, bool(is_public), lambda files=files: files))  # type: ignore[misc]
    _unique(reader.problems, "programs", "key", [program.key for program in found])
    return tuple(sorted(found, key=lambda program: program.key))


def _phase(reader: Reader, folder: Folder, family: str) -> PhaseDef:
    zone_name = _column(reader, Phase, "time_zone")
    try:
        zone = ZoneInfo(zone_name)
    except (ValueError, OSError, LookupError):  # already reported; the moments are still worth checking
        zone = ZoneInfo("UTC")
    moments = {
        "opens_at": _moment(reader, "opens_at", zone),
        "closes_at": _moment(reader, "closes_at", zone, None),
        "board_at": _moment(reader, "board_at", zone, None),
    }
    images = () if FAMILIES[family].images else IMAGE_FIELDS
    apart = (*moments, "time_zone", "description", "parent", "unit_scale", *images)
    plain = {name: _column(reader, Phase, name) for name in PHASE_FIELDS if name not in apart}
    slug = _column(reader, Phase, "slug", REQUIRED)
    description = folder.markdown(reader, "description")
    parent = reader.text("parent", None)
    unit_scale = reader.number("unit_scale", _default(Phase, "unit_scale"), "metres per unit, a number above 0", LEAST_ABOVE_0)
    metrics = _metrics(reader, family)

    # The reference's images are read on the background that is given; on the default where that is faulty.
    background = plain.get("background")
    if not background or any(problem.key == reader.at("background") for problem in reader.problems.found):
        background = _default(Phase, "background")
    definition = PhaseDef(
        slug=slug,
        description=description,
        time_zone=zone_name,
        parent=parent,
        unit_scale=unit_scale,
        **moments,
        **plain,
        metrics=metrics,
        reference=folder.reference(reader.reader("reference"), FAMILIES[family], background),
        results=results.parse(reader.reader("results"), folder),
        files=_files(reader, folder),
    )
    reader.close()
    _check_phase(reader, definition)
    return definition


def _check_phase(reader: Reader, definition: PhaseDef) -> None:
    """Report what a phase's keys say that does not go together."""
    if definition.opens_at and definition.closes_at and definition.closes_at <= definition.opens_at:
        reader.fault("closes_at", "expected a moment after opens_at")
    if definition.board in (Phase.Board.HIDDEN, Phase.Board.FROZEN) and "board_at" not in reader.nodes:
        reader.fault("board_at", f"expected the moment until or from which the board is {definition.board}; the key is missing")
    if definition.weighs_nothing:
        reader.fault("ranking", "expected a weight above 0 in a column that counts for the overall rank; all weights are 0")
    for name in ("metrics", "reference") if definition.results else ():
        if name in reader.nodes and not is_null(reader.nodes[name]) and getattr(definition, name):
            reader.fault(name, f"expected no {name} beside results: imported figures are not measured here")


def _metrics(reader: Reader, family: str) -> tuple[MetricDef, ...]:
    """The columns of a phase, of which one is primary: the first unless another is named."""
    metrics, path = [_metric(entry, family) for entry in reader.readers("metrics")], reader.at("metrics")
    _unique(reader.problems, path, "slug", [metric.slug for metric in metrics])
    return results.with_primary(reader.problems, path, metrics)


def _metric(reader: Reader, family: str) -> MetricDef:
    key, spec = reader.text("key"), None
    if key:
        try:
            spec = registry.get(key)
        except registry.UnknownMetric as error:
            reader.fault("key", f"expected a metric; {error}")
    if spec is not None and spec.family != family:
        reader.fault("key", f"expected a metric of {FAMILIES[family].plural}; {key} is one of {FAMILIES[spec.family].plural}")
    slug, title = _column(reader, PhaseMetric, "slug", (key or "").rpartition("/")[2]), _column(reader, PhaseMetric, "title")

    params = {}
    if (given := reader.reader("params")) is not None and spec is not None:
        for name, node in given.nodes.items():
            if not isinstance(node, yaml.ScalarNode):
                given.fault(name, "expected one value")
                continue
            try:
                params[name] = registry.parse_param(spec.key, name, "none" if is_null(node) else node.value)
            except registry.ParamError as error:
                given.fault(name, str(error))

    definition = MetricDef(
        slug=slug,
        key=key,
        title=title,
        params=params,
        weight=reader.number("weight", _default(PhaseMetric, "weight"), "a number from 0 up", low=0),
        is_primary=reader.flag("primary", False),
        in_ranking=_column(reader, PhaseMetric, "in_ranking"),
    )
    if spec is not None and spec.weights is not None:
        refusal = ""
        with contextlib.suppress(registry.ParamError):  # it is among the faults already
            refusal = weights.refusal(spec, registry.resolve_params(spec.key, params))
        if refusal:
            reader.fault("key", f"expected a metric that this server can compute; {refusal}")
    reader.close()
    return definition


def _distinct(problems: Problems, texts: list[tuple[str, str]]) -> list[str]:
    seen: dict[str, str] = {}
    for path, text in texts:
        if text in seen:
            problems.add(path, f'expected each once; "{text}" is {seen[text]} too')
        seen.setdefault(text, path)
    return [text for _, text in texts]


def _unique(problems: Problems, path: str, what: str, values: list[Any]) -> None:
    for n, value in enumerate(values):
        if value is not None and value in values[:n]:
            problems.add(f"{path}[{n}]", f"expected another {what} than {path}[{values.index(value)}] has")


def _check_phases(problems: Problems, phases: tuple[PhaseDef, ...]) -> None:
    """Parents are other phases of the bundle, without a circle; slugs are unique."""
    _unique(problems, "phases", "slug", [phase.slug for phase in phases])
    parents = {phase.slug: phase.parent for phase in phases}
    for n, phase in enumerate(phases):
        if phase.slug in RESERVED_SLUGS:
            problems.add(f"phases[{n}].slug", f'expected another word; "{phase.slug}" is the address of one of the challenge\'s own pages')
        if phase.parent is None:
            continue
        seen = {phase.slug}
        ancestor: str | None = phase.parent
        while ancestor in parents and ancestor not in seen:
            seen.add(ancestor)
            ancestor = parents[ancestor]
        if phase.parent not in parents:
            problems.add(f"phases[{n}].parent", f'expected the slug of another phase, found "{phase.parent}"')
        elif ancestor is not None:
            problems.add(f"phases[{n}].parent", "expected an earlier phase; these phases wait for each other in a circle")


# --- columns as the models have them


def _default(model: type[models.Model], name: str) -> Any:
    return model._meta.get_field(name).get_default()


def _column(reader: Reader, model: type[models.Model], name: str, default: Any = None) -> Any:
    """The value of a plain column, checked as the model would."""
    column = model._meta.get_field(name)
    if default is None:
        default = REQUIRED if (model, name) in _REQUIRED else column.get_default()
    if isinstance(column, models.BooleanField):
        return reader.flag(name, default)
    if isinstance(column, models.IntegerField):
        highest = next((most for kind, most in _HIGHEST.items() if type(column) is kind), math.inf)
        return reader.integer(name, default, _LOWEST.get(name, 0), highest)
    if column.choices:
        return reader.choice(name, [value for value, _ in column.choices], default)
    value = reader.text(name, default, most=column.max_length)
    if not value:
        if name in reader.nodes and not column.blank:
            reader.fault(name, "expected a text that is not empty")
        return value
    for validator in column.validators:
        if isinstance(validator, MaxLengthValidator):  # the reader has said so in its own words
            continue
        try:
            validator(value)
        except ValidationError as error:
            reader.fault(name, f'{" ".join(error.messages).rstrip(".")}; found "{value[:80]}"')
    return value

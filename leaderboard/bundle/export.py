"""A definition -> a folder that parses to the same definition, down to the last bit of a coordinate."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import yaml

from leaderboard.bundle import results
from leaderboard.bundle.accounts import written
from leaderboard.bundle.definition import (
    CHALLENGE_FIELDS,
    IMAGE_FIELDS,
    PHASE_FIELDS,
    ChallengeDef,
    FileDef,
    PhaseDef,
)
from leaderboard.bundle.folder import name_fault
from leaderboard.bundle.parse import FILE
from leaderboard.bundle.parse_time import moment_text
from submissions.errors import Refused
from submissions.kinds import FAMILIES, Family

FOLDERS = {"input": "inputs", "example": "examples", "picture": "pictures"}
_HEAD = "# Written by `manage.py challenge export`. The documentation's page on bundles explains every key.\n"
_ODD_BREAKS = frozenset("\r\x85\u2028\u2029")


class _Dumper(yaml.SafeDumper):
    """Long texts as blocks, never an anchor."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    if _ODD_BREAKS & set(text):  # YAML takes them for line ends and folds them; within quotes they are escaped
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def export(definition: ChallengeDef, folder: Path) -> None:
    """Write the bundle into `folder`, which must be empty or not there. The same definition gives the same files.
    `Refused` where an organizer cannot be named in a bundle."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} is not empty; export into a new folder.", "not_empty")
    folder.mkdir(parents=True, exist_ok=True)
    data: dict[str, object] = {"slug": definition.slug}
    for name in CHALLENGE_FIELDS:
        value = getattr(definition, name)
        if name in ("description", "rules"):
            if value:  # a text of its own file; a leading byte order mark would be taken for the file's, so it is doubled
                mark = "\ufeff" if value.startswith("\ufeff") else ""
                (folder / f"{name}.md").write_text(mark + value, encoding="utf-8", newline="")
                data[f"{name}_file"] = f"{name}.md"
        elif name in ("admitted_emails", "tags"):
            data |= _given(**{name: list(value)})
        elif name == "merge_until":
            data |= {name: moment_text(value, ZoneInfo("UTC"))} if value else {}
        elif value is not None:
            data[name] = value
    data["organizers"] = written(definition.organizers)
    data["announcements"] = [
        {"title": news.title, "published_at": moment_text(news.published_at, ZoneInfo("UTC")), "body": news.body}
        for news in definition.announcements
    ]
    data |= _given(pages=[{"slug": page.slug, "title": page.title, "body": page.body} for page in definition.pages])
    data |= _files(definition.files, folder, "")
    for program in definition.programs:
        program.files().unpack(folder / "programs" / program.key)
    programs = [{"path": f"programs/{program.key}", "public": program.is_public} for program in definition.programs]
    data |= _given(programs=programs)

    data["phases"] = [_phase(phase, FAMILIES[definition.family], folder) for phase in definition.phases]
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    (folder / FILE).write_text(_HEAD + text, encoding="utf-8", newline="")


def _phase(phase: PhaseDef, family: Family, folder: Path) -> dict[str, object]:
    """A phase as the bundle's document has it; its files, its reference and its imported figures are written into `folder`."""
    zone, own = ZoneInfo(phase.time_zone), f"phases/{phase.slug}"
    entry: dict[str, object] = {"slug": phase.slug}
    for name in PHASE_FIELDS:
        value = getattr(phase, name)
        if value is not None and (family.images or name not in IMAGE_FIELDS):
            entry[name] = moment_text(value, zone) if isinstance(value, datetime) else value
    if phase.results is not None:
        entry["results"] = results.written(phase.results, folder, own)
    else:
        entry["metrics"] = [
            {"key": metric.key, "slug": metric.slug}
            | _given(title=metric.title, params=dict(metric.params))
            | {"weight": metric.weight, "primary": metric.is_primary, "in_ranking": metric.in_ranking}
            for metric in phase.metrics
        ]
    if (reference := phase.reference) is not None:
        path = f"{own}/reference"
        for name, content in family.files(reference.load()):  # in the family's form that reads back bit for bit
            target = folder / path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        entry["reference"] = {"path": path, **_given(note=reference.note, groups=dict(reference.groups))}
    return entry | _files(phase.files, folder, f"{own}/")


def _given(**fields: object) -> dict[str, object]:
    """The fields that are not empty."""
    return {name: value for name, value in fields.items() if value}


def _files(files: Iterable[FileDef], folder: Path, prefix: str) -> dict[str, object]:
    data: dict[str, list[dict[str, object]]] = {}
    for number, file in enumerate(files):
        stem = file.name if not name_fault(file.name) else f"file-{number}"
        path = f"{prefix}{FOLDERS[file.kind]}/{stem}"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        content = file.content()
        if isinstance(content, bytes):
            (folder / path).write_bytes(content)
        else:
            shutil.copyfile(content, folder / path)
        entry = {"path": path, **_given(name=file.name if stem != file.name else "", title=file.title)}
        data.setdefault(FOLDERS[file.kind], []).append(entry)
    return dict(data)

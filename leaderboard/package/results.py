"""Folders scored as a leaderboard scores them, and kept with all that says how: parameters, fingerprints, versions, digests.

r = plumbline.evaluate("pred/", "ref/", ["hss", {"edge_f1": {"tau_edge": 0.25}}], jobs=4)
r.summary()
r.save("r.json")
plumbline.read("r.json").check()
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any

from evaluation import library_versions, local
from evaluation.metrics import registry
from evaluation.metrics.aggregation import Summary
from evaluation.metrics.result import SampleScores
from leaderboard.package import NAMES, installed, plots, tables
from leaderboard.package.errors import CannotEvaluate, Rejected
from leaderboard.package.inputs import metres_per
from leaderboard.package.scored import Column, Scored
from submissions.formats.archive import open_package
from submissions.formats.spreadsheet_formulas import neutral
from submissions.kinds import FAMILIES

FORMAT = 1  # of saved results

Metrics = str | Mapping[str, Mapping[str, Any]] | Sequence[str | Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Check:
    """Answer of `Result.check`: `reproduced` is true where this installation computes the same, and `differences` say what it does not."""

    reproduced: bool
    differences: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.reproduced


class Result(Scored):
    """Scored folders that can be written down, drawn, kept, and checked against this installation."""

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """The rows as CSV, written to `path` where one is given. Text that a spreadsheet could take for a formula gets an apostrophe."""
        text, rows = io.StringIO(newline=""), self.rows()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(neutral, rows[0]))
        writer.writerows([neutral(cell) if isinstance(cell, str) else cell for cell in row.values()] for row in rows)
        return _written(text.getvalue(), path)

    def to_latex(self, path: str | PathLike[str] | None = None, name: str = "Ours", beside: Mapping[str, Result] | None = None) -> str:
        """A LaTeX table (booktabs) of this result and the results `beside` it, a row each: values with their intervals. A metric's best
        value, and values tied with it, are in bold. Written to `path` where one is given."""
        return _written(tables.latex({name: self, **(beside or {})}), path)

    def plot(self, path: str | PathLike[str], name: str = "Ours", beside: Mapping[str, Result] | None = None) -> None:
        """A chart of the same values and intervals, as PDF, SVG or PNG by the suffix of `path`; needs the extra `plot`."""
        plots.plot({name: self, **(beside or {})}, Path(path))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values; floats survive exactly."""
        return {
            "plumbline_result": FORMAT,
            "kind": self.kind,
            "columns": [asdict(column) for column in self.columns],
            "items": list(self.items),
            "groups": list(self.groups),
            "missing": list(self.missing),
            "scores": {slug: scores.to_dict() for slug, scores in self.scores.items()},
            "summaries": {slug: summary.to_dict() for slug, summary in self.summaries.items()},
            "unit_scale": self.unit_scale,
            "paths": dict(self.paths),
            "files": {side: dict(files) for side, files in self.files.items()},
            "versions": dict(self.versions),
            "exact_versions": dict(library_versions.exact()),
            "warnings": list(self.warnings),
            "settings": dict(self.settings),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a JSON file, which `plumbline.read` reads."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """The inverse of `to_dict`; CannotEvaluate for anything else."""
        if data.get("plumbline_result") != FORMAT:
            raise CannotEvaluate(f"This is no saved result of the format {FORMAT}; save it again with this version of plumbline.")
        plain = ("kind", "unit_scale", "paths", "files", "versions", "settings")
        return cls(
            columns=tuple(Column(**column) for column in data["columns"]),
            items=tuple(data["items"]),
            groups=tuple(data["groups"]),
            scores={slug: SampleScores.from_dict(scores) for slug, scores in data["scores"].items()},
            summaries={slug: Summary.from_dict(summary) for slug, summary in data["summaries"].items()},
            warnings=tuple(data["warnings"]),
            **{name: data[name] for name in plain},
        )

    def check(self, prediction: str | PathLike[str] | None = None, reference: str | PathLike[str] | None = None) -> Check:
        """Answer whether this installation reproduces the result, and what differs: metrics, files, values, versions of libraries.

        The files are at the two paths, or where they lay. Where they are gone, only definitions and versions are compared.
        """
        found: list[str] = []
        for column in self.columns:
            spec = registry.REGISTRY.get(column.key)
            if spec is None:
                found.append(f"{column.slug}: this installation has no metric {column.key}")
            elif registry.fingerprint(column.key, _stored(column)) != column.fingerprint:
                found.append(f"{column.slug}: this installation has another definition of {column.key} (version {spec.version})")
        paths = {"prediction": prediction, "reference": reference}
        places = {side: Path(given if given is not None else self.paths[side]) for side, given in paths.items()}
        gone = [str(place) for place in places.values() if not place.exists()]
        if gone:
            found.append(f"not computed again, because {' and '.join(gone)} is not there")
        else:
            for side, place in places.items():
                before, now = self.files[side], digests(place, self.kind)
                changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
                found += [f"{len(changed)} files of the {side} changed, such as {changed[0] or 'itself'}"] if changed else []
            if not found:
                found += self._differing(places)
        then = {name: version for name, version in self.versions.items() if name in library_versions.COMPUTING}
        others = library_versions.differences(library_versions.here(), then)
        said = [f"{name} is {here} here and was {was}; last digits may differ" for name, (here, was) in others.items()]
        return Check(not found, tuple(found + said))

    def _differing(self, places: Mapping[str, Path]) -> list[str]:
        metrics = [{f"{column.key}:{column.slug}": _stored(column)} for column in self.columns]
        groups = dict(zip(self.items, self.groups, strict=True))
        match, unit = self.settings["match"], self.unit_scale
        again = evaluate(places["prediction"], places["reference"], metrics, match=match, groups=groups, unit=unit)
        found = []
        for column in self.columns:
            before, now = self.scores[column.slug].values, again.scores[column.slug].values
            others = [item for item, a, b in zip(self.items, before, now, strict=True) if a != b]
            if others:
                apart = max((abs(a - b) for a, b in zip(before, now, strict=True) if a is not None and b is not None), default=0.0)
                found.append(f"{column.slug}: {len(others)} of {len(self.items)} values differ, by at most {apart:.3g}")
        return found


def evaluate(
    prediction: str | PathLike[str],
    reference: str | PathLike[str],
    metrics: Metrics = (),
    *,
    match: str = "{id}",
    groups: Mapping[str, str] | str | PathLike[str] | None = None,
    unit: str | float = "m",
    manifest: str | PathLike[str] | None = None,
    jobs: int = 1,
    progress: bool = False,
) -> Result:
    """Score a file, folder or zip against another, as a leaderboard does.

    `metrics` is a key, or a list of keys and of {key: parameters}; "key:name" gives a column a name of its own. Without it, all metrics
    of that kind are computed that need no download. `match` says how a prediction is called for an item, as "pred_{id}". `groups` names
    each item's group (such as its scene), over which means and intervals are taken: a mapping, or a CSV file with the columns item and
    group. `unit` is the unit of the coordinates. A `manifest` gives a phase's units, groups and parameters. A missing item gets the worst
    value. `jobs` processes share the items; no value depends on their number.

    Raises CannotEvaluate with a sentence for each problem.
    """
    return scored(Path(prediction), Path(reference), *_requested(metrics), match, groups, metres_per(unit), manifest, jobs, progress)


score = evaluate  # its name before, until 1.0.0


def scored(
    prediction: Path,
    reference: Path,
    texts: Sequence[str],
    params: Sequence[str],
    match: str = "{id}",
    groups: Mapping[str, str] | str | PathLike[str] | None = None,
    unit_scale: float = 1.0,
    manifest: str | PathLike[str] | None = None,
    jobs: int = 1,
    progress: bool = False,
    boxed: bool = False,
) -> Result:
    """`evaluate` with metrics and parameters as the command line has them: KEY or KEY:SLUG, and SLUG.NAME=VALUE."""
    of = _groups_in(Path(groups)) if isinstance(groups, (str, PathLike)) else groups
    try:
        with _renamed(prediction, match) as renamed:
            outcome = local.score(
                renamed,
                reference,
                texts,
                params,
                None if manifest is None else Path(manifest),
                progress=_bar if progress else None,
                boxed=boxed,
                jobs=jobs,
                groups=of,
                unit_scale=unit_scale,
            )
    except local.CannotScore as error:
        raise CannotEvaluate(str(error)) from None
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(installed.missing(error.name or "", "score") or str(error), name=error.name) from None
    if outcome.problems:
        raise Rejected("\n".join(outcome.problems))
    columns = []
    for request in outcome.requests:
        spec = outcome.specs[request.slug]
        columns.append(
            Column(
                slug=request.slug,
                key=spec.key,
                title=spec.titled(request.params),
                unit=spec.unit,
                higher_is_better=spec.higher_is_better,
                parameters=spec.every_param(request.params),
                fingerprint=outcome.fingerprints[request.slug],
                level=spec.level,
            )
        )
    first = outcome.scores[columns[0].slug][0]
    kind = outcome.specs[columns[0].slug].family
    return Result(
        kind=kind,
        columns=tuple(columns),
        items=first.item_ids,
        groups=outcome.groups,
        scores={slug: scores for slug, (scores, _) in outcome.scores.items()},
        summaries={slug: summary for slug, (_, summary) in outcome.scores.items()},
        unit_scale=outcome.unit_scale,
        paths={"prediction": str(prediction), "reference": str(reference)},
        files={side: digests(path, kind) for side, path in (("prediction", prediction), ("reference", reference))},
        versions={"python": platform.python_version(), "plumbline": installed.version(), **library_versions.here()},
        warnings=outcome.warnings,
        settings={"match": match, "manifest": None if manifest is None else json.loads(Path(manifest).read_text(encoding="utf-8-sig"))},
    )


def read(path: str | PathLike[str]) -> Result:
    """A result that `Result.save` wrote. Raises CannotEvaluate for any other file."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise CannotEvaluate(f"{path} is no saved result of plumbline.")
        return Result.from_dict(content)
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, CannotEvaluate):
            raise
        raise CannotEvaluate(f"{path} is no saved result of plumbline ({error}).") from None


def digests(path: Path, kind: str) -> dict[str, str]:
    """The sha256 of each file of that kind of a file, folder or zip, by its path in it."""
    family = FAMILIES[kind]
    beside = (".json",) if family.grouped else family.companions  # of renders: regions, views and prompts
    with open_package(path) as package:
        names = [file.name for file in package.files]
        kept = [name for name in names if PurePosixPath(name).suffix.lower() in (*family.singles, *beside)]
        # A single file may have any name.
        return {name if len(names) > 1 or path.is_dir() else "": hashlib.sha256(package.read(name)).hexdigest() for name in sorted(kept)}


def _stored(column: Column) -> dict[str, Any]:
    """The parameters that this installation still knows."""
    known = {param.name for param in registry.get(column.key).params}
    return {name: value for name, value in column.parameters.items() if name in known}


def _requested(metrics: Metrics) -> tuple[list[str], list[str]]:
    """Metrics and parameters as the command line has them."""
    texts, params = [], []
    for one in [metrics] if isinstance(metrics, (str, Mapping)) else metrics:
        for text, given in one.items() if isinstance(one, Mapping) else [(one, {})]:
            key, colon, slug = text.partition(":")
            texts.append(f"{NAMES.get(key, key)}{colon}{slug}" if not local.is_path(text) else text)
            named = slug or NAMES.get(key, key)
            if not isinstance(given, Mapping):
                raise CannotEvaluate(f"{text} needs its parameters as a mapping, such as {{'tau_edge': 0.25}}, got {given!r}.")
            params += [f"{named}.{name}={'none' if value is None else value!r}".replace("'", "") for name, value in given.items()]
    return texts, params


def _groups_in(path: Path) -> dict[str, str]:
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.DictReader(stream))
    if not rows or not {"item", "group"} <= rows[0].keys():
        raise CannotEvaluate(f"{path} must have the columns item and group.")
    return {row["item"]: row["group"] for row in rows}


@contextmanager
def _renamed(path: Path, match: str) -> Iterator[Path]:
    """The predictions under the names of their items: `path` itself, or a folder with a copy of each file that `match` names."""
    if match.count("{id}") != 1:
        raise CannotEvaluate(f"match must hold {{id}} once, as in pred_{{id}}, got {match!r}.")
    if match == "{id}":
        yield path
        return
    if not path.is_dir():
        raise CannotEvaluate(f"match names files of a folder, and {path} is none.")
    before, _, after = match.partition("{id}")
    named = re.compile(f"{re.escape(before)}(?P<id>.+){re.escape(after)}")
    with tempfile.TemporaryDirectory() as folder:
        count = 0
        for file in sorted(path.rglob("*")):
            inner = file.relative_to(path)
            found = named.fullmatch(inner.with_suffix("").as_posix())
            if file.is_file() and found:
                place = Path(folder, f"{found['id']}{file.suffix}")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
                count += 1
        if not count:
            raise CannotEvaluate(f"No file in {path} is called {match}, without its suffix.")
        yield Path(folder)


def _bar(label: str, total: int) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, desc=label, unit="item")


def _written(text: str, path: str | PathLike[str] | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text

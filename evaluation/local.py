"""Score files on one's own machine: the same reading, the same checks and the same numbers as the server."""

from __future__ import annotations

import dataclasses
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from evaluation.metrics import registry, scoring
from evaluation.metrics.aggregation import Summary
from evaluation.metrics.result import SampleScores
from evaluation.metrics.scoring import MetricRequest
from evaluation.networks import weights
from submissions.formats.detect_kind import family_of
from submissions.formats.errors import FormatError, Remarks
from submissions.kinds import FAMILIES, Family
from submissions.manifest import ITEM_ID, Bounds, Item, Manifest, ManifestError
from submissions.validation import Verdict, validate

SHOWN_SAMPLES = 40
SLICES_PER_JOB = 4  # so that a job with slow items keeps the others waiting for little
_SLUG = re.compile(r":[A-Za-z0-9][A-Za-z0-9._@-]*\Z")


class CannotScore(ValueError):
    """A request that cannot be carried out; the message is one sentence."""


@contextmanager
def using_files(failure: str) -> Iterator[None]:
    """Raise CannotScore with the `failure` and the system's reason where a file cannot be read or written."""
    try:
        yield
    except OSError as error:
        raise CannotScore(f"{failure}: {error.strerror or error}.") from error


class Bar(Protocol):
    """A progress bar."""

    def update(self, n: int) -> Any: ...

    def close(self) -> Any: ...


@dataclass(frozen=True)
class Outcome:
    """Scores by slug, or the problems that prevented them."""

    scores: Mapping[str, tuple[SampleScores, Summary]]
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    requests: tuple[MetricRequest, ...] = ()
    specs: Mapping[str, registry.MetricSpec] = field(default_factory=dict)  # by slug, programs too
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()  # of each item
    unit_scale: float = 1.0

    @classmethod
    def refused(cls, verdict: Verdict) -> Outcome:
        """Return the problems of an entry that cannot be scored."""
        more = verdict.n_problems - len(verdict.problems)
        problems = [*map(str, verdict.problems), *([f"... and {more} more problems."] if more else [])]
        return cls({}, tuple(problems), verdict.warnings)

    def to_dict(self) -> dict[str, Any]:
        """`{"samples": {id: {slug: {value, status, parts}}}, "scores": {slug: {value, ci, n}}}`"""
        samples: dict[str, dict[str, Any]] = {}
        for slug, (scores, _) in self.scores.items():
            rows = zip(scores.item_ids, scores.values, scores.statuses, scores.parts, strict=True)
            for item_id, value, status, parts in rows:
                samples.setdefault(item_id, {})[slug] = {"value": value, "status": status, "parts": dict(parts)}
        summaries = {
            slug: {"value": summary.value, "ci": [summary.ci_low, summary.ci_high], "n": summary.n}
            for slug, (_, summary) in self.scores.items()
        }
        return {"samples": samples, "scores": summaries}

    def table(self) -> str:
        """The summary of each column and, for a few samples, their values, as text."""
        head = ("metric", "value", "95 % interval", "n", "missing")
        rows = [
            (slug, _number(s.value), "-" if s.ci_low is None else f"{s.ci_low:.4f} to {s.ci_high:.4f}", str(s.n), str(s.n_missing))
            for slug, (_, s) in self.scores.items()
        ]
        text = aligned([head, *rows])
        columns = [scores for scores, _ in self.scores.values()]
        count = len(columns[0].item_ids)
        if count > SHOWN_SAMPLES:
            return f"{text}\n\n{count} samples; --json prints the value of each."
        values = zip(columns[0].item_ids, *([_number(v) for v in scores.values] for scores in columns), strict=True)
        return f"{text}\n\n{aligned([('sample', *self.scores), *values])}"


def score(
    prediction: Path,
    reference: Path,
    metrics: Sequence[str] = (),
    params: Sequence[str] = (),
    manifest_file: Path | None = None,
    progress: Callable[[str, int], Bar] | None = None,
    boxed: bool = False,
    jobs: int = 1,
    groups: Mapping[str, str] | None = None,
    unit_scale: float = 1.0,
) -> Outcome:
    """Score `prediction` against `reference` (files, folders or zips).

    `metrics` are KEY or KEY:SLUG, where KEY may be the folder or zip of a metric program; `boxed` runs it in a sandbox. `params` are
    KEY.NAME=VALUE or SLUG.NAME=VALUE. A manifest gives the units, parameters, groups and missing rule of its phase, and the background and
    size rule of images. Without a manifest, a unit of the coordinates has `unit_scale` metres. Each sample is its own group; a render's
    group is its scene. A missing sample gets the worst value, and images are laid on white. `groups` names other groups, of every item.
    `jobs` processes share the items, which changes no value. Raises CannotScore.
    """
    manifest = None
    if manifest_file is not None:
        with using_files(f"The manifest {manifest_file} cannot be read"):
            text = manifest_file.read_bytes()
        try:
            manifest = Manifest.from_json(text)
        except ManifestError as error:
            raise CannotScore(str(error)) from error
    with ExitStack() as opened:
        own = [text for text in metrics if is_path(text)]

        def family() -> str:
            return _family([text for text in metrics if text not in own], manifest, (reference, prediction)).key

        named = with_programs(metrics, family, manifest, boxed, opened)
        if jobs > 1 and own:
            raise CannotScore("A metric program is scored by one process; leave jobs out.")
        return _score(prediction, reference, named, params, manifest, progress, jobs, groups, unit_scale)


def with_programs(
    metrics: Sequence[str], family: Callable[[], str], manifest: Manifest | None, boxed: bool, opened: ExitStack
) -> list[str]:
    """Columns of the metrics, those that are paths of programs started and known until `opened` ends. Raises CannotScore."""
    programs = {text: _program(text, family, manifest, boxed, opened) for text in metrics if is_path(text)}
    opened.enter_context(registry.with_programs(spec for _, spec in programs.values()))
    return [programs[text][0] if text in programs else text for text in metrics]


def is_path(metric: str) -> bool:
    """Return whether a metric is given as the folder or zip of a program: ./NAME, /NAME, NAME/ or NAME.zip, with :SLUG or without."""
    path = metric.rpartition(":")[0] if _SLUG.search(metric) else metric
    return path.startswith((".", "/", "~")) or path.endswith(("/", ".zip"))


def _program(
    text: str, family: Callable[[], str], manifest: Manifest | None, boxed: bool, opened: ExitStack
) -> tuple[str, registry.MetricSpec]:
    """Column name and spec of a metric program; its files are unpacked and its process ends under `opened`."""
    # These load yaml, which scoring without programs need not.
    from evaluation.programs import files
    from evaluation.programs.document import ProgramError
    from evaluation.programs.program import load
    from evaluation.programs.sandbox import NoSandbox

    path, slug = (text.rpartition(":")[0], text.rpartition(":")[2]) if _SLUG.search(text) else (text, "")
    place = Path(path).expanduser()
    if not place.exists():
        raise CannotScore(f"There is no metric program at {path}.")
    try:
        found = files.read(place)
        if found.document.as_files:
            found = found.of_kind(family())
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="metric-")))
        found.unpack(folder)
        program = opened.enter_context(load(folder, boxed=boxed))
        program.document = found.document
    except (ProgramError, NoSandbox) as error:
        raise CannotScore(str(error)) from error
    spec = program.document.spec(manifest.challenge if manifest else "local", found.digest, program)
    of_phase = [metric.slug for metric in manifest.metrics if metric.key == spec.key] if manifest else []
    return f"{spec.key}:{slug or (of_phase[0] if len(of_phase) == 1 else program.document.key)}", spec


def _score(
    prediction: Path,
    reference: Path,
    metrics: Sequence[str],
    params: Sequence[str],
    manifest: Manifest | None,
    progress: Callable[[str, int], Bar] | None,
    jobs: int,
    named_groups: Mapping[str, str] | None,
    unit_scale: float,
) -> Outcome:
    for path, what in ((reference, "reference"), (prediction, "prediction")):
        if not path.exists():
            raise CannotScore(f"There is no {what} at {path}.")
    family = _family(metrics, manifest, (reference, prediction))
    requests = requested(metrics, params, manifest, family)
    remarks = Remarks()
    references = _references(reference, family, manifest.reading() if manifest else {}, remarks)
    manifest = manifest or _plain_manifest(references, family, unit_scale)
    if absent := [item_id for item_id in manifest.item_ids if item_id not in references]:
        raise CannotScore(f"The reference lacks {absent[0]}, which the manifest lists; {len(absent)} of its items are not there.")
    requests = _with_prompts(requests, references, bool(metrics))
    verdict = _verdict(prediction, manifest)
    if not verdict.accepted:
        return Outcome.refused(verdict)
    ids = manifest.item_ids
    group_of = {item.id: item.group for item in manifest.items} if named_groups is None else named_groups
    if without := [name for name in ids if name not in group_of]:
        raise CannotScore(f"The groups name no group of {without[0]}; {len(without)} of {len(ids)} items have none.")
    groups = [group_of[name] for name in ids]
    work = _Work(verdict.items, references, requests, manifest.unit_scale, dict(zip(ids, groups, strict=True)))
    with closing(progress("scoring", len(ids))) if progress else nullcontext() as bar:
        slices = list(work.slices(ids, jobs, bar.update if bar else lambda n: None))
    fingerprints = {one.slug: registry.fingerprint(one.key, one.params) for one in requests}
    of_reference = [f"Reference: {sentence}" for sentence in remarks.sentences()]
    unlike = _unlike_phase(manifest, requests, fingerprints, by_name=bool(metrics))
    return Outcome(
        scoring.finish(requests, slices, ids, groups),
        warnings=(*of_reference, *verdict.warnings, *verdict.to_confirm, *unlike, *_failures(slices)),
        requests=tuple(requests),
        specs={one.slug: registry.get(one.key) for one in requests},
        fingerprints=fingerprints,
        groups=tuple(groups),
        unit_scale=manifest.unit_scale,
    )


def _unlike_phase(manifest: Manifest, requests: Sequence[MetricRequest], fingerprints: Mapping[str, str], by_name: bool) -> Iterator[str]:
    """Sentences on the columns that the phase has and the outcome has not, or not with the same definition; where metrics were asked for
    `by_name`, none is left out."""
    for metric in () if by_name else manifest.metrics:
        if registry.find(metric.key) is None and "/" in metric.key:
            yield f"{metric.key} is a program of the organizer's and is left out; with its files, add --metric ./FOLDER."
    of_phase = {(metric.slug, metric.key): metric.fingerprint for metric in manifest.metrics if metric.fingerprint}
    for one in requests:
        if of_phase.get((one.slug, one.key), fingerprints[one.slug]) != fingerprints[one.slug]:
            yield f"{one.slug} is not the phase's column: other parameters, or another version of {one.key}."


def _references(path: Path, family: Family, reading: Mapping[str, Any], remarks: Remarks) -> dict[str, Any]:
    """The items of the reference, at least one, with what their readers remark. Raises CannotScore."""
    try:
        found = family.load_folder(path, remarks=remarks, **reading)
    except FormatError as error:
        raise CannotScore(f"The reference cannot be read: {error}.") from error
    if not found:
        tables = " or are S23DR tables" if family.tables else ""
        raise CannotScore(f"The reference {path} holds no {family.singular}; files end in {', '.join(family.suffixes)}{tables}.")
    return found


def _with_prompts(requests: Sequence[MetricRequest], references: Mapping[str, Any], by_name: bool) -> list[MetricRequest]:
    """The requests whose metrics have the prompts that they need. Raises CannotScore where none has them, or where one lacks
    them that was asked for `by_name`."""
    prompted = any(getattr(item, "prompt", "") for item in references.values())
    missing = {request.slug: sentence for request in requests if (sentence := registry.get(request.key).missing_prompts(prompted))}
    if missing and (by_name or len(missing) == len(requests)):
        raise CannotScore(next(iter(missing.values())))
    return [request for request in requests if request.slug not in missing]


def _failures(slices: Sequence[Mapping[str, SampleScores]]) -> list[str]:
    """A sentence on each item on which a metric program failed; the first few."""
    from evaluation.programs import results  # loads yaml, which scoring without programs need not

    columns = [(slug, column) for part in slices for slug, column in part.items()]
    said = [f"{name}: {slug}: {reason}" for slug, column in columns for name, reason, _ in results.failures(column)]
    more = len(said) - SHOWN_SAMPLES
    return [*said[:SHOWN_SAMPLES], *([f"... and {more} more."] if more > 0 else [])]


@dataclass(frozen=True)
class _Work:
    """All that scoring items needs."""

    predictions: Mapping[str, Any]
    references: Mapping[str, Any]
    requests: Sequence[MetricRequest]
    unit_scale: float
    groups: Mapping[str, str]

    def score(self, ids: Sequence[str], progress: Callable[[int], Any] = lambda n: None) -> dict[str, SampleScores]:
        """The scores of some items; `progress` is told how many more are done."""
        told = 0

        def advance(done: int, _: int) -> None:
            nonlocal told
            progress(done - told)
            told = done

        return scoring.score_items(
            self.predictions,
            self.references,
            self.requests,
            unit_scale=self.unit_scale,
            item_ids=ids,
            groups=self.groups,
            progress=advance,
        )

    def slices(self, ids: Sequence[str], jobs: int, progress: Callable[[int], Any]) -> Iterator[dict[str, SampleScores]]:
        """The scores of all items, by slices of them; `progress` is told how many more are done."""
        if jobs == 1:
            yield self.score(ids, progress)
            return
        size = max(1, -(-len(ids) // (SLICES_PER_JOB * jobs)))
        parts = [ids[start : start + size] for start in range(0, len(ids), size)]
        # A copy of this process needs nothing handed over, and no guarded main module; but torch does not survive being copied.
        way = "fork" if sys.platform == "linux" and "torch" not in sys.modules else "spawn"
        with ProcessPoolExecutor(jobs, get_context(way), _begin, (self, weights.cache_folder())) as pool:
            for part, scores in zip(parts, pool.map(_next, parts), strict=True):
                progress(len(part))
                yield scores


_work: _Work | None = None  # of a process that shares the items


def _begin(work: _Work, cache: Path) -> None:
    global _work
    _work = work
    weights.use_cache(cache)


def _next(ids: Sequence[str]) -> dict[str, SampleScores]:
    assert _work is not None  # set by _begin
    return _work.score(ids)


def _family(metrics: Sequence[str], manifest: Manifest | None, paths: Sequence[Path]) -> Family:
    """Return the kind of entry to score: from the manifest, else from the requested metrics, else from the files."""
    if manifest is not None:
        return manifest.kind
    try:
        asked = {registry.get(text.partition(":")[0]).family: text for text in metrics}
    except registry.UnknownMetric as error:
        raise CannotScore(str(error)) from error
    if len(asked) > 1:
        kinds = " and ".join(f"{text} of {FAMILIES[key].plural}" for key, text in asked.items())
        raise CannotScore(f"These metrics are of different kinds of entry ({kinds}); ask for one kind at a time.")
    if asked:
        return FAMILIES[next(iter(asked))]
    try:
        return family_of(paths)
    except FormatError as error:
        raise CannotScore(f"The files cannot be read: {error}.") from error


def requested(metrics: Sequence[str], params: Sequence[str], manifest: Manifest | None, family: Family) -> list[MetricRequest]:
    """The columns that `metrics` and `params` ask for; all of the manifest's, or of the family's, if none is named."""
    # A program of the organizer's has no files here unless it is asked for by its path.
    here = [m for m in manifest.metrics if "/" not in m.key or registry.find(m.key) is not None] if manifest else []
    known = [MetricRequest(m.slug, m.key, m.params) for m in here]
    try:
        columns = [_column(text, known) for text in metrics] or known or _usable(family)
        for slug, times in Counter(column.slug for column in columns).items():
            if times > 1:
                raise CannotScore(f"{slug} is asked for twice; give each a name of its own, as in --metric KEY:NAME.")
        for text in params:
            columns = _with_param(columns, text)
        columns = [MetricRequest(c.slug, c.key, registry.resolve_params(c.key, c.params)) for c in columns]
        for column in columns:
            if refusal := weights.refusal(registry.get(column.key), column.params, weights.FETCH_LOCALLY):
                raise CannotScore(refusal)
        return columns
    except (registry.UnknownMetric, registry.ParamError) as error:
        raise CannotScore(str(error)) from error


def _usable(family: Family) -> list[MetricRequest]:
    """A column of each metric of the kind whose weights, those that it takes by default, are here."""
    specs = (spec for spec in registry.REGISTRY.values() if spec.family == family.key)
    usable = (spec for spec in specs if not weights.refusal(spec, registry.resolve_params(spec.key, {})))
    return [MetricRequest(spec.key, spec.key, {}) for spec in usable]


def _column(text: str, known: Sequence[MetricRequest]) -> MetricRequest:
    """The column that KEY, KEY:SLUG or, with a manifest, a slug of its own names."""
    key, colon, slug = text.partition(":")
    if colon and not ITEM_ID.fullmatch(slug):
        raise CannotScore(f"--metric {text} needs a name of letters, digits, dots, dashes and underscores after the colon.")
    wanted = slug or key
    for column in known:
        if column.slug == wanted and key in (column.key, column.slug):
            return column
    registry.get(key)
    same_key = [column for column in known if column.key == key]
    if not colon and len(same_key) > 1:
        raise CannotScore(f"The manifest has {key} more than once; name one of {', '.join(c.slug for c in same_key)}.")
    given = same_key[0].params if len(same_key) == 1 else {}
    return MetricRequest(wanted, key, given)


def _with_param(columns: Sequence[MetricRequest], text: str) -> list[MetricRequest]:
    """`columns` with KEY.NAME=VALUE or SLUG.NAME=VALUE applied; a name that is both a slug and a key is the slug."""
    target, equals, value = text.partition("=")
    owner, dot, name = target.rpartition(".")
    if not (equals and dot):
        raise CannotScore(f"--param {text} must read KEY.NAME=VALUE, for example corner_f1.tau=0.25.")
    chosen = [c.slug for c in columns if c.slug == owner] or [c.slug for c in columns if c.key == owner]
    if not chosen:
        raise CannotScore(f"--param {text} is for {owner}, which is not scored here; add --metric {owner}.")
    return [
        dataclasses.replace(c, params={**c.params, name: registry.parse_param(c.key, name, value)}) if c.slug in chosen else c
        for c in columns
    ]


def _plain_manifest(references: Mapping[str, Any], family: Family, unit_scale: float) -> Manifest:
    """Return what a phase with nothing special would expect of these items."""
    try:
        return Manifest(
            challenge="",
            phase="",
            family=family.key,
            items=tuple(
                Item(name, family.group_of(name), size=family.size(item) if family.images else (0, 0)) for name, item in references.items()
            ),
            formats=family.formats,
            missing="worst",
            unit="m",
            unit_scale=unit_scale,
            bounds=Bounds(max_file_bytes=family.max_file_bytes),
        )
    except ManifestError as error:
        raise CannotScore(f"The reference's file names cannot serve as ids. {error}") from error


def _verdict(path: Path, manifest: Manifest) -> Verdict:
    """The server's verdict on the prediction; where one file is set against one item, its name is free."""
    if len(manifest.items) > 1 or not path.is_file() or path.suffix.lower() not in manifest.kind.suffixes:
        return validate(path, manifest, own_machine=True)
    item = manifest.items[0]
    if path.stem in (item.id.rpartition("/")[2], "submission"):
        return validate(path, manifest, own_machine=True)
    stem = path.stem if ITEM_ID.fullmatch(path.stem) else "prediction"
    name = f"{item.group}/{stem}" if manifest.kind.grouped else stem
    renamed = dataclasses.replace(manifest, items=(dataclasses.replace(item, id=name),))
    verdict = validate(path, renamed, name=stem + path.suffix)
    return dataclasses.replace(verdict, items={item.id: verdict.items[name]} if verdict.items else {})


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as text, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(f"{cell:<{w}}" if n == 0 else f"{cell:>{w}}" for n, (cell, w) in enumerate(zip(row, widths, strict=True))) for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)

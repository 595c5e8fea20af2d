"""Two definitions -> the difference between them, what it leads to, and what is refused."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

from evaluation.metrics import registry
from evaluation.result_tables import ResultColumn
from leaderboard.bundle.definition import (
    CHALLENGE_FIELDS,
    IMAGE_FIELDS,
    METRIC_FIELDS,
    PHASE_FIELDS,
    ChallengeDef,
    FileDef,
    MetricDef,
    NewsDef,
    PageDef,
    PhaseDef,
    ReferenceDef,
    ResultsDef,
)
from leaderboard.bundle.parse_time import moment_text
from leaderboard.bundle.results import fields_of
from submissions.kinds import FAMILIES, Family, same
from submissions.models import Challenge, Phase

Slugged = TypeVar("Slugged", PageDef, PhaseDef, MetricDef, ResultColumn)
CREATE, CHANGE, REMOVE = "create", "change", "remove"
NOTHING: tuple[object, ...] = (None, "", (), {})


@dataclass(frozen=True)
class Change:
    """One field of one thing. `path` names the thing from the outside in, such as
    ("phase final", "metric hss"); `field` is empty for the thing itself. `warning` is a sentence
    on what follows for people, where something does."""

    kind: str
    path: tuple[str, ...]
    field: str = ""
    before: object = None
    after: object = None
    warning: str = ""

    @property
    def text_diff(self) -> list[str]:
        """The changed lines of a long text, marked + and -; empty for short values."""
        before, after = (value if isinstance(value, str) else "" for value in (self.before, self.after))
        if not any("\n" in text or len(text) > 80 for text in (before, after)):
            return []
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
        return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


@dataclass(frozen=True)
class Rescoring:
    """A phase whose entries will be scored again (`entries` of them), and why."""

    phase: str
    entries: int
    reason: str

    def __str__(self) -> str:
        what = f"re-evaluate {self.entries} {'entry' if self.entries == 1 else 'entries'}" if self.entries else "start scoring"
        return f"{what}: {self.reason}"


@dataclass(frozen=True)
class PhaseFacts:
    """Facts in the database of a phase that its definition does not say."""

    entries: int = 0  # of any status
    scored: int = 0  # that a re-evaluation would score
    is_live: bool = False  # has a batch, so that scoring has begun
    closed: bool = False
    versions: Mapping[tuple[str, tuple[tuple[str, str], ...]], int] = field(default_factory=dict)  # stored, by content
    received: tuple[datetime, ...] = ()  # when each entry of the public board was received


@dataclass(frozen=True)
class Facts:
    participants: int = 0
    phases: Mapping[str, PhaseFacts] = field(default_factory=dict)
    now: datetime | None = None
    ready: frozenset[tuple[str, str]] = frozenset()  # metric programs that may score: their keys with the challenge's, and digests
    worker_tokens: Mapping[str, Sequence[str]] = field(default_factory=dict)  # names of those that are valid, by their makers' user names

    def of(self, phase: str) -> PhaseFacts:
        return self.phases.get(phase, PhaseFacts())


@dataclass(frozen=True)
class Plan:
    """The changes that would be made. `before` is None where the challenge would be created."""

    before: ChallengeDef | None
    after: ChallengeDef
    changes: tuple[Change, ...]
    rescorings: tuple[Rescoring, ...]
    refusals: tuple[str, ...]
    waiting: tuple[str, ...] = ()  # what another run will do, once metric programs have been checked

    @property
    def old(self) -> ChallengeDef:
        """The challenge as it was: nothing of a challenge that would be created but its own fields."""
        return _old(self.before, self.after)

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.rescorings

    @property
    def warnings(self) -> list[str]:
        return [change.warning for change in self.changes if change.warning]

    @property
    def needs_confirmation(self) -> bool:
        """True if it takes something away from somebody, or makes work."""
        removes = any(change.kind == REMOVE for change in self.changes)
        return bool(removes or self.warnings or any(rescoring.entries for rescoring in self.rescorings))

    @property
    def digest(self) -> str:
        """Names exactly this plan, so that what was confirmed is what is done."""
        return hashlib.sha256(repr((self.changes, self.rescorings)).encode()).hexdigest()

    def things(self) -> dict[tuple[str, ...], list[Change]]:
        """The changes by the thing they belong to, in order."""
        changes_of: dict[tuple[str, ...], list[Change]] = {}
        for change in self.changes:
            changes_of.setdefault(change.path, []).append(change)
        return changes_of

    def counts(self) -> dict[str, int]:
        """The numbers of things that are created, changed and removed."""
        kinds = [changes[0].kind for changes in self.things().values()]
        return {kind: kinds.count(kind) for kind in (CREATE, CHANGE, REMOVE)}


def make_plan(before: ChallengeDef | None, after: ChallengeDef, facts: Facts) -> Plan:
    """The way from `before` to `after`."""
    # Programs that `after` does not name stay: values may be theirs, so they are taken away in the console alone.
    old = _old(before, after)
    programs = {program.key: program for program in (*old.programs, *after.programs)}
    after = replace(after, programs=tuple(programs[key] for key in sorted(programs)))
    after, waiting = _without_waiting_columns(old, after, facts)
    refusals = [
        *(_refusals(before, after, facts) if before else ()),
        *_missing_prompts(old, after),
        *_without_weights(old, after),
        *_primary_refusals(old, after),
    ]
    if before is not None:
        after = _with_stored_pictures(before, _with_stored_references(before, after, facts))
    reasons = ((phase.slug, _rescoring_reason(old.phase(phase.slug), phase, facts.of(phase.slug))) for phase in after.phases)
    rescorings = tuple(Rescoring(slug, facts.of(slug).scored, reason) for slug, reason in reasons if reason)
    return Plan(before, after, tuple(_challenge_changes(before, after, facts)), rescorings, tuple(refusals), tuple(waiting))


def _old(before: ChallengeDef | None, after: ChallengeDef) -> ChallengeDef:
    """`before`, or a challenge that has nothing yet, which one that is created is compared with."""
    return before or replace(after, organizers=(), announcements=(), pages=(), files=(), programs=(), phases=())


def _with_stored_references(before: ChallengeDef, after: ChallengeDef, facts: Facts) -> ChallengeDef:
    """`after` with the stored reference of each phase that gives none, or one with the same numbers:
    equal items that another machine packed may differ in their bytes. A reference that is stored
    already keeps its version."""
    phases = []
    for phase in after.phases:
        known, new = before.phase(phase.slug), phase.reference
        old = known.reference if known is not None else None
        if old is not None and (new is None or new == old):
            new = old
        elif old is not None and new is not None and new.sha256 != old.sha256 and new.item_ids == old.item_ids:
            ours, theirs = old.load(), new.load()
            if all(same(ours[name], theirs[name]) for name in ours):
                new = replace(new, sha256=old.sha256)
        if new is not None:
            versions = facts.of(phase.slug).versions
            phase = replace(phase, reference=replace(new, version=versions.get((new.sha256, new.groups))))
        phases.append(phase)
    return replace(after, phases=tuple(phases))


def _with_stored_pictures(before: ChallengeDef, after: ChallengeDef) -> ChallengeDef:
    """`after` with the stored picture kept where the given file is the stored one: writing a picture twice changes its bytes."""
    stored = {(file.kind, file.name, file.sha256): file for file in before.files}
    files = ((file, stored.get((file.kind, file.name, file.given_sha256))) for file in after.files)
    return replace(after, files=tuple(replace(known, title=file.title) if known else file for file, known in files))


def _without_waiting_columns(before: ChallengeDef, after: ChallengeDef, facts: Facts) -> tuple[ChallengeDef, list[str]]:
    """`after` with the columns of programs that may not score yet as they are now, or left out, and a sentence on each."""
    programs = {f"{after.slug}/{program.key}": program for program in after.programs}
    phases, waiting = [], []
    for phase in after.phases:
        old = before.phase(phase.slug)
        now = {metric.slug: metric for metric in old.metrics} if old else {}
        metrics = []
        for metric in phase.metrics:
            program = programs.get(metric.key)
            if program is None or metric == now.get(metric.slug) or (metric.key, program.sha256) in facts.ready:
                metrics.append(metric)
                continue
            waiting.append(
                f"Phase {phase.slug}: the column {metric.slug} waits until a worker has found that {metric.key} version {program.version} "
                "may score; apply the bundle again then."
            )
            metrics += [replace(now[metric.slug], is_primary=metric.is_primary)] if metric.slug in now else []
        if metrics and not any(metric.is_primary for metric in metrics):
            first = next((n for n, metric in enumerate(metrics) if not _primary_refusal(metric)), 0)
            metrics[first] = replace(metrics[first], is_primary=True)
        phases.append(replace(phase, metrics=tuple(metrics)))
    return replace(after, phases=tuple(phases)), waiting


# --- the changes, from the outside in


def _challenge_changes(before: ChallengeDef | None, after: ChallengeDef, facts: Facts) -> Iterator[Change]:
    if before is None:
        yield Change(CREATE, (), after=after.slug)
    warnings = _consequences(after, facts) if before else {}
    for change in _field_changes((), before, after, CHALLENGE_FIELDS):
        yield replace(change, warning=warnings.get(change.field, ""))
    old = _old(before, after)
    for name in after.organizers:
        if name not in old.organizers:
            yield Change(CREATE, (f"organizer {name}",))
    for name in old.organizers:
        if name not in after.organizers:
            warning = f"{name} will no longer be able to manage this challenge."
            if tokens := facts.worker_tokens.get(name):
                warning += f" Worker tokens that {name} made stay valid: {', '.join(tokens)}. Revoke them on the page Workers."
            yield Change(REMOVE, (f"organizer {name}",), warning=warning)
    yield from _listed((), "announcement", _news(old), _news(after), ("body",))
    old_pages, new_pages = _by_slug(old.pages), _by_slug(after.pages)
    yield from _listed((), "page", old_pages, new_pages, ("title", "body"))
    if _moved(old_pages, new_pages):
        yield Change(CHANGE, (), "order of pages", list(old_pages), list(new_pages))
    yield from _listed((), "file", _files(old.files), _files(after.files), ("title", "size", "sha256"))
    ours, theirs = ({program.key: program for program in holder.programs} for holder in (old, after))
    yield from _listed((), "program", ours, theirs, ("version", "sha256", "is_public"))
    old_phases, new_phases = _by_slug(old.phases), _by_slug(after.phases)
    for slug in [slug for slug in old_phases if slug not in new_phases]:
        yield Change(REMOVE, (f"phase {slug}",), warning=f"The phase {slug}, its reference and its board will be gone.")
    for slug, phase in new_phases.items():
        freeze = _freeze_warning(phase, facts.of(slug), facts.now)
        yield from _phase_changes(old_phases.get(slug), phase, FAMILIES[after.family], freeze)
    if order := _moved(old_phases, new_phases):
        yield Change(CHANGE, (), "order of phases", order, list(new_phases))


def _consequences(after: ChallengeDef, facts: Facts) -> dict[str, str]:
    """Consequences for people of changes of the challenge's fields: a sentence by the name of the field."""
    seen_by: dict[str, str] = {
        Challenge.Visibility.PUBLIC: "Everybody will see the challenge.",
        Challenge.Visibility.DRAFT: "Only organizers will see the challenge; its participants will not.",
    }
    people = "1 participant has" if facts.participants == 1 else f"{facts.participants} participants have"
    accept = f"{people} to accept the rules again before they can upload." if facts.participants else ""
    return {"visibility": seen_by.get(after.visibility, ""), "rules_version": accept}


def _freeze_warning(after: PhaseDef, facts: PhaseFacts, now: datetime | None) -> str:
    """Sentence on the entries that a freeze at a past moment takes off the public board; empty where it takes none."""
    at = after.board_at
    if after.board != Phase.Board.FROZEN or at is None or now is None or at > now:
        return ""
    late, everything = sum(received > at for received in facts.received), len(facts.received)
    if not late:
        return ""
    moment = f"{moment_text(at, ZoneInfo(after.time_zone))} {after.time_zone}"
    if late == everything:
        return f"The public board will be empty: every entry on it was received after {moment}, the moment of the freeze."
    return f"{late} of {everything} entries leave the public board: they were received after {moment}, the moment of the freeze."


def _phase_changes(before: PhaseDef | None, after: PhaseDef, family: Family, freeze: str) -> Iterator[Change]:
    """Changes of a phase. `freeze` says which entries the freeze takes off the public board."""
    path = (f"phase {after.slug}",)
    if before is None:
        yield Change(CREATE, path)
    names = tuple(name for name in PHASE_FIELDS if family.images or name not in IMAGE_FIELDS)
    # A phase that is created is compared with one that has nothing yet.
    old = before or replace(after, metrics=(), reference=None, results=None, files=())
    wider: dict[str, str] = {}
    if old.reference_access != Phase.ReferenceAccess.PUBLIC:
        wider = {Phase.ReferenceAccess.PUBLIC: "Everybody", Phase.ReferenceAccess.PARTICIPANTS: "Every participant"}
    who = wider.get(after.reference_access)
    warnings = {
        "reference_access": f"{who} will be able to see the hidden reference." if who else "",
        "board": "The board will no longer be hidden." if old.board == Phase.Board.HIDDEN else "",
        "unit_scale": "Every length is measured again with this unit.",
    }
    for change in _field_changes(path, before, after, names, ZoneInfo(after.time_zone)):
        said = [warnings.get(change.field, "")]
        if change.field in ("board", "board_at"):  # the freeze is said once, of the first of both
            said, freeze = [*said, freeze], ""
        yield replace(change, warning=" ".join(filter(None, said)) if before else "")
    old_metrics, new_metrics = _by_slug(old.metrics), _by_slug(after.metrics)
    yield from _listed(path, "metric", old_metrics, new_metrics, METRIC_FIELDS)
    if order := _moved(old_metrics, new_metrics):
        yield Change(CHANGE, path, "order of metrics", order, list(new_metrics))
    yield from _reference_changes(path, old.reference, after.reference, family)
    yield from _results_changes(path, old.results, after.results)
    yield from _listed(path, "file", _files(old.files), _files(after.files), ("title", "size", "sha256"))


def _results_changes(path: tuple[str, ...], before: ResultsDef | None, after: ResultsDef | None) -> Iterator[Change]:
    if after is None or after == before:
        return
    inner = (*path, "results")
    old, new = fields_of(before), fields_of(after)
    for name in {**old, **new}:
        if old.get(name) != new.get(name) and not (before is None and new.get(name) in NOTHING):
            yield Change(CHANGE if before else CREATE, inner, name, old.get(name), new.get(name))
    ours, theirs = _by_slug(before.layout.columns if before else ()), _by_slug(after.layout.columns)
    yield from _listed(inner, "column", ours, theirs, tuple(field.name for field in fields(ResultColumn)))
    if order := _moved(ours, theirs):
        yield Change(CHANGE, inner, "order of columns", order, list(theirs))


def _reference_changes(path: tuple[str, ...], before: ReferenceDef | None, after: ReferenceDef | None, family: Family) -> Iterator[Change]:
    if after is None or after == before:
        return
    path = (*path, "reference")
    if before is None:
        yield Change(CREATE, path, "items", None, f"{len(after.item_ids)} items", _reference_warnings(after, family))
        return
    if after.sha256 != before.sha256:
        added = set(after.item_ids) - set(before.item_ids)
        warning = "Earlier entries have no files for the added items, so they get the worst value there." if added else ""
        warning = " ".join(part for part in (warning, _reference_warnings(after, family)) if part)
        old = f"version {before.version}, {len(before.item_ids)} items"
        yield Change(CHANGE, path, "items", old, reference_difference(before, after), warning)
    if after.groups != before.groups:
        yield Change(CHANGE, path, "groups", dict(before.groups), dict(after.groups))
    if after.note != before.note:
        yield Change(CHANGE, path, "note", before.note, after.note)


def _reference_warnings(reference: ReferenceDef, family: Family) -> str:
    """Doubts about the items and remarks of their readers, in sentences; the first few."""
    return " ".join([*family.reference_warnings(reference.load()), *reference.remarks][:5])


def reference_difference(before: ReferenceDef, after: ReferenceDef) -> str:
    """Difference in words: how many items there are, and how many are added, removed and changed."""
    ours, theirs = before.load(), after.load()
    both = ours.keys() & theirs.keys()
    counts = {
        "added": len(theirs.keys() - both),
        "removed": len(ours.keys() - both),
        "changed": sum(not same(ours[name], theirs[name]) for name in both),
    }
    which = f"version {after.version}" if after.version else "a new version"
    return f"{which}, {len(theirs)} items ({', '.join(f'{n} {what}' for what, n in counts.items() if n) or 'the same items'})"


def _field_changes(
    path: tuple[str, ...], before: object, after: object, names: tuple[str, ...], zone: ZoneInfo | None = None
) -> Iterator[Change]:
    for name in names:
        old, new = getattr(before, name) if before else None, getattr(after, name)
        if (before is None and new not in NOTHING) or (before is not None and old != new):
            yield Change(CHANGE if before else CREATE, path, name, _plain(old, zone), _plain(new, zone))


def _listed(
    path: tuple[str, ...], noun: str, old: Mapping[str, object], new: Mapping[str, object], names: tuple[str, ...]
) -> Iterator[Change]:
    """Changes of things that are identified by a name."""
    for name in old:
        if name not in new:
            yield Change(REMOVE, (*path, f"{noun} {name}"))
    for name, thing in new.items():
        inner = (*path, f"{noun} {name}")
        if name not in old:
            yield Change(CREATE, inner)
        yield from _field_changes(inner, old.get(name), thing, names)


def _moved(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """The names that stay, in their old order; empty where their order stays too."""
    order = [name for name in old if name in new]
    return order if [name for name in new if name in old] != order else []


def _by_slug(things: Sequence[Slugged]) -> dict[str, Slugged]:
    return {thing.slug: thing for thing in things}


def _files(files: Sequence[FileDef]) -> dict[str, FileDef]:
    return {f"{file.kind}/{file.name}": file for file in files}


def _news(holder: ChallengeDef) -> dict[str, NewsDef]:
    utc = ZoneInfo("UTC")
    return {f"{moment_text(news.published_at, utc)} {news.title}": news for news in holder.announcements}


def _plain(value: object, zone: ZoneInfo | None) -> object:
    """The value as JSON has it; moments as the clocks of `zone` show them."""
    if isinstance(value, datetime):
        return f"{moment_text(value, zone)} {zone.key}" if zone else value.isoformat()
    return list(value) if isinstance(value, tuple) else value


# --- what follows from a change


def _rescoring_reason(before: PhaseDef | None, after: PhaseDef, facts: PhaseFacts) -> str:
    """Reason why the phase has to be scored again; empty if no change affects a number."""
    if not after.metrics or after.reference is None:
        return ""
    if before is None or before.reference is None or not facts.is_live:
        return "first reference and metrics"
    old, new = before.reference, after.reference
    differs = {
        "another reference": (old.sha256, old.groups) != (new.sha256, new.groups),
        "other metrics": _numbers(before.metrics) != _numbers(after.metrics),
        "another unit": before.unit_scale != after.unit_scale,
    }
    return ", ".join(reason for reason, is_so in differs.items() if is_so)


def _numbers(metrics: tuple[MetricDef, ...]) -> dict[str, str]:
    """Return what fixes the values of each column."""
    return {metric.slug: registry.fingerprint(metric.key, metric.params) for metric in metrics}


def _refusals(before: ChallengeDef, after: ChallengeDef, facts: Facts) -> Iterator[str]:
    if before.organizers and not after.organizers:
        yield "A challenge keeps at least one organizer; name one."
    stored = {program.key: program for program in before.programs}
    for program in after.programs:
        known = stored.get(program.key, program)
        if program.sha256 != known.sha256 and program.version <= known.version:
            yield (
                f"Version {known.version} of the metric program {program.key} already exists with other files; raise version in its "
                f"metric.yaml to {known.version + 1}."
            )
    if before.family != after.family:
        held = any(phase.reference is not None for phase in before.phases)
        if held or any(phase_facts.entries for phase_facts in facts.phases.values()):
            what, ours, theirs = "a reference" if held else "entries", FAMILIES[before.family].plural, FAMILIES[after.family].plural
            yield f"The challenge has {what}, so it stays one of {ours}; make another challenge for {theirs}."
    for phase in before.phases:
        if said := _phase_refusal(phase, after.phase(phase.slug), facts.of(phase.slug)):
            yield f"The phase {phase.slug} {said}"


def _phase_refusal(phase: PhaseDef, new: PhaseDef | None, facts: PhaseFacts) -> str:
    """The end of a sentence on why a phase cannot become `new`, or be removed where that is None; empty where it can."""
    entries = "1 entry" if facts.entries == 1 else f"{facts.entries} entries"
    if new is None:
        return f"has {entries}, so it cannot be removed; close it, or hide its board." if facts.entries else ""
    if phase.results is not None:
        return "" if new.results is not None else "ranks imported figures and goes on with them; make another phase for uploads."
    # The stored images stay as they are and are not read again from files.
    keeps_images = phase.reference is not None and (new.reference is None or new.reference.version is not None)
    fixed_order = facts.closed and facts.entries and new.closes_at == phase.closes_at
    refusals = {
        "has entries or is being scored, so it ranks no imported figures; make another phase for them.": (
            new.results is not None and (facts.entries or facts.is_live)
        ),
        "is being scored, so it keeps at least one metric; add another before you remove the last.": facts.is_live and not new.metrics,
        f"has {entries if facts.entries else 'a reference'} on {phase.background}, so its background stays; "
        "change it with a new reference first.": new.background != phase.background and (facts.entries or keeps_images),
        f"has closed with {entries}, so how they are ranked stays; only an open phase can change it.": (
            fixed_order and _ranking(phase) != _ranking(new)
        ),
    }
    return next((said for said, refused in refusals.items() if refused), "")


def _missing_prompts(before: ChallengeDef, after: ChallengeDef) -> Iterator[str]:
    """Metrics that would be new to a reference, or it to them, and have no value under it."""
    for new in after.phases:
        old = before.phase(new.slug)
        reference = new.reference or (old.reference if old else None)
        if reference is None:
            continue
        known = {metric.key for metric in old.metrics} if old and old.reference == reference else set()
        for spec in map(registry.get, sorted({metric.key for metric in new.metrics} - known)):
            if spec.wants_prompts and (missing := spec.missing_prompts(reference.prompted())):
                yield f"Phase {new.slug}: {missing}"


def _without_weights(before: ChallengeDef, after: ChallengeDef) -> Iterator[str]:
    """Problems of phases whose weighted mean rank would have only weights of 0; a phase that already was so may change in other ways."""
    for new in after.phases:
        old = before.phase(new.slug)
        if new.weighs_nothing and not (old is not None and old.weighs_nothing):
            yield (
                f"The phase {new.slug} is ranked by the weighted mean of ranks, and all weights would be 0. Give a column that counts for "
                "the overall rank a weight above 0, or choose another ranking."
            )


def _primary_refusals(before: ChallengeDef, after: ChallengeDef) -> Iterator[str]:
    """Problems of phases that would get a primary metric that cannot be one; a phase that already has it may change in other ways."""
    for new in after.phases:
        old = before.phase(new.slug)
        had = {(metric.slug, metric.key) for metric in old.metrics if metric.is_primary} if old else set()
        for metric in new.metrics:
            if metric.is_primary and (metric.slug, metric.key) not in had and (refusal := _primary_refusal(metric)):
                yield f"Phase {new.slug}: {refusal}"


def _primary_refusal(metric: MetricDef) -> str:
    """Reason why a column cannot be primary; empty where it can."""
    spec = registry.find(metric.key)
    return spec.primary_refusal if spec else ""


def _ranking(phase: PhaseDef) -> tuple:
    """Return the values that decide the order of entries; a column outside the ranking may still be added or removed."""
    columns = {(metric.slug, metric.weight, metric.is_primary) for metric in phase.metrics if metric.in_ranking or metric.is_primary}
    return phase.ranking, phase.entries, columns

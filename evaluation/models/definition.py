"""The definition of a phase's scores: its metrics and its reference."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.utils import timezone

from evaluation.metrics import prepared, registry
from evaluation.metrics.column import Column
from evaluation.networks import weights
from submissions.errors import Refused
from submissions.kinds import Family
from submissions.manifest import Bounds, Item, Manifest, MetricEntry
from submissions.models import Phase, User
from submissions.storage import stored_files

if TYPE_CHECKING:
    from submissions.formats.render.views import Roi

COLUMN = RegexValidator(r"\A[a-z0-9][a-z0-9_@-]{0,62}\Z", "Use lower-case letters, digits, _, @ and hyphens, at most 63.")


class PhaseMetric(models.Model):
    """A metric of a phase: one column of its board. The same metric may be in two columns with other parameters."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="metrics")
    slug = models.CharField(max_length=63, validators=[COLUMN])
    key = models.CharField(max_length=105)  # in the registry; of a program challenge/key
    title = models.CharField(max_length=80, blank=True, help_text="Empty: the metric's own.")
    params = models.JSONField(default=dict, blank=True)  # as given; defaults are filled in by the registry
    position = models.PositiveSmallIntegerField(default=0)
    weight = models.FloatField(default=1.0, help_text="In the weighted rank.")
    is_primary = models.BooleanField(default=False)
    in_ranking = models.BooleanField(default=True, help_text="Takes part in the overall rank.")

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["phase", "slug"], name="metric_slug_once"),
            models.UniqueConstraint(fields=["phase"], condition=models.Q(is_primary=True), name="one_primary_metric"),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def spec(self) -> registry.MetricSpec:
        return registry.get(self.key)

    @property
    def label(self) -> str:
        return self.spec.titled(self.params, self.title)

    @property
    def resolved(self) -> dict:
        """All parameters, defaults filled in. Raises `registry.ParamError`."""
        return registry.resolve_params(self.key, self.params)

    @property
    def fingerprint(self) -> str:
        return registry.fingerprint(self.key, self.resolved)

    @property
    def is_retired(self) -> bool:
        """Return whether it is no longer computed: the metric, or the weights that it used, were removed."""
        spec = registry.find(self.key)
        return spec is not None and weights.are_removed(spec, self.resolved)

    def column(self) -> Column:
        """Return what a batch keeps of this metric, so that later edits cannot change old scores' meaning."""
        digest = weights.digest_of(self.spec, self.resolved)
        return self.labelled(Column(self.slug, self.key, self.resolved, self.fingerprint, digest))

    def labelled(self, column: Column) -> Column:
        """Return its column with what changes no number as it is now."""
        names = ("weight", "is_primary", "in_ranking", "position")
        return replace(column, title=self.label, **{name: getattr(self, name) for name in names})


def told_apart(columns: Sequence[Column]) -> list[Column]:
    """Columns of a phase with distinct titles. Where several have one title, each is followed by the parameters in which they differ, or
    else by its slug."""
    for by_slug in (False, True):
        of_title = {column.title: [one for one in columns if one.title == column.title] for column in columns}
        more = {column.slug: column.slug if by_slug else _differing(column, of_title[column.title]) for column in columns}
        unclear = {title for title, alike in of_title.items() if len(alike) > 1 and all(more[one.slug] for one in alike)}
        columns = [replace(one, title=f"{one.title} ({more[one.slug]})") if one.title in unclear else one for one in columns]
    return list(columns)


def _differing(column: Column, alike: Sequence[Column]) -> str:
    """The parameters of a column that not all of `alike` share, such as `tau 0.5`; empty where they are of several metrics."""
    if len({one.key for one in alike}) > 1:
        return ""
    names = [name for name, value in column.params.items() if any(one.params.get(name) != value for one in alike)]
    return ", ".join(f"{name} {'none' if column.params[name] is None else column.params[name]}" for name in names)


class Reference(models.Model):
    """The hidden truth of a phase, one version of it: packed items in storage."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="references")
    version = models.PositiveIntegerField()
    key = models.CharField(max_length=255)  # in submissions.storage.stored_files
    sha256 = models.CharField(max_length=64)
    item_ids = models.JSONField()
    groups = models.JSONField()  # one per item, in the same order
    bounds = models.JSONField()  # the two sizes of each item, [[vertices, edges], ...] say, for the manifest
    prompts = models.JSONField(default=dict, blank=True)  # what generated objects were asked for, by group
    reader = models.PositiveSmallIntegerField(default=1, editable=False)  # that read its files, see `Family.reader`
    misread = models.JSONField(default=list, blank=True, editable=False)  # items that an earlier reader seems to have read wrongly
    note = models.CharField(max_length=240, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["phase", "version"]
        constraints = [models.UniqueConstraint(fields=["phase", "version"], name="reference_version_once")]

    def __str__(self) -> str:
        return f"{self.phase} reference v{self.version}"

    @classmethod
    def add(
        cls,
        phase: Phase,
        items: Mapping[str, Any],
        *,
        groups: Mapping[str, str] | None = None,
        actor: User | None = None,
        note: str = "",
        after: int | None = None,
    ) -> Reference:
        """Store a new version. Nothing is scored under it until a batch is started with it. `after` is the version that it was made
        from: where that is not the newest any more, the new one is `Refused` (`newer_version`).

        Items are in the order of their groups, then ids, so that a group is never split between workers; an item that `groups` does not
        name is in its own, or in its scene. Raises `Refused` for a reference no entry could be measured against (`degenerate_gt`).
        """
        family = phase.challenge.kind
        if not items:
            raise Refused(f"The reference holds no item; give at least one {family.singular}.", "degenerate_gt")
        for name, item in items.items():
            if family.is_degenerate(item):
                raise Refused(f"{name}: the reference needs {family.needs}; mend or leave out this item.", "degenerate_gt")
        data = family.pack({name: items[name] for name in sorted(items)})
        group_of = {name: (groups or {}).get(name) or family.group_of(name) for name in items}
        ids = sorted(items, key=lambda name: (group_of[name], name))
        digest = hashlib.sha256(data).hexdigest()
        with transaction.atomic():
            phase.lock()
            version = (cls.objects.filter(phase=phase).aggregate(n=models.Max("version"))["n"] or 0) + 1
            if after is not None and version != after + 1:
                raise Refused(
                    f"Version {version - 1} of the reference was saved while version {after} was being edited; look at what it has, then "
                    "save again.",
                    "newer_version",
                )
            key = f"references/{phase.pk}/{version}-{digest[:16]}.{family.stored}"
            stored_files.store().save_bytes(key, data)
            return cls.objects.create(
                phase=phase,
                version=version,
                key=key,
                sha256=digest,
                item_ids=ids,
                groups=[group_of[name] for name in ids],
                bounds=[family.size(items[name]) for name in ids],
                prompts={group_of[name]: items[name].prompt for name in ids if getattr(items[name], "prompt", "")},
                reader=family.reader,
                note=note[:240],
                created_by=actor,
            )

    @property
    def family(self) -> Family:
        """Return what its items are."""
        return self.phase.challenge.kind

    @property
    def has_prompts(self) -> bool:
        """Return whether it has the text of any object. Rows older than `prompts` are looked through."""
        return bool(self.prompts) or (self.family.images and any(item.prompt for item in self.items().values()))

    def items(self) -> dict[str, Any]:
        """The items themselves, by id."""
        return self.family.unpack(stored_files.store().read(self.key))

    def regions(self) -> dict[str, tuple[Roi, ...]]:
        """The regions of interest of each view that has an image, by id; nothing of families without images."""
        with stored_files.store().local_path(self.key).open("rb") as source:
            return self.family.stored_regions(source)

    def scenes_without_regions(self) -> list[str]:
        """The scenes in none of whose views a region is marked."""
        marked = {self.family.group_of(name) for name, regions in self.regions().items() if regions}
        return [scene for scene in dict.fromkeys(map(self.family.group_of, self.item_ids)) if scene not in marked]

    def with_regions(self, regions: Mapping[str, tuple[Roi, ...]], *, actor: User | None = None, note: str = "") -> Reference:
        """Store the next version: the same items, with other regions in the views that `regions` names. Raises `Refused` where this
        version is not the newest any more."""
        items = self.items()
        items |= {name: replace(items[name], rois=rois) for name, rois in regions.items()}
        groups = dict(zip(self.item_ids, self.groups, strict=True))
        return Reference.add(self.phase, items, groups=groups, actor=actor, note=note, after=self.version)

    def image(self, item: str) -> bytes | None:
        """The PNG of one view; None where it has none."""
        with stored_files.store().local_path(self.key).open("rb") as source:
            return self.family.stored_image(source, item)

    def cache_key(self, unit_scale: float, fingerprints: list[str], item_ids: list[str]) -> str:
        """Storage key of what metrics of these fingerprints keep of these items."""
        return f"prepared/{self.phase_id}/{prepared.digest(self.family.key, self.sha256, unit_scale, fingerprints, item_ids)}"

    def manifest(self, columns: Sequence[Column]) -> Manifest:
        """Return what an upload to the phase must hold under this reference."""
        phase, family = self.phase, self.family
        wanted = self.bounds if family.images else [(0, 0)] * len(self.item_ids)
        # One bound for all items, and a round one: everybody reads the manifest, and ten times an
        # item's own numbers would tell how large each hidden item is.
        # The size of an image must be told, because that is what is to be rendered.
        first, second = ((1 << (max(column) - 1).bit_length()) if all(column) else 0 for column in zip(*self.bounds, strict=True))
        limits = family.bounds((first, second), phase.size_factor)
        items = [Item(name, group, limits, tuple(size)) for name, group, size in zip(self.item_ids, self.groups, wanted, strict=True)]
        return Manifest(
            challenge=phase.challenge.slug,
            phase=phase.slug,
            family=family.key,
            items=tuple(items),
            formats=family.formats,
            missing=phase.missing,
            unit=phase.unit,
            unit_scale=phase.unit_scale,
            metrics=tuple(MetricEntry(one.slug, one.key, one.params, one.fingerprint) for one in columns),
            bounds=Bounds(max_archive_bytes=phase.max_archive_bytes, max_file_bytes=family.max_file_bytes),
            reference_version=self.version,
            background=phase.background,
            resize=phase.resize,
        )

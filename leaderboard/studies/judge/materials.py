"""The material of a study's entries for a judge: which samples, from which views, with which text; and the image itself.

Renders are as the teams sent them. Meshes are drawn once a view and kept; wireframes are drawn when they are shown.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image

from evaluation.models import EvaluationBatch, Reference
from leaderboard.kinds import KINDS
from leaderboard.models import JudgeAnswer, JudgeRun, Study, StudyEntry
from leaderboard.studies.judge import images, instructions
from leaderboard.studies.judge.images import Look
from leaderboard.studies.judge.instructions import ALIGNMENT, Row
from submissions.formats.render.views import Render
from submissions.kinds import RENDER
from submissions.storage import stored_files

KEPT = 64  # parsed items of entries in memory


class Materials:
    """The material of one study. Reads the storage; not for several threads."""

    def __init__(self, study: Study) -> None:
        self.study = study
        found = study.reference or getattr(EvaluationBatch.current(study.phase), "reference", None)
        if found is None:
            raise ValueError("The phase has no reference in force, so its samples are not known; give it one first.")
        self.reference: Reference = found
        self.family = study.phase.challenge.kind
        self.shown = KINDS[self.family.key]
        live = study.entries.live().exclude(submission__artifact_key="").select_related("submission")
        self.entries = {entry.label: entry for entry in live}
        self._items: dict[str, list[str]] = {}
        for item, group in zip(found.item_ids, found.groups, strict=True):
            self._items.setdefault(group, []).append(item)
        self._item = lru_cache(KEPT)(self._read)
        self._references: Mapping[str, Any] | None = None  # the reference's items, once they are drawn

    @property
    def form(self) -> str:
        return JudgeRun.Form(self.shown.judged)

    def samples(self) -> list[str]:
        """The study's samples that the reference has, in the study's order; all of the reference's where the study names none."""
        named = list(self.study.samples.values_list("name", flat=True))
        named = named or sorted(set(self.study.answers.order_by().values_list("sample", flat=True).distinct()))
        return [name for name in named if name in self._items] or list(self._items)

    def rows(self, plan: str) -> list[Row]:
        """The kinds of question of a plan as they can be asked here: without alignment where there is no text, without what needs
        normals or colours that were not sent. ValueError where nothing is left.
        """
        if self.form == JudgeRun.Form.WIREFRAMES:
            if plan != instructions.WIREFRAME_PLAN:
                raise ValueError(
                    f"Entries of this phase are wireframes, which are judged by the plan {instructions.WIREFRAME_PLAN}, not by {plan!r}."
                )
            return [instructions.WIREFRAME_ROW]
        if plan not in instructions.PLANS:
            raise ValueError(f"There is no plan {plan!r} for these entries; there are: {', '.join(instructions.PLANS)}.")
        rows = list(instructions.PLANS[plan][1])
        if not any(self.prompts().values()):
            rows = [left for row in rows if (left := instructions.without(row, ALIGNMENT)) is not None]
        if not self.has_normals():
            rows = [row for row in rows if not row.normal]
        if not rows:
            lacks = "normals (normal_N.png beside rgb_N.png) or texts (prompts.json)"
            raise ValueError(f"The plan {plan!r} needs files that these entries lack: {lacks}.")
        return rows

    def prompts(self) -> dict[str, str]:
        """The text of each sample that has one."""
        if not self.family.images:
            return {}
        first = {sample: self._turn(sample)[0] for sample in self._items}
        views = self.family.load(stored_files.store().local_path(self.reference.key), set(first.values()))
        return {sample: views[item].prompt for sample, item in first.items() if views[item].prompt}

    def has_normals(self) -> bool:
        """True if every entry has normals, by its first sample; meshes do, because they are drawn here."""
        if self.shown.drawn:
            return True
        for entry in self.entries.values():
            sample = next((name for name in self.samples() if self._has(entry, name)), None)
            if sample is not None and self._item(entry.label, self._turn(sample)[0]).normal is None:
                return False
        return bool(self.entries)

    def have(self, rows: Sequence[Row]) -> dict[str, list[str]]:
        """The samples of which each entry can be shown in all of these questions."""
        most = max(row.views for row in rows)
        wanted = self.samples()
        if self.family.images:
            wanted = [name for name in wanted if len(self._turn(name)) >= most]
        return {label: [name for name in wanted if self._has(entry, name)] for label, entry in self.entries.items()}

    def instruction(self, row: Row, sample: str) -> str:
        """The text of a question."""
        if self.form == JudgeRun.Form.WIREFRAMES:
            return instructions.wireframe_instruction()
        return instructions.instruction(row, self.prompt(sample))

    def prompt(self, sample: str) -> str:
        """The text that a sample was made from; empty where it has none."""
        if not hasattr(self, "_prompts"):
            self._prompts = self.prompts()
        return self._prompts.get(sample, "")

    def image(self, row: Row, sample: str, left: StudyEntry, right: StudyEntry) -> bytes:
        """The image of a question as PNG. ValueError, in a sentence, where it cannot be made any more."""
        for entry in (left, right):
            if entry.submission is None or not entry.submission.artifact_key:
                raise ValueError(f"There is nothing to show of “{entry.label}” any more.")
        if self.form == JudgeRun.Form.WIREFRAMES:
            if self._references is None:
                self._references = self.family.load(stored_files.store().local_path(self.reference.key))
            item = self._items[sample][0]
            pixels = images.wireframes(self._references[item], self._item(left.label, item), self._item(right.label, item))
        else:
            pixels = images.side_by_side(self._looks(left, sample, row.views), self._looks(right, sample, row.views), row)
        return images.png(pixels)

    # --- inside

    def _has(self, entry: StudyEntry, sample: str) -> bool:
        shown = self._turn(sample) if self.family.images else self._items[sample][:1]
        return not set(shown) & set(entry.submission.missing_items)

    def _turn(self, sample: str) -> list[str]:
        return images.turn_of(self._items[sample])

    def _read(self, label: str, item: str) -> Any:
        """An item of an entry; None where it has none."""
        entry = self.entries.get(label) or self.study.entries.select_related("submission").get(label=label)
        return self.family.load(stored_files.store().local_path(entry.submission.artifact_key), {item}).get(item)

    def _looks(self, entry: StudyEntry, sample: str, views: int) -> list[Look]:
        if self.shown.drawn:
            return [self._drawn(entry, sample, number) for number in images.view_numbers(images.TURN, views)]
        turn = self._turn(sample)
        renders = [self._item(entry.label, turn[number]) for number in images.view_numbers(len(turn), views)]
        if any(render is None for render in renders):
            raise ValueError(f"“{entry.label}” has no image of every view of {sample}.")
        return [Look(render.pixels(), None if render.normal is None else _pixels(render.normal)) for render in renders]

    def _drawn(self, entry: StudyEntry, sample: str, number: int) -> Look:
        """One view of a mesh, from the storage or drawn and put there."""
        item, store = self._items[sample][0], stored_files.store()
        key = f"geometry/{entry.submission_id}/judge-{instructions.VERSION}-{item}-{number}.renders"  # goes with what 3D views are sent
        try:
            (render,) = RENDER.unpack(store.read(key)).values()
        except FileNotFoundError:
            mesh = self._item(entry.label, item)
            if mesh is None:
                raise ValueError(f"“{entry.label}” has no mesh of {sample}.") from None
            (look,) = images.mesh_looks(mesh, [number])
            side = images.SIDE
            assert look.normals is not None  # those of a mesh have them
            render = Render(images.png(look.colour), side, side, normal=images.png(look.normals))
            store.save_bytes(key, RENDER.pack({item: render}))
            return look
        return Look(render.pixels(), _pixels(render.normal))


def image_of(answer: JudgeAnswer, materials: Materials | None = None) -> bytes:
    """The image that goes with a question of a run, as PNG."""
    run = answer.run
    return (materials or Materials(run.study)).image(run.questions[answer.row], answer.sample, answer.left, answer.right)


def _pixels(png: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        return np.asarray(image.convert("RGB"))

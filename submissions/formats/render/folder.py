"""A reference of renders as a folder, read and written:

<scene>/<view>.png            the view's reference image, with which an entry's render is compared
<scene>/masks/<view>.png      which of its pixels count for the masked metrics: grey, above 127 inside
<scene>/clean/<any>.png       clean views of the scene, all of one size
<scene>/rois.json             {"<view>": [{"box": [x1, y1, x2, y2], "label": "chair"}, ...], ...}
<scene>/views.json            the views without a reference image: ["<view>", ...], or
                              [{"view": "<view>", "width": 512, "height": 512}, ...] where a size is asked for
prompts.json                  {"<scene>": "text", ...}, or a list for scenes that are called 0, 1, 2, ...

Depth, normals and other pictures that Blender writes beside a frame, such as <view>_depth_0001.png, are no views.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from submissions.formats.archive import Package
from submissions.formats.errors import Findings, FormatError, Remarks
from submissions.formats.layout import frame_of
from submissions.formats.render.images import WHITE, Colour, Size, read_image, read_mask
from submissions.formats.render.views import MAX_SIDE, CleanViews, Render, Roi, View, by_scene, clean_images, encoded, render, with_scenes
from submissions.formats.text import parse_json
from submissions.kinds import RENDER

MASKS, CLEAN = "masks", "clean"
ROIS, VIEWS, PROMPTS = "rois.json", "views.json", "prompts.json"
MAX_JSON_BYTES = 8_000_000
MAX_JSON_VALUES = 500_000
MAX_PROMPT = 2000


@dataclass
class _Scene:
    """The files of one scene, by what they are: name of the view -> file."""

    images: dict[str, str] = field(default_factory=dict)
    masks: dict[str, str] = field(default_factory=dict)
    clean: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # rois.json and views.json

    def add(self, file: str, inner: tuple[str, ...]) -> str:
        """Take in a file that lies in the folders ``inner`` of the scene; returns what is wrong with it."""
        path = PurePosixPath(file)
        if path.suffix.lower() == ".json":
            if inner:
                return f"belongs beside the views, not into {inner[0]}/"
            self.notes[path.name] = file
            return ""
        named = {(): self.images, (MASKS,): self.masks, (CLEAN,): self.clean}[inner]
        if path.stem in named:
            return f"gives {path.stem}, which {named[path.stem]} gives too"
        named[path.stem] = file
        return ""

    def leave_out_passes(self, remarks: Remarks) -> None:
        for named in (self.images, self.clean):
            for view in [view for view in named if frame_of(view) in named]:
                remarks.add("Depth, normals and other pictures that Blender writes beside a frame are left out", [named.pop(view)])


def read(package: Package, label: str, background: Colour = WHITE, remarks: Remarks | None = None) -> dict[str, View]:
    """All views of an open package, by ``scene/view``, in the order of names.

    ``label`` is what the scene is called where the package is one scene's own folder; ``remarks`` take what reading changed. Raises
    ``FormatError`` with the faults of all files.
    """
    findings, remarks = Findings(label), remarks or Remarks()
    scenes: dict[str, _Scene] = {}
    prompts: dict[str, str] = {}
    alone = any("/" not in file.name and _is_ours(file.name) for file in package.files)
    scene_name = package.top.rstrip("/") or PurePosixPath(label).stem
    for file in (file.name for file in package.files):
        if file == PROMPTS:
            prompts = prompts_of(package, file, findings)
        if not _is_ours(file):
            continue  # texts that explain
        folders = ((scene_name,) if alone else ()) + PurePosixPath(file).parts[:-1]
        if not folders or folders[1:] not in ((), (MASKS,), (CLEAN,)):
            where = f"put views into <scene>/, masks into <scene>/{MASKS}/, clean views into <scene>/{CLEAN}/"
            findings.add("", f"lies in no place a reference has; {where}", file)
        elif fault := scenes.setdefault(folders[0], _Scene()).add(file, folders[1:]):
            findings.add("", fault, file)
    views: dict[str, View] = {}
    for name, scene in sorted(scenes.items()):
        scene.leave_out_passes(remarks)
        views |= _Reader(package, name, scene, background, prompts.get(name, ""), findings, remarks).views()
    findings.raise_if_any()
    return with_scenes(dict(sorted(views.items())))


def files(views: Mapping[str, View]) -> Iterator[tuple[str, bytes]]:
    """The folder of these views: each file's path and content, so that ``read`` gives the same views."""
    prompts: dict[str, str] = {}
    for scene, named in by_scene(views).items():
        yield from ((f"{scene}/{name}.png", view.image.png) for name, view in named.items() if view.image)
        yield from ((f"{scene}/{MASKS}/{name}.png", view.mask) for name, view in named.items() if view.mask)
        yield from ((f"{scene}/{CLEAN}/{n:05d}.png", image.png) for n, image in enumerate(clean_images(named.values())))
        yield from ((f"{scene}/{name}", _json(content)) for name, content in _notes(named).items() if content)
        prompts.update((scene, view.prompt) for view in named.values() if view.prompt)
    if prompts:
        yield PROMPTS, _json(prompts)


def _notes(views: Mapping[str, View]) -> dict[str, object]:
    """The content of the JSON files of a scene with these views."""
    rois = {
        name: [{"box": [roi.x1, roi.y1, roi.x2, roi.y2], "label": roi.label} for roi in view.rois]
        for name, view in views.items()
        if view.rois
    }
    bare = [{"view": name, "width": view.width, "height": view.height} for name, view in views.items() if view.image is None]
    return {ROIS: rois, VIEWS: bare}


def _json(content: object) -> bytes:
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _is_ours(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix.lower() in RENDER.suffixes or path.name in (ROIS, VIEWS)


def prompts_of(package: Package, name: str, findings: Findings) -> dict[str, str]:
    try:
        content = parse_json(package.read(name, MAX_JSON_BYTES), name, MAX_JSON_VALUES)
    except FormatError as error:
        findings.add(error.where, error.reason, name)
        return {}
    named = {str(n): text for n, text in enumerate(content)} if isinstance(content, list) else content
    if not isinstance(named, dict) or not all(isinstance(text, str) and len(text) <= MAX_PROMPT for text in named.values()):
        findings.add("", f"must be a list of texts, or texts by scene, each of at most {MAX_PROMPT} characters", name)
        return {}
    return named


@dataclass
class _Reader:
    """The reading of one scene's files; faults are noted and the rest is read on."""

    package: Package
    name: str
    scene: _Scene
    background: Colour
    prompt: str
    findings: Findings
    remarks: Remarks

    def views(self) -> dict[str, View]:
        clean, rois, bare = self._clean(), self._rois(), self._bare()
        found: dict[str, View] = {}
        for view in sorted({*self.scene.images, *bare}):
            image = self._image(self.scene.images[view]) if view in self.scene.images else None
            size = (image.width, image.height) if image else bare.get(view, (0, 0))
            mask = self._mask(self.scene.masks[view], size) if image and view in self.scene.masks else None
            found[f"{self.name}/{view}"] = View(image, *size, mask, rois.pop(view, ()), clean, self.prompt)
        for view, file in self.scene.masks.items():
            if view not in self.scene.images:
                self._fault(file, "is a mask of no view; name it after a view that has a reference image")
        for view in rois:
            self._fault(self.scene.notes[ROIS], f"names {view}, which is not a view of this scene")
        if clean and not found:
            self._fault(f"{self.name}/", f"has clean views but no view to be sent; list these in {self.name}/{VIEWS}")
        return found

    def _image(self, file: str) -> Render | None:
        return self.findings.tried(lambda: render(read_image(self.package.read(file), file, self.background, remarks=self.remarks)))

    def _mask(self, file: str, size: Size) -> bytes | None:
        return self.findings.tried(lambda: encoded(read_mask(self.package.read(file), file, size)))

    def _clean(self) -> CleanViews | None:
        images = [image for _, file in sorted(self.scene.clean.items()) if (image := self._image(file))]
        sizes = sorted({(image.width, image.height) for image in images})
        if len(sizes) > 1:
            shown = ", ".join(f"{width} × {height}" for width, height in sizes[:4])
            self._fault(f"{self.name}/{CLEAN}/", f"holds images of different sizes ({shown}); clean views must have one size")
        return CleanViews.of(images) if len(sizes) == 1 else None

    def _rois(self) -> dict[str, tuple[Roi, ...]]:
        content = self._note(ROIS)
        if content is None:
            return {}
        if not isinstance(content, dict):
            self._fault(self.scene.notes[ROIS], "must be an object with a list of regions for each view")
            return {}
        found = {}
        for view, entries in content.items():
            regions = [_roi(entry) for entry in entries] if isinstance(entries, list) else [None]
            if None in regions:
                self._fault(
                    self.scene.notes[ROIS], f'{view}: each region must be {{"box": [x1, y1, x2, y2], "label": "…"}} with x1 < x2, y1 < y2'
                )
            found[view] = tuple(roi for roi in regions if roi)
        return found

    def _bare(self) -> dict[str, tuple[int, int]]:
        """Names and sizes of the views that have no reference image."""
        content = self._note(VIEWS)
        entries = content if isinstance(content, list) else []
        found = {}
        for entry in entries:
            view, size = (entry, (0, 0)) if isinstance(entry, str) else ("", (0, 0))
            if isinstance(entry, dict) and isinstance(entry.get("view"), str):
                asked = entry.get("width", 0), entry.get("height", 0)
                whole = all(type(side) is int and 0 <= side <= most for side, most in zip(asked, RENDER.most, strict=True))
                if whole and bool(asked[0]) == bool(asked[1]):
                    view, size = entry["view"], asked
            if not view or view in self.scene.images:
                why = f"lists {view}, which has a reference image" if view else "holds an entry that is not a view; see the documentation"
                self._fault(self.scene.notes[VIEWS], why)
            else:
                found[view] = size
        if content is not None and not isinstance(content, list):
            self._fault(self.scene.notes[VIEWS], "must be a list of views")
        return found

    def _note(self, kind: str) -> Any:
        file = self.scene.notes.get(kind)
        return self.findings.tried(lambda: parse_json(self.package.read(file, MAX_JSON_BYTES), file, MAX_JSON_VALUES)) if file else None

    def _fault(self, file: str, reason: str) -> None:
        self.findings.add("", reason, file)


def _roi(entry: Any) -> Roi | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("label"), str) or not isinstance(entry.get("box"), list):
        return None
    box = entry["box"]
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) and abs(v) <= MAX_SIDE for v in box)
    if len(box) != 4 or not numbers:
        return None
    x1, y1, x2, y2 = (float(v) for v in box)
    roi = Roi(x1, y1, x2, y2, entry["label"])
    return None if roi.fault else roi

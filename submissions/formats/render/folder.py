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
from submissions.formats.render.images import WHITE, Colour, read_image, read_mask
from submissions.formats.render.views import MAX_SIDE, CleanViews, Render, Roi, View, encoded, render, with_scenes
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


def read(package: Package, label: str, background: Colour = WHITE, remarks: Remarks | None = None) -> dict[str, View]:
    """All views of an open package, by ``scene/view``, in the order of names.

    ``label`` is what the scene is called where the package is one scene's own folder; ``remarks`` take what reading changed. Raises
    ``FormatError`` with the faults of all files.
    """
    findings = Findings(label)
    scenes: dict[str, _Scene] = {}
    prompts: dict[str, str] = {}
    alone = any("/" not in file.name and file.name != PROMPTS and _is_ours(file.name) for file in package.files)
    scene_name = package.top.rstrip("/") or PurePosixPath(label).stem
    for file in package.files:
        if file.name == PROMPTS:
            prompts = prompts_of(package, file.name, findings)
            continue
        if not _is_ours(file.name):
            continue  # texts that explain
        path = PurePosixPath(file.name)
        folders = (scene_name, *path.parts[:-1]) if alone else path.parts[:-1]
        inner = folders[1:]
        if not folders or inner not in ((), (MASKS,), (CLEAN,)):
            where = f"put views into <scene>/, masks into <scene>/{MASKS}/, clean views into <scene>/{CLEAN}/"
            findings.add("", f"lies in no place a reference has; {where}", file.name)
            continue
        scene = scenes.setdefault(folders[0], _Scene())
        if path.suffix.lower() == ".json":
            if inner:
                findings.add("", f"belongs beside the views, not into {inner[0]}/", file.name)
            else:
                scene.notes[path.name] = file.name
            continue
        named = {(): scene.images, (MASKS,): scene.masks, (CLEAN,): scene.clean}[inner]
        if path.stem in named:
            findings.add("", f"gives {path.stem}, which {named[path.stem]} gives too", file.name)
        else:
            named[path.stem] = file.name
    for scene in scenes.values():
        for named in (scene.images, scene.clean):
            for view in [view for view in named if frame_of(view) in named]:
                left_out = named.pop(view)
                if remarks is not None:
                    remarks.add("Depth, normals and other pictures that Blender writes beside a frame are left out", [left_out])
    views: dict[str, View] = {}
    for name, scene in sorted(scenes.items()):
        views |= _Reader(package, name, scene, background, prompts.get(name, ""), findings, remarks).views()
    findings.raise_if_any()
    return with_scenes(dict(sorted(views.items())))


def files(views: Mapping[str, View]) -> Iterator[tuple[str, bytes]]:
    """The folder of these views: each file's path and content, so that ``read`` gives the same views."""
    prompts: dict[str, str] = {}
    scenes: dict[str, dict[str, View]] = {}
    for item, view in views.items():
        scene, _, name = item.partition("/")
        scenes.setdefault(scene, {})[name] = view
        if view.prompt:
            prompts[scene] = view.prompt
    for scene, named in scenes.items():
        yield from ((f"{scene}/{name}.png", view.image.png) for name, view in named.items() if view.image)
        yield from ((f"{scene}/{MASKS}/{name}.png", view.mask) for name, view in named.items() if view.mask)
        clean = next((view.clean for view in named.values() if view.clean), None)
        yield from ((f"{scene}/{CLEAN}/{n:05d}.png", image.png) for n, image in enumerate(clean.images if clean else ()))
        rois = {
            name: [{"box": [roi.x1, roi.y1, roi.x2, roi.y2], "label": roi.label} for roi in view.rois]
            for name, view in named.items()
            if view.rois
        }
        bare = [{"view": name, "width": v.width, "height": v.height} for name, v in named.items() if v.image is None]
        yield from ((f"{scene}/{name}", _json(content)) for name, content in ((ROIS, rois), (VIEWS, bare)) if content)
    if prompts:
        yield PROMPTS, _json(prompts)


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


class _Reader:
    """The reading of one scene's files; faults are noted and the rest is read on."""

    def __init__(
        self,
        package: Package,
        name: str,
        scene: _Scene,
        background: Colour,
        prompt: str,
        findings: Findings,
        remarks: Remarks | None,
    ) -> None:
        self.package, self.name, self.scene, self.background, self.prompt = package, name, scene, background, prompt
        self.findings, self.remarks = findings, remarks

    def views(self) -> dict[str, View]:
        images = [image for _, file in sorted(self.scene.clean.items()) if (image := self._image(file))]
        sizes = sorted({(image.width, image.height) for image in images})
        if len(sizes) > 1:
            shown = ", ".join(f"{width} × {height}" for width, height in sizes[:4])
            self._fault(f"{self.name}/{CLEAN}/", f"holds images of different sizes ({shown}); clean views must have one size")
        clean = CleanViews.of(images) if len(sizes) == 1 else None
        rois, bare = self._rois(), self._bare()
        found: dict[str, View] = {}
        for view in sorted({*self.scene.images, *bare}):
            image = self._image(self.scene.images[view]) if view in self.scene.images else None
            size = (image.width, image.height) if image else bare.get(view, (0, 0))
            mask = None
            if image is not None and view in self.scene.masks:
                file = self.scene.masks[view]
                try:
                    mask = encoded(read_mask(self.package.read(file), file, (image.width, image.height)))
                except FormatError as error:
                    self.findings.add(error.where, error.reason, error.file)
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
        try:
            return render(read_image(self.package.read(file), file, self.background, remarks=self.remarks))
        except FormatError as error:
            self.findings.add(error.where, error.reason, error.file)
            return None

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
        if kind not in self.scene.notes:
            return None
        file = self.scene.notes[kind]
        try:
            return parse_json(self.package.read(file, MAX_JSON_BYTES), file, MAX_JSON_VALUES)
        except FormatError as error:
            self.findings.add(error.where, error.reason, error.file)
            return None

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

"""Assignment of an upload's files to items.

Items without groups are files named after them, in whatever folder. Renders are ``<scene>/<view>`` in one of these layouts:

- ``<scene>/<view>.png``, and ``<view>.png`` alone, or in one folder of any name, where the phase has one scene;
- NerfBaselines' predictions: ``color/<view>.png``, within a folder of the scene's name where there are several scenes;
  ``gt-color``, ``info.json`` and other outputs stand beside and are passed over;
- 3D Gaussian Splatting's renders: ``<scene>/test/ours_30000/renders/<view>.png``, with folders of any names between the scene's and
  ``renders``; ``gt`` stands beside, and renders of the training views in ``train``, and both are passed over;
- Blender's frames: ``<scene>/<view>.png``, beside which ``<view>_depth_0001.png``, ``<view>_normal_0001.png`` and pictures like them are
  passed over;
- generated objects: ``<prompt>/<seed>/rgb_<n>.png`` is the view ``<seed>-<n>`` of the scene ``<prompt>``, n without leading
  zeros; ``normal_<n>.png`` beside it are its normals, ``prompts.json`` says what the prompts are, and ``cameras.json`` where
  the views are taken from.
"""

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from submissions.kinds import Family

EXPLAINS = (".txt", ".md", ".rst", ".pdf", ".log")
_PREDICTED = "color"  # NerfBaselines' folder of images
_RENDERED, _TRAINING = "renders", "train"  # folders of 3D Gaussian Splatting
_OTHER_OUTPUTS = ("gt-color", "depth", "accumulation", "normal", "gt")
_NOTES = ("info.json", "prompts.json", "results.json", "cameras.json")
_GENERATED = re.compile(r"rgb_(\d{1,6})")
_NORMALS = re.compile(r"normal_\d{1,6}")
# Pictures of Blender beside its frames.
_PASS = re.compile(r"(?:.+_)?(?:depth|normals?|albedo|alpha|mist)_?\d{1,6}|.+_(?:depth|normals?|albedo|alpha|mist)", re.IGNORECASE)


def item_of(family: Family, name: str, ids: Collection[str]) -> str | None:
    """The item that the file ``name`` is of, by its name alone."""
    path = PurePosixPath(name)
    if not family.grouped:
        return path.stem if path.stem in ids else None
    scenes = {item.partition("/")[0] for item in ids}
    *folders, _ = path.parts
    stem = path.stem
    # The ids that the file could be of, the plainest reading first.
    candidates = [f"{folders[-1]}/{stem}"] if folders else []
    generated = _GENERATED.fullmatch(stem)
    if generated and len(folders) > 1:
        candidates.append(f"{folders[-2]}/{folders[-1]}-{int(generated[1])}")
    if _PREDICTED in folders:
        at = len(folders) - 1 - folders[::-1].index(_PREDICTED)
        candidates += [f"{folders[at - 1]}/{stem}"] if at else []
        if len(scenes) == 1:
            candidates += [f"{scene}/{stem}" for scene in scenes]
    if _RENDERED in folders:
        # A scene may be called "train" too, so the outermost folder that is a scene's is the scene's.
        at = len(folders) - 1 - folders[::-1].index(_RENDERED)
        first = next((n for n, folder in enumerate(folders[:at]) if folder in scenes), -1)
        if _TRAINING not in folders[first + 1 : at]:
            candidates += [f"{folders[first]}/{stem}"] if first >= 0 else [f"{scene}/{stem}" for scene in scenes if len(scenes) == 1]
    if len(scenes) == 1 and len(folders) <= 1 and not {*folders} & {*_OTHER_OUTPUTS}:
        candidates += [f"{scene}/{stem}" for scene in scenes]
    return next((item for item in candidates if item in ids), None)


def is_companion(family: Family, name: str) -> bool:
    """Return whether a file may stand beside the items' own without being one: texts that explain, and what goes with them."""
    path = PurePosixPath(name)
    if path.suffix.lower() in (*EXPLAINS, *family.companions) or path.stem.upper() in ("README", "LICENSE"):
        return True
    training = {_RENDERED, _TRAINING} <= {*path.parts[:-1]}
    return family.grouped and (is_silent(family, name) or training or bool(_PASS.fullmatch(path.stem)))


def is_silent(family: Family, name: str) -> bool:
    """Return whether a companion is so usual that nobody needs to be told that it was not read."""
    path = PurePosixPath(name)
    if not family.grouped:
        return path.suffix.lower() in family.companions
    return path.name in _NOTES or bool({*path.parts[:-1]} & {*_OTHER_OUTPUTS}) or bool(_NORMALS.fullmatch(path.stem))


def normals_of(name: str) -> str:
    """Name of the file for the normals of a generated object's image; empty for another file."""
    path = PurePosixPath(name)
    found = _GENERATED.fullmatch(path.stem)
    return str(path.with_name(f"normal_{found[1]}{path.suffix}")) if found else ""

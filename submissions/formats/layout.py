"""Assignment of an upload's files to items, by the names of files and folders.

The file of a wireframe or a mesh is named after its item and may lie in any folder.

The item of a render is ``<scene>/<view>``. Its file may be written in one of these layouts:

=================================  ==========================================  ==================================================
written by                         file of the item ``<scene>/<view>``         files that are ignored
=================================  ==========================================  ==================================================
hand, or any program               ``<scene>/<view>.png``
Blender                            ``<scene>/<view>.png``                      ``<view>_depth_0001.png``, ``<view>_normal_0001.png``
                                                                               and other passes of the frame
NerfBaselines                      ``<scene>/color/<view>.png``                ``gt-color/``, ``info.json`` and other outputs
3D Gaussian Splatting              ``<scene>/test/ours_30000/renders/``        ``gt/``, and renders of the training views in
                                   ``<view>.png``; folders between the scene   ``train/``
                                   and ``renders`` may have other names
programs that generate objects     ``<prompt>/<seed>/rgb_<n>.png`` is          ``prompts.json`` and ``cameras.json``
                                   the view ``<seed>-<n>`` of the scene
                                   ``<prompt>``, n without leading zeros
=================================  ==========================================  ==================================================

A phase with one scene needs no folder of the scene: ``<view>.png`` is enough, alone or in a folder of any name. Beside a generated
object's ``rgb_<n>.png``, ``normal_<n>.png`` is read as its normals.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from submissions.kinds import Family

EXPLAINS = (".txt", ".md", ".rst", ".pdf", ".log")
_PREDICTED = "color"  # NerfBaselines' folder of images
_RENDERED, _TRAINING = "renders", "train"  # folders of 3D Gaussian Splatting
_OTHER_OUTPUTS = ("gt-color", "depth", "accumulation", "normal", "gt")
_NOTES = ("info.json", "prompts.json", "results.json", "cameras.json")
_GENERATED = re.compile(r"rgb_(\d{1,6})")
_NORMALS = re.compile(r"normal_\d{1,6}")
# Pictures of Blender beside its frames: the frame's name, what the picture shows, and a number.
_PASS = re.compile(r"(?:(.+)_)?(?:depth|normals?|albedo|alpha|mist)_?\d{1,6}|(.+)_(?:depth|normals?|albedo|alpha|mist)", re.IGNORECASE)


def item_of(family: Family, name: str, ids: Collection[str]) -> str | None:
    """Return the item, among ``ids``, to which the file ``name`` belongs; None where it belongs to none."""
    path = PurePosixPath(name)
    folders, candidates = path.parts[:-1], [path.stem]
    if family.grouped:
        candidates = [f"{scene}/{path.stem}" for scene in _scenes(folders, {item.partition("/")[0] for item in ids})]
        if len(folders) > 1 and (generated := _GENERATED.fullmatch(path.stem)):
            candidates.insert(1, f"{folders[-2]}/{folders[-1]}-{int(generated[1])}")
    return next((item for item in candidates if item in ids), None)


def _scenes(folders: tuple[str, ...], scenes: set[str]) -> Iterator[str]:
    """The scenes to which a file in these folders could belong, the plainest reading first."""
    yield from folders[-1:]
    only = list(scenes) if len(scenes) == 1 else []
    at = {folder: n for n, folder in enumerate(folders)}  # the innermost of each name
    if _PREDICTED in at:
        yield from (*folders[: at[_PREDICTED]][-1:], *only)
    if _RENDERED in at:
        # A scene may be called "train" too, so the outermost folder that is a scene's is the scene's.
        above = folders[: at[_RENDERED]]
        first = next((n for n, folder in enumerate(above) if folder in scenes), -1)
        if _TRAINING not in above[first + 1 :]:
            yield from only if first < 0 else above[first : first + 1]
    if len(folders) <= 1 and not {*folders} & {*_OTHER_OUTPUTS}:
        yield from only


def is_companion(family: Family, name: str) -> bool:
    """Return whether a file that belongs to no item is ignored instead of refused: a text that explains, a texture, another output of the
    program that wrote the entry."""
    path = PurePosixPath(name)
    if path.suffix.lower() in (*EXPLAINS, *family.companions) or path.stem.upper() in ("README", "LICENSE"):
        return True
    training = {_RENDERED, _TRAINING} <= {*path.parts[:-1]}
    return family.grouped and (is_silent(family, name) or training or bool(_PASS.fullmatch(path.stem)))


def is_silent(family: Family, name: str) -> bool:
    """Return whether a companion is so common that no note says that it was not read."""
    path = PurePosixPath(name)
    if not family.grouped:
        return path.suffix.lower() in family.companions
    return path.name in _NOTES or bool({*path.parts[:-1]} & {*_OTHER_OUTPUTS}) or bool(_NORMALS.fullmatch(path.stem))


def frame_of(name: str) -> str:
    """Return the frame beside which Blender writes the picture ``name``: r_0 for r_0_depth_0001. Empty for other names."""
    found = _PASS.fullmatch(name)
    return (found[1] or found[2] or "") if found else ""


def normals_of(name: str) -> str:
    """Return the name of the file with the normals of the image ``name`` of a generated object; empty for other files."""
    path = PurePosixPath(name)
    found = _GENERATED.fullmatch(path.stem)
    return str(path.with_name(f"normal_{found[1]}{path.suffix}")) if found else ""

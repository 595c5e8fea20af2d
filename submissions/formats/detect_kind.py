"""A guess at the kind of entry that files hold, where no manifest or metric says it. The suffixes decide; OBJ files of wireframes and
meshes differ in their records."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from submissions.formats.archive import open_package
from submissions.formats.render.folder import PROMPTS, ROIS, VIEWS
from submissions.formats.wrong_kind import FACE, LINE
from submissions.kinds import FAMILIES, MESH, RENDER, WIREFRAME, Family


def family_of(paths: Iterable[Path]) -> Family:
    """Return the kind of most files in the first of ``paths`` that has any recognisable file; wireframes where there is none.

    Raises ``FormatError`` where a path is no readable package.
    """
    for path in paths:
        votes: Counter[str] = Counter()
        with open_package(path) as package:
            for file in package.files:
                path_inside = PurePosixPath(file.name)
                kinds = [family.key for family in FAMILIES.values() if path_inside.suffix.lower() in family.singles]
                if len(kinds) == 1 and path_inside.name not in (ROIS, VIEWS, PROMPTS):  # these are allowed beside views
                    votes[kinds[0]] += 1
            if not votes.keys() - {RENDER.key}:  # images may be the textures of meshes, whose OBJ tells nothing by its name
                files = [file.name for file in package.files if file.name.lower().endswith(".obj")]
                for name in files[:10]:
                    data = package.read(name)
                    # A wireframe's OBJ may carry faces, which it does not read; a mesh's seldom carries lines.
                    if LINE.search(data):
                        votes[WIREFRAME.key] += 1
                    elif FACE.search(data):
                        votes[MESH.key] += 1
        if len(votes) > 1:
            del votes[RENDER.key]
        if votes:
            return FAMILIES[votes.most_common(1)[0][0]]
    return WIREFRAME

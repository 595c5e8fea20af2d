"""Check an entry on one's own machine, with the verdict of the server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from submissions.manifest import Manifest

if TYPE_CHECKING:
    from submissions.validation import Verdict


def check(path: str | Path, manifest: str | Path | Manifest) -> Verdict:
    """The server's verdict on a zip archive, a folder or a file: `accepted`, `problems`, `warnings`, `missing` and the read `items`.

    `manifest` is the phase's, or the path of its file. Raises `submissions.manifest.ManifestError`, and OSError where a file is not there.
    """
    from submissions.validation import validate  # loads numpy, which who imports the package may not need

    read = manifest if isinstance(manifest, Manifest) else Manifest.from_json(Path(manifest).read_bytes())
    return validate(Path(path), read, own_machine=True)

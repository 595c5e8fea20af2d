"""Check and score on one's own machine, with the verdict and the numbers of the server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from submissions.manifest import Manifest

if TYPE_CHECKING:
    from evaluation.local import Outcome
    from submissions.validation import Verdict


def check(path: str | Path, manifest: str | Path | Manifest) -> Verdict:
    """The server's verdict on a zip archive, a folder or a file: `accepted`, `problems`, `warnings`, `missing` and the read `items`.

    `manifest` is the phase's, or the path of its file. Raises `submissions.manifest.ManifestError`, and OSError where a file is not there.
    """
    from submissions.validation import validate

    read = manifest if isinstance(manifest, Manifest) else Manifest.from_json(Path(manifest).read_bytes())
    return validate(Path(path), read, own_machine=True)


def score(
    prediction: str | Path,
    reference: str | Path,
    metrics: Sequence[str] = (),
    params: Sequence[str] = (),
    manifest: str | Path | None = None,
) -> Outcome:
    """Score files, folders or zips as the server does: `scores` by slug, `table()` as text, `to_dict()` as plain values.

    `metrics` are KEY or KEY:SLUG, `params` KEY.NAME=VALUE; a manifest gives the phase's. Raises `evaluation.local.CannotScore`.
    """
    from evaluation import local

    return local.score(Path(prediction), Path(reference), metrics, params, None if manifest is None else Path(manifest))

"""A small published set with its manifest, and the same with one thing changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leaderboard.evidence import manifest as manifests
from leaderboard.evidence import reading
from leaderboard.evidence.manifest import Manifest
from leaderboard.evidence.reading import Reading
from submissions.formats.spreadsheet import read_sheet

MANIFEST = f"""\
evidence: 1
name: small
title: A small set
authors: A. Author
source: {{repository: https://github.com/example/small, commit: {"ab" * 20}}}
licence: {{stated: none}}
material: pictures
files:
  - {{id: all, path: data/Results.csv, sha256: {"0" * 64}, bytes: 10}}
judgements:
  - file: all
    item: "{{Scene}} path {{Path}}"
    group: Scene
    entry: "{{Codec}} {{Rate}}"
    family: Codec
    score: "Subject_*"
    raters: columns
    scale: [1, 5]
    better: higher
metrics:
  - file: all
    columns:
      PSNR_Y: {{name: psnr-y, better: higher}}
      LPIPS: {{name: lpips, better: lower}}
labels:
  - {{where: {{Codec: REF}}, label: reference}}
"""
HEAD = "Scene,Path,Codec,Rate,Subject_1,Subject_2,Subject_3,PSNR_Y,LPIPS"
ROWS = (
    "bicycle,1,ContextGS,R01,1,2,,20.5,0.5",
    "bicycle,1,ContextGS,R02,3,4,5,25.5,0.25",
    "bicycle,1,HAC,R01,2,2,3,22,0.375",
    "garden,1,ContextGS,R01,1,1,2,21,0.4",
    "garden,1,HAC,R01,4,3,5,26,0.2",
    "garden,1,REF,0,5,5,5,99,0",
)
TABLE = "\n".join((HEAD, *ROWS)) + "\n"
Changes = Sequence[tuple[str, str]]


def changed(text: str, changes: Changes) -> str:
    """The text with each change made once; a change that finds nothing to change is a mistake of the test."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def manifest_of(changes: Changes = (), text: str = MANIFEST) -> Manifest:
    return manifests.parse(changed(text, changes).encode())


def read(folder: Path, changes: Changes = (), table: str = TABLE, text: str = MANIFEST) -> Reading:
    """The set whose only file holds this table."""
    manifest = manifest_of(changes, text)
    (folder / manifest.files[0].name).write_text(table)
    return reading.read(manifest, folder, read_sheet)

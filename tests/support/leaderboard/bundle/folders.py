"""Bundles on disk for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

from submissions.formats.wireframe.wireframe_files import write_json, write_obj
from tests.support.factories import gables

SMALL = """\
slug: roofs
title: Roofs
phases:
  - slug: final
    title: Final
    opens_at: 2026-01-01T00:00
    time_zone: Europe/Prague
    metrics:
      - key: corner_f1
    reference:
      path: reference
"""

WHOLE = """\
slug: roofs
title: "Roofs of Tallinn"
summary: Wireframes of roofs from points.
description_file: texts/description.md
rules_file: texts/rules.md
rules_version: 1.10
visibility: private
admitted_emails: [Ann@Example.org, bo@example.org]
needs_approval: yes
team_size: 4
simulated: true
organizers: [organizer, second@example.org]
announcements:
  - title: Welcome
    published_at: 2026-01-05T12:00
    body: |
      The data is there.

      Have fun.
inputs:
  - path: inputs/points.zip
    title: Points of all roofs
phases:
  - slug: warm-up
    title: Warm-up
    opens_at: 2026-01-01T00:00
    closes_at: 2026-02-01T00:00
    reference_access: public
    metrics:
      - key: corner_f1
    reference: {path: reference}
  - slug: final
    title: Final
    description: "Counts."
    parent: warm-up
    time_zone: Europe/Prague
    opens_at: 2026-03-01T09:00
    closes_at: 2026-12-14T23:59
    limit_per_day: 3
    limit_total: 30
    limit_at_once: 2
    board: frozen
    board_at: 2026-12-01T00:00
    entries: chosen
    ranking: weighted
    withhold_scores: true
    withhold_items: true
    missing: worst
    size_factor: 5
    max_archive_bytes: 20_000_000
    unit: cm
    unit_scale: 0.01
    metrics:
      - key: ecd_chamfer
        params: {n: 2000, one_sided: off, merge_tol: 0.05}
        weight: 2
      - key: corner_f1
        slug: corner_f1@25
        title: Corner F1 at 25 cm
        params: {tau: 0.25}
        primary: true
      - key: hss
        in_ranking: false
    reference:
      path: reference
      note: First survey
      groups: {house_01: north, house_02: north}
    inputs:
      - path: inputs/points.zip
        name: final points.zip
    examples:
      - path: inputs/example.zip
"""


def write_bundle(folder: Path, text: str = SMALL, n: int = 3) -> Path:
    """`challenge.yaml` with `text`, and every file that SMALL and WHOLE name."""
    for name in ("reference", "texts", "inputs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number, (name, item) in enumerate(gables(n).items()):
        data, suffix = (write_obj(item), "obj") if number % 2 else (write_json(item), "json")
        (folder / "reference" / f"{name}.{suffix}").write_bytes(data)
    (folder / "texts" / "description.md").write_text("# Roofs\n\nMany of them.\n")
    (folder / "texts" / "rules.md").write_text("Be fair.\n")
    (folder / "inputs" / "points.zip").write_bytes(b"points")
    (folder / "inputs" / "example.zip").write_bytes(b"example")
    (folder / "challenge.yaml").write_text(text)
    return folder

"""The demo "Rooflines": wireframes of procedural houses, and what simulated teams hand in for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evaluation.properties.corruptions import corrupt
from evaluation.synthetic.houses import houses
from evaluation.synthetic.simplified import bounding_box, convex_hull, jittered, merged, sampled_points, shortest_dropped
from leaderboard.demo.story import PRACTICE, Damage, Demo, Entry, Taste, each, points_of, simulated
from submissions.formats.wireframe.wireframe_files import Wireframe, write_npz, write_obj

SLUG, PHASE = "rooflines", "practice"
N_HOUSES, SEED = 24, 2026
POINTS, POINT_NOISE = 1500, 0.05  # points a house, metres


def references() -> dict[str, dict[str, Wireframe]]:
    """The houses of the two phases."""
    return {PHASE: houses(N_HOUSES, seed=SEED), "final": houses(N_HOUSES, seed=SEED + 1)}


def points(house: Wireframe, position: int) -> np.ndarray:
    """float64[N, 3]: points on the edges of a house, with noise, in metres."""
    return sampled_points(house, POINTS, POINT_NOISE, seed=position)


def _corrupted(kind: str, level: str, seed: int) -> Callable[[str, Wireframe], Wireframe]:
    return lambda name, source: corrupt(source, kind, level, seed=seed, sample_id=name)


def _jitter(sigma: float, seed: int) -> Callable[[str, Wireframe], Wireframe]:
    return lambda name, source: jittered(source, sigma, seed + sum(name.encode()))


def broken_file(source: Wireframe) -> bytes:
    """An OBJ whose last edge names a vertex that is not there: an upload that is rejected."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in source.vertices.tolist()]
    lines += [f"l {a + 1} {b + 1}" for a, b in source.edges.tolist()]
    return "\n".join([*lines, f"l 1 {len(source.vertices) + 7}", ""]).encode()


_SENT = (
    Entry("olga", "bounding box", "Simulated: the axis-parallel box around each reference.", lambda _, s: bounding_box(s), baseline=True),
    Entry("olga", "convex hull", "Simulated: the convex hull of each reference's vertices.", lambda _, s: convex_hull(s), baseline=True),
    Entry("ada", "gable-net v1", "Simulated: vertices doubled and moved (perturb, high).", _corrupted("perturb", "high", 1)),
    Entry("ben", "pc-to-edges", "Simulated: a quarter of the edges left out (remove, med).", _corrupted("remove", "med", 2)),
    Entry("cleo", "line-transformer", "Simulated: edges bent (deform, high).", _corrupted("deform", "high", 3)),
    Entry("dan", "sketch-0", "Simulated: vertices nearer than 3 m merged.", lambda _, s: merged(s, 3.0)),
    Entry("ada", "gable-net v2", "Simulated: vertices moved by 25 cm of noise.", _jitter(0.25, 4)),
    Entry("ben", "pc-to-edges, denoised", "Simulated: the shortest tenth of the edges left out.", lambda _, s: shortest_dropped(s, 0.1)),
    Entry("cleo", "line-transformer XL", "Simulated: spurious edges added (add, low).", _corrupted("add", "low", 5)),
    Entry("dan", "sketch-1", "Simulated: 18 cm of noise; two houses are missing.", _jitter(0.18, 6), leave_out=(3, 11)),
    Entry("ada", "gable-net v3", "Simulated: vertices moved by 15 cm of noise.", _jitter(0.15, 7)),
    Entry("cleo", "line-transformer, wrong upload", "Simulated: withdrawn by its team.", _jitter(1.0, 8), withdraw=True),
    Entry("dan", "sketch-2, broken file", "Simulated: an edge names a vertex that is not there.", lambda _, s: s, breaks=broken_file),
)
CARDS = {  # parameters and seconds a house of some methods, simulated
    "gable-net v1": ("12M", "0.3"),
    "pc-to-edges": ("3.1M", "0.08"),
    "line-transformer": ("48M", "1.1"),
    "gable-net v2": ("19M", "0.35"),
    "pc-to-edges, denoised": ("3.1M", "0.1"),
    "line-transformer XL": ("310M", "4.2"),
    "gable-net v3": ("38M", "0.4"),
}
ENTRIES = tuple(
    replace(
        entry, card=("--parameters", CARDS[entry.method][0], "--run-seconds", CARDS[entry.method][1], "--hardware", "one GPU, simulated")
    )
    if entry.method in CARDS
    else entry
    for entry in _SENT
)
DAMAGES = {
    "bounding box": Damage("simplified", 0.8),
    "convex hull": Damage("simplified", 0.6),
    "gable-net v1": Damage("doubled", 0.5),
    "pc-to-edges": Damage("missing", 0.5),
    "line-transformer": Damage("bent", 0.6),
    "sketch-0": Damage("simplified", 0.5),
    "gable-net v2": Damage("moved", 0.4),
    "pc-to-edges, denoised": Damage("missing", 0.25),
    "line-transformer XL": Damage("extra", 0.25),
    "sketch-1": Damage("moved", 0.32),
    "gable-net v3": Damage("moved", 0.26),
}
# One group of raters wants all of a house to be there, the other nothing wrong in it.
TASTES = (
    Taste("dislike missing lines", 6, {"missing": 1.25, "simplified": 1.15, "extra": 0.7, "doubled": 0.75, "bent": 0.85}),
    Taste("dislike extra lines", 6, {"missing": 0.75, "simplified": 0.95, "extra": 1.35, "doubled": 1.2, "bent": 1.15}),
)


METRICS = """\
    metrics:
      - {key: corner_f1, primary: true}
      - {key: edge_f1}
      - {key: hss}
      - {key: jaccard_distance}
      - {key: ecd_chamfer}
      - {key: wf_hausdorff, in_ranking: false}
      - {key: corner_precision, in_ranking: false}
      - {key: corner_recall, in_ranking: false}
      - {key: corner_offset, in_ranking: false}
      - {key: edge_precision, in_ranking: false}
      - {key: edge_recall, in_ranking: false}
"""

YAML = f"""\
slug: {SLUG}
title: Rooflines
summary: Wireframes of {N_HOUSES} procedural houses. Houses, teams and entries are simulated; the scores are computed here.
{simulated("wireframe", "houses", "one wireframe a house, in metres", "house", tags="roofs, outdoor")}
description: |
  Reconstruct the wireframe of each house from its points: the corners as vertices, the lines where
  two faces meet as edges. The {N_HOUSES} houses of each phase are gable, hip, L-shaped and dormer
  ones, made by a seeded procedure. A program made the entries by damaging or simplifying their
  references. They were uploaded and scored like any other entry.
pages:
  - slug: faq
    title: FAQ
    body: |
      ### Does a rejected upload count?

      No. Rejected, failed and cancelled uploads use up none of your uploads.

      ### What if I leave a house out?

      In *Practice* the house gets the worst value of each metric. In *Final* the upload is rejected.

      ### Which corner matches which?

      A corner matches one corner of the reference at most. Each metric's page says how near the two must be.
announcements:
  - title: The practice phase is open
    published_at: 2026-01-02T09:00
    body: The references of the practice phase are public. You can see every entry in 3D, drawn over each house.
phases:
  - slug: {PHASE}
{PRACTICE}
    unit: m
{METRICS}
    reference: {{path: {PHASE}}}
    inputs:
      - {{path: {PHASE}-points.zip, title: "Points of the {N_HOUSES} practice houses (NPZ, metres)"}}
  - slug: final
    title: Final
    description: Other houses, hidden references, one board position a team.
    opens_at: 2026-01-02T09:00
    closes_at: 2099-12-31T23:59
    time_zone: Europe/Prague
    parent: {PHASE}
    limit_per_day: 3
    limit_total: 30
    board: live
    entries: best
    ranking: mean_rank
    reference_access: hidden
    missing: reject
    unit: m
{METRICS}
    reference: {{path: final}}
    inputs:
      - {{path: final-points.zip, title: "Points of the {N_HOUSES} final houses (NPZ, metres)"}}
"""

DEMO = Demo(
    SLUG,
    PHASE,
    YAML,
    references,
    points_of(points),
    each("npz", write_npz),
    each("obj", write_obj),
    ENTRIES,
    people=("ada", "ben", "cleo", "dan", "olga"),
    damages=DAMAGES,
    asks=True,
)

"""Drawn examples of where wireframe metrics go wrong (see `weaknesses`). Lengths in metres."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from submissions.formats.arrays import Wireframe


def _frame(vertices: ArrayLike, edges: ArrayLike, score: Sequence[float] | None = None) -> Wireframe:
    return Wireframe(
        np.array(vertices, dtype=np.float64).reshape(-1, 3),
        np.array(edges, dtype=np.int64).reshape(-1, 2),
        None if score is None else np.array(score, dtype=np.float64),
    )


def _without(frame: Wireframe, *edges: int) -> Wireframe:
    return Wireframe(frame.vertices, np.delete(frame.edges, edges, axis=0))


def _moved(frame: Wireframe, *by: float) -> Wireframe:
    return Wireframe(frame.vertices + np.array(by), frame.edges)


def _with_edges(frame: Wireframe, edges: Sequence[tuple[int, int]]) -> Wireframe:
    return Wireframe(frame.vertices, np.concatenate([frame.edges, np.array(edges, dtype=np.int64)]))


def _joined(*frames: Wireframe) -> Wireframe:
    starts = np.cumsum([0, *(len(frame.vertices) for frame in frames[:-1])])
    edges = [frame.edges + start for frame, start in zip(frames, starts, strict=True)]
    return Wireframe(np.concatenate([frame.vertices for frame in frames]), np.concatenate(edges))


def _apart(frame: Wireframe) -> Wireframe:
    """The same lines, with corners of its own for every edge."""
    return Wireframe(frame.vertices[frame.edges].reshape(-1, 3), np.arange(2 * len(frame.edges)).reshape(-1, 2))


def _split(frame: Wireframe) -> Wireframe:
    """The same lines, every edge cut in the middle."""
    vertices = [*frame.vertices]
    edges: list[tuple[int, int]] = []
    for a, b in frame.edges:
        edges += [(a, len(vertices)), (len(vertices), b)]
        vertices.append(frame.vertices[a] + 0.5 * (frame.vertices[b] - frame.vertices[a]))
    return _frame(vertices, edges)


def _turned_square(x: float, degrees: float, side: float) -> Wireframe:
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    flat = side / 2 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) @ np.array([[cos, sin], [-sin, cos]])
    return _frame([(x + a, b, 0) for a, b in flat], [(0, 1), (1, 2), (2, 3), (3, 0)])


SQUARE = _frame([(0, 0, 0), (4, 0, 0), (4, 3, 0), (0, 3, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)])
HOUSE = _frame(
    [(0, 0, 0), (8, 0, 0), (8, 6, 0), (0, 6, 0), (0, 0, 3), (8, 0, 3), (8, 6, 3), (0, 6, 3), (0, 3, 5), (8, 3, 5)],
    [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 0),
        (4, 5),
        (5, 6),
        (6, 7),
        (7, 4),
        (0, 4),
        (1, 5),
        (2, 6),
        (3, 7),
        (4, 8),
        (7, 8),
        (5, 9),
        (6, 9),
        (8, 9),
    ],
)
BLANK = _frame(HOUSE.vertices, [])
TANGLED = _frame(HOUSE.vertices, [(0, 6), (1, 7), (2, 4), (3, 5), (0, 2), (1, 3), (4, 6), (5, 7), (0, 9), (1, 8), (2, 8), (3, 9)])
ALL_EDGES = _frame(HOUSE.vertices, [(a, b) for a in range(10) for b in range(a + 1, 10)])
NEARLY = _moved(HOUSE, 0.49, 0, 0)
BEYOND = _moved(HOUSE, 0.51, 0, 0)
FAR = _moved(HOUSE, 40, 0, 0)
# Three corners near three others, where the smallest total distance pairs them the wrong way.
CLOSE_CORNERS = _frame([(1.2, 0.7, 0), (0.8, 1.8, 0), (0.5, 1.2, 0)], [(0, 1), (1, 2)])
FOUND_CORNERS = _frame([(1.9, 0.7, 0), (1, 1.8, 0), (1.1, 0.6, 0)], [(0, 1), (1, 2)])
TWO_SQUARES = _joined(_turned_square(0, 0, 4), _turned_square(12, 45, 4))
STAR = _frame(0.1 * np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]), list(combinations(range(6), 2)))
SCRIBBLED = _joined(SQUARE, *(_moved(STAR, *corner) for corner in SQUARE.vertices))
LEANING = _frame([(0, 0, 0), (4, 0, 0), (6.4, 1.8, 0), (2.4, 1.8, 0)], SQUARE.edges)
FOLDED = _frame([(0, 0, 0), (4, 0, 0), (4, 0, 3), (0, 0, 3)], SQUARE.edges)
SPLIT_ONCE = _frame([(0, 0, 0), (2, 0, 0), (4, 0, 0), (4, 3, 0), (0, 3, 0)], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
THREE_SIDES = _without(SQUARE, 3)
SPECK = _joined(HOUSE, _frame([(30, 30, 0), (30.1, 30, 0)], [(0, 1)]))
ONE_CORNER_FAR = _frame([(0, 0, 0), (4, 0, 0), (4, 3, 0), (-20, 3, 0)], SQUARE.edges)
ONE_CORNER_LESS = _frame([(0, 0, 0), (4, 0, 0), (4, 3, 0)], [(0, 1), (1, 2)])
LOOSE_POINTS = _joined(HOUSE, _frame([(x, y, 8) for x in range(0, 9, 2) for y in range(0, 7, 2)], []))
ONE_CORNER_RIGHT = _frame([(0, 0, 0), (20, 0, 0), (20, 15, 0)], [(0, 1), (1, 2)])
ALL_CORNERS_OFF = _moved(SQUARE, 0, 0, 0.2)
TWO_HOUSES = _joined(HOUSE, _moved(HOUSE, 20, 0, 0))
SCORED = _frame([*SQUARE.vertices, (2, 6, 0)], [*map(tuple, SQUARE.edges), (2, 4)], (0.9, 0.9, 0.9, 0.9, 0.1))
WRONG_FIRST = _frame(SCORED.vertices, [*map(tuple, SCORED.edges)], (0.5, 0.5, 0.5, 0.5, 0.9))

Example = tuple[str, str, Any, tuple[tuple[str, Any], ...]]

EDGES_UNSEEN: Example = (
    "The metric does not look at edges",
    "In both entries all corners are right and no edge is. The metric gives {0:.2f} and {1:.2f}.",
    HOUSE,
    (("no edges", BLANK), ("wrong edges", TANGLED)),
)
CLIFF: Example = (
    "A difference of two centimetres decides the score",
    "Both entries are the right house, moved a little. Moved by 0.49 m, the house scores {0:.2f}; moved by 0.51 m, {1:.2f}.",
    HOUSE,
    (("moved 0.49 m", NEARLY), ("moved 0.51 m", BEYOND)),
)
LOST_HITS: Example = (
    "The matching can lose hits",
    "Two corners could be matched within the threshold, but the matching of least total distance matches fewer: the score is {0:.2f}.",
    CLOSE_CORNERS,
    (("three corners", FOUND_CORNERS),),
)
CUT: Example = (
    "Cutting edges in two worsens the score, though nothing moves",
    "Each edge is cut in two, so every line is still in its place and people see no difference. The score is {0:.2f}.",
    SQUARE,
    (("each edge in two", _split(SQUARE)),),
)
FAR_IS_FAR: Example = (
    "Near is as bad as far away",
    "One entry is a house moved by 2.4 m, which is nearly right to people; the other is moved by 40 m. The metric gives {0:.2f} and "
    "{1:.2f}.",
    HOUSE,
    (("moved 2.4 m", _moved(HOUSE, 1.3, 1.4, 1.5)), ("moved 40 m", FAR)),
)
CONNECTION_UNSEEN: Example = (
    "The metric does not see what is connected",
    "No two edges of this entry share a corner, so the entry has no faces and no roof. The lines are in the right place, so "
    "the metric gives {0:.2f}.",
    HOUSE,
    (("nothing connected", _apart(HOUSE)),),
)
SPLIT_OR_LOST: Example = (
    "A needless corner can cost more than a lost edge",
    "One entry has an edge cut in two, which does not change the drawing; the other lacks an edge. The metric gives {0:.2f} and {1:.2f}.",
    SQUARE,
    (("an edge cut in two", SPLIT_ONCE), ("an edge left out", THREE_SIDES)),
)
WORSE_THAN_NOTHING: Example = (
    "Handing in nothing can be better",
    "An entry with all corners, all right edges and many wrong edges gets {0:.2f}; an empty entry gets {1:.2f}.",
    HOUSE,
    (("every pair joined", ALL_EDGES), ("nothing", _frame([], []))),
)
STRAY_MATCHED: Example = (
    "A stray corner is dragged across",
    "The metric must match every corner, so a stray corner 20 m away is worse than none: {0:.2f} with the stray corner, {1:.2f} without.",
    SQUARE,
    (("one corner 20 m off", ONE_CORNER_FAR), ("that corner left out", ONE_CORNER_LESS)),
)
POSE_UNSEEN: Example = (
    "The metric does not see where anything is",
    "One entry is moved by 40 m; the other stands upright in place of flat. People call both wrong; the metric gives {0:.2f} and {1:.2f}.",
    SQUARE,
    (("moved 40 m", _moved(SQUARE, 40, 0, 0)), ("stood upright", FOLDED)),
)
SHEAR_UNSEEN: Example = (
    "The metric sees lengths, not angles",
    "The entry is a leaning parallelogram in place of the rectangle, with sides of the same lengths. The metric gives {0:.2f}.",
    SQUARE,
    (("leaning", LEANING),),
)
TILT: Example = (
    "The same mistake does not cost the same on a turned building",
    "The reference is two equal squares, one of them turned. An entry without an edge of the straight square scores {0:.3f}; one without "
    "an edge of the turned square, {1:.3f}.",
    TWO_SQUARES,
    (("straight square open", _without(TWO_SQUARES, 3)), ("turned square open", _without(TWO_SQUARES, 7))),
)
ONE_CORNER_ENOUGH: Example = (
    "One right corner is enough",
    "The entry is a single corner in the right place. Everything that the entry contains is right, so the score is {0:.2f}.",
    HOUSE,
    (("one corner", _frame(HOUSE.vertices[:1], [])),),
)
WRONG_CORNERS_FREE: Example = (
    "Any number of wrong corners is free",
    "The entry has twenty loose points above the roof, which are nonsense to people. It also has all right corners, so the score is "
    "{0:.2f}.",
    HOUSE,
    (("twenty loose points", LOOSE_POINTS),),
)
REWARDS_FINDING_LESS: Example = (
    "The metric rewards finding less",
    "Only matched corners are measured. One right corner among wrong corners gives {0:.2f} m; a whole outline moved by 20 cm gives "
    "{1:.2f} m.",
    SQUARE,
    (("one corner right", ONE_CORNER_RIGHT), ("all corners 20 cm off", ALL_CORNERS_OFF)),
)
OFFSETS_WITHOUT_EDGES: Example = (
    "The metric does not look at edges",
    "All corners are right and no edge is. The metric gives {0:.2f} m, its best value.",
    HOUSE,
    (("wrong edges", TANGLED),),
)
ONE_EDGE_ENOUGH: Example = (
    "One right edge is enough",
    "The entry is a single edge in the right place. Everything that the entry contains is right, so the score is {0:.2f}.",
    HOUSE,
    (("one edge", _without(HOUSE, *range(1, 17))),),
)
WRONG_EDGES_FREE: Example = (
    "Any number of wrong edges is free",
    "The entry joins every pair of corners, which people call a tangle. The tangle contains all right edges, so the score is {0:.2f}.",
    HOUSE,
    (("every pair joined", ALL_EDGES),),
)
FEW_WRONG_LONG_EDGES: Example = (
    "A few wrong long edges hide in the average",
    "One entry has two wrong diagonals across walls, a clear mistake; the other is the house moved by 0.5 m. The metric gives {0:.2f} m "
    "and {1:.2f} m.",
    HOUSE,
    (("two wrong diagonals", _with_edges(HOUSE, [(0, 5), (3, 6)])), ("moved 0.5 m", _moved(HOUSE, 0, 0.5, 0))),
)
MISSING_PARTS_PAID_BY_NEIGHBOURS: Example = (
    "A missing part makes other parts worse",
    "In one entry, four roof edges of the left house are missing. All points must be matched, so distances at the right house grow too: "
    "{0:.2f} m. An entry with both houses moved by 0.5 m gets {1:.2f} m.",
    TWO_HOUSES,
    (
        ("four edges of the left house missing", _without(TWO_HOUSES, 12, 13, 14, 15)),
        ("all moved 0.5 m", _moved(TWO_HOUSES, 0, 0.5, 0)),
    ),
)
WORST_POINT_DECIDES: Example = (
    "The worst point is all that counts",
    "A perfect house with a distant speck of 10 cm, which looks nearly perfect, gets {0:.1f} m; a tangle gets {1:.1f} m.",
    HOUSE,
    (("a speck far away", SPECK), ("wrong edges", TANGLED)),
)
WRONG_PLACE_WRONG_SIZE: Example = (
    "Wrong place and wrong size are forgiven",
    "The metric aligns the entry with the reference first. Moved by 40 m, the entry gets {0:.2f}; twice as large, {1:.2f}.",
    HOUSE,
    (("moved 40 m", FAR), ("twice as large", _frame(HOUSE.vertices * 2, HOUSE.edges))),
)
CLUTTER_AROUND_CORNER_COLLAPSES: Example = (
    "Clutter around a corner collapses for nothing",
    "An entry has sixty short wrong edges around the corners. All of them collapse and cost nothing, so this entry gets {0:.2f}; "
    "an entry with a single edge left out gets {1:.2f}.",
    SQUARE,
    (("sixty scribbled edges", SCRIBBLED), ("an edge left out", THREE_SIDES)),
)
LOOSE_CORNERS_FREE: Example = (
    "Loose corners are free",
    "The entry has twenty points above the roof that no edge uses, which are nonsense to people. The metric gives {0:.2f}, its best value.",
    HOUSE,
    (("twenty loose points", LOOSE_POINTS),),
)
SAME_DRAWING_TWO_SCORES: Example = (
    "The same drawing, two scores",
    "Both entries have the same edges, one of them wrong. If the wrong edge has the lowest confidence, the score is {0:.2f}; if it "
    "has the highest, {1:.2f}.",
    SQUARE,
    (("wrong edge rated lowest", SCORED), ("wrong edge rated highest", WRONG_FIRST)),
)
CUTTING_EDGES_TWO_COSTS: Example = (
    "Cutting edges in two worsens the score, though nothing moves",
    "Each edge is cut in two, so every line is still in its place and people see no difference. The score is {0:.2f}.",
    SQUARE,
    (("each edge in two", Wireframe(_split(SQUARE).vertices, _split(SQUARE).edges, np.ones(8))),),
)

"""Drawn examples of where wireframe metrics go wrong (see `weaknesses`). Lengths in metres."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
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


def _split(frame: Wireframe, pieces: int = 2) -> Wireframe:
    """The same lines, every edge cut into equal pieces."""
    vertices = [*frame.vertices]
    edges: list[tuple[int, int]] = []
    for a, b in frame.edges:
        cuts = [a, *range(len(vertices), len(vertices) + pieces - 1), b]
        vertices += [frame.vertices[a] + k / pieces * (frame.vertices[b] - frame.vertices[a]) for k in range(1, pieces)]
        edges += pairwise(cuts)
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
    "It does not look at edges",
    "All corners are right and no edge is. The metric says {0:.2f} and {1:.2f}.",
    HOUSE,
    (("no edges", BLANK), ("wrong edges", TANGLED)),
)
CLIFF: Example = (
    "Two centimetres decide everything",
    "Both entries are the right house, moved a little; moved by 0.49 m it scores {0:.2f}, moved by 0.51 m {1:.2f}, like an empty entry.",
    HOUSE,
    (("moved 0.49 m", NEARLY), ("moved 0.51 m", BEYOND)),
)
LOST_HITS: Example = (
    "The matching can lose hits",
    "Two corners could be paired within the threshold, but the pairing of least total distance keeps fewer: the score is {0:.2f}.",
    CLOSE_CORNERS,
    (("three corners", FOUND_CORNERS),),
)
CUT: Example = (
    "Cutting edges in two costs, though nothing moves",
    "Every line is where it should be, and people see no difference; with each edge cut in two the score is {0:.2f}.",
    SQUARE,
    (("each edge in two", _split(SQUARE)),),
)
FAR_IS_FAR: Example = (
    "Near is as bad as far away",
    "For people a house 2.4 m off is a near miss, a house 40 m off is not; the metric gives {0:.2f} and {1:.2f}.",
    HOUSE,
    (("moved 2.4 m", _moved(HOUSE, 1.3, 1.4, 1.5)), ("moved 40 m", FAR)),
)
CONNECTION_UNSEEN: Example = (
    "It does not see what is connected",
    "No two edges of this entry share a corner, so it has no faces and no roof; the lines are in the right place, and the "
    "metric gives {0:.2f}.",
    HOUSE,
    (("nothing connected", _apart(HOUSE)),),
)
SPLIT_OR_LOST: Example = (
    "A needless corner can cost more than a lost edge",
    "Cutting one edge in two does not change the drawing, leaving out an edge does; the metric charges {0:.2f} and {1:.2f}.",
    SQUARE,
    (("an edge cut in two", SPLIT_ONCE), ("an edge left out", THREE_SIDES)),
)
WORSE_THAN_NOTHING: Example = (
    "Handing in nothing can be better",
    "An entry with all corners, all right edges and many wrong ones costs {0:.2f}, an empty one {1:.2f}.",
    HOUSE,
    (("every pair joined", ALL_EDGES), ("nothing", _frame([], []))),
)
STRAY_MATCHED: Example = (
    "A stray corner is dragged across",
    "A corner 20 m off is worse than no corner to a metric that must pair them: {0:.2f} with the stray corner, {1:.2f} without it.",
    SQUARE,
    (("one corner 20 m off", ONE_CORNER_FAR), ("that corner left out", ONE_CORNER_LESS)),
)
POSE_UNSEEN: Example = (
    "It does not see where anything is",
    "Moved away by 40 m, or upright where it should be flat: people call both wrong, the metric gives {0:.2f} and {1:.2f}.",
    SQUARE,
    (("moved 40 m", _moved(SQUARE, 40, 0, 0)), ("stood upright", FOLDED)),
)
SHEAR_UNSEEN: Example = (
    "It sees lengths, not angles",
    "The rectangle has become a leaning parallelogram with sides of the same lengths, and the metric says {0:.2f}.",
    SQUARE,
    (("leaning", LEANING),),
)
TILT: Example = (
    "The same mistake does not cost the same on a turned building",
    "In both entries one of two equal squares lacks an edge; on the straight one the score is {0:.3f}, on the turned one {1:.3f}.",
    TWO_SQUARES,
    (("straight square open", _without(TWO_SQUARES, 3)), ("turned square open", _without(TWO_SQUARES, 7))),
)
ONE_CORNER_ENOUGH: Example = (
    "One right corner is enough",
    "A single corner in the right place is a poor entry; all that it claims is right, so the score is {0:.2f}.",
    HOUSE,
    (("one corner", _frame(HOUSE.vertices[:1], [])),),
)
WRONG_CORNERS_FREE: Example = (
    "Any number of wrong corners is free",
    "Twenty loose points above the roof are nonsense to people; all right corners are there, so the score is {0:.2f}.",
    HOUSE,
    (("twenty loose points", LOOSE_POINTS),),
)
REWARDS_FINDING_LESS: Example = (
    "It rewards finding less",
    "Only hits are measured: one right corner among wrong ones gives {0:.2f} m, a whole outline 20 cm off gives {1:.2f} m.",
    SQUARE,
    (("one corner right", ONE_CORNER_RIGHT), ("all corners 20 cm off", ALL_CORNERS_OFF)),
)
OFFSETS_WITHOUT_EDGES: Example = (
    "It does not look at edges",
    "All corners are right and no edge is. The metric says {0:.2f} m, its best.",
    HOUSE,
    (("wrong edges", TANGLED),),
)
ONE_EDGE_ENOUGH: Example = (
    "One right edge is enough",
    "A single edge in the right place is a poor entry; all that it claims is right, so the score is {0:.2f}.",
    HOUSE,
    (("one edge", _without(HOUSE, *range(1, 17))),),
)
WRONG_EDGES_FREE: Example = (
    "Any number of wrong edges is free",
    "Every pair of corners is joined, which people call a tangle; it contains all right edges, so the score is {0:.2f}.",
    HOUSE,
    (("every pair joined", ALL_EDGES),),
)
FEW_WRONG_LONG_EDGES: Example = (
    "A few wrong long edges hide in the average",
    "Two diagonals across the walls are a clear mistake, a shift of 0.5 m is hardly one; the metric gives {0:.2f} m and {1:.2f} m.",
    HOUSE,
    (("two wrong diagonals", _with_edges(HOUSE, [(0, 5), (3, 6)])), ("moved 0.5 m", _moved(HOUSE, 0, 0.5, 0))),
)
MISSING_PARTS_PAID_BY_NEIGHBOURS: Example = (
    "A missing part makes other parts worse",
    "Four roof edges of the left house are missing. As all points must be paired, the untouched right house pays as well: {0:.2f} m. Both "
    "houses moved by 0.5 m cost {1:.2f} m.",
    TWO_HOUSES,
    (
        ("four edges of the left house missing", _without(TWO_HOUSES, 12, 13, 14, 15)),
        ("all moved 0.5 m", _moved(TWO_HOUSES, 0, 0.5, 0)),
    ),
)
WORST_POINT_DECIDES: Example = (
    "The worst point is all that counts",
    "A perfect house with a distant speck of 10 cm looks nearly perfect and costs {0:.1f} m; a tangle costs {1:.1f} m.",
    HOUSE,
    (("a speck far away", SPECK), ("wrong edges", TANGLED)),
)
WRONG_PLACE_WRONG_SIZE: Example = (
    "Wrong place and wrong size are forgiven",
    "The entry is laid onto the reference before anything is measured: moved by 40 m it costs {0:.2f}, twice as large {1:.2f}.",
    HOUSE,
    (("moved 40 m", FAR), ("twice as large", _frame(HOUSE.vertices * 2, HOUSE.edges))),
)
CLUTTER_AROUND_CORNER_COLLAPSES: Example = (
    "Clutter around a corner collapses for nothing",
    "Sixty short wrong edges are scribbled around the corners; all collapse and none is charged: the entry costs {0:.2f}, "
    "one with a single edge left out {1:.2f}.",
    SQUARE,
    (("sixty scribbled edges", SCRIBBLED), ("an edge left out", THREE_SIDES)),
)
LOOSE_CORNERS_FREE: Example = (
    "Loose corners are free",
    "Twenty points above the roof that no edge uses are nonsense to people; the metric gives {0:.2f}, its best value.",
    HOUSE,
    (("twenty loose points", LOOSE_POINTS),),
)
SAME_DRAWING_TWO_SCORES: Example = (
    "The same drawing, two scores",
    "Both entries draw the same right edges and one wrong one; with that rated lowest the score is {0:.2f}, rated highest {1:.2f}.",
    SQUARE,
    (("wrong edge rated lowest", SCORED), ("wrong edge rated highest", WRONG_FIRST)),
)
CUTTING_EDGES_TWO_COSTS: Example = (
    "Cutting edges in two costs, though nothing moves",
    "Every line is where it should be, and people see no difference; with each edge cut in two the score is {0:.2f}.",
    SQUARE,
    (("each edge in two", Wireframe(_split(SQUARE).vertices, _split(SQUARE).edges, np.ones(8))),),
)

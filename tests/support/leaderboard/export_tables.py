"""A board to be written down, of two metrics and four entries."""

import csv
import io
import math

from leaderboard.exports.tables.table import Caption, Column, Row, Table
from tests.support.leaderboard.boards import column_of


def column(slug, *cells, higher=True, **changes):
    """A column of cells: value, both ends of the interval, rank and number of groups."""
    lists = zip(*(cell + (None,) * (5 - len(cell)) for cell in cells), strict=True)
    value, low, high, rank, n = map(list, lists) if cells else ([], [], [], [], [])
    changes = {"ci_low": low, "ci_high": high, "rank": rank, "n": [count or 0 for count in n]} | changes
    return Column(column_of(slug, value, higher, **changes))


CAPTION = Caption("Rooflines 2026", "Test phase", "7f3a", "2026-11-21T01:02Z", "https://example.org/s/7f3a")
HSS = ((0.61234, 0.584, 0.640, 1, 8), (0.597, None, None, 2), (0.9, 0.8, 1.0), (None,))
OFFSET = ((0.1, 0.0995, 0.1005, 2), (0.08, 0.07, 0.09, 1), (0.05,), (math.nan,))
COLUMNS = (
    column("hss", *HSS),
    column("corner_offset", *OFFSET, higher=False, title="Corner offset", unit="m"),
)
ROWS = (
    Row(0, 1, "gable-net v3", "Ridgeline", (1, 2)),
    Row(1, 2, "pc-to-edges", "TU Hillside", flags=("verified",)),
    Row(2, None, "hull", "Organizers", flags=("baseline",)),
    Row(3, None, "sketch", ""),
)
TABLE = Table(CAPTION, COLUMNS, ROWS)


def one_name(name, team="T"):
    """A table of one row, with such names."""
    return Table(CAPTION, (column("hss", (-0.5, -0.75, -0.25, 1), (-0.9, None, None, 2)),), (Row(0, 1, name, team),))


def read_csv(text):
    """The rows of a CSV file, by its header."""
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))

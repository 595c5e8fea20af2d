"""A board to be written down, of two metrics and four entries."""

import csv
import io
import math

from leaderboard.exports.tables.table import Caption, Column, Row, Table


def cell(value=None, low=None, high=None, rank=None, n=None):
    """A cell of the table; see `leaderboard.exports.tables.table.Cell`."""
    return value, low, high, rank, n


CAPTION = Caption("Rooflines 2026", "Test phase", "7f3a", "2026-11-21T01:02Z", "https://example.org/s/7f3a")
COLUMNS = (
    Column("hss", "HSS", True, ranks=(1, 2, None, None)),
    Column("corner_offset", "Corner offset", False, unit="m", ranks=(2, 1, None, None)),
)
ROWS = (
    Row(1, "gable-net v3", "Ridgeline", (cell(0.61234, 0.584, 0.640, 1, 8), cell(0.1, 0.0995, 0.1005, 2)), 1, 2),
    Row(2, "pc-to-edges", "TU Hillside", (cell(0.597, None, None, 2), cell(0.08, 0.07, 0.09, 1)), flags=("verified",)),
    Row(None, "hull", "Organizers", (cell(0.9, 0.8, 1.0), cell(0.05, None, None)), flags=("baseline",)),
    Row(None, "sketch", "", (cell(), cell(math.nan))),
)
TABLE = Table(CAPTION, COLUMNS, ROWS)


def one_name(name, team="T"):
    """A table of one row, with such names."""
    return Table(CAPTION, COLUMNS[:1], (Row(1, name, team, (cell(-0.5, -0.75, -0.25, 1),)),))


def read_csv(text):
    """The rows of a CSV file, by its header."""
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))

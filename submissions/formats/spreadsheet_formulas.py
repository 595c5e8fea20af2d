"""Tables that people download and open in a spreadsheet: their first character, and no text that is taken for a formula. PURE."""

from __future__ import annotations

from collections.abc import Iterable

BYTE_ORDER_MARK = "\ufeff"  # first in a CSV file; without it Excel reads UTF-8 in the encoding of the country
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def plain_text(text: str) -> str:
    """Text that no spreadsheet evaluates: one that begins like a formula gets an apostrophe before it."""
    return f"'{text}" if text.lstrip(" ").startswith(STARTS) else text


def restored(cell: str) -> str:
    """A cell as it was before `plain_text`, for tables that are read back."""
    return cell[1:] if cell.startswith("'") and cell[1:].lstrip(" ").startswith(STARTS) else cell


def neutral_row(row: Iterable[str]) -> list[str]:
    """The cells of a row, each as `neutral` leaves it."""
    return [neutral(cell) for cell in row]


def neutral(cell: str) -> str:
    """A cell that no spreadsheet evaluates; a number is left as it is, with its sign."""
    made = plain_text(cell)
    if made == cell:
        return cell
    try:
        float(cell)
    except ValueError:
        return made
    return cell

"""Errors and remarks on files: which file, where in it, what is wrong and what to do."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from submissions.formats.invisible import has_invisible

MAX_FINDINGS_PER_FILE = 20
MAX_PROBLEMS = 100  # of one table
_SHOWN_LENGTH = 100
_SHOWN_HEADS = 300
_SHOWN_PLACES = 3
_MAX_PROBLEM = 600
Read = TypeVar("Read")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class FormatError(ValueError):
    """One or more faults of an upload.

    ``file``, ``where`` (may be empty) and ``reason`` describe the first fault; ``more`` holds the further ones that
    were kept, and ``count`` is the number of faults found, kept or not.
    """

    def __init__(self, file: str, where: str, reason: str, more: Iterable["FormatError"] = (), count: int = 0) -> None:
        self.file, self.where, self.reason = excerpt(file), where, reason
        self.more = tuple(more)
        self.count = max(count, 1 + len(self.more))
        super().__init__(": ".join(part for part in (self.file, where, reason) if part))

    def all(self) -> tuple["FormatError", ...]:
        """This fault and the further ones, in the order found."""
        return (self, *self.more)


class TableError(ValueError):
    """A table cannot be used; one sentence for each problem, of which the first hundred are kept, each cut where a cell is long."""

    def __init__(self, problems: Sequence[str]) -> None:
        cut = (text if len(text) <= _MAX_PROBLEM else f"{text[:_MAX_PROBLEM]}…" for text in problems[:MAX_PROBLEMS])
        self.problems = tuple(cut)
        super().__init__("\n".join(self.problems))


def more_cells(row: dict[Any, Any]) -> str:
    """Return the fault of a row of `csv.DictReader` that has more cells than the head has names, and remove these; empty without a fault,
    or if the extra cells are empty."""
    surplus = [cell for cell in row.pop(None, ()) if cell.strip()]
    return f"there is a cell {surplus[0][:20]!r} beyond the head's last; put texts that hold the separator into quotes." if surplus else ""


def is_blank(row: dict[Any, Any]) -> bool:
    """True for a row of `csv.DictReader` whose cells are all empty, as spreadsheets write below a table."""
    return not any("".join(cells or "").strip() for cells in row.values())


def headings_text(heads: Iterable[str]) -> str:
    """The heads of a table's columns for a sentence: safe to print, and the first of very many only."""
    names, taken = [excerpt(head) for head in heads], 0
    for count, name in enumerate(names):
        taken += len(name) + 2
        if taken > _SHOWN_HEADS:
            return f"{', '.join(names[:count])} and {len(names) - count} more"
    return ", ".join(names) or "none"


def control_character(text: str) -> tuple[int, str] | None:
    """Position of the first control character of a text, and that character escaped; None without any. Line ends and tabs are allowed."""
    found = _CONTROL.search(text)
    return found and (found.start(), found[0].encode("unicode_escape").decode())


class Findings:
    """Collects the faults of one file, keeps the first twenty and counts the rest."""

    def __init__(self, file: str, error: type[FormatError] = FormatError) -> None:
        self.file, self.error = file, error
        self.kept: list[FormatError] = []
        self.count = 0

    def add(self, where: str, reason: str, file: str | None = None) -> None:
        """Notes one fault, of ``file`` where that is not the collector's own."""
        self.count += 1
        if len(self.kept) < MAX_FINDINGS_PER_FILE:
            self.kept.append(self.error(self.file if file is None else file, where, reason))

    def tried(self, read: Callable[[], Read]) -> Read | None:
        """Result of ``read``; None where it raises ``FormatError``, which is noted."""
        try:
            return read()
        except FormatError as error:
            self.add(error.where, error.reason, error.file)
            return None

    def count_more(self, number: int) -> None:
        """Counts faults that are not worth describing one by one."""
        self.count += number

    @property
    def full(self) -> bool:
        return self.count >= MAX_FINDINGS_PER_FILE

    def raise_if_any(self) -> None:
        """Raises everything noted as one error; does nothing when nothing was noted."""
        if self.kept:
            first = self.kept[0]
            raise self.error(first.file, first.where, first.reason, self.kept[1:], self.count)


class Remarks:
    """Remarks on files that were read: what is worth knowing of them and no fault. Each is a sentence, said once of all places where it
    holds; the first places are named."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._counts: Counter[str] = Counter()

    def add(self, sentence: str, places: Iterable[str], count: int = 1) -> None:
        """Notes a sentence, without its full stop, at ``count`` places, of which ``places`` are the first; none where ``count`` is 0."""
        if count:
            self._counts[sentence] += count
            self._places.setdefault(sentence, []).extend(excerpt(place) for place in places)
            del self._places[sentence][_SHOWN_PLACES:]

    def sentences(self) -> list[str]:
        """All remarks, in the order in which they came."""
        found = []
        for sentence, places in self._places.items():
            more = self._counts[sentence] - len(places)
            found.append(f"{sentence} ({', '.join(places)}{f' and {more} more' if more else ''}).")
        return found


def excerpt(text: str, most: int = _SHOWN_LENGTH) -> str:
    """``text`` made safe to print: control and invisible characters escaped, what is longer than ``most`` cut in the middle."""
    if len(text) > most:
        text = f"{text[: most * 3 // 5]}…{text[-(most * 3 // 10) :]}"
    if not has_invisible(text):
        return text  # with the joiners that its script needs
    return "".join(c if unicodedata.category(c)[0] != "C" else c.encode("unicode_escape").decode() for c in text)


def size_text(size: int) -> str:
    """A number of bytes for people: ``512 bytes``, ``3.2 MB``."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"

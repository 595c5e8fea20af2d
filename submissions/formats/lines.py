"""Text formats in blocks of lines: numbers are read many at a time, and only a block with a fault is looked at again."""

import codecs
import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from submissions.formats.errors import MAX_FINDINGS_PER_FILE, Findings, FormatError, shown, size_text

MAX_LINE_BYTES = 1_000_000
_BLOCK = 1 << 20
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_BLANK = re.compile(rb"\s*")
_IN_NUMBERS, _IN_WHOLE = b"0123456789+-.eE \t\r\n\f\v", b"0123456789+- \t\r\n\f\v"
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan(?:\(.*\))?|inf|infinity)", re.IGNORECASE)


def text_blocks(data: bytes, file: str, start: int = 0, first_line: int = 1) -> Iterator[tuple[int, list[bytes]]]:
    """Lines of about a megabyte at a time, from byte ``start``, each time with the number of the first one.

    Only what a format reads must be ASCII, so comments and names may be in any encoding that keeps ASCII as it is.
    Raises ``FormatError`` where the file is empty, UTF-16, binary, or has a line of more than a megabyte.
    """
    if _BLANK.fullmatch(data):
        raise FormatError(file, "", "is empty")
    if data.startswith(WIDE):
        raise FormatError(file, "", "is UTF-16 or UTF-32 text; save it as UTF-8")
    if start == 0 and data.startswith(codecs.BOM_UTF8):
        start = len(codecs.BOM_UTF8)
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        block = data[start:end]
        lines = block.splitlines()
        if b"\0" in block:
            at = next(n for n, line in enumerate(lines) if b"\0" in line)
            raise FormatError(file, f"line {first_line + at}", "holds a zero byte; is it a binary file, or UTF-16 text?")
        if len(block) > MAX_LINE_BYTES and max(map(len, lines)) > MAX_LINE_BYTES:
            at = next(n for n, line in enumerate(lines) if len(line) > MAX_LINE_BYTES)
            raise FormatError(file, f"line {first_line + at}", f"is longer than {size_text(MAX_LINE_BYTES)}")
        yield first_line, lines
        first_line, start = first_line + len(lines), end


def numbers(text: bytes) -> NDArray[np.float64] | None:
    """Decimal numbers between white space, correctly rounded; None where there is anything else in the text."""
    return None if text.translate(None, _IN_NUMBERS) else _parsed(text, np.dtype(np.float64))


def whole_numbers(text: bytes) -> NDArray[np.int64] | None:
    """Whole numbers between white space, those past 64 bits as the largest of them; None where there is anything else."""
    return None if text.translate(None, _IN_WHOLE) else _parsed(text, np.dtype(np.int64))


def _parsed(text: bytes, kind: np.dtype) -> NDArray | None:
    try:
        values = np.fromstring(text, dtype=kind, sep=" ")
    except ValueError:
        return None
    # Two numbers that touch ("1-2", "1.5.2") are read as two.
    return values if len(values) == len(text.split()) else None


def number_fault(word: bytes) -> str:
    """Why a word is no coordinate, or nothing."""
    if _NUMBER.fullmatch(word):
        return ""
    return f'"{word_text(word)}" is not {"finite" if _NOT_FINITE.fullmatch(word) else "a number"}'


def note_number_faults(rows: Sequence[Sequence[bytes]], place: Sequence[int], findings: Findings) -> None:
    """Notes every word of the rows that is no number, by the line it stands in."""
    for line, words in zip(place, rows, strict=True):
        for word in words:
            fault = number_fault(word)
            if fault:
                findings.add(f"line {line}", fault)
        if findings.full:
            findings.raise_if_any()


def word_text(word: bytes) -> str:
    """A word of a file, short and safe to print."""
    return shown(word[:60].decode("utf-8", "replace"))


class Rows:
    """The lines of a text file that are not blank, taken in turn; ``comments`` are cut off where the format has them."""

    def __init__(self, data: bytes, file: str, start: int = 0, first_line: int = 1, comments: bool = False) -> None:
        self.file, self.comments = file, comments
        self._blocks = text_blocks(data, file, start, first_line)
        self._places: list[int] = []
        self._lines: list[bytes] = []
        self._at = 0

    def take(self, count: int, what: str) -> Iterator[tuple[list[int], list[bytes]]]:
        """The next ``count`` lines in pieces, with the number of each; ``FormatError`` where the file ends before."""
        left = count
        while left:
            if self._at == len(self._lines) and not self._next_block():
                raise FormatError(self.file, "", f"ends after {count - left} of {count} {what}; is it cut short?")
            end = min(len(self._lines), self._at + left)
            yield self._places[self._at : end], self._lines[self._at : end]
            left -= end - self._at
            self._at = end

    def _next_block(self) -> bool:
        for first, lines in self._blocks:
            if self.comments:
                lines = [line.partition(b"#")[0] if b"#" in line else line for line in lines]
            kept = [(number, line) for number, line in enumerate(lines, first) if line and not line.isspace()]
            if kept:
                self._places, self._lines, self._at = [n for n, _ in kept], [line for _, line in kept], 0
                return True
        return False


def ragged(places: list[int], lines: list[bytes], findings: Findings) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """All numbers of the lines, one line after the other, and how many each line has. Raises what is no number."""
    values = numbers(b"\n".join(lines))
    words = list(map(bytes.split, lines))
    if values is None:
        note_number_faults(words, places, findings)
        findings.raise_if_any()
    assert values is not None
    return values, np.fromiter(map(len, words), np.int64, len(words))


def rectangular(places: list[int], lines: list[bytes], columns: int, findings: Findings) -> NDArray[np.float64]:
    """The numbers of lines that all have ``columns`` of them; raises faults by line."""
    values, sizes = ragged(places, lines, findings)
    for at in np.flatnonzero(sizes != columns)[:MAX_FINDINGS_PER_FILE].tolist():
        findings.add(f"line {places[at]}", f"has {sizes[at]} numbers, there must be {columns}")
    findings.raise_if_any()
    return values.reshape(-1, columns)


class Cursor:
    """Reads ragged lines column by column, all lines at once: ``at`` is the next number of each."""

    def __init__(self, places: list[int], lines: list[bytes], findings: Findings) -> None:
        self.places, self.findings = places, findings
        self.values, sizes = ragged(places, lines, findings)
        self.ends = np.cumsum(sizes)
        self.at = self.ends - sizes

    def number(self, name: str) -> NDArray[np.float64]:
        """The next number of every line."""
        self._refuse(self.at >= self.ends, f'ends before its "{name}"')
        found = self.values[self.at]
        self.at = self.at + 1
        return found

    def list(self, name: str, least: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The next list of every line, each led by its length: all their numbers in a row, and their lengths."""
        lengths = self.number(name)
        given = np.where((lengths >= 0) & (lengths <= len(self.values)), lengths, -1)
        self._refuse((given < 0) | (np.floor(given) != given), f'has a length of its "{name}" that is no number of values')
        sizes = given.astype(np.int64)
        self._refuse(sizes > self.ends - self.at, f'ends within its "{name}"')
        self._refuse(sizes < least, f"face has fewer than {least} vertices")
        found = self.values[spread(self.at, sizes)]
        self.at = self.at + sizes
        return found, sizes

    def rest(self) -> NDArray[np.int64]:
        """How many numbers of every line are still to be read."""
        return self.ends - self.at

    def _refuse(self, wrong: NDArray[np.bool_], reason: str) -> None:
        for n in np.flatnonzero(wrong)[:MAX_FINDINGS_PER_FILE].tolist():
            self.findings.add(f"line {self.places[n]}", reason)
        self.findings.raise_if_any()


def spread(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of runs: ``sizes[n]`` numbers from ``starts[n]`` on, one run after the other."""
    return np.arange(int(sizes.sum())) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)

"""The line reader of all text formats. It parses numbers in blocks of about a megabyte, and goes line by line only to name a fault."""

import codecs
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from submissions.formats.errors import MAX_FINDINGS_PER_FILE, Findings, FormatError, excerpt, size_text
from submissions.formats.text import WIDE, is_wide

MAX_LINE_BYTES = 1_000_000
_BLOCK = 1 << 20
_BLANK = re.compile(rb"\s*")
# A line that continues in the next, and its end. Names and comments may end in a backslash of their own.
_CONTINUED = re.compile(rb"^(?![ \t]*(?:#|[og]\b|usemtl\b|mtllib\b))(?:[^\n#]*\\[ \t]*\n)+[^\n]*", re.MULTILINE)
_GOES_ON = re.compile(rb"\\[ \t]*\n")
_COMMENT = re.compile(rb"#[^\n]*")
_IN_NUMBERS, _IN_WHOLE = b"0123456789+-.eE \t\n\f\v", b"0123456789+- \t\n\f\v"
_NO_WORD = bytes(range(33))  # separators of words
_LONE_SIGN = re.compile(rb"[+-](?![0-9])")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WITH_COMMA = re.compile(rb"[+-]?(?:\d[\d.]*,\d+|\d+,[\d,]*\d\.\d*)(?:[eE][+-]?\d+)?")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan(?:\(.*\))?|inf|infinity)", re.IGNORECASE)
_NEWLINE, _SPACE = 10, 32


class Block:
    """Some whole lines of a file: ``text`` ends each with a newline, and ``first`` is the number of the first."""

    def __init__(self, first: int, text: bytes) -> None:
        self.first, self.text = first, text
        self.letters = np.frombuffer(text, np.uint8)
        self.ends = np.flatnonzero(self.letters == _NEWLINE)
        self.starts = np.concatenate([[0], self.ends[:-1] + 1])

    @cached_property
    def word_starts(self) -> NDArray[np.int64]:
        """Offset of the first byte of each word of the block: int64[words]."""
        black = self.letters > _SPACE
        black[1:] &= self.letters[:-1] <= _SPACE
        return np.flatnonzero(black)

    @cached_property
    def first_words(self) -> NDArray[np.int64]:
        """The number of the first word of each line, or of the next one that has any."""
        return np.searchsorted(self.word_starts, self.starts)

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """Number of words of each line: int64[lines]."""
        return np.diff(self.first_words, append=len(self.word_starts))

    def text_of(self, lines: NDArray[np.bool_]) -> bytes:
        """The chosen lines alone."""
        return self.letters[np.repeat(lines, self.ends - self.starts + 1)].tobytes()

    def split(self) -> list[bytes]:
        return self.text[:-1].split(b"\n")


def text_blocks(data: bytes, file: str, start: int = 0, first_line: int = 1, continued: bool = False) -> Iterator[Block]:
    """Lines of about a megabyte at a time, from byte ``start``. They end with LF, CR LF or CR alone.

    Only what a format reads must be ASCII, so comments and names may be in any encoding that keeps ASCII as it is. Where a format
    has lines that are ``continued`` in the next by a backslash at their end, they come as one, followed by as many empty lines.
    Raises ``FormatError`` where the file is empty, UTF-16, binary, or has a line of more than a megabyte.
    """
    if is_wide(data):
        raise FormatError(file, "", WIDE)
    if start == 0 and data.startswith(codecs.BOM_UTF8):
        start = len(codecs.BOM_UTF8)
    if start == 0 and _BLANK.fullmatch(data):
        raise FormatError(file, "", "is empty")
    while start < len(data):
        end = data.find(b"\n", start + _BLOCK) + 1 or len(data)
        while continued and end < len(data) and data[max(start, end - 100) : end].rstrip().endswith(b"\\"):
            end = data.find(b"\n", end) + 1 or len(data)
        text = _plain_lines(data[start:end], continued)
        block = Block(first_line, text)
        if b"\0" in text:
            at = text.count(b"\n", 0, text.index(b"\0"))
            raise FormatError(file, f"line {first_line + at}", "holds a zero byte; is it a binary file, or UTF-16 text?")
        lengths = block.ends - block.starts
        if len(text) > MAX_LINE_BYTES and lengths.max() > MAX_LINE_BYTES:
            raise FormatError(file, f"line {first_line + lengths.argmax()}", f"is longer than {size_text(MAX_LINE_BYTES)}")
        yield block
        first_line, start = first_line + len(block.ends), end


def _plain_lines(text: bytes, continued: bool) -> bytes:
    """The text with LF at the end of each line, and lines that are continued in one."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if continued and b"\\" in text:
        text = _CONTINUED.sub(lambda line: _GOES_ON.sub(b" ", line[0]) + b"\n" * line[0].count(b"\n"), text)
    return text if text.endswith(b"\n") else text + b"\n"


# --- numbers


def numbers(text: bytes) -> NDArray[np.float64] | None:
    """Decimal numbers between white space, correctly rounded; None where there is anything else in the text."""
    return None if text.translate(None, _IN_NUMBERS) else _parsed(text, np.dtype(np.float64))


def whole_numbers(text: bytes) -> NDArray[np.int64] | None:
    """Whole numbers between white space, those past 64 bits as the largest of them; None where there is anything else."""
    # A lone sign would be taken for the next number's, or for 0.
    return None if text.translate(None, _IN_WHOLE) or _LONE_SIGN.search(text) else _parsed(text, np.dtype(np.int64))


def _parsed(text: bytes, kind: np.dtype) -> NDArray[Any] | None:
    # Two numbers that touch ("1-2", "1.5.2") are read as two, so callers compare the count with the words'.
    try:
        return np.fromstring(text, dtype=kind, sep=" ") if text else np.zeros(0, kind)
    except ValueError:
        return None


def number_fault(word: bytes) -> str:
    """Reason why a word is not a number; empty where it is one."""
    if _NUMBER.fullmatch(word):
        return ""
    if has_comma(word):
        return f'"{word_text(word)}" has a comma; write decimals with a point, and nothing between thousands'
    return f'"{word_text(word)}" is not {"finite" if _NOT_FINITE.fullmatch(word) else "a number"}'


def has_comma(word: bytes) -> bool:
    """True for a number that has a decimal comma, or commas between thousands."""
    return _WITH_COMMA.fullmatch(word) is not None


def note_number_faults(places: Sequence[int], rows: Sequence[Sequence[bytes]], findings: Findings) -> None:
    """Notes every word of the rows that is no number, by its line, and raises if there is any."""
    for place, words in zip(places, rows, strict=True):
        for word in words:
            fault = number_fault(word)
            if fault:
                findings.add(f"line {place}", fault)
            if has_comma(word):
                findings.raise_if_any()  # so is every number of the file, most probably
        if findings.full:
            break
    findings.raise_if_any()


def numbers_or_nan(words: Sequence[bytes]) -> NDArray[np.float64] | None:
    """A number for each word, NaN for "nan" and "inf" in all their forms; None where a word is anything else."""
    absent = [_NOT_FINITE.fullmatch(word) is not None for word in words]
    values = numbers(b" ".join([b"0" if gone else word for word, gone in zip(words, absent, strict=True)]))
    if values is None or len(values) != len(words):
        return None
    values[absent] = np.nan
    return values


def row_numbers(places: Sequence[int], rows: Sequence[Sequence[bytes]], columns: int, findings: Findings) -> NDArray[np.float64]:
    """All numbers of rows of ``columns`` words each, in a row; raises every word that is no number, by the line of its row."""
    values = numbers(b" ".join([word for row in rows for word in row]))
    if values is None or len(values) != columns * len(rows):
        note_number_faults(places, rows, findings)
    assert values is not None
    return values


def word_text(word: bytes) -> str:
    """A word of a file, short and safe to print."""
    return excerpt(word[:60].decode("utf-8", "replace"))


# --- rows of numbers


class Rows:
    """The lines of a text file that are not blank, taken in turn; ``comments`` are cut off where the format has them."""

    def __init__(self, data: bytes, file: str, start: int = 0, first_line: int = 1, comments: bool = False) -> None:
        self.file, self.comments = file, comments
        self._blocks = text_blocks(data, file, start, first_line)
        self._block = Block(1, b"\n")
        self._lines = np.zeros(0, np.int64)

    def take(self, count: int, what: str) -> Iterator["Piece"]:
        """The next ``count`` lines in pieces; ``FormatError`` where the file ends before."""
        left = count
        while left:
            if not len(self._lines) and not self._next_block():
                raise FormatError(self.file, "", f"ends after {count - left} of {count} {what}; is it cut short?")
            taken, self._lines = self._lines[:left], self._lines[left:]
            left -= len(taken)
            text = self._block.text[self._block.starts[taken[0]] : self._block.ends[taken[-1]]]
            yield Piece(taken + self._block.first, text, self._block.words[taken])

    def _next_block(self) -> bool:
        for block in self._blocks:
            if self.comments and b"#" in block.text:
                block = Block(block.first, _COMMENT.sub(b"", block.text))
            self._block, self._lines = block, np.flatnonzero(block.words)
            if len(self._lines):
                return True
        return False


class Piece:
    """Lines that each have a word or more: the number of each, their text and how many words each has."""

    def __init__(self, places: NDArray[np.int64], text: bytes, words: NDArray[np.int64]) -> None:
        self.places, self.text, self.words = places, text, words

    def numbers(self, findings: Findings) -> NDArray[np.float64]:
        """All numbers of the lines in a row; NaN for "nan" or "inf", which the caller refuses if a number matters. Raises, by
        line, what is none."""
        values = numbers(self.text)
        if values is None or len(values) != self.words.sum():
            values = numbers_or_nan(self.text.split())
        if values is None or len(values) != self.words.sum():
            lines = self.text.split(b"\n")
            note_number_faults(self.places.tolist(), [line.split() for line in lines if line.translate(None, _NO_WORD)], findings)
            # All words are numbers: what is left are control characters in lines that have no word.
            for line, text in enumerate(lines, int(self.places[0])):
                if text.strip() and not text.translate(None, _NO_WORD):
                    findings.add(f"line {line}", f'"{word_text(text.strip())}" is not a number')
            findings.raise_if_any()
        assert values is not None
        return values

    def table(self, columns: int, findings: Findings) -> NDArray[np.float64]:
        """The numbers of lines that all have ``columns`` of them; raises faults by line."""
        for at in np.flatnonzero(self.words != columns)[:MAX_FINDINGS_PER_FILE].tolist():
            findings.add(f"line {self.places[at]}", f"has {self.words[at]} numbers, there must be {columns}")
        findings.raise_if_any()
        return self.numbers(findings).reshape(-1, columns)


class Cursor:
    """Reads lines of different lengths column by column, all lines together: ``at`` is the next number of each."""

    def __init__(self, piece: Piece, findings: Findings) -> None:
        self.places, self.findings = piece.places, findings
        self.values = piece.numbers(findings)
        self.ends = np.cumsum(piece.words)
        self.at = self.ends - piece.words

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
        self._refuse((given < 0) | (np.floor(given) != given), f'has a length of its "{name}" that is not a whole number from 0 up')
        sizes = given.astype(np.int64)
        self._refuse(sizes > self.ends - self.at, f'ends within its "{name}"')
        self._refuse(sizes < least, f"face has fewer than {least} vertices")
        found = self.values[spread(self.at, sizes)]
        self.at = self.at + sizes
        return found, sizes

    def rest(self) -> NDArray[np.int64]:
        """Number of numbers of every line that are still to be read: int64[lines]."""
        return self.ends - self.at

    def _refuse(self, wrong: NDArray[np.bool_], reason: str) -> None:
        for n in np.flatnonzero(wrong)[:MAX_FINDINGS_PER_FILE].tolist():
            self.findings.add(f"line {self.places[n]}", reason)
        self.findings.raise_if_any()


def spread(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of runs: ``sizes[n]`` numbers from ``starts[n]`` on, one run after the other."""
    return np.arange(int(sizes.sum())) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)

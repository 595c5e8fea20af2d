"""Text to the numbers that CLIP's text tower takes: cleaned, cut into words, and these into known pieces. PURE.

The file of the vocabulary lists merges of two pieces, the most useful first. A word begins as its bytes, each a piece, and
the listed merge that comes first is done as long as there is one. Texts are mended (ftfy) and words found (regex) with the
libraries that OpenAI's own tokenizer uses, because other rules for either give other numbers.
"""

from __future__ import annotations

import gzip
import html
import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from evaluation.networks.weights import WeightsError

PLACES = 77  # of which the first and the last one taken are the marks of a text's start and end
VOCABULARY = 49_408  # numbers there are: 256 bytes, the same at the end of a word, the merges, start and end
MERGES = VOCABULARY - 2 * 256 - 2
MAX_BYTES = 16 << 20  # of the list of merges, unpacked; OpenAI's has 3 MB
START, END = "<start_of_text>", "<end_of_text>"
LAST = "</w>"  # marks a piece that ends its word
# OpenAI's tokenizer and open_clip's also take their own, differing spellings of the two marks in a text for marks; here a text is text.
_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


# A character for each byte: itself where it can be printed, else one from 256 on, in the order of the vocabulary.
_PRINTED = (*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1))
_OTHERS = (byte for byte in range(256) if byte not in _PRINTED)
LETTERS = {byte: chr(byte) for byte in _PRINTED} | {byte: chr(256 + n) for n, byte in enumerate(_OTHERS)}


class Tokenizer:
    """Byte pairs as CLIP was trained with; `merges` in their order, the first done first."""

    def __init__(self, merges: Sequence[tuple[str, str]]) -> None:
        self._rank = {pair: n for n, pair in enumerate(merges)}
        pieces = [*LETTERS.values(), *(letter + LAST for letter in LETTERS.values()), *map("".join, merges), START, END]
        self._number = {piece: n for n, piece in enumerate(pieces)}
        self._pieces_of = lru_cache(maxsize=10_000)(self._merged)

    @classmethod
    def read(cls, path: Path) -> Tokenizer:
        """The tokenizer of OpenAI's file, of whose merges the first are used. WeightsError, in a sentence, where it is none."""
        try:
            with gzip.open(path) as stream:
                lines = stream.read(MAX_BYTES).decode().split("\n")[1 : MERGES + 1]
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise WeightsError(f"The file {path.name} holds no vocabulary that can be read; take it as it was published.") from error
        words = [line.split() for line in lines]
        if len(words) != MERGES or any(len(pair) != 2 for pair in words):
            raise WeightsError(f"The file {path.name} does not hold the {MERGES:,} merges of CLIP's vocabulary; take the published one.")
        return cls([(first, second) for first, second in words])

    def pieces(self, text: str) -> list[int]:
        """The numbers of the pieces of a text, without the marks of its start and end."""
        # Of images nobody asks for texts, and a machine that looks at images alone need not have these.
        import ftfy
        import regex

        cleaned = html.unescape(html.unescape(ftfy.fix_text(text)))
        words = regex.findall(_WORDS, " ".join(cleaned.split()).lower(), regex.IGNORECASE)
        return [self._number[piece] for word in words for piece in self._pieces_of(word)]

    def numbers(self, text: str, places: int = PLACES) -> list[int]:
        """The tower's numbers: start, pieces, end, and 0 in the places that are left. Longer texts are cut before the end."""
        taken = [self._number[START], *self.pieces(text)[: places - 2], self._number[END]]
        return taken + [0] * (places - len(taken))

    def is_cut(self, text: str, places: int = PLACES) -> bool:
        """True if the text has more pieces than there are places."""
        return len(self.pieces(text)) > places - 2

    def _merged(self, word: str) -> tuple[str, ...]:
        letters = [LETTERS[byte] for byte in word.encode()]
        parts = [*letters[:-1], letters[-1] + LAST]
        while len(parts) > 1:
            rank, pair = min((self._rank.get(pair, len(self._rank)), pair) for pair in pairwise(parts))
            if rank == len(self._rank):
                break
            n = 0
            while n < len(parts) - 1:  # each occurrence of the pair, from the left, is made one
                if (parts[n], parts[n + 1]) == pair:
                    parts[n : n + 2] = ["".join(pair)]
                n += 1
        return tuple(parts)

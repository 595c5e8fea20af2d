"""Invisible characters in a name, and which of them its script needs. PURE."""

import re
import unicodedata
from collections.abc import Collection

# Unicode's categories: control, format and direction, what is no character, and ends of lines.
INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"
# The blocks that hold emoji. Those of newer versions of Unicode than Python's lie in the last, and are no characters to it yet.
_PICTURE = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2"
    "\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_STYLED = f"{_PICTURE}[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]*"
# Emoji, joined emoji, and the flags of parts of a country, which are spelt in invisible letters.
_EMOJI = re.compile(f"\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{{1,6}}\U000e007f|{_STYLED}(?:\u200d{_STYLED})*")


def has_invisible(text: str, categories: Collection[str] = INVISIBLE) -> bool:
    """True if a text holds characters of these ``categories`` that its scripts do not need.

    Emoji and their joiners are allowed. Other joiners follow the rules of internationalised domain names (RFC 5892, appendix A). Both
    joiners are allowed behind a virama, as in Devanagari. The non-joiner is allowed between letters that would join, as in Persian.
    """
    text = _EMOJI.sub(" ", text)  # a joiner beside one must not move beside a letter
    return any(
        unicodedata.category(letter) in categories and not (letter in _JOINERS and _is_needed(text, place))
        for place, letter in enumerate(text)
    )


def _is_needed(text: str, place: int) -> bool:
    from idna.core import valid_contextj  # most names hold no joiner, and what reads formats alone needs no names

    try:
        return valid_contextj(text[max(0, place - 16) : place + 16], min(place, 16))
    except ValueError:  # beside a character without a name
        return False

"""Numbers as people and their programs write them: decimal commas, and separators of thousands of several languages. PURE."""

import math
import re
from collections.abc import Sequence

_ALIKE = str.maketrans({"，": ",", "．": ".", "\u066b": ".", "\u066c": ",", "\u2212": "-"})  # full-width, Arabic, and the minus sign
_NUMBER = re.compile(r"([+-]?)([\d.,_'’\s]*\d)(e[+-]?\d{1,3})?", re.IGNORECASE)
_SPACED = re.compile(r"\d{1,3}(?:([_'’\s])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_COMMAS = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}")  # in twos too, as in India
_POINTS = re.compile(r"\d{1,3}(?:\.\d{3})+")


class Ambiguous(ValueError):
    """A number with one separator that may be of decimals or of thousands; its text says which two numbers it may be."""


def typed(text: str, whole: bool = False) -> float:
    """The number that a text means, with a point or a comma for decimals and with any separators of thousands.

    One comma before three digits separates thousands of a ``whole`` number, and may else be of decimals too, which is ``Ambiguous``; so
    is one point before three digits of a whole number. ``ValueError`` for what is no number. One branch for each way to separate digits.
    """
    found = _NUMBER.fullmatch(text.strip().translate(_ALIKE))
    if not found:
        raise ValueError(f"{text!r} is not a number")
    sign, digits, exponent = found[1], found[2], found[3] or ""
    if _SPACED.fullmatch(digits):
        digits = re.sub(r"[_'’\s]", "", digits).replace(",", ".")
    elif digits.count(",") == 1 and "." not in digits:
        if re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits):
            if not whole:
                raise Ambiguous(f"{digits.replace(',', '')} or {float(digits.replace(',', '.')):g}")
            digits = digits.replace(",", "")
        digits = digits.replace(",", ".")
    elif whole and re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", digits):
        raise Ambiguous(f"{digits.replace('.', '')} or {float(digits):g}")
    elif "," in digits:
        thousands, decimals = (",", ".") if digits.rfind(".") > digits.rfind(",") or "." not in digits else (".", ",")
        before, _, after = digits.partition(decimals)
        if not (_COMMAS if thousands == "," else _POINTS).fullmatch(before) or thousands in after or decimals in after:
            raise ValueError(f"{text!r} is not a number")
        digits = before.replace(thousands, "") + (f".{after}" if after else "")
    elif digits.count(".") > 1:
        if not _POINTS.fullmatch(digits):
            raise ValueError(f"{text!r} is not a number")
        digits = digits.replace(".", "")
    return float(f"{sign}{digits}{exponent}")


def delimiter(head: str) -> str:
    """The character between the cells of a CSV file with that head: spreadsheets write semicolons or tabs where commas are of decimals."""
    return "," if "," in head else next((mark for mark in ";\t" if mark in head), ",")


class SeparatedNumber(ValueError):
    """A number in a table that has a decimal comma, or separators of thousands; its text says how to write it."""


def cell(text: str, column: str) -> float:
    """The number in a cell of a table, NaN for what is none. ``SeparatedNumber`` where it has separators."""
    try:
        return float(text)
    except ValueError:
        try:
            number, plain = typed(text), text.replace(",", ".")
            meant = plain if plain.count(".") == 1 and float(plain) == number else f"{number:.15g}"
        except Ambiguous as either:
            meant = str(either)
        except ValueError:
            return math.nan
        raise SeparatedNumber(f"{column} is {text!r}; write {meant}") from None


def hint(found: Sequence[str]) -> list[str]:
    """One sentence on all numbers with separators in a table, by the first of them; empty without any."""
    others = f" {len(found) - 1:,} more cells are written like it." if len(found) > 1 else ""
    return [f"{found[0]}, with a point before decimals and nothing between thousands.{others}"] if found else []

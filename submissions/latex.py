"""Formulas of LaTeX as MathML that is safe in a page. PURE.

Anybody may write a formula, so it is limited twice. Before conversion, its length is bounded, and it may define no commands, which could
expand without end. Of the result, only the elements and attributes below are kept, with values of known forms: no address, no style, no
colour, and no length of ten characters or more.
"""

from __future__ import annotations

import re
from html import unescape
from xml.etree.ElementTree import Element, tostring

MAX_CHARACTERS = 1_000  # of a formula
MAX_BRACES = 20  # within each other
TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "mpadded", "mphantom", "menclose"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none", "mtable", "mtr", "mtd"),
}
ATTRIBUTES = {
    *("display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "form", "separator", "accent", "movablelimits"),
    *("minsize", "maxsize", "width", "linethickness", "notation", "columnalign", "columnlines", "rowlines", "rowspacing", "columnspacing"),
}
_VALUE = re.compile(r"[a-z -]{1,40}|-?\d?(?:\.\d{1,4})?(?:em|pt|ex)?(?: \d?(?:\.\d{1,4})?em)*")
_DEFINES = re.compile(r"\\(?:re|provide)?(?:newcommand|def)|\\let")


class FormulaError(ValueError):
    """A formula that cannot be shown; the message says why, as the end of a sentence."""


def mathml(latex: str, display: bool) -> str:
    """MathML of `latex` without its dollar signs, on a line of its own with `display`. Raises `FormulaError`."""
    if len(latex) > MAX_CHARACTERS:
        raise FormulaError(f"it has more than {MAX_CHARACTERS:,} characters")
    depth = 0
    for brace in re.findall(r"[{}]|\\left\b|\\right\b|\\begin\b|\\end\b", latex):
        depth += 1 if brace in ("{", r"\left", r"\begin") else -1
        if depth > MAX_BRACES:
            raise FormulaError(f"its braces are nested more than {MAX_BRACES} deep")
    if _DEFINES.search(latex):
        raise FormulaError("it defines a command; write out what the command stands for")
    from latex2mathml.converter import convert_to_element

    try:
        root = convert_to_element(latex, display="block" if display else "inline")
    except Exception as error:  # the library has an exception of its own for each mistake, without a common class or words
        raise FormulaError(f"it is not complete LaTeX ({re.sub(r'(?<=[a-z])(?=[A-Z])', ' ', type(error).__name__).lower()})") from None
    _reduce(root)
    return tostring(root, encoding="unicode")


def _reduce(root: Element) -> None:
    """Leave of the converter's tree what a page may hold; its texts have characters as entities, which become characters."""
    for element in root.iter():
        if element.tag not in TAGS:
            element.tag = "mrow"
        for name, value in list(element.items()):
            if name not in ATTRIBUTES or not _VALUE.fullmatch(value):
                del element.attrib[name]
        element.text, element.tail = (text and unescape(text) for text in (element.text, element.tail))

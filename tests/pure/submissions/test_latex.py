"""Formulas in, MathML out that a page may hold, whatever the formula says."""

from __future__ import annotations

import contextlib
import re
import time
from xml.etree.ElementTree import fromstring

import pytest

from submissions import latex
from submissions.latex import FormulaError, mathml


def test_a_formula_is_mathml():
    found = mathml(r"F_1 = \frac{2PR}{P + R} < 1", display=False)
    assert found.startswith('<math display="inline">') and "<mo>&lt;</mo>" in found
    root = fromstring(found)
    assert ["".join(one.itertext()) for one in root.findall(".//mfrac/*")] == ["2PR", "P+R"]
    assert 'display="block"' in mathml("x", display=True)


@pytest.mark.parametrize(
    "hostile",
    [
        r"\text{<img src=x onerror=alert(1)>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed}{x}",
        r"\class{problem}{x}",
        r"\color{red}x",
        r"\hspace{9999cm}",
        r"\rule{99em}{99em}",
        r"\text{&lt;script&gt;alert(1)&lt;/script&gt;}",
        r"\operatorname{<script>}",
        r"\unknown<b>",
        "x\x00y",
    ],
)
def test_nothing_but_known_elements_and_short_values_come_through(hostile):
    for element in fromstring(mathml(hostile, display=False).replace("\x00", "")).iter():
        assert element.tag in latex.TAGS
        assert [
            (name, value)
            for name, value in element.attrib.items()
            if not (name in latex.ATTRIBUTES and not re.search(r"\d{2,}(em|cm|pt)|[(:<]", value))
        ] == []


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        (r"\frac", "not complete LaTeX"),
        ("x_1_2", "double subscripts"),
        (r"\left(x", "not complete LaTeX"),
        ("{" * 21 + "x" + "}" * 21, "nested more than 20 deep"),
        (r"\def\a{\a\a}\a", "defines a command"),
        (r"\newcommand{\a}{x}\a", "defines a command"),
        (r"\renewcommand{\a}{x}\a", "defines a command"),
        ("x" * (latex.MAX_CHARACTERS + 1), "more than 1,000 characters"),
    ],
)
def test_a_formula_that_cannot_be_shown_is_refused_with_the_reason(formula, why):
    with pytest.raises(FormulaError, match=why):
        mathml(formula, display=False)


def test_the_longest_formulas_take_no_time():
    bound = latex.MAX_CHARACTERS
    units = (*"'&^_{}\\", r"\alpha", "x_{y}", r"\limits", r"\frac", r"\sqrt", r"\not", r"\left(", r"\text", r"\begin{matrix}")
    seconds = []
    for text in [(unit * bound)[:bound] for unit in units] + ["x^{" * 20 + "y" + "}" * 20, r"\left(" * 20 + r"\right)" * 20]:
        start = time.process_time()
        with contextlib.suppress(FormulaError):
            assert len(mathml(text, display=True)) < 40 * bound
        seconds.append(time.process_time() - start)
    assert max(seconds) < 0.3, "0.03 seconds on a machine that does nothing else"

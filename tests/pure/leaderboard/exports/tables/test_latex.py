import re

from hypothesis import given
from hypothesis import strategies as st

from leaderboard.exports.tables import latex
from tests.support.examples import examples
from tests.support.leaderboard.export_tables import TABLE, one_name

quick = examples(50)


def test_whole_table():
    assert latex.write(TABLE).splitlines() == [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{Rooflines 2026, Test phase. Snapshot 7f3a, 2026-11-21T01:02Z. https://example.org/s/7f3a.}",
        r"\begin{tabular}{rlrr}",
        r"\toprule",
        r"Rank & Entry & HSS $\uparrow$ & Corner offset [m] $\downarrow$ \\",
        r"\midrule",
        r"1 (1--2) & gable-net v3 (Ridgeline) & \textbf{0.612} $\pm$.028 & 0.10000 $\pm$.00050 \\",
        r"2 & pc-to-edges (TU Hillside) [verified] & 0.5970 & \textbf{0.080} $\pm$.010 \\",
        r"-- & hull (Organizers) [baseline] & 0.90 $\pm$.10 & 0.05000 \\",
        r"-- & sketch & -- & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_special_characters_are_escaped():
    text = latex.write(one_name(r"50% of $x_1^2 & \input{a}~#<|>" + '"'))
    assert (
        r"50\% of \$x\_1\textasciicircum{}2 \& \textbackslash{}input\{a\}\textasciitilde{}"
        r"\#\textless{}\textbar{}\textgreater{}'' (T)"
    ) in text


@quick
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_name_breaks_the_table(name):
    text = latex.write(one_name(name))
    body = text.split("\\midrule\n")[1].split("\\bottomrule")[0]
    assert body.count("\n") == 1
    unescaped = re.sub(r"\\(textbackslash|text[a-z]+)\{\}|\\[{}$&#%_]", "", body)
    assert unescaped.count("&") == 2
    assert unescaped.count("{") == unescaped.count("}") == 1  # of \textbf
    assert "%" not in unescaped and "_" not in unescaped and "#" not in unescaped

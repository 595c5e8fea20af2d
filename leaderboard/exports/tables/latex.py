"""A board as LaTeX, for papers. PURE."""

from __future__ import annotations

from functools import lru_cache

from leaderboard.exports.tables.table import KEPT, Table, one_line

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': "''",
        "–": "--",
        "—": "---",
        "−": r"$-$",
        "±": r"$\pm$",
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
        "ρ": r"$\rho$",
    }
)


def write(table: Table) -> str:
    r"""A `table` environment for booktabs, the best value of each column in bold."""
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{'. '.join(_latex(line) for line in table.caption.lines)}.}}",
        rf"\begin{{tabular}}{{rl{'r' * (len(table.headings) - 2)}}}",
        r"\toprule",
        " & ".join(map(_latex, table.headings)) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = []
        for own, best in table.shown(row):
            text = rf"\textbf{{{_latex(own.text)}}}" if best else _latex(own.text)
            if own.up:  # the two sides, stacked
                cells.append(rf"{text}$^{{{own.up}}}_{{{own.down.replace('−', '-')}}}$")
            else:
                cells.append(f"{text} {_latex(own.half)}".rstrip())
        lines.append(" & ".join([*map(_latex, (row.place, row.name, *table.stated_texts(row))), *cells]) + r" \\")
    people_rows = table.people_rows()
    if people_rows:
        lines.append(r"\midrule")
    lines += [" & ".join(["", *(_latex(cell) for cell in (title, *cells))]) + r" \\" for title, cells in people_rows]
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=KEPT)
def _latex(text: str) -> str:
    return one_line(text).translate(_LATEX)

import csv
import html
import io
import json
import math
import re
from dataclasses import FrozenInstanceError, replace

import pytest
from cmarkgfm import github_flavored_markdown_to_html
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.boards.exports import (
    Caption,
    Column,
    People,
    Row,
    Table,
    to_csv,
    to_json,
    to_latex,
    to_markdown,
)
from leaderboard.stats.states import State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.wording.reasons import sentence
from tests.support.examples import examples
from tests.support.leaderboard.reasons import few_entries

quick = examples(50)


def cell(value=None, low=None, high=None, rank=None, n=None):
    return value, low, high, rank, n


CAPTION = Caption("Rooflines 2026", "Test phase", "7f3a", "2026-11-21T01:02Z", "https://example.org/s/7f3a")
COLUMNS = (
    Column("hss", "HSS", True),
    Column("corner_offset", "Corner offset", False, unit="m"),
)
ROWS = (
    Row(1, "gable-net v3", "Ridgeline", (cell(0.61234, 0.584, 0.640, 1, 8), cell(0.1, 0.0995, 0.1005, 2)), 1, 2),
    Row(2, "pc-to-edges", "TU Hillside", (cell(0.597, None, None, 2), cell(0.08, 0.07, 0.09, 1)), flags=("verified",)),
    Row(None, "hull", "Organizers", (cell(0.9, 0.8, 1.0), cell(0.05, None, None)), flags=("baseline",)),
    Row(None, "sketch", "", (cell(), cell(math.nan))),
)
TABLE = Table(CAPTION, COLUMNS, ROWS)
NOTHING = Figure(None, None, None)
FEW_ENTRIES = sentence(few_entries(7))


def one_name(name, team="T"):
    return Table(CAPTION, COLUMNS[:1], (Row(1, name, team, (cell(-0.5, -0.75, -0.25, 1),)),))


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


class TestCsv:
    def test_every_number_in_full_and_missing_left_empty(self):
        first, second, baseline, missing = read_csv(to_csv(TABLE))
        assert (first["rank"], first["rank_low"], first["rank_high"]) == ("1", "1", "2")
        assert float(first["hss"]) == 0.61234 and (first["hss_rank"], first["hss_n"]) == ("1", "8")
        assert (second["hss_low"], second["flags"]) == ("", "verified")
        assert (baseline["rank"], baseline["hss"], baseline["flags"]) == ("", "0.9", "baseline")
        assert [missing[k] for k in ("rank", "hss", "corner_offset", "corner_offset_rank")] == [""] * 4
        assert first["snapshot"] == CAPTION.address

    @quick
    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_floats_survive_exactly(self, value):
        table = Table(CAPTION, COLUMNS[:1], (Row(1, "e", "t", (cell(value),)),))
        assert float(read_csv(to_csv(table))[0]["hss"]) == value
        assert json.loads(to_json(table))["rows"][0]["scores"]["hss"]["value"] == value

    @pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "  ="])
    def test_a_name_that_could_be_a_formula_is_made_text(self, start):
        row = read_csv(to_csv(one_name(f"{start}cmd|'/c calc'!A0", f"{start}1+1")))[0]
        assert row["entry"].startswith("'") and row["team"].startswith("'")

    def test_a_negative_number_stays_a_number(self):
        row = read_csv(to_csv(one_name("plain")))[0]
        assert (row["entry"], row["hss"], row["hss_low"]) == ("plain", "-0.5", "-0.75")

    def test_rfc_4180_quotes_and_line_ends(self):
        text = to_csv(one_name('a "b", c\nd'))
        assert '"a ""b"", c\nd"' in text
        assert text.endswith("\r\n") and text.count("\r\n") == 2

    @quick
    @given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
    def test_any_name_comes_back_with_at_most_an_apostrophe_more(self, name, team):
        row = read_csv(to_csv(one_name(name, team)))[0]
        assert row["entry"] in (name, f"'{name}") and row["team"] in (team, f"'{team}")


class TestJson:
    def test_carries_everything(self):
        data = json.loads(to_json(TABLE))
        assert data["caption"] == {
            "challenge": "Rooflines 2026",
            "phase": "Test phase",
            "snapshot": "7f3a",
            "date": "2026-11-21T01:02Z",
            "address": "https://example.org/s/7f3a",
        }
        assert data["columns"][1] == {"slug": "corner_offset", "title": "Corner offset", "higher_is_better": False, "unit": "m"}
        first = data["rows"][0]
        assert (first["rank"], first["rank_interval"], first["team"]) == (1, [1, 2], "Ridgeline")
        assert first["scores"]["hss"] == {"value": 0.61234, "ci": [0.584, 0.64], "rank": 1, "n": 8}

    def test_missing_is_null_and_never_zero_or_nan(self):
        text = to_json(TABLE)
        last = json.loads(text)["rows"][3]
        assert last["scores"]["corner_offset"] == {"value": None, "ci": None, "rank": None, "n": None}
        assert (last["rank"], last["rank_interval"]) == (None, None)
        assert "NaN" not in text


class TestLatex:
    def test_whole_table(self):
        assert to_latex(TABLE).splitlines() == [
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

    def test_special_characters_are_escaped(self):
        text = to_latex(one_name(r"50% of $x_1^2 & \input{a}~#<|>" + '"'))
        assert (
            r"50\% of \$x\_1\textasciicircum{}2 \& \textbackslash{}input\{a\}\textasciitilde{}"
            r"\#\textless{}\textbar{}\textgreater{}'' (T)"
        ) in text

    @quick
    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_no_name_breaks_the_table(self, name):
        text = to_latex(one_name(name))
        body = text.split("\\midrule\n")[1].split("\\bottomrule")[0]
        assert body.count("\n") == 1
        unescaped = re.sub(r"\\(textbackslash|text[a-z]+)\{\}|\\[{}$&#%_]", "", body)
        assert unescaped.count("&") == 2
        assert unescaped.count("{") == unescaped.count("}") == 1  # of \textbf
        assert "%" not in unescaped and "_" not in unescaped and "#" not in unescaped


class TestMarkdown:
    def test_whole_table(self):
        assert to_markdown(TABLE).splitlines() == [
            "**Rooflines 2026, Test phase**  ",
            "Snapshot 7f3a, 2026-11-21T01:02Z, <https://example.org/s/7f3a>",
            "",
            "| Rank | Entry | HSS ↑ | Corner offset \\[m\\] ↓ |",
            "| ---: | :--- | ---: | ---: |",
            "| 1 (1–2) | gable-net v3 (Ridgeline) | **0.612** ±.028 | 0.10000 ±.00050 |",
            "| 2 | pc-to-edges (TU Hillside) \\[verified\\] | 0.5970 | **0.080** ±.010 |",
            "| – | hull (Organizers) \\[baseline\\] | 0.90 ±.10 | 0.05000 |",
            "| – | sketch | – | – |",
        ]

    @pytest.mark.parametrize("name", ["a|b", "a\\|b", "`a|b`", "<b>x</b>", "[x](javascript:y)", "*a*", "&lt;", "![x](y)"])
    def test_a_name_stays_in_its_cell_as_plain_text(self, name):
        page = github_flavored_markdown_to_html(to_markdown(one_name(name)))
        cells = re.findall(r"<td[^>]*>(.*?)</td>", page)
        assert len(cells) == 3
        assert "<" not in cells[1] and html.unescape(cells[1]) == f"{name} (T)"

    def test_a_name_of_several_lines_becomes_one(self):
        assert "| a b\\|c (T) |" in to_markdown(one_name("a\nb|c"))


class TestTable:
    def test_best_is_shared_by_equals_and_never_a_baselines(self):
        scores = [("a", cell(0.5, rank=1)), ("b", cell(0.5, rank=1)), ("c", cell(0.25, rank=3))]
        rows = tuple(Row(1, name, "", (score,)) for name, score in scores)
        baseline = Row(None, "z", "", (cell(0.75),), flags=("baseline",))
        text = to_markdown(Table(CAPTION, COLUMNS[:1], (*rows, baseline)))
        assert text.count("**0.5000**") == 2 and "**0.7500**" not in text

    def test_the_best_of_a_filtered_table_is_not_the_best_of_the_board(self):
        ours = Row(2, "ours", "", (cell(0.25, rank=2),))
        disqualified = Row(None, "out", "", (cell(0.75),), flags=("disqualified",))
        table = Table(CAPTION, COLUMNS[:1], (ours, disqualified))
        assert "textbf" not in to_latex(table) and to_markdown(table).count("**") == 2

    def test_an_empty_board_is_a_head_without_rows(self):
        empty = Table(CAPTION, COLUMNS, ())
        assert read_csv(to_csv(empty)) == [] and to_csv(empty).startswith("\ufeffrank,")
        assert json.loads(to_json(empty))["rows"] == []
        assert "\\midrule\n\\bottomrule" in to_latex(empty)
        assert to_markdown(empty).endswith("| ---: | :--- | ---: | ---: |\n")

    def test_a_row_needs_a_cell_per_column(self):
        with pytest.raises(ValueError, match="row 'x' has 1 cells for 2 columns"):
            Table(CAPTION, COLUMNS, (Row(1, "x", "", (cell(),)),))

    def test_is_frozen(self):
        with pytest.raises(FrozenInstanceError):
            TABLE.rows = ()


class TestPeople:
    """People's figures go with every form of the table."""

    table = Table(
        Caption("Rooflines", "Final", "7f3a", "2026", "https://example.org/s", "Which roof is closer?, 90 answers by 9 raters"),
        (
            Column("hss", "HSS", True, people=People({"decided": Figure(0.825, 0.8, 0.85, 77), "rho": Figure(0.9, 0.5, 1.0, 9)}, (1, 2))),
            Column(
                "fid",
                "FID",
                False,
                people=People(
                    {"decided": Figure(None, None, None), "rho": Figure(-0.25, None, None, 7, State.NO_INTERVAL, why=FEW_ENTRIES)}
                ),
            ),
            Column("other", "Other", True),
        ),
        (Row(1, "a", "T", (cell(0.5, None, None, 1), cell(2.0), cell(1.0))),),
    )

    def test_csv_repeats_the_figures_on_every_row(self):
        row = read_csv(to_csv(self.table))[0]
        assert (row["hss_people_decided"], row["hss_people_decided_low"], row["hss_people_decided_high"]) == ("0.825", "0.8", "0.85")
        assert (row["hss_people_place_low"], row["hss_people_place_high"], row["fid_people_place_low"]) == ("1", "2", "")
        assert (row["hss_people_decided_n"], row["hss_people_decided_why"], row["hss_people_rho_n"]) == ("77", "", "9")
        assert (row["fid_people_rho_n"], row["fid_people_rho_why"]) == ("7", FEW_ENTRIES)
        assert (row["hss_people_rho"], row["fid_people_rho"], row["fid_people_decided"]) == ("0.9", "-0.25", "")
        assert "other_people_rho" not in row and row["hss"] == "0.5" and row["other"] == "1.0"

    def test_json_has_them_with_the_columns(self):
        data = json.loads(to_json(self.table))
        assert data["caption"]["people"].startswith("Which roof")
        assert data["columns"][0]["people"]["places"] == [1, 2]
        assert data["columns"][0]["people"]["decided"] == {
            "value": 0.825,
            "low": 0.8,
            "high": 0.85,
            "n": 77,
            "state": "known",
            "why": "",
        }
        rho = {"value": -0.25, "low": None, "high": None, "n": 7, "state": "no_interval", "why": FEW_ENTRIES}
        assert data["columns"][1]["people"]["rho"] == rho and "people" not in data["columns"][2]
        assert "people" not in json.loads(to_json(TABLE))["caption"]

    def test_latex_and_markdown_end_with_a_line_for_each_figure(self):
        latex = to_latex(self.table)
        assert r" & Agrees with people & 0.82 (0.80 to 0.85) & -- & -- \\" in latex
        assert r" & Spearman's $\rho$ with people & 0.90 (0.50 to 1.00, 9 entries) & -- & -- \\" in latex, (
            "of too few entries for an interval"
        )
        text = to_markdown(self.table)
        assert "| *Agrees with people* | 0.82 (0.80 to 0.85) | – | – |" in text and "9 raters" in text
        assert "| *Spearman's ρ with people* | 0.90 (0.50 to 1.00, 9 entries) | – | – |" in text
        assert "people" not in to_latex(TABLE) + to_markdown(TABLE)

    def test_where_people_read_it_no_figure_stands_below_the_smallest_numbers(self):
        """Files for programs keep the values, tables for papers do not: one person is no correlation with people."""
        hss, *others = self.table.columns
        one = People({"decided": Figure(0.8, None, None), "rho": Figure(0.94, 0.6, 0.99)}, is_few=True)
        table = replace(self.table, columns=(replace(hss, people=one), *others))
        assert "with people" not in to_latex(table) + to_markdown(table)
        assert read_csv(to_csv(table))[0]["hss_people_rho"] == "0.94"

    def test_nor_does_that_of_a_metric_with_values_for_too_few_of_the_answers(self):
        hss, fid, other = self.table.columns
        fid = replace(fid, people=People({"decided": Figure(0.81, None, None, 12, State.TOO_FEW)}))
        table = replace(self.table, columns=(hss, fid, other))
        assert "| *Agrees with people* | 0.82 (0.80 to 0.85) | – | – |" in to_markdown(table)
        assert r" & Agrees with people & 0.82 (0.80 to 0.85) & -- & -- \\" in to_latex(table)
        alike = replace(fid, people=People({"decided": Figure(0.5, None, None, 12, State.ALIKE)}))
        table = replace(table, columns=(hss, alike, other))
        assert "| *Agrees with people* | 0.82 (0.80 to 0.85) | 0.50 (no interval) | – |" in to_markdown(table)

    def test_of_published_means_a_correlation_is_all_there_is(self):
        hss, fid, other = self.table.columns
        known, few = Figure(0.94, 0.71, 0.99, 11), Figure(0.9, None, None, 6, State.NO_INTERVAL, why=FEW_ENTRIES)
        both = replace(hss, people=People({"rho": known})), replace(fid, people=People({"rho": few}))
        table = replace(self.table, columns=(*both, other))
        line = "0.94 (0.71 to 0.99, 11 entries) {0} 0.90 (no interval, 6 entries) {0}"
        assert f"| *Spearman's ρ with people* | {line.format('|')} – |" in to_markdown(table)
        assert rf" & Spearman's $\rho$ with people & {line.format('&')} -- \\" in to_latex(table)
        unknown = replace(hss, people=People({"rho": Figure(0.94, None, None)}))  # in rankings of before
        assert "| *Spearman's ρ with people* | 0.94 (no interval) | – | – |" in to_markdown(
            replace(table, columns=(unknown, replace(fid, people=None), other))
        )

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from leaderboard.exports.tables import csv_file, json_file, latex, markdown
from leaderboard.exports.tables.table import Caption, People, Row, Table
from leaderboard.stats.states import State
from leaderboard.stats.two_way_intervals import Figure
from leaderboard.wording.reasons import sentence
from tests.support.leaderboard.export_tables import CAPTION, COLUMNS, TABLE, column, read_csv
from tests.support.leaderboard.reasons import few_entries

FEW_ENTRIES = sentence(few_entries(7))


NOTHING = Figure(None, None, None)


class TestTable:
    def test_best_is_shared_by_equals_and_never_a_baselines(self):
        hss = column("hss", (0.5, None, None, 1), (0.5, None, None, 1), (0.25, None, None, 3), (0.75,))
        rows = [Row(index, 1, name, "") for index, name in enumerate("abc")]
        text = markdown.write(Table(CAPTION, (hss,), (*rows, Row(3, None, "z", "", flags=("baseline",)))))
        assert text.count("**0.5000**") == 2 and "**0.7500**" not in text

    def test_the_best_of_a_filtered_table_is_not_the_best_of_the_board(self):
        hss = column("hss", (0.5, None, None, 1), (0.25, None, None, 2), (0.75,))
        table = Table(CAPTION, (hss,), (Row(1, 2, "ours", ""), Row(2, None, "out", "", flags=("disqualified",))))
        assert "textbf" not in latex.write(table) and markdown.write(table).count("**") == 2

    def test_an_empty_board_is_a_head_without_rows(self):
        empty = Table(CAPTION, COLUMNS, ())
        assert read_csv(csv_file.write(empty)) == [] and csv_file.write(empty).startswith("\ufeffrank,")
        assert json.loads(json_file.write(empty))["rows"] == []
        assert "\\midrule\n\\bottomrule" in latex.write(empty)
        assert markdown.write(empty).endswith("| ---: | :--- | ---: | ---: |\n")

    def test_is_frozen(self):
        with pytest.raises(FrozenInstanceError):
            TABLE.rows = ()


class TestPeople:
    """People's figures go with every form of the table."""

    table = Table(
        Caption("Rooflines", "Final", "7f3a", "2026", "https://example.org/s", "Which roof is closer?, 90 answers by 9 raters"),
        (
            replace(
                column("hss", (0.5, None, None, 1)),
                people=People({"decided": Figure(0.825, 0.8, 0.85, 77), "rho": Figure(0.9, 0.5, 1.0, 9)}, (1, 2)),
            ),
            replace(
                column("fid", (2.0,), higher=False),
                people=People({"decided": NOTHING, "rho": Figure(-0.25, None, None, 7, State.NO_INTERVAL, why=FEW_ENTRIES)}),
            ),
            column("other", (1.0,)),
        ),
        (Row(0, 1, "a", "T"),),
    )

    def test_csv_repeats_the_figures_on_every_row(self):
        row = read_csv(csv_file.write(self.table))[0]
        assert (row["hss_people_decided"], row["hss_people_decided_low"], row["hss_people_decided_high"]) == ("0.825", "0.8", "0.85")
        assert (row["hss_people_place_low"], row["hss_people_place_high"], row["fid_people_place_low"]) == ("1", "2", "")
        assert (row["hss_people_decided_n"], row["hss_people_decided_why"], row["hss_people_rho_n"]) == ("77", "", "9")
        assert (row["fid_people_rho_n"], row["fid_people_rho_why"]) == ("7", FEW_ENTRIES)
        assert (row["hss_people_rho"], row["fid_people_rho"], row["fid_people_decided"]) == ("0.9", "-0.25", "")
        assert "other_people_rho" not in row and row["hss"] == "0.5" and row["other"] == "1.0"

    def test_json_has_them_with_the_columns(self):
        data = json.loads(json_file.write(self.table))
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
        assert "people" not in json.loads(json_file.write(TABLE))["caption"]

    def test_latex_and_markdown_end_with_a_line_for_each_figure(self):
        text = latex.write(self.table)
        assert r" & Agrees with people & 0.82 (0.80 to 0.85) & -- & -- \\" in text
        assert r" & Spearman's $\rho$ with people & 0.90 (0.50 to 1.00, 9 entries) & -- & -- \\" in text, (
            "of too few entries for an interval"
        )
        text = markdown.write(self.table)
        assert "| *Agrees with people* | 0.82 (0.80 to 0.85) | – | – |" in text and "9 raters" in text
        assert "| *Spearman's ρ with people* | 0.90 (0.50 to 1.00, 9 entries) | – | – |" in text
        assert "people" not in latex.write(TABLE) + markdown.write(TABLE)

    def test_where_people_read_it_no_figure_stands_below_the_smallest_numbers(self):
        """Files for programs keep the values, tables for papers do not: one person is no correlation with people."""
        hss, *others = self.table.columns
        one = People({"decided": Figure(0.8, None, None), "rho": Figure(0.94, 0.6, 0.99)}, is_few=True)
        table = replace(self.table, columns=(replace(hss, people=one), *others))
        assert "with people" not in latex.write(table) + markdown.write(table)
        assert read_csv(csv_file.write(table))[0]["hss_people_rho"] == "0.94"

    def test_nor_does_that_of_a_metric_with_values_for_too_few_of_the_answers(self):
        hss, fid, other = self.table.columns
        fid = replace(fid, people=People({"decided": Figure(0.81, None, None, 12, State.TOO_FEW)}))
        table = replace(self.table, columns=(hss, fid, other))
        assert "| *Agrees with people* | 0.82 (0.80 to 0.85) | – | – |" in markdown.write(table)
        assert r" & Agrees with people & 0.82 (0.80 to 0.85) & -- & -- \\" in latex.write(table)
        alike = replace(fid, people=People({"decided": Figure(0.5, None, None, 12, State.ALIKE)}))
        table = replace(table, columns=(hss, alike, other))
        assert "| *Agrees with people* | 0.82 (0.80 to 0.85) | 0.50 (no interval) | – |" in markdown.write(table)

    def test_of_published_means_a_correlation_is_all_there_is(self):
        hss, fid, other = self.table.columns
        known, few = Figure(0.94, 0.71, 0.99, 11), Figure(0.9, None, None, 6, State.NO_INTERVAL, why=FEW_ENTRIES)
        both = replace(hss, people=People({"rho": known})), replace(fid, people=People({"rho": few}))
        table = replace(self.table, columns=(*both, other))
        line = "0.94 (0.71 to 0.99, 11 entries) {0} 0.90 (no interval, 6 entries) {0}"
        assert f"| *Spearman's ρ with people* | {line.format('|')} – |" in markdown.write(table)
        assert rf" & Spearman's $\rho$ with people & {line.format('&')} -- \\" in latex.write(table)
        unknown = replace(hss, people=People({"rho": Figure(0.94, None, None)}))  # in earlier rankings
        assert "| *Spearman's ρ with people* | 0.94 (no interval) | – | – |" in markdown.write(
            replace(table, columns=(unknown, replace(fid, people=None), other))
        )

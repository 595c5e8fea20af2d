"""Tables that are made of a manifest and its files."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest

from leaderboard.evidence import canonical
from leaderboard.evidence.tables import EvidenceTables, Label, RatersAre
from tests.support.leaderboard.evidence.small_set import HEAD, MANIFEST, ROWS, TABLE, read
from tests.support.leaderboard.evidence.workbooks import workbook

WITHOUT_METRICS = (MANIFEST[MANIFEST.index("metrics:") :], "")
SUBJECTS = '    score: "Subject_*"\n'
LONG = [
    (SUBJECTS, "    score: score\n    rater: who\n    session: day\n"),
    ("raters: columns", "raters: persons\n    because: the paper, section 3"),
    ('"{Scene} path {Path}"', "Scene"),
    ('"{Codec} {Rate}"', "Codec"),
    ("    group: Scene\n", ""),
    ("    family: Codec\n", ""),
    WITHOUT_METRICS,
]
LONG_TABLE = """Scene,Codec,who,day,score
garden,a,Zoe,mon,3
garden,b,Zoe,mon,4
garden,a,Ann,mon,2
garden,b,Ann,mon,5
garden,a,Zoe,tue,1
garden,b,Zoe,tue,2
garden,a,Zoe,tue,5
"""


def everything(tables: EvidenceTables) -> str:
    """All that the tables hold, as text."""
    return repr(dataclasses.asdict(tables))


class TestStimuli:
    def test_by_item_and_entry_with_groups_families_and_labels(self, tmp_path):
        tables = read(tmp_path).tables
        of = tables.stimuli
        assert of.items == ("bicycle path 1", "garden path 1") and of.groups == ("bicycle", "garden")
        assert of.entries == ("ContextGS R01", "ContextGS R02", "HAC R01", "REF 0") and of.families == ("ContextGS", "HAC", "REF")
        assert of.item.tolist() == [0, 0, 0, 1, 1, 1] and of.entry.tolist() == [0, 1, 2, 0, 2, 3]
        assert of.labels == (Label.ENTRY, Label.ENTRY, Label.ENTRY, Label.REFERENCE)
        assert of.family.tolist() == [0, 0, 1, 0, 1, 2] and of.group.tolist() == [0, 0, 0, 1, 1, 1]

    def test_the_order_of_a_file_changes_no_stimulus(self, tmp_path):
        turned = "\n".join([HEAD, *reversed(ROWS)]) + "\n"
        tables, other = read(tmp_path).tables, read(tmp_path, table=turned).tables
        (ours,), (theirs,) = tables.criteria, other.criteria

        def scored(of: EvidenceTables, scores) -> set[tuple]:
            stimuli = of.stimuli
            names = [(stimuli.items[item], stimuli.entries[entry]) for item, entry in zip(stimuli.item, stimuli.entry, strict=True)]
            return {
                (names[n], int(scores.number_of[r]), float(v)) for n, r, v in zip(scores.stimulus, scores.rater, scores.score, strict=True)
            }

        assert ours.scores is not None and theirs.scores is not None
        assert scored(tables, ours.scores) == scored(other, theirs.scores)

    def test_without_references_names_and_arrays_go_together(self, tmp_path):
        tables = read(tmp_path).tables.entries_only()
        of = tables.stimuli
        assert of.entries == ("ContextGS R01", "ContextGS R02", "HAC R01") and len(of) == len(tables.values) == 5
        assert of.families == ("ContextGS", "HAC") and of.items == ("bicycle path 1", "garden path 1")
        (criterion,) = tables.criteria
        assert criterion.scores is not None
        table = criterion.scores.by_rater(len(of))
        assert np.array_equal(table[0], [1, 3, 2, 1, 4]) and np.array_equal(table[2], [np.nan, 5, 3, 2, 5], equal_nan=True)

    def test_a_file_of_windows_with_a_mark_and_blank_lines_reads_the_same(self, tmp_path):
        other = read(tmp_path, table="\ufeff" + TABLE.replace("\n", "\r\n") + "\r\n,,,,,,,,\r\n").tables
        assert everything(other) == everything(read(tmp_path).tables)

    def test_a_spreadsheet_reads_the_same(self, tmp_path):
        cells = [[_cell(text) for text in line.split(",")] for line in (HEAD, *ROWS)]
        workbook(tmp_path / "Results.xlsx", cells)
        from leaderboard.evidence import reading
        from submissions.formats.spreadsheet import read_sheet
        from tests.support.leaderboard.evidence.small_set import manifest_of

        found = reading.read(manifest_of([("data/Results.csv", "data/Results.xlsx")]), tmp_path, read_sheet)
        assert everything(found.tables) == everything(read(tmp_path).tables)

    def test_spellings_are_mended_and_letters_folded(self, tmp_path):
        changes = [('"{Codec} {Rate}"', "{column: Codec, fold: true, rename: {CONTEXTGS: Context-GS}}"), ("    family: Codec\n", "")]
        table = "\n".join([HEAD, *(row.replace("HAC", "hac") if row.startswith("garden") else row for row in ROWS if "R02" not in row)])
        tables = read(tmp_path, changes, table).tables
        assert tables.stimuli.entries == ("Context-GS", "hac", "ref")


def _cell(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text or None


class TestRaters:
    def test_wide_columns_are_numbered_in_their_order_and_an_empty_one_is_nobody(self, tmp_path):
        table = TABLE.replace("Subject_1", "Subject_0").replace("\n", ",\n").replace("LPIPS,", "LPIPS,Subject_9", 1)
        (criterion,) = read(tmp_path, table=table).tables.criteria
        assert criterion.scores is not None
        assert criterion.scores.number_of.tolist() == [1, 2, 3] and len(criterion.scores) == 17

    def test_long_rows_are_numbered_by_first_appearance_in_each_session(self, tmp_path):
        tables = read(tmp_path, LONG, LONG_TABLE).tables
        (criterion,) = tables.criteria
        scores = criterion.scores
        assert scores is not None and scores.sessions == ("mon", "tue")
        assert scores.number_of.tolist() == [1, 2, 1] and scores.session_of.tolist() == [0, 0, 1]
        assert (tables.raters_are, tables.because) == (RatersAre.PERSONS, "the paper, section 3")

    def test_a_second_score_of_a_rater_is_left_out_and_said(self, tmp_path):
        tables = read(tmp_path, LONG, LONG_TABLE).tables
        (criterion,) = tables.criteria
        assert criterion.scores is not None and criterion.scores.score.tolist() == [3, 4, 2, 5, 1, 2]
        (remark,) = tables.remarks
        assert re.findall(r"\d+", remark) == ["1"]

    def test_no_name_of_a_rater_leaves_the_reader(self, tmp_path):
        tables = read(tmp_path, LONG, LONG_TABLE).tables
        (tmp_path / "tables").mkdir()
        files = canonical.write(tables, tmp_path / "tables")
        written = "".join((tmp_path / "tables" / name).read_text() for name in files)
        for name in ("Zoe", "Ann"):
            assert name not in everything(tables) and name not in written

    def test_scores_of_nobody_known_are_all_kept(self, tmp_path):
        changes = [*LONG[:1], ("raters: columns", "raters: anonymous"), *LONG[2:], ("    rater: who\n    session: day\n", "")]
        (criterion,) = read(tmp_path, changes, LONG_TABLE).tables.criteria
        scores = criterion.scores
        assert scores is not None and sorted(scores.score.tolist()) == [1, 2, 2, 3, 4, 5, 5] and scores.n_raters == 4
        assert len(set(zip(scores.rater.tolist(), scores.stimulus.tolist(), strict=True))) == 7

    def test_raters_of_two_criteria_share_one_numbering(self, tmp_path):
        changes = [*LONG, ("    score: score\n", "    score: score\n    criterion: day\n"), ("    session: day\n", "")]
        table = LONG_TABLE.replace("garden,a,Zoe,mon,3\ngarden,b,Zoe,mon,4\n", "")
        first, second = read(tmp_path, changes, table).tables.criteria
        assert (first.name, second.name) == ("mon", "tue") and first.scores is not None and second.scores is not None
        assert first.scores.number_of.tolist() == [1] and second.scores.number_of.tolist() == [2]


class TestMeans:
    def means(self, tmp_path, columns: str, row: str):
        changes = [(SUBJECTS, f"    mean: Mean\n{columns}"), ("    raters: columns\n", ""), WITHOUT_METRICS]
        heads = "Scene,Path,Codec,Rate,Mean,One,Two\n"
        tables = read(tmp_path, changes, f"{heads}garden,1,a,1,3,{row}\ngarden,1,b,1,4,,\n").tables
        assert tables.raters_are == RatersAre.NONE
        (criterion,) = tables.criteria
        assert criterion.means is not None and criterion.means.mean.tolist() == [3, 4] and math.isnan(criterion.means.se[1])
        return criterion.means

    def test_the_error_is_the_printed_one_of_the_interval_or_of_sd_and_n(self, tmp_path):
        assert self.means(tmp_path, "    se: One\n", "0.25,").se[0] == 0.25
        assert self.means(tmp_path, "    low: One\n    high: Two\n", "2,4").se[0] == pytest.approx(1 / 1.959964, rel=1e-7)
        assert self.means(tmp_path, "    half_width: One\n", "0.5,").se[0] == pytest.approx(0.5 / 1.959964, rel=1e-7)
        assert self.means(tmp_path, "    half_width: One\n    level: 90\n", "0.5,").se[0] == pytest.approx(0.5 / 1.6448536, rel=1e-7)
        found = self.means(tmp_path, "    sd: One\n    n: Two\n", "1.5,9")
        assert (found.sd[0], found.n[0], found.se[0]) == (1.5, 9, 0.5)

    def test_a_mean_alone_has_no_error(self, tmp_path):
        found = self.means(tmp_path, "", ",")
        assert np.isnan(found.se).all() and np.isnan(found.sd).all() and np.isnan(found.n).all()

    def test_criteria_stand_in_the_order_in_which_they_are_named(self, tmp_path):
        changes = [
            (SUBJECTS, "    mean: Mean\n    criterion: {column: What, values: {all: overall, shape: shape}}\n"),
            ("    raters: columns\n", ""),
            WITHOUT_METRICS,
        ]
        table = "Scene,Path,Codec,Rate,What,Mean\n" + "".join(f"g,1,{e},1,{w},3\n" for e in "ab" for w in ("shape", "all"))
        assert [one.name for one in read(tmp_path, changes, table).tables.criteria] == ["overall", "shape"]


def test_answers_on_pairs(tmp_path):
    changes = [
        (
            '    entry: "{Codec} {Rate}"\n    family: Codec\n' + SUBJECTS,
            "    left: a\n    right: b\n    choice: {column: said, values: {L: left, R: right, same: tie}}\n    rater: who\n",
        ),
        ('"{Scene} path {Path}"', "Scene"),
        WITHOUT_METRICS,
    ]
    tables = read(tmp_path, changes, "Scene,a,b,said,who\ngarden,x,y,L,Zoe\ngarden,y,z,R,Ann\ngarden,z,x,same,Zoe\n").tables
    (criterion,) = tables.criteria
    pairs = criterion.pairs
    assert pairs is not None and tables.stimuli.entries == ("x", "y", "z")
    assert pairs.left.tolist() == [0, 1, 2] and pairs.right.tolist() == [1, 2, 0]
    assert pairs.choice.tolist() == [-1, 1, 0] and pairs.rater.tolist() == [0, 1, 0]


class TestValues:
    def test_as_published_and_turned(self, tmp_path):
        tables = read(tmp_path).tables
        assert [(one.column, one.name, one.higher_is_better) for one in tables.metrics] == [
            ("PSNR_Y", "psnr-y", True),
            ("LPIPS", "lpips", False),
        ]
        assert tables.values[:, 1].tolist() == [0.5, 0.25, 0.375, 0.4, 0.2, 0]
        assert tables.oriented()[:2].tolist() == [[20.5, -0.5], [25.5, -0.25]]

    def test_what_is_not_finite_is_missing_and_counted(self, tmp_path):
        table = TABLE.replace("20.5,0.5", "inf,NaN").replace("25.5,0.25", "-,0.25")
        tables = read(tmp_path, table=table).tables
        assert np.isnan(tables.values[0]).all() and np.isnan(tables.values[1, 0])
        assert [(remark.split()[0], re.findall(r"\d+", remark)) for remark in tables.remarks] == [("PSNR_Y", ["2"]), ("LPIPS", ["1"])]

    def test_a_source_may_write_its_own_word_for_no_value(self, tmp_path):
        tables = read(tmp_path, [("lpips, better: lower", 'lpips, better: lower, missing: "0"')]).tables
        assert np.isnan(tables.values[5, 1]) and np.isfinite(np.delete(tables.values.ravel(), 11)).all() and len(tables.remarks) == 1

    def test_rows_on_one_side_alone_are_left_out_and_said(self, tmp_path):
        changes = [
            ("bytes: 10}\n", "bytes: 10}\n  - {id: more, path: More.csv, sha256: " + "1" * 64 + ", bytes: 9}\n"),
            ("    group: Scene\n", '    group: Scene\n    key: {template: "{Scene}-{Codec}-{Rate}", fold: true}\n'),
            (
                "  - file: all\n    columns",
                "  - file: more\n    key: {column: id, fold: true, rename: {bike-hac-r01: bicycle-hac-r01}}\n    columns",
            ),
        ]
        (tmp_path / "More.csv").write_text(
            "id,PSNR_Y,LPIPS\nbicycle-CONTEXTGS-R01,1,2\nbike-HAC-R01,3,4\nmoon-HAC-R01,5,6\nmars-HAC-R01,7,8\n"
        )
        tables = read(tmp_path, changes).tables
        assert tables.values[:3].tolist()[::2] == [[1, 2], [3, 4]] and np.isnan(tables.values[1]).all()
        left_out, without = tables.remarks
        assert left_out.startswith("2 of 4 rows ") and left_out.endswith(": moon-hac-r01, mars-hac-r01.")
        some = "bicycle path 1, ContextGS R02; garden path 1, ContextGS R01; garden path 1, HAC R01"
        assert without.startswith("4 of 6 stimuli ") and f"More.csv: {some} and " in without

    def test_a_set_with_one_entry_on_each_item_stays_for_figures_across_items(self, tmp_path):
        rows = [f"s{n},1,A,R,{1 + n % 5},{1 + n % 4},,{n},0.5" for n in range(24)]
        tables = read(tmp_path, table="\n".join([HEAD, *rows]) + "\n").tables
        assert len(tables.stimuli.items) == 24 and len(tables.remarks) == 1


class TestPrinted:
    def test_a_number_gets_the_columns_it_is_computed_from(self, tmp_path):
        one = "{statistic: srcc, metric: LPIPS, against: Subject_1, where: {Scene: garden}, value: -0.9, digits: 1}"
        (found,) = read(tmp_path, [("labels:", f"printed:\n  - {one}\nlabels:")]).printed
        assert found.x.tolist() == [0.4, 0.2, 0] and found.y.tolist() == [1, 4, 5] and len(set(found.group.tolist())) == 1
        assert (found.printed.value, found.printed.digits) == (-0.9, 1)

    def test_a_printed_table_gives_a_number_a_cell(self, tmp_path):
        table = """printed_tables:
  - file: said
    metric: {column: name, values: {PSNR: PSNR_Y}, else: ""}
    against: Subject_2
    digits: 2
    where: {Scene: {column: set, rename: {both: ""}}}
    cells:
      - {column: rho, statistic: srcc}
      - {column: r, statistic: plcc, where: {Path: ["1", "2"]}}
labels:"""
        changes = [
            (
                "bytes: 10}\n",
                "bytes: 10}\n  - {id: said, path: said.tex, sha256: " + "1" * 64 + ", bytes: 9, heads: [name, set, rho, r]}\n",
            ),
            ("labels:", table),
        ]
        lines = [
            r"\begin{tabular}{lll}",
            r"\textbf{PSNR} & both & 0.81\goldmedal & .72 \\",
            r"PSNR&garden|bicycle&0.5&\\",
            r"Ours & both & .9 & .9 \\",
        ]
        (tmp_path / "said.tex").write_text("\n".join(lines) + "\n")
        found = read(tmp_path, changes).printed
        assert [(one.printed.statistic, one.printed.value, len(one.x)) for one in found] == [
            ("srcc", 0.81, 6),
            ("plcc", 0.72, 6),
            ("srcc", 0.5, 6),
        ]
        assert found[2].printed.where == (("Scene", ("garden", "bicycle")),)


def test_canonical_files_hold_what_the_tables_hold(tmp_path):
    (tmp_path / "out").mkdir()
    table = TABLE.replace("garden", "=garden").replace("HAC", "@HAC")
    assert canonical.write(read(tmp_path, table=table).tables, tmp_path / "out") == ["judgements.csv", "values.csv", "labels.csv"]
    judgements = (tmp_path / "out" / "judgements.csv").read_text().splitlines()
    assert judgements[0] == "item,group,entry,family,criterion,rater,session,score"
    first, *_, last = (dict(zip(judgements[0].split(","), row.split(","), strict=True)) for row in judgements[1:])
    assert (first["item"], first["entry"], first["rater"], first["score"]) == ("bicycle path 1", "ContextGS R01", "1", "1")
    assert (last["item"], last["group"], last["rater"], last["score"]) == ("'=garden path 1", "'=garden", "3", "5")
    assert len(judgements) == 18
    values = (tmp_path / "out" / "values.csv").read_text().splitlines()
    assert values[:2] == ["item,entry,psnr-y:higher,lpips:lower", "bicycle path 1,ContextGS R01,20.5,0.5"]
    assert values[3] == "bicycle path 1,'@HAC R01,22,0.375"
    assert (tmp_path / "out" / "labels.csv").read_text().splitlines() == ["entry,label", "REF 0,reference"]

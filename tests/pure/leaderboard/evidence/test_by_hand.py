"""Files that are described by hand: what they come to, and every wrong one with the sentences that it is refused with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leaderboard.evidence import by_hand, canonical
from leaderboard.evidence.by_hand import ByHand, FieldError, Layout
from leaderboard.evidence.manifest import Manifest
from leaderboard.evidence.raw import EvidenceError
from leaderboard.evidence.reading import Reading
from submissions.formats.spreadsheet import read_sheet
from submissions.formats.yaml_document import DocumentError
from tests.support.leaderboard.evidence.small_set import MANIFEST, TABLE, changed
from tests.support.leaderboard.evidence.workbooks import members, sheet, write

LONG = "item,entry,rater,score\n" + "".join(
    f"{item},{entry},{rater},{score}\n"
    for item, entry, rater, score in (
        ("room", "a", "Ann", "0"),
        ("room", "b", "Ann", "100"),
        ("room", "a", "Bob", "12.5"),
        ("hall", "a", "Bob", "50"),
        ("hall", "b", "Bob", "75"),
    )
)
MEANS = "item,entry,mean,sd,n\nroom,a,-1.5,1,16\nroom,b,0.25,2,16\nhall,a,-2,1,9\nhall,b,0,1,9\n"
PAIRS = "item,left,right,choice,rater\nroom,a,b,left,Ann\nroom,a,b,right,Bob\nhall,b,a,tie,Ann\n"
VALUES = "item,entry,psnr-y:higher,Ours:lower\nroom,a,20,1\nroom,b,25,2\nhall,a,21,3\nhall,b,,4\n"
WIDE: dict[str, Any] = {
    "layout": Layout.WIDE,
    "wide": "Subject_*",
    "columns": {"item": "{Scene} path {Path}", "entry": "{Codec} {Rate}"},
    "groups": "Scene",
    "families": "Codec",
}
PAPER = {
    "authors": "A. Author",
    "repository": "https://github.com/example/small",
    "commit": "ab" * 20,
    "licence": "MIT",
    "published": "2026-02-04",
}


def described(folder: Path, answers: str | bytes, values: str = "", name: str = "answers.csv", **said: Any) -> Reading:
    """The set of these texts as files, described by `said`."""
    (folder / name).write_bytes(answers if isinstance(answers, bytes) else answers.encode())
    if values:
        (folder / "values.csv").write_text(values)
        said = {"values": folder / "values.csv"} | said
    return by_hand.read(ByHand("small", "A small set", folder / name, **({"published": "2026-11-28"} | said)), read_sheet)[1]


def by_hand_manifest(folder: Path) -> Manifest:
    """The manifest of some set in the folder."""
    (folder / "other.csv").write_text(LONG)
    return by_hand.read(ByHand("small", "S", folder / "other.csv", scale="0:100", published="2026-11-28"), read_sheet)[0]


class TestWhatIsTaken:
    def test_scores_on_another_scale_with_decimals(self, tmp_path):
        tables = described(tmp_path, LONG, scale="0:100").tables
        (criterion,) = tables.criteria
        assert tables.scale == (0, 100) and criterion.name == "quality" and criterion.scores is not None
        assert criterion.scores.score.tolist() == [0, 100, 12.5, 50, 75] and criterion.scores.rater.tolist() == [0, 0, 1, 1, 1]

    def test_a_wide_file_with_values_in_it(self, tmp_path):
        tables = described(tmp_path, TABLE, **WIDE, metrics=["PSNR_Y=psnr-y:higher", "LPIPS=lower"]).tables
        assert [(one.column, one.name, one.higher_is_better) for one in tables.metrics] == [
            ("PSNR_Y", "psnr-y", True),
            ("LPIPS", "", False),
        ]
        assert tables.stimuli.groups == ("bicycle", "garden") and tables.stimuli.families == ("ContextGS", "HAC", "REF")

    def test_means_on_a_scale_without_ends(self, tmp_path):
        tables = described(tmp_path, MEANS, layout=Layout.MEANS, scale="JOD", better="higher").tables
        (criterion,) = tables.criteria
        assert tables.scale is None and tables.scale_name == "JOD" and criterion.means is not None
        assert criterion.means.se.tolist() == [0.25, 0.5, pytest.approx(1 / 3), pytest.approx(1 / 3)]

    def test_pairs_with_tables_of_groups_and_families(self, tmp_path):
        tables = described(
            tmp_path,
            PAIRS,
            layout=Layout.PAIRS,
            groups={"room": "house", "hall": "house"},
            families={"a": "x", "b": "x"},
        ).tables
        assert tables.stimuli.groups == ("house",) and tables.stimuli.families == ("x",) and tables.scale is None
        back = canonical.unpack(canonical.pack(by_hand_manifest(tmp_path), tables))[1].tables
        assert back.stimuli.families == ("x",) and back.criteria[0].pairs is not None and len(back.criteria[0].pairs) == 3

    def test_values_of_another_file_whose_heads_say_their_direction(self, tmp_path):
        tables = described(tmp_path, LONG, VALUES, scale="0:100").tables
        assert [(one.column, one.name, one.higher_is_better) for one in tables.metrics] == [
            ("psnr-y", "psnr-y", True),
            ("Ours", "", False),
        ]
        assert np.nan_to_num(tables.values, nan=-1).tolist() == [[20, 1], [25, 2], [21, 3], [-1, 4]]

    def test_a_spreadsheet_with_sessions_and_criteria(self, tmp_path):
        rows: list[list[object]] = [["item", "entry", "rater", "score", "day", "asked"]]
        rows += [
            ["room", e, "1", s, day, asked] for asked in ("look", "shape") for day in ("mon", "tue") for e, s in (("a", 3), ("b", 4.5))
        ]
        path = write(tmp_path / "answers.xlsx", members({"Notes": sheet([["x"]]), "All": sheet(rows)}))
        columns = {"session": "day", "criterion": "asked"}
        said = ByHand("small", "S", path, sheet="All", columns=columns, scale="0:10", published="2026-11-28")
        tables = by_hand.read(said, read_sheet)[1].tables
        assert [one.name for one in tables.criteria] == ["look", "shape"]
        assert tables.criteria[0].scores is not None and tables.criteria[0].scores.sessions == ("mon", "tue")
        assert tables.criteria[0].scores.n_raters == 2  # one number in two sessions is two raters

    @pytest.mark.parametrize("name", ["wide.csv", "wide.xlsx"])
    def test_a_column_for_each_rater_and_a_row_for_each_score_are_the_same_set(self, tmp_path, name):
        rows = [["room", "a", "0", "12.5"], ["room", "b", "100", ""], ["hall", "a", "", "50"], ["hall", "b", "", "75"]]
        wide: list[list[object]] = [["item", "entry", "by Ann", "by Bob"], *rows]
        (tmp_path / "long.csv").write_text(LONG)
        if name == "wide.csv":
            (tmp_path / name).write_text("".join(f"{','.join(map(str, row))}\n" for row in wide))
        else:
            write(tmp_path / name, members({"Sheet1": sheet(wide)}))
        about: dict[str, Any] = {"scale": "0:100", "raters": "persons", "because": "Section 3", "published": "2026-11-28"}
        of_rows = by_hand.read(ByHand("small", "S", tmp_path / "long.csv", **about), read_sheet)[1].tables
        of_columns = by_hand.read(ByHand("small", "S", tmp_path / name, layout=Layout.WIDE, wide="by *", **about), read_sheet)[1].tables
        texts = []
        for tables in (of_rows, of_columns):
            (found,) = canonical.write(tables, tmp_path)
            texts.append(sorted((tmp_path / found).read_text().splitlines()))
        assert texts[0] == texts[1] and len(texts[0]) == 6 and "Ann" not in str(texts)
        assert (of_rows.raters_are, of_rows.because) == (of_columns.raters_are, of_columns.because)

    def test_names_of_raters_are_in_nothing_that_is_kept(self, tmp_path):
        (tmp_path / "answers.csv").write_text(LONG)
        said = ByHand("small", "S", tmp_path / "answers.csv", scale="0:100", published="2026-11-28")
        manifest, found = by_hand.read(said, read_sheet)
        kept = canonical.pack(manifest, found.tables)
        back, read = canonical.unpack(kept)
        (tmp_path / "again").mkdir()
        texts = [(tmp_path / "again" / name).read_text() for name in canonical.write(read.tables, tmp_path / "again")]
        assert [(name, text) for name in ("Ann", "Bob") for text in texts if name in text] == []
        assert canonical.pack(back, read.tables) == kept

    def test_what_is_said_of_a_publication(self, tmp_path):
        (tmp_path / "answers.csv").write_text(LONG)
        manifest, _ = by_hand.read(ByHand("small", "S", tmp_path / "answers.csv", scale="0:100", **PAPER), read_sheet)
        assert (manifest.authors, manifest.licence.stated, manifest.published) == ("A. Author", "MIT", "2026-02-04")
        assert manifest.published_files[0].sha256 == hashlib.sha256(LONG.encode()).hexdigest()

    def test_answers_that_were_not_published_say_who_collected_them_and_when_they_came(self, tmp_path):
        (tmp_path / "answers.csv").write_text(LONG)
        said = ByHand("small", "S", tmp_path / "answers.csv", scale="0:100", source="our lab", published="2026-11-28")
        manifest, _ = by_hand.read(said, read_sheet)
        assert manifest.authors == "our lab" and manifest.source.version.endswith(" 2026-11-28")


def line(text: str, number: int, new: str) -> str:
    """The text with another line; lines are counted from 1."""
    lines = text.splitlines()
    lines[number - 1] = new
    return "\n".join(lines) + "\n"


# A name, the file, what is said of it, and all sentences; a field where one is meant.
WRONG: list[tuple[str, str | bytes, Mapping[str, Any], str, list[str]]] = [
    (
        "a score beyond the usual scale",
        LONG,
        {},
        "",
        [
            "answers.csv, row 2, score: 0 lies outside 1 to 5. Is the scale another one?",
            "answers.csv, row 3, score: 100 lies outside 1 to 5. Is the scale another one?",
            "answers.csv, row 4, score: 12.5 lies outside 1 to 5. Is the scale another one?",
            "2 more scores lie outside 1 to 5.",
        ],
    ),
    (
        "a score beyond the scale that is said",
        line(LONG, 3, "room,b,Ann,101"),
        {"scale": "0:100"},
        "",
        ["answers.csv, row 3, score: 101 lies outside 0 to 100. Is the scale another one?"],
    ),
    ("a scale upside down", LONG, {"scale": "10:0"}, "scale", ["expected the lower end first, found [10, 0]."]),
    ("a scale of words", LONG, {"scale": "low:high"}, "scale", ["expected two numbers such as [1, 5], or a word such as JOD."]),
    ("no scale", LONG, {"scale": ""}, "scale", ["expected two numbers such as [1, 5], or a word such as JOD"]),
    ("a direction that is none", LONG, {"better": "up"}, "better", ['expected one of higher, lower, found "up".']),
    (
        "a score that is a word",
        line(LONG, 2, "room,a,Ann,good"),
        {"scale": "0:100"},
        "",
        ["answers.csv, row 2, score: “good” is not a number."],
    ),
    (
        "a score with a decimal comma",
        line(LONG, 2, 'room,a,Ann,"4,5"'),
        {"scale": "0:100"},
        "",
        ["answers.csv, row 2, score: “4,5” is not a number. Write a point before decimals."],
    ),
    (
        "no column of items",
        LONG.replace("item", "place"),
        {},
        "",
        ["answers.csv has no column item; there are: place, entry, rater, score."],
    ),
    (
        "no column of entries",
        LONG.replace("entry", "method"),
        {},
        "",
        ["answers.csv has no column entry; there are: item, method, rater, score."],
    ),
    (
        "no column of scores",
        LONG.replace("score", "mark"),
        {},
        "",
        ["answers.csv has no column score; there are: item, entry, rater, mark."],
    ),
    ("no column of raters", LONG.replace("rater", "who"), {}, "", ["answers.csv has no column rater; there are: item, entry, who, score."]),
    ("an empty rater", line(LONG, 2, "room,a,,3"), {"scale": "0:100"}, "", ["answers.csv, row 2: rater is empty."]),
    ("an empty item", line(LONG, 2, ",a,Ann,3"), {"scale": "0:100"}, "", ["answers.csv, row 2: item is empty."]),
    ("an empty entry", line(LONG, 2, "room,,Ann,3"), {"scale": "0:100"}, "", ["answers.csv, row 2: entry is empty."]),
    (
        "columns that are no answers'",
        LONG,
        {"columns": {"mood": "x"}},
        "columns",
        ["There is no column mood of answers; these may be named"],
    ),
    ("a personal column as group", LONG, {"groups": "Age"}, "group", ["Column Age is personal data. It is not read."]),
    (
        "a personal column as session",
        LONG,
        {"columns": {"session": "e-mail"}},
        "session",
        ["Column e-mail is personal data. It is not read."],
    ),
    ("raters that are columns of scores of nobody", LONG, {"raters": "none"}, "raters", ["single answers have somebody who gave them"]),
    ("persons without a reason", LONG, {"raters": "persons"}, "raters", ["expected `because` beside it"]),
    (
        "raters of a kind that is none",
        LONG,
        {"raters": "robots"},
        "raters",
        ["expected one of columns, persons, anonymous, none", "single answers have somebody who gave them"],
    ),
    ("a material that is none", LONG, {"material": "songs"}, "material", ["expected one of splat videos, nerf videos"]),
    ("a pattern of columns that matches none", TABLE, {**WIDE, "wide": "obs*"}, "", ["answers.csv has no column like obs*."]),
    (
        "a pattern of columns that are no persons",
        TABLE,
        {**WIDE, "wide": "S*"},
        "",
        ["Column Scene names a stimulus and is no rater; S* matches it."],
    ),
    (
        "a pattern that matches personal data",
        TABLE.replace("Subject_2", "Subject_age"),
        WIDE,
        "",
        ["Column Subject_age is personal data. It is not read."],
    ),
    (
        "a wide file without its pattern",
        TABLE,
        {**WIDE, "layout": Layout.SCORES},
        "",
        ["answers.csv has no column rater", "answers.csv has no column score"],
    ),
    (
        "an item in two groups",
        TABLE,
        {**WIDE, "groups": "Rate"},
        "",
        ["bicycle path 1 is in two groups: R01 and R02.", "garden path 1 is in two groups: R01 and 0."],
    ),
    (
        "an entry in two families",
        TABLE,
        {**WIDE, "families": "Scene"},
        "",
        ["ContextGS R01 is in two families: bicycle and garden.", "HAC R01 is in two families: bicycle and garden."],
    ),
    ("a group for some items alone", PAIRS, {"layout": Layout.PAIRS, "groups": {"room": "x"}}, "", ["1 of 2 items has no group: hall."]),
    ("families of other entries", LONG, {"scale": "0:100", "families": {"z": "x"}}, "", ["2 of 2 entries have no family: a, b."]),
    (
        "labels of other entries",
        LONG,
        {"scale": "0:100", "labels": {"z": "reference"}},
        "",
        ["The labels name what is no entry of the answers: z."],
    ),
    (
        "a label that is none",
        LONG,
        {"labels": {"a": "good"}},
        "labels",
        ["a is labelled good; a label is one of team, baseline, corruption"],
    ),
    (
        "nothing but references",
        LONG,
        {"scale": "0:100", "labels": {"a": "reference", "b": "empty"}},
        "",
        ["Every entry is a reference, a damaged copy or empty: there is nothing to compare."],
    ),
    (
        "two means of one stimulus",
        MEANS + "room,a,2,1,16\n",
        {"layout": Layout.MEANS, "scale": "JOD"},
        "",
        ["room, a is listed twice (rows 2 and 6) with different means."],
    ),
    ("the mean of one score", line(MEANS, 2, "room,a,1,1,1"), {"layout": Layout.MEANS, "scale": "JOD"}, "", ["row 2: n is 1; the mean"]),
    (
        "a standard deviation below 0",
        line(MEANS, 2, "room,a,1,-1,9"),
        {"layout": Layout.MEANS, "scale": "JOD"},
        "",
        ["answers.csv, row 2: the standard deviation is below 0."],
    ),
    (
        "an interval that does not hold the mean",
        "item,entry,mean,low,high\nroom,a,3,3.5,4\nroom,b,2,1,3\n",
        {"layout": Layout.MEANS},
        "",
        ["answers.csv, row 2: the interval does not hold the mean."],
    ),
    (
        "one end of an interval",
        "item,entry,mean,low\nroom,a,3,2\nroom,b,2,1\n",
        {"layout": Layout.MEANS},
        "low",
        ["expected low and high together."],
    ),
    ("means without the column", LONG, {"layout": Layout.MEANS}, "", ["answers.csv has no column mean; there are"]),
    (
        "means beyond the scale",
        line(MEANS, 2, "room,a,11,1,9"),
        {"scale": "-5:5", "layout": Layout.MEANS},
        "",
        ["answers.csv, row 2, mean: 11 lies outside -5 to 5. Is the scale another one?"],
    ),
    (
        "a choice that is none",
        line(PAIRS, 2, "room,a,b,both,Ann"),
        {"layout": Layout.PAIRS},
        "",
        ["the choice is “both”; it must be left, right or tie."],
    ),
    (
        "a pair of one entry",
        line(PAIRS, 2, "room,a,a,left,Ann"),
        {"layout": Layout.PAIRS},
        "",
        ["answers.csv, row 2: left and right are the same entry."],
    ),
    (
        "pairs without the columns",
        LONG,
        {"layout": Layout.PAIRS},
        "",
        ["answers.csv has no column left", "answers.csv has no column right", "choice"],
    ),
    ("no two entries on an item", "item,entry,rater,score\nroom,a,1,3\nhall,b,1,4\n", {}, "", ["No two entries met on an item"]),
    ("nothing below the heads", "item,entry,rater,score\n", {}, "", ["answers.csv has no rows below its heads."]),
    (
        "no answer at all",
        "item,entry,rater,score\nroom,a,1,\nroom,b,1,-\n",
        {},
        "",
        ["The files hold no answer: every score and mean is empty."],
    ),
    ("an empty file", "", {}, "", ["answers.csv: is empty."]),
    (
        "a column twice",
        LONG.replace("rater", "entry"),
        {},
        "",
        ["answers.csv has the column entry twice; which one is meant cannot be told."],
    ),
    ("a cell beyond the heads", line(LONG, 2, "room,a,Ann,3,9"), {}, "", ["answers.csv, row 2: there is a cell beyond the head's last."]),
    ("an open quote", LONG + '"room', {}, "", ["answers.csv: row 7: cannot be read as CSV (unexpected end of data)."]),
    ("bytes that are no text", b"\xff\xfeitem", {}, "", ["answers.csv: is UTF-16 or UTF-32 text; save it as UTF-8."]),
    (
        "a name without end",
        line(LONG, 2, f"room,{'x' * 300},Ann,3"),
        {"scale": "0:100"},
        "",
        ["answers.csv, row 2: entry has more than 200 characters."],
    ),
    (
        "a publication without a version",
        LONG,
        {**PAPER, "commit": ""},
        "commit",
        ["Say which version: a commit, a DOI or a dated release. A branch changes."],
    ),
    ("a branch", LONG, {**PAPER, "commit": "main"}, "commit", ["A branch changes."]),
    ("a release without its date", LONG, {**PAPER, "commit": "", "release": "v2"}, "release", ["a release with its date"]),
    ("a publication without a licence", LONG, {**PAPER, "licence": ""}, "licence", ["Say what licence is stated, or `stated: none`."]),
    ("a publication without authors", LONG, {**PAPER, "authors": ""}, "authors", ["Say who the authors are."]),
    ("a publication without an address", LONG, {**PAPER, "repository": ""}, "repository", ["Say where it was published"]),
    ("a publication without a date", LONG, {**PAPER, "published": ""}, "published", ["Say when it was published, such as 2026-02-04."]),
    ("an address that is none", LONG, {**PAPER, "repository": "github"}, "repository", ["expected a web address, found “github”."]),
    ("a DOI that is none", LONG, {**PAPER, "doi": "doi"}, "doi", ["expected a DOI such as"]),
    ("a metric without a direction", LONG, {"metrics": ["PSNR"]}, "metrics", ["PSNR: say whether higher or lower is better."]),
    (
        "a metric with a direction that is none",
        LONG,
        {"metrics": ["PSNR=psnr:up"]},
        "metrics",
        ["PSNR: say whether higher or lower is better."],
    ),
    (
        "a published name that nobody knows",
        LONG,
        {"metrics": ["P=psnr-z:higher"]},
        "metrics",
        ["P: psnr-z is no name of a published metric."],
    ),
    ("a metric's column that is not there", LONG, {"scale": "0:100", "metrics": ["P=psnr:higher"]}, "", ["answers.csv has no column P"]),
    ("a personal column as a metric", LONG, {"metrics": ["Age=higher"]}, "columns", ["Column Age is personal data. It is not read."]),
]
WRONG_VALUES = [
    ("values without directions", VALUES.replace(":higher", ""), "metrics", ["psnr-y: say whether higher or lower is better."]),
    ("nothing but names", "item,entry\nroom,a\n", "metrics", ["Say which columns are metrics, and whether higher or lower is better"]),
    (
        "items that do not match",
        VALUES.replace("room", "den").replace("hall", "loft"),
        "",
        ["No row of values.csv belongs to a stimulus that has an answer: the names do not match."],
    ),
    ("entries that do not match", VALUES.replace(",a,", ",A,").replace(",b,", ",B,"), "", ["the names do not match."]),
    ("no column of entries", VALUES.replace("entry", "method:higher"), "", ["values.csv has no column entry"]),
    (
        "two values of one stimulus",
        VALUES + "room,a,21,1\n",
        "",
        ["values.csv: room, a is listed twice (rows 2 and 6) with different values of psnr-y:higher."],
    ),
    ("a value that is a word", VALUES.replace("25", "much"), "", ["values.csv, row 3, psnr-y:higher: “much” is not a number."]),
    ("an empty file", "\n", "", ["values.csv: is empty."]),
]


@pytest.mark.parametrize(("answers", "said", "field", "sentences"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_file_is_refused(tmp_path, answers, said, field, sentences):
    with pytest.raises(EvidenceError) as refused:
        described(tmp_path, answers, **said)
    assert len(refused.value.problems) == len(sentences)
    assert [
        (sentence, problem) for sentence, problem in zip(sentences, refused.value.problems, strict=True) if sentence not in problem
    ] == []
    assert (refused.value.field if isinstance(refused.value, FieldError) else "") == field


@pytest.mark.parametrize(("values", "field", "sentences"), [row[1:] for row in WRONG_VALUES], ids=[row[0] for row in WRONG_VALUES])
def test_a_wrong_file_of_values_is_refused(tmp_path, values, field, sentences):
    with pytest.raises(EvidenceError) as refused:
        described(tmp_path, LONG, values, scale="0:100")
    assert len(refused.value.problems) == len(sentences)
    assert [
        (sentence, problem) for sentence, problem in zip(sentences, refused.value.problems, strict=True) if sentence not in problem
    ] == []
    assert (refused.value.field if isinstance(refused.value, FieldError) else "") == field


@pytest.mark.parametrize("name", ["answers.txt", "answers.xls", "answers.json", "answers"])
def test_a_file_of_another_form_is_refused(tmp_path, name):
    with pytest.raises(FieldError, match=rf"{name} is no table that is read here: a CSV, TSV or XLSX file was expected\."):
        described(tmp_path, LONG, name=name)


class TestManifestBesideItsFiles:
    def set_of(self, folder: Path, digest: str = "") -> Path:
        (folder / "Results.csv").write_text(TABLE)
        digest = digest or hashlib.sha256(TABLE.encode()).hexdigest()
        (folder / "evidence.yaml").write_text(changed(MANIFEST, [("0" * 64, digest)]))
        return folder / "evidence.yaml"

    def test_is_read(self, tmp_path):
        assert len(by_hand.read_manifest(self.set_of(tmp_path), read_sheet)[1].tables.stimuli) == 6

    def test_another_file_is_refused_by_its_digest(self, tmp_path):
        with pytest.raises(
            EvidenceError, match=r"Results\.csv is not the file of the catalogue: its SHA-256 is [0-9a-f]{64}, 1{64} is needed"
        ):
            by_hand.read_manifest(self.set_of(tmp_path, "1" * 64), read_sheet)

    def test_an_absent_file_is_named(self, tmp_path):
        path = self.set_of(tmp_path)
        (tmp_path / "Results.csv").unlink()
        with pytest.raises(EvidenceError, match=r"Results\.csv is not beside evidence\.yaml\."):
            by_hand.read_manifest(path, read_sheet)

    def test_a_faulty_manifest_is_refused_by_line(self, tmp_path):
        path = self.set_of(tmp_path)
        path.write_text(path.read_text().replace("better: higher", "better: up", 1))
        with pytest.raises(DocumentError, match=r"evidence\.yaml: line 19"):
            by_hand.read_manifest(path, read_sheet)

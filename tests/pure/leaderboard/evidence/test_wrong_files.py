"""Wrong files and wrong manifests, each with the sentence that it is refused with."""

from __future__ import annotations

import pytest

from leaderboard.evidence.raw import EvidenceError
from submissions.formats.yaml_document import DocumentError
from tests.support.leaderboard.evidence.small_set import HEAD, MANIFEST, ROWS, TABLE, manifest_of, read

LONG = [
    ('    score: "Subject_*"\n', "    score: score\n    rater: who\n"),
    ('"{Scene} path {Path}"', "Scene"),
    ("    group: Scene\n", ""),
    ('"{Codec} {Rate}"', "Codec"),
    ("    family: Codec\n", ""),
    (MANIFEST[MANIFEST.index("metrics:") :], ""),
]
MEANS = [
    ('    score: "Subject_*"\n    raters: columns\n', "    mean: Mean\n    low: Low\n    high: High\n    raters: none\n"),
    (MANIFEST[MANIFEST.index("metrics:") :], ""),
]
MEANS_HEAD = "Scene,Path,Codec,Rate,Mean,Low,High\n"
PAIRS = [
    (
        '    entry: "{Codec} {Rate}"\n    family: Codec\n    score: "Subject_*"\n',
        "    left: a\n    right: b\n    choice: said\n    rater: who\n",
    ),
    ('"{Scene} path {Path}"', "Scene"),
    (MANIFEST[MANIFEST.index("metrics:") :], ""),
]
PAIRS_BLOCK = """\
  - {file: all, item: Scene, left: Codec, right: Rate, choice: {template: left}, rater: Path, raters: columns,
     scale: [1, 5], better: higher}
"""
TWO_FILES = [
    ("bytes: 10}\n", "bytes: 10}\n  - {id: more, path: More.csv, sha256: " + "1" * 64 + ", bytes: 9}\n"),
    ("metrics:\n  - file: all\n", "metrics:\n  - file: more\n    key: id\n"),
]


def row(number: int, **cells: str) -> str:
    """The table with some cells of a row changed; rows are counted from the heads, which are row 1."""
    rows = [line.split(",") for line in ROWS]
    for column, text in cells.items():
        rows[number - 2][HEAD.split(",").index(column)] = text
    return "\n".join([HEAD, *(",".join(one) for one in rows)]) + "\n"


# A name, the changes of the manifest, the table, and all that is said.
WRONG_TABLES = [
    (
        "a score beyond the scale",
        [],
        row(3, Subject_3="6"),
        ["Results.csv, row 3, Subject_3: 6 lies outside 1 to 5. Is the scale another one?"],
    ),
    (
        "many scores beyond the scale: the first three, and how many more",
        [("[1, 5]", "[0, 1]")],
        TABLE,
        [
            "Results.csv, row 2, Subject_2: 2 lies outside 0 to 1. Is the scale another one?",
            "Results.csv, row 3, Subject_1: 3 lies outside 0 to 1. Is the scale another one?",
            "Results.csv, row 3, Subject_2: 4 lies outside 0 to 1. Is the scale another one?",
            "11 more scores lie outside 0 to 1.",
        ],
    ),
    (
        "a score that is a word",
        [],
        row(2, Subject_1="good"),
        ["Results.csv, row 2, Subject_1: “good” is not a number."],
    ),
    (
        "a score with a decimal comma",
        [],
        row(2, Subject_1='"4,5"'),
        ["Results.csv, row 2, Subject_1: “4,5” is not a number. Write a point before decimals."],
    ),
    (
        "a metric's value that is a word",
        [],
        row(2, PSNR_Y="twenty"),
        ["Results.csv, row 2, PSNR_Y: “twenty” is not a number."],
    ),
    (
        "a column of scores that is personal",
        [],
        TABLE.replace("Subject_2", "Subject_age"),
        ["Column Subject_age is personal data. It is not read."],
    ),
    (
        "a pattern of raters that matches a column of the stimulus",
        [('"Subject_*"', '"S*"')],
        TABLE,
        ["Column Scene names a stimulus and is no rater; S* matches it."],
    ),
    ("a pattern of raters that matches nothing", [('"Subject_*"', '"obs*"')], TABLE, ["Results.csv has no column like obs*."]),
    (
        "an item in two groups",
        [("group: Scene", "group: Rate")],
        TABLE,
        ["bicycle path 1 is in two groups: R01 and R02.", "garden path 1 is in two groups: R01 and 0."],
    ),
    (
        "an entry in two families",
        [("family: Codec", "family: Scene")],
        TABLE,
        ["ContextGS R01 is in two families: bicycle and garden.", "HAC R01 is in two families: bicycle and garden."],
    ),
    (
        "one stimulus with two values",
        [],
        TABLE + "bicycle,1,ContextGS,R01,1,2,,20.75,0.5\n",
        ["Results.csv: bicycle path 1, ContextGS R01 is listed twice (rows 2 and 8) with different values of PSNR_Y."],
    ),
    (
        "two means of one stimulus",
        MEANS,
        MEANS_HEAD + "bicycle,1,ContextGS,R01,2,1,3\nbicycle,1,HAC,R01,3,2,4\nbicycle,1,ContextGS,R01,2.5,1,3\n",
        ["bicycle path 1, ContextGS R01 is listed twice (rows 2 and 4) with different means."],
    ),
    (
        "an interval above its mean",
        MEANS,
        MEANS_HEAD + "bicycle,1,ContextGS,R01,2,2.5,3\nbicycle,1,HAC,R01,3,2,4\n",
        ["Results.csv, row 2: the interval does not hold the mean."],
    ),
    (
        "an interval below its mean",
        MEANS,
        MEANS_HEAD + "bicycle,1,ContextGS,R01,2,1,1.5\nbicycle,1,HAC,R01,3,2,4\n",
        ["Results.csv, row 2: the interval does not hold the mean."],
    ),
    (
        "a negative half-width",
        [*MEANS, ("    low: Low\n    high: High\n", "    half_width: Low\n")],
        MEANS_HEAD + "bicycle,1,ContextGS,R01,2,-1,\nbicycle,1,HAC,R01,3,2,\n",
        ["Results.csv, row 2: the interval does not hold the mean."],
    ),
    (
        "a negative standard deviation",
        [*MEANS, ("    low: Low\n    high: High\n", "    sd: Low\n    n: High\n")],
        MEANS_HEAD + "bicycle,1,ContextGS,R01,2,-1,9\nbicycle,1,HAC,R01,3,2,9\n",
        ["Results.csv, row 2: the standard deviation is below 0."],
    ),
    (
        "a negative standard error",
        [*MEANS, ("    low: Low\n    high: High\n", "    se: Low\n")],
        MEANS_HEAD + "bicycle,1,ContextGS,R01,2,-1,\nbicycle,1,HAC,R01,3,2,\n",
        ["Results.csv, row 2: the standard error is below 0."],
    ),
    (
        "the mean of one score",
        [*MEANS, ("    low: Low\n    high: High\n", "    sd: Low\n    n: High\n")],
        MEANS_HEAD + "bicycle,1,ContextGS,R01,2,1,1\nbicycle,1,HAC,R01,3,2,9\n",
        ["Results.csv, row 2: n is 1; the mean of fewer than two scores has no error."],
    ),
    (
        "a mean beyond the scale",
        MEANS,
        MEANS_HEAD + "bicycle,1,ContextGS,R01,55,50,60\nbicycle,1,HAC,R01,3,2,4\n",
        ["Results.csv, row 2, Mean: 55 lies outside 1 to 5. Is the scale another one?"],
    ),
    (
        "no two entries on an item",
        [("path {Path}", "{Codec} {Rate}")],
        TABLE,
        ["No two entries met on an item: there is nothing to agree with."],
    ),
    (
        "nothing but references",
        [("{Codec: REF}", "{Path: '1'}")],
        TABLE,
        ["Every entry is a reference, a damaged copy or empty: there is nothing to compare."],
    ),
    ("a column that is not there", [("group: Scene", "group: Scen")], TABLE, ["Results.csv has no column Scen; did you mean Scene?"]),
    (
        "a column that is not there, nor one like it",
        [("group: Scene", "group: place")],
        TABLE,
        [f"Results.csv has no column place; there are: {', '.join(HEAD.split(','))}."],
    ),
    ("a metric's column that is not there", [], TABLE.replace("LPIPS", "lp"), ["LPIPS"]),
    (
        "one column twice",
        [],
        TABLE.replace("LPIPS", "PSNR_Y"),
        ["Results.csv has the column PSNR_Y twice; which one is meant cannot be told."],
    ),
    ("an empty name of an entry", [('"{Codec} {Rate}"', "Codec")], row(2, Codec=""), ["Results.csv, row 2: entry is empty."]),
    ("a name without end", [], row(2, Codec="x" * 300), ["Results.csv, row 2: entry has more than 200 characters."]),
    ("nothing below the heads", [], f"{HEAD}\n\n", ["Results.csv has no rows below its heads."]),
    ("an empty file", [], "", ["Results.csv: is empty."]),
    (
        "no answer at all",
        [],
        "\n".join([HEAD, *(",".join(["s", "1", f"c{n}", "r", "", "NaN", "-", "1", "2"]) for n in range(3))]),
        ["no answer"],
    ),
    (
        "a cell beyond the heads",
        [],
        TABLE + "bicycle,1,X,R1,1,1,1,20,0.5,7\n",
        ["Results.csv, row 8: there is a cell beyond the head's last."],
    ),
    ("an open quote", [], TABLE + '"bicycle,1\n', ["Results.csv: row 8: cannot be read as CSV (unexpected end of data)."]),
    ("bytes that are no text", [], "\0\1\2", ["zero byte"]),
    ("a spreadsheet that is none", [("data/Results.csv", "data/Results.xlsx")], TABLE, ["Results.xlsx: cannot be unpacked"]),
    (
        "a file of unknown form",
        [("data/Results.csv", "data/Results.dat")],
        TABLE,
        ["Results.dat is no table; say its format: csv, tsv, xlsx or tex."],
    ),
    (
        "text that the pattern does not match",
        [("group: Scene", 'group: {column: Scene, pattern: "^g"}')],
        TABLE,
        [*(f"Results.csv, row {line}: “bicycle” does not match the pattern." for line in (2, 3, 4))],
    ),
    (
        "text that is not among the values",
        [("family: Codec", "family: {column: Codec, values: {HAC: hac, REF: ref}}")],
        TABLE,
        [*(f"Results.csv, row {line}: “ContextGS” is not in the table of values." for line in (2, 3, 5))],
    ),
    ("no name of a rater", LONG, "Scene,Codec,who,score\ngarden,a,,3\ngarden,b,x,4\n", ["Results.csv, row 2: rater is empty."]),
    (
        "a choice that is none",
        PAIRS,
        "Scene,a,b,said,who\ngarden,x,y,left,1\ngarden,x,y,both,2\n",
        ["Results.csv, row 3: the choice is “both”; it must be left, right or tie."],
    ),
    ("a pair of one entry", PAIRS, "Scene,a,b,said,who\ngarden,x,x,left,1\n", ["Results.csv, row 2: left and right are the same entry."]),
    (
        "one key of two stimuli",
        [("    group: Scene\n", "    group: Scene\n    key: Codec\n")],
        TABLE,
        [
            "Results.csv, row 3: the key ContextGS names two stimuli.",
            "Results.csv, row 5: the key ContextGS names two stimuli.",
            "the key HAC",
        ],
    ),
    (
        "two kinds of answers on one criterion",
        [("metrics:", f"{PAIRS_BLOCK}metrics:")],
        TABLE,
        ["A criterion has scores and pairs; give each kind a criterion of its own."],
    ),
]

# A name, the changes of the manifest, and what is said on which line.
WRONG_MANIFESTS = [
    ("a branch", [("commit: " + "ab" * 20, "commit: main")], 5, "source.commit", "A branch changes."),
    (
        "a short commit",
        [("ab" * 20, "abab")],
        5,
        "source.commit",
        "Say which version: a commit, a DOI or a dated release. A branch changes.",
    ),
    (
        "no version",
        [(", commit: " + "ab" * 20, "")],
        5,
        "source",
        "Say which version: a commit, a DOI or a dated release. A branch changes.",
    ),
    ("a release without its date", [("commit: " + "ab" * 20, "release: v1.2")], 5, "source.release", "a release with its date"),
    ("no source", [("source: ", "sauce: ")], 1, "source", "Say which version"),
    ("no licence", [("licence: {stated: none}\n", "")], 1, "licence", "Say what licence is stated, or `stated: none`."),
    ("an empty licence", [("{stated: none}", "{stated: }")], 6, "licence.stated", "Say what licence is stated, or `stated: none`."),
    ("a licence as a word", [("{stated: none}", "MIT")], 6, "licence", "Say what licence is stated, or `stated: none`."),
    (
        "a licence's file that is no file of the set",
        [("{stated: none}", "{stated: MIT, file: COPYING}")],
        6,
        "licence.file",
        "the path of a file in `files`",
    ),
    ("a metric without direction", [("psnr-y, better: higher", "psnr-y")], 23, "PSNR_Y", "PSNR_Y: say whether higher or lower is better."),
    ("a direction that is none", [("psnr-y, better: higher", "psnr-y, better: up")], 23, "better", "expected one of higher, lower"),
    ("a name that nobody knows", [("name: psnr-y", "name: psnr-z")], 23, "name", "a name of published_names.toml"),
    ("a personal column as a group", [("group: Scene", "group: Age")], 13, "group", "Column Age is personal data. It is not read."),
    ("a personal column in a template", [("{Rate}", "{E-Mail}")], 14, "entry", "Column E-Mail is personal data. It is not read."),
    ("a personal column as a metric", [("PSNR_Y:", "Sex:")], 23, "columns", "Column Sex is personal data. It is not read."),
    (
        "a personal column as a label",
        [("{Codec: REF}", "{First name: x}")],
        26,
        "where",
        "Column First name is personal data. It is not read.",
    ),
    ("a personal column as a score", [('"Subject_*"', "ip_address")], 16, "score", "Column ip_address is personal data. It is not read."),
    ("persons without a reason", [("raters: columns", "raters: persons")], 17, "raters", "expected `because` beside it"),
    ("scores of nobody", [("raters: columns", "raters: none")], 17, "raters", "single answers have somebody who gave them"),
    ("one column of scores without raters", [('"Subject_*"', "Subject_1")], 16, "score", "expected rater beside it, or a pattern"),
    ("a scale upside down", [("[1, 5]", "[5, 1]")], 18, "scale", "expected the lower end first"),
    ("a scale of three", [("[1, 5]", "[1, 2, 3]")], 18, "scale", "expected two numbers such as [1, 5]"),
    ("a scale that is left out", [("    scale: [1, 5]\n", "")], 11, "scale", "the key is missing"),
    ("no direction of the scale", [("    better: higher\n", "")], 11, "better", "the key is missing"),
    ("a mean and a score", [('    score: "Sub', '    mean: Rate\n    score: "Sub')], 11, "", "found score and mean"),
    ("no answer", [('    score: "Subject_*"\n', "")], 11, "", "expected score, mean, or left, right and choice; found none of them"),
    (
        "one end of an interval",
        [('score: "Subject_*"\n    raters: columns', "mean: Rate\n    low: Path\n    raters: none")],
        17,
        "low",
        "low and high together",
    ),
    ("an error without a mean", [("    raters:", "    sd: Path\n    raters:")], 17, "sd", "expected mean beside it"),
    (
        "two blocks of two scales",
        [("metrics:", "  - {file: all, item: Scene, entry: Rate, mean: Path, scale: JOD, better: higher}\nmetrics:")],
        20,
        "",
        "the same raters, scale",
    ),
    ("a digest that is none", [("0" * 64, "abc")], 9, "sha256", "the 64 digits"),
    ("a path out of the source", [("data/Results.csv", "../secret.csv")], 9, "path", "a path inside the source"),
    ("a file that is not listed", [("file: all\n    item", "file: other\n    item")], 11, "file", "the id of a file"),
    ("an unknown key", [("    family: Codec", "    familiy: Codec")], 15, "familiy", "unknown key; did you mean family?"),
    ("a template that is not closed", [("{Rate}", "{Rate")], 14, "entry", "expected a template with columns in braces"),
    (
        "a pattern that is none",
        [("group: Scene", 'group: {column: Scene, pattern: "("}')],
        13,
        "group.pattern",
        "expected a regular expression",
    ),
    ("a word for material", [("material: pictures", "material: films")], 7, "material", "expected one of splat videos"),
    ("a later format", [("evidence: 1", "evidence: 2")], 1, "evidence", "expected 1, found 2"),
    ("a name with a slash", [("name: small", "name: ../small")], 2, "name", "small letters, digits and hyphens"),
    ("a comparison of what is no metric", [("labels:", "compare: [VMAF]\nlabels:")], 25, "compare", "expected a column of `metrics`"),
    ("a label that is none", [("label: reference", "label: team")], 26, "label", "expected one of reference, corruption, empty"),
    (
        "no files",
        [(MANIFEST[MANIFEST.index("  - {id: all") : MANIFEST.index("judgements:")], "")],
        8,
        "files",
        "expected at least one file",
    ),
    ("an anchor", [("title: A small set", "title: &a A small set")], 3, "", "anchors"),
]


@pytest.mark.parametrize(("changes", "table", "said"), [one[1:] for one in WRONG_TABLES], ids=[one[0] for one in WRONG_TABLES])
def test_a_wrong_table_is_refused_with_its_sentence(tmp_path, changes, table, said):
    with pytest.raises(EvidenceError) as refused:
        read(tmp_path, changes, table)
    found = refused.value.problems
    assert len(found) == len(said), found
    for sentence, expected in zip(found, said, strict=True):
        assert expected in sentence and sentence.endswith((".", "?")), found


@pytest.mark.parametrize(
    ("changes", "line", "key", "reason"), [one[1:] for one in WRONG_MANIFESTS], ids=[one[0] for one in WRONG_MANIFESTS]
)
def test_a_wrong_manifest_is_refused_with_file_and_line(changes, line, key, reason):
    with pytest.raises(DocumentError) as refused:
        manifest_of(changes)
    found = [problem for problem in refused.value.problems if key in problem.key and reason in problem.reason]
    assert found, refused.value
    assert {(problem.file, problem.line) for problem in found} == {("evidence.yaml", line)}, refused.value


@pytest.mark.parametrize("name", ["Alice Smith", "alice@example.org", "Bob"])
def test_a_column_that_may_be_a_name_is_named_by_its_place(tmp_path, name):
    table = row(3, Subject_3="6").replace("Subject_3", f"Subject_{name}")
    with pytest.raises(EvidenceError) as refused:
        read(tmp_path, [], table)
    (problem,) = refused.value.problems
    assert problem.startswith("Results.csv, row 3, column 7: 6 ") and name not in problem


def test_files_that_do_not_match_are_refused(tmp_path):
    (tmp_path / "More.csv").write_text("id,PSNR_Y,LPIPS\nnothing,1,2\n")
    with pytest.raises(EvidenceError, match=r"No row of More\.csv belongs to a stimulus that has an answer: the names do not match"):
        read(tmp_path, [*TWO_FILES, ("    group: Scene\n", '    group: Scene\n    key: "{Scene}{Codec}{Rate}"\n')])


def test_values_that_no_rule_joins_are_refused(tmp_path):
    (tmp_path / "More.csv").write_text("id,PSNR_Y,LPIPS\nnothing,1,2\n")
    with pytest.raises(EvidenceError, match=r"The rows of More\.csv belong to no stimulus: give metrics and judgements a key"):
        read(tmp_path, TWO_FILES)

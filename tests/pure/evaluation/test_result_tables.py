import pytest

from evaluation.result_tables import Detail, Layout, ResultColumn, ResultsError, column_of, lines, read

PSNR = ResultColumn("psnr", "PSNR", "PSNR", True, "dB", is_primary=True)
LPIPS = ResultColumn("lpips", "lpips", "LPIPS", False)
LAYOUT = Layout((PSNR, LPIPS), "name", (Detail("year"),), {"paper": "paper"})
TABLE = "name,year,PSNR,lpips,paper\r\nA  b,2020,28.50,0.1,https://example.org/a\r\nC,,27,–,\r\n"


def test_rows_come_in_the_tables_order_with_the_decimals_it_is_printed_with():
    table = read("\ufeff" + TABLE, LAYOUT)
    assert [row.method for row in table.rows] == ["A b", "C"]
    assert [row.values for row in table.rows] == [(28.5, 0.1), (27.0, None)]
    assert [row.detail for row in table.rows] == ["2020", ""] and table.rows[0].links["paper"] == "https://example.org/a"
    assert table.decimals == (2, 1)
    assert Layout.from_dict(LAYOUT.to_dict()) == LAYOUT and LAYOUT.to_dict()["details"] == ["year"]  # as before details had titles


def test_a_detail_may_have_a_title_and_a_unit():
    layout = Layout((PSNR,), "name", (Detail("year"), Detail("time", "training"), Detail("memory", "memory", "GB")))
    rows = read("name,year,time,memory,PSNR\nA,2020,3m56s,8.25,28\nB,,–,0.00,27\n", layout).rows
    assert [row.detail for row in rows] == ["2020 · training 3m56s · memory 8.25 GB", "memory 0.00 GB"]
    assert layout.to_dict()["details"] == [
        "year",
        {"column": "time", "title": "training"},
        {"column": "memory", "title": "memory", "unit": "GB"},
    ]
    assert Layout.from_dict(layout.to_dict()) == layout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name,PSNR,lpips\nA,1,2\n", "the table has no column year, paper; its columns are name, PSNR, lpips."),
        ("name,year,PSNR,lpips,paper\n", "the table has 0 rows; it must have 1 to 2,000."),
        ("name,year,PSNR,lpips,paper,name\nA,,1,2,,\n", "the table has two columns of one name; give each its own."),
        ("name,year,PSNR,lpips,paper\nA,,much,2,\n", "line 2: PSNR is 'much'; it must be a number, or empty."),
        ("name,year,PSNR,lpips,paper\nA,,nan,2,\n", "line 2: PSNR is 'nan'; it must be a number, or empty."),
        ("name,year,PSNR,lpips,paper\nA,,1,2,\na,,1,2,\n", "line 3: a is on line 2 too; a method has one row."),
        (
            "name,year,PSNR,lpips,paper\nA,,1,2,\nB\0,,1,2,\n",
            r"line 3: there is the character \x00, which cannot be read; save the table as CSV in UTF-8.",
        ),
        ("name,year,PSNR,lpips,paper\n ,,1,2,\n", "line 2: name is ''; it must be a name of 1 to 80 characters."),
        (
            "name,year,PSNR,lpips,paper\nA,,1,2,javascript:x\n",
            "line 2: paper is 'javascript:x'; it must be a web address of at most 200 characters, or empty.",
        ),
        (
            f"name,year,PSNR,lpips,paper\nA,,1,2,https://example.org/{'x' * 181}\n",
            f"line 2: paper is 'https://example.org/{'x' * 40}'; it must be a web address of at most 200 characters, or empty.",
        ),
    ],
)
def test_what_cannot_be_ranked_is_said_by_line(text, sentence):
    with pytest.raises(ResultsError) as caught:
        read(text, LAYOUT)
    assert caught.value.problems == (sentence,)


def test_a_column_says_its_direction_and_never_shares_one_of_another_table():
    one, other = (column_of(LPIPS, 1, 3, digest) for digest in ("a" * 64, "b" * 64))
    assert one.fingerprint != other.fingerprint and one.imported.decimals == 3
    spec = one.spec
    assert (spec.title, spec.higher_is_better, spec.level, spec.key) == ("LPIPS", False, "set", "")


def test_a_comma_that_is_not_quoted_moves_no_figure_into_another_column():
    with pytest.raises(ResultsError) as caught:
        read("name,year,PSNR,lpips,paper\nA,,28,5,,0,1\n", LAYOUT)
    (problem,) = caught.value.problems
    assert problem.startswith("line 2: ") and "cell '0'" in problem
    assert lines("a\n1,,\n", ["a"]) == [(2, {"a": "1"})], "as some programs end a line"

"""Sheets of .xlsx files: what is read, and every way in which a hostile file is refused."""

from __future__ import annotations

import struct
import zipfile

import pytest

from submissions.formats import spreadsheet
from submissions.formats.errors import size_text
from submissions.formats.spreadsheet import SheetError, read_sheet
from tests.support.leaderboard.evidence.workbooks import HEAD, MAIN, bomb, letters, members, sheet, workbook, write

ROWS = [["scene", "rate", "score"], ["garden", 1, 4.5], ["garden", 2.0, 0.1], ["a & b <c>", None, -3]]


def refused(path, name: str = "") -> str:
    with pytest.raises(SheetError) as error:
        read_sheet(path, name)
    assert str(error.value).startswith(f"{path.name}: ") and "\n" not in str(error.value)
    return str(error.value).removeprefix(f"{path.name}: ")


def test_cells_are_texts_that_read_back_the_same(tmp_path):
    found = read_sheet(workbook(tmp_path / "a.xlsx", ROWS), "Sheet1")
    assert found == [["scene", "rate", "score"], ["garden", "1", "4.5"], ["garden", "2", "0.1"], ["a & b <c>", "", "-3"]]


def test_a_workbook_of_one_sheet_needs_no_name_and_one_of_two_does(tmp_path):
    assert read_sheet(workbook(tmp_path / "a.xlsx", ROWS))[0] == ["scene", "rate", "score"]
    two = write(tmp_path / "two.xlsx", members({"first": sheet([["a"]]), "second": sheet([["b"]])}))
    assert read_sheet(two, "second") == [["b"]]
    assert "first, second" in refused(two)
    assert "no sheet third" in refused(two, "third")


def test_rows_and_columns_that_are_left_out_stay_empty_places(tmp_path):
    text = f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData><row r="2"><c r="B2"><v>7</v></c></row></sheetData></worksheet>'
    assert read_sheet(write(tmp_path / "a.xlsx", members({"S": text}))) == [["", ""], ["", "7"]]


def test_a_formula_has_the_value_that_was_stored_with_it_and_is_never_evaluated(tmp_path):
    rows = [["x", "y"], [("1+1", 5), 1], [("1+1", None), 2], [('HYPERLINK("http://127.0.0.1:9/")', None), 3]]
    path = workbook(tmp_path / "a.xlsx", rows)
    assert read_sheet(path) == [["x", "y"], ["5", "1"], ["", "2"], ["", "3"]]


def test_a_link_to_another_file_is_not_followed(tmp_path):
    (tmp_path / "secret.xlsx").write_bytes(workbook(tmp_path / "s.xlsx", [["secret"]]).read_bytes())
    parts = members({"Sheet1": sheet([["x", "y"], [("[1]Sheet1!A1", None), 1]])})
    parts["xl/externalLinks/externalLink1.xml"] = f'{HEAD}<externalLink xmlns="{MAIN}"><externalBook/></externalLink>'
    parts["xl/externalLinks/_rels/externalLink1.xml.rels"] = (
        f'{HEAD}<Relationships><Relationship Id="rId1" Target="{tmp_path}/secret.xlsx" TargetMode="External"/></Relationships>'
    )
    assert read_sheet(write(tmp_path / "a.xlsx", parts)) == [["x", "y"], ["", "1"]]


class TestBounds:
    def test_a_megabyte_that_unpacks_to_a_gigabyte_is_refused_in_one_sentence(self, tmp_path):
        path = bomb(tmp_path / "bomb.xlsx")
        assert path.stat().st_size < 1_100_000
        said = refused(path)
        assert "1.06 MB" in said and "268 MB" in said

    def test_a_size_that_is_a_lie_bounds_what_is_unpacked(self, tmp_path, monkeypatch):
        monkeypatch.setattr(spreadsheet, "MAX_UNPACKED", 1 << 20)
        path = bomb(tmp_path / "bomb.xlsx", 8 << 20)
        data = bytearray(path.read_bytes())
        directory = data.rindex(b"PK\x01\x02")
        assert struct.unpack_from("<L", data, directory + 24)[0] == 8 << 20
        struct.pack_into("<L", data, directory + 24, 1000)
        path.write_bytes(data)
        assert "cannot be unpacked" in refused(path)

    def test_the_bytes_that_come_out_count_together(self, tmp_path, monkeypatch):
        monkeypatch.setattr(spreadsheet, "MAX_UNPACKED", 3 << 20)
        parts = members({"S": sheet(ROWS)}) | {f"xl/media/{n}.png": bytes(1 << 20) for n in range(3)}
        assert size_text(3 << 20) in refused(write(tmp_path / "a.xlsx", parts))

    @pytest.mark.parametrize(
        ("cell", "reached"),
        [("A1048576", "row 1,048,576 and column 1"), ("XFD1", "row 1 and column 16,384"), ("ALL100000", "row 100,000 and column 1,000")],
    )
    def test_a_cell_far_out_is_refused_before_the_rectangle_is_built(self, tmp_path, cell, reached):
        row = cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        text = f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData><row r="{row}"><c r="{cell}"><v>1</v></c></row></sheetData></worksheet>'
        said = refused(write(tmp_path / "a.xlsx", members({"S": text})))
        assert reached in said and "200,000 rows, 2,000 columns" in said

    def test_a_place_that_is_cut_by_two_pieces_is_seen(self, tmp_path, monkeypatch):
        monkeypatch.setattr(spreadsheet, "_CHUNK", 256)
        monkeypatch.setattr(spreadsheet, "MAX_COLUMNS", 60)
        for filling in range(240, 262):
            cell = '<sheetData><row r="1"><c r="ZZ1"><v>1</v></c></row></sheetData>'
            text = f'{HEAD}<worksheet xmlns="{MAIN}"><!--{" " * filling}-->{cell}</worksheet>'
            assert "column 702" in refused(write(tmp_path / "a.xlsx", members({"S": text})))

    def test_too_many_members(self, tmp_path):
        parts = members({"S": sheet(ROWS)}) | {f"xl/media/{n}": b"" for n in range(2_000)}
        assert refused(write(tmp_path / "a.xlsx", parts)).startswith("holds 2,005 files")

    def test_a_file_that_is_too_large(self, tmp_path, monkeypatch):
        monkeypatch.setattr(spreadsheet, "MAX_BYTES", 100)
        assert "100 bytes" in refused(workbook(tmp_path / "a.xlsx", ROWS))


ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>',
    '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
    '<!DOCTYPE x [<!ENTITY a SYSTEM "http://127.0.0.1:9/">]>',
)


class TestEntities:
    @pytest.mark.parametrize("declared", ENTITIES)
    @pytest.mark.parametrize("member", ["xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "[Content_Types].xml"])
    def test_a_declaration_is_refused_in_every_member(self, tmp_path, declared, member):
        parts = members({"S": sheet(ROWS)})
        parts[member] = HEAD + declared + parts.get(member, f'{HEAD}<sst xmlns="{MAIN}"/>').removeprefix(HEAD)
        said = refused(write(tmp_path / "a.xlsx", parts))
        assert said.startswith(f"{member}: declares ")

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
    def test_another_encoding_hides_none(self, tmp_path, encoding):
        parts = members({"S": sheet(ROWS)})
        text = parts["xl/workbook.xml"].replace("UTF-8", "UTF-16").replace("?>", f"?>{ENTITIES[0]}", 1)
        assert "text in UTF-8" in refused(write(tmp_path / "a.xlsx", parts | {"xl/workbook.xml": text.encode(encoding)}))

    def test_nor_does_a_code_page(self, tmp_path):
        parts = members({"S": sheet(ROWS)})
        text = parts["xl/workbook.xml"].replace("UTF-8", "cp037")
        assert "text in UTF-8" in refused(write(tmp_path / "a.xlsx", parts | {"xl/workbook.xml": text}))


class TestOtherFiles:
    def test_not_a_zip(self, tmp_path):
        (tmp_path / "a.xlsx").write_bytes(b"scene,score\ngarden,4\n")
        assert refused(tmp_path / "a.xlsx").startswith("cannot be unpacked")

    def test_a_zip_of_something_else(self, tmp_path):
        assert "no .xlsx" in refused(write(tmp_path / "a.xlsx", {"content.xml": "<x/>"}))

    def test_one_name_twice(self, tmp_path):
        path = workbook(tmp_path / "a.xlsx", ROWS)
        with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
            archive.writestr("xl/workbook.xml", "<x/>")
        assert "no .xlsx" in refused(path)

    def test_a_password(self, tmp_path):
        path = workbook(tmp_path / "a.xlsx", ROWS)
        data = bytearray(path.read_bytes())
        for at in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
            data[at] |= 1
        path.write_bytes(data)
        assert "password" in refused(path)

    @pytest.mark.parametrize("member", ["xl/workbook.xml", "xl/worksheets/sheet1.xml"])
    @pytest.mark.parametrize("text", ["", "<workbook", "no XML at all"])
    def test_broken_xml_is_one_sentence(self, tmp_path, member, text):
        path = write(tmp_path / "a.xlsx", members({"S": sheet(ROWS)}) | {member: text})
        assert len(refused(path)) < 400

    def test_every_cut_of_a_workbook_is_one_sentence(self, tmp_path):
        data = workbook(tmp_path / "whole.xlsx", ROWS).read_bytes()
        for end in range(0, len(data), 37):
            (tmp_path / "a.xlsx").write_bytes(data[:end])
            assert refused(tmp_path / "a.xlsx")


def test_letters_of_columns_count_as_spreadsheets_do():
    for column in (0, 25, 26, 701, 702, 16_383):
        assert spreadsheet._column(letters(column).encode()) == column + 1

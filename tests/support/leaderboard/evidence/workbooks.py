"""Spreadsheets written by hand, well-formed ones and others: a zip of XML, with whatever a test puts into it."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
TYPES = (
    f'{HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
ROOT = (
    f'{HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
)


def letters(column: int) -> str:
    """Letters of a column, which are counted from 0."""
    made = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        made = chr(65 + rest) + made
    return made


def sheet(rows: Sequence[Sequence[object]]) -> str:
    """XML of a sheet. A cell that is a pair holds a formula and its stored value, which may be None."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = []
        for column, value in enumerate(row):
            at = f'r="{letters(column)}{number}"'
            if isinstance(value, tuple):
                formula, stored = value
                cells.append(f"<c {at}><f>{escape(formula)}</f>{'' if stored is None else f'<v>{stored}</v>'}</c>")
            elif isinstance(value, str):
                cells.append(f'<c {at} t="inlineStr"><is><t>{escape(value)}</t></is></c>')
            elif value is not None:
                cells.append(f"<c {at}><v>{value}</v></c>")
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    return f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def members(sheets: Mapping[str, str]) -> dict[str, str]:
    """Members of a workbook with these sheets, XML by name."""
    listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in enumerate(sheets, 1))
    targets = "".join(
        f'<Relationship Id="rId{n}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in range(1, len(sheets) + 1)
    )
    return {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": ROOT,
        "xl/workbook.xml": f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": (
            f'{HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{targets}</Relationships>'
        ),
        **{f"xl/worksheets/sheet{n}.xml": text for n, text in enumerate(sheets.values(), 1)},
    }


def write(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """Write these members as a packed file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def workbook(path: Path, rows: Sequence[Sequence[object]], name: str = "Sheet1") -> Path:
    """Write a workbook of one sheet."""
    return write(path, members({name: sheet(rows)}))


def bomb(path: Path, unpacked: int = 1 << 30) -> Path:
    """Write a workbook of about a thousandth of its size, one of whose members unpacks to so many bytes, as its header says."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = bytes(1 << 20)
    block = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)  # means the same wherever it stands
    packed, crc = block * (unpacked >> 20) + b"\x03\x00", 0
    for _ in range(unpacked >> 20):
        crc = zlib.crc32(piece, crc)
    write(path, members({"Sheet1": sheet([["item"]])}))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("xl/media/filling.bin", packed)
        place = archive.getinfo("xl/media/filling.bin").header_offset
    data = bytearray(path.read_bytes())
    directory = data.rindex(b"PK\x01\x02")
    for at in (place + 8, directory + 10):  # method, then crc and both sizes 6 bytes on
        struct.pack_into("<H", data, at, zipfile.ZIP_DEFLATED)
        struct.pack_into("<L", data, at + 6, crc)
        struct.pack_into("<L", data, at + 14, unpacked)
    path.write_bytes(data)
    return path

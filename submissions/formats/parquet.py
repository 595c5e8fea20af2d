"""Rows of a parquet file, after its footer and every page header have been held against bounds.

A few bytes of parquet can stand for billions of values (runs of one value, shared dictionaries, pages that claim any
size), and the reader allocates by what page headers say. So these headers are walked here first, and the reader is
let loose only when their sums are small.
"""

import io
from collections.abc import Collection, Iterator
from typing import Any

from submissions.formats.errors import FormatError, shown, size_text

_MAGIC = b"PAR1"
_MAX_FOOTER_BYTES = 8_000_000
_MAX_THRIFT_ITEMS = 20_000
_MAX_LEVELS = 8
_BATCH_ROWS = 64
_ID_BYTES = 400
_PLAIN_ENCODINGS = {0, 2, 3, 4, 8}  # plain, dictionaries and runs: none builds a string longer than one it stores
_NUMERIC = {"DOUBLE", "FLOAT", "INT32", "INT64"}
_DATA_PAGES = (0, 3)


def read_rows(
    data: bytes,
    file: str,
    id_columns: Collection[str],
    number_columns: Collection[str],
    max_rows: int,
    max_values: int,
) -> Iterator[dict[str, Any]]:
    """Yields each row as a dict of the named columns that exist, lists as plain lists.

    Refused with ``FormatError`` before anything is decoded: more rows or values than allowed, pages that unpack to
    more than these could need, encrypted or unreadable files, columns of other types.
    """
    if len(data) < 12 or not data.startswith(_MAGIC) or not data.endswith(_MAGIC):
        raise FormatError(file, "", "is not a parquet file, or is cut short")
    footer = int.from_bytes(data[-8:-4], "little")
    if footer > min(_MAX_FOOTER_BYTES, len(data) - 12):
        raise FormatError(file, "", "claims a footer larger than the file or than 8 MB; write it again")
    # Loaded here, not above: it is large, and only these files need it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    limits = {"thrift_string_size_limit": _MAX_FOOTER_BYTES, "thrift_container_size_limit": _MAX_THRIFT_ITEMS}
    try:
        parquet = pq.ParquetFile(io.BytesIO(data), **limits)
        count = parquet.metadata.num_rows
        if count > max_rows:
            raise FormatError(file, "", f"has {count} rows, at most {max_rows} are taken in this phase")
        columns = _check_columns(parquet, file, id_columns, number_columns)
        _check_chunks(data, parquet.metadata, columns, file, id_columns, max_rows, max_values)
        # Ids stay in their dictionary, so one long text shared by all rows is not copied for each.
        ids = [name for name in columns if name in id_columns]
        parquet = pq.ParquetFile(io.BytesIO(data), read_dictionary=ids, pre_buffer=False, **limits)
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False):
            for row in range(batch.num_rows):
                yield {name: batch.column(name)[row].as_py() for name in batch.schema.names}
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
        reason = shown(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise FormatError(file, "", f"is a broken parquet file ({reason}); write it again") from None


def _check_columns(parquet: Any, file: str, id_columns: Collection[str], number_columns: Collection[str]) -> list[str]:
    """The wanted columns that are there, each of a type that makes sense."""
    wanted = {*id_columns, *number_columns}
    kept = []
    for index in range(len(parquet.schema)):
        column = parquet.schema.column(index)
        name = column.path.split(".")[0]
        if name not in wanted:
            continue
        if column.max_definition_level > _MAX_LEVELS:
            raise FormatError(file, name, "nests lists too deeply")
        is_id = name in id_columns
        types = {"BYTE_ARRAY", "INT32", "INT64"} if is_id else _NUMERIC
        if column.physical_type not in types or (is_id and column.max_repetition_level) or name in kept:
            raise FormatError(file, name, "must hold one id per row" if is_id else "must hold lists of numbers")
        kept.append(name)
    return kept


def _check_chunks(
    data: bytes,
    metadata: Any,
    columns: Collection[str],
    file: str,
    id_columns: Collection[str],
    max_rows: int,
    max_values: int,
) -> None:
    """Holds the true page headers of every wanted column against the bounds."""
    values = size = id_size = 0
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(index)
            name = chunk.path_in_schema.split(".")[0]
            if name not in columns:
                continue
            pages = list(_pages(data, chunk, file, name))
            held = sum(page.values for page in pages if page.type in _DATA_PAGES)
            if held != chunk.num_values:
                raise FormatError(file, name, f"claims {chunk.num_values} values but its pages claim {held}")
            values += held
            unpacked = sum(page.unpacked for page in pages)
            size += unpacked
            if name in id_columns:
                id_size += unpacked
                if not {page.encoding for page in pages} <= _PLAIN_ENCODINGS:
                    raise FormatError(file, name, "has an uncommon encoding; write the column plainly")
    if values > max_values:
        raise FormatError(file, "", f"holds {values} values, far more than this phase's samples can need")
    for total, most in ((size, 16 * max_values + 2_000_000), (id_size, _ID_BYTES * max_rows + 100_000)):
        if total > most:
            raise FormatError(file, "", f"unpacks to {size_text(total)}, far more than this phase's samples can need")


class _Page:
    """What one page's header claims: its type, sizes in bytes, number of values and encoding."""

    def __init__(self, header: dict[int, Any]) -> None:
        self.type, self.unpacked, self.packed = (header.get(field, -1) for field in (1, 2, 3))
        # Data page, dictionary page, data page of version 2; the encoding is in another field in each.
        detail, encoding = next(((header[field], at) for field, at in ((5, 2), (7, 2), (8, 4)) if field in header), ({}, 0))
        self.values, self.encoding = detail.get(1, -1), detail.get(encoding, -1)


def _pages(data: bytes, chunk: Any, file: str, name: str) -> Iterator[_Page]:
    at = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        at = min(at, chunk.dictionary_page_offset)
    end = at + chunk.total_compressed_size
    if not 4 <= at <= end <= len(data):
        raise FormatError(file, name, "lies outside the file; write it again")
    while at < end:
        header, at = _Thrift(data, at, end).struct()
        page = _Page(header)
        if min(page.packed, page.unpacked, page.values) < 0 or at + page.packed > end:
            raise FormatError(file, name, "has a page with impossible sizes; write it again")
        at += page.packed
        yield page


class _Thrift:
    """Just enough of Thrift's compact protocol to read a page header; ``ValueError`` where it is malformed."""

    _MAX_DEPTH = 8
    _MAX_LIST = 1000

    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end

    def struct(self, depth: int = 0) -> tuple[dict[int, Any], int]:
        """Field numbers and values, and where the struct ends."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            fields[number] = self._value(head & 0x0F, depth + 1)
        return fields, self.at

    def _value(self, kind: int, depth: int) -> Any:
        if depth > self._MAX_DEPTH:
            raise ValueError("page header nested too deeply")
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._varint())
        if kind == 9:
            return self._list(depth)
        if kind == 12:
            return self.struct(depth)[0]
        raise ValueError("page header of an unknown kind")

    def _list(self, depth: int) -> None:
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._varint()
        if count > self._MAX_LIST:
            raise ValueError("page header with too long a list")
        for _ in range(count):
            # A boolean in a list takes a byte of its own, unlike one in a field.
            self._value(3 if head & 0x0F in (1, 2) else head & 0x0F, depth + 1)

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > self.end:
            raise ValueError("page header cut short")

    def _byte(self) -> int:
        self._skip(1)
        return self.data[self.at - 1]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("page header with too long a number")

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

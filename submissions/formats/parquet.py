"""Rows of a parquet file, read after its footer and every page header have been checked against bounds.

A few bytes of parquet can mean billions of values: runs of one value, shared dictionaries, pages that claim any size. The library
allocates what page headers claim. So these headers are parsed here first, and the library reads the file only where their sums are small.
The library's own metadata of a chunk is not used, because reading it ends the process on some malformed files.
"""

import io
from collections.abc import Collection, Iterator
from typing import Any

from submissions.formats.errors import FormatError, excerpt, size_text
from submissions.formats.thrift import FOOTER_LISTS, CompactReader, Fields, Long, items, number, struct

_MAGIC = b"PAR1"
_MAX_FOOTER_BYTES = 1_000_000
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
    footer_size = int.from_bytes(data[-8:-4], "little")
    if footer_size > min(_MAX_FOOTER_BYTES, len(data) - 12):
        raise FormatError(file, "", "claims a footer larger than the file or than 1 MB; write it again")
    # Loaded here, not above: it is large, and only these files need it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    limits = {"thrift_string_size_limit": _MAX_FOOTER_BYTES, "thrift_container_size_limit": _MAX_THRIFT_ITEMS}
    try:
        footer = CompactReader(data, len(data) - 8 - footer_size, len(data) - 8, FOOTER_LISTS).struct()
        parquet = pq.ParquetFile(io.BytesIO(data), **limits)
        count = number(footer, 3, Long)
        if count > max_rows:
            raise FormatError(file, "", f"has {count} rows, at most {max_rows} are taken in this phase")
        columns = _columns(parquet.schema, file, id_columns, number_columns)
        _check_chunks(data, footer, columns, file, id_columns, max_rows, max_values)
        # Ids stay in their dictionary, so one long text shared by all rows is not copied for each.
        ids = [name for name in columns if name in id_columns]
        parquet = pq.ParquetFile(io.BytesIO(data), read_dictionary=ids, pre_buffer=False, **limits)
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=columns, use_threads=False):
            for row in range(batch.num_rows):
                yield {name: batch.column(name)[row].as_py() for name in batch.schema.names}
    except (FormatError, MemoryError):  # the library's own lack of memory is an ArrowException too
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, LookupError) as error:
        reason = excerpt(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise FormatError(file, "", f"is a broken parquet file ({reason}); write it again") from None


def _columns(schema: Any, file: str, id_columns: Collection[str], number_columns: Collection[str]) -> list[str]:
    """The wanted columns that are there, each of a type that makes sense."""
    found: list[str] = []
    for column in map(schema.column, range(len(schema))):
        top = column.path.split(".")[0]
        is_id = top in id_columns
        if not is_id and top not in number_columns:
            continue
        if column.max_definition_level > _MAX_LEVELS:
            raise FormatError(file, top, "nests lists too deeply")
        types = {"BYTE_ARRAY", "INT32", "INT64"} if is_id else _NUMERIC
        if column.physical_type not in types or (is_id and column.max_repetition_level) or top in found:
            raise FormatError(file, top, "must hold one id per row" if is_id else "must hold lists of numbers")
        found.append(top)
    return found


def _check_chunks(
    data: bytes,
    footer: Fields,
    columns: Collection[str],
    file: str,
    id_columns: Collection[str],
    max_rows: int,
    max_values: int,
) -> None:
    """Holds the true page headers of every wanted column against the bounds."""
    values = size = id_size = 0
    for name, chunk in _chunks(footer):
        if name not in columns:
            continue
        pages = list(_pages(data, chunk, file, name))
        held, claimed = sum(page.values for page in pages if page.type in _DATA_PAGES), number(chunk, 5, Long)
        if held != claimed:
            raise FormatError(file, name, f"claims {claimed} values but its pages claim {held}")
        unpacked = sum(page.unpacked for page in pages)
        values, size = values + held, size + unpacked
        if name in id_columns:
            id_size += unpacked
            if not {page.encoding for page in pages} <= _PLAIN_ENCODINGS:
                raise FormatError(file, name, "has an uncommon encoding; write the column plainly")
    if values > max_values:
        raise FormatError(file, "", f"holds {values} values, far more than this phase's items can need")
    for total, most in ((size, 16 * max_values + 2_000_000), (id_size, _ID_BYTES * max_rows + 100_000)):
        if total > most:
            raise FormatError(file, "", f"unpacks to {size_text(total)}, far more than this phase's items can need")


def _chunks(footer: Fields) -> Iterator[tuple[str, Fields]]:
    """The chunks of all columns, each with the name of its column."""
    for group in items(footer, 4):
        for column in items(group, 1):
            chunk = struct(column, 3)
            path = items(chunk, 3)
            if not path or type(path[0]) is not bytes:
                raise ValueError("a column without a name")
            yield path[0].decode("utf-8", "replace"), chunk


class _Page:
    """The claims of one page's header: its type, sizes in bytes, number of values and encoding."""

    def __init__(self, header: Fields) -> None:
        self.type, self.unpacked, self.packed = (number(header, field) for field in (1, 2, 3))
        # Data page, dictionary page, data page of version 2; the encoding is in another field in each.
        kinds = ((5, 2), (7, 2), (8, 4))
        field, encoding = next((kind for kind in kinds if kind[0] in header), (0, 0))
        self.values = number(struct(header, field), 1)
        self.encoding = number(struct(header, field), encoding)


def _pages(data: bytes, chunk: Fields, file: str, name: str) -> Iterator[_Page]:
    at, dictionary = number(chunk, 9, Long), number(chunk, 11, Long)
    if dictionary > 0:
        at = min(at, dictionary)
    end = at + number(chunk, 7, Long)
    if not 4 <= at <= end <= len(data):
        raise FormatError(file, name, "lies outside the file; write it again")
    while at < end:
        reader = CompactReader(data, at, end)
        page = _Page(reader.struct())
        if min(page.packed, page.unpacked, page.values) < 0 or reader.at + page.packed > end:
            raise FormatError(file, name, "has a page with impossible sizes; write it again")
        at = reader.at + page.packed
        yield page

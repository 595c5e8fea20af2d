"""The part of Thrift's compact protocol that parquet's headers need, to check them before a parquet library reads them.

The library must read the same bytes in the same way. So everything that it would read differently is refused: fields given twice, numbers
that it would cut to fewer bits, and lists whose elements are not of the declared kind, which it does not check.
"""

from collections.abc import Mapping
from typing import Any

_MAX_DEPTH = 16
_MAX_LIST = 20_000

_I16, _I32, _I64, _BINARY, _LIST, _STRUCT = 4, 5, 6, 8, 9, 12

Fields = dict[int, Any]
Path = tuple[int, ...]

# Kinds of the elements of each list in a parquet footer, by the numbers of the fields that lead there.
FOOTER_LISTS: Mapping[Path, int] = {
    (2,): _STRUCT,  # schema
    (4,): _STRUCT,  # row groups
    (5,): _STRUCT,  # key-value metadata
    (7,): _STRUCT,  # column orders
    (4, 1): _STRUCT,  # columns of a row group
    (4, 4): _STRUCT,  # sorting columns
    (4, 1, 3, 2): _I32,  # encodings
    (4, 1, 3, 3): _BINARY,  # path in the schema
    (4, 1, 3, 8): _STRUCT,  # key-value metadata of a column
    (4, 1, 3, 13): _STRUCT,  # encoding statistics
    (4, 1, 3, 16, 2): _I64,  # histograms of levels
    (4, 1, 3, 16, 3): _I64,
    (4, 1, 3, 17, 2): _I32,  # geospatial types
}


class Long(int):
    """A number that was written as 64 bits, a type of its own because the library ignores numbers of the wrong width."""


class Short(int):
    """A number that was written as 16 bits."""


class CompactReader:
    """Reads structs from ``data[at:end]``; ``ValueError`` where they are malformed or reach past the end."""

    def __init__(self, data: bytes, at: int, end: int, lists: Mapping[Path, int] | None = None) -> None:
        self.data, self.at, self.end, self.lists = data, at, end, lists or {}

    def struct(self, path: Path = ()) -> Fields:
        """The next struct by field number: numbers, bytes, lists, and structs as dicts. ``at`` is behind it then."""
        fields: Fields = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer(16)
            if number in fields or not 0 < number < 1 << 15:
                raise ValueError("header with a field given twice, or out of range")
            fields[number] = self._value(head & 0x0F, (*path, number))
        return fields

    def _value(self, kind: int, path: Path) -> Any:
        if len(path) > _MAX_DEPTH:
            raise ValueError("header nested too deeply")
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._bytes(1)
        if kind == _I16:
            return Short(self._integer(16))
        if kind == _I32:
            return self._integer(32)
        if kind == _I64:
            return Long(self._integer(64))
        if kind in (7, _BINARY):
            return self._bytes(8 if kind == 7 else self._varint())
        if kind == _LIST:
            return self._list(path)
        if kind == _STRUCT:
            return self.struct(path)
        raise ValueError("header of an unknown kind")

    def _list(self, path: Path) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._varint()
        if count > _MAX_LIST:
            raise ValueError("header with too long a list")
        kind = head & 0x0F
        if kind not in (_I32, _I64, _BINARY, _STRUCT) or kind != self.lists.get(path, kind):
            raise ValueError("header with a list of the wrong kind")
        return [self._value(kind, path) for _ in range(count)]

    def _bytes(self, size: int) -> bytes:
        self.at += size
        if self.at > self.end:
            raise ValueError("header cut short")
        return self.data[self.at - size : self.at]

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("header with too long a number")

    def _integer(self, bits: int) -> int:
        value = self._varint()
        if value >> bits:
            raise ValueError("header with too large a number")
        return (value >> 1) ^ -(value & 1)


def number(fields: Any, field: int, kind: type[int] = int) -> int:
    """A whole number of a struct, of 32 bits or ``Long``; -1 where it is not there or of another kind."""
    value = fields.get(field) if type(fields) is dict else None
    return value if type(value) is kind else -1


def struct(fields: Any, field: int) -> Fields:
    """A struct within a struct; empty where it is not there or of another kind."""
    value = fields.get(field) if type(fields) is dict else None
    return value if type(value) is dict else {}


def items(fields: Any, field: int) -> list[Any]:
    """A list within a struct; empty where it is not there or of another kind."""
    value = fields.get(field) if type(fields) is dict else None
    return value if type(value) is list else []

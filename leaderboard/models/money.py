"""Exact amounts of money in the database."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import models

PLACES = 10  # a price of a million tokens has four decimals at most, so the price of one token has ten


class MoneyField(models.BigIntegerField):
    """An amount as Decimal, kept as a whole number of 10⁻¹⁰ of the currency: SQLite has no decimal type, and its sums of floats drift.

    At most 922 million either way. ValueError for an amount with more decimals.
    """

    if TYPE_CHECKING:  # the attribute of a row is the amount

        def __get__(self, instance: object, owner: type) -> Any: ...

        def __set__(self, instance: object, value: Decimal | None) -> None: ...

    def from_db_value(self, value: Any, *_: object) -> Decimal | None:
        return None if value is None else Decimal(value).scaleb(-PLACES)

    def to_python(self, value: Any) -> Decimal | None:
        return value if value is None or isinstance(value, Decimal) else Decimal(str(value))

    def get_prep_value(self, value: Any) -> int | None:
        if value is None:
            return None
        scaled = Decimal(value).scaleb(PLACES)
        if scaled != int(scaled):
            raise ValueError(f"{value} has more than {PLACES} decimals")
        return int(scaled)


def plain(amount: Decimal) -> str:
    """The amount with all its decimals, without trailing zeros and exponent."""
    return f"{amount.normalize():f}"

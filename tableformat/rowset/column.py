"""One column as blocks see it: its id, its storage type, and what order its values have."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import BoundKinds, bound_kinds
from colonnade.tableformat.types.arrow_types import storage_type


class Order(enum.Enum):
    """How the values of a column compare, which decides what its bounds are made of."""

    INTEGER = "integer"
    """int64: integers, boolean, date, timestamps, time, intervals, decimals of <= 18 digits."""

    FLOAT = "float"
    """float64; NaN is counted, not bounded."""

    DECIMAL = "decimal"
    """Unscaled values of up to 38 digits."""

    STRING = "string"
    """By code point."""

    BINARY = "binary"
    """Byte by byte."""

    NONE = "none"
    """No bounds: nested types, variant, and strings whose collation orders them otherwise."""


@dataclass(frozen=True, slots=True)
class Column:
    """A top-level column. `name` serves error messages only; files know the id.

    `bound_kinds` are the classes that its bounds have, wherever they come from.
    """

    id: int
    name: str
    type: pa.DataType
    order: Order
    bound_kinds: BoundKinds


@lru_cache(maxsize=4096)
def column_of(field: SchemaField) -> Column:
    """Lay out a column. Requires: ids, nested ones included."""
    arrow = storage_type(field)
    kinds = bound_kinds(field)
    return Column(field.id, field.name, arrow, _order(kinds, arrow), kinds)


def _order(kinds: BoundKinds, arrow: pa.DataType) -> Order:
    if kinds == (int,):
        wide = pa.types.is_decimal(arrow) and arrow.precision > 18
        return Order.DECIMAL if wide else Order.INTEGER
    return _ORDERS[kinds]


_ORDERS: dict[BoundKinds, Order] = {
    (float,): Order.FLOAT,
    (str,): Order.STRING,
    (bytes,): Order.BINARY,
    (): Order.NONE,
}


def check_names(names: Iterable[str], what: str) -> tuple[str, ...]:
    """The column names that a user gave as `what`.

    Raises InvalidInputError for a single text, and for what is no list of texts.
    """
    if isinstance(names, Iterable) and not isinstance(names, str | bytes):
        found = tuple(names)
        if all(isinstance(name, str) for name in found):
            return found
        names = found
    raise InvalidInputError(f"{what} is a list of column names, not {names!r}.")

"""Describe a column for blocks: its id, its storage type, and the order of its values."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.default import decode_value
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.columns.widening import widens
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import (
    BINARY,
    REAL,
    TEXT,
    Bound,
    bound_prefix,
)
from colonnade.tableformat.types.arrow_types import storage_type


class Order(enum.Enum):
    """How the values of a column compare, which decides the type of its bounds."""

    INTEGER = "integer"
    """int64: integers, boolean, date, timestamps, time, intervals, decimals of <= 18 digits."""

    FLOAT = "float"
    """float64; NaN is counted and never a bound."""

    DECIMAL = "decimal"
    """Unscaled values of up to 38 digits."""

    STRING = "string"
    """Strings compare by code point."""

    BINARY = "binary"
    """Binary compares byte by byte."""

    NONE = "none"
    """No bounds: nested types, variant, and strings with a collation of another order."""


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A top-level column. `name` appears in error messages only; files refer to the id.

    `bound_prefix` is the prefix of its bounds (`statistics.py`). `type_name` is its type as the log
    states it; of a nested type only `array`, `map` or `struct`. `initial` is the value of rows in a
    RowSet that lacks the column; None is NULL. `nested` is the column as the log states it, if
    there are fields inside it; blocks may have other forms of it (`nested_forms`).
    """

    id: int
    name: str
    type: pa.DataType
    order: Order
    bound_prefix: str
    type_name: str
    initial: Bound | None = None
    nested: SchemaField | None = None


@lru_cache(maxsize=4096)
def column_of(field: SchemaField) -> StoredColumn:
    """Return the layout of a column. Requires ids on the field and on its nested fields."""
    arrow = storage_type(field)
    prefix = bound_prefix(field.type)
    nested = None if isinstance(field.type, str) else field
    text = field.type if isinstance(field.type, str) else field.type.type
    initial = None if field.initial is None else decode_value(field.initial, field)
    return StoredColumn(
        field.id, field.name, arrow, _order(prefix, arrow), prefix, text, initial, nested
    )


def stored_as(column: StoredColumn, type_name: str) -> StoredColumn | None:
    """Return a column of the table as RowSets have it whose segments state a type.

    Returns None if no value of that type is one of the column: the type does not widen to it.
    """
    if type_name == column.type_name:
        return column
    if column.nested is not None or type_name == VOID or not widens(type_name, column.type_name):
        return None
    return column_of(SchemaField(id=column.id, name=column.name, type=type_name))


def _order(prefix: str, arrow: pa.DataType) -> Order:
    if pa.types.is_decimal(arrow) and arrow.precision > 18:
        return Order.DECIMAL
    return _ORDERS.get(prefix, Order.INTEGER)


_ORDERS = {REAL: Order.FLOAT, TEXT: Order.STRING, BINARY: Order.BINARY, "": Order.NONE}


def check_names(names: Iterable[str], what: str) -> tuple[str, ...]:
    """Return the column names that a user passed as the argument `what`.

    Raises InvalidInputError for a single string, and for anything but a list of strings.
    """
    if isinstance(names, Iterable) and not isinstance(names, str | bytes):
        found = tuple(names)
        if all(isinstance(name, str) for name in found):
            return found
        names = found
    raise InvalidInputError(f"{what} must be a list of column names, not {names!r}.")


def asked_columns(schema: TableSchema, columns: Iterable[str]) -> TableSchema:
    """Return the columns that a user passed as the argument `columns`, in their order.

    Raises NotFoundError for an unknown column. Raises InvalidInputError for a column that is named
    twice, and when `columns` is not a list of names.
    """
    found = schema.select(check_names(columns, "columns"))
    names = found.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"Column {twice!r} is asked for more than once; name it once.")
    return found

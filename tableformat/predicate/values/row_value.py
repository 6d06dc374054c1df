"""A value that is computed from a row: an expression whose columns are resolved. Pure.

The results are those of Spark in ANSI mode, in which a value that cannot be computed is an error.
Such an error belongs to one row, so a row that nobody asks for must not raise it: CASE computes a
branch for its own rows alone, as `on_rows` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import DataType, SchemaField, type_text
from colonnade.tableformat.predicate.literal_text import literal_text
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.storage import stored_literal
from colonnade.tableformat.types.arrow_types import arrow_type, base_type
from colonnade.tableformat.types.compute import pc

Compute = Callable[[pa.RecordBatch], pa.Array]

_INT_BITS = {"int": 31, "long": 63}
_KINDS = {
    Kind.NULL: VOID,
    Kind.BOOLEAN: "boolean",
    Kind.DOUBLE: "double",
    Kind.STRING: "string",
    Kind.BINARY: "binary",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.TIMESTAMP_NTZ: "timestamp_ntz",
    Kind.TIME: "time(6)",
    Kind.MONTHS: "interval year to month",
    Kind.DURATION: "interval day to second",
}


@dataclass(frozen=True, slots=True, eq=False)
class RowValue:
    """An expression whose columns are resolved: its type, the columns it reads, and its values.

    `compute` takes a batch with the columns `columns`, in the types of `arrow_types.arrow_schema`,
    and returns an array of the type. If it `may_fail`, it raises InvalidInputError for a row whose
    value cannot be computed. `literal` is the constant that the expression is, as written.
    """

    type: DataType
    columns: frozenset[int]
    compute: Compute
    may_fail: bool = False
    literal: Literal | None = None

    @property
    def text(self) -> str:
        """The type as text, in which every text of any length is a `string`."""
        return plain_type(self.type)


def plain_type(data_type: DataType) -> str:
    """Return a type as text: `string` for `char` and `varchar`, whose values are texts."""
    text = type_text(data_type)
    return "string" if text.startswith(("char(", "varchar(")) else text


def arrow_of(data_type: DataType) -> pa.DataType:
    """Return the Arrow type of values."""
    return arrow_type(SchemaField(name="value", type=data_type))


def column_value(field: SchemaField, path: Sequence[str] = ()) -> RowValue:
    """Return the value of a column; `path` leads from it to a field inside, whose type it has."""
    return (
        _column(field.id, (field.name,), field.type)
        if not path
        else _column(field.id, (field.name, *path), _inner(field, path))
    )


def _inner(field: SchemaField, path: Sequence[str]) -> DataType:
    for name in path:
        field = next(each for each in field.children() if each.name == name)
    return field.type


def _column(column: int, path: Sequence[str], data_type: DataType) -> RowValue:
    def compute(batch: pa.RecordBatch) -> pa.Array:
        at = batch.schema.get_field_index(path[0])
        if at < 0:
            raise InvalidInputError(f"Column {path[0]!r} of the expression is not in the batch.")
        array = batch.column(at)
        return pc.struct_field(array, list(path[1:])) if len(path) > 1 else array

    return RowValue(data_type, frozenset((column,)), compute)


def constant(literal: Literal) -> RowValue:
    """Return a literal, in the type that Spark gives it. Raises InvalidInputError."""
    data_type = literal_type(literal)
    scalar = scalar_of(literal, data_type)
    return RowValue(
        data_type, frozenset(), lambda batch: pa.repeat(scalar, batch.num_rows), literal=literal
    )


def literal_type(literal: Literal) -> str:
    """Return the type of a literal in Spark: the narrowest of int, long and decimal for numbers."""
    value = literal.value
    if literal.kind is Kind.INTEGER:
        assert isinstance(value, int)
        for name, bits in _INT_BITS.items():
            if -(2**bits) <= value < 2**bits:
                return name
        return f"decimal({len(str(abs(value)))},0)"
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        scale = max(0, -exponent)
        return f"decimal({max(len(digits) + max(0, exponent), scale, 1)},{scale})"
    return _KINDS[literal.kind]


def scalar_of(literal: Literal, data_type: str) -> pa.Scalar:
    """Return a literal as a value of its type. Raises InvalidInputError if it does not fit."""
    try:
        return _scalar(literal.kind, literal.value, arrow_of(data_type))
    except (pa.ArrowInvalid, OverflowError) as error:
        raise InvalidInputError(
            f"{literal_text(literal)} does not fit the type {data_type}; give a smaller value."
        ) from error


def _scalar(kind: Kind, value: Any, target: pa.DataType) -> pa.Scalar:
    if kind in (Kind.NULL, Kind.BOOLEAN, Kind.DOUBLE, Kind.STRING, Kind.BINARY):
        return pa.scalar(value, target)
    if pa.types.is_decimal(target):
        return pa.scalar(Decimal(value) if isinstance(value, int) else value, target)
    if pa.types.is_integer(target):
        return pa.scalar(value, target)
    whole = pa.int32() if target.bit_width == 32 else pa.int64()
    return pa.array([value], whole).view(target)[0]


def literal_of(array: pa.Array, data_type: DataType) -> Literal:
    """Return the only value of an array as a literal. Requires a type that has an order."""
    if not array[0].is_valid:
        return Literal(Kind.NULL, None)
    if pa.types.is_decimal(array.type):
        return Literal(Kind.DECIMAL, array[0].as_py())
    if pa.types.is_temporal(array.type):
        array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return stored_literal(array[0].as_py(), base_type(type_text(data_type)))


def computed(
    data_type: DataType,
    parts: Sequence[RowValue],
    apply: Callable[..., pa.Array],
    *,
    may_fail: bool = False,
    asks_all: bool = False,
) -> RowValue:
    """Return what a function computes from the values of some parts.

    It is NULL where a part is NULL, and a later part is then not computed, so that it does not
    fail. A function that `asks_all` may have a value there.
    """
    columns = frozenset[int]().union(*(each.columns for each in parts))

    def compute(batch: pa.RecordBatch) -> pa.Array:
        arrays: list[pa.Array] = []
        for each in parts:
            if arrays and each.may_fail and not asks_all:
                asked = pa.array(valid_mask(*arrays))
                arrays.append(on_rows(each.compute, batch, asked))
            else:
                arrays.append(each.compute(batch))
        return apply(*arrays)

    return RowValue(data_type, columns, compute, may_fail or any(each.may_fail for each in parts))


def on_rows(compute: Compute, batch: pa.RecordBatch, rows: pa.BooleanArray) -> pa.Array:
    """Compute values for some rows alone; all others are NULL.

    Requires a mask without NULL. Raises what `compute` raises for these rows.
    """
    count = rows.true_count
    if count == batch.num_rows:
        return compute(batch)
    part = batch.filter(rows) if batch.num_columns else batch.slice(0, count)
    places = np.cumsum(rows.to_numpy(zero_copy_only=False)) - 1
    return compute(part).take(pa.array(places, mask=~rows.to_numpy(zero_copy_only=False)))


def exact(apply: Callable[..., pa.Array], *arguments: object, **options: object) -> pa.Array:
    """Call a function of Arrow. Raises InvalidInputError for a result that does not fit."""
    try:
        return apply(*arguments, **options)
    except (pa.ArrowInvalid, OverflowError) as error:
        reason = str(error).partition("\n")[0].rstrip(". ")
        raise InvalidInputError(f"A result does not fit its type ({reason}).") from error


def mapped(array: pa.Array, target: pa.DataType, function: Callable[[Any], object]) -> pa.Array:
    """Return what a Python function makes of each value; NULL stays. Calls it once for each value.

    A value that occurs in many rows is computed once.
    """
    encoded = array.dictionary_encode()
    values = pa.array([function(each) for each in encoded.dictionary.to_pylist()], target)
    return values.take(encoded.indices)


def valid_mask(*arrays: pa.Array) -> NDArray[np.bool_]:
    """Return where no value is NULL."""
    mask = np.ones(len(arrays[0]), np.bool_)
    for each in arrays:
        if each.null_count:
            mask &= each.is_valid().to_numpy(zero_copy_only=False)
    return mask


def unsupported(what: str) -> InvalidInputError:
    """Return the error for a part of an expression that Colonnade does not evaluate."""
    return InvalidInputError(f"{what} is not supported without Spark.")

"""Apply the transforms of a partition layout to column values. Does no I/O.

Spec: docs/spec/partitions.md#transforms
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound
from colonnade.manifests.state.partition_layout import VALUE_LIMIT
from colonnade.tableformat.partition.murmur3 import Hashes, hash_bytes, hash_integers
from colonnade.tableformat.rowset.column import Order, column_of
from colonnade.tableformat.rowset.encodings.integers import as_integers, is_stored_as_integer
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.decimals import unscaled

Integers = NDArray[np.int64]

_HOUR_US = 3_600_000_000
_LEAST = -(2**63)


def transform(field: PartitionField, column: SchemaField, values: pa.Array) -> pa.Array | list[int]:
    """Apply a field's transform to values of a column, in its storage type.

    Returns integers, texts or bytes; decimals become a list of their unscaled values. Requires a
    field that `check_layout` accepts for the column, and values that are not NULL. Raises
    InvalidInputError for a value that is too long for the log.
    """
    return COMPUTED[field.transform](field, column, values)


def transformed_bounds(
    field: PartitionField, column: SchemaField, values: Sequence[Bound]
) -> list[int]:
    """Apply a field's transform to storage values. Requires a transform in `OF_BOUNDS`."""
    return OF_BOUNDS[field.transform](field, column, values)


def _buckets_of(field: PartitionField, column: SchemaField, values: Sequence[Bound]) -> list[int]:
    if str(column.type).startswith("decimal"):
        hashes = _hash_decimals([int(value) for value in values])
    elif column_of(column).order is Order.INTEGER:
        hashes = hash_integers(_hashed_integers(column, np.array(values, np.int64)))
    else:
        hashes = hash_bytes(pa.array(values).cast(pa.binary()))
    found: list[int] = _buckets(field, hashes).tolist()
    return found


def _buckets(field: PartitionField, hashes: Hashes) -> Integers:
    assert field.argument is not None
    return (hashes & np.uint32(0x7FFFFFFF)).astype(np.int64) % field.argument


def _hashes(column: SchemaField, values: pa.Array) -> Hashes:
    if pa.types.is_decimal(values.type):
        return _hash_decimals(_unscaled(values))
    if column_of(column).order is Order.INTEGER:
        return hash_integers(_hashed_integers(column, _integers(values)))
    return hash_bytes(values.cast(pa.binary()))


def _hashed_integers(column: SchemaField, values: Integers) -> Integers:
    # A time is stored in nanoseconds, but hashed as microseconds, which other formats store.
    return values // 1000 if str(column.type).startswith("time(") else values


def _hash_decimals(values: Sequence[int]) -> Hashes:
    """Hash the shortest big-endian two's complement of each value."""
    sizes = [(each if each >= 0 else ~each).bit_length() // 8 + 1 for each in values]
    shortest = [v.to_bytes(size, "big", signed=True) for v, size in zip(values, sizes, strict=True)]
    return hash_bytes(pa.array(shortest, pa.binary()))


def _plain(values: pa.Array) -> pa.Array | list[int]:
    if pa.types.is_decimal(values.type):
        return _unscaled(values)
    if pa.types.is_string(values.type) or pa.types.is_binary(values.type):
        return values
    return pa.array(_integers(values))


def _unscaled(values: pa.Array) -> list[int]:
    return [unscaled(value, values.type.scale) for value in values.to_pylist()]


def _integers(values: pa.Array) -> Integers:
    integers = as_integers(values) if is_stored_as_integer(values.type) else values
    found: Integers = np.asarray(integers.cast(pa.int64()))
    return found


def _truncated(values: pa.Array, width: int) -> pa.Array | list[int]:
    if pa.types.is_decimal(values.type):
        return [value - value % width for value in _unscaled(values)]
    if pa.types.is_string(values.type):
        return pc.utf8_slice_codeunits(values, 0, width)
    if pa.types.is_binary(values.type):
        return pc.binary_slice(values, 0, width)
    whole = _integers(values)
    rest = whole % width
    return pa.array(np.maximum(whole, _LEAST + rest) - rest)


def _checked(values: pa.Array | list[int], column: SchemaField) -> pa.Array | list[int]:
    if isinstance(values, list) or pa.types.is_integer(values.type) or not len(values):
        return values
    size = pc.max(pc.binary_length(values)).as_py()
    if size > VALUE_LIMIT:
        raise InvalidInputError(
            f"Column {column.name!r} cannot be partitioned by: a value has {size} bytes, and at"
            f" most {VALUE_LIMIT} are allowed in the log; use truncate."
        )
    return values


def _identity(field: PartitionField, column: SchemaField, values: pa.Array) -> pa.Array | list[int]:
    return _checked(_plain(values), column)


def _years(field: PartitionField, column: SchemaField, values: pa.Array) -> pa.Array:
    return pa.array(_calendar(column, values, "Y"))


def _months(field: PartitionField, column: SchemaField, values: pa.Array) -> pa.Array:
    return pa.array(_calendar(column, values, "M"))


def _days(field: PartitionField, column: SchemaField, values: pa.Array) -> pa.Array:
    return pa.array(_whole_days(column, values))


def _hours(field: PartitionField, column: SchemaField, values: pa.Array) -> pa.Array:
    return pa.array(_integers(values) // _HOUR_US)


def _bucket(field: PartitionField, column: SchemaField, values: pa.Array) -> pa.Array:
    return pa.array(_buckets(field, _hashes(column, values)))


def _truncate(field: PartitionField, column: SchemaField, values: pa.Array) -> pa.Array | list[int]:
    return _checked(_truncated(values, field.argument or 1), column)


def _calendar(column: SchemaField, values: pa.Array, unit: str) -> Integers:
    """Return the whole units of NumPy's calendar since 1970."""
    days = _whole_days(column, values).astype("datetime64[D]")
    return days.astype(f"datetime64[{unit}]").astype(np.int64)


def _whole_days(column: SchemaField, values: pa.Array) -> Integers:
    return _integers(values) // (1 if column.type == "date" else 24 * _HOUR_US)


COMPUTED: Mapping[str, Callable[[PartitionField, SchemaField, pa.Array], pa.Array | list[int]]] = (
    MappingProxyType(
        {
            "identity": _identity,
            "years": _years,
            "months": _months,
            "days": _days,
            "hours": _hours,
            "bucket": _bucket,
            "truncate": _truncate,
        }
    )
)
"""How each transform of `TRANSFORMS` is computed, as `transform` promises."""

OF_BOUNDS: Mapping[str, Callable[[PartitionField, SchemaField, Sequence[Bound]], list[int]]] = (
    MappingProxyType({"bucket": _buckets_of})
)
"""How a transform is computed of a few storage values, for each one that scatters values."""

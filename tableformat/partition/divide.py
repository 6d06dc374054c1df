"""Which rows belong together under a partition layout. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.entries import PartitionField, PartitionValues
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import Bound, encode_bound
from colonnade.tableformat.partition.transforms import transform

Integers = NDArray[np.int64]


def divide(
    fields: Sequence[PartitionField], schema: TableSchema, columns: Mapping[int, pa.Array]
) -> tuple[Integers, list[PartitionValues]]:
    """The number of each row's partition, and what the partition of each number is.

    `columns` are at least the source columns by id, in storage types. Requires: a field. Raises
    InvalidInputError for a value that is too long to stand in the log.
    """
    codes: Integers = np.zeros(len(columns[fields[0].column]), np.int64)
    keys: list[tuple[Integers, list[str | None]]] = []
    for field in fields:
        own, values = _keys(field, schema.by_id(field.column), columns[field.column])
        # Numbered anew each time, so that the product with another field fits.
        codes = _renumbered(codes * len(values) + own)
        keys.append((own, values))
    firsts = np.zeros(codes.max(initial=-1) + 1, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    parts = [[values[each] for each in own[firsts].tolist()] for own, values in keys]
    return codes, list(zip(*parts, strict=True))


def _renumbered(codes: Integers) -> Integers:
    """The same numbers without gaps, in their order."""
    end = int(codes.max(initial=-1)) + 1
    if end > 4 * len(codes) + 1024:
        return np.unique(codes, return_inverse=True)[1].reshape(-1)
    # Several times faster than sorting where the numbers are dense.
    used = np.bincount(codes, minlength=end) > 0
    return (np.cumsum(used) - 1)[codes]


def _keys(
    field: PartitionField, column: SchemaField, array: pa.Array
) -> tuple[Integers, list[str | None]]:
    """The number of each row's value, and the values by number; the last stands for NULL."""
    present = array.drop_null() if array.null_count else array
    if pa.types.is_decimal(array.type):
        # Python's numbers are used for these: once for each that there is.
        encoded = present.dictionary_encode()
        found, places = _distinct(transform(field, column, encoded.dictionary))
        places = places[np.asarray(encoded.indices)]
    else:
        found, places = _distinct(transform(field, column, present))
    values = [*map(encode_bound, found), None]
    if not array.null_count:
        return places, values
    own = np.full(len(array), len(found), np.int64)
    own[np.asarray(array.is_valid())] = places
    return own, values


def _distinct(values: pa.Array | list[int]) -> tuple[list[Bound], Integers]:
    """Each value once, and for every value the place where it stands among those."""
    if isinstance(values, list):
        numbers: dict[Bound, int] = {}
        places = [numbers.setdefault(value, len(numbers)) for value in values]
        return list(numbers), np.array(places, np.int64)
    encoded = values.dictionary_encode()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices.cast(pa.int64()))

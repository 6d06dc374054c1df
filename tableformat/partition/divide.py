"""Divide rows by partition. Does no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.entries import PartitionField, PartitionValues
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import Bound, encode_bound
from colonnade.manifests.state.partition_layout import value_tag
from colonnade.tableformat.partition.transforms import transform

Integers = NDArray[np.int64]


def divide(
    fields: Sequence[PartitionField], schema: TableSchema, columns: Mapping[int, pa.Array]
) -> tuple[Integers, list[PartitionValues]]:
    """Return the partition number of each row, and the values of each numbered partition.

    `columns` must contain the source columns by id, in storage types; `fields` must not be empty.
    Raises InvalidInputError for a value that is too long for the log.
    """
    codes: Integers = np.zeros(len(columns[fields[0].column]), np.int64)
    keys: list[tuple[Integers, list[str | None]]] = []
    for field in fields:
        own, values = _keys(field, schema.by_id(field.column), columns[field.column])
        # Numbers are made dense after each field, so that the next product does not overflow.
        codes = _renumbered(codes * len(values) + own)
        keys.append((own, values))
    firsts = np.zeros(codes.max(initial=-1) + 1, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    parts = [[values[each] for each in own[firsts].tolist()] for own, values in keys]
    return codes, list(zip(*parts, strict=True))


def _renumbered(codes: Integers) -> Integers:
    """Return the numbers without gaps, in the same order."""
    end = int(codes.max(initial=-1)) + 1
    if end > 4 * len(codes) + 1024:
        return np.unique(codes, return_inverse=True)[1].reshape(-1)
    # For dense numbers, counting is several times faster than sorting.
    used = np.bincount(codes, minlength=end) > 0
    return (np.cumsum(used) - 1)[codes]


def _keys(
    field: PartitionField, column: SchemaField, array: pa.Array
) -> tuple[Integers, list[str | None]]:
    """Return the value number of each row, and the values by number; the last one is NULL."""
    present = array.drop_null() if array.null_count else array
    if pa.types.is_decimal(array.type):
        # Decimals are transformed as Python numbers, so each distinct one is transformed once.
        encoded = present.dictionary_encode()
        found, places = _distinct(transform(field, column, encoded.dictionary))
        places = places[np.asarray(encoded.indices)]
    else:
        found, places = _distinct(transform(field, column, present))
    tag = value_tag(field, column)
    values = [*(encode_bound(each, tag) for each in found), None]
    if not array.null_count:
        return places, values
    own = np.full(len(array), len(found), np.int64)
    own[np.asarray(array.is_valid())] = places
    return own, values


def _distinct(values: pa.Array | list[int]) -> tuple[list[Bound], Integers]:
    """Return each distinct value once, and the position of every value among them."""
    if isinstance(values, list):
        numbers: dict[Bound, int] = {}
        places = [numbers.setdefault(value, len(numbers)) for value in values]
        return list(numbers), np.array(places, np.int64)
    encoded = values.dictionary_encode()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices.cast(pa.int64()))

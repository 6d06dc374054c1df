"""Which rows belong together under a partition layout. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manifests.entries import PartitionField, PartitionValues
from manifests.schema import SchemaField, TableSchema
from manifests.statistics import Bound, encode_bound
from tableformat.partition.transforms import transform

Integers = NDArray[np.int64]


def divide(
    fields: Sequence[PartitionField], schema: TableSchema, columns: Mapping[int, pa.Array]
) -> tuple[Integers, list[PartitionValues]]:
    """The number of each row's partition, and what the partition of each number is.

    `columns` are at least the source columns by id, in storage types. Requires: a field. Raises
    InvalidInputError for a value that is too long to stand in the log.
    """
    codes = np.zeros(len(columns[fields[0].column]), np.int64)
    keys: list[tuple[Integers, list[str | None]]] = []
    for field in fields:
        own, values = _keys(field, schema.by_id(field.column), columns[field.column])
        # Numbered anew each time, so that the product with another field fits.
        codes = np.unique(codes * len(values) + own, return_inverse=True)[1].reshape(-1)
        keys.append((own, values))
    firsts = np.unique(codes, return_index=True)[1]
    parts = [[values[each] for each in own[firsts].tolist()] for own, values in keys]
    return codes, list(zip(*parts, strict=True))


def _keys(
    field: PartitionField, column: SchemaField, array: pa.Array
) -> tuple[Integers, list[str | None]]:
    """The number of each row's value, and the values by number; the last stands for NULL."""
    encoded = array.dictionary_encode()
    found, places = _distinct(transform(field, column, encoded.dictionary))
    own = np.asarray(encoded.indices.cast(pa.int64()).fill_null(len(places)))
    return np.append(places, len(found))[own], [*map(encode_bound, found), None]


def _distinct(values: pa.Array | list[int]) -> tuple[list[Bound], Integers]:
    """Each value once, and for every value the place where it stands among those."""
    if isinstance(values, list):
        numbers: dict[Bound, int] = {}
        places = [numbers.setdefault(value, len(numbers)) for value in values]
        return list(numbers), np.array(places, np.int64)
    encoded = values.dictionary_encode()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices.cast(pa.int64()))

"""Which rows belong together under a partition layout. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from manifests.entries import PartitionField, PartitionValues
from manifests.schema import SchemaField, TableSchema
from manifests.statistics import Bound, encode_bound
from tableformat.partition.transforms import transform

Integers = NDArray[np.int64]


def divide(
    fields: Sequence[PartitionField], schema: TableSchema, columns: Sequence[pa.Array]
) -> tuple[Integers, list[PartitionValues]]:
    """The number of each row's partition, and what the partition of each number is.

    `columns` are those of the schema, in storage types. Raises InvalidInputError for a value that
    is too long to stand in the log.
    """
    places = {column.id: place for place, column in enumerate(schema.fields)}
    codes = np.zeros(len(columns[0]), np.int64)
    keys: list[tuple[Integers, list[str | None]]] = []
    for field in fields:
        place = places[field.column]
        own, values = _keys(field, schema.fields[place], columns[place])
        # Numbered anew each time, so that the product with another field fits.
        codes = np.unique(codes * len(values) + own, return_inverse=True)[1].reshape(-1)
        keys.append((own, values))
    firsts = np.unique(codes, return_index=True)[1]
    parts = [[values[each] for each in own[firsts].tolist()] for own, values in keys]
    return codes, list(zip(*parts, strict=True)) if parts else [()] * len(firsts)


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

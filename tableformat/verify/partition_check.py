"""Check that the rows of a RowSet belong to the partition that the log states.

Spec: docs/spec/partitions.md#writer-requirements
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from colonnade.manifests.model.entries import PartitionField, PartitionValues
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.rowset.reader import RowSetReader


def first_astray(
    reader: RowSetReader,
    schema: TableSchema,
    fields: Sequence[PartitionField],
    values: PartitionValues,
) -> int | None:
    """Return the first row with other partition values; None when all rows have these values.

    Ignores fields whose column was dropped. Holds the source columns for one stretch. Raises
    CorruptionError, StoreError.
    """
    ids = {column.id for column in schema.fields}
    known = [(f, v) for f, v in zip(fields, values, strict=True) if f.column in ids]
    if not known:
        return None
    columns = {field.column: schema.by_id(field.column) for field, _ in known}
    sources = list(columns.values())
    wanted = tuple(value for _, value in known)
    for stretch in reader.read_stored(sources):
        arrays = dict(zip(columns, reader.decode(sources, stretch), strict=True))
        codes, partitions = divide([field for field, _ in known], schema, arrays)
        astray = np.array([each != wanted for each in partitions], np.bool_)[codes]
        if astray.any():
            return stretch.first_row + int(np.argmax(astray))
    return None

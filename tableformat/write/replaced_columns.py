"""Write columns that replace those of a RowSet: the same rows and cuts, but other values.

Spec: docs/spec/operations.md#replaced-columns
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import AbstractBitMap, FrozenBitMap

from colonnade.manifests.ids import new_object_id
from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.replaced_columns import replacement_of
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.read_back import check_rows, read_back
from colonnade.tableformat.rowset.write.output import RowSetOutput
from colonnade.tableformat.rowset.write_options import WriteOptions


@dataclass(frozen=True, slots=True)
class WritePlace:
    """Where a job writes objects of a table.

    A deletion vector of at most `inline_bytes` is stored in the log instead.
    """

    store: ObjectStore
    table: str
    prefix: str
    job_id: str
    inline_bytes: int


def with_values(
    old: Sequence[pa.Array], new: Sequence[pa.Array], rows: NDArray[np.int64]
) -> list[pa.Array]:
    """Return the columns `old` with the values of `new` in the ascending `rows`."""
    count = len(old[0])
    order = np.arange(count)
    order[rows] = count + np.arange(len(rows))
    places = pa.array(order)
    return [pa.concat_arrays(pair).take(places) for pair in zip(old, new, strict=True)]


def write_replacement(
    place: WritePlace,
    rowset: LiveRowSet,
    fields: Sequence[SchemaField],
    stretches: Iterable[Sequence[pa.Array]],
    changed: AbstractBitMap | None,
    options: WriteOptions,
) -> ReplaceColumn:
    """Write columns of a RowSet. No reader sees them before the returned operation is committed.

    `stretches` has the storage arrays of `fields` for every stretch between two cuts. `changed` are
    the rows whose values differ; None means all rows. The written columns are read back and
    verified. Raises CorruptionError, StoreError. After these, and after an error of `stretches`,
    what was written is removed.
    """
    columns = [column_of(field) for field in fields]
    ids = [field.id for field in fields]
    entry, store = rowset.entry, place.store
    name = new_object_id(place.job_id)
    output = RowSetOutput(store, place.prefix, name, columns, options, entry.cuts)
    try:
        for arrays in stretches:
            output.add_cut([[array] for array in arrays], len(arrays[0]))
        assert output.rows == entry.rows
        stored = output.finish()
        check_rows(read_back(store, place.prefix, fields, [stored]), entry.rows)
    except BaseException:
        output.abort()
        raise
    if changed is not None and len(changed) == entry.rows:
        changed = None
    return as_operation(place, rowset, ids, stored, changed, sync=options.sync)


def as_operation(
    place: WritePlace,
    rowset: LiveRowSet,
    columns: Sequence[int],
    stored: RowSetEntry,
    changed: AbstractBitMap | None,
    *,
    sync: bool,
) -> ReplaceColumn:
    """Return the operation that makes written columns of a RowSet those of its rows.

    Stores the numbers of the `changed` rows if they are too many for the log; None means all rows.
    Raises StoreError.
    """
    vector = None
    if changed is not None:
        vector = write_deletion_vector(
            place.store,
            place.prefix,
            place.job_id,
            DeletionVector(FrozenBitMap(changed)),
            sync=sync,
            inline_bytes=place.inline_bytes,
        )
    return ReplaceColumn(
        table=place.table,
        rowset=rowset.id,
        replacement=replacement_of(stored, columns),
        statistics=stored.statistics,
        changed=vector,
        predecessors=rowset.holders(columns) or None,
    )

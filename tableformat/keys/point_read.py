"""Read the rows of few keys, of a table in which each key has at most one row.

Of each RowSet that may have a key, the key columns are read first, and of them only the blocks that
bounds and Bloom filters allow. The other columns are read only where a row was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.deleted_rows import with_hidden_rows
from colonnade.tableformat.rowset.reader import RowSetReader, open_stored
from colonnade.tableformat.types.arrow_types import arrow_schema

if TYPE_CHECKING:
    from colonnade.tableformat.keys.key_set import KeySet

_SIDE_BY_SIDE = 16
"""The RowSets that are read side by side, where requests take long."""

_KEPT = 64
"""The open RowSets that are kept from one read to the next."""

Numbers = NDArray[np.int64]

FoundRows = tuple[Numbers, pa.RecordBatch]
"""Some rows, and for each of them the number of its key."""


class OpenRowSets:
    """RowSets that point reads have opened: their footers, indexes and deletion vectors.

    Keeps the last 64 that were used. Its user calls it from one thread.
    """

    def __init__(self) -> None:
        self._opened: dict[int, tuple[object, RowSetReader, DeletionVector | None]] = {}

    def read(
        self,
        store: ObjectStore,
        view: View,
        keys: KeySet,
        wanted: TableSchema,
    ) -> Iterator[FoundRows]:
        """Yield the rows that have one of the keys, with the columns of `wanted`.

        The view has the RowSets of the table that may have such rows. The newest are read first,
        and no more once each key has its row. Raises CorruptionError, StoreError.
        """
        newest = sorted(view.rowsets, key=lambda rowset: -rowset.id)
        width, left = min(_SIDE_BY_SIDE, store.parallel), keys.count
        for at in range(0, len(newest), width):
            group = newest[at : at + width]
            calls = [partial(self._rows_in, store, view, each, keys, wanted) for each in group]
            for found in store.together(calls):
                left -= sum(len(numbers) for numbers, _ in found)
                yield from found
            if left <= 0:
                break
        for number in [*self._opened][:-_KEPT]:
            del self._opened[number]

    def _open(
        self, store: ObjectStore, view: View, rowset: LiveRowSet
    ) -> tuple[RowSetReader, DeletionVector | None]:
        # What a view hides changes with time, so it is looked for where a row was found.
        stored = rowset, view.masks_of(rowset), view.statics
        known = self._opened.pop(rowset.id, None)
        if known is not None and known[0] == stored:
            _, reader, deleted = known
        else:
            reader, deleted = open_stored(store, view, rowset)
        self._opened[rowset.id] = stored, reader, deleted
        return reader, deleted

    def _rows_in(
        self,
        store: ObjectStore,
        view: View,
        rowset: LiveRowSet,
        keys: KeySet,
        wanted: TableSchema,
    ) -> list[FoundRows]:
        reader, deleted = self._open(store, view, rowset)
        ids = [field.id for field in keys.fields]
        parts: list[tuple[int, Numbers, Numbers, pa.RecordBatch]] = []
        for first, batch in reader.read(keys.fields, may_match=keys.may_match, pruning_columns=ids):
            maybe = keys.candidates(batch)
            if len(maybe):
                stretch = (first, first + batch.num_rows)
                gone = with_hidden_rows(reader, view, rowset, deleted, [stretch])
                if gone is not None:
                    maybe = maybe[gone.keep_mask(first, batch.num_rows)[maybe]]
            numbers = keys.find(batch.take(pa.array(maybe)))
            if (has_key := numbers >= 0).any():
                parts.append((first, maybe[has_key], numbers[has_key], batch))
        others = [field for field in wanted.fields if field.id not in ids]
        ranges = [(first, first + len(batch)) for first, _, _, batch in parts]
        return [
            (numbers, _chosen(rows, [batch, other], wanted))
            for (_, rows, numbers, batch), other in zip(
                parts, _others(reader, others, ranges), strict=True
            )
        ]


def _others(
    reader: RowSetReader, columns: Sequence[SchemaField], ranges: Sequence[tuple[int, int]]
) -> list[pa.RecordBatch | None]:
    """Read other columns of the stretches that have rows."""
    if not columns or not ranges:
        return [None] * len(ranges)
    return [batch for _, batch in reader.read(columns, ranges=ranges)]


def _chosen(
    rows: Numbers, batches: Sequence[pa.RecordBatch | None], wanted: TableSchema
) -> pa.RecordBatch:
    """Return some rows of batches that lie side by side."""
    columns = {
        name: column
        for batch in batches
        if batch is not None
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    places = pa.array(rows)
    taken = [columns[field.name].take(places) for field in wanted.fields]
    return pa.RecordBatch.from_arrays(taken, schema=arrow_schema(wanted))

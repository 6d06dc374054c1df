"""Values that count as NULL, because they have expired.

Spec: docs/spec/lifetimes.md#readers
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.model.regions import Mask
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.predicate import evaluate
from colonnade.tableformat.predicate.regions import region_predicate
from colonnade.tableformat.types.compute import pc


class Masks:
    """The masks of the columns that a reader returns, and the columns that it reads for them."""

    def __init__(self, masks: Sequence[Mask], columns: Sequence[SchemaField]) -> None:
        place = {column.id: at for at, column in enumerate(columns)}
        self._masks = [(place[each.column], each.region) for each in masks if each.column in place]
        self._columns = tuple(columns)
        wanted = {each.id: each for _, region in self._masks for each in region.columns}
        self.added = tuple(each for number, each in wanted.items() if number not in place)
        """Columns that decide which values are masked, and that the reader does not return."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the columns of the reader with NULL for masked values, without `added`."""
        if not self._masks:
            return batch
        ids = [str(each.id) for each in (*self._columns, *self.added)]
        by_id = pa.RecordBatch.from_arrays(batch.columns, names=ids)
        arrays = batch.columns[: len(self._columns)]
        for at, region in self._masks:
            expired = evaluate(region_predicate(region), by_id).fill_null(False)
            if expired.true_count:
                nothing = pa.scalar(None, arrays[at].type)
                arrays[at] = pc.if_else(expired, nothing, arrays[at])
        fields = [batch.schema.field(at) for at in range(len(arrays))]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, batch.schema.metadata))

    def with_open_nulls(self, may_match: BoundsFilter) -> BoundsFilter:
        """Return `may_match` for stored bounds, which do not count the NULLs of masked values."""
        ids = [self._columns[at].id for at, _ in self._masks]
        if not ids:
            return may_match
        return lambda bounds: may_match(bounds.with_open_nulls(ids))

"""Read a plan in the order that it states.

RowSets that have this order are merged as streams. Each of them is opened when the merge reaches
the least key that it may have. So RowSets that do not overlap are read one after another, and a
reader of the first rows opens few. The rows of all other RowSets are sorted together first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.predicate import BoundPredicate
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.scan.live_rows import live_batches, needed_fields
from colonnade.tableformat.scan.merge import Batch, SortedRun, least_start, merge_runs
from colonnade.tableformat.scan.open_rowsets import OpenedAhead, open_rowsets
from colonnade.tableformat.scan.order import RowOrder, first_key
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan
from colonnade.tableformat.scan.sorting import sorted_rows
from colonnade.tableformat.types.arrow_types import arrow_schema, storage_type
from colonnade.tableformat.types.storage_form import to_storage

_WINDOW_BYTES = 8 * MIB
"""The most stored bytes that are read ahead of one RowSet."""

_ALL_WINDOWS_BYTES = 64 * MIB
"""The approximate stored bytes that are read ahead over all open RowSets."""


def read_ordered(store: ObjectStore, plan: ScanPlan, order: RowOrder) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a plan in an order; rows with equal keys in the order of their RowSets.

    Holds a block of each RowSet that overlaps the present key, and a read-ahead of about 64 MiB in
    all. For RowSets that are not sorted, it holds 128 MiB of rows, and keeps more on local disk
    (`TMPDIR`). Raises CorruptionError, also when a RowSet is not in the order that it states, and
    StoreError.
    """
    rows = _Rows.of(store, plan, order)
    unsorted = frozenset(order.unsorted)
    runs = [rows.run(scan) for scan in plan.rowsets if scan.rowset.id not in unsorted]
    others = [scan for scan in plan.rowsets if scan.rowset.id in unsorted]
    if others:
        runs.append(rows.sorted_run(others))
    width = range(len(plan.projection))
    for _, columns in merge_runs(runs, order.fields, rows.places, store.together):
        yield pa.RecordBatch.from_arrays(columns, schema=rows.schema).select(width)


@dataclass(slots=True)
class _Rows:
    """The rows of a plan as a merge takes them.

    Their columns are those to return, and then the columns of `added`. These are columns of the
    sort key that are not returned, or that Arrow can only compare in their storage type. `places`
    are the positions of the sort key's columns.
    """

    store: ObjectStore
    plan: ScanPlan
    order: RowOrder
    predicate: BoundPredicate | None
    fields: list[SchemaField]
    first: SchemaField
    added: TableSchema
    places: list[int]
    schema: pa.Schema
    open: int = 0

    @classmethod
    def of(cls, store: ObjectStore, plan: ScanPlan, order: RowOrder) -> _Rows:
        predicate, output = plan.bound_predicate(), arrow_schema(plan.output_schema)
        key = [plan.view.columns.by_id(each.column) for each in order.fields]
        added = [each for each in key if not _is_comparable(each, output)]
        places = [
            len(output) + added.index(each) if each in added else output.names.index(each.name)
            for each in key
        ]
        types = [pa.field(each.name, storage_type(each)) for each in added]
        schema = pa.schema([*output, *types], output.metadata)
        fields = needed_fields(plan, predicate, [each.id for each in key])
        schema_added = TableSchema(fields=tuple(added))
        return cls(store, plan, order, predicate, fields, key[0], schema_added, places, schema)

    def run(self, scan: RowSetScan) -> SortedRun:
        """Return a RowSet as a run, which opens it when its first rows are loaded."""
        name = f"RowSet {scan.rowset.entry.object} of {self.plan.table!r}"
        return SortedRun(name, self._batches([scan]), self._start(scan))

    def sorted_run(self, scans: list[RowSetScan]) -> SortedRun:
        """Return RowSets as one run, which sorts their rows when its first rows are loaded."""
        batches = (columns for _, columns in self._batches(scans))
        found = sorted_rows(batches, self.order.fields, self.places, self.schema)
        start = least_start([self._start(scan) for scan in scans], self.order.fields)
        return SortedRun(f"sorted rows of {self.plan.table!r}", found, start)

    def _start(self, scan: RowSetScan) -> pa.Array | None:
        return first_key(scan.rowset, self.first, descending=self.order.fields[0].descending)

    def _batches(self, scans: list[RowSetScan]) -> Iterator[Batch]:
        self.open += 1
        # RowSets that are opened later get smaller windows, so that all together stay bounded.
        window = max(1, min(_WINDOW_BYTES, _ALL_WINDOWS_BYTES // self.open))
        part = self.plan.of(scans)
        for opened in open_rowsets(self.store, part, OpenedAhead()):
            for batch in live_batches(part.view, opened, self.fields, self.predicate, window):
                added = to_storage(batch.select(self.added.names), self.added)
                columns = [*batch.select(self.plan.projection).columns, *added]
                yield np.zeros(batch.num_rows, np.int64), columns
        self.open -= 1


def _is_comparable(column: SchemaField, output: pa.Schema) -> bool:
    """Return whether a column is returned in a form that Arrow can sort."""
    return column.name in output.names and output.field(column.name).type == storage_type(column)

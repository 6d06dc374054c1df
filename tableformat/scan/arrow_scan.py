"""Read a scan plan into Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from colonnade.manifests.public import public
from colonnade.tableformat.location import Location
from colonnade.tableformat.scan.opened import OpenedAhead
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.run import read_plan, read_plan_parallel
from colonnade.tableformat.types.arrow_input import record_batches
from colonnade.tableformat.types.arrow_types import arrow_schema


@public
class Scan:
    """A planned read of one epoch.

    Each call of a method reads the data again, and returns the same rows.
    """

    def __init__(
        self, location: Location, plan: ScanPlan, ahead: OpenedAhead | None = None
    ) -> None:
        """`ahead` has RowSets of the plan that are open already, for the first read."""
        self._store = location.store
        self._ahead = ahead
        self.plan = plan

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the columns that the scan returns."""
        return arrow_schema(self.plan.output_schema)

    @property
    def epoch(self) -> int:
        """The epoch that the scan reads."""
        return self.plan.epoch

    def to_reader(self) -> pa.RecordBatchReader:
        """Stream the rows, holding about as much as `to_batches`."""
        return pa.RecordBatchReader.from_batches(self.schema, self.to_batches())

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows as record batches, holding about one block of every column.

        With an order of rows, one block of each RowSet that overlaps the present key is held.
        """
        return read_plan(self._store, self.plan, self._ahead)

    def to_arrow(self) -> pa.Table:
        """Read all rows into memory; without an order of rows, decoding on all processors."""
        batches = read_plan_parallel(self._store, self.plan, self._ahead)
        return pa.Table.from_batches(batches, self.schema)

    def to_pandas(self, **options: Any) -> Any:
        """Read all rows into a pandas frame; `options` go to `pyarrow.Table.to_pandas`."""
        return self.to_arrow().to_pandas(**options)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows to any library that supports the Arrow C stream interface."""
        return self.to_reader().__arrow_c_stream__(requested_schema)


HELD = (pa.Table, pa.RecordBatch)
"""Data whose rows are in memory, and can be read again."""


def held_batches(data: Any) -> tuple[pa.RecordBatch, ...]:
    """Return the batches of a pyarrow table or batch, which can be read twice; none for other data.

    Raises InvalidInputError.
    """
    return tuple(record_batches(data)) if isinstance(data, HELD) else ()


def batches_of(data: Any) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a scan, or of any object with an Arrow interface; at least one batch.

    Raises InvalidInputError.
    """
    if not isinstance(data, Scan):
        yield from record_batches(data)
        return
    yield pa.RecordBatch.from_pylist([], data.schema)
    # Batches are read directly, because errors would lose their type in Arrow's C interface.
    yield from data.to_batches()

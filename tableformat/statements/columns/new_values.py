"""Columns of a RowSet replaced by values that are computed from its rows.

An update and the filling of a column are one thing here: both select rows, compute values from
their columns, check them, and write the columns of the whole RowSet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.scan.selection import Selection, selected_numbers
from colonnade.tableformat.statements.columns.assignments import Assignments
from colonnade.tableformat.types.storage_form import to_storage
from colonnade.tableformat.write.constraints import BoundConstraint, check_rows
from colonnade.tableformat.write.replaced_columns import WritePlace, with_values, write_replacement

Stretches = Iterable[tuple[int, pa.RecordBatch]]
"""The rows of a RowSet between two cuts, each with the number of its first row."""


@dataclass(frozen=True, slots=True)
class NewValues:
    """Values of the columns `targets`, which are computed from the columns `reads`.

    `compute` takes rows with at least these columns, and returns a batch of the targets alone, in
    exactly their types. It raises InvalidInputError that names the column for a value that it
    cannot hold. `rules` are the constraints that new values are checked against.
    """

    targets: TableSchema
    reads: tuple[SchemaField, ...]
    compute: Callable[[pa.RecordBatch], pa.RecordBatch]
    rules: tuple[BoundConstraint, ...] = ()

    def write(
        self, place: WritePlace, selection: Selection, options: WriteOptions
    ) -> ReplaceColumn:
        """Write the targets of a RowSet, with new values in the selected rows.

        Holds about a block of each column. If all rows are selected, the targets need not be
        stored. Raises InvalidInputError for a constraint that a new value does not meet, and the
        errors of `compute` and `write_replacement`.
        """
        numbers = selected_numbers(place.store, selection)
        reader = RowSetReader(place.store, selection.view, selection.rowset)
        stretches = reader.read(self._stored(selection))
        values = self._all if selection.rows is None else self._some
        return write_replacement(
            place,
            selection.rowset,
            self.targets.fields,
            values(stretches, numbers),
            selection.rows,
            options,
        )

    def _stored(self, selection: Selection) -> tuple[SchemaField, ...]:
        """Return the columns to read: those that values are computed from, checked with and kept.

        A target may be new, and is then not stored.
        """
        targets = {field.id for field in self.targets.fields}
        checked = {each for rule in self.rules for each in rule.condition.column_ids}
        ids = {field.id for field in self.reads} | (checked - targets)
        if selection.rows is not None:
            ids |= targets
        return tuple(field for field in selection.view.columns.fields if field.id in ids)

    def _all(self, stretches: Stretches, numbers: NDArray[np.int64]) -> Iterator[list[pa.Array]]:
        """Yield values for all rows. A deleted row has those of the next live row, or the last.

        So each value meets the rules of its column, and deleted rows are never computed.
        """
        waiting: list[int] = []
        last: list[pa.Array] | None = None
        for first_row, batch in stretches:
            chosen = _within(numbers, first_row, batch)
            if not len(chosen):
                if last is None:
                    waiting.append(batch.num_rows)
                else:
                    yield _repeated(last, batch.num_rows)
                continue
            values = self._computed(batch, chosen)
            for rows in waiting:
                yield _repeated([each[:1] for each in values], rows)
            waiting = []
            if len(chosen) < batch.num_rows:
                next_live = np.searchsorted(chosen, np.arange(batch.num_rows))
                places = pa.array(np.minimum(next_live, len(chosen) - 1))
                values = [each.take(places) for each in values]
            yield values
            last = [each[-1:] for each in values]

    def _some(self, stretches: Stretches, numbers: NDArray[np.int64]) -> Iterator[list[pa.Array]]:
        """Yield the old values with new ones in the rows `numbers`."""
        for first_row, batch in stretches:
            chosen = _within(numbers, first_row, batch)
            if len(chosen) == batch.num_rows:
                yield self._computed(batch, chosen)
                continue
            old = to_storage(batch.select(self.targets.names), self.targets)
            yield with_values(old, self._computed(batch, chosen), chosen) if len(chosen) else old

    def _computed(self, batch: pa.RecordBatch, chosen: NDArray[np.int64]) -> list[pa.Array]:
        rows = batch if len(chosen) == batch.num_rows else batch.take(pa.array(chosen))
        computed = self.compute(rows)
        check_rows(_with_columns(rows, computed), self.rules)
        return to_storage(computed, self.targets)


def assigned(
    values: Assignments, schema: TableSchema, rules: tuple[BoundConstraint, ...] = ()
) -> NewValues:
    """Return what an update assigns to columns of a table that has these columns."""
    reads = tuple(field for field in schema.fields if field.id in values.column_ids)
    return NewValues(values.targets, reads, values.compute, rules)


def _with_columns(rows: pa.RecordBatch, new: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows with new values of columns, which they may have already."""
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    columns |= dict(zip(new.schema.names, new.columns, strict=True))
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _within(numbers: NDArray[np.int64], first_row: int, batch: pa.RecordBatch) -> NDArray[np.int64]:
    low, high = np.searchsorted(numbers, (first_row, first_row + batch.num_rows))
    return numbers[low:high] - first_row


def _repeated(values: list[pa.Array], rows: int) -> list[pa.Array]:
    places = pa.array(np.zeros(rows, np.int64))
    return [each.take(places) for each in values]

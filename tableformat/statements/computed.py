"""Compute the values of a column from other columns, with Arrow, and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.hidden_rows import view_of_values
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.text_policy import TextPolicy, text_policy
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.predicate import Predicate, bind
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.scan.selection import Selection, select_rows, selected_numbers
from colonnade.tableformat.statements.assignments import parse_assignments
from colonnade.tableformat.statements.fill import FilledRowSet
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.storage_form import to_storage
from colonnade.tableformat.write.constraints import BoundConstraint, check_rows
from colonnade.tableformat.write.replaced_columns import WritePlace, with_values, write_replacement

ArrowFunction = Callable[[pa.RecordBatch], Any]
"""Takes rows, and returns one value for each: an Array, a ChunkedArray, or a Scalar for all."""


@dataclass(frozen=True, slots=True)
class ComputedColumn:
    """A column, the columns that its values are computed from, and how.

    `compute` returns a batch of the column alone, in exactly its type. It raises InvalidInputError
    that names the column for a value that the column cannot hold.
    """

    target: SchemaField
    reads: tuple[SchemaField, ...]
    compute: Callable[[pa.RecordBatch], pa.RecordBatch]


def by_function(
    table: TableState, target: SchemaField, function: ArrowFunction, columns: Sequence[str]
) -> ComputedColumn:
    """Return a column that a function computes from `columns`.

    The function gets the columns in this order, under the names that they have in `table`. Raises
    NotFoundError for an unknown column, and InvalidInputError for one that is given twice.
    """
    reads = tuple(table.schema.field(name) for name in columns)
    if len({field.id for field in reads}) < len(reads):
        raise InvalidInputError(f"A column is given twice in {list(columns)}; give it once.")
    names = [field.name for field in reads]
    policy = text_policy(table.properties)

    def compute(batch: pa.RecordBatch) -> pa.RecordBatch:
        # A batch without columns keeps its number of rows.
        given = batch if batch.schema.names == names else batch.select(names)
        return _conformed(function(given), batch.num_rows, target, policy)

    return ComputedColumn(target, reads, compute)


def by_value(table: TableState, target: SchemaField, value: object) -> ComputedColumn:
    """Return a column whose value is one that an update can set: a column, literal or condition.

    Raises the errors of `parse_assignments`.
    """
    values = parse_assignments({target.name: value}, table.schema, table.name)
    reads = tuple(field for field in table.schema.fields if field.id in values.column_ids)
    return ComputedColumn(target, reads, values.compute)


def _conformed(
    values: object, rows: int, target: SchemaField, policy: TextPolicy
) -> pa.RecordBatch:
    if isinstance(values, pa.Scalar):
        values = pa.repeat(values, rows)
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        raise InvalidInputError(
            f"The function for column {target.name!r} must return a pyarrow Array, ChunkedArray or"
            f" Scalar, not {type(values).__name__}."
        )
    if len(values) != rows:
        raise InvalidInputError(
            f"The function for column {target.name!r} returned {len(values)} values for {rows}"
            " rows; it must return one value for each row."
        )
    schema = TableSchema(fields=(target,))
    return conform(pa.table([values], names=[target.name]), schema, policy)


@dataclass(frozen=True, slots=True)
class ComputedWriter:
    """Writes a computed column of RowSets, in the rows that meet `where` (None: all).

    `rules` are the constraints that read the column, which new values are checked against. Values
    of other columns that have expired at `now_ms` count as NULL; None means that none has.
    """

    table: TableState
    now_ms: int | None
    column: ComputedColumn
    where: Predicate | None
    place: WritePlace
    options: WriteOptions
    rules: tuple[BoundConstraint, ...] = ()

    @property
    def sources(self) -> tuple[SchemaField, ...]:
        """The columns that decide which rows get values, which values, and if they are allowed."""
        ids = {field.id for field in self.column.reads}
        ids.update(*(rule.condition.column_ids for rule in self.rules))
        if self.where is not None:
            ids |= bind(self.where, self.table.schema).column_ids
        return tuple(field for field in self.table.schema.fields if field.id in ids)

    def write(self, _: Snapshot, view: View) -> Iterator[FilledRowSet]:
        """Write the column of the RowSets of a view, one after another.

        Holds about a block of each column.
        Raises InvalidInputError that names the column, or a constraint that a new value does not
        meet. Raises CorruptionError, StoreError, and whatever the function raises.
        """
        masks = view_of_values(self.table, view.rowsets, self.now_ms).masks
        seen = replace(view, columns=self.table.schema, masks=masks)
        for rowset in view.rowsets:
            found = list(select_rows(self.place.store, seen.of([rowset]), self.where))
            if not found or not found[0].count:
                yield FilledRowSet(rowset, None, 0)
                continue
            selected = found[0]
            written = write_replacement(
                self.place,
                rowset,
                (self.column.target,),
                self._stretches(selected),
                selected.rows,
                self.options,
            )
            yield FilledRowSet(rowset, written, None if selected.rows is None else selected.count)

    def _stretches(self, selected: Selection) -> Iterator[list[pa.Array]]:
        numbers = selected_numbers(self.place.store, selected)
        ids = {each for rule in self.rules for each in rule.condition.column_ids}
        checked = (field for field in self.table.schema.fields if field.id in ids)
        # A column to add is not stored yet.
        fields = {
            field.id: field
            for field in (*self.column.reads, *checked)
            if field.id != self.column.target.id or field in self.column.reads
        }
        if selected.rows is not None:
            fields[self.column.target.id] = self.column.target
        reader = RowSetReader(self.place.store, selected.view, selected.rowset)
        stretches = reader.read(tuple(fields.values()))
        values = self._all if selected.rows is None else self._some
        return values(stretches, numbers)

    def _all(
        self, stretches: Iterable[tuple[int, pa.RecordBatch]], numbers: NDArray[np.int64]
    ) -> Iterator[list[pa.Array]]:
        """Yield values for all rows. A deleted row has the value of the next live row, or the last.

        So each value meets the rules of the column, and deleted rows are never computed.
        """
        waiting: list[int] = []
        last: pa.Array | None = None
        for first_row, batch in stretches:
            chosen = _within(numbers, first_row, batch)
            if not len(chosen):
                if last is None:
                    waiting.append(batch.num_rows)
                else:
                    yield [_repeated(last, batch.num_rows)]
                continue
            values = self._computed(batch, chosen)
            for rows in waiting:
                yield [_repeated(values[:1], rows)]
            waiting = []
            if len(chosen) < batch.num_rows:
                next_live = np.searchsorted(chosen, np.arange(batch.num_rows))
                values = values.take(pa.array(np.minimum(next_live, len(chosen) - 1)))
            yield [values]
            last = values[-1:]

    def _some(
        self, stretches: Iterable[tuple[int, pa.RecordBatch]], numbers: NDArray[np.int64]
    ) -> Iterator[list[pa.Array]]:
        """Yield the old values with new ones in the rows `numbers`."""
        targets = TableSchema(fields=(self.column.target,))
        for first_row, batch in stretches:
            chosen = _within(numbers, first_row, batch)
            old = to_storage(batch.select(targets.names), targets)
            new = [self._computed(batch, chosen)] if len(chosen) else []
            yield with_values(old, new, chosen) if new else old

    def _computed(self, batch: pa.RecordBatch, chosen: NDArray[np.int64]) -> pa.Array:
        rows = batch if len(chosen) == batch.num_rows else batch.take(pa.array(chosen))
        target = TableSchema(fields=(self.column.target,))
        computed = self.column.compute(rows)
        check_rows(_with_column(rows, computed), self.rules)
        return to_storage(computed, target)[0]


def _with_column(rows: pa.RecordBatch, column: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows with new values of a column, which they may have already."""
    columns = dict(zip(rows.schema.names, rows.columns, strict=True))
    columns |= dict(zip(column.schema.names, column.columns, strict=True))
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _within(numbers: NDArray[np.int64], first_row: int, batch: pa.RecordBatch) -> NDArray[np.int64]:
    low, high = np.searchsorted(numbers, (first_row, first_row + batch.num_rows))
    return numbers[low:high] - first_row


def _repeated(value: pa.Array, rows: int) -> pa.Array:
    return value.take(pa.array(np.zeros(rows, np.int64)))

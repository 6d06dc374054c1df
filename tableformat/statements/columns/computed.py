"""Compute the values of a column from other columns, with Arrow, and write them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from colonnade.manifests.arrays.hidden_rows import view_of_values
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.text_policy import text_policy
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.predicate import Predicate, bind
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.scan.selection import select_rows
from colonnade.tableformat.statements.columns.assigned_value import ArrowFunction, function_values
from colonnade.tableformat.statements.columns.assignments import parse_assignments
from colonnade.tableformat.statements.columns.fill import FilledRowSet
from colonnade.tableformat.statements.columns.new_values import NewValues, assigned
from colonnade.tableformat.write.replaced_columns import WritePlace


def by_function(
    table: TableState, target: SchemaField, function: ArrowFunction, columns: Sequence[str]
) -> NewValues:
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
        return function_values(function(given), batch.num_rows, target, policy)

    return NewValues(TableSchema(fields=(target,)), reads, compute)


def by_value(table: TableState, target: SchemaField, value: object) -> NewValues:
    """Return a column whose value is one that an update can set: a column, literal or condition.

    Raises the errors of `parse_assignments`.
    """
    values = parse_assignments({target.name: value}, table.schema, table.name)
    return assigned(values, table.schema)


@dataclass(frozen=True, slots=True)
class ComputedWriter:
    """Writes a computed column of RowSets, in the rows that meet `where` (None: all).

    Values of other columns that have expired at `now_ms` count as NULL; None means that none has.
    """

    table: TableState
    now_ms: int | None
    values: NewValues
    where: Predicate | None
    place: WritePlace
    options: WriteOptions

    @property
    def sources(self) -> tuple[SchemaField, ...]:
        """The columns that decide which rows get values, which values, and if they are allowed."""
        ids = {field.id for field in self.values.reads}
        ids.update(*(rule.condition.column_ids for rule in self.values.rules))
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
            written = self.values.write(self.place, selected, self.options)
            yield FilledRowSet(rowset, written, None if selected.rows is None else selected.count)

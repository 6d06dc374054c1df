"""Forbid NULL in a column or field, after a look at the rows that are there.

Spec: docs/spec/conflicts.md#reads
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa

from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.predicate.expressions import Column, IsNull
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.alteration.paths import Path, dotted, names_of, with_field
from colonnade.tableformat.types.storage_form import map_entries


@dataclass(frozen=True, slots=True)
class SetNotNull(Alteration):
    """Forbid NULL in a column, or in a field inside one.

    No existing row may be NULL there. Statistics say so of most RowSets and blocks, and the other
    blocks are read. If a concurrent writer adds a row that may be NULL there, all is looked at
    again.
    """

    path: Path

    def __str__(self) -> str:
        return f"set not null of column {dotted(self.path)}"

    def apply(self, draft: Draft) -> None:
        def needed(found: SchemaField) -> SchemaField:
            is_new = found.id >= draft.table.next_column_id
            if found.nullable and not (is_new and found.initial is not None):
                draft.not_null.append(found.id)
            return found.model_copy(update={"nullable": False})

        draft.schema = with_field(draft.schema, names_of(self.path), needed)


def reads_of(table: TableState, ids: Sequence[int]) -> tuple[TableRead, ...]:
    """Return what a change reads that forbids NULL in the columns and fields of these ids.

    A row that a concurrent writer adds conflicts with the change, unless bounds say that the row is
    not NULL there.
    """
    found = (_places(table.schema.fields, each) for each in ids)
    return tuple(
        TableRead(
            table.id,
            rowset_filter(table, _is_null(places)),
            frozenset(places[0].ids) if places else None,
            overwrites=True,
        )
        for places in found
    )


def check_no_null(log: Log, base: Snapshot, table: TableState, ids: Sequence[int]) -> None:
    """Look for a live row that is NULL in a column or field of these ids.

    Raises InvalidInputError, which names the column, when there is one. Costs the blocks whose
    statistics do not rule NULL out; for a field inside a column, all blocks of the column.
    """
    for places in (_places(table.schema.fields, each) for each in ids):
        if not places:
            # No row has a column that is as new as this change.
            if table.rowsets.rowset_count:
                raise InvalidInputError(
                    f"A new column of table {table.name!r} cannot be NOT NULL, because existing"
                    " rows are NULL in it."
                )
            continue
        predicate = _is_null(places)
        rowsets = log.read_rowsets(table, rowset_filter(table, predicate))
        plan = plan_scan(table, base.epoch, rowsets, [places[0].name], predicate)
        for batch in read_plan(log.store, plan):
            if _any_null(batch.column(0), places):
                path = ".".join(each.name for each in places)
                raise InvalidInputError(
                    f"Column {path!r} of table {table.name!r} cannot be made NOT NULL, because"
                    " existing rows are NULL in it; delete or update these rows first."
                )


Places = tuple[SchemaField, ...]
"""A column, and the fields that lead from it to a field inside it."""


def _places(fields: Sequence[SchemaField], number: int) -> Places:
    """Return the way to the field of an id; nothing if there is none."""
    for field in fields:
        if field.id == number:
            return (field,)
        if below := _places(field.children(), number):
            return (field, *below)
    return ()


def _is_null(places: Places) -> IsNull | None:
    """Return the condition of rows to look at; None for all rows, as inside a column."""
    return IsNull(Column((places[0].name,))) if len(places) == 1 else None


def _any_null(array: pa.Array, places: Places) -> bool:
    """Return whether a value is NULL that is not inside another NULL."""
    for parent, child in pairwise(places):
        there = array.drop_null()
        match parent.type:
            case ArrayType():
                array = there.flatten()
            case MapType(key=key):
                entries = map_entries(there).flatten()
                array = entries.field(0 if child.id == key.id else 1)
            case _:
                array = there.field(parent.children().index(child))
    return bool(array.null_count)

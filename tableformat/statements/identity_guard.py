"""Guard the values of identity columns that users may give, too.

A job takes values before it writes. Until its commit, a concurrent writer may give one of them to
a row itself. Where only the table gives values, this cannot happen.
Spec: docs/spec/conflicts.md#keys
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.commit.change import KeyGuard
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.identity import identity_columns, spec_of
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import WHOLE, decode_bound
from colonnade.manifests.state.snapshot import LiveRowSet, TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements.statement import Statement


def guarded(statement: Statement, store: ObjectStore, table: TableState) -> Statement:
    """Return a statement whose commit fails if a concurrent writer has added one of its values.

    The values are those of the identity columns that users may give. They are read only if a
    concurrent writer has added a RowSet whose bounds allow one of them.
    """
    added = [op.rowset for op in statement.ops if isinstance(op, AddRowSet)]
    columns = [each for each in identity_columns(table.schema) if not spec_of(each).always]
    if not added or not columns:
        return statement
    guards = tuple(_guard(store, table, added, column) for column in columns)
    return replace(statement, keys=(*statement.keys, *guards))


def refuse_repeated(
    store: ObjectStore,
    table: TableState,
    added: Sequence[RowSetEntry],
    column: SchemaField,
    drawn: Sequence[range],
) -> None:
    """Refuse rows of several tasks if two of them have the same one of the `drawn` values.

    Reads the column where bounds allow one of them. Raises InvalidInputError that names a value.
    """
    low = min(min(each[0], each[-1]) for each in drawn)
    high = max(max(each[0], each[-1]) for each in drawn)
    seen = np.empty(0, np.int64)
    for entry in added:
        first, last = _bounds(entry, column)
        if last < low or high < first:
            continue
        values = np.concatenate([*_values(store, table, as_written(entry), column)])
        values = values[(values >= low) & (values <= high)]
        for value in np.intersect1d(seen, values).tolist():
            if any(value in each for each in drawn):
                raise InvalidInputError(
                    f"A row has the value {value} in identity column {column.name!r}, which the"
                    " table gave to another row of the statement; give other values, or NULL to"
                    " all rows."
                )
        seen = np.concatenate([seen, values])


def _guard(
    store: ObjectStore, table: TableState, added: Sequence[RowSetEntry], column: SchemaField
) -> KeyGuard:
    def meets(rowsets: Sequence[LiveRowSet]) -> list[LiveRowSet]:
        return [each for each in rowsets if _shares(store, table, added, each, column)]

    return KeyGuard(table.id, meets, frozenset({column.id}))


def _shares(
    store: ObjectStore,
    table: TableState,
    added: Sequence[RowSetEntry],
    theirs: LiveRowSet,
    column: SchemaField,
) -> bool:
    low, high = _bounds(theirs.entry, column)
    for entry in added:
        first, last = _bounds(entry, column)
        if last < low or high < first:
            continue
        values = np.concatenate([*_values(store, table, theirs, column)])
        for own in _values(store, table, as_written(entry), column):
            if np.isin(own, values).any():
                return True
    return False


def _bounds(entry: RowSetEntry, column: SchemaField) -> tuple[int, int]:
    """Return the bounds of a column, which every RowSet of its table states."""
    known = entry.statistics[column.id]
    assert known.min is not None
    assert known.max is not None
    return int(decode_bound(known.min, WHOLE)), int(decode_bound(known.max, WHOLE))


def _values(
    store: ObjectStore, table: TableState, rowset: LiveRowSet, column: SchemaField
) -> Iterator[NDArray[np.int64]]:
    for _, batch in RowSetReader(store, View.stored(table), rowset).read((column,)):
        yield np.asarray(batch.column(0).to_numpy(zero_copy_only=False), np.int64)
